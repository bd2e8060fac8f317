"""The bundles and stores that an explorer shows: listed once, at start, and nothing besides.

A path is a bundle, a store, or a directory of these. A file that is served is one of those that
were listed, opened without following symbolic links; a link inside a directory is left out. Names
in URLs are keys of these lists and never become paths.
"""

import os
import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from elegans.explorer.records import Records
from elegans.report.words import RESULT
from elegans.store.schema import StoreError

if TYPE_CHECKING:
    import elegans.report.result

MAX_FILE = 64 * 2**20  # bytes of a file that is served
Read = TypeVar("Read")
SERVED = re.compile(r"figure(-\d+)?\.(png|svg)|page\.html|[^/]+\.csv")


class Headline(NamedTuple):
    """What the list of studies says of a bundle."""

    title: str
    source: str
    scale: str
    claims: tuple[Any, ...]
    error: str = ""


@dataclass
class Study:
    """A bundle: its directory, the files that may be served, by name, and its store if any."""

    name: str
    directory: Path
    files: dict[str, Path]
    store: str = ""
    _read: dict[str, tuple[int, Any]] = field(default_factory=dict, repr=False)

    def headline(self) -> Headline:
        """Title and claims, read again when the bundle is written again."""
        return self._kept("headline", self._headline)

    def result(self) -> "elegans.report.result.Result":
        """All of it; raises `BundleError` if it is not whole."""
        from elegans.report import bundle

        return self._kept("result", lambda: bundle.read(self.directory))

    def _headline(self) -> Headline:
        from elegans.report import bundle
        from elegans.report.result import Claim

        try:
            content = bundle.from_json(self.directory.joinpath(RESULT).read_text("utf-8"))
            names = ("text", "source", "measured", "against", "holds", "known_failure")
            claims = [Claim(**{n: c[n] for n in names if n in c}) for c in content["claims"]]
            title, source, scale = (str(content[name]) for name in ("title", "source", "scale"))
            return Headline(title, source, scale, tuple(claims))
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            return Headline(self.name, "", "", (), f"{RESULT} cannot be read: {error!r}.")

    def _kept(self, what: str, read: Callable[[], Read]) -> Read:
        path = self.directory / RESULT
        changed = path.stat().st_mtime_ns if path.exists() else 0
        if self._read.get(what, (None, None))[0] != changed:
            self._read[what] = (changed, read())
        kept: Read = self._read[what][1]
        return kept


@dataclass
class Sources:
    """All that an explorer shows, by the name that it has in URLs."""

    studies: dict[str, Study] = field(default_factory=dict)
    stores: dict[str, Records] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)  # why files of a directory are not shown

    def close(self) -> None:
        """Lets go of all files."""
        for store in self.stores.values():
            store.close()


def listed(paths: Sequence[str | os.PathLike[str]]) -> Sources:
    """The bundles and stores at `paths`; refuses a path that has none.

    Raises:
        ValueError: There is nothing at a path, or neither a bundle nor a store.
        StoreError: A named file is not a store, or one of another schema.
    """
    sources = Sources()
    for given in paths:
        path = Path(given)
        if not path.exists():
            raise ValueError(
                f"There is nothing at {path}: name a bundle, a store (.db), or a "
                "directory of these."
            )
        count, refused = len(sources.studies) + len(sources.stores), len(sources.refused)
        path = path.resolve()
        if path.is_file():
            _add_store(sources, path, path.stem)
        else:
            _add_directory(sources, path)
        if len(sources.studies) + len(sources.stores) == count:
            if sources.refused[refused:]:
                raise StoreError(sources.refused[refused])
            entries = sorted(entry.name for entry in path.iterdir())[:10]
            raise ValueError(
                f"{path} has no bundle ({RESULT}) and no store (.db), nor has a directory "
                f"in it. It has: {', '.join(entries) or 'nothing'}."
            )
    return sources


def read_listed(path: Path) -> bytes:
    """A listed file, if it is still a plain file of a sensible size and not a link."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(handle, "rb") as file:
        state = os.fstat(file.fileno())
        if not stat.S_ISREG(state.st_mode) or state.st_size > MAX_FILE:
            raise OSError(f"{path.name} has {state.st_size:,} bytes; {MAX_FILE:,} are served.")
        return file.read(MAX_FILE)


def _add_directory(sources: Sources, directory: Path) -> None:
    """A bundle, or bundles and stores one level below."""
    if _is_plain(directory / RESULT):
        _add_bundle(sources, directory)
        return
    for entry in sorted(directory.iterdir()):
        if entry.is_symlink():
            continue
        if entry.is_dir() and _is_plain(entry / RESULT):
            _add_bundle(sources, entry)
        elif entry.suffix == ".db" and _is_plain(entry):
            try:
                _add_store(sources, entry, entry.stem)
            except StoreError as error:  # the rest of the directory can be looked at
                sources.refused.append(str(error))


def _add_bundle(sources: Sources, directory: Path) -> None:
    name = _free(directory.name, sources.studies)
    files = {}
    tables = directory / "tables"
    below = [] if tables.is_symlink() else tables.glob("*.csv")
    for entry in [*directory.iterdir(), *below]:
        if SERVED.fullmatch(entry.name) and _is_plain(entry):
            files[entry.name] = entry
    study = Study(name, directory, files)
    if _is_plain(directory / "runs.db"):
        try:
            study.store = _add_store(sources, directory / "runs.db", name)
        except StoreError:  # the bundle can be looked at without
            study.store = ""
    sources.studies[name] = study


def _add_store(sources: Sources, path: Path, name: str) -> str:
    name = _free(name, sources.stores)
    sources.stores[name] = Records(path, name)
    return name


def _free(name: str, taken: Any) -> str:
    """A name for URLs that is not taken."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-") or "unnamed"
    free, number = plain, 1
    while free in taken:
        number += 1
        free = f"{plain}-{number}"
    return free


def _is_plain(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()
