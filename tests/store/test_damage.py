"""Stores with random bytes changed or cut off: no error but `StoreError`, no other number."""

import sqlite3
import struct
from dataclasses import replace
from numbers import Real

import numpy as np
import pandas as pd
import pytest

from elegans.store.recovery import recover
from elegans.store.schema import StoreError
from elegans.store.store import Store

from .conftest import PROBES, experiment, make_failure, make_run, name

STORES = 300  # of each kind
WIDTHS, SEEDS = (4, 8), range(3)
KEYS = [(name(width), seed) for width in WIDTHS for seed in SEEDS]


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The bytes of a small store: six runs, one of them failed, with arrays."""
    path = tmp_path_factory.mktemp("whole") / "whole.db"
    with Store(path) as store:
        store.register({name(width): experiment(width) for width in WIDTHS})
        noise = np.random.default_rng(0)
        for i, (width, seed) in enumerate((width, seed) for width in WIDTHS for seed in SEEDS):
            run = make_run(
                width, seed, test_error=noise.random(), success=bool(i % 2), finished=1e9
            )
            store.add([run if i else make_failure(width, seed)], PROBES, ["params"])
    return path.read_bytes()


def everything(store):
    """What can be read of a store, as text: rows of the table and runs with their arrays, by key;
    a run is None if the store refuses to read it. And the keys of the damaged rows.

    A table with missing values has real numbers where it had integers, and other missing values,
    so numbers are compared as real ones, and missing values as None.
    """
    table = store.table()
    is_damaged = table["status"] == "damaged"
    contents = {}
    for row in table[~is_damaged].to_dict("records"):
        key = row["experiment"], row["seed"]
        contents[key, "row"] = {
            column: None if pd.isna(value) else float(value) if isinstance(value, Real) else value
            for column, value in row.items()
        }
        contents[key, "run"] = readable(lambda key=key: parts(*store.runs([key], PROBES)))
    return contents, {KEYS[run - 1] for run in table["run"][is_damaged]}


def readable(read):
    """What `read` returns, as text; None if the store refuses."""
    try:
        return repr(read())
    except StoreError:
        return None


def parts(run):
    """What a run consists of."""
    assert run.status != "damaged"
    return (
        run.row(),
        run.source,
        run.history.to_dict(),
        run.probes,
        dict(run.arrays.get("params", {})),
    )


def changed(whole, noise, count):
    """The bytes with some of them changed, anywhere."""
    data = bytearray(whole)
    for place in noise.integers(len(data), size=count):
        data[place] ^= noise.integers(1, 256)
    return bytes(data)


def test_damage_raises_a_store_error_and_no_number_is_silently_another(whole, tmp_path):
    noise = np.random.default_rng(0)
    path = tmp_path / "store.db"
    path.write_bytes(whole)
    expected, _ = everything(Store(path))
    assert len(expected) == 2 * len(KEYS)
    stores = [changed(whole, noise, noise.integers(1, 6)) for _ in range(STORES)]
    stores += [changed(whole, noise, noise.integers(10, 500)) for _ in range(STORES // 2)]
    stores += [whole[: noise.integers(len(whole))] for _ in range(STORES // 2)]
    refused = others = not_lacking = unchanged = 0
    for data in stores:
        path.write_bytes(data)
        try:  # an error that is not a StoreError fails the test here
            contents, damaged = everything(Store(path))
            lacking = Store(path).lacking(KEYS) if damaged else set()
        except StoreError:
            refused += 1
            continue
        others += any(v not in (None, expected[k]) for k, v in contents.items())
        not_lacking += not damaged <= lacking
        unchanged += contents == expected
    assert (others, not_lacking) == (0, 0)
    assert refused > STORES  # most of the cut ones, and those with many bytes changed
    assert refused + unchanged < 2 * STORES - 20  # some are read in part


def test_what_can_be_saved_of_damaged_stores_is_as_it_was(whole, tmp_path):
    noise = np.random.default_rng(1)
    path, out = tmp_path / "store.db", tmp_path / "out.db"
    path.write_bytes(whole)
    expected = {key: repr(parts(*Store(path).runs([key], PROBES))) for key in KEYS}
    saved = 0
    for _ in range(STORES // 10):
        path.write_bytes(changed(whole, noise, noise.integers(1, 20)))
        rescue = recover(path, out)
        with Store(out) as store:
            for key in sorted(store.keys()):
                assert repr(parts(*store.runs([key], PROBES))) == expected[key]
            assert rescue.saved == len(store.keys())
        saved += rescue.saved
        out.unlink()
    assert saved > STORES // 10 * len(KEYS) / 3


@pytest.fixture
def damage(tmp_path, whole):
    """Makes a store in which the single place of some bytes has others."""

    def damage(old, new):
        path = tmp_path / "store.db"
        assert whole.count(old) == 1
        path.write_bytes(whole.replace(old, new))
        return Store(path)

    return damage


def column(whole, tmp_path, query):
    """The bytes of a value of the whole store."""
    path = tmp_path / "look.db"
    path.write_bytes(whole)
    store = Store(path)
    with store._file.reading():
        ((value,),) = store._file.rows(query)
    return value


def test_a_damaged_record_is_named_and_done_again(whole, tmp_path, damage):
    value = column(whole, tmp_path, "SELECT test_error FROM runs WHERE id = 5")
    store = damage(struct.pack(">d", value), struct.pack(">d", value / 2))
    table = store.table()
    assert list(table["status"]).count("damaged") == 1
    assert table["test_error"].isna().sum() == 2  # that one, and the one that failed
    key = KEYS[4]
    assert store.lacking(KEYS, PROBES) == {key}
    (run,) = store.runs([key])
    assert (run.status, run.test_error, run.seed) == ("damaged", None, key[1])
    with pytest.raises(StoreError, match="run 5 is damaged"):
        store.history(5)
    assert store.add([make_run(8, 1)], PROBES) == 1
    assert store.lacking(KEYS, PROBES) == set()
    assert list(store.history(7)["step"]) == [0, 1, 2]
    assert set(store.table()["status"]) == {"done", "failed"}


def test_a_damaged_array_is_refused_and_done_again(whole, tmp_path):
    value = column(whole, tmp_path, "SELECT data FROM arrays WHERE run = 5 AND kind = 'params'")
    place = whole.index(value)  # every run has these weights: those of one are damaged
    path = tmp_path / "store.db"
    path.write_bytes(whole[: place + 9] + bytes([whole[place + 9] ^ 1]) + whole[place + 10 :])
    store = Store(path)
    (key,) = store.lacking(KEYS, PROBES, ["params"])
    assert store.lacking(KEYS, PROBES) == set()
    (run,) = store.runs([key], PROBES)
    assert len(run.history) == 3
    with pytest.raises(StoreError, match=r"params of run \d does not fit its checksum.*recover"):
        run.arrays["params"]
    assert store.add([replace(run, arrays=make_run().arrays)], PROBES, ["params"]) == 1
    assert store.lacking(KEYS, PROBES, ["params"]) == set()


def test_a_damaged_experiment_damages_its_runs_until_it_is_registered_again(damage):
    store = damage(b'"width": 8', b'"width": 9')
    table = store.table()
    assert list(table["status"]) == ["failed", "done", "done", *["damaged"] * 3]
    assert list(table["model.width"].dropna()) == [4, 4, 4]
    assert list(store.experiments()) == [name(4)]
    assert store.lacking(KEYS) == set(KEYS[3:])
    store.register({name(width): experiment(width) for width in WIDTHS})
    assert store.lacking(KEYS) == set()
    assert list(store.table()["model.width"]) == [4, 4, 4, 8, 8, 8]


def test_a_blob_cannot_change_runs(whole, tmp_path):
    path = tmp_path / "store.db"
    path.write_bytes(whole)
    connection = sqlite3.connect(path)
    connection.execute("UPDATE arrays SET run = 99 WHERE run = 5")
    connection.execute("UPDATE arrays SET run = 5 WHERE run = 6")
    connection.execute("UPDATE arrays SET run = 6 WHERE run = 99")
    connection.commit()
    connection.close()
    assert Store(path).lacking(KEYS) == set(KEYS[4:])
    with pytest.raises(StoreError, match=r"arrays of run 5|does not fit its checksum"):
        Store(path).history(5)


def test_a_store_that_has_lost_rows_is_not_written(whole, tmp_path):
    path = tmp_path / "store.db"
    path.write_bytes(whole)
    connection = sqlite3.connect(path)
    connection.execute("DROP TRIGGER runs_DELETE")
    connection.execute("DELETE FROM runs WHERE id = 2")
    connection.commit()
    connection.close()
    for use in (Store.table, Store.keys, lambda store: store.register({"other": "{}"})):
        with pytest.raises(StoreError, match=r"5 runs can be read, and 6 were written.*recover"):
            use(Store(path))


def test_damaged_records_are_not_written_over_in_a_file_that_is_not_in_order(
    whole, tmp_path, damage, monkeypatch
):
    value = column(whole, tmp_path, "SELECT test_error FROM runs WHERE id = 5")
    store = damage(struct.pack(">d", value), struct.pack(">d", value / 2))
    rows = store._file.rows
    answers = {"PRAGMA quick_check": [(b"Page 7: never used",)]}
    monkeypatch.setattr(store._file, "rows", lambda q, *v: answers.get(q) or rows(q, *v))
    with pytest.raises(StoreError, match=r"read-only: Page 7: never used.*elegans recover"):
        store.add([make_run(8, 1)], PROBES)


def test_what_an_experiment_says_may_be_anything(tmp_path):
    for text in ("[" * 100_000, "7", "{", '{"a": ' * 2_000 + "1" + "}" * 2_000):
        path = tmp_path / "store.db"
        with Store(path) as store:
            store.register({"a": text})
            with pytest.raises(StoreError, match="An experiment is"):
                store.table()
        path.unlink()
