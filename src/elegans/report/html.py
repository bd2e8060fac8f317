"""Pages for the browser: one self-contained file, which needs no network."""

import base64
import html
from pathlib import Path
from typing import Any

from elegans.studies.study import Result, Study

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 1040px; color: #222; }
h1 { font-size: 1.5rem; margin-bottom: 0; } p.sub { color: #666; margin-top: .2rem; }
table { border-collapse: collapse; margin: 1rem 0 2rem; } td, th { padding: .35rem .8rem;
text-align: left; border-bottom: 1px solid #ddd; vertical-align: top; font-size: .92rem; }
.holds { color: #1a7f37; font-weight: 600; white-space: nowrap; }
img { max-width: 100%; }
.fails { color: #b42318; font-weight: 600; white-space: nowrap; }
"""


def write(study: Study, result: Result, chart: Any, figure: Path, path: Path) -> Path:
    """Writes the study's page: its claims, the chart with all scripts inside, and the figure."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scripts, head, body = chart.to_html(inline=True).rpartition("</head>")
    style = f"<title>{html.escape(study.name)}</title><style>{STYLE}</style>"
    body = body.replace("<body>", f"<body>{_introduction(study, result)}", 1)
    picture = base64.b64encode(figure.read_bytes()).decode()
    image = f'<h2>The figure</h2><img alt="{study.name}" src="data:image/png;base64,{picture}">'
    page, end, rest = f"{scripts}{style}{head}{body}".rpartition("</body>")
    path.write_text(f"{page}{image}{end}{rest}", encoding="utf-8")
    return path


def _introduction(study: Study, result: Result) -> str:
    rows = "".join(
        f'<tr><td class="{"holds" if claim.holds else "fails"}">'
        f"{'✓ holds' if claim.holds else '✗ fails'}</td>"
        f"<td>{html.escape(claim.text)}<br><small>{html.escape(claim.source)}</small></td>"
        f"<td>{html.escape(claim.measured)}</td></tr>"
        for claim in result.claims
    )
    return (
        f"<h1>{html.escape(study.name)}</h1>"
        f'<p class="sub">{html.escape(study.reproduces)}. Scale: {result.scale}.</p>'
        f"<table><tr><th></th><th>claim</th><th>measured</th></tr>{rows}</table>"
        f"{_tables(result)}"
    )


def _tables(result: Result) -> str:
    """The tables of the summary that are text; those of numbers are what the chart shows."""
    return "".join(
        f"<h3>{html.escape(title)}</h3>{frame.reset_index().to_html(index=False, border=0)}"
        for title, frame in result.summary.items()
        if all(isinstance(value, str) for value in frame.to_numpy().ravel())
    )
