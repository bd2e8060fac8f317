"""The pages: each restores its view from its URL, says how much it shows, and follows a sweep."""

import os
import subprocess
import sys
import urllib.request

import numpy as np
import pytest

import elegans as el
from elegans.explorer import spectra
from elegans.explorer.pages import safe
from elegans.explorer.sources import listed
from elegans.store.schema import StoreError
from elegans.store.store import Store

from .conftest import FAILED, PROBES, experiment, name, run

A, B = name(10, 100), name(30, 100)


def page(client, path, status=200):
    answer = client.get(path)
    assert answer.status_code == status, answer.text
    return answer.text


def test_the_first_page_lists_studies_and_stores(client):
    text = page(client, "/")
    assert "✗ 1 FAILS" in text
    assert "✓ 1 of 2 hold" in text
    assert 'href="/store/grid"' in text
    assert "✗ failed" in text
    assert 'src="/study/small/thumbnail"' in text
    thumbnail = client.get("/study/small/thumbnail")
    assert thumbnail.content.startswith(b"\x89PNG")
    assert len(thumbnail.content) < 40_000


def test_a_study_has_its_failures_first_and_all_its_parts(client):
    text = page(client, "/study/small")
    assert text.index("it &lt;fails&gt;") < text.index("it holds")
    assert 'src="/study/small/file/figure.png"' in text
    assert 'id="study-chart-1"' in text
    assert "elegans reproduce made-up" in text
    assert client.get("/study/small/file/points.csv").headers["content-type"].startswith("text/csv")


def test_a_view_is_restored_from_its_url(client):
    text = page(
        client, "/store/grid?where=model.width=10&x=training.samples&y=seed&z=steps&log=x&log=z"
    )
    for part in (
        "<option selected>training.samples</option>",
        "<option selected>seed</option>",
        '<option value="steps" selected>',
        'name="log" value="x" checked',
        'name="where" value="model.width=10" checked',
        "16 of 16 runs shown",
    ):
        assert part in text, part
    assert "48 of 48" not in text


def test_axes_that_vary_are_found_without_being_named(client):
    text = page(client, "/store/grid")
    assert "<option selected>training.samples</option>" in text
    assert "<option selected>model.width</option>" in text
    assert "Wilson&#39;s" in text
    assert "49 of 49 runs shown" in text


def test_csv_is_what_is_shown(client):
    text = client.get("/store/grid/cells.csv?x=model.width&y=&where=status=done").text
    rows = [line.split(",") for line in text.splitlines()]
    assert rows[0] == ["model.width", "runs", "judged", "succeeded", "rate", "low", "high"]
    assert [row[0] for row in rows[1:]] == ["10", "30", "100"]
    runs = client.get("/store/grid/runs.csv?where=model.width=10").text.splitlines()
    assert len(runs) == 17
    assert runs[0].startswith("experiment,model.width,training.samples,seed,status,success")
    assert safe("=1+1") == "'=1+1"
    assert safe("-0.5") == "-0.5"


def test_a_cell_shows_all_seeds_and_their_median(client):
    text = page(client, f"/store/grid/cell/{A}?metric=test_loss&log=y")
    assert "4 of 4 curves shown" in text
    assert "<option selected>test_loss</option>" in text
    assert f'href="/store/grid/run/{A}/3"' in text


def test_a_failed_run_shows_why(client):
    text = page(client, f"/store/grid/run/{FAILED}/0")
    assert "ValueError: &lt;script&gt;" in text


def test_a_run_shows_python_that_repeats_it(client, grid_path):
    text = page(client, f"/store/grid/run/{A}/2")
    assert f"(stored,) = store.runs([(&#39;{A}&#39;, 2)])" in text
    assert "Look inside the network" in text


