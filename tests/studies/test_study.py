"""The stages of a study, on one whose every number is known."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from tests.studies import toy

import elegans.experiments.run
from elegans.report.result import Result
from elegans.runs import Run, Runs
from elegans.studies import plan
from elegans.studies.study import Scale, Study, known_failure
from elegans.sweeps.sweep import Sweep

HERE = {"workers": 0, "progress": False}


@pytest.fixture(autouse=True)
def calls():
    toy.CALLS.clear()
    return toy.CALLS


def test_stages_follow_each_other_and_leave_a_bundle(tmp_path):
    result = toy.STUDY.run("quick", out=tmp_path, **HERE)
    assert list(result.tables["sums"]["value"]) == [1 + 2 + 3, 1 + 4 + 9]
    assert result.facts == {"largest": 14.0}
    assert result.settings == {"powers": [1, 2], "seeds": 3}
    assert result.command == "elegans reproduce toy --scale quick"
    assert list(result.tables["numbers"]) == ["power", "seed", "value", "odd"]
    assert [claim.outcome for claim in result.claims] == ["holds", "known failure"]
    names = sorted(path.name for path in (tmp_path / "toy").iterdir())
    assert names == ["figure.png", "figure.svg", "page.html", "result.json", "runs.db", "tables"]
    assert Result.read(tmp_path / "toy").tables["numbers"]["odd"].dtype == bool


def test_without_a_directory_nothing_is_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    toy.STUDY.run("small", **HERE)
    assert not list(Path().iterdir())


def test_runs_of_a_bundle_are_not_done_again(tmp_path, calls):
    toy.STUDY.run("small", out=tmp_path, **HERE)
    toy.STUDY.run("quick", out=tmp_path, **HERE)
    done = len(calls)
    assert done == 3 + 6
    again = toy.STUDY.run("quick", out=tmp_path, **HERE)
    assert len(calls) == done
    assert list(again.notes) == []
    toy.STUDY.run("quick", out=tmp_path, store=tmp_path / "other.db", **HERE)
    assert len(calls) == done + 6


def test_an_interrupted_study_goes_on(tmp_path, calls, monkeypatch):
    whole = toy.Power.__call__

    def interrupted(self, seed):
        if (self.power, seed) == (2, 1):
            raise KeyboardInterrupt
        return whole(self, seed)

    with monkeypatch.context() as patch:
        patch.setattr(toy.Power, "__call__", interrupted)
        with pytest.raises(KeyboardInterrupt):
            toy.STUDY.run("quick", out=tmp_path, **HERE)
    before = len(calls)
    assert not (tmp_path / "toy" / "result.json").exists()
    toy.STUDY.run("quick", out=tmp_path, **HERE)
    assert 0 < before < 6
    assert len(set(calls)) == 6
    assert len(calls) < before + 6


def test_runs_of_other_code_are_done_again_and_that_is_said(tmp_path, calls, monkeypatch):
    toy.STUDY.run("small", out=tmp_path, **HERE)
    monkeypatch.setattr(elegans.experiments.run, "code_version", lambda: "another")
    result = toy.STUDY.run("small", out=tmp_path, **HERE)
    assert len(calls) == 6
    assert list(result.notes) == ["3 stored runs were made by other code, and are done again."]
    assert "made by other code" in (tmp_path / "toy" / "page.html").read_text()


def test_a_generator_is_sent_the_runs_before_it_yields_the_next(calls):
    study = replace(toy.STUDY, runs=toy.doubling)
    result = study.run("quick", **HERE)
    assert calls == [(1, 0), (1, 1), (3, 0), (3, 1)]  # 1 + 2 = 3
    assert list(result.tables["sums"]["value"]) == [3, 9]
    assert {"first", "second"} <= set(result.tables)


def test_two_sweeps_of_one_name_are_refused():
    def twice(settings):
        for _ in range(2):
            yield {"same": Sweep.of([({}, toy.Power(power=1))])}

    with pytest.raises(ValueError, match=r"Study 'toy' has two sweeps named 'same'"):
        replace(toy.STUDY, runs=twice).run("quick", **HERE)


def test_scales_have_any_name_and_an_unknown_one_is_refused(calls):
    odd = replace(toy.STUDY, scales={"a wet afternoon": Scale(toy.Settings(powers=(1,)), 30)})
    assert odd.run("a wet afternoon", **HERE).scale == "a wet afternoon"
    calls.clear()
    with pytest.raises(ValueError, match=r"Study 'toy': scale is one of 'quick', .*got 'big'"):
        toy.STUDY.run("big")
    assert calls == []


def test_a_known_failure_counts_at_its_scales_alone():
    study = replace(toy.STUDY, claims=(toy.sums_are_tiny, toy.sums_are_small))
    quick = study.run("quick", **HERE)
    assert [claim.outcome for claim in quick.ordered_claims()] == ["FAILS", "known failure"]
    small = study.run("small", **HERE)  # the sum is 3
    assert [claim.text for claim in small.surprises] == ["Sums are tiny"]
    other = replace(study, scales={"other": Scale(toy.Settings(powers=(1, 2)), minutes=1)})
    assert len(other.run("other", **HERE).surprises) == 2


def test_a_known_failure_has_a_reason():
    with pytest.raises(ValueError, match="the reason says why the claim fails"):
        known_failure(reason=" ")


@pytest.mark.parametrize(
    "names", [{"figures": "tests.studies.toy:figur"}, {"charts": "toys:chart"}]
)
def test_a_missing_figure_fails_before_anything_is_computed(names, calls):
    with pytest.raises(ValueError, match=r"Figure 't"):
        replace(toy.STUDY, **names).run("quick", **HERE)
    assert calls == []


def test_only_settings_with_a_field_for_data_take_them(tmp_path):
    @dataclass(frozen=True, kw_only=True)
    class WithData(toy.Settings):
        data: Path | None = None

    with pytest.raises(ValueError, match=r"Study 'toy' makes its own data; got data /rows"):
        toy.STUDY.plan("quick", data="/rows")
    reading = replace(toy.STUDY, scales={"quick": Scale(WithData(powers=(1,)), minutes=1)})
    assert reading.plan("quick").settings.data is None
    result = reading.run("quick", data=tmp_path, **HERE)
    assert result.settings["data"] == str(tmp_path)


def test_a_computation_that_failed_says_why_and_is_tried_again(tmp_path, calls):
    for _ in range(2):
        with pytest.raises(RuntimeError, match=r"3 of 6 runs failed; the first with: ZeroDivision"):
            toy.STUDY.run("unlucky", out=tmp_path, **HERE)
    assert calls.count((13, 0)) == 2
    assert calls.count((1, 0)) == 1


def test_experiments_that_failed_are_counted_in_a_note(experiment):
    failed = Run(source=experiment, hash="a", seed=1, status="failed", traceback="x\nOutOfMemory")
    done = Run(source=experiment, hash="a", seed=0, status="done", steps=1)
    notes = plan.failures({"runs": Runs([{}, {}], [done, failed])})
    assert notes == ["1 of 2 runs failed; the first with: OutOfMemory"]
    assert plan.failures({"runs": Runs([{}], [done])}) == []


def test_structures_are_counted_without_what_is_traced(experiment):
    points = [
        ({"steps": steps, "width": width}, experiment.varied({"model.width": width}))
        for steps in (100, 200)
        for width in (2, 3)
    ]
    computation = Sweep.of([({}, toy.Power(power=1))])
    assert len(plan.structures_of({"a": Sweep.of(points), "b": computation})) == 2


@pytest.mark.parametrize(
    "change, message",
    [({"name": "Toy Study"}, "a name is lower case"), ({"scales": {}}, "one scale or more")],
)
def test_a_study_that_is_not_one_is_refused(change, message):
    fields = {name: getattr(toy.STUDY, name) for name in toy.STUDY.__dataclass_fields__}
    with pytest.raises(ValueError, match=message):
        Study(**fields | change)


def test_claims_of_numpy_are_plain():
    claim = toy.claim("x", np.bool_(True))
    assert claim.holds is True
