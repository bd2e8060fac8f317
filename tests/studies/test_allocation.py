"""Width against restarts at a tiny scale, and its claims on made-up runs."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from elegans.keys import keys_of
from elegans.models import MLP, inits
from elegans.report.result import Tables
from elegans.studies.pareto import allocation, allocation_claims, figures_allocation
from elegans.studies.plan import structures_of
from elegans.studies.study import Scale
from elegans.tasks import Parity

TINY = allocation.Settings(
    n=8,
    k=2,
    neurons=12,
    widths=(4, 12),
    samples=(50, 200),
    seeds=2,
    steps=200,
    evaluate_every=100,
)


def test_every_division_costs_the_same_and_shares_its_training_sets():
    study = replace(allocation.STUDY, scales={"tiny": Scale(TINY, minutes=0.1)})
    result = study.run("tiny", workers=0, progress=False)
    runs = result.tables["runs"]
    counts = runs.groupby(["samples", "width", "seed"]).size().unstack("width").to_numpy()
    np.testing.assert_array_equal(counts, [[3, 1]] * 4)
    assert set(result.tables["groups"]["restarts"]) == {1, 3}
    picture = figures_allocation.allocation(Tables(result.tables, result.facts))
    assert len(picture.axes) == 2
    points = allocation.runs(TINY)["runs"].points
    assert len({point.experiment for point in points}) == len(points)


def test_restarts_differ_by_number_and_by_training_set():
    weights = {
        (number, seed): np.asarray(
            allocation.Restart(inits.Sparse(2), number)(
                keys_of(seed).init, MLP(width=30), Parity(8, 2)
            )
            .layers[0]
            .weight
        ).tobytes()
        for number in range(3)
        for seed in range(3)
    }
    assert len(set(weights.values())) == 9
    with pytest.raises(ValueError, match="number numbers restarts, so it is 0 or more; got -1"):
        allocation.Restart(inits.Sparse(2), -1)


def test_widths_that_do_not_divide_the_neurons_are_refused():
    with pytest.raises(ValueError, match="widths divide the 12 neurons"):
        replace(TINY, widths=(5, 12))
    with pytest.raises(ValueError, match=r"widths divide the neurons, so it is in 1\.\.12; got 13"):
        replace(TINY, widths=(13,))


def test_the_quick_scale_compiles_one_structure_per_width():
    quick = allocation.STUDY.scales["quick"].settings
    assert len(structures_of(allocation.runs(quick))) == len(quick.widths)


def world(few=(None, 100), many=(100, 150), share=0.3, together=False):
    """Runs of both widths by size: when each succeeds; a `share` of the narrow ones does.

    Independent ones succeed in turn, those that are `together` on the same training sets alone.
    """
    generator = np.random.default_rng(0)
    rows = []
    for samples, (narrow, wide) in ((50, few), (200, many)):
        for seed in range(40):
            for restart in range(4):
                for width, step in ((4, narrow), (12, wide)):
                    if width == 12 and restart:
                        continue
                    lucky = seed < 40 * share if together else generator.uniform() < share
                    is_success = step is not None and (width == 12 or lucky)
                    rows.append(
                        {
                            "samples": samples,
                            "width": width,
                            "restart": restart,
                            "seed": seed,
                            "success": is_success,
                            "steps": step if is_success else 200,
                        }
                    )
    table = pd.DataFrame(rows)
    settings = replace(TINY, neurons=16, widths=(4, 16), evaluate_every=50)
    table["width"] = table["width"].replace(12, 16)
    groups = allocation.first_successes(table)
    curves = allocation.success_curves(table, groups, settings)
    tables = {"groups": groups, "curves": curves}
    return Tables(tables, allocation.facts(settings, Tables(tables)))


@pytest.mark.parametrize(
    "claim, change",
    [
        (allocation_claims.width_beats_restarts_with_few_samples, {"few": (50, None)}),
        (allocation_claims.restarts_beat_width_with_many_samples, {"many": (150, 100)}),
        (allocation_claims.restarts_are_independent, {"together": True}),
    ],
)
def test_claims_hold_and_can_fail(claim, change):
    if claim is allocation_claims.restarts_are_independent:
        change = change | {"few": (100, 100)}
        assert claim(world(few=(100, 100))).holds
    else:
        assert claim(world(share=0.9)).holds
    assert not claim(world(**change)).holds