def test_runs_are_compared_by_what_differs(client):
    text = page(client, f"/compare?run=grid/{A}/0&run=grid/{B}/1")
    assert '<tr class="differs"><th scope="row">model.width</th><td>10</td><td>30</td></tr>' in text
    assert "2 of 2 runs have this curve" in text
    many = "&".join(f"run=grid/{A}/{seed}" for seed in range(9))
    assert "8 fit on one axis" in page(client, f"/compare?{many}", 400)
    assert "STORE/EXPERIMENT/SEED" in page(client, "/compare?run=grid", 400)


def test_a_network_is_shown_by_what_was_kept(client):
    text = page(
        client, f"/store/grid/run/{A}/0/network?layer=weights.layers.0.weight&step=120&neuron=1"
    )
    assert 'value="12" aria-valuetext="step 120"' in text
    assert "Fourier coefficients of the neuron" in text
    assert "attended.attention" in text
    assert "neurons 0 to 2" in page(client, f"/store/grid/run/{A}/0/network?neuron=9", 404)


@pytest.mark.parametrize(
    "path, message",
    [
        ("/nowhere", "There is no page /nowhere"),
        ("/store/gird", "Stores that are there: grid"),
        ("/study/smal", "Studies that are there: small"),
        ("/store/grid?x=model.widht", "did you mean"),
        ("/store/grid?z=speed", "There are: success"),
        (f"/store/grid/cell/{'0' * 16}", "no experiment"),
        (f"/store/grid/run/{A}/77", "Seeds that it has: 0, 1, 2, 3"),
        (f"/store/grid/run/{A}/x", "There is no page"),
        (f"/store/grid/cell/{A}?metric=speed", "test_error"),
        (f"/store/grid/cell/{A}?log=z", "There are: x, y"),
    ],
)
def test_a_page_of_an_error_says_what_is_there(client, path, message):
    answer = client.get(path)
    assert answer.status_code in (400, 404)
    assert message in answer.text.replace("&#39;", "'")
    assert 'href="/store/grid"' in answer.text


def test_a_sweep_that_is_running_is_followed(tmp_path, explored):
    path = tmp_path / "live.db"
    with Store(path) as store:
        store.register({A: experiment(10, 100)})
        store.add([run(10, 100, 0)], PROBES)
        client = explored(path)
        index = client.sources.stores["live"].index
        assert client.get("/api/v1/live/state").json()["total"] == 1
        assert client.get("/api/v1/live/state").json()["is_growing"]
        before = index.version
        store.register({B: experiment(30, 100)})
        store.add([run(10, 100, seed) for seed in (1, 2)] + [run(30, 100, 0)], PROBES)
        index._looked = 0.0  # not to wait for half a second
        state = client.get("/api/v1/live/state").json()
        assert state["total"] == state["shown"] == 4
        assert state["version"] > before
        cells = client.get("/api/v1/live/cells?x=model.width").json()["cells"]
        assert [(cell["x"], cell["runs"]) for cell in cells] == [("10", 3), ("30", 1)]
        log = path.with_name("live.db-wal")
        os.utime(log, (1, 1))  # nothing was written for years
        assert not client.get("/api/v1/live/state").json()["is_growing"]
        store.forget_other_code("none")  # removes all, and other runs come
        store.add([run(30, 100, 5)], PROBES)
        index._looked = 0.0
        cells = client.get("/api/v1/live/cells?x=model.width").json()["cells"]
        assert [(cell["x"], cell["runs"]) for cell in cells] == [("30", 1)]
    assert not log.exists()  # though the explorer looks at it
    index._looked = 0.0
    assert not client.get("/api/v1/live/state").json()["is_growing"]


def test_the_server_answers_at_its_address_and_stops(grid_path):
    with el.explore(grid_path) as explorer:
        assert explorer.url.startswith(f"http://127.0.0.1:{explorer.port}/?token=")
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert b'href="/store/grid"' in opener.open(explorer.url, timeout=10).read()
        with pytest.raises(OSError, match="Name another one with --port"):
            el.explore(grid_path, port=explorer.port)
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(explorer.url, timeout=10)


