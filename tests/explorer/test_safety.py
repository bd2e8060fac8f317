"""What nobody may do: ask from elsewhere, write, leave the listed files, run what a store names."""

import json
import sqlite3
import sys
import time
import zlib

import pytest

from elegans.explorer import limits
from elegans.explorer.guard import POLICY, SANDBOX
from elegans.explorer.sources import listed
from elegans.runs import Run
from elegans.store.file import File, sum_of
from elegans.store.record import checksums, digest
from elegans.store.schema import StoreError
from elegans.store.store import Store

from .conftest import COOKIE, HOST, TOKEN, experiment, name

SCRIPT = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
PAGES = [
    "/",
    "/store/grid",
    "/store/grid/marginals",
    f"/store/grid/cell/{name(10, 100)}",
    f"/store/grid/run/{name(10, 100)}/0",
    f"/store/grid/run/{name(10, 100)}/0/network",
    f"/compare?run=grid/{name(10, 100)}/0&run=grid/{name(30, 100)}/0",
    "/study/small",
    "/nowhere",
    "/store/nowhere",
    "/api/v1/grid/state",
]


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:2", "localhost.evil:1", "", "127.0.0.1:1.evil"]
)
def test_another_host_is_refused(client, host):
    answer = client.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "small" not in answer.text


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_only_get_and_head_are_answered(client, method):
    answer = client.request(method, "/store/grid")
    assert answer.status_code == 405
    assert answer.headers["allow"] == "GET, HEAD"


def test_without_the_token_nothing_is_said(explored, grid_path):
    client = explored(grid_path, cookies=False)
    for path in (*PAGES, "/static/style.css", "/?token=wrong", "/?token="):
        answer = client.get(path)
        assert answer.status_code == 403
        assert "grid" not in answer.text
    client.cookies.set(COOKIE, "wrong")
    assert client.get("/").status_code == 403


def test_the_token_becomes_a_cookie_and_leaves_the_address(explored, grid_path):
    client = explored(grid_path, cookies=False)
    answer = client.get("/store/grid", params={"x": "model.width", "token": TOKEN})
    assert answer.status_code == 303
    assert answer.headers["location"] == "/store/grid?x=model.width"
    parts = answer.headers["set-cookie"].split("; ")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(parts)
    assert client.get("/store/grid").status_code == 200
    elsewhere = client.get(f"http://{HOST}//evil.example/?token={TOKEN}")
    assert elsewhere.headers["location"].startswith("/evil")


