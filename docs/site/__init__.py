"""How the documentation is built: formulas, docstrings, the API reference and the gallery."""
