import json
import pickle
import zlib

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from elegans.store import arrays
from elegans.store.arrays import pack, same, unpack

DTYPES = st.sampled_from([np.float32, np.float64, np.int64, np.int32, np.bool_, "U3"])


@given(st.data())
def test_arrays_come_back_bit_for_bit(data):
    names = data.draw(st.lists(st.text("abc.ω", min_size=1), unique=True, max_size=3))
    shapes = hnp.array_shapes(min_dims=0, min_side=0)
    columns = {name: data.draw(hnp.arrays(data.draw(DTYPES), data.draw(shapes))) for name in names}
    back = unpack(pack(columns))
    assert list(back) == list(columns)
    assert same(back, columns)
    for name, column in columns.items():
        assert back[name].dtype == column.dtype
        assert back[name].shape == column.shape
        assert back[name].tobytes() == column.tobytes()  # NaNs and signs of zero included
        assert back[name].flags.writeable


def test_a_table_of_numbers_booleans_and_text_comes_back():
    table = pd.DataFrame(
        {"n": [1, 2, 3], "is_even": [False, True, False], "word": ["a", "", "long ω"], "x": 0.5}
    )
    back = pd.DataFrame(unpack(pack({name: table[name].to_numpy() for name in table})))
    pd.testing.assert_frame_equal(back, table)


def test_missing_text_is_told_from_empty_text():
    for gap in (None, np.nan, pd.NA):
        words = unpack(pack({"word": np.array(["a", "", gap], object)}))["word"]
        assert list(words) == ["a", "", None]
    assert list(pd.DataFrame({"word": words})["word"].isna()) == [False, False, True]


def test_other_objects_and_pickles_are_neither_written_nor_read():
    for values in (np.array([{}, None]), np.array(["a", 1], object), np.array(["2020"], "M8[Y]")):
        with pytest.raises(ValueError, match=r"Column 'a' h.*; numbers, booleans and text"):
            pack({"a": values})
    with pytest.raises(ValueError, match="blob"):
        unpack(zlib.compress(pickle.dumps([1])))
    for dtype in ("O", "V8", "U0", "f8,f8"):
        header = json.dumps([["a", dtype, [1], False]]).encode()
        with pytest.raises(ValueError, match="names an array of dtype"):
            unpack(zlib.compress(header + b"\n" + bytes(64)))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[" * 100_000 + b"\n",
        b"7\n",
        b'[["a", "f8", [-1], false]]\n',
        b'[["a", "f8", [9], false]]\n',
        b'[["a", "f8", [0.5], false]]\n',
        b'[["a", "nothing", [1], false]]\n',
        b'[["a", "f8"]]\n',
        b"\xff\n",
    ],
)
def test_a_blob_of_another_form_is_a_value_error(body):
    with pytest.raises(ValueError):  # noqa: PT011 - the messages are of several libraries
        unpack(zlib.compress(body))
    with pytest.raises(ValueError, match="blob"):
        unpack(body)


def test_what_decompresses_beyond_the_limit_is_refused(monkeypatch):
    bomb = pack({"a": np.zeros(10**6)})
    assert len(bomb) < 10**4
    with pytest.raises(ValueError, match="more than 100,000 bytes"):
        unpack(bomb, limit=10**5)
    monkeypatch.setattr(arrays, "MAX_BYTES", 10**5)
    with pytest.raises(ValueError, match="a blob has 100,000 at most"):
        pack({"a": np.zeros(10**6)})


def test_damaged_bytes_do_not_come_back_as_numbers():
    blob = pack({"a": np.arange(100.0)})
    for i in range(2, len(blob), 7):
        with pytest.raises(ValueError, match="blob"):
            unpack(blob[:i] + bytes([blob[i] ^ 1]) + blob[i + 1 :])
        with pytest.raises(ValueError, match="cut short"):
            unpack(blob[:i])