@pytest.mark.parametrize("path", PAGES)
def test_every_answer_has_the_policy_and_no_other_origin_may_read_it(client, path):
    answer = client.get(path, headers={"origin": "http://evil.example"})
    assert answer.headers["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert "style=" not in answer.text
    assert "onclick" not in answer.text


@pytest.mark.parametrize("file", ["page.html", "figure.svg", "figure.png"])
def test_files_of_a_bundle_can_do_nothing(client, file):
    answer = client.get(f"/study/small/file/{file}")
    assert answer.status_code == 200
    assert answer.headers["content-security-policy"] == SANDBOX
    assert SANDBOX.startswith("sandbox;")
    assert "script-src" not in SANDBOX


@pytest.mark.parametrize(
    "file",
    [
        "../result.json",
        "..%2fresult.json",
        "result.json",
        "runs.db",
        "%2e%2e/%2e%2e/etc/passwd",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "figure.png%00",
        "tables%2frates.csv",
        "secret.csv",
    ],
)
def test_nothing_outside_the_list_is_served(client, file):
    assert client.get(f"/study/small/file/{file}").status_code == 404
    assert client.get(f"/static/{file}").status_code == 404


def test_symbolic_links_are_not_followed(tmp_path, bundle_path, explored, grid_path):
    directory = tmp_path / "out" / "linked"
    directory.mkdir(parents=True)
    for file in ("result.json", "page.html"):
        (directory / file).write_bytes((bundle_path / file).read_bytes())
    secret = tmp_path / "secret.csv"
    secret.write_text("secret")
    (directory / "tables").symlink_to(bundle_path / "tables")
    (directory / "figure.png").symlink_to(secret)
    (directory / "secret.csv").symlink_to(secret)
    (tmp_path / "out" / "link.db").symlink_to(grid_path)
    (tmp_path / "out" / "elsewhere").symlink_to(bundle_path)
    client = explored(tmp_path / "out")
    assert list(client.sources.stores) == []
    assert list(client.sources.studies) == ["linked"]
    for file in ("figure.png", "secret.csv", "points.csv"):
        assert client.get(f"/study/linked/file/{file}").status_code == 404
    (directory / "page.html").unlink()  # after the list was made
    (directory / "page.html").symlink_to(secret)
    assert client.get("/study/linked/file/page.html").status_code == 400


def hostile(path, width=SCRIPT, text=None, blob=None):
    """A store of one run whose settings, texts and arrays are somebody else's."""
    with Store(path) as store:
        plain = text or experiment(width, 1).replace('"MLP"', '"hostile_module:Model"')
        store.register({"a" * 16: plain, "b" * 16: experiment(1, 1)})
        run = Run(
            source="",
            hash="a" * 16,
            seed=0,
            status="failed",
            traceback=SCRIPT,
            host=SCRIPT,
            versions=json.dumps({SCRIPT: SCRIPT}),
        )
        store.add([run])
    if blob is not None:
        file = File(path, readonly=False)
        with file.writing():
            sums = digest(1, "history", blob)
            file.rows(
                "INSERT INTO arrays (run, kind, checksum, data) VALUES (1, 'history', ?, ?)",
                sums,
                blob,
            )
            file.rows("UPDATE runs SET arrays = ? WHERE id = 1", sum_of([(b"history", sums)]))
            (block,) = file.blocks([1])
            file.rows("UPDATE runs SET checksum = ? WHERE id = 1", checksums([block.rows[0]])[0])
        file.close()
    return path


def test_text_of_a_store_is_text_on_every_page(tmp_path, explored):
    client = explored(hostile(tmp_path / "hostile.db"))
    a = "a" * 16
    pages = [
        "/",
        "/store/hostile",
        "/store/hostile/marginals?part=1",
        f"/store/hostile/cell/{a}",
        f"/store/hostile/run/{a}/0",
        f"/compare?run=hostile/{a}/0&run=hostile/{a}/0",
        "/store/hostile?x=model.width",
        f"/store/hostile?where={SCRIPT}=1",
        f"/store/{SCRIPT}",
        f"/store/hostile?x={SCRIPT}",
    ]
    for page in pages:
        text = client.get(page).text
        assert "<script>alert" not in text
        assert "<img src=x" not in text
    csv = client.get("/store/hostile/runs.csv").text
    assert SCRIPT in csv  # as text, in a file to keep


def test_a_type_of_a_store_is_never_imported(tmp_path, explored, monkeypatch):
    (tmp_path / "hostile_module.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    client = explored(hostile(tmp_path / "hostile.db"))
    for page in (
        "/store/hostile",
        f"/store/hostile/run/{'a' * 16}/0",
        f"/store/hostile/cell/{'a' * 16}",
    ):
        assert client.get(page).status_code == 200
    assert "hostile_module" not in sys.modules


@pytest.mark.parametrize(
    "blob, message",
    [
        (zlib.compress(b"0" * 2**28), "more than 67,108,864 bytes"),  # 256 kB that become 256 MB
        (b"not compressed", "not one of columns"),
        (zlib.compress(b'[["step", "O8", [1], false]]\n12345678'), "dtype"),
        (zlib.compress(b'[["step", "<f8", [99999999999], false]]\n'), "ends at"),
        (zlib.compress(b"[" * 100_000 + b"\n"), "not one of columns"),
    ],
    ids=["bomb", "noise", "object", "size", "nesting"],
)
def test_a_blob_that_explodes_is_a_line_on_a_page(tmp_path, explored, blob, message):
    client = explored(hostile(tmp_path / "hostile.db", width=4, blob=blob))
    answer = client.get(f"/store/hostile/run/{'a' * 16}/0")
    assert answer.status_code == 400
    assert message in answer.text
    assert client.get("/store/hostile").status_code == 200


def test_settings_nested_too_deeply_count_as_damaged(tmp_path, explored):
    text = '{"a":' * 50_000 + "1" + "}" * 50_000
    client = explored(hostile(tmp_path / "hostile.db", text=text))
    assert client.get("/api/v1/hostile/state").json()["statuses"]["damaged"] == 1


def test_a_store_is_opened_to_read(client, grid_path):
    records = client.sources.stores["grid"]
    with records._file.reading(), pytest.raises(sqlite3.OperationalError, match="readonly"):
        records._file.rows("DELETE FROM runs")


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


def test_a_statement_that_never_ends_is_stopped(client, monkeypatch):
    monkeypatch.setattr(limits, "SECONDS_OF_COMPUTING", 0.05)
    records = client.sources.stores["grid"]
    with pytest.raises(limits.Timeout, match=r"0\.05 s of computing"), records.reading():
        records._file.rows(f"{ENDLESS} SELECT count(*) FROM n")


def test_a_store_with_an_endless_view_for_a_table_is_a_line_on_a_page(
    tmp_path, explored, grid_path, monkeypatch
):
    monkeypatch.setattr(limits, "SECONDS_OF_COMPUTING", 0.05)
    path = tmp_path / "endless.db"
    path.write_bytes(grid_path.read_bytes())
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE totals")
        connection.execute(
            f"CREATE VIEW totals AS {ENDLESS} SELECT 'runs' AS name, i AS number FROM n"
        )
    connection.close()
    client = explored(path)
    answer = client.get("/store/endless")
    assert answer.status_code == 200
    assert "stopped after 0.05 s of computing" in answer.text


def test_time_in_which_nothing_is_computed_does_not_count(client, monkeypatch):
    """A busy machine: the statement waits ten times as long as it may compute."""
    monkeypatch.setattr(limits, "SECONDS_OF_COMPUTING", 0.05)
    monkeypatch.setattr(limits, "STEPS_BETWEEN_CHECKS", 10)
    records = client.sources.stores["grid"]
    with records.reading():
        records._file.connection.create_function("wait", 1, lambda _: time.sleep(0.05))
        query = f"{ENDLESS} SELECT count(wait(i)) FROM (SELECT i FROM n LIMIT 10)"
        assert records._file.rows(query) == [(0,)]


def test_what_is_not_a_store_is_refused_at_the_start(tmp_path):
    (tmp_path / "text.db").write_text("no")
    with pytest.raises(StoreError, match="not a store"):
        listed([tmp_path / "text.db"])
    with sqlite3.connect(tmp_path / "other.db") as connection:
        connection.execute("CREATE TABLE a (b)")
    connection.close()
    with pytest.raises(StoreError, match="not a store of elegans"):
        listed([tmp_path / "other.db"])
