"""The studies of the minimal model: exact computations, and claims that hand-made tables break."""

import itertools

import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd
import pytest

import elegans as el
from elegans.report.result import Tables
from elegans.studies import catalogue
from elegans.studies.induction import (
    even_odd,
    even_odd_claims,
    figures,
    layers_in_time,
    stationary_chains,
)
from elegans.studies.induction.gradients import (
    Curriculum,
    DiagonalGradient,
    FirstGradient,
    TwoSteps,
)
from elegans.studies.induction.minimal import Aligned, HardChains
from elegans.studies.induction.phases import Recipe, shares
from elegans.theory.markov import induction

pytestmark = pytest.mark.usefixtures("cheap_compilation")
SEEDS = range(6)
LENGTH = 20
STRATEGIES = ("uniform", "unigram", "bigram")


def holds(claim, tables) -> bool:
    outcome = claim(tables)
    assert outcome.text
    assert outcome.against
    return outcome.holds


def test_hard_chains_leave_both_states_alike_and_are_close_to_fair():
    matrices = np.asarray(HardChains(0.2).transitions(jr.key(0), 4096, 2))
    stay = matrices[:, 0, 0]
    np.testing.assert_allclose(matrices.sum(axis=2), 1, rtol=1e-6)
    np.testing.assert_allclose(matrices[:, 1, 1], stay)
    assert 0.3 <= stay.min() < 0.31
    assert 0.69 < stay.max() <= 0.7
    assert abs(stay.mean() - 0.5) < 0.4 * np.sqrt(np.log(2 / 1e-9) / (2 * 4096))  # Hoeffding
    for bad in (-0.1, 0.6):
        with pytest.raises(ValueError, match="epsilon is half of the range"):
            HardChains(bad)
    with pytest.raises(ValueError, match="HardChains have two states; got 3"):
        el.tasks.MarkovChains(3, 8, HardChains(0.1))


def test_an_aligned_start_is_between_ones_and_the_identity():
    task = el.tasks.MarkovChains(3, 8)
    params = Aligned(2.0, 0.5, 0.1)(jr.key(0), el.models.MinimalInduction(), task)
    np.testing.assert_allclose(params.weight, 0.5 + 1.5 * np.eye(3))
    np.testing.assert_allclose(params.position, 0.1)


@pytest.mark.parametrize("margin", [0.0, -1.0, float("nan")])
def test_a_margin_that_is_not_positive_is_refused(margin):
    with pytest.raises(ValueError, match="margin"):
        el.training.losses.Margin(margin)


def test_the_margin_loss_is_linear_while_the_margin_is_not_reached():
    f = jnp.array([[0.1, 0.2, 0.0], [0.0, -0.1, 0.3]])
    y = jnp.array([2, 0])
    for margin in (1.0, 8.0):
        by_hand = np.mean([(2 * margin + 0.1 + 0.2) / 3, (2 * margin - 0.1 + 0.3) / 3])
        loss = el.training.losses.Margin(margin)
        assert float(loss(f, y)) == pytest.approx(by_hand, rel=1e-6)
    beyond = jnp.array([[9.0, 0.0]])
    assert float(el.training.losses.Margin()(beyond, jnp.array([0]))) == 0
    assert float(el.training.losses.Margin(10.0)(beyond, jnp.array([0]))) == pytest.approx(0.5)


def brute_diagonal(length: int) -> np.ndarray:
    """The gradient of v at W = I by a sum over all sequences, on a grid of chains."""
    points, weights = np.polynomial.legendre.leggauss(24)
    total = np.zeros(length)
    sequences = np.array(list(itertools.product((0, 1), repeat=length + 1)))
    for (a, wa), (b, wb) in itertools.product(
        zip((points + 1) / 2, weights / 2, strict=True), repeat=2
    ):
        rows = np.array([[a, 1 - a], [1 - b, b]])
        law = np.array([1 - b, 1 - a]) / (2 - a - b)
        chance = law[sequences[:, 0]]
        for now, after in zip(sequences.T[:-1], sequences.T[1:], strict=True):
            chance = chance * rows[now, after]
        for j in range(1, length + 1):
            for t, p in itertools.product(range(j, length + 1), repeat=2):
                if p < t:
                    continue
                same = sequences[:, p - 1] == sequences[:, t - j]
                right = (sequences[:, t - 1] == sequences[:, p]) - 0.5
                total[j - 1] += wa * wb * np.sum(chance * same * right)
    return total


