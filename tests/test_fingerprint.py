"""Fingerprints follow what code does, not how it is written down."""

import importlib
import sys

import pytest

from elegans.fingerprint import fingerprint, is_importable

TASK = """
from dataclasses import dataclass

SHIFT = 0.5
OTHER = 1


def label(x):
    return x + SHIFT


def unrelated(x):
    return x


class Base:
    def scale(self):
        return 2


@dataclass(frozen=True)
class Task(Base):
    n: int = 3

    def sample(self, key, size):
        return label(self.n) * self.scale()
"""


@pytest.fixture
def fingerprint_of(tmp_path, monkeypatch):
    """The fingerprint of the task in a module with the given source."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def of(source):
        sys.modules.pop("written", None)
        (tmp_path / "written.py").write_text(source)
        importlib.invalidate_caches()
        return fingerprint(importlib.import_module("written").Task)

    yield of
    sys.modules.pop("written", None)


@pytest.mark.parametrize(
    "old, new",
    [
        ("    n: int = 3\n", "    # a comment\n    n: int = 3\n"),
        ("def unrelated(x):\n    return x", "def unrelated(x):\n    return -x"),
        ("OTHER = 1", "OTHER = 2"),
        (
            "return label(self.n) * self.scale()",
            "return (label(self.n)\n            * self.scale())",
        ),
        (
            "    def sample(self, key, size):\n",
            '    def sample(self, key, size):\n        "How."\n',
        ),
    ],
)
def test_comments_formatting_docstrings_and_other_code_do_not_count(fingerprint_of, old, new):
    assert old in TASK
    assert fingerprint_of(TASK) == fingerprint_of(TASK.replace(old, new))


@pytest.mark.parametrize(
    "old, new",
    [
        ("n: int = 3", "n: int = 4"),
        ("return label(self.n) *", "return label(self.n) +"),
        ("return x + SHIFT", "return x - SHIFT"),
        ("SHIFT = 0.5", "SHIFT = 0.25"),
        ("return 2", "return 3"),
    ],
)
def test_the_class_its_bases_and_what_it_names_count(fingerprint_of, old, new):
    assert old in TASK
    assert fingerprint_of(TASK) != fingerprint_of(TASK.replace(old, new))


def test_without_source_bytecode_counts():
    def made(text):
        names = {"__name__": "nowhere"}
        exec(f"class Task:\n    def sample(self, key, size):\n        return {text}", names)
        return names["Task"]

    assert fingerprint(made("size + 1")) == fingerprint(made("size + 1"))
    assert fingerprint(made("size + 1")) != fingerprint(made("size + 2"))


def test_what_lives_in_this_process_alone_is_not_importable():
    class Local:
        pass

    assert is_importable(pytest.Item)
    assert not is_importable(Local)
    assert not is_importable(lambda view: 0)
