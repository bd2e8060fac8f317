"""The search for thresholds, on success curves that are known."""

import math

import numpy as np
import pandas as pd
import pytest

from elegans.studies import thresholds
from elegans.studies.thresholds import narrowed, open_places, search, threshold_table, trials

GRID = tuple(range(20, 130, 10))


class Answers:
    """Runs with a table, as the driver would send them."""

    def __init__(self, table):
        self.table = table


def driven(truth, per_round, seeds=4, monkeypatch=None):
    """The table of all trials of a search in which m >= truth[T] succeeds."""
    monkeypatch.setattr(thresholds.Sweep, "of", list)
    groups = [{"T": T} for T in truth]
    generator = search(
        groups,
        GRID,
        lambda group, m: [({"restart": r}, None) for r in range(2)],
        seeds=seeds,
        per_round=per_round,
    )
    tables, answer = [], None
    while True:
        try:
            mapping = next(generator) if answer is None else generator.send(answer)
        except StopIteration:
            return pd.concat(tables), len(tables)
        ((name, points),) = mapping.items()
        rows = []
        for labels, _, left in points:
            # Of odd seeds only the second restart succeeds: a trial succeeds with any of them.
            is_enough = labels["samples"] >= truth[labels["T"]]
            rows += [
                {**labels, "seed": s, "success": is_enough and labels["restart"] == s % 2}
                for s in left
            ]
        tables.append(pd.DataFrame(rows))
        answer = {name: Answers(tables[-1])}


@pytest.mark.parametrize("per_round, rounds", [(1, 4), (3, 2)])
def test_search_finds_the_least_size_of_the_grid_for_every_group(monkeypatch, per_round, rounds):
    truth = {5: 0, 10: 35, 20: 70, 40: 120, 80: 500}
    table, count = driven(truth, per_round, monkeypatch=monkeypatch)
    assert count == 2 * rounds
    has_succeeded = table["samples"] >= table["T"].map(truth)
    repeated = table["restart"] == 1
    assert not (repeated & has_succeeded & (table["seed"] % 2 == 0)).any()
    assert (repeated & ~has_succeeded & (table["seed"] % 2 == 0)).any()
    found = threshold_table(trials(table, ["T"]), ["T"], GRID).set_index("T")
    assert found["m_star"].to_dict() == {5: 20, 10: 40, 20: 70, 40: 120, 80: math.inf}
    assert found["is_censored"].to_dict() == {5: False, 10: False, 20: False, 40: False, 80: True}
    assert 60 < found.loc[20, "fit"] < 71
    assert found.loc[80, "fit"] == math.inf


def test_places_are_inside_and_narrowing_keeps_the_threshold():
    assert open_places(-1, 11, 1) == [5]
    assert open_places(-1, 11, 3) == [2, 5, 8]
    assert open_places(3, 5, 3) == [4]
    assert open_places(3, 4, 3) == []
    assert narrowed((-1, 11), {2: 0.0, 5: 0.5, 8: 1.0}, 0.8) == (5, 8)
    assert narrowed((-1, 11), {2: 0.0, 5: 0.0}, 0.8) == (5, 11)


def test_rates_count_trials_and_not_restarts():
    table = pd.DataFrame(
        {"T": 1, "samples": 10, "seed": [0, 0, 1, 1], "success": [True, None, False, None]}
    )
    rates = thresholds.rate_table(trials(table, ["T"]), ["T"])
    assert rates[["successes", "trials", "rate"]].to_numpy().tolist() == [[1, 2, 0.5]]


def test_grids_that_do_not_increase_are_refused():
    with pytest.raises(ValueError, match=r"grid holds increasing sizes"):
        next(search([{"T": 1}], (30, 20), lambda group, m: [], seeds=1))
    with pytest.raises(ValueError, match=r"target is a success rate"):
        next(search([{"T": 1}], (20, 30), lambda group, m: [], seeds=1, target=np.float64(1.5)))
