"""Tables survive CSV: every float bit for bit, every type, every missing cell."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pandas.testing import assert_frame_equal

from elegans.report.tables import Tables, flat, from_csv, kinds, to_csv

TEXTS = st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=6)
FLOATS = st.floats(allow_nan=True, allow_infinity=True)


def again(table):
    """The table after a round trip."""
    return from_csv(to_csv(table), kinds(table))


def assert_survives(table):
    table = flat("t", table)
    assert_frame_equal(again(table), table, check_exact=True)


@given(st.lists(st.tuples(FLOATS, TEXTS, st.integers(-(2**63), 2**63 - 1), st.booleans())))
def test_every_value_survives(rows):
    columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
    table = pd.DataFrame(
        {
            "x": np.array(columns[0], np.float64),
            "text": pd.Series(list(columns[1]), dtype=object),
            "i": np.array(columns[2], np.int64),
            "yes": np.array(columns[3], bool),
        }
    )
    assert_survives(table)
    bits = flat("t", table)["x"].to_numpy().view(np.int64)
    finite = ~np.isnan(table["x"])  # of NaN there are many; one is as good as another
    np.testing.assert_array_equal(
        again(flat("t", table))["x"].to_numpy().view(np.int64)[finite], bits[finite]
    )


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([1, None, 2**60 + 1], dtype="Int64"),
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series([0.1, None, 1e-308], dtype="Float64"),
        pd.Series(["", None, "\\", "NA", "nan", 'a "b", c\r\nd'], dtype="string"),
        pd.Series([1.1, 2.2], dtype="float32"),
        pd.Series([255, 0], dtype="uint8"),
        pd.Series([np.inf, -np.inf, -0.0, 5e-324]),
        pd.Series([None, None], dtype=object),
    ],
)
def test_types_survive_with_missing_cells(column):
    table = pd.DataFrame({"column": column, "row": range(len(column))})
    assert_survives(table)


def test_objects_become_what_they_hold():
    table = flat(
        "t",
        pd.DataFrame(
            {"m": pd.Series([600, None], dtype=object), "ok": pd.Series([True, None], dtype=object)}
        ),
    )
    assert dict(table.dtypes.astype(str)) == {"m": "Int64", "ok": "boolean"}


def test_a_named_index_becomes_columns_and_another_is_dropped():
    grouped = pd.DataFrame({"k": [1, 1, 2], "x": [1.0, 2.0, 3.0]}).groupby("k").mean()
    assert list(flat("t", grouped)) == ["k", "x"]
    chosen = pd.DataFrame({"x": [1.0, 2.0, 3.0]}).iloc[1:]
    assert list(flat("t", chosen).index) == [0, 1]


def test_what_has_no_type_is_refused_by_name():
    with pytest.raises(TypeError, match=r"Table 't', column 'x': a column holds numbers"):
        flat("t", pd.DataFrame({"x": [1, "a"]}))
    with pytest.raises(TypeError, match=r"column 'x'"):
        flat("t", pd.DataFrame({"x": [[1], [2]]}))
    with pytest.raises(ValueError, match=r"two columns have the same name"):
        flat("t", pd.DataFrame([[1, 2]], columns=["a", "a"]))


def test_a_missing_table_is_named_with_those_there_are():
    tables = Tables({"cells": pd.DataFrame({"x": [1]})}, {"steps": 3})
    assert tables.facts == {"steps": 3}
    assert list(tables) == ["cells"]
    with pytest.raises(KeyError, match=r"no table 'runs'; there are cells"):
        tables["runs"]
