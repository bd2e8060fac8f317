"""What the first token is worth in stationary chains, and the claims about them."""

import itertools

import numpy as np
import pandas as pd
import pytest
from tests.studies.claims import holds

import elegans as el
from elegans.report.result import Tables
from elegans.studies import catalogue
from elegans.studies.induction import figures, stationary_chains

pytestmark = pytest.mark.usefixtures("cheap_compilation")


def test_the_stationary_law_of_a_computation_is_that_of_the_task():
    row = stationary_chains.StationaryLaw(states=4, chains=400)(0).iloc[0]
    rows = np.random.default_rng(0).dirichlet(np.ones(4), size=(400, 4))
    law = np.asarray(el.tasks.markov.chains.stationary(rows), np.float64)
    expected = np.sqrt(((4 * law - 1) ** 2).mean(axis=1)).mean()
    assert row["distance"] == pytest.approx(expected, rel=1e-5)


def test_what_the_first_token_is_worth_is_the_sum_over_all_sequences():
    length = 4
    row = stationary_chains.FirstToken(length, 16_384)(0).iloc[0]
    # Exactly, over the 16 sequences, on a grid of chains.
    points, weights = np.polynomial.legendre.leggauss(40)
    a, b = np.meshgrid((points + 1) / 2, (points + 1) / 2, indexing="ij")
    mass = np.outer(weights, weights) / 4
    rows = np.array([[a, 1 - a], [1 - b, b]])
    law = np.array([1 - b, 1 - a]) / (2 - a - b)
    gap = 0.0
    for sequence in itertools.product((0, 1), repeat=length):
        chance = mass * law[sequence[0]]
        counts = np.ones((2, 2))
        for now, after in itertools.pairwise(sequence):
            chance = chance * rows[now, after]
            counts[now, after] += 1
        nexts = np.array([np.sum(chance * rows[sequence[-1], i]) for i in (0, 1)])
        bigram = counts[sequence[-1]] / counts[sequence[-1]].sum()
        gap += np.sum(nexts * (np.log(nexts / nexts.sum()) - np.log(bigram)))
    assert row["low"] - 1e-3 < gap < row["high"] + 1e-3
    assert row["low"] > 0


def test_claims_about_stationary_chains_can_fail():
    first = pd.DataFrame({"length": [10, 100], "gap": [1e-2, 1e-4]})
    first = first.assign(low=0.9 * first["gap"], high=1.1 * first["gap"], bigram=0.5, bayes=0.5)
    laws = pd.DataFrame(
        {"states": [4, 16, 64], "distance": [0.5, 0.25, 0.125], "theory": [0.4, 0.25, 0.125]}
    )
    laws = laws.assign(
        low=laws["distance"],
        high=laws["distance"],
        largest=1.0,
        log=np.log(laws["distance"]),
        log_error=0.01,
    )
    negligible, uniform = stationary_chains.STUDY.claims
    tables = Tables({"first_token": first, "laws": laws})
    assert holds(negligible, tables)
    assert holds(uniform, tables)
    assert len(figures.stationary(tables).axes) == 2
    late = first.assign(gap=[1e-2, 2e-3], low=[0.9e-2, 1.9e-3], high=[1.1e-2, 2.1e-3])
    assert not holds(negligible, Tables({"first_token": late}))
    assert not holds(uniform, Tables({"laws": laws.assign(log=0.0)}))
    assert not holds(uniform, Tables({"laws": laws.assign(theory=0.2)}))


@pytest.mark.parametrize("name", ["even-odd", "layers-in-time", "stationary-chains"])
def test_the_figures_and_captions_of_every_study_exist(name):
    study = catalogue.study(name)
    assert set(study.captions) >= set(study.plan("quick").first)
