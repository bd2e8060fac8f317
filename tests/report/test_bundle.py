"""Bundles: what is read back is what was written, and what is not whole is refused."""

import dataclasses
import json

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from elegans.report import bundle
from elegans.report.result import Claim, Result

PICTURES = "tests.report.pictures"


def claim(text="it holds", holds=True, **more):
    return Claim(text=text, source="here", measured="5 < 6", against="6 < 5", holds=holds, **more)


def result(**changes):
    """A small result with everything in it."""
    points = pd.DataFrame(
        {"x": [0.1, 1 / 3, np.nan], "y": [1, 2, 3], "name": ["a", None, "</script>"]}
    )
    fields = {
        "study": "made-up",
        "title": "A title & more",
        "summary": "A paragraph.",
        "source": "Nowhere, Figure 0",
        "scale": "quick",
        "settings": {"n": 3, "ks": [1, 2]},
        "tables": {"points": points, "more": points.astype({"y": "Int64"})},
        "claims": [
            claim(interval=(0.5, -np.inf, 0.7)),
            claim("known", holds=False, known_failure="too few"),
        ],
        "facts": {"factor": np.float64(2.5), "limit": np.inf, "names": ("a", "b")},
        "seconds": 12.5,
        "versions": {"elegans": "0"},
        "command": "elegans reproduce made-up",
        "structures": 3,
        "notes": ["a note"],
        "figures": {"figure": f"{PICTURES}:figure"},
        "charts": {"chart": f"{PICTURES}:chart"},
        "captions": {"figure": "What the line is."},
        "formats": {"x": ".0%"},
        "shown": ["points"],
    }
    return Result(**fields | changes)


def test_a_result_is_the_same_after_a_round_trip(tmp_path):
    written = result()
    written.write(tmp_path)
    read = Result.read(tmp_path)
    assert list(read.tables) == ["points", "more"]
    for name, table in written.tables.items():
        assert_frame_equal(read.tables[name], table, check_exact=True)
    assert read.claims == written.claims
    assert read.facts == read.tables.facts == {"factor": 2.5, "limit": np.inf, "names": ["a", "b"]}
    for field in dataclasses.fields(Result):
        if field.name not in ("tables", "claims", "facts"):
            assert getattr(read, field.name) == getattr(written, field.name), field.name


def test_result_json_is_strict_and_lists_types(tmp_path):
    result().write(tmp_path)

    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    content = json.loads((tmp_path / "result.json").read_text(), parse_constant=refuse)
    assert content["tables"]["more"]["dtypes"]["y"] == "Int64"
    assert content["tables"]["points"]["rows"] == 3


def test_figures_are_drawn_in_both_formats_and_again_to_the_same_bytes(tmp_path):
    two = {"one": f"{PICTURES}:figure", "two": f"{PICTURES}:figure"}
    result(figures=two, charts={}).write(tmp_path)
    names = ["figure-2.png", "figure-2.svg", "figure.png", "figure.svg"]
    assert [path.name for path in sorted(tmp_path.glob("figure*"))] == names
    before = {name: (tmp_path / name).read_bytes() for name in names}
    for name in names:
        (tmp_path / name).unlink()
    bundle.draw(tmp_path)
    assert before == {name: (tmp_path / name).read_bytes() for name in names}


def test_a_smaller_result_leaves_nothing_of_a_larger_one(tmp_path):
    result(figures={"a": f"{PICTURES}:figure", "b": f"{PICTURES}:figure"}).write(tmp_path)
    table = {"points": result().tables["points"]}
    result(tables=table, charts={}).write(tmp_path)
    assert not (tmp_path / "figure-2.png").exists()
    assert [path.name for path in tmp_path.glob("tables/*")] == ["points.csv"]


