import multiprocessing
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import pandas as pd
import pytest

import elegans as el
from elegans.runs import METRICS
from elegans.sweeps.driver import SweepError
from elegans.sweeps.executors.in_process import InProcess

RESULTS = ["status", *(name for name in METRICS if name != "seconds")]


def numbers(table):
    return table.drop(columns="seconds")


def curves(store):
    """The curves of every run, in the order of the grid."""
    return [store.history(run) for run in store.table()["run"]]


def test_the_table_has_the_axes_the_seed_and_what_came_out_in_the_order_of_the_grid(
    sweep, experiment
):
    table = sweep.run(workers=0, progress=False)
    assert list(table.columns) == ["training.learning_rate", "seed", "status", *METRICS]
    assert list(table["training.learning_rate"]) == [0.05] * 4 + [0.2] * 4
    assert list(table["seed"]) == [0, 1, 2, 3] * 2
    alone = el.run(experiment.varied({"training.learning_rate": 0.2}), seed=1)
    assert [table[name][5] for name in RESULTS] == [getattr(alone, name) for name in RESULTS]


def test_every_executor_gives_the_same_numbers_bit_for_bit(sweep, tmp_path):
    here = sweep.run(store=tmp_path / "here.db", workers=0, progress=False)
    with ThreadPoolExecutor(2) as threads:
        others = {
            "workers": sweep.run(store=tmp_path / "workers.db", workers=2, progress=False),
            "threads": sweep.run(store=tmp_path / "threads.db", executor=threads, progress=False),
            "memory": sweep.run(workers=0, progress=False),
        }
    for table in others.values():
        pd.testing.assert_frame_equal(numbers(here), numbers(table), check_exact=True)
    expected = curves(el.Store(tmp_path / "here.db"))
    for name in ("workers", "threads"):
        for a, b in zip(expected, curves(el.Store(tmp_path / f"{name}.db")), strict=True):
            pd.testing.assert_frame_equal(a, b, check_exact=True)


def test_the_standard_process_pool_is_an_executor_too(sweep):
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as pool:
        table = sweep.run(executor=pool, progress=False)
    expected = sweep.run(workers=0, progress=False)
    pd.testing.assert_frame_equal(numbers(expected), numbers(table), check_exact=True)


class Counter:
    """A meter that keeps the rows it is told of."""

    def __init__(self):
        self.rows, self.notes = [], []

    def of(self, total, stored=0):
        self.total, self.stored = total, stored
        return self

    def __enter__(self):
        pass

    def __exit__(self, *error):
        pass

    def done(self, row, left=None):
        self.rows.append(row)

    def note(self, text):
        self.notes.append(text)


def test_what_is_stored_is_not_done_again_and_a_larger_grid_costs_what_is_new(
    sweep, experiment, tmp_path
):
    first, second, larger = Counter(), Counter(), Counter()
    store = tmp_path / "grid.db"
    table = sweep.run(store=store, workers=0, progress=first)
    again = sweep.run(store=store, workers=0, progress=second)
    assert (len(first.rows), len(second.rows), second.stored) == (8, 0, 8)
    pd.testing.assert_frame_equal(table, again, check_exact=True)
    rates = {"training.learning_rate": [0.05, 0.1, 0.2]}
    wider = el.Sweep(experiment, over=rates, seeds=range(5))
    table = wider.run(store=store, workers=0, progress=larger)
    assert (len(larger.rows), larger.stored, larger.total) == (15 - 8, 8, 15)
    assert len(table) == len(el.Store(store)) == 15
    assert list(el.Store(store).table()["seed"]) == [*range(5)] * 3


def test_a_bad_cell_names_itself_before_anything_is_computed(experiment):
    with pytest.raises(ValueError, match=r"Sweep, at model.width = 0: .*width"):
        el.Sweep(experiment, over={"model.width": [4, 0]}, seeds=range(2))


def test_a_cell_that_appears_twice_is_done_once(experiment):
    meter = Counter()
    sweep = el.Sweep(experiment, over={"training.samples": [50, 50]})
    table = sweep.run(workers=0, progress=meter)
    assert len(meter.rows) == 1
    pd.testing.assert_series_equal(table.loc[0], table.loc[1], check_names=False)


def test_a_point_may_have_seeds_of_its_own(experiment):
    other = experiment.varied({"training.samples": 50})
    sweep = el.Sweep.of([({"m": 1}, experiment, [3]), ({"m": 2}, other)], seeds=[0, 7])
    assert (len(sweep), sweep.seeds) == (3, (3, 0, 7))
    table = sweep.run(workers=0, progress=False)
    assert table[["m", "seed"]].to_numpy().tolist() == [[1, 3], [2, 0], [2, 7]]
    alone = el.Sweep.of([({}, experiment)], seeds=[3]).run(workers=0, progress=False)
    assert table.loc[0, "test_error"] == alone.loc[0, "test_error"]


class Flaky(InProcess):
    """An executor that breaks at its third request."""

    tasks = 0

    def submit(self, function, /, *args, **kwargs):
        self.tasks += 1
        if self.tasks == 3:
            future = Future()
            future.set_exception(BrokenExecutor("out of order"))
            return future
        return super().submit(function, *args, **kwargs)


def test_an_executor_that_breaks_stops_the_sweep_and_what_was_done_is_kept(sweep, tmp_path):
    path = tmp_path / "grid.db"
    with pytest.raises(SweepError, match=r"out of order.*run the same again to go on"):
        sweep.run(store=path, executor=Flaky(), workers=1, progress=False)
    kept = el.Store(path).table()
    assert 0 < len(kept) < 8
    table = sweep.run(store=path, workers=0, progress=False)
    expected = sweep.run(workers=0, progress=False)
    pd.testing.assert_frame_equal(numbers(expected), numbers(table), check_exact=True)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"workers": -1}, "workers counts processes"),
        ({"executor": InProcess(), "cluster": "tcp://localhost:1"}, "not both"),
    ],
)
def test_a_choice_of_workers_that_makes_no_sense_is_refused(sweep, options, message):
    with pytest.raises(ValueError, match=message):
        sweep.run(progress=False, **options)
