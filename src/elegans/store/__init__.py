"""Where finished runs live."""
