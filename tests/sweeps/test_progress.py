import io
import re

from rich.console import Console

from elegans.sweeps.progress import Bar, Tally


def row(rate, *, success=True, status="done"):
    return {"training.learning_rate": rate, "seed": 0, "status": status, "success": success}


def shown(bar, rows):
    with bar.of(10, 4):
        for each in rows:
            bar.done(each, 90.0)
    return bar.console.file.getvalue()


def test_where_there_is_no_terminal_a_line_says_how_far_it_is():
    out = shown(Bar(every=0.0, console=Console(file=io.StringIO(), width=40)), [row(0.1)])
    assert out.startswith("5 of 10 runs done (4 before), 0 failed, 5 left, ")
    assert out.endswith(" runs/s, 90 s to go; learning_rate 0.1: 1 of 1 succeeded\n")
    assert out.count("\n") == 1


def test_where_there_is_no_terminal_lines_are_a_minute_apart():
    assert shown(Bar(console=Console(file=io.StringIO())), [row(0.1)] * 5) == ""


def test_a_terminal_shows_the_success_rate_of_the_last_cells():
    rows = [row(0.1), row(0.2), row(0.1, success=False), row(0.2, success=None, status="failed")]
    out = shown(Bar(console=Console(file=io.StringIO(), force_terminal=True, width=100)), rows)
    assert "8 of 10 runs done (4 before), 1 failed, 2 left" in out
    for rate in ("0.1", "0.2"):
        assert re.search(rf"learning_rate {rate}\S*  1 of 2 succeeded", out)


def test_only_the_newest_cells_are_shown():
    tally = Tally(100, 0)
    for i in range(20):
        tally.add(row(i), None)
    tally.add(row(0), None)
    assert [point for point, _ in tally.recent()][-2:] == ["learning_rate 19", "learning_rate 0"]
    assert len(tally.recent()) == 6
