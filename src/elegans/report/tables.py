r"""The tables of a result: flat, of few types, and the same after a round trip through CSV.

A table has columns with names and rows without: floats, integers, booleans and text, each with or
without missing cells. CSV holds no types, so `kinds` notes them beside it. Floats are written by
their shortest exact decimal (`repr`), so every bit survives; a missing cell is empty, an empty text
is a backslash, and a text that begins with a backslash gets another.
"""

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

TEXT = "text"  # in the dtype that this version of pandas gives to a list of strings
NULLABLE = ("boolean", "string")


class Tables(Mapping[str, pd.DataFrame]):
    """DataFrames by name, with the single numbers that belong to them as `facts`."""

    def __init__(
        self, tables: Mapping[str, pd.DataFrame], facts: Mapping[str, Any] | None = None
    ) -> None:
        self._tables = {name: flat(name, table) for name, table in tables.items()}
        self.facts = dict(facts or {})

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._tables:
            raise KeyError(f"no table {name!r}; there are {', '.join(self._tables) or 'none'}")
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name} ({len(table)} rows)" for name, table in self._tables.items())
        return f"Tables({sizes})"


def flat(name: str, table: pd.DataFrame) -> pd.DataFrame:
    """The table as a bundle can hold it: a named index as columns, a type for every column."""
    named = [level for level in table.index.names if level is not None]
    rows = table.reset_index(drop=not named)
    columns = [str(column) for column in rows.columns]
    if len(set(columns)) != len(columns):
        raise ValueError(f"Table {name!r}: two columns have the same name; they are {columns}.")
    rows.columns = pd.Index(columns)
    return rows.assign(**{column: _typed(name, rows[column]) for column in columns})


def kinds(table: pd.DataFrame) -> dict[str, str]:
    """The type of each column, by which `from_csv` restores it."""
    return {str(column): _kind(table[column]) for column in table}


def to_csv(table: pd.DataFrame) -> str:
    """The table as CSV, exact together with its `kinds`."""
    cells = [[_written(value) for value in table[column].tolist()] for column in table]
    text = io.StringIO()
    # A lone carriage return ends a row for readers, and is quoted only if everything is.
    has_return = any("\r" in cell for column in cells for cell in column)
    writer = csv.writer(
        text, lineterminator="\n", quoting=csv.QUOTE_ALL if has_return else csv.QUOTE_MINIMAL
    )
    writer.writerow(table.columns)
    writer.writerows(zip(*cells, strict=True))
    return text.getvalue()


def from_csv(text: str, types: Mapping[str, str]) -> pd.DataFrame:
    """The table that `to_csv` wrote, whose columns have these `types`."""
    header, *rows = csv.reader(io.StringIO(text, newline=""))
    if header != list(types):
        raise ValueError(f"its columns are {header}, and should be {list(types)}")
    if any(len(row) != len(header) for row in rows):
        raise ValueError(f"a row has not {len(header)} cells")
    cells = list(zip(*rows, strict=True)) if rows else [()] * len(header)
    columns = {
        name: _column(list(values), types[name]) for name, values in zip(header, cells, strict=True)
    }
    return pd.DataFrame(columns, index=pd.RangeIndex(len(rows)))


def _typed(name: str, column: pd.Series) -> pd.Series:
    """A column of one of the types that are kept; objects become what they hold."""
    kind = column.dtype.kind
    is_plain = isinstance(column.dtype, np.dtype) and kind in "biuf"
    is_text = pd.api.types.is_string_dtype(column.dtype) and column.dtype != object
    if is_plain or is_text:
        return column
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _typed(name, column.astype(column.cat.categories.dtype))
    if pd.api.types.is_extension_array_dtype(column.dtype) and kind in "biuf":
        return column
    values = [None if pd.api.types.is_scalar(v) and pd.isna(v) else v for v in column]
    if all(value is None or isinstance(value, str) for value in values):
        return pd.Series(values, column.index, _text_dtype(), name=column.name)
    guess = pd.Series(values, column.index, name=column.name).convert_dtypes()
    if guess.dtype.kind in "biuf":
        return guess
    raise TypeError(
        f"Table {name!r}, column {column.name!r}: a column holds numbers, or booleans, or text; "
        f"got {column.dtype} with {values[:3]!r}."
    )


def _kind(column: pd.Series) -> str:
    is_text = pd.api.types.is_string_dtype(column.dtype)
    return TEXT if is_text and str(column.dtype) != "string" else str(column.dtype)


def _written(value: Any) -> str:
    if value is None or value is pd.NA or value != value:
        return ""
    if isinstance(value, str):
        return f"\\{value}" if not value or value.startswith("\\") else value
    return repr(value)


def _column(cells: list[str], kind: str) -> pd.Series:
    """The cells of a column in its type."""
    if kind in (TEXT, "string"):
        texts = [None if not c else c[1:] if c.startswith("\\") else c for c in cells]
        return pd.Series(texts, dtype=_text_dtype() if kind == TEXT else kind)
    if kind in ("bool", "boolean"):
        truth = {"True": True, "False": False, "": None}
        return pd.Series([truth[cell] for cell in cells], dtype=kind)
    if "float" in kind.lower():
        # In Python's own floats first: a nullable column reads NaN as missing.
        floats = pd.Series([float(cell or "nan") for cell in cells], dtype="float64")
        return floats.astype(pd.api.types.pandas_dtype(kind))
    return pd.Series([int(cell) if cell else None for cell in cells], dtype=kind)


def _text_dtype() -> Any:
    return pd.Series(["a"]).dtype
