"""The documentation site: pages are reached, formulas are drawn, nothing needs a network."""

import ast
import fnmatch
import re
from pathlib import Path

import pytest
from sphinx.application import Sphinx

import elegans
from docs.site import docstrings, mathml, reference
from elegans.studies import catalogue

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$])\$([^$]+?)\$(?!\$)", re.DOTALL)


def toctree_entries(page):
    """What the toctrees of a page list, with generated pages and patterns as they are written."""
    for body in re.findall(r"```\{toctree\}\n(.*?)```", page, re.DOTALL):
        for line in body.splitlines():
            if line and not line.startswith(":"):
                yield re.sub(r".*<(.*)>", r"\1", line)


def test_every_page_is_in_a_table_of_contents():
    entries = list(toctree_entries((DOCS / "index.md").read_text("utf-8")))
    pages = {path.stem for path in DOCS.glob("*.md")} - {"index"}
    for page in pages:
        assert any(fnmatch.fnmatchcase(page, entry) for entry in entries), page
    for entry in entries:
        is_generated = entry in ("gallery/index", "api/index")
        assert is_generated or fnmatch.filter(pages, entry), entry


def formulas():
    """Every formula of a docstring or a page."""
    texts = [path.read_text("utf-8") for path in DOCS.glob("*.md")]
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                texts.append(ast.get_docstring(node) or "")
    for text in texts:
        text = re.sub(r"```.*?```|`[^`\n]+`", "", text, flags=re.DOTALL)
        yield from (block or inline for block, inline in FORMULA.findall(text))


def test_every_formula_is_drawn():
    distinct = set(formulas())
    assert len(distinct) > 1000
    for formula in distinct:
        assert mathml.mathml(formula).startswith("<math")


@pytest.mark.parametrize("formula", [r"\nosuchcommand x", r"\left( x", "x_1_2"])
def test_a_formula_that_cannot_be_drawn_is_refused(formula):
    with pytest.raises(mathml.FormulaError, match=re.escape(repr(formula))):
        mathml.mathml(formula)


def test_spaces_are_those_of_mathematics():
    assert '<mo form="prefix">−</mo><mn>1</mn>' in mathml.mathml(r"\{-1, 1\}")
    assert '<mo form="infix">−</mo>' in mathml.mathml("n - 1")
    assert '<mi>ln</mi><mspace width="0.17em" /><mi>n</mi>' in mathml.mathml(r"\ln n")
    assert "⌈" in mathml.mathml(r"\Big\lceil n \Big\rceil")


GOOGLE = """Draws examples.

Args:
    key: Where randomness
        comes from.
    size: How many.

Raises:
    ValueError: If there are none.

References: Nobody (2024),
A paper."""

UNDERLINED = """A learner.

Parameters
----------
k : int, default=2
    Relevant bits.

Attributes
----------
support_ : tuple
    Those found."""


def test_sections_of_docstrings_become_fields():
    text = "\n".join(docstrings.fields(GOOGLE.splitlines()))
    assert ":Args:\n    - **key**: Where randomness\n      comes from.\n    - **size**" in text
    assert ":Raises:\n    - **ValueError**: If there are none." in text
    assert text.rstrip().endswith(":References: Nobody (2024), A paper.")


def test_underlined_sections_are_read_too():
    text = "\n".join(docstrings.fields(docstrings.plain_sections(UNDERLINED.splitlines())))
    assert ":Args:\n    - **k**: *int, default=2.*\n      Relevant bits." in text
    assert ":Attributes:\n    - **support_**: *tuple.*\n      Those found." in text


def test_a_small_site_is_built_without_a_warning_and_needs_no_network(tmp_path):
    source, target = tmp_path / "source", tmp_path / "site"
    source.mkdir()
    page = reference.automodule("elegans.theory.boolean.gradients", members=True)
    (source / "index.md").write_text("\n".join(["# One page", "", *page]))
    settings = {"html_theme": "furo", "html_math_renderer": "mathml", "html_static_path": []}
    settings["myst_enable_extensions"] = ["colon_fence", "dollarmath", "fieldlist"]
    settings["extensions"] = [
        "myst_parser",
        "sphinx.ext.autodoc",
        "docs.site.mathml",
        "docs.site.docstrings",
    ]
    app = Sphinx(
        source,
        None,
        target,
        tmp_path / "doctrees",
        "html",
        confoverrides=settings,
        status=None,
        warningiserror=True,
    )
    app.build()
    assert app.statuscode == 0
    text = (target / "index.html").read_text("utf-8")
    assert '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block">' in text
    assert "$" not in re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)
    assert "<strong>activation</strong>" in text
    loaded = re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="(https?:[^"]+)"', text)
    assert loaded == []
    assert "base64" in (target / "_static" / mathml.STYLE_SHEET).read_text()


def test_the_citation_is_of_this_version():
    text = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {elegans.__version__}\n" in text


def test_the_readme_is_one_page_with_a_picture_that_is_there():
    text = (ROOT / "README.md").read_text("utf-8")
    assert len(text.splitlines()) <= 120
    pictures = re.findall(r'!\[[^\]]+\]\(([^)]+)\)|<img[^>]+src="([^"]+)"', text[:1500])
    assert pictures
    for path in [a or b for a, b in pictures]:
        assert (ROOT / path).stat().st_size < 200_000
    for link in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / link).exists(), link


def test_model_systems_names_studies_and_tasks_that_are_there():
    names = {entry.name for entry in catalogue.entries()}
    table = (DOCS / "model-systems.md").read_text("utf-8").split("## How")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 9
    for _, _, task, start, *_ in rows:
        assert set(re.findall(r"`([a-z-]+)`", start)) <= names
        for name in re.findall(r"`([A-Z]\w+)", task):
            assert hasattr(elegans.tasks, name), name
