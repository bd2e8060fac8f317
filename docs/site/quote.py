"""Claims and tables of kept results inside pages; `python -m docs.site.quote` renews them.

In a page, `<!-- claims: KEY -->` stands before a list of the claims of the bundle
`docs/results/KEY/`, and `<!-- table: KEY NAME -->` before one of its tables.
So no number is copied by hand, and a test says when a page is behind its bundle.
"""

import re
from pathlib import Path

from docs.site import gallery
from elegans.report import page
from elegans.report.result import Claim, Result

PAGES = Path(__file__).parents[1]
RESULTS = PAGES / "results"
QUOTE = re.compile(r"^<!-- (claims|table): (\S+)(?: (\S+))? -->\n(?:(?:- |\|).*\n)*", re.MULTILINE)


def quoted(text: str, results: Path = RESULTS) -> str:
    """A page with all that it quotes as it is in the kept results."""

    def quote(match: re.Match[str]) -> str:
        first, _ = match[0].split("\n", 1)
        kind, key, name = match.groups()
        result = Result.read(results / key)
        return f"{first}\n{claims(result) if kind == 'claims' else table(result, name)}\n"

    return QUOTE.sub(quote, text)


def claims(result: Result) -> str:
    """The claims of a result as a list, a line each."""
    return "\n".join(
        f"- {gallery.SYMBOLS[claim.outcome]} {claim.outcome}: "
        # few signs are escaped, as the page is read as text too
        + re.sub(r"([*_<$])", r"\\\1", f"{claim.text}: {claim.measured}{reason(claim)}")
        for claim in result.claims
    )


def reason(claim: Claim) -> str:
    """Why a claim is known to fail, as the end of a sentence."""
    return f". Why: {claim.known_failure.rstrip('.')}." if claim.known_failure else ""


def table(result: Result, name: str) -> str:
    """A table of a result, its numbers as on the result's own page."""
    frame = result.tables[name]
    head = [[str(column) for column in frame.columns], ["---"] * len(frame.columns)]
    rows = [*head, *page.cells(result, name, frame)]
    lines = (" | ".join(cell.replace("|", "\\|") for cell in row) for row in rows)
    return "\n".join(f"| {line} |" for line in lines)


if __name__ == "__main__":
    for path in PAGES.glob("*.md"):
        path.write_text(quoted(path.read_text("utf-8")), "utf-8")