def test_the_diagonal_gradient_is_the_sum_over_all_sequences():
    table = DiagonalGradient(4)(0)
    expected = brute_diagonal(4)
    # The grid of the brute force is of the square of a and b, whose corner is not smooth.
    np.testing.assert_allclose(table["gradient"][:4], expected, rtol=2e-3)


def test_the_first_gradient_moves_w_on_the_diagonal_alone_where_unigrams_tell_nothing():
    table = FirstGradient(LENGTH)(0).set_index("chains")
    tensor = induction.gradient_tensor(LENGTH, induction.uniform_chains(LENGTH))
    np.testing.assert_allclose(table["first"]["uniform"], tensor[0].sum(), rtol=1e-10)
    assert abs(table["rest"]["symmetric"]) < 1e-10
    assert table["diagonal"]["symmetric"] > 1


def test_errata_two_steps_of_the_curriculum_leave_more_than_the_second_position():
    table = Curriculum(length=100, epsilon=0.05)(0).set_index("step")
    # Proposition 8.5 says that v is e_2 after two steps; the rest adds up to more than v_2 itself,
    # as 1 + 2c/(rho - c) in the limit, and two more steps remove it.
    assert table["contamination"][2] == pytest.approx(table["limit"][2], rel=0.06)
    assert table["contamination"][2] > 1.4
    assert table["bigrams"][2] < 0.75
    assert table["contamination"][4] < 0.1
    assert table["bigrams"][4] > 0.95
    larger = Curriculum(length=100, epsilon=0.05, weight=0.02, steps=2)(0).set_index("step")
    assert larger["contamination"][2] > 20
    assert larger["bigrams"][2] < 0.3


def test_two_steps_of_the_engine_are_those_of_the_theory():
    recipe = Recipe(steps=1, rate=1e-3)
    settings = even_odd.Settings(
        batch=1024, seeds=1, minimal=recipe, transformer=recipe, length=LENGTH
    )
    sweeps = even_odd.runs(settings)
    table = sweeps["steps"].runs(workers=0, progress=False).rows(even_odd.measured_steps)
    exact = TwoSteps(LENGTH, even_odd.START, even_odd.RATE)(0)
    table = table.merge(exact, on=["step", "parameter", "i", "j"])
    start = table[table["step"] == 0]
    np.testing.assert_allclose(start["measured"], start["exact"], rtol=1e-6)
    large = table[(table["training.loss.margin"] == 8) & (table["parameter"] == "W")]
    large = large[large["step"] == 1]
    change = (large["exact"] - even_odd.START).abs().max()
    off = (large["measured"] - large["exact"]).abs().max()
    assert off < 0.3 * change  # 1,024 sequences leave so much of chance


def step_tables(second=0.03, scatter=0.0, diagonal=0.06) -> Tables:
    """Two steps that are exact but for what is given: v_2, noise, and the diagonal of W."""
    rows = []
    exact = {0: np.full(LENGTH, 0.02)}
    pairs = (LENGTH - np.arange(LENGTH)) * (LENGTH - np.arange(LENGTH) + 1) / 2
    exact[1] = 0.02 + 0.004 * pairs / pairs[0]
    exact[2] = exact[1].copy()
    exact[2][1] = 0.03
    for margin, seed, step in itertools.product((8.0, 1.0), SEEDS, (0, 1, 2)):
        off = 0.01 if margin == 1 and step == 2 else scatter
        for j, value in enumerate(exact[step]):
            measured = second if (j, step, margin) == (1, 2, 8.0) else value + off * (step > 0)
            rows.append((margin, seed, step, "v", j + 1, 0, measured, value))
        for i, j in np.ndindex(2, 2):
            value = 0.02 if step == 0 else diagonal if i == j else 0.03
            rows.append((margin, seed, step, "W", i + 1, j + 1, value, value))
    names = ["margin", "seed", "step", "parameter", "i", "j", "measured", "exact"]
    facts = {"start": 0.02, "length": LENGTH, "diagonal_bias": 4.0}
    return Tables({"two_steps": pd.DataFrame(rows, columns=names)}, facts)


