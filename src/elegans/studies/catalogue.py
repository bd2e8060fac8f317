"""Every study, by name: read from the files of the chapters, without importing any of them.

A study is one file, `studies/<chapter>/<file>.py`, with a statement `STUDY = Study(...)`. Importing
a study imports JAX, which takes seconds, and a list must answer at once; a second list by hand
would be one more place to edit. So name, title, summary, source and the minutes of each scale are
read from the syntax tree of that statement, where they are literals.
"""

import ast
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from elegans import checks

if TYPE_CHECKING:
    from elegans.studies.study import Study

ROOM = Path(__file__).parent
LITERALS = ("name", "title", "summary", "source")


class Entry(NamedTuple):
    """What the list says of a study; `minutes` are by the name of the scale."""

    name: str
    title: str
    summary: str
    source: str
    minutes: Mapping[str, float]
    module: str


def entries(room: Path = ROOM, package: str = "elegans.studies") -> list[Entry]:
    """All studies, chapter by chapter."""
    studies: dict[str, Entry] = {}
    for path in sorted(room.glob("*/*.py")):
        text = path.read_text(encoding="utf-8")
        if "\nSTUDY = Study(" not in text:
            continue
        entry = read(text, str(path), f"{package}.{path.parent.name}.{path.stem}")
        if entry.name in studies:
            raise ValueError(
                f"{path}: the study {entry.name!r} is in {studies[entry.name].module}."
            )
        studies[entry.name] = entry
    return list(studies.values())


def read(text: str, path: str, module: str) -> Entry:
    """The entry of a study from the text of its file."""
    for node in ast.parse(text, path).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "STUDY":
            assert isinstance(node.value, ast.Call), f"{path}: STUDY = Study(...)"
            keywords = {keyword.arg: keyword.value for keyword in node.value.keywords}
            fields = {name: _literal(keywords, name, path) for name in LITERALS}
            return Entry(**fields, minutes=_minutes(keywords.get("scales"), path), module=module)
    raise ValueError(f"{path}: there is no statement STUDY = Study(...).")


def study(name: str) -> "Study":
    """The study called `name`, or the one that a "module:NAME" holds, with its figures resolved."""
    module, _, attribute = name.partition(":") if ":" in name else (_module(name), "", "STUDY")
    from elegans.studies.study import Study

    try:
        value = getattr(importlib.import_module(module), attribute, None)
    except ModuleNotFoundError as error:
        raise ValueError(f"Study {name!r}: {error}.") from error
    if not isinstance(value, Study):
        raise ValueError(f"Study {name!r}: {module} has no Study called {attribute!r}.")
    return value.resolve()


def _module(name: str) -> str:
    modules = {entry.name: entry.module for entry in entries()}
    if name not in modules:
        raise ValueError(
            f"No study is named {name!r}{checks.nearest(name, modules)} "
            f'"elegans reproduce --list" shows all {len(modules)}; one of your own is '
            '"module:STUDY".'
        )
    return modules[name]


def _literal(keywords: Mapping[str | None, ast.expr], name: str, path: str) -> Any:
    try:
        value = ast.literal_eval(keywords[name])
    except (KeyError, ValueError) as error:
        raise ValueError(f"{path}: STUDY = Study(...) needs {name}= as a literal.") from error
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{path}: {name} of the study is text; got {value!r}.")
    return value


def _minutes(node: ast.expr | None, path: str) -> dict[str, float]:
    """Minutes by scale, from `scales={"quick": Scale(settings, minutes=2), ...}`."""
    advice = f'{path}: a study has scales={{"quick": Scale(settings, minutes=2), ...}}.'
    if not isinstance(node, ast.Dict) or not node.keys:
        raise ValueError(advice)
    minutes = {}
    for key, value in zip(node.keys, node.values, strict=True):
        declared = [k.value for k in getattr(value, "keywords", ()) if k.arg == "minutes"]
        if key is None or len(declared) != 1:
            raise ValueError(advice)
        try:
            minutes[str(ast.literal_eval(key))] = float(ast.literal_eval(declared[0]))
        except (ValueError, TypeError) as error:
            raise ValueError(advice) from error
    return minutes
