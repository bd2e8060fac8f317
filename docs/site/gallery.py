"""The gallery's pages, written from the bundles under `docs/results`; no study is imported."""

import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from PIL import Image

from elegans.report.page import cells, duration
from elegans.report.result import Claim, Result
from elegans.studies import catalogue

# The packages of studies, with the title of their chapter and its page.
CHAPTERS = {
    "pareto": ("Pareto frontiers", "frontier.md"),
    "progress": ("Hidden progress", "hidden-progress.md"),
    "attention": ("Variable creation", "variable-creation.md"),
    "groups": ("Feature emergence", "feature-emergence.md"),
    "induction": ("Induction heads", "induction.md"),
    "sparse_activation": ("Sparse activations", "sparse-activations.md"),
    "tables": ("Tables", "tabular.md"),
}
QUICK = "quick"
THUMBNAIL = (480, 320)  # pixels, at most
ROWS_SHOWN = 12
SYMBOLS = {"holds": "✓", "known failure": "✗", "FAILS": "✗✗", "HOLDS unexpectedly": "✓✗"}


def escape(text: str) -> str:
    """Plain text as Markdown that shows just that."""
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~$^:&])", r"\\\1", " ".join(text.split()))


def key(result: Result) -> str:
    """The name of a result's directory and page: that of its study, with any scale but quick."""
    return result.study if result.scale == QUICK else f"{result.study}-{result.scale}"


def heading(result: Result) -> str:
    """The title of a study as Markdown, with any scale but quick."""
    return escape(result.title) + (f" (scale {result.scale})" if result.scale != QUICK else "")


def declared(result: Result) -> str:
    """The minutes that the catalogue states for the result's study and scale."""
    (entry,) = [entry for entry in catalogue.entries() if entry.name == result.study]
    return f"{entry.minutes[result.scale]:g} min"


def pictures(directory: Path) -> list[Path]:
    """The pictures of a bundle: `figure.png`, `figure-2.png` and so on."""
    return sorted(directory.glob("figure*.png"), key=lambda path: (len(path.stem), path.stem))


def chapters(results: Path) -> dict[str, list[Result]]:
    """The results that are kept, by chapter, in the order of the catalogue."""
    kept: dict[str, list[Result]] = {name: [] for name in CHAPTERS}
    for entry in catalogue.entries():
        chapter = entry.module.split(".")[-2]
        if chapter not in kept:
            raise ValueError(
                f"The study {entry.name} is of the chapter {chapter!r}, which the gallery does not "
                f"know; CHAPTERS in {__file__} has {', '.join(CHAPTERS)}."
            )
        for scale in entry.minutes:
            path = results / (entry.name if scale == QUICK else f"{entry.name}-{scale}")
            if path.exists():
                kept[chapter].append(Result.read(path))
    return kept


def counted(results: Sequence[Result]) -> str:
    """How many results there are, and how many of their claims hold."""
    claims = [claim for result in results for claim in result.claims]
    holding = sum(claim.holds for claim in claims)
    return (
        f"{len(results)} results of {len({result.study for result in results})} studies, each made "
        f"by one command. Of their {len(claims)} claims {holding} hold and "
        f"{len(claims) - holding} fail"
    )


def overview(kept: dict[str, list[Result]]) -> str:
    """The gallery as one page for a reader of the repository."""
    results = [result for chapter in kept.values() for result in chapter]
    lines = ["# Results", "", f"{counted(results)}. `make docs` makes a gallery of them, with the"]
    lines += ["reasons of each failure; `make gallery FROM=out` keeps new ones here.", ""]
    for chapter, studies in kept.items():
        if studies:
            lines += [
                f"## {CHAPTERS[chapter][0]}",
                "",
                "| study | claims | figure |",
                "|---|---|---|",
            ]
        for result in studies:
            failing = [claim for claim in result.ordered_claims() if not claim.holds]
            claims = "<br>".join(
                [verdict(result)]
                + [f"{SYMBOLS[c.outcome]} {c.outcome}: {escape(c.text)}" for c in failing]
            )
            image = f'<img src="{key(result)}/figure.png" width="320" alt="{key(result)}">'
            lines += [f"| `{key(result)}`<br>{heading(result)} | {claims} | {image} |"]
        lines += [""] if studies else []
    return "\n".join(lines)


def index(kept: dict[str, list[Result]]) -> str:
    """The page of all results: what fails, then a card per study."""
    results = [result for chapter in kept.values() for result in chapter]
    missing = len(catalogue.entries()) - sum(result.scale == QUICK for result in results)
    lines = [
        "# Gallery",
        "",
        f"{counted(results)}; a card says how many of its own hold, and [what fails](failures.md) "
        "is a page of its own.",
        "",
    ]
    if missing:
        lines += [f"Studies of the catalogue without a result here: {missing}.", ""]
    for chapter, studies in kept.items():
        if not studies:
            continue
        title, page = CHAPTERS[chapter]
        lines += [f"## {title}", "", f"The chapter's page: [{page}](../{page}).", ""]
        lines += ["::::{container} cards", *(line for s in studies for line in card(s)), "::::", ""]
    listed = [f"{key(result)} <{key(result)}>" for result in results]
    lines += ["```{toctree}", ":hidden:", "", "failures", *listed, "```", ""]
    return "\n".join(lines)


