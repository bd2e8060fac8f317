"""The pages of the API reference: one per package, written from what is there.

Each page has the package's docstring, its public names as users write them, and a section per
module with what the module defines. Chapters of studies are left to the gallery, and the command
line to its own `--help`.
"""

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import elegans

# What runs when it is imported, the command line, and modules that only this package calls.
SKIPPED = {"__main__", "cli", "commands", "worker"}
SERVER = "elegans.explorer"  # its modules answer a browser; users call `explore` alone
CHAPTERS = {
    path.parent.name for path in (Path(elegans.__path__[0]) / "studies").glob("*/__init__.py")
}


def rooms() -> list[str]:
    """The names of the packages and modules on the top floor."""
    return [m.name for m in pkgutil.iter_modules(elegans.__path__) if m.name not in SKIPPED]


def parts(package: ModuleType) -> tuple[list[str], list[str]]:
    """The modules of a package, and the packages in it."""
    modules: list[str] = []
    packages: list[str] = []
    if package.__name__ == SERVER:
        return modules, packages
    for part in pkgutil.iter_modules(getattr(package, "__path__", [])):
        is_chapter = package.__name__ == "elegans.studies" and part.name in CHAPTERS
        if part.name not in SKIPPED and not part.name.startswith("_") and not is_chapter:
            (packages if part.ispkg else modules).append(f"{package.__name__}.{part.name}")
    return modules, packages


def names(module: ModuleType) -> Iterator[tuple[str, str, str]]:
    """Public names of a module, each with where it is defined and its first line."""
    for name in sorted(dir(module)):
        if name.startswith("_"):
            continue
        value = getattr(module, name)
        home = getattr(value, "__module__", None)
        is_defined_here = inspect.isclass(value) or inspect.isfunction(value)
        if is_defined_here and str(home).split(".")[0] == "elegans":
            first = (inspect.getdoc(value) or "").split("\n\n")[0]
            yield name, f"{home}.{value.__qualname__}", " ".join(first.split())


def page(name: str) -> str:
    """The page of a package or module."""
    module = importlib.import_module(name)
    modules, packages = parts(module)
    lines = [f"# `{name}`", "", *automodule(name, members=not modules and not packages)]
    public = list(names(module)) if modules else []
    if public:
        lines += ["| name | |", "|---|---|"]
        lines += [
            f"| {{py:obj}}`{public_name} <{target}>` | {first.replace('|', chr(92) + '|')} |"
            for public_name, target, first in public
        ]
        lines += [""]
    if packages:
        lines += ["```{toctree}", ":maxdepth: 1", "", *packages, "```", ""]
    for part in modules:
        lines += [f"## `{part}`", "", *automodule(part, members=True)]
    return "\n".join(lines)


def automodule(name: str, *, members: bool) -> list[str]:
    """The directive that shows a module's docstring, perhaps with what it defines."""
    options = ["   :members:" if members else "   :no-members:"]
    options += ["   :imported-members:"] if name == SERVER else []
    return ["```{eval-rst}", f".. automodule:: {name}", *options, "```", ""]


def top_page() -> str:
    """The page of the package itself: the names on top, and the rooms."""
    lines = ["# API reference", "", "```python", "import elegans as el", "```", ""]
    lines += ["| name | |", "|---|---|"]
    lines += [
        f"| {{py:obj}}`el.{name} <{target}>` | {first} |" for name, target, first in names(elegans)
    ]
    lines += ["", "## Rooms", "", "| room | |", "|---|---|"]
    for room in rooms():
        doc = inspect.getdoc(importlib.import_module(f"elegans.{room}")) or ""
        first = " ".join(doc.split("\n\n")[0].split()).replace("|", "\\|")
        lines += [f"| [`{room}`](elegans.{room}.md) | {first} |"]
    listed = [f"elegans.{room}" for room in rooms()]
    lines += ["", "```{toctree}", ":hidden:", ":maxdepth: 1", "", *listed, "```", ""]
    return "\n".join(lines)


def pages() -> dict[str, str]:
    """All pages, by the name of their file without ending."""
    texts = {"index": top_page()}
    waiting = [f"elegans.{room}" for room in rooms()]
    while waiting:
        name = waiting.pop(0)
        texts[name] = page(name)
        waiting += parts(importlib.import_module(name))[1]
    return texts


def write(directory: Path) -> None:
    """Writes the pages that changed, and removes those of what is gone."""
    directory.mkdir(parents=True, exist_ok=True)
    texts = {f"{name}.md": text for name, text in pages().items()}
    for path in directory.glob("*.md"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        path = directory / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
