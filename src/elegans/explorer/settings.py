"""The settings of a store's experiments as small integers, each field on its own.

A sweep of 200,000 experiments is 200 MB of JSON in which a few fields vary. Here a field is a list
of its distinct values, and an experiment a row of places in these lists.

Neighbours in a sweep differ in a few scalars, so a text is compared with an earlier one of the same
number of parts, and only parts that differ are read. A part that is not `"key": scalar`, with a key
that occurs once in the text, makes the whole text be parsed; so the short way never guesses.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from elegans.store.fields import flattened

SEPARATOR = ', "'
SCALAR = re.compile(r'([^"\\]+)": (-?[0-9][0-9.eE+-]*|true|false|null|"[^"\\]*")(\}*)')


@dataclass
class Field:
    """A setting: its dotted name, its number among the fields, and its values by code."""

    name: str
    number: int
    values: list[Any] = field(default_factory=list)
    codes: dict[Any, int] = field(default_factory=dict)
    tokens: dict[str, int] = field(default_factory=dict)  # JSON texts that were met, to codes
    _numbers: np.ndarray = field(default_factory=lambda: np.zeros(0), repr=False)
    _order: np.ndarray = field(default_factory=lambda: np.zeros(0, np.intp), repr=False)

    @property
    def varies(self) -> bool:
        """Whether experiments differ in it."""
        return len(self.values) > 1

    @property
    def is_an_axis(self) -> bool:
        """Whether experiments that have it differ in it; others vary by having it or not."""
        return len(self.values) - self.has_missing > 1

    @property
    def has_missing(self) -> bool:
        """Whether some experiments do not have it, or have nothing there."""
        return (False, None) in self.codes

    @property
    def is_numeric(self) -> bool:
        """Whether all its values are numbers, but for missing ones."""
        count = int(np.sum(~np.isnan(self.numbers())))
        return count > 0 and count + self.has_missing == len(self.values)

    def numbers(self) -> np.ndarray:
        """Its values as numbers, not a number where they are something else."""
        if len(self._numbers) < len(self.values):
            new = [
                v if type(v) in (int, float) else np.nan for v in self.values[len(self._numbers) :]
            ]
            self._numbers = np.concatenate([self._numbers, np.array(new, float)])
        return self._numbers

    def code(self, value: Any) -> int:
        """The code of a value; True and 1 are two values, 1 and 1.0 are one, NaN is missing."""
        value = None if value != value else value
        key = (isinstance(value, bool), value)
        if key not in self.codes:
            self.codes[key] = len(self.values)
            self.values.append(value)
        return self.codes[key]

    def token(self, text: str) -> int:
        """The code of a scalar in JSON."""
        if text not in self.tokens:
            self.tokens[text] = self.code(json.loads(text))
        return self.tokens[text]

    def order(self) -> np.ndarray:
        """Codes in the order of their values: numbers, then the rest, missing at the end."""
        if len(self._order) != len(self.values):
            numbers = self.numbers()
            first = np.argsort(numbers, kind="stable")[: int(np.sum(~np.isnan(numbers)))]
            rest = np.flatnonzero(np.isnan(numbers)).tolist()
            rest.sort(key=lambda code: _rank(self.values[code]))
            self._order = np.concatenate([first, np.array(rest, np.intp)])
        return self._order


class Template(NamedTuple):
    """A text that was parsed: its parts, the codes of its fields, and keys that occur once."""

    parts: list[str]
    codes: dict[int, int]
    fields: dict[str, Field]


class Settings:
    """All fields of the experiments that were added, in the order in which they first occur."""

    def __init__(self) -> None:
        self.fields: dict[str, Field] = {}
        self.count = 0
        self._templates: dict[int, Template] = {}

    def varying(self) -> list[Field]:
        """The fields in which experiments differ, those that only some have at the end."""
        return sorted(
            (f for f in self.fields.values() if f.varies),
            key=lambda f: (not f.is_an_axis, f.name.endswith("type"), f.number),
        )

    def add(self, text: str) -> dict[int, int]:
        """The codes of an experiment, by the number of the field.

        Raises:
            ValueError: The text is not a JSON object.
        """
        parts = text.split(SEPARATOR)
        template = self._templates.get(len(parts))
        codes = None if template is None else self._difference(template, parts)
        if codes is None:
            codes, keys = self._parsed(text)
        else:
            assert template is not None
            keys = template.fields
        self._templates[len(parts)] = Template(parts, codes, keys)
        self.count += 1
        return codes

    def _difference(self, template: Template, parts: list[str]) -> dict[int, int] | None:
        changes = []
        for old, new in zip(template.parts, parts, strict=True):
            if old != new:
                before, after = SCALAR.fullmatch(old), SCALAR.fullmatch(new)
                if before is None or after is None:
                    return None
                (key, _, tail), (new_key, token, new_tail) = before.groups(), after.groups()
                if key != new_key or tail != new_tail or key not in template.fields:
                    return None
                changes.append((template.fields[key], token))
        codes = dict(template.codes)
        for setting, token in changes:
            codes[setting.number] = setting.token(token)
        return codes

    def _parsed(self, text: str) -> tuple[dict[int, int], dict[str, Field]]:
        try:
            plain = json.loads(text)
            if not isinstance(plain, dict):
                raise ValueError("it is not an object")
            flat = flattened(plain)
        except RecursionError as error:
            raise ValueError("it is nested too deeply") from error
        for name in flat:
            if name not in self.fields:
                self.fields[name] = Field(name, len(self.fields))
                if self.count:  # the experiments before this one do not have it
                    self.fields[name].code(None)
        codes = {self.fields[name].number: self.fields[name].code(v) for name, v in flat.items()}
        for absent in self.fields.keys() - flat.keys():
            codes[self.fields[absent].number] = self.fields[absent].code(None)
        keys: dict[str, list[str]] = {}
        for name in flat:
            keys.setdefault(name.rpartition(".")[2], []).append(name)
        once = {k: n for k, n in keys.items() if len(n) == 1 and text.count(f'"{k}": ') == 1}
        return codes, {key: self.fields[names[0]] for key, names in once.items()}


def _rank(value: Any) -> tuple[int, Any]:
    if value is None:
        return (3, 0)
    if isinstance(value, bool):
        return (0, value)
    return (1, value) if isinstance(value, int | float) else (2, str(value))
