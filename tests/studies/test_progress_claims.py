"""The claims of the studies of hidden progress on tables made by hand: each holds, and breaks."""

import numpy as np
import pandas as pd
import pytest
from tests.studies.progress_tables import (
    FAST,
    GEOMETRIC,
    GROK,
    NARROW,
    SLOW_TAIL,
    STEADY,
    architectures,
    copies,
    deep,
    descent,
    doubled,
    elimination,
    exponents,
    firsts,
    fitted,
    frame,
    grok,
    looks,
    networks,
    noisy,
    plateaus,
    predictivity,
    rates,
    robust,
    sgd,
    starts,
    theorem,
    times,
    transformer,
    widths,
)

from elegans.report.result import Tables
from elegans.studies import catalogue
from elegans.studies.progress import (
    activation_functions,
    deep_parity,
    noisy_parities,
    parity_grokking,
    phase_claims,
    polynet_claims,
    progress_claims,
    random_search,
    scaling_claims,
    weak_to_strong,
    width_and_time,
)
from elegans.studies.progress.phase_transitions import longest_tread

BOTH = pd.concat([times(NARROW), times(NARROW, "sinusoidal neuron")])
CASES = {
    "no early luck": (
        random_search.no_early_luck,
        {"times": BOTH},
        {"times": pd.concat([times(NARROW), times(GEOMETRIC, "sinusoidal neuron")])},
    ),
    "upper tail": (
        random_search.upper_tail_is_longer,
        {"times": BOTH},
        {"times": times(np.linspace(500, 1500, 100))},
    ),
    "start decides": (
        random_search.start_decides,
        {"starts": starts(True)},
        {"starts": starts(False)},
    ),
    "copies": (
        random_search.copies_hardly_help,
        {"copies": copies(600.0)},
        {"copies": copies(105.0)},
    ),
    "no speed-up": (
        width_and_time.no_r_fold_speed_up,
        {"times": widths(w30=STEADY, w300=STEADY)},
        {"times": widths(w30=STEADY, w300=FAST)},
    ),
    "tail": (
        width_and_time.width_shortens_the_upper_tail,
        {"times": widths(w5=SLOW_TAIL, w300=STEADY)},
        {"times": widths(w5=STEADY, w300=SLOW_TAIL)},
    ),
    "too narrow": (
        width_and_time.too_few_neurons_learn_weakly,
        {"times": widths(w1=STEADY, w2=STEADY)},
        {"times": widths(w1=STEADY, w2=[np.inf] * 40)},
    ),
    "no gap": (
        parity_grokking.large_sets_have_no_gap,
        grok(GROK),
        grok(GROK | {(4000, 0.0): "grokked"}),
    ),
    "memorised": (
        parity_grokking.small_sets_are_memorised,
        grok(GROK),
        grok(GROK | {(250, 0.01): "grokked"}),
    ),
    "grokking": (
        parity_grokking.grokking_in_between,
        grok(GROK),
        grok(GROK | {(500, 0.01): "learned"}),
    ),
    "decay widens": (
        parity_grokking.decay_widens_the_range,
        grok(GROK),
        grok(GROK | {(500, 0.01): "memorised"}),
    ),
    "too much decay": (
        parity_grokking.too_much_decay_stops_training,
        grok(GROK),
        grok(GROK | {(4000, 0.1): "learned"}),
    ),
    "lead first": (progress_claims.weights_lead_first, firsts(700, 900), firsts(950, 900)),
    "path predicts": (
        progress_claims.path_predicts,
        predictivity(-0.6, 0.001),
        predictivity(-0.1, 0.5),
    ),
    "path separates": (
        progress_claims.path_separates,
        looks(0.10, 0.05, 0.1),
        looks(0.05, 0.05, 0.1),
    ),
    "gap grows": (progress_claims.gap_grows, looks(0.1, 0.05, 0.05), looks(0.1, 0.05, 0.01)),
    "noise learned": (
        noisy_parities.the_noisiest_is_learned,
        noisy(9, (100, 300, 900)),
        noisy(2, (100, 300, 900)),
    ),
    "noise takes time": (
        noisy_parities.noise_takes_time,
        noisy(10, (100, 300, 900)),
        noisy(10, (900, 300, 100)),
    ),
    "elimination": (noisy_parities.elimination_fails, elimination(False), elimination(True)),
    "small batches": (
        noisy_parities.small_batches_take_longer,
        noisy(10, (100, 300, 900)),
        noisy(10, (100, 300, 900), small=10),
    ),
    "deep": (deep_parity.deep_networks_learn, deep(), deep(low=3)),
    "all seeds": (deep_parity.all_seeds_converge, deep(low=10), deep()),
    "too many bits": (deep_parity.too_many_bits_fail, deep(), deep(above=0.3)),
    "layer by layer": (deep_parity.layer_by_layer_fails, deep(), deep(first=0.2)),
    "output bias": (deep_parity.output_bias_is_needed, deep(), deep(no_bias=0.1)),
    "recovered": (weak_to_strong.support_is_recovered, networks(16, 0), networks(16, 16)),
    "weak": (
        weak_to_strong.weak_networks_stay_weak,
        networks(16, 0),
        networks(16, 0, accuracy=0.99),
    ),
    "18 architectures": (
        phase_claims.every_architecture_learns,
        {"architectures": architectures(4)},
        {"architectures": architectures(0).assign(runs=30)},
    ),
    "plateau": (
        phase_claims.most_have_a_plateau,
        plateaus(0.1, 0.6),
        plateaus(0.1, 0.6, listed=0.1),
    ),
    "polynets": (
        phase_claims.polynets_converge_at_every_batch,
        {"polynet_times": frame(batch=np.repeat([1, 256], 8), success=True)},
        {"polynet_times": frame(batch=np.repeat([1, 256], 8), success=np.arange(16) > 7)},
    ),
    "wide powers": (
        phase_claims.wide_powers_have_no_plateau,
        plateaus(0.1, 0.6),
        plateaus(0.6, 0.6),
    ),
    "steps": (
        phase_claims.few_rectifiers_fall_in_steps,
        plateaus(0.1, 0.4),
        plateaus(0.3, 0.1),
    ),
    "some rate": (scaling_claims.some_rate_works, robust(4), robust(0)),
    "exponents grow": (
        scaling_claims.exponent_grows_with_k,
        exponents(1.0, 2.0),
        exponents(1.0, 1.1),
    ),
    "elbow": (
        scaling_claims.elbow,
        exponents(1.0, 2.0),
        exponents(1.0, 2.0, elbow=(0.1, -0.3, 0.5)),
    ),
    "guessing": (
        scaling_claims.faster_than_guessing,
        exponents(1.0, 2.0),
        exponents(1.0, 4.5),
    ),
    "transformers": (
        scaling_claims.sgd_fails_on_transformers,
        transformer(0, 10),
        transformer(8, 10),
    ),
    "wider": (activation_functions.wider_networks_train, rates(0.8), rates(0.3)),
    "doubling": (activation_functions.doubling_is_a_matter_of_rate, doubled(6), doubled(20)),
    "descent": (polynet_claims.descent_follows_the_flow, descent(1.002), descent(1.05)),
    "plateau exponent": (polynet_claims.plateau_exponent, fitted(-0.95), fitted(-0.6)),
    "sgd plateau": (polynet_claims.sgd_has_the_plateau, sgd(0.82), sgd(0.4)),
    "theorem 5.8": (
        polynet_claims.theorem_reaches_its_error,
        theorem(0.0),
        theorem([0.5] * 10 + [0.0] * 15),
    ),
}


