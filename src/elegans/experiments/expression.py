"""Configurations as typed: `MLP(width=100, init=Sparse(2))` from a command line or a file.

The text is Python's syntax for a call with literal arguments, read by `ast` and never evaluated.
"""

import ast
from typing import Any

from elegans.experiments.plain import ROOMS, build

OUR_PREFIXES = ("el", "elegans", "inits", *(room.split(".")[0] for room in ROOMS))


def parse(text: str) -> Any:
    """The configuration, or literal, that `text` spells."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise ValueError(
            f"{text!r} is not a configuration: {error.msg}. Write for instance 'Parity(n=50, k=3)'."
        ) from error
    return _value(tree.body, text)


def literal(text: str) -> Any:
    """A number, a tuple, None or a configuration; any other text stands for itself."""
    if text.strip().lower() in ("nan", "inf", "-inf"):
        return float(text)
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        return text
    return text if isinstance(tree.body, ast.Name | ast.BinOp) else _value(tree.body, text)


def _type_name(node: ast.Name | ast.Attribute) -> str:
    """The name of a configuration: `Parity`, `el.tasks.Parity`, or `mytasks.Vote` of a user."""
    module, _, name = ast.unparse(node).rpartition(".")
    is_ours = not module or module.split(".")[0] in OUR_PREFIXES
    return name if is_ours else f"{module}:{name}"


def _value(node: ast.expr, text: str) -> Any:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
        name = _type_name(node.func)
        if any(keyword.arg is None for keyword in node.keywords):
            raise ValueError(f"{text!r}: ** has no meaning in a configuration.")
        return build(
            name,
            *(_value(arg, text) for arg in node.args),
            **{str(keyword.arg): _value(keyword.value, text) for keyword in node.keywords},
        )
    if isinstance(node, ast.Name | ast.Attribute):
        return build(_type_name(node))
    if isinstance(node, ast.Tuple | ast.List):
        return tuple(_value(item, text) for item in node.elts)
    try:
        return ast.literal_eval(node)
    except ValueError as error:
        raise ValueError(
            f"{text!r}: {ast.unparse(node)!r} is neither a number, a string, a tuple nor a "
            "configuration such as Sparse(2)."
        ) from error