def card(result: Result) -> list[str]:
    """A study as a small picture, its title and how many of its claims hold."""
    return [
        ":::{container} card",
        f"```{{image}} thumbnails/{key(result)}.png",
        f":alt: The figure of {key(result)}",
        f":target: {key(result)}.html",
        ":loading: lazy",
        "```",
        "",
        f"[{heading(result)}]({key(result)}.md)",
        "",
        verdict(result),
        ":::",
        "",
    ]


def verdict(result: Result) -> str:
    """How many claims hold, with a symbol that says whether all do."""
    symbol = "✓" if all(claim.holds for claim in result.claims) else "✗"
    return f"{symbol} {escape(result.verdict())}"


def failures(kept: dict[str, list[Result]]) -> str:
    """The page of all claims that do not hold."""
    results = [result for chapter in kept.values() for result in chapter]
    lines = [
        "# What fails",
        "",
        "Claims of the documents, or of ours, that do not hold. A *known failure* "
        "is declared in the study, with its reason; any other surprise ends its command with "
        "status 1.",
        "",
    ]
    for result in results:
        failing = [claim for claim in result.ordered_claims() if not claim.holds]
        if failing:
            lines += [f"## [{heading(result)}]({key(result)}.md)", ""]
            lines += [line for claim in failing for line in claim_lines(claim)]
    return "\n".join(lines)


def claim_lines(claim: Claim) -> list[str]:
    """A claim with its outcome in words, what was measured, and what would have counted against."""
    kind = "surprise" if claim.is_surprise else "holds" if claim.holds else "known"
    lines = [
        f":::{{container}} claim {kind}",
        f"**{SYMBOLS[claim.outcome]} {claim.outcome}:** {escape(claim.text)}",
        "",
        f"*Measured:* {escape(claim.measured)}",
        "",
        f"*Would have counted against it:* {escape(claim.against)}",
        "",
    ]
    if claim.known_failure:
        lines += [f"*Why it is known to fail:* {escape(claim.known_failure)}", ""]
    return [*lines, f"*Source:* {escape(claim.source)}", ":::", ""]


def page(result: Result, files: Sequence[str]) -> str:
    """The page of a study: picture, claims, command, minutes, versions, tables."""
    lines = [f"# {heading(result)}", ""]
    lines += [f"{escape(result.source)}; study `{result.study}` at scale `{result.scale}`.", ""]
    lines += [escape(result.summary), ""]
    for name, file in zip(result.figures, files, strict=True):
        caption = result.captions.get(name, result.title)
        lines += [f":::{{figure}} ../results/{key(result)}/{file}"]
        lines += [f":alt: {caption}", "", escape(caption), ":::", ""]
    lines += [f"## Claims: {escape(result.verdict())}", ""]
    lines += [line for claim in result.ordered_claims() for line in claim_lines(claim)]
    lines += ["## How to make it again", "", "```", result.command, "```", ""]
    lines += [
        f"Declared for two cores: {declared(result)}. This execution took "
        f"{duration(result.seconds)}; runs that were in its store before are not counted. "
        f"Compiled programs: {result.structures}.",
        "",
    ]
    lines += [f"{escape(note)}\n" for note in result.notes]
    versions = ", ".join(f"{name} {version}" for name, version in result.versions.items())
    lines += [f"Versions: {escape(versions)}", ""]
    settings = json.dumps(dict(result.settings), default=str)
    lines += ["Settings:", "", "```json", settings, "```", ""]
    return "\n".join([*lines, *tables(result)])


def tables(result: Result) -> list[str]:
    """The small tables of a result: those that a terminal prints, and all as files."""
    lines = ["## Tables", ""] if result.tables else []
    for name, table in result.tables.items():
        path = f"../results/{key(result)}/tables/{name}.csv"
        lines += [f"{{download}}`{name}.csv <{path}>`, {len(table)} rows"]
        lines += [f"({escape(result.captions[name])})" if name in result.captions else "", ""]
        if name in result.shown and len(table) <= ROWS_SHOWN:
            rows = [list(table.columns), *cells(result, name, table)]
            lines += [_row(rows[0]), "|" + "---|" * len(table.columns), *map(_row, rows[1:]), ""]
    return lines


def _row(texts: Sequence[str]) -> str:
    return "| " + " | ".join(escape(str(text)) for text in texts) + " |"


def write(directory: Path, results: Path) -> None:
    """Writes all pages anew, with thumbnails of the pictures."""
    kept = chapters(results)
    shutil.rmtree(directory, ignore_errors=True)
    (directory / "thumbnails").mkdir(parents=True)
    texts = {"index": index(kept), "failures": failures(kept)}
    for result in (result for chapter in kept.values() for result in chapter):
        paths = pictures(results / key(result))
        texts[key(result)] = page(result, [path.name for path in paths])
        with Image.open(paths[0]) as image:
            image = image.convert("RGB")
            image.thumbnail(THUMBNAIL)
            image.save(directory / "thumbnails" / f"{key(result)}.png", optimize=True)
    for name, text in texts.items():
        (directory / f"{name}.md").write_text(text, encoding="utf-8")