@pytest.mark.parametrize("name", list(CASES))
def test_a_claim_holds_where_it_is_true_and_fails_where_it_is_false(name):
    claim, good, bad = CASES[name]
    kept, broken = claim(Tables(good)), claim(Tables(bad))
    assert kept.holds, kept
    assert not broken.holds, broken
    for outcome in (kept, broken):
        assert outcome.text
        assert outcome.against
        assert outcome.measured


def test_starred_architectures_are_judged_at_batches_of_16_or_more():
    assert scaling_claims.some_rate_works(Tables(robust(0, label="*i", batch=4))).holds
    assert not scaling_claims.some_rate_works(Tables(robust(0, label="*i", batch=32))).holds


def test_a_tread_is_where_the_error_rests_on_its_way_down():
    steps = np.arange(0.0, 1001.0, 10.0)
    line = 0.5 * (1 - steps / 1000)
    stairs = np.select([steps < 200, steps < 700, steps < 900], [0.5, 0.25, 0.02], 0.0)
    assert longest_tread(steps, line) == pytest.approx(100, abs=10)  # 5 points of 50
    assert longest_tread(steps, stairs) == 490  # neither the plateau nor the end
    assert longest_tread(steps, np.where(steps < 500, 0.5, 0.0)) == 0


def test_every_claim_of_the_chapter_is_broken_here():
    names = [
        "activation-functions",
        "deep-parity",
        "hidden-progress",
        "noisy-parities",
        "parity-grokking",
        "phase-transitions",
        "polynet-flow",
        "scaling-laws",
        "sgd-is-not-random-search",
        "weak-to-strong",
        "width-and-time",
    ]
    claims = {claim for name in names for claim in catalogue.study(name).claims}
    assert claims == {claim for claim, _, _ in CASES.values()}
