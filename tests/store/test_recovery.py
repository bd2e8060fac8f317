"""A store cut short at any byte: refused with the way out, and its readable rows saved."""

import re
import shutil

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import elegans as el
from elegans.store.arrays import pack
from elegans.store.record import Record
from elegans.store.recovery import recover
from elegans.store.schema import StoreError

RUNS = 300


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A store with some hundred pages, closed, so that no log is left beside it."""
    path = tmp_path_factory.mktemp("whole") / "whole.db"
    noise = np.random.default_rng(0)
    base = el.Experiment(el.tasks.Parity(6, 2), el.models.MLP(4), el.Training())
    with el.Store(path) as store:
        for i in range(RUNS // 10):
            experiment = base.varied({"training.samples": i + 1})
            store.register({experiment.name: experiment.to_json()})
            curve = [{"step": np.arange(30), "loss": noise.random(30)} for _ in range(10)]
            store.add(
                Record(experiment.name, j, "done", True, 30, curve[j]["loss"][-1], 0.5, 0.5, 0.5,
                       history=pack(curve[j]), versions="{}", host="here")
                for j in range(10)
            )  # fmt: skip
    return path


def contents(path):
    with el.Store(path) as store:
        return {(r.experiment, r.seed): r for r in store.records()}


@given(st.data())
def test_a_store_cut_at_any_byte_is_refused_and_its_readable_rows_come_back(
    whole, tmp_path_factory, data
):
    size = data.draw(st.integers(1, whole.stat().st_size - 1))
    directory = tmp_path_factory.mktemp("cut")
    cut, out = directory / "cut.db", directory / "out.db"
    cut.write_bytes(whole.read_bytes()[:size])
    with pytest.raises(StoreError, match=r"elegans recover .*cut.db NEW.db|no store"):
        el.Store(cut).table()
    rescue = recover(cut, out)
    saved, expected = contents(out), contents(whole)
    assert len(saved) == rescue.saved
    assert all(expected[key] == record for key, record in saved.items())
    # Pages fill in the order of time, so what is left of the file holds that share of the runs, but
    # for a page of 62 runs and one of 6 experiments with their 60 runs that the cut may go through.
    share = size / whole.stat().st_size
    assert len(saved) >= RUNS * share - 125
    shutil.rmtree(directory)


def test_a_whole_store_comes_back_whole(whole, tmp_path):
    assert recover(whole, tmp_path / "out.db") == (RUNS, 0)
    a, b = el.Store(whole).table(), el.Store(tmp_path / "out.db").table()
    pd.testing.assert_frame_equal(a, b, check_exact=True)


def test_a_run_whose_curve_is_damaged_is_lost_and_counted(whole, tmp_path):
    path = tmp_path / "flipped.db"
    blob = next(el.Store(whole).records()).history
    damaged = blob[:-1] + bytes([blob[-1] ^ 1])  # the last bit of the checksum
    path.write_bytes(whole.read_bytes().replace(blob, damaged))
    assert recover(path, tmp_path / "out.db") == (RUNS - 1, 1)


def test_recovery_does_not_write_over_a_file(whole):
    with pytest.raises(StoreError, match=re.escape(f"{whole} is there already")):
        recover(whole, whole)