def test_claims_about_first_steps_fail_where_they_should():
    good = step_tables()
    for claim in (
        even_odd_claims.second_position_leads,
        even_odd_claims.diagonal_bias,
        even_odd_claims.steps_are_those_of_the_population,
        even_odd_claims.margin_matters,
        even_odd_claims.first_step_decays_quadratically,
    ):
        assert holds(claim, good)
    assert not holds(even_odd_claims.second_position_leads, step_tables(second=0.02))
    assert not holds(even_odd_claims.diagonal_bias, step_tables(diagonal=0.03))
    noisy = step_tables(scatter=0.002)
    assert not holds(even_odd_claims.steps_are_those_of_the_population, noisy)
    assert not holds(even_odd_claims.first_step_decays_quadratically, noisy)
    same = good["two_steps"].assign(measured=good["two_steps"]["exact"])
    assert not holds(even_odd_claims.margin_matters, Tables({"two_steps": same}, good.facts))
    untrained = Tables({"two_steps": good["two_steps"].assign(measured=0.02)}, good.facts)
    for claim in (
        even_odd_claims.second_position_leads,
        even_odd_claims.diagonal_bias,
        even_odd_claims.steps_are_those_of_the_population,
        even_odd_claims.margin_matters,
        even_odd_claims.first_step_decays_quadratically,
    ):
        assert not holds(claim, untrained)


def test_claims_about_exact_gradients_fail_on_other_gradients():
    table = pd.DataFrame({"j": range(1, 10)})
    moment = 0.03 * (-0.5) ** table["j"]
    geometric = Tables(
        {"diagonal": table.assign(moment=moment, scaled=0.1 + moment, printed=0.1 + moment)}
    )
    assert holds(even_odd_claims.series_is_geometric, geometric)
    assert holds(even_odd_claims.diagonal_gradient_alternates, geometric)
    smooth = geometric["diagonal"].assign(scaled=0.1 - 0.001 * table["j"])
    assert not holds(even_odd_claims.diagonal_gradient_alternates, Tables({"diagonal": smooth}))
    assert even_odd_claims.series_is_geometric.known_failure.scales is None
    first = pd.DataFrame(
        {
            "length": [10, 100] * 2,
            "chains": ["uniform"] * 2 + ["symmetric"] * 2,
            "first": [1.0, 100.0, 1.0, 10.0],
            "diagonal": 1.0,
            "rest": 0.0,
        }
    )
    claim = even_odd_claims.symmetric_chains_favour_no_position
    assert holds(claim, Tables({"first": first}))
    assert not holds(claim, Tables({"first": first.assign(first=[1.0, 100.0, 1.0, 100.0])}))
    assert not holds(claim, Tables({"first": first.assign(rest=0.1)}))


def position_tables(line, way=(0.0, 0.2, 0.9)) -> Tables:
    rows = [
        {"model": model, "seed": seed, "step": step, "way": w, "position": j + 1, "v": v}
        for model in ("minimal", "transformer")
        for seed in SEEDS
        for step, w in enumerate(way)
        for j, v in enumerate(line)
    ]
    return Tables({"positions": pd.DataFrame(rows)})


def test_even_positions_are_looked_at_before_the_drop():
    claim = even_odd_claims.even_exceed_odd_before_the_drop
    zigzag = [0.1, 0.9, 0.2, 0.5, 0.2, 0.4, 0.2, 0.3]
    assert holds(claim, position_tables(zigzag))
    assert not holds(claim, position_tables([0.9, 0.5, 0.4, 0.3, 0.2, 0.1, 0.1, 0.1]))
    assert not holds(claim, position_tables(zigzag, way=(0.0, 0.1, 0.2)))  # no drop
    assert not holds(claim, position_tables([0.1] * 8, way=(0.0, 0.0, 0.0)))  # untrained
    assert holds(even_odd_claims.models_end_at_the_token_before, position_tables(zigzag))
    for line in ([1.0, 0.5], [0.1] * 8):
        assert not holds(even_odd_claims.models_end_at_the_token_before, position_tables(line))


def curriculum_tables(rest, bigrams, trained) -> Tables:
    rows = [
        {
            "length": 100,
            "epsilon": epsilon,
            "step": step,
            "contamination": rest[i],
            "limit": 1.6,
            "bigrams": bigrams[i],
            "sequences": 1000,
        }
        for epsilon in (0.1, 0.4)
        for i, step in enumerate((2, 3, 4))
    ]
    engine = [
        {"seed": seed, "step": step, "contamination": trained[i] + 0.01 * seed}
        for seed in SEEDS
        for i, step in enumerate((2, 3, 4))
    ]
    tables = {"curriculum": pd.DataFrame(rows), "contamination": pd.DataFrame(engine)}
    return Tables(tables, {"epsilon": 0.1, "engine_epsilon": 0.4})


