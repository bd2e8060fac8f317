import math

import pytest

from elegans.sweeps.plan import UNIT_SECONDS, Plan


def planned(experiment, steps, workers, widths=(4,)):
    point = {
        (width, t): experiment.varied({"training.steps": t, "model.width": width})
        for width in widths
        for t in set(steps)
    }
    plan = Plan([point[width, t] for width in widths for t in steps])
    plan.workers = workers
    return plan


def done(plan, speed=1.0):
    """Does a whole plan with one worker's patience; the units in their order."""
    units = []
    while unit := plan.next(0):
        units.append(unit.cells)
        plan.done(unit, [speed * plan.guess[cell] for cell in unit.cells])
    return units


def test_every_run_is_in_one_unit_and_long_runs_go_first(experiment):
    steps = [1_000 * (i % 7 + 1) for i in range(40)]
    units = done(planned(experiment, steps, 2))
    order = [cell for unit in units for cell in unit]
    assert sorted(order) == list(range(40))
    assert [steps[cell] for cell in order] == sorted(steps, reverse=True)


def test_small_runs_travel_together_and_fewer_of_them_near_the_end(experiment):
    plan = planned(experiment, [300] * 5_000, 2)
    sizes = [len(unit) for unit in done(plan, speed=0.0103 / plan.guess[0])]  # 10.3 ms each
    assert max(sizes[1:]) == math.ceil(UNIT_SECONDS / 0.0103)
    assert sizes[-1] == 1
    assert sizes[1:] == sorted(sizes[1:], reverse=True)


def test_a_long_run_travels_alone(experiment):
    plan = planned(experiment, [10**7] * 4, 2)
    assert [len(unit) for unit in done(plan, speed=1e3)] == [1] * 4


def test_while_a_shape_compiles_another_is_begun(experiment):
    plan = planned(experiment, [300] * 50, 2, widths=(4, 5))
    first, second = plan.next(0), plan.next(1)
    assert first.kind is not second.kind
    assert plan.next(2) is None  # both compile, and both workers are busy
    plan.done(first, [plan.guess[cell] for cell in first.cells])
    assert plan.next(1).kind is first.kind


def test_a_lost_unit_comes_back_run_by_run(experiment):
    plan = planned(experiment, [300] * 5, 1)
    unit = plan.next(0)
    plan.lost(unit)
    again = [plan.next(0) for _ in unit.cells]
    assert [u.cells for u in again] == [[cell] for cell in unit.cells]
    assert all(u.losses == 1 for u in again)


def test_the_time_left_is_learned_from_finished_runs(experiment):
    plan = planned(experiment, [300] * 100, 1)
    total = sum(plan.guess)
    unit = plan.next(0)
    plan.done(unit, [3 * plan.guess[cell] for cell in unit.cells])
    left = total - sum(plan.guess[cell] for cell in unit.cells)
    assert plan.seconds_left() == pytest.approx(3 * left)
