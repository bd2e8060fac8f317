"""The examples of docs/theory.md run, and the tests that docs/errata name exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = re.findall(r"```python\n(.*?)```", (ROOT / "docs/theory.md").read_text(), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_examples_run(example):
    exec(compile(example, "docs/theory.md", "exec"), {})


def test_every_erratum_names_a_test_that_is_there():
    pages = ROOT.glob("docs/errata*.md")
    text = "".join(page.read_text() for page in pages)
    named = re.findall(r"(test_\w+)\.py::(test_\w+)", text)
    assert len(named) >= 20
    for file, test in named:
        sources = [path.read_text() for path in ROOT.glob(f"tests/**/{file}.py")]
        assert any(f"def {test}(" in source for source in sources), (file, test)