def test_claims_about_the_curriculum_look_at_the_rest_of_v_and_at_sides():
    two, four = even_odd_claims.two_steps_reach_bigrams, even_odd_claims.four_steps_reach_bigrams
    same = even_odd_claims.engine_takes_the_same_steps
    found = curriculum_tables((1.6, 1.0, 0.06), (0.7, 1.0, 1.0), (1.6, 1.0, 0.06))
    assert (holds(two, found), holds(four, found), holds(same, found)) == (False, True, True)
    printed = curriculum_tables((0.01, 0.0, 0.0), (1.0, 1.0, 0.5), (1.6, 1.0, 0.06))
    assert (holds(two, printed), holds(four, printed)) == (True, False)
    assert not holds(same, printed)


def layer_tables(second=50.0, first=200.0, at_ones=False, identity=10.0, end=True, unigram=None):
    arms = {
        "usual": (1.0, second, first, True, end),
        "W 0.1 times as fast": (0.1, second, first, True, end),
        "W held at ones": (0.0, np.inf, np.inf, at_ones, at_ones),
        "W held at identity": (0.0, np.inf, identity, True, True),
    }
    times, layers, curves = [], [], []
    for (arm, values), seed in itertools.product(arms.items(), SEEDS):
        names = ("ratio", "second_layer", "first_layer", "ever_leads", "leads_at_end")
        times.append({"arm": arm, "seed": seed, **dict(zip(names, values, strict=True))})
        steps = np.arange(0, 40, 10)
        weights = {f"w_{i}{j}": 0.1 for i, j in itertools.product((1, 2), repeat=2)}
        layers.append(
            pd.DataFrame(
                {
                    "arm": arm,
                    "seed": seed,
                    "step": steps,
                    **weights,
                    "alignment": np.linspace(0, 1.0 if end else 0.1, 4),
                    "lead": 0.5,
                }
            )
        )
        order = (unigram or {}).get(values[0], ["uniform", "unigram", "bigram", "bigram"])
        curves.append(
            pd.DataFrame(
                {"arm": arm, "ratio": values[0], "seed": seed, "step": steps, "nearest": order}
            )
        )
    table = pd.concat(curves, ignore_index=True)
    return Tables(
        {
            "times": pd.DataFrame(times),
            "layers": pd.concat(layers, ignore_index=True),
            "curves": table,
            "shares_by_seed": shares(table, ["arm", "ratio", "seed"], STRATEGIES),
        },
        {"seeds": 6, "length": 100},
    )


def test_figures_of_first_steps_are_drawn_from_small_tables():
    steps, curriculum = step_tables(), curriculum_tables((1.6, 1.0, 0.1), (1, 1, 1), (1.6, 1, 0.1))
    diagonal = pd.DataFrame({"j": [1, 2], "scaled": [0.1, 0.2], "printed": [0.1, 0.2]})
    positions = position_tables([0.1, 0.9, 0.2, 0.5, 0.2, 0.4, 0.2, 0.3])
    tables = Tables(
        {**steps, **curriculum, "diagonal": diagonal, **positions}, steps.facts | curriculum.facts
    )
    assert len(figures.gradients(tables).axes) == 3
    assert len(figures.positions(tables).axes) == 3
    assert figures.positions_chart(tables).to_dict()["$schema"]


def test_claims_about_layers_fail_where_they_should():
    slow = {0.1: ["uniform", "unigram", "unigram", "bigram"]}
    good = layer_tables(unigram=slow)
    claims = layers_in_time.STUDY.claims
    assert all(holds(claim, good) for claim in claims)
    assert len(figures.layers(good).axes) == 4 + 3
    assert figures.layers_chart(good).to_dict()["$schema"]
    first, diagonal, crucial, passing = claims
    assert not holds(first, layer_tables(second=300.0))
    untrained = layer_tables(second=np.inf, first=np.inf, end=False)
    assert not any(holds(claim, untrained) for claim in claims)
    assert not holds(diagonal, layer_tables(end=False))
    assert not holds(crucial, layer_tables(at_ones=True))
    assert not holds(crucial, layer_tables(identity=100.0))
    assert not holds(passing, layer_tables())


def test_times_of_layers_are_those_of_half_of_their_way():
    part = pd.DataFrame(
        {"step": [0, 10, 20, 30], "alignment": [0.0, 0.6, 0.8, 1.0], "lead": [-0.2, -0.1, 0.3, 0.4]}
    )
    times = layers_in_time.times_of(part)
    assert (times["second_layer"], times["first_layer"], times["leads"]) == (10, 20, 20)
    never = layers_in_time.times_of(part.assign(alignment=0.0, lead=-0.1))
    assert np.isinf(never["second_layer"])
    assert not never["ever_leads"]


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