@pytest.mark.parametrize(
    "paths, message",
    [([], "name a bundle"), (["nowhere.db"], "nothing at nowhere.db"), (["."], "no bundle")],
)
def test_a_path_without_anything_to_see_is_refused(paths, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        el.explore(*paths)
    with pytest.raises(ValueError, match="0 to 65535"):
        el.explore(tmp_path, port=70_000)


def test_a_store_of_another_schema_is_refused_with_what_to_do(tmp_path, grid_path, explored):
    import sqlite3

    path = tmp_path / "old.db"
    path.write_bytes(grid_path.read_bytes())
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 1")
    connection.close()
    for paths in ([path], [tmp_path]):
        with pytest.raises(StoreError, match="has schema 1; this elegans reads schema 2"):
            listed(paths)
    (tmp_path / "new.db").write_bytes(grid_path.read_bytes())
    client = explored(tmp_path)  # the rest of a directory is shown, with what is wrong
    assert list(client.sources.stores) == ["new"]
    assert "old.db has schema 1" in page(client, "/")


def test_the_command_refuses_bad_input(tmp_path):
    script = "import sys; from elegans.cli import main; main(['explore', 'nowhere'])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 2
    assert "There is nothing at nowhere" in done.stderr


def test_the_server_starts_without_what_is_slow_to_import():
    script = (
        "import sys, elegans.explorer.app\n"
        "heavy = {'jax', 'pandas', 'scipy', 'matplotlib', 'altair', 'vl_convert'}\n"
        "heavy &= set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_missing_extra_is_named(grid_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(ValueError, match=r"pip install 'elegans\[explore\]'"):
        el.explore(grid_path)


def test_the_transform_is_the_sum_over_all_inputs():
    noise = np.random.default_rng(0)
    f = noise.standard_normal(16)
    x = 1 - 2 * (np.arange(16)[:, None] >> np.arange(4) & 1)
    expected = [
        np.mean(f * np.prod(x[:, [i for i in range(4) if s >> i & 1]], axis=1)) for s in range(16)
    ]
    np.testing.assert_allclose(spectra.walsh(f), expected, atol=1e-12)


def test_a_product_of_bits_has_one_coefficient():
    weights = np.array([0.0, 1.0, 1.0, 0.0])
    spectrum = spectra.boolean(weights, 0.0, "square")  # (x1 + x2)^2 = 2 + 2 x1 x2
    parts = dict(zip(spectrum.names, spectrum.values, strict=True))
    assert parts["{1, 2}"] == pytest.approx(2.0)
    assert parts["{}"] == pytest.approx(2.0)
    assert np.sum(np.abs(spectrum.values) > 1e-9) == 2
    assert spectra.boolean(weights, 0.0, "of my own") is None


@pytest.mark.parametrize("p", [5, 6, 7])
def test_a_wave_has_all_its_power_at_its_frequency(p):
    wave = np.cos(2 * np.pi * 2 * np.arange(p) / p + 0.3)
    spectrum = spectra.power(wave, {"type": "Cyclic", "p": p})
    assert spectrum.values.sum() == pytest.approx(1.0)
    assert spectrum.names[int(np.argmax(spectrum.values))] == "±2"
    assert spectrum.values.max() == pytest.approx(1.0)


def test_power_on_permutations_is_the_constant_the_sign_and_the_rest():
    vector = np.random.default_rng(0).standard_normal(6)
    signs = np.array([1, -1, -1, 1, 1, -1])  # of the permutations of three points, in order
    total = np.sum(vector**2)
    one, sign = np.sum(vector) ** 2 / 6 / total, (signs @ vector) ** 2 / 6 / total
    spectrum = spectra.power(vector, {"type": "Symmetric", "k": 3})
    np.testing.assert_allclose(spectrum.values, [one, sign, 1 - one - sign], rtol=1e-9)
    table = spectra.multiplication({"type": "Symmetric", "k": 3})
    rows = {"type": "CayleyTable", "rows": table.tolist()}
    np.testing.assert_allclose(spectra.power(vector, rows).values, spectrum.values, rtol=1e-9)
    assert spectra.power(vector, {"type": "Dihedral", "n": 3}) is None
