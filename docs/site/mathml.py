"""Formulas as MathML, made when the site is built: no script, no network, no LaTeX.

A browser needs a font with a table of mathematical metrics. STIX Two Math comes with the package
ziamath; the characters that formulas use are written into a style sheet, because browsers refuse
fonts from files beside a page that is itself opened from a file.
"""

import base64
import html
import io
import logging
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from fontTools import subset
from fontTools.ttLib import TTFont
from latex2mathml import exceptions
from latex2mathml.converter import convert_to_element
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger

LOGGER = getLogger(__name__)
STYLE_SHEET = "formulas.css"

# Latin, Greek, punctuation, arrows, operators, fences, and the alphabets of mathematics.
CHARACTERS = [
    *range(0x20, 0x7F),
    *range(0xA0, 0x100),
    *range(0x300, 0x340),
    *range(0x370, 0x400),
    *range(0x2010, 0x2070),
    *range(0x2100, 0x2200),
    *range(0x2200, 0x2320),
    0x25B3,
    *range(0x27E6, 0x27F0),
    *range(0x1D400, 0x1D800),
]

# Fences that `\Big` takes as characters only.
FENCES = {"lceil": "⌈", "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", "{": "{", "}": "}"}
FENCES |= {"langle": "⟨", "rangle": "⟩", "lvert": "|", "rvert": "|", "lVert": "‖", "rVert": "‖"}

ERRORS = tuple(value for value in vars(exceptions).values() if isinstance(value, type))

ROWS = {"math", "mrow", "mtd", "msqrt"}
SIGNS = {"+", "-", "−", "±", "∓", "¬"}
BARS = {"|", "‖", "∥", "∣"}
# After one of these a sign belongs to what follows it.
OPENING = set("([{⟨⌊⌈|‖∥,;:=<>≤≥≠∈∉→↦∼≈∝←+−-±×·⋅/⊕⊗∘∖")


class FormulaError(ValueError):
    """A formula that cannot be written as MathML."""


def mathml(formula: str, display: str = "inline") -> str:
    """The formula, written in LaTeX, as a `math` element."""
    try:
        element = convert_to_element(" ".join(formula.split()), display=display)
    except ERRORS as error:
        raise FormulaError(f"{formula!r} is not read: {error!r}.") from error
    for node in element.iter():
        node.text = html.unescape(node.text or "")  # the package writes characters as entities
        if node.tag == "mo" and node.get("minsize"):
            node.text = FENCES.get(node.text.lstrip("\\"), node.text)
        if node.text.startswith("\\") and node.tag != "mtext":
            raise FormulaError(f"{formula!r}: the command {node.text} is not known.")
    for node in element.iter():
        if node.tag in ROWS:
            _space(node)
    return ElementTree.tostring(element, encoding="unicode")


def _space(row: ElementTree.Element) -> None:
    """Corrects the spaces of a row: of signs before a term, names of functions, bars, slashes."""
    children = list(row)
    for place, node in enumerate(children):
        before = children[place - 1] if place else None
        after = children[place + 1] if place + 1 < len(children) else None
        if node.tag == "mo" and node.text in SIGNS:
            is_first = before is None or (before.tag == "mo" and str(before.text) in OPENING)
            node.set("form", "prefix" if is_first else "infix")
        elif node.tag == "mo" and node.text in BARS and node.get("minsize") is None:
            node.set("stretchy", node.get("stretchy", "false"))
        elif node.tag == "mo" and node.text == "/":
            node.attrib.update({"lspace": "0em", "rspace": "0em"})
        elif str(node.text).isalpha() and len(str(node.text)) > 1 and node.tag in ("mi", "mo"):
            is_fence = after is not None and after.tag == "mo" and str(after.text) in OPENING
            node.tag = "mi"
            if after is not None and not is_fence:
                space = ElementTree.Element("mspace", {"width": "0.17em"})
                row.insert(list(row).index(node) + 1, space)


def font() -> bytes:
    """The characters of STIX Two Math that formulas use, as a WOFF file."""
    logging.getLogger("fontTools.subset").setLevel(logging.WARNING)  # a line per table otherwise
    package = find_spec("ziamath")  # not imported: it is here for its font alone
    if package is None or package.origin is None:
        raise FileNotFoundError("ziamath, whose font formulas use, is not installed: make docs")
    full = TTFont(Path(package.origin).parent / "fonts" / "STIXTwoMath-Regular.ttf")
    options = subset.Options(layout_features=["ssty", "flac", "dtls"], hinting=False)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=CHARACTERS)
    subsetter.subset(full)
    full.flavor = "woff"
    buffer = io.BytesIO()
    full.save(buffer)
    return buffer.getvalue()


def write_style_sheet(app: Sphinx, _: Any = None) -> None:
    """Writes the font into the site's static files, if it is not there."""
    path = Path(app.outdir) / "_static" / STYLE_SHEET
    if app.builder.format != "html" or path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    data = base64.b64encode(font()).decode("ascii")
    path.write_text(
        '@font-face { font-family: "STIX Two Math"; font-display: swap;\n'
        f"  src: url(data:font/woff;base64,{data}) format('woff'); }}\n"
        'math { font-family: "STIX Two Math", math; }\n',
        encoding="ascii",
    )


def _visit(display: str) -> Any:
    def visit(self: Any, node: nodes.Element) -> None:
        try:
            self.body.append(mathml(node.astext(), display))
        except FormulaError as error:
            LOGGER.warning(str(error), location=node)
        raise nodes.SkipNode

    return visit


def setup(app: Sphinx) -> dict[str, Any]:
    """Registers the renderer, and its style sheet."""
    app.add_html_math_renderer("mathml", (_visit("inline"), None), (_visit("block"), None))
    app.connect("builder-inited", write_style_sheet)
    app.add_css_file(STYLE_SHEET)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
