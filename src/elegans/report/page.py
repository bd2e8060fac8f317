"""A page for the browser: a result in one file that needs no network, light or dark.

The text comes from `page.html.j2`. Charts are Vega-Lite; their scripts, the figures and the styles
are inside the file, and tables are shown by their first rows. A number is shown in the format
that the study declares for its column, never in one that is guessed from its values.
"""

import base64
import json
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

import jinja2
import pandas as pd

from elegans.durations import duration
from elegans.report.result import Result
from elegans.report.words import cell

ROWS_PER_TABLE = 24


def render(result: Result, images: Mapping[str, bytes], charts: Mapping[str, Any]) -> str:
    """The page: HTML with everything inside.

    Args:
        result: What it is about.
        images: PNG files by the name of their figure.
        charts: Altair charts by name.
    """
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    source = resources.files("elegans.report").joinpath("page.html.j2").read_text("utf-8")
    return environment.from_string(source).render(
        result=result,
        claims=result.ordered_claims(),
        images={name: base64.b64encode(data).decode() for name, data in images.items()},
        charts={name: chart_json(chart) for name, chart in charts.items()},
        scripts=vega_scripts() if charts else "",
        tables={
            name: {
                "rows": cells(result, name, table.head(ROWS_PER_TABLE)),
                "columns": list(table.columns),
                "numeric": [column.dtype.kind in "iuf" for _, column in table.items()],
                "count": len(table),
            }
            for name, table in result.tables.items()
        },
        limit=ROWS_PER_TABLE,
        duration=duration(result.seconds),
    )


def cells(result: Result, name: str, table: pd.DataFrame) -> list[list[str]]:
    """The cells of a table as text, row by row, in the result's formats."""
    columns = [
        [cell(value, format_of(result, name, values)) for value in values.tolist()]
        for _, values in table.items()
    ]
    return [list(row) for row in zip(*columns, strict=True)]


def format_of(result: Result, table: str, column: pd.Series) -> str:
    """The format that is declared for "table.column", the column, or the floats of the table."""
    formats = result.formats
    names = [f"{table}.{column.name}", str(column.name)]
    names += [table] if column.dtype.kind == "f" else []
    return next((formats[name] for name in names if name in formats), "")


def chart_json(chart: Any) -> str:
    """The specification of a chart, safe inside a script element."""
    import altair as alt

    with alt.data_transformers.enable("default", max_rows=None):
        text = json.dumps(chart.to_dict(), allow_nan=False)
    return text.replace("</", "<\\/")


@lru_cache(maxsize=1)
def vega_scripts() -> str:
    """Vega, Vega-Lite and their embedding as one script."""
    import altair as alt
    import vl_convert

    version = ".".join(alt.SCHEMA_VERSION.split(".")[:2])
    bundled: Any = vl_convert.javascript_bundle
    script: str = bundled(vl_version=version)  # the type stubs ask for a snippet
    return script.replace("</script", "<\\/script")
