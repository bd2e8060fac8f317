import pickle
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from elegans.store.arrays import pack, unpack

DTYPES = st.sampled_from([np.float32, np.float64, np.int64, np.int32, np.bool_])


@given(st.data(), st.integers(0, 4))
def test_arrays_come_back_bit_for_bit(data, rows):
    names = data.draw(st.lists(st.text("abc.", min_size=1), unique=True, max_size=3))
    columns = {
        name: data.draw(
            hnp.arrays(data.draw(DTYPES), (rows, *data.draw(hnp.array_shapes(min_dims=0))))
        )
        for name in names
    }
    back = unpack(pack(columns))
    assert list(back) == list(columns)
    for name, column in columns.items():
        assert back[name].dtype == column.dtype
        assert back[name].shape == column.shape
        assert back[name].tobytes() == column.tobytes()  # NaNs and signs of zero included


def test_a_pickle_is_neither_written_nor_read():
    with pytest.raises(ValueError, match="Object arrays cannot be saved"):
        pack({"a": np.array([{}, None])})
    with pytest.raises(ValueError, match=r"pickled"):
        unpack(zlib.compress(pickle.dumps([1])))


def test_damaged_bytes_do_not_come_back_as_numbers():
    blob = pack({"a": np.arange(100.0)})
    for i in range(2, len(blob), 7):
        with pytest.raises((zlib.error, ValueError)):
            unpack(blob[:i] + bytes([blob[i] ^ 1]) + blob[i + 1 :])


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="share their leading axis"):
        pack({"a": np.zeros(2), "b": np.zeros(3)})
