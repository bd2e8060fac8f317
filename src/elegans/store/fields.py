"""The fields of an experiment's JSON by dotted name, as columns of tables and pages have them."""

import json
from collections.abc import Mapping
from typing import Any


def flattened(plain: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested dictionaries as one with dotted keys; lists as JSON text, which any file can hold."""
    flat: dict[str, Any] = {}
    for name, value in plain.items():
        if isinstance(value, dict):
            flat |= flattened(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = json.dumps(value) if isinstance(value, list) else value
    return flat
