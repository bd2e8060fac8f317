import math

import pytest

from elegans.sweeps.schedule import LOAD_SECONDS, Estimate, Schedule, estimate


def planned(experiment, steps, workers, widths=(4,)):
    point = {
        (width, t): experiment.varied({"training.steps": t, "model.width": width})
        for width in widths
        for t in set(steps)
    }
    schedule = Schedule([point[width, t] for width in widths for t in steps])
    schedule.workers = workers
    return schedule


def done(schedule, speed=1.0):
    """Does a whole schedule with one worker's patience; the loads in their order."""
    loads = []
    while load := schedule.next(0):
        loads.append(load.runs)
        schedule.done(load, [speed * schedule.guess[run] for run in load.runs])
    return loads


def test_every_run_is_in_one_load_and_long_runs_go_first(experiment):
    steps = [1_000 * (i % 7 + 1) for i in range(40)]
    loads = done(planned(experiment, steps, 2))
    order = [run for load in loads for run in load]
    assert sorted(order) == list(range(40))
    assert [steps[run] for run in order] == sorted(steps, reverse=True)


def test_small_runs_travel_together_and_fewer_of_them_near_the_end(experiment):
    schedule = planned(experiment, [300] * 5_000, 2)
    sizes = [len(load) for load in done(schedule, speed=0.0103 / schedule.guess[0])]  # 10.3 ms each
    assert max(sizes[1:]) == math.ceil(LOAD_SECONDS / 0.0103)
    assert sizes[-1] == 1
    assert sizes[1:] == sorted(sizes[1:], reverse=True)


def test_a_long_run_travels_alone(experiment):
    schedule = planned(experiment, [10**7] * 4, 2)
    assert [len(load) for load in done(schedule, speed=1e3)] == [1] * 4


def test_while_a_structure_compiles_another_is_begun(experiment):
    schedule = planned(experiment, [300] * 50, 2, widths=(4, 5))
    first, second = schedule.next(0), schedule.next(1)
    assert first.queue is not second.queue
    assert schedule.next(2) is None  # both compile, and both workers are busy
    schedule.done(first, [schedule.guess[run] for run in first.runs])
    assert schedule.next(1).queue is first.queue


def test_a_lost_load_comes_back_run_by_run(experiment):
    schedule = planned(experiment, [300] * 5, 1)
    load = schedule.next(0)
    schedule.lost(load)
    again = [schedule.next(0) for _ in load.runs]
    assert [u.runs for u in again] == [[run] for run in load.runs]
    assert all(u.losses == 1 for u in again)


def test_the_time_left_is_learned_from_finished_runs(experiment):
    schedule = planned(experiment, [300] * 100, 1)
    total = sum(schedule.guess)
    load = schedule.next(0)
    schedule.done(load, [3 * schedule.guess[run] for run in load.runs])
    left = total - sum(schedule.guess[run] for run in load.runs)
    assert schedule.seconds_left() == pytest.approx(3 * left)


def test_an_estimate_grows_with_runs_and_steps_and_falls_with_workers(experiment):
    once = estimate([experiment])
    assert once.structures == 1
    assert once.seconds > 0
    long = experiment.varied({"training.steps": 300_000, "training.learning_rate": 1e-4})
    wide = experiment.varied({"training.steps": 300_000, "training.learning_rate": 1e-3})
    many = estimate([long] * 10 + [wide] * 10)
    assert many.structures == 1
    assert many.seconds > 100 * once.seconds  # 20,000 times the steps, of which a few were timed
    assert estimate([]) == Estimate(0.0, 0, 0.0)


def test_the_clock_counts_starting_and_compiling_once_per_structure():
    cost = Estimate(seconds=100.0, structures=3, compiling=4.0)
    assert cost.on(4) - cost.on(10) == pytest.approx(15)
    assert cost.on(10**9) == pytest.approx(3 * 4 + 2)
    assert cost.on(0) == cost.on(1)
