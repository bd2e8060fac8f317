"""Fingerprints of code that is not of this package: a few digits that change when it does.

What a store holds is found by an experiment's hash, and an experiment may name a task that a user
wrote. So that an edited task never returns the numbers of the old one, its type carries a
fingerprint: a hash of its class, of its bases outside the package, and of whatever of its module
those name, as normalised source (comments, formatting and docstrings do not count), or as bytecode
where there is no source. It is taken when the class is created: a file that is edited while the
process lives does not change what the process runs.
"""

import ast
import hashlib
import inspect
import sys
import types
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any

DIGITS = 12


def is_of_package(thing: Any) -> bool:
    """Whether a class or function is part of this package."""
    return str(getattr(thing, "__module__", "")).partition(".")[0] == "elegans"


def fingerprint(thing: Any) -> str:
    """Twelve hexadecimal digits of a class or function that is not of this package."""
    return _fingerprint(thing)  # a typed function: a cached one asks mypy for hashable types


@cache
def _fingerprint(thing: Any) -> str:
    parts = [_text(part) for part in _lineage(thing)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:DIGITS]


def _lineage(thing: Any) -> list[Any]:
    """A class and its bases that are neither of this package nor Python's own."""
    if not isinstance(thing, type):
        return [thing]
    return [
        cls
        for cls in thing.__mro__
        if not is_of_package(cls) and cls.__module__ not in ("builtins", "typing", "abc")
    ]


def _text(thing: Any) -> str:
    """The normalised source of a class or function and of what it names, or its bytecode."""
    try:
        tree = _module_tree(inspect.getsourcefile(thing), thing.__module__)
        node = _definition(tree, thing.__qualname__)
    except (OSError, TypeError, SyntaxError):
        node = None
    if node is None:
        return "\n".join(_bytecode(thing))
    named = {id(node): node}
    queue = [node]
    while queue:  # what the class names, what that names, and so on, within its module
        for other in _statements(tree, _names(queue.pop())):
            if id(other) not in named and not _is_within(node, other):
                named[id(other)] = other
                queue.append(other)
    return "\n".join(sorted(ast.unparse(_without_docstrings(each)) for each in named.values()))


def _module_tree(path: str | None, module: str) -> ast.Module:
    if path is None:
        raise OSError(f"{module} has no source")
    with open(path, encoding="utf-8") as file:
        return ast.parse(file.read())


def _definition(tree: ast.Module, qualname: str) -> ast.stmt | None:
    """The statement that defines a dotted name; the last one, as it is the one that counts."""
    node: ast.AST = tree
    for part in qualname.split("."):
        if part == "<locals>":
            continue
        matches = [
            child
            for child in ast.walk(node)
            if isinstance(child, ast.ClassDef | ast.FunctionDef) and child.name == part
        ]
        if not matches:
            return None
        node = matches[-1]
    return node if isinstance(node, ast.stmt) else None


def _statements(tree: ast.Module, names: set[str]) -> Iterator[ast.stmt]:
    """The functions, classes and assignments of a module that bind some names."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound = {node.name}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            bound = {target.id for target in targets if isinstance(target, ast.Name)}
        else:
            continue
        if bound & names:
            yield node


def _names(node: ast.AST) -> set[str]:
    return {child.id for child in ast.walk(node) if isinstance(child, ast.Name)}


def _is_within(outer: ast.AST, inner: ast.AST) -> bool:
    return any(child is outer for child in ast.walk(inner))


def _without_docstrings(node: ast.stmt) -> ast.stmt:
    copy = ast.parse(ast.unparse(node)).body[0]
    for child in ast.walk(copy):
        if isinstance(child, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(child):
            child.body = child.body[1:] or [ast.Pass()]
    return copy


def _bytecode(thing: Any) -> Iterable[str]:
    """A function's code, or that of a class's methods, with the constants inside."""
    if isinstance(thing, types.FunctionType):
        yield from _code(thing.__code__)
        return
    for name, value in sorted(vars(thing).items()):
        function = getattr(value, "fget", None) or getattr(value, "__func__", value)
        if isinstance(function, types.FunctionType) and not _is_generated(function):
            yield name
            yield from _code(function.__code__)
    yield repr(sorted(getattr(thing, "__annotations__", {})))


def _is_generated(function: types.FunctionType) -> bool:
    """Whether `dataclass` wrote a method: such code follows from the fields."""
    is_dunder = function.__name__.startswith("__") and function.__name__ != "__post_init__"
    return is_dunder and function.__code__.co_filename == "<string>"


def _code(code: types.CodeType) -> Iterable[str]:
    yield code.co_code.hex()
    yield " ".join(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _code(constant)
        else:
            yield repr(constant)


def is_importable(thing: Any) -> bool:
    """Whether another process can import a class or function by its name."""
    module, name = getattr(thing, "__module__", ""), getattr(thing, "__qualname__", "")
    if module in ("", "__main__") or not name or "<" in name:
        return False
    return hasattr(sys.modules.get(module), name.partition(".")[0])
