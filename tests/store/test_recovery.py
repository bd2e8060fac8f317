"""A store cut short at any byte: refused with the way out, and its readable rows saved."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elegans.store.recovery import recover
from elegans.store.schema import StoreError
from elegans.store.store import Store

from .conftest import experiment, make_run, name

RUNS = 300


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A store with some hundred pages, closed, so that no log is left beside it."""
    path = tmp_path_factory.mktemp("whole") / "whole.db"
    noise = np.random.default_rng(0)
    with Store(path) as store:
        store.register({name(i): experiment(i) for i in range(RUNS // 10)})  # as a sweep does
        for i in range(RUNS // 10):
            store.add(
                make_run(i, j, arrays={"history": {"loss": noise.random(30)}}) for j in range(10)
            )
    return path


@pytest.fixture(scope="module")
def expected(whole):
    return contents(whole)


def contents(path):
    with Store(path) as store:
        keys = sorted(store.keys())
        return {run.key: (run.row(), run.history["loss"].tolist()) for run in store.runs(keys)}


@settings(max_examples=25)  # each makes a file
@given(st.data())
def test_a_store_cut_at_any_byte_is_refused_and_its_readable_rows_come_back(
    whole, expected, tmp_path_factory, data
):
    size = data.draw(st.integers(1, whole.stat().st_size - 1))
    directory = tmp_path_factory.mktemp("cut")
    cut, out = directory / "cut.db", directory / "out.db"
    cut.write_bytes(whole.read_bytes()[:size])
    with pytest.raises(StoreError, match=r"elegans recover .*cut.db NEW.db|not a store"):
        Store(cut).table()
    rescue = recover(cut, out)
    saved = contents(out)
    assert len(saved) == rescue.saved
    assert all(repr(expected[key]) == repr(record) for key, record in saved.items())  # with NaN
    # Pages fill in the order of time, so what is left of the file holds that share of the runs, but
    # for the pages of experiments and the roots, which come first, and a page of 50 runs that the
    # cut may go through.
    share = size / whole.stat().st_size
    assert len(saved) >= RUNS * share - 125
    shutil.rmtree(directory)


def test_a_whole_store_comes_back_whole(whole, tmp_path):
    assert recover(whole, tmp_path / "out.db") == (RUNS, 0)
    a, b = Store(whole).table(), Store(tmp_path / "out.db").table()
    pd.testing.assert_frame_equal(a, b, check_exact=True)


def test_a_run_whose_curve_is_damaged_is_lost_and_counted(whole, tmp_path):
    path = tmp_path / "flipped.db"
    store = Store(whole)
    with store._file.reading():
        ((blob,),) = store._file.rows("SELECT data FROM arrays WHERE run = 7")
    damaged = blob[:-1] + bytes([blob[-1] ^ 1])
    path.write_bytes(whole.read_bytes().replace(blob, damaged))
    assert recover(path, tmp_path / "out.db") == (RUNS - 1, 1)


def test_recovery_does_not_write_over_a_file(whole):
    with pytest.raises(StoreError, match=re.escape(f"{whole} already exists")):
        recover(whole, whole)
