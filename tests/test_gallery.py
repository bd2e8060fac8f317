"""The gallery: small files are kept, failures are shown, what cannot be kept is refused."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from docs.site import gallery, keep, quote
from elegans.report.result import Result
from elegans.studies import catalogue
from tests.report.test_bundle import claim, result


@pytest.fixture
def bundle(tmp_path):
    """A drawn bundle of a study of the catalogue, with a failure and a large table."""
    rows = pd.DataFrame({"x": np.random.default_rng(0).random(5000)})
    points = pd.DataFrame({"x": [10, 100], "y": [0.125, 0.5], "name": ["a|b", "*c*"]})
    claims = [
        claim("width *helps*"),
        claim("nothing fails", holds=False, known_failure="noise | data"),
        claim("depth helps", holds=False),
    ]
    written = result(
        study="frontier",
        tables={"rows": rows, "points": points},
        shown=["points", "rows"],
        claims=claims,
        charts={},
        formats={"y": ".0%"},
    )
    return written.write(tmp_path / "out" / "frontier")


def test_small_files_are_kept_as_a_bundle(bundle, tmp_path):
    line = keep.keep(bundle, tmp_path / "results")
    assert line.startswith("frontier: 1 of 3 claims hold, 1 known to fail; ")
    kept = Result.read(tmp_path / "results" / "frontier")
    assert list(kept.tables) == ["points"]
    assert kept.shown == ["points"]
    assert kept.notes[-1] == "Tables that are too large for the gallery: rows."
    assert kept.claims == Result.read(bundle).claims
    files = {path.name for path in (tmp_path / "results/frontier").rglob("*") if path.is_file()}
    assert files == {"result.json", "points.csv", "figure.png"}


def test_pictures_are_narrow_and_small(tmp_path, monkeypatch):
    monkeypatch.setattr(keep, "COMPACT", [(140, 256), (70, 8)])
    monkeypatch.setattr(keep, "PICTURE_BYTES", 2000)
    noise = np.random.default_rng(0).integers(0, 255, (20, 300, 3)).astype(np.uint8)
    Image.fromarray(noise).save(tmp_path / "figure.png")
    (tmp_path / "small.png").write_bytes(keep.compact(tmp_path / "figure.png"))
    with Image.open(tmp_path / "small.png") as image:
        assert image.width in (70, 140)
    assert (tmp_path / "small.png").stat().st_size <= 2000
    Image.fromarray(np.tile(noise, (40, 1, 1))).save(tmp_path / "figure.png")
    with pytest.raises(ValueError, match="more than 2000 bytes at any width"):
        keep.compact(tmp_path / "figure.png")


def test_the_command_keeps_what_it_can_and_says_what_it_cannot(bundle, tmp_path, capsys):
    results = tmp_path / "results"
    result(study="gone", figures={}, charts={}).write(results / "gone")
    out = bundle.parent
    for study, scale in (("made-up", "quick"), ("trigrams", "laptop"), ("mixtures", "quick")):
        result(study=study, scale=scale, charts={}).write(out / study)
    (out / "mixtures" / "figure.png").unlink()
    assert keep.main([str(out), "--results", str(results)]) == 1
    printed, errors = capsys.readouterr()
    assert "the catalogue has no study 'made-up'" in printed
    assert "trigrams-laptop: 1 of 2 claims hold" in printed
    assert "gone: removed" in printed
    assert f"1 of {len(catalogue.entries())} studies have a result." in printed
    assert "mixtures has 0 pictures of 1 figures. Run: elegans draw" in errors
    assert {path.name for path in results.iterdir()} == {"frontier", "trigrams-laptop", "README.md"}
    overview = (results / "README.md").read_text("utf-8")
    assert "✗✗ FAILS: depth helps" in overview
    assert '<img src="frontier/figure.png"' in overview


def test_a_damaged_result_is_named(bundle, tmp_path, capsys):
    results = tmp_path / "results"
    keep.keep(bundle, results)
    (results / "frontier/tables/points.csv").unlink()
    out = tmp_path / "other"
    result(study="trigrams", charts={}).write(out / "trigrams")
    assert keep.main([str(out), "--results", str(results)]) == 1
    assert "frontier lacks points.csv" in capsys.readouterr().err


def test_a_directory_without_bundles_is_refused(tmp_path, capsys):
    assert keep.main([str(tmp_path)]) == 2
    assert "has no bundle" in capsys.readouterr().err


def test_failures_come_first_in_words_and_are_escaped(bundle, tmp_path):
    keep.keep(bundle, tmp_path / "results")
    gallery.write(tmp_path / "pages", tmp_path / "results")
    page = (tmp_path / "pages/frontier.md").read_text("utf-8")
    order = [page.index(text) for text in ("✗✗ FAILS", "✗ known failure", "✓ holds")]
    assert order == sorted(order)
    assert r"*Why it is known to fail:* noise \| data" in page
    assert r"width \*helps\*" in page
    assert r"| 10 | 12% | a\|b |" in page
    assert "elegans reproduce made-up" in page
    (minutes,) = [e.minutes["quick"] for e in catalogue.entries() if e.name == "frontier"]
    assert f"Declared for two cores: {minutes:g} min. This execution took 12 s; " in page
    assert "Compiled programs: 3." in page
    failures = (tmp_path / "pages/failures.md").read_text("utf-8")
    assert "depth helps" in failures
    assert "helps" not in failures.replace("depth helps", "")
    index = (tmp_path / "pages/index.md").read_text("utf-8")
    assert "1 results of 1 studies, each made by one command." in index
    assert "Of their 3 claims 1 hold and 2 fail" in index
    assert (tmp_path / "pages/thumbnails/frontier.png").exists()


def test_every_chapter_has_a_place_in_the_gallery():
    for entry in catalogue.entries():
        assert entry.module.split(".")[-2] in gallery.CHAPTERS


@pytest.mark.parametrize(
    "kept", sorted(p.parent for p in keep.RESULTS.glob("*/result.json")), ids=lambda path: path.name
)
def test_what_is_kept_is_a_small_bundle_of_the_catalogue(kept):
    content = Result.read(kept)
    assert gallery.key(content) == kept.name
    assert content.study in {entry.name for entry in catalogue.entries()}
    assert content.claims
    assert len(gallery.pictures(kept)) == len(content.figures)
    for path in kept.rglob("*"):
        assert path.stat().st_size <= keep.PICTURE_BYTES, path


def test_pages_quote_the_results_that_are_kept():
    pages = {path.name: path.read_text("utf-8") for path in quote.PAGES.glob("*.md")}
    behind = [name for name, text in pages.items() if quote.quoted(text) != text]
    assert not behind, f"python -m docs.site.quote renews {behind}"
    assert sum(len(quote.QUOTE.findall(text)) for text in pages.values()) > 5


def test_quotes_are_renewed_and_nothing_else_changes(bundle, tmp_path):
    old = "a\n<!-- claims: frontier -->\n- holds: all\n\nb\n"
    new = quote.quoted(old, bundle.parent)
    assert new.startswith("a\n<!-- claims: frontier -->\n- ✓ holds: width \\*helps\\*: ")
    assert "\n- ✗ known failure: nothing fails: " in new
    assert "5 \\< 6. Why: noise | data.\n" in new
    assert new.endswith("\n\nb\n")
    table = "<!-- table: frontier points -->\n| old |\n\nb\n"
    new = quote.quoted(table, bundle.parent)
    assert new.splitlines()[1:3] == ["| x | y | name |", "| --- | --- | --- |"]
    assert "| 10 | 12% | a\\|b |" in new
    assert new.endswith("|\n\nb\n")
    for text in (quote.quoted(old, bundle.parent), new):
        assert quote.quoted(text, bundle.parent) == text
