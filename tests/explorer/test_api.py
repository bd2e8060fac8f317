"""The data behind the pages: the numbers of the store itself, in pages, with their totals."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from elegans import statistics
from elegans.explorer import index
from elegans.explorer.cells import wilson
from elegans.explorer.curves import Curve, band, downsampled, plain
from elegans.explorer.settings import Settings
from elegans.store.store import Store

from .conftest import FAILED, PROBES, SAMPLES, STEPS, WIDTHS, experiment, name, run


def get(client, path, **parameters):
    answer = client.get(f"/api/v1/grid/{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    content = answer.json()
    assert 0 <= content["shown"] <= content["total"]
    return content


@pytest.fixture(scope="module")
def table(grid_path):
    return Store(grid_path, readonly=True).table()


def test_cells_are_the_groups_of_the_table(client, table):
    cells = get(client, "cells", x="training.samples", y="model.width", z="success")["cells"]
    groups = table.groupby(["training.samples", "model.width"], dropna=False)
    assert len(cells) == len(groups) == len(WIDTHS) * len(SAMPLES) + 1
    for (samples, width), rows in groups:
        text = "null" if np.isnan(samples) else str(int(samples))
        (cell,) = [c for c in cells if (c["x"], c["y"]) == (text, str(width))]
        known = rows["success"].dropna()
        assert (cell["runs"], cell["judged"]) == (len(rows), len(known))
        assert cell["succeeded"] == known.sum()
        assert cell["experiment"] == rows["experiment"].iloc[0]
        if len(known):
            expected = statistics.wilson(int(known.sum()), len(known))
            np.testing.assert_allclose(
                [cell[part] for part in ("value", "low", "high")], expected, rtol=1e-6
            )


@pytest.mark.parametrize("z", ["steps", "test_error", "seconds"])
def test_medians_and_quartiles_are_those_of_the_table(client, table, z):
    cells = get(client, "cells", x="model.width", y="", z=z)["cells"]
    for width, rows in table.groupby("model.width"):
        (cell,) = [c for c in cells if c["x"] == str(width)]
        low, middle, high = rows[z].quantile([0.25, 0.5, 0.75])
        np.testing.assert_allclose(
            [cell["value"], cell["low"], cell["high"]], [middle, low, high], rtol=1e-6
        )


@pytest.mark.parametrize(
    "where, query",
    [
        (["model.width=10"], "`model.width` == 10"),
        (["model.width=10", "model.width=100"], "`model.width` in (10, 100)"),
        (["training.samples>=300", "training.samples<=1000"], "300 <= `training.samples` <= 1000"),
        (["status=diverged", "model.width<=30"], "status == 'diverged' and `model.width` <= 30"),
        (["seed=2", "success=true"], "seed == 2 and success"),
        (["test_error<=0.5"], "test_error <= 0.5"),
        (["training.samples=null"], "`training.samples`.isna()"),
        (["training.rate=0.1"], "seed >= 0"),
        (["training.rate=0.2"], "seed < 0"),
    ],
)
def test_filters_leave_what_they_leave_of_the_table(client, table, where, query):
    content = get(client, "runs", where=where)
    rows = table.assign(success=table["success"].fillna(False)).query(query, engine="python")
    assert content["total"] == len(rows)
    assert {row["run"] for row in content["rows"]} == set(rows["run"])


def test_many_values_are_divided_into_bins_that_lose_no_run(explored, tmp_path):
    with Store(tmp_path / "many.db") as store:
        store.register({name(10, s): experiment(10, s) for s in range(1, 201)})
        store.add(
            [run(10, s, 0) for s in range(1, 201)],
            {"weights": "{}", "norm": "{}", "attended": "{}"},
        )
    client = explored(tmp_path / "many.db")
    for log in ([], ["x"]):
        answer = client.get("/api/v1/many/cells", params={"x": "training.samples", "log": log})
        cells = answer.json()["cells"]
        assert len(cells) <= 40
        assert sum(cell["runs"] for cell in cells) == 200
    link = client.get("/store/many", params={"x": "training.samples"}).text
    assert "training.samples&gt;=" in link or "training.samples%3E=" in link


def test_pages_by_key_are_all_runs_once(client, table):
    numbers, after = [], 0
    while after is not None:
        page = get(client, "runs", limit=7, after=after)
        numbers += [row["run"] for row in page["rows"]]
        after = page["next"]
        assert page["shown"] <= 7
        assert page["total"] == len(table)
    assert numbers == table.sort_values("run")["run"].tolist()


def test_curves_are_those_of_the_store_with_nan_as_null(client, grid_path):
    key = name(10, 100)
    content = get(client, "history", experiment=key, metric="test_error")
    assert content["total"] == 4
    store = Store(grid_path, readonly=True)
    for curve in content["curves"]:
        (stored,) = store.runs([(key, curve["seed"])])
        assert curve["step"] == STEPS.tolist()
        assert curve["value"][3] is None
        values = np.array(curve["value"], float)
        np.testing.assert_allclose(values, stored.history["test_error"], rtol=1e-6)


def test_an_array_is_that_of_the_probe_at_that_step(client, grid_path):
    (stored,) = Store(grid_path, readonly=True).runs(
        [(name(30, 300), 1)], {"weights": "{}", "norm": "{}", "attended": "{}"}
    )
    weights = stored.probes["weights.layers.0.weight"]
    content = get(
        client,
        "probe",
        run=f"{name(30, 300)}/1",
        layer="weights.layers.0.weight",
        step=125,
        neuron=2,
    )
    assert content["step"] == 120
    np.testing.assert_array_equal(np.array(content["values"][0], np.float32), weights[12])
    np.testing.assert_array_equal(
        np.array(content["neuron"]["weights"], np.float32), weights[12][:, 2]
    )
    assert content["neuron"]["spectrum"]["kind"].startswith("Fourier")
    attention = get(client, "probe", run=f"{name(30, 300)}/1", layer="attended.attention", step=0)
    assert attention["shape"] == [2, 4, 4]
    assert attention["names"] == ["layer 0, head 0", "layer 1, head 0"]


def test_axes_are_what_varies(client):
    content = get(client, "axes")
    axes = {axis["name"]: axis["values"] for axis in content["axes"]}
    assert axes == {"model.width": list(WIDTHS), "training.samples": [*SAMPLES, None]}
    assert content["constants"]["task.n"] == 6


@pytest.mark.parametrize(
    "path, parameters, message",
    [
        ("cells", {"x": "model.widht"}, "did you mean 'model.width'"),
        ("cells", {"z": "speed"}, "There are: success"),
        ("cells", {"where": "nowhere=1"}, "There are:"),
        ("cells", {"where": "model.width"}, "field=value"),
        ("cells", {"log": "w"}, "There are: x, y, z"),
        ("runs", {"after": "-1"}, "number of a run"),
        ("runs", {"limit": "1001"}, "1 to 1,000"),
        ("runs", {"where": "steps>=many"}, "compared with a number"),
        ("runs", {"where": "status=lost"}, "done, diverged, failed, damaged"),
        ("history", {"experiment": name(10, 100), "metric": "speed"}, "test_error"),
        ("probe", {"run": "x"}, "EXPERIMENT/SEED"),
        ("probe", {"run": f"{name(30, 300)}/1", "layer": "w"}, "weights.layers.0.weight"),
        ("probe", {"run": f"{name(30, 300)}/1", "neuron": "3"}, "neurons 0 to 2"),
        ("history", {"experiment": "0"}, "no experiment"),
        ("probe", {"run": f"{name(30, 300)}/99"}, "Seeds that it has: 0, 1, 2, 3"),
        ("probe", {"run": f"{FAILED}/0"}, "kept neither weights"),
    ],
)
def test_what_is_not_there_is_refused_by_name(client, path, parameters, message):
    answer = client.get(f"/api/v1/grid/{path}", params=parameters)
    assert answer.status_code in (400, 404)
    assert message in answer.json()["error"]


def test_wilson_is_that_of_statistics():
    for runs in (1, 7, 100):
        for succeeded in {0, 1, runs // 2, runs}:
            expected = statistics.wilson(succeeded, runs)
            np.testing.assert_allclose(wilson(succeeded, runs), expected, rtol=1e-12)
    assert wilson(0, 0) == (None, None, None)


def test_few_points_keep_all_extremes():
    noise = np.random.default_rng(0)
    value = noise.standard_normal(10_000)
    value[[777, 5_000]] = [50.0, -50.0]
    value[100:200] = np.nan
    few = downsampled(Curve(np.arange(10_000), value), 100)
    assert len(few.step) <= 100
    assert {777, 5_000, 0, 9_999} <= set(few.step.tolist())
    assert (np.nanmin(few.value), np.nanmax(few.value)) == (-50.0, 50.0)


def test_a_band_keeps_the_last_value_of_a_run_that_ended():
    curves = [
        Curve(np.array([0, 1, 2]), np.array([1.0, 1.0, 4.0])),
        Curve(np.array([0, 1]), np.array([3.0, 2.0])),
    ]
    summary = band(curves)
    assert summary.step.tolist() == [0, 1, 2]
    assert summary.middle.tolist() == [2.0, 1.5, 3.0]


def test_not_a_number_and_infinities_are_null():
    assert plain(np.array([[1.5, np.nan], [np.inf, -2.0]])) == [[1.5, None], [None, -2.0]]


def test_the_short_way_through_settings_is_the_long_way():
    """Texts that share all but a few parts, with traps: keys twice, lists, strings with commas."""
    texts = [experiment(w, s) for w in (1, 2, 1.0) for s in (5, None, 7)]
    texts += [experiment(1, 5, note=note) for note in ("a, ", 'b, "c": 1', "x", "a, ")]
    texts += [experiment(1, 5, groups=[{"rate": r}]) for r in (1, 2)]
    texts += [experiment(1, 5, rate=r) for r in (0.5, True, 1, "1", float("nan"))]
    texts += [experiment(1, 5, n=n) for n in (3, 4)]  # the key is there twice
    short = Settings()
    codes = [short.add(text) for text in texts]
    rows = []
    for text in texts:
        single = Settings()
        values = single.add(text)
        rows.append({f.name: f.values[values[f.number]] for f in single.fields.values()})
    for row, chosen in zip(rows, codes, strict=True):
        for field in short.fields.values():
            assert field.values[chosen.get(field.number, 0)] == row.get(field.name), field.name
            assert type(field.values[chosen.get(field.number, 0)]) is not bool or (
                type(row[field.name]) is bool
            )


def test_the_answer_of_a_store_with_damage_is_that_of_its_table(explored, tmp_path, grid_path):
    import sqlite3

    path = tmp_path / "damaged.db"
    path.write_bytes(grid_path.read_bytes())
    connection = sqlite3.connect(path)
    connection.execute("UPDATE runs SET steps = 1 WHERE id = 3")
    connection.execute("UPDATE experiments SET json = json || ' ' WHERE id = 2")
    connection.commit()
    connection.close()
    client = explored(path)
    table = Store(path, readonly=True).table()
    state = client.get("/api/v1/damaged/state").json()
    assert state["statuses"] == {
        status: int((table["status"] == status).sum())
        for status in ("done", "diverged", "failed", "damaged")
    }
    assert state["statuses"]["damaged"] == 5
    cells = client.get("/api/v1/damaged/cells?x=model.width&y=&z=steps").json()["cells"]
    for width, rows in table.groupby("model.width"):
        (cell,) = [c for c in cells if c["x"] == str(int(width))]
        assert cell["value"] == pytest.approx(rows["steps"].median())
        assert cell["runs"] == len(rows)
    assert isinstance(table, pd.DataFrame)


def test_runs_are_there_before_all_experiments_are(grid_path, monkeypatch):
    """A store larger than a block: of each block of experiments the runs come with it."""
    monkeypatch.setattr(index, "ROWS_PER_BLOCK", 5)
    small = index.Index(grid_path)
    small.refresh(0.0)
    assert small.progress.experiments == 5
    assert small.progress.runs == 5
    assert not small.progress.is_complete
    small.refresh()
    assert small.progress.is_complete
    whole = Store(grid_path, readonly=True).table().sort_values("run")
    for column in ("seed", "steps", "test_error", "success"):
        stored = whole[column].to_numpy(float, na_value=np.nan)
        np.testing.assert_array_equal(small.column(column), stored)
    names = [small.hashes[place] for place in small.column("place")]
    assert names == whole["experiment"].tolist()
    small.close()


def test_runs_of_the_last_experiment_wait_until_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(index, "ROWS_PER_BLOCK", 2)
    keys = [(width, 100) for width in (1, 2, 3, 4, 5)]
    with Store(tmp_path / "late.db") as store:
        store.register({name(*key): experiment(*key) for key in keys})
        store.add([run(*key, 0) for key in (keys[1], keys[4], keys[0])], PROBES)
    late = index.Index(tmp_path / "late.db")
    late.refresh(0.0)
    assert (late.progress.experiments, late.progress.runs) == (2, 1)
    late.refresh()
    assert [late.hashes[place] for place in late.column("place")] == [
        name(*key) for key in (keys[1], keys[4], keys[0])
    ]
    late.close()


def test_infinite_numbers_are_null_and_have_no_place_in_a_picture(explored, tmp_path):
    key = (10, 100)
    with Store(tmp_path / "infinite.db") as store:
        store.register({name(*key): experiment(*key)})
        losses = [1.0, 3.0, np.inf, np.inf, -np.inf]
        runs = [dataclasses.replace(run(*key, i), test_loss=x) for i, x in enumerate(losses)]
        store.add(runs, PROBES)
    client = explored(tmp_path / "infinite.db")
    rows = client.get("/api/v1/infinite/runs").json()["rows"]
    assert [row["metrics"]["test_loss"] for row in rows] == [1, 3, None, None, None]
    (cell,) = client.get("/api/v1/infinite/cells?z=test_loss").json()["cells"]
    assert [cell[part] for part in ("low", "value", "high")] == [1, 3, None]
    for page in ("", "/marginals", "/runs.csv", "/cells.csv", f"/cell/{name(*key)}"):
        for parameters in ({"z": "test_loss"}, {"metric": "test_loss"}):
            answer = client.get(f"/store/infinite{page}", params=parameters)
            assert answer.status_code == 200, page
