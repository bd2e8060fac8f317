"""The study of tables end to end on made-up ones, its scales, and the learners beside networks."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets

from elegans.cli import main
from elegans.experiments import plain
from elegans.models.inits import Sparse
from elegans.models.mlp import MLP
from elegans.report.result import Result
from elegans.studies.study import Scale
from elegans.studies.tables import (
    baselines,
    comparisons,
    reference,
    scales,
    settings,
    tabular,
)
from elegans.studies.tables import tables as tabular_tables
from elegans.sweeps import requests
from elegans.tasks.tables import openml
from elegans.tasks.tables.tabular import rows_of
from elegans.training.program import split

TINY = settings.Settings(
    datasets=("heloc",),
    fractions=(1.0, 0.1, 0.01),
    seeds=2,
    networks=(
        settings.Networks(
            optimizer="adam",
            hidden=((4, 4),),
            fractions=(1.0, 0.1, 0.01),
            inits=("dense", "2-sparse"),
        ),
        settings.Networks(
            optimizer="adam", hidden=((16, 16),), fractions=(1.0,), inits=("dense", "2-sparse")
        ),
    ),
    epochs=3,
    learners=settings.Learners(
        max_depth=(None, 2), max_features=("sqrt", 99), n_estimators=(2, 5), hidden=(4,), epochs=3
    ),
)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """Two tables of 400 rows and 5 columns; the label of one is a product, of the other a sum."""
    folder = tmp_path_factory.mktemp("tables")
    generator = np.random.default_rng(0)
    for name, label in (("heloc", np.prod), ("pol", np.sum)):
        x = generator.normal(size=(400, 5)).astype(np.float32)
        y = label(x[:, :2], axis=1) > 0
        np.savez(folder / f"{name}.npz", X=x, y=y, feature_names=np.array(list("abcde")))
    rows_of.cache_clear()
    return folder


@pytest.fixture(scope="module")
def study():
    """The study at a tiny scale, with no learners but scikit-learn's."""
    known = {"histogram boosting": baselines.DEFAULTS["histogram boosting"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(baselines, "DEFAULTS", known)
        yield replace(tabular.STUDY, scales={"quick": Scale(TINY, minutes=0.1)})


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    return tmp_path_factory.mktemp("out")


@pytest.fixture(scope="module")
def result(study, directory, out, cheap_compilation):
    return study.run("quick", out=out, data=directory, workers=0, progress=False)


def test_widths_are_compared_by_means_of_test_and_train_errors(result):
    networks, widths = result.tables["networks"], result.tables["widths"]
    assert list(widths.columns[:3]) == ["fraction", "dataset", "width"]
    row = widths.iloc[0]
    part = networks[
        (networks["fraction"] == row["fraction"])
        & (networks["dataset"] == row["dataset"])
        & (networks["width"] == row["width"])
        & (networks["depth"] == 2)
        & (networks["optimizer"] == "adam")
        & (networks["init"] == "dense")
        & (networks["weight_decay"] == networks["weight_decay"].min())
    ]
    test, train = (100 * part[name].mean() for name in ("error", "train_error"))
    assert row["adam, dense"] == f"{test:.1f} ({train:.0f})"


def test_every_setting_is_in_the_cells(result):
    cells = result.tables["cells"]
    assert (cells["runs"] == 2).all()
    assert cells["median"].between(cells["low"], cells["high"]).all()
    networks = cells[cells["learner"] == tabular_tables.MLP_NAME]
    assert len(networks) == 2 * (3 + 1)  # inits, fractions of the two shapes
    forests = cells[cells["learner"] == baselines.FOREST]
    assert set(forests["setting"]) == {  # without max_features=99, more than the columns
        f"max_depth={d}, max_features=sqrt, n_estimators={n}" for d in (None, 2) for n in (2, 5)
    }
    assert not cells["is_complete"].any()
    assert cells["paper"].isna().all()  # 400 rows are not the paper's table


def test_networks_and_other_learners_have_the_same_rows(result):
    sizes = result.tables["cells"].groupby(["dataset", "fraction"])["samples"].unique()
    assert sorted({tuple(counts) for counts in sizes}) == [(4,), (36,), (360,)]


def test_full_batches_of_several_sizes_train_side_by_side(result):
    networks = result.tables["networks"].query("samples < 256")
    assert sorted(networks["samples"].unique()) == [4, 36]
    assert (networks["status"] == "done").all()
    assert (networks["steps"] == 3).all()  # one per epoch
    assert result.structures == 2 + 2  # two shapes in batches, one in full batches of two sizes


def test_the_best_of_a_learner_is_the_lowest_median_over_its_settings(result):
    keys = ["dataset", "fraction", "learner"]
    lowest = result.tables["cells"].groupby(keys)["median"].min()
    best = result.tables["best"].set_index(keys)["median"].sort_index()
    np.testing.assert_array_equal(best, lowest)


def test_the_runs_of_a_best_setting_are_as_many_as_its_median_is_of(result):
    tables = result.tables
    for learner in (tabular_tables.MLP_NAME, baselines.FOREST):
        parts = (tables["best"], tables["networks"], tables["fits"])
        runs = tabular_tables.best_by_seed(*parts, learner)
        medians = runs.groupby(["dataset", "fraction"])["error"].median()
        best = tables["best"].set_index("learner").loc[learner]
        expected = best.set_index(["dataset", "fraction"])["median"].sort_index()
        pd.testing.assert_series_equal(medians, expected, check_names=False)
        assert runs.groupby(["dataset", "fraction"]).size().eq(2).all()


def test_table_2_has_the_papers_row_below_ours(result):
    frame = result.tables["table_2"].set_index("data set")
    assert list(frame.index) == ["heloc (part)", "heloc, paper"]
    assert frame.loc["heloc, paper", "MLP full"] == "27.1"
    assert frame.loc["heloc, paper", "RF 1%"] == "31.0"
    assert frame.loc["heloc, paper", "tuned best"] == "27.4 ResNet"
    best = result.tables["best"].set_index(["dataset", "learner", "fraction"])["median"]
    ours = best["heloc", tabular_tables.MLP_NAME, 0.1]
    assert frame.loc["heloc (part)", "MLP 10%"] == f"{100 * ours:.1f}"


def test_a_table_that_is_not_complete_is_no_evidence_for_the_papers_numbers(result):
    near = [claim for claim in result.claims if claim.source == comparisons.TABLE_2]
    assert len(near) == 2
    assert not any(claim.holds for claim in near)
    assert all("no data set here" in claim.measured for claim in near)


def test_a_study_goes_on_from_the_store_of_its_bundle(result, study, directory, out, monkeypatch):
    monkeypatch.setattr(baselines, "error", lambda *_: pytest.fail("fitted again"))
    monkeypatch.setattr(requests, "train", lambda *_, **__: pytest.fail("trained again"))
    place = out / "tabular" / "runs.db"
    again = study.run("quick", store=place, data=directory, workers=0, progress=False)
    assert [claim.measured for claim in again.claims] == [c.measured for c in result.claims]


def test_the_bundle_holds_the_tables_and_a_page_of_them(result, out):
    saved = Result.read(out / "tabular")
    pd.testing.assert_frame_equal(saved.tables["cells"], result.tables["cells"])
    assert (out / "tabular" / "figure.png").stat().st_size > 1000
    assert "<td>heloc, paper</td>" in (out / "tabular" / "page.html").read_text(encoding="utf-8")


def test_without_data_and_network_the_command_says_what_to_do(tmp_path, monkeypatch, capsys):
    def no_network(**_):
        raise OSError("no network")

    monkeypatch.setattr(datasets, "fetch_openml", no_network)
    rows_of.cache_clear()
    for arguments in ([], ["--data", str(tmp_path)]):
        with pytest.raises(SystemExit) as end:
            main(["reproduce", "tabular", "--out", str(tmp_path), *arguments])
        assert end.value.code == 2
        assert "bank-marketing.npz" in capsys.readouterr().err


def test_the_data_sets_of_the_laptop_scale_are_those_at_hand(directory, tmp_path):
    tasks = replace(scales.LAPTOP, data=directory).tasks()
    assert [task.name for task in tasks] == ["pol", "heloc"]
    with pytest.raises(openml.MissingData, match="No data set of the suite is in"):
        replace(scales.LAPTOP, data=tmp_path).tasks()


def test_a_batch_is_no_larger_than_the_training_set():
    network = settings.Network("adam", "dense", (100, 100), 0.0)
    for samples, batch, steps in ((95, None, 100), (256, None, 100), (257, 256, 200)):
        training = scales.PAPER.training(samples, network)
        assert (training.batch, training.steps) == (batch, steps)
    assert scales.QUICK.training(9_000, network).steps == 800  # of 3,600


def test_fractions_with_the_same_rows_or_with_less_than_two_are_left_out():
    limited = replace(scales.PAPER, fractions=(1.0, 0.3, 0.1, 0.001), most_rows=300)
    assert limited.parts(1_000) == {1.0: 300, 0.3: 270, 0.1: 90}


def test_a_sparse_init_needs_as_many_columns_as_it_reads():
    plan = list(TINY.plan(settings.Size("heloc", rows=400, features=1)))
    assert {network.init for _, _, network in plan} == {"dense"}


def test_the_quick_scale_compiles_at_most_24_programs():
    structures = set()
    for name in scales.QUICK.datasets:
        entry = openml.SUITE[name]
        for _, samples, network in scales.QUICK.plan(
            settings.Size(name, entry.rows, entry.features)
        ):
            training = scales.QUICK.training(samples, network)
            structures.add((name, split(None, tabular.model_of(network), training)[0]))
    assert len(structures) == 24


def test_the_paper_scale_is_the_papers_grid_and_out_of_reach():
    paper = scales.PAPER
    assert len(paper.datasets) == 16
    assert len(paper.fractions) == 17
    assert [len(group.hidden) for group in paper.networks] == [18, 2, 18, 2]
    assert set(reference.TABLE_2) == set(openml.SUITE)
    core_years = settings.flops(paper) / 50e9 / (365 * 24 * 3600)
    assert 6_000 < core_years < 6_500  # at 50 Gflop/s
    core_hours = settings.flops(scales.CLUSTER) / 50e9 / 3600
    assert 2_000 < core_hours < 3_000


def test_errata_the_two_largest_tables_are_tasks_3_and_9_not_2_and_9():
    by_rows = sorted(openml.ENTRIES, key=lambda entry: -entry.rows)
    assert {entry.task for entry in by_rows[:2]} == {3, 9}
    assert by_rows[1].rows > 7 * by_rows[2].rows
    assert [entry.task for entry in by_rows].index(2) == 5  # electricity is the sixth
    assert "electricity" in scales.PAPER.networks[1].datasets


def test_errata_a_forest_of_depth_minus_one_is_refused():
    from sklearn.ensemble import RandomForestClassifier

    with pytest.raises(ValueError, match="'max_depth' parameter"):
        RandomForestClassifier(max_depth=-1).fit([[0.0], [1.0]], [0, 1])
    assert None in scales.PAPER.learners.max_depth


def test_errata_the_grid_of_the_tables_alone_is_15_times_all_runs_of_the_paper():
    paper, group = scales.PAPER, scales.PAPER.networks[0]
    networks = len(group.hidden) * len(group.inits) * len(group.decays)
    runs = len(paper.datasets) * len(paper.fractions) * networks * paper.seeds
    assert runs == 2_937_600  # "around 2 x 10^5 training runs", appendix C.4


def test_layers_may_be_unequal_and_then_have_no_width():
    network = settings.Network("adam", "2-sparse", (20, 10), 0.0)
    assert tabular.model_of(network).widths == (20, 10)
    labels = tabular.labels_of(network)
    assert (labels["hidden"], labels["width"], labels["depth"]) == ("20 x 10", None, 2)
    assert tabular.model_of(network._replace(hidden=(20, 20))) == MLP(20, 2, init=Sparse(2))


def test_the_operations_of_a_scale_are_those_of_its_steps():
    one = replace(
        TINY,
        datasets=("heloc",),
        seeds=1,
        fractions=(1.0,),
        networks=(
            settings.Networks(
                optimizer="sgd", hidden=((10, 20),), fractions=(1.0,), inits=("dense",)
            ),
        ),
    )
    # 9,000 rows are 36 batches of 256; weights are 22 x 10, 10 x 20 and 20.
    assert settings.flops(one) == 3 * 36 * 6 * 256 * (220 + 200 + 20)


def test_a_learner_survives_json_and_gives_the_same_errors(directory):
    task = replace(TINY, data=directory).tasks()[0]
    for computation in baselines.learners(task, 30, TINY.learners).values():
        again = plain.from_json(plain.to_json(computation))
        assert again == computation
        pd.testing.assert_frame_equal(again(1), computation(1))


def test_a_learner_without_defaults_is_refused(directory):
    task = replace(TINY, data=directory).tasks()[0]
    with pytest.raises(ValueError, match="histogram boosting"):
        baselines.WithDefaults(task, 30, "histogram bosting")


def test_rows_of_one_class_are_answered_by_that_class(directory):
    task = replace(TINY, data=directory).tasks()[0]
    train, test = task.split(baselines.keys_of(0).data)
    one_class = train.x[train.y > 0], train.y[train.y > 0]
    rows = baselines.Split(baselines.Examples(*one_class), test)
    assert baselines.error(None, rows) == np.mean(test.y < 0)
