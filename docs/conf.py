"""The site: `make docs` builds it into `out/docs`. Nothing in it needs a network, ever."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import elegans  # noqa: E402
from docs.site import gallery, reference  # noqa: E402 - needs the path above

project = "elegans"
author = "the authors of elegans"
version = release = elegans.__version__
copyright = author  # noqa: A001 - Sphinx's name

reference.write(HERE / "api")
gallery.write(HERE / "gallery", HERE / "results")

extensions = ["myst_parser", "sphinx.ext.autodoc", "docs.site.mathml", "docs.site.docstrings"]
source_suffix = {".md": "markdown"}
exclude_patterns = ["results/**", "site/**"]

myst_enable_extensions = ["colon_fence", "dollarmath", "fieldlist"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
add_module_names = False
maximum_signature_line_length = 90
python_use_unqualified_type_names = True
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "elegans"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
