"""`elegans status`: what it says, and what it does not say."""

import json

import pytest

from elegans.commands.status import main

from .conftest import PROBES, make_failure, make_run


@pytest.fixture
def status(capsys):
    """Runs the command on a store; its exit code and output."""

    def status(store, *options):
        store.close()
        code = main([str(store.path), *options])
        return code, capsys.readouterr().out

    return status


def test_runs_are_counted_by_status_and_version(make, status):
    store = make(versions='{"elegans": "0.2", "code": "aa"}')
    store.add([make_run(4, 5, status="diverged", versions='{"elegans": "0.1"}')], PROBES)
    code, out = status(store)
    assert code == 0
    assert "5 runs of 2 experiments" in out
    assert "4 done, 1 diverged, 0 failed; 5 succeeded" in out
    assert "4 made by elegans 0.2, code aa\n1 made by elegans 0.1\n" in out
    assert "damaged" not in out
    summary = json.loads(status(store, "--json")[1])
    assert (summary["runs"], summary["damaged"], summary["succeeded"]) == (5, 0, 5)
    assert sorted(summary["versions"].values()) == [1, 4]


def test_without_a_stop_rule_nothing_is_said_of_success(make, status):
    store = make(success=None)
    code, out = status(store)
    assert (code, "succe" in out) == (0, False)
    assert json.loads(status(store, "--json")[1])["succeeded"] is None


def test_failures_are_shown_with_a_traceback(make, status):
    store = make()
    store.add([make_failure(4, 5), make_failure(8, 5)])
    code, out = status(store)
    assert code == 1
    assert "4 done, 0 diverged, 2 failed; 4 succeeded" in out
    assert "2 x ValueError: no" in out
    assert "Traceback ...\nValueError: no" in out


def test_damaged_runs_are_counted(make, status):
    store = make()
    with store._file.writing():
        store._file.rows("UPDATE runs SET steps = 7 WHERE id = 2")
    code, out = status(store)
    assert code == 1
    assert "3 done, 0 diverged, 0 failed, 1 damaged; 3 succeeded" in out
    assert "a sweep does them again" in out
