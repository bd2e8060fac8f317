"""Docstrings as they are written here: Markdown with formulas, and Google's sections.

Estimators follow scikit-learn, whose sections are underlined and whose entries have a type.

autodoc reads docstrings as reStructuredText. The text of a docstring is wrapped into a directive
that reads it as Markdown instead, after its sections have become the fields that Sphinx knows.
"""

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.utils import new_document
from myst_parser.parsers.sphinx_ import MystParser
from sphinx.application import Sphinx

ENTRIES = ("Args", "Attributes", "Raises")
SECTION = re.compile(r"(Args|Attributes|Raises|Returns|Yields|References): ?(.*)")
ENTRY = re.compile(r"(?! )([\w.*, `]+?): (.*)")


def plain_sections(lines: list[str]) -> list[str]:
    """Underlined sections, as scikit-learn has them, in Google's form."""
    rewritten: list[str] = []
    is_section = False
    for line in lines:
        if re.fullmatch(r"-{5,}", line):
            name = rewritten.pop()
            rewritten.append("Args:" if name == "Parameters" else f"{name}:")
            is_section = True
        elif is_section and (match := re.fullmatch(r"(\w+) : (.*)", line)):
            rewritten.append(f"    {match[1]}: *{match[2]}.*")
        else:
            rewritten.append(f"    {line}" if is_section and line.strip() else line)
    # The heading of the section after an entry was indented with it.
    return [line.strip() if SECTION.fullmatch(line.strip()) else line for line in rewritten]


def fields(lines: list[str]) -> Iterator[str]:
    """The lines of a docstring, with sections as fields of Sphinx.

    A section is a heading such as "Args:" and the indented lines after it. Args, Attributes and
    Raises hold a name and a text per entry and become lists; the others hold text.
    """
    body: list[str] = []
    heading = ""
    for line in [*lines, "end"]:
        if heading and (line.startswith((" ", "\t")) or (not line.strip() and line != "end")):
            body.append(line)
            continue
        if heading and heading.startswith("References") and line.strip() and line != "end":
            body.append(f"    {line}")  # references go on without being indented
            continue
        if heading:
            yield from _section(heading, body)
            heading, body = "", []
        match = SECTION.fullmatch(line)
        if match:
            heading, body = match[1], [f"    {match[2]}"] if match[2] else []
        elif line != "end":
            yield line


def _section(heading: str, body: list[str]) -> Iterator[str]:
    yield ""
    if heading not in ENTRIES:
        text = " ".join(line.strip() for line in body).strip()
        yield f":{heading}: {text}"
    else:
        margin = min(len(line) - len(line.lstrip()) for line in body if line.strip())
        yield f":{heading}:"
        for line in body:
            match = ENTRY.fullmatch(line[margin:])
            if match:
                yield f"    - **{match[1]}**: {match[2]}"
            elif line.strip():
                yield f"      {line.strip()}"
    yield ""


class Docstring(Directive):
    """A docstring whose content is Markdown."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The nodes of the text, parsed by MyST."""
        document = self.state.document
        part = new_document(document["source"], document.settings)
        part.reporter = document.reporter
        part.settings.env = document.settings.env
        MystParser().parse("\n".join(self.content), part)
        return list(part.children)


def as_markdown(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]
) -> None:
    """Wraps the lines of a docstring into the directive above."""
    content = [f"   {line}" if line else "" for line in fields(plain_sections(lines))]
    lines[:] = [".. docstring::", "", *content, ""] if any(content) else []


def short_types(
    app: Sphinx,
    what: str,
    name: str,
    obj: Any,
    options: Any,
    signature: str | None,
    result: str | None,
) -> tuple[str | None, str | None]:
    """A signature whose arrays are called as users call them."""
    texts = [text and text.replace("jaxlib._jax.Array", "Array") for text in (signature, result)]
    return texts[0], texts[1]


def is_skipped(
    app: Sphinx, what: str, name: str, obj: Any, skip: bool, options: Any
) -> bool | None:
    """Leaves out what others add to our classes: the fields of tuples, scikit-learn's methods."""
    is_ours = str(getattr(obj, "__module__", "elegans")).split(".")[0] == "elegans"
    is_tuple_field = type(obj).__name__ == "_tuplegetter"
    return True if is_tuple_field or not is_ours else None


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the directive and the wrapper."""
    app.add_directive("docstring", Docstring)
    app.connect("autodoc-process-docstring", as_markdown)
    app.connect("autodoc-process-signature", short_types)
    app.connect("autodoc-skip-member", is_skipped)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