def test_a_missing_figure_fails_before_anything_is_written(tmp_path):
    for target, message in [
        (f"{PICTURES}:figur", "has no function 'figur'"),
        ("no_such_module:figure", "No module named 'no_such_module'"),
        ("figure", 'named as "module:function"'),
    ]:
        with pytest.raises(ValueError, match=message):
            result(figures={"figure": target}).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_data_are_kept_where_a_figure_fails(tmp_path):
    with pytest.raises(KeyError, match="no table 'nothing'"):
        result(figures={"figure": f"{PICTURES}:broken"}).write(tmp_path)
    assert Result.read(tmp_path).verdict() == "1 of 2 claims hold, 1 known to fail"


def test_what_is_not_whole_is_refused(tmp_path, monkeypatch):
    with pytest.raises(bundle.BundleError, match=r"has no result\.json"):
        Result.read(tmp_path)
    result(charts={}).write(tmp_path)
    table = tmp_path / "tables" / "points.csv"
    text = table.read_text()
    table.write_text(text.replace("0.1", "0.2"))
    with pytest.raises(bundle.BundleError, match="its checksum differs"):
        Result.read(tmp_path)
    table.unlink()
    with pytest.raises(bundle.BundleError, match=r"lacks points\.csv"):
        Result.read(tmp_path)
    table.write_text(text)
    content = (tmp_path / "result.json").read_text()
    for damaged in (
        content[:50],
        content.replace('"claims"', '"clams"'),
        content.replace('"text"', '"int64"'),
        content.replace('"int64"', '"int65"'),
        "[]",
        '{"format": 1}',
    ):
        (tmp_path / "result.json").write_text(damaged)
        with pytest.raises(bundle.BundleError, match=r"result\.json is damaged"):
            Result.read(tmp_path)


def test_a_bundle_that_was_interrupted_while_written_is_not_whole(tmp_path, monkeypatch):
    result(charts={}).write(tmp_path)
    written = []

    def interrupted(path, text):
        written.append(path.name)
        if len(written) == 2:
            raise KeyboardInterrupt
        path.write_text(text)

    monkeypatch.setattr(bundle, "_replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        result(facts={"factor": 1.0}).write(tmp_path)
    with pytest.raises(bundle.BundleError, match=r"has no result\.json"):
        Result.read(tmp_path)


def test_reading_imports_nothing_that_a_bundle_names(tmp_path):
    result(charts={}).write(tmp_path)
    path = tmp_path / "result.json"
    path.write_text(path.read_text().replace(PICTURES, "no_such_module"))
    assert Result.read(tmp_path).figures == {"figure": "no_such_module:figure"}


def test_names_of_tables_are_names_of_files(tmp_path):
    with pytest.raises(ValueError, match="a table's name is the name of a file"):
        result(tables={"../points": pd.DataFrame({"x": [1]})}, charts={}).write(tmp_path)
    result(charts={}).write(tmp_path)
    path = tmp_path / "result.json"
    path.write_text(path.read_text().replace('"more": {', '"../../more": {'))
    with pytest.raises(bundle.BundleError, match="a table's name is the name of a file"):
        Result.read(tmp_path)


def test_what_is_no_plain_value_is_refused_as_a_fact():
    with pytest.raises(TypeError, match="the facts of made-up: values are numbers"):
        result(facts={"a": object()})


def test_surprises_are_failures_and_known_failures_that_hold():
    claims = {
        "holds": claim(),
        "FAILS": claim(holds=False),
        "known failure": claim(holds=False, known_failure="why"),
        "HOLDS unexpectedly": claim(holds=np.True_, known_failure="why"),
    }
    for outcome, each in claims.items():
        assert each.outcome == outcome
        assert each.is_surprise == outcome.isupper() or outcome.startswith("HOLDS")
    ordered = result(claims=list(claims.values())).ordered_claims()
    assert [each.outcome for each in ordered] == [
        "FAILS",
        "HOLDS unexpectedly",
        "known failure",
        "holds",
    ]


def test_reprs_are_short():
    shown = repr(result())
    assert shown == (
        "Result(made-up at scale quick: 1 of 2 claims hold, 1 known to fail; "
        "Tables(points (3 rows), more (3 rows)))"
    )
    assert "A title &amp; more" in result()._repr_html_()
