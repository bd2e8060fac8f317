"""The study of tables end to end on made-up ones, and its claims where the answer is known."""

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

from elegans.cli import main
from elegans.statistics import bootstrap
from elegans.studies.catalogue import study
from elegans.studies.tables import baselines as tabular_baselines
from elegans.studies.tables import claims as tabular_claims
from elegans.studies.tables import reference as tabular_reference
from elegans.studies.tables import tables as tabular_tables
from elegans.studies.tables import tabular
from elegans.tasks.tables import openml
from elegans.tasks.tables.tabular import rows_of

TINY = tabular.Settings(
    datasets=("heloc", "pol"),
    fractions=(1.0, 0.1, 0.01),
    seeds=2,
    architectures=((4, 1), (16, 1)),
    decays=(0.0,),
    starts=("dense", "2-sparse"),
    epochs=3,
    baselines=tabular_baselines.Settings(
        max_depth=(None, 2), max_features=("sqrt", 99), n_estimators=(2, 5), hidden=(4,), epochs=3
    ),
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Two tables of 400 rows and 5 columns; the label of one is a product, of the other a sum."""
    made = tmp_path_factory.mktemp("tables")
    generator = np.random.default_rng(0)
    for name, label in (("heloc", np.prod), ("pol", np.sum)):
        x = generator.normal(size=(400, 5)).astype(np.float32)
        y = label(x[:, :2], axis=1) > 0
        np.savez(made / f"{name}.npz", X=x, y=y, feature_names=np.array(list("abcde")))
    rows_of.cache_clear()
    return made


@pytest.fixture(scope="module")
def tiny():
    """The study, with its quick scale made tiny, and no learner but scikit-learn's."""
    found = study("tabular")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(found.scales, "quick", tabular.Scale(TINY, "seconds"))
        patch.setattr(tabular_baselines, "present", lambda: tabular_baselines.LEARNERS)
        patch.delenv("ELEGANS_DATA", raising=False)
        yield found


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("store") / "runs.db"


@pytest.fixture(scope="module")
def result(tiny, directory, store):
    return tiny.run("quick", data=directory, store=store, workers=0, progress=False)


def test_every_setting_is_in_the_table_with_the_papers_number_beside_it(result):
    table = result.table
    assert (table["runs"] == 2).all()
    assert table["median"].between(table["low"], table["high"]).all()
    networks = table[table["learner"] == tabular_tables.MLP_NAME]
    assert len(networks) == 2 * 3 * 2 * 2 * 2  # data sets, fractions, optimisers, starts, widths
    forests = table[table["learner"] == tabular_baselines.FOREST]
    assert set(forests["setting"]) == {  # without max_features=99, more than the columns
        f"max_depth={d}, max_features=sqrt, n_estimators={n}" for d in (None, 2) for n in (2, 5)
    }
    full = networks[(networks["dataset"] == "heloc") & (networks["fraction"] == 1.0)]
    assert (full["paper"] == 0.271).all()
    assert not table["is_exact"].any()


def test_networks_and_other_learners_have_the_same_rows(result):
    sizes = result.table.groupby(["dataset", "fraction"])["samples"].unique()
    assert all(len(found) == 1 for found in sizes)
    assert sorted({int(found[0]) for found in sizes}) == [4, 36, 360]


def test_the_best_of_a_learner_is_the_lowest_median_over_its_settings(result):
    best = result.data["best"]
    lowest = result.table.groupby(["dataset", "fraction", "learner"])["median"].min()
    np.testing.assert_array_equal(
        best.set_index(["dataset", "fraction", "learner"])["median"].sort_index(), lowest
    )


def test_table_2_has_the_papers_row_below_ours(result):
    frame = result.summary[tabular_tables.TITLE]
    assert list(frame.index) == ["heloc (part)", "heloc, paper", "pol (part)", "pol, paper"]
    assert frame.loc["pol, paper", "MLP full"] == "1.4"
    assert frame.loc["heloc, paper", "RF 1%"] == "31.0"
    assert frame.loc["heloc, paper", "tuned best"] == "27.4 ResNet"
    best = result.data["best"].set_index(["dataset", "learner", "fraction"])["median"]
    ours = best["pol", tabular_tables.MLP_NAME, 0.1]
    assert frame.loc["pol (part)", "MLP 10%"] == f"{100 * ours:.1f}"


def test_a_data_set_that_is_no_exact_one_is_no_evidence_for_the_papers_numbers(result):
    claim = next(claim for claim in result.claims if "within 1.0 point" in claim.text)
    assert not claim.holds
    assert "no data set here" in claim.measured


def test_the_command_goes_on_from_a_store_and_writes_its_files(
    result, directory, store, tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(tabular_baselines, "fitted", lambda *_: pytest.fail("fitted again"))
    assert main(["reproduce", "tabular", "--data", str(directory), "--workers", "0",
                 "--out", str(tmp_path), "--store", str(store)]) == 1  # fmt: skip
    shown = capsys.readouterr().out
    assert "Table 2" in shown
    assert shown.count("holds") + shown.count("FAILS") == len(result.claims) == 8
    for name in ("tabular.png", "tabular.html", "tabular.csv"):
        assert (tmp_path / name).stat().st_size > 1000
    page = (tmp_path / "tabular.html").read_text(encoding="utf-8")
    assert "<td>heloc, paper</td>" in page


def test_without_data_and_network_the_command_says_what_to_do(tiny, tmp_path, monkeypatch, capsys):
    def no_network(**_):
        raise OSError("no network")

    monkeypatch.setattr(datasets, "fetch_openml", no_network)
    rows_of.cache_clear()
    for arguments in ([], ["--data", str(tmp_path)]):
        with pytest.raises(SystemExit) as end:
            main(["reproduce", "tabular", "--out", str(tmp_path), *arguments])
        assert end.value.code == 2
        assert "heloc.npz" in capsys.readouterr().err


def test_a_study_that_makes_its_data_refuses_a_directory(tmp_path, capsys):
    with pytest.raises(SystemExit) as end:
        main(["reproduce", "frontier", "--data", str(tmp_path), "--out", str(tmp_path)])
    assert end.value.code == 2
    assert "makes its own data" in capsys.readouterr().err


def test_the_data_sets_of_the_laptop_scale_are_those_at_hand(directory, tmp_path):
    settings = tabular.LAPTOP
    assert [task.name for task in settings.tasks(str(directory))] == ["pol", "heloc"]
    with pytest.raises(openml.MissingData, match="No data set of the suite is in"):
        settings.tasks(str(tmp_path))


def test_the_paper_scale_is_the_papers():
    assert len(tabular.PAPER.datasets) == 16
    assert len(tabular.PAPER.fractions) == 17
    assert len(tabular.PAPER.architectures) == 18
    assert set(tabular_reference.TABLE_2) == set(openml.SUITE)


def made_up(errors):
    """Runs of networks and forests with the given error by (data set, fraction, start, width)."""
    runs = pd.DataFrame(
        [
            {"dataset": d, "fraction": f, "samples": 100, "learner": "mlp", "optimizer": "sgd",
             "start": s, "width": w, "depth": 2, "weight_decay": 0.0, "setting": f"{s} {w}",
             "seed": seed, "error": error + 0.001 * seed}
            for (d, f, s, w), error in errors.items()
            for seed in range(5)
        ]
    )  # fmt: skip
    rows = []
    for (d, f, s, w), cell in runs.groupby(["dataset", "fraction", "start", "width"], sort=False):
        median = bootstrap(cell["error"].to_numpy())
        rows.append({"dataset": d, "fraction": f, "learner": "mlp", "optimizer": "sgd",
                     "start": s, "width": w, "depth": 2, "weight_decay": 0.0,
                     "median": median.value, "low": median.low, "high": median.high,
                     "is_exact": True, "paper": 0.2})  # fmt: skip
    table = pd.DataFrame(rows)
    forests = table.assign(learner=tabular_baselines.FOREST, median=0.199).drop_duplicates(
        ["dataset", "fraction"]
    )
    best = pd.concat([table, forests], ignore_index=True)
    chosen = best.groupby(["dataset", "fraction", "learner"])["median"].idxmin()
    return runs, table, best.loc[chosen]


GOOD = {
    (d, f, s, w): 0.195 + shift + (0.02 if s == "dense" else 0) + (0.02 if w == 10 else 0)
    for d in ("heloc", "pol")
    for f, shift in ((1.0, 0.0), (0.1, 0.05), (0.01, 0.1))
    for s in ("dense", "2-sparse")
    for w in (10, 100)
}


def test_all_claims_hold_where_they_are_true():
    claims = tabular_claims.check(*made_up(GOOD))
    assert len(claims) == 5
    assert all(claim.holds for claim in claims), claims
    assert "p = 0.00098" in claims[1].measured  # 10 pairs of one sign: 1 in 1,024
    assert "2 of 2 at fraction 1, 0 of 2 at fraction 0.1" in claims[-1].measured


@pytest.mark.parametrize(
    "change, broken",
    [
        ({("pol", 0.1, "2-sparse", 100): 0.4}, "Under SGD, median test error falls"),
        (
            {k: v - 0.04 for k, v in GOOD.items() if k[1:3] == (0.1, "dense")},
            "Under SGD, 2-sparse starts beat",
        ),
        ({("pol", 1.0, "2-sparse", 100): 0.213, ("pol", 1.0, "dense", 100): 0.22}, "With all rows"),
        ({k: v + 0.01 for k, v in GOOD.items()}, "Sometimes"),
    ],
)
def test_a_claim_fails_where_it_is_false(change, broken):
    claims = tabular_claims.check(*made_up(GOOD | change))
    assert any(claim.text.startswith(broken) and not claim.holds for claim in claims)


def test_an_optimizer_answers_for_its_own_networks():
    runs, table, best = made_up(GOOD)
    swapped = {"dense": "2-sparse", "2-sparse": "dense"}
    adam = {"optimizer": "adam", "start": runs["start"].map(swapped)}
    table_adam = {"optimizer": "adam", "start": table["start"].map(swapped)}
    claims = tabular_claims.check(
        pd.concat([runs, runs.assign(**adam)], ignore_index=True),
        pd.concat([table, table.assign(**table_adam)], ignore_index=True),
        best,
    )
    holds = {claim.text: claim.holds for claim in claims}
    assert len(holds) == 8
    for name, expected in (("SGD", True), ("Adam", False)):
        sparse = [h for text, h in holds.items() if text.startswith(f"Under {name}, 2-sparse")]
        assert sparse == [expected, expected]


def test_fits_are_the_same_in_processes_and_a_broken_note_is_done_again(directory, tmp_path):
    task = TINY.tasks(str(directory))[0]
    fits = [tabular_baselines.Fit("histogram boosting", task, 30, seed) for seed in range(2)]
    notes = tmp_path / "notes.jsonl"
    here = tabular_baselines.fit_all(fits, TINY.baselines, workers=0, notes=notes)
    notes.write_text(notes.read_text()[:-10])
    again = tabular_baselines.fit_all(fits, TINY.baselines, workers=0, notes=notes)
    there = tabular_baselines.fit_all(fits, TINY.baselines, workers=2)
    assert here == again == there


def test_every_extra_is_either_present_or_named_as_absent():
    names = set(tabular_baselines.present()) | set(tabular_baselines.absent())
    assert names == set(tabular_baselines.LEARNERS) | set(tabular_baselines.EXTRAS)


def test_the_bootstrap_interval_of_a_median_covers_it_as_often_as_it_says():
    generator = np.random.default_rng(1)
    found = [bootstrap(generator.normal(size=25), resamples=300)
             for _ in range(400)]  # fmt: skip
    covered = np.mean([interval.low <= 0 <= interval.high for interval in found])
    assert 0.91 < covered <= 0.99  # 95% nominal; the percentile interval is a little cautious
    with pytest.raises(ValueError, match="none of them NaN"):
        bootstrap(np.array([0.1, np.nan]))
