"""A bundle: a result as a directory that anyone can open, and that is drawn from again.

    result.json   study, scale, settings, claims, facts, versions, and of each table its
                  types and checksum
    tables/*.csv  every table
    figure.png, figure.svg (figure-2.png ...), page.html
    runs.db       the runs, if they were kept here; whoever does the runs writes it

`result.json` is removed first and replaced last, and it has the checksum of every table, so
that a bundle that was half written, or mixed from two, is refused. Reading imports nothing that a
bundle names; drawing calls its figures, and so imports their modules.
"""

import dataclasses
import hashlib
import importlib
import json
import math
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from elegans.report import tables as columns
from elegans.report.result import Claim, Result
from elegans.report.words import RESULT as RESULT

FORMAT = 1  # of bundles; one that is read has this number
PAGE = "page.html"


class BundleError(ValueError):
    """A directory that is not a whole bundle."""


def write(result: Result, directory: Path) -> Path:
    """Writes data, figures and page, and returns the directory."""
    for target in (*result.figures.values(), *result.charts.values()):
        function(target)  # a missing one fails before anything is written
    save(result, directory)
    draw(directory)
    return directory


def save(result: Result, directory: Path) -> None:
    """Writes the data; what was drawn from other data before is removed."""
    texts = {name: columns.to_csv(table) for name, table in result.tables.items()}
    paths = {name: _table(directory, name) for name in texts}
    directory.mkdir(parents=True, exist_ok=True)
    (directory / RESULT).unlink(missing_ok=True)
    (directory / "tables").mkdir(exist_ok=True)
    for old in [*directory.glob("tables/*.csv"), *drawn(directory)]:
        old.unlink()
    for name, text in texts.items():
        _replace(paths[name], text)
    entries = {
        name: {
            "rows": len(table),
            "dtypes": columns.kinds(table),
            "sha256": _checksum(texts[name]),
        }
        for name, table in result.tables.items()
    }
    fields = {f.name: getattr(result, f.name) for f in dataclasses.fields(result)}
    content = {"format": FORMAT, **fields, "tables": entries}
    content["claims"] = [dataclasses.asdict(claim) for claim in result.claims]
    _replace(directory / RESULT, to_json(content))


def read(directory: Path) -> Result:
    """The result that a bundle holds."""
    path = directory / RESULT
    if not path.is_file():
        raise BundleError(
            f"{directory} has no {RESULT}, so it is not a bundle, or its study was interrupted; "
            '"elegans reproduce" goes on where it was.'
        )
    try:
        content = from_json(path.read_text(encoding="utf-8"))
        if content.pop("format") != FORMAT:
            raise BundleError(f"{path} is not of format {FORMAT}, which this version reads.")
        content["tables"] = {
            name: _read_table(directory, name, entry) for name, entry in content["tables"].items()
        }
        content["claims"] = [
            Claim(**claim | {"interval": _triple(claim["interval"])}) for claim in content["claims"]
        ]
        return Result(**content)
    except BundleError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BundleError(f"{path} is damaged: {error!r}.") from error


def draw(directory: Path) -> list[Path]:
    """Draws figures and page from the data as read back; returns the files."""
    from elegans.report import look, page

    result = read(directory)
    files, images = [], {}
    for number, (name, target) in enumerate(result.figures.items(), start=1):
        with look.context():
            figure = function(target)(result.tables)
            stem = "figure" if number == 1 else f"figure-{number}"
            files += [look.save(figure, directory / f"{stem}.{kind}") for kind in ("png", "svg")]
        images[name] = files[-2].read_bytes()
    charts = {name: function(target)(result.tables) for name, target in result.charts.items()}
    _replace(directory / PAGE, page.render(result, images, charts))
    return [*files, directory / PAGE]


def drawn(directory: Path) -> list[Path]:
    """The figures and the page of a bundle, as far as they are there."""
    pattern = re.compile(r"figure(-\d+)?\.(png|svg)|page\.html")
    return [path for path in directory.iterdir() if pattern.fullmatch(path.name)]


def function(target: str) -> Callable[..., Any]:
    """The function that a "module:function" names; refused if there is none."""
    module, _, name = target.partition(":")
    if not module or not name:
        raise ValueError(f'A figure is named as "module:function"; got {target!r}.')
    try:
        value = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as error:
        raise ValueError(f"Figure {target!r}: {error}.") from error
    if not callable(value):
        raise ValueError(f"Figure {target!r}: {module} has no function {name!r}.")
    call: Callable[..., Any] = value
    return call


def to_json(content: Any) -> str:
    """Plain data as strict JSON; infinities and NaN, which it lacks, as {"float": "inf"}."""
    return json.dumps(_finite(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def from_json(text: str) -> Any:
    """What `to_json` wrote."""
    return json.loads(
        text,
        object_hook=lambda d: float(d["float"]) if d.get("float") in ("nan", "inf", "-inf") else d,
    )


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": repr(value)}
    if isinstance(value, Mapping):
        return {str(name): _finite(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def _read_table(directory: Path, name: str, entry: Mapping[str, Any]) -> Any:
    path = _table(directory, name)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            text = file.read()
    except OSError as error:
        raise BundleError(f"{directory} lacks {path.name}, which {RESULT} lists.") from error
    if _checksum(text) != entry["sha256"]:
        raise BundleError(
            f"{path} is not the table that {RESULT} was written with: its checksum differs."
        )
    return columns.from_csv(text, entry["dtypes"])


def _triple(interval: list[float] | None) -> tuple[float, float, float] | None:
    return None if interval is None else (interval[0], interval[1], interval[2])


def _table(directory: Path, name: str) -> Path:
    """Where a table is; a name that would lead elsewhere, or is no file name, is refused."""
    if not name or set(name) & set('/\\:*?"<>|') or name.startswith("."):
        raise BundleError(f"Table {name!r}: a table's name is the name of a file.")
    return directory / "tables" / f"{name}.csv"


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _replace(path: Path, text: str) -> None:
    """Writes a file so that at any moment it is the old one or the new one, whole."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with partial.open("w", encoding="utf-8", newline="") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
