"""The page: one file with everything inside, failures first, numbers as they are declared."""

import re

import numpy as np
import pandas as pd
import pytest
from tests.report.test_bundle import claim, result

from elegans.report import page


@pytest.fixture(scope="module")
def html(tmp_path_factory):
    directory = tmp_path_factory.mktemp("bundle")
    claims = [
        claim("it holds"),
        claim("it fails", holds=False),
        claim("known", holds=False, known_failure="too few seeds"),
    ]
    result(claims=claims).write(directory)
    return (directory / "page.html").read_text("utf-8")


def test_the_page_needs_no_network(html):
    assert not re.search(r"""(src|href)\s*=\s*["']?(https?:)?//""", html)
    assert "@import" not in html
    assert "vegaEmbed(" in html
    assert html.count("data:image/png;base64,") == 1


def test_the_page_says_what_it_is_and_how_to_make_it(html):
    for text in (
        "<title>A title &amp; more</title>",
        "A paragraph.",
        "Nowhere, Figure 0",
        "What the line is.",
        "elegans reproduce made-up",
        "1 of 3 claims hold",
        "a note",
        "prefers-color-scheme: dark",
    ):
        assert text in html, text


def test_failures_come_first_and_known_ones_have_their_reason(html):
    places = [html.index(text) for text in ("it fails", "too few seeds", "it holds")]
    assert places == sorted(places)


def test_text_of_tables_cannot_end_a_script(html):
    body = html[html.index("<body>\n<h1>") :]
    assert "&lt;/script&gt;" in body  # in the table
    assert "<\\/script>" in body  # in the chart's data
    assert body.count("<script>") == body.count("</script>") == 1


def test_numbers_have_the_formats_that_are_declared_and_none_is_guessed():
    table = pd.DataFrame(
        {"x": [0.25, np.nan], "share": [0.25, 1.0], "y": [12345, 1], "ok": [True, False]}
    )
    made_up = result(tables={"points": table}, formats={"x": ".0%", "points.y": ","})
    assert page.cells(made_up, "points", made_up.tables["points"]) == [
        ["25%", "0.25", "12,345", "yes"],
        ["–", "1", "1", "no"],
    ]
    whole = result(tables={"points": table}, formats={"points": ".1f"})
    assert page.cells(whole, "points", whole.tables["points"])[0][:2] == ["0.2", "0.2"]
