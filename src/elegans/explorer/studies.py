"""The pages of bundles: the list of all that is there, a study, and its files.

A bundle's own HTML and SVG are served under a policy that lets them do nothing; its charts are
read out of its page, as data, and drawn by the explorer's own script.
"""

import io
import json
import time
from functools import lru_cache
from typing import Any

import numpy as np
from starlette.requests import Request
from starlette.responses import Response

from elegans.explorer.guard import SANDBOX
from elegans.explorer.index import Index
from elegans.explorer.records import NotThere, Records
from elegans.explorer.sources import Sources, Study, read_listed
from elegans.runs import STATUSES

Answer = tuple[str, dict[str, Any]]
CHART = 'vegaEmbed("#chart-'  # how a bundle's page begins a chart
TYPES = {"png": "image/png", "svg": "image/svg+xml", "html": "text/html", "csv": "text/csv"}
THUMBNAIL = (480, 360)
ROWS_PER_TABLE = 24
SECONDS_TO_REFRESH = 0.3


def home(sources: Sources, request: Request) -> Answer:
    """All bundles and stores."""
    studies: list[dict[str, Any]] = [
        {"study": study, "headline": study.headline(), "counts": claim_counts(study)}
        for study in sources.studies.values()
    ]
    studies.sort(key=lambda entry: (not entry["counts"]["surprises"], entry["study"].name))
    owners = {study.store for study in sources.studies.values()}
    end = time.monotonic() + SECONDS_TO_REFRESH  # for all of them together
    stores = {n: summary(s, end - time.monotonic()) for n, s in sources.stores.items()}
    return "home.html.j2", {
        "title": "elegans",
        "studies": studies,
        "refused": sources.refused,
        "stores": [entry for name, entry in stores.items() if name not in owners],
        "kept": [entry for name, entry in stores.items() if name in owners],
    }


def claim_counts(study: Study) -> dict[str, int]:
    """How many claims hold, fail, and were known to fail."""
    claims = study.headline().claims
    return {
        "claims": len(claims),
        "hold": sum(bool(claim.holds) for claim in claims),
        "fail": sum(not claim.holds and not claim.known_failure for claim in claims),
        "known": sum(not claim.holds and bool(claim.known_failure) for claim in claims),
        "surprises": sum(claim.is_surprise for claim in claims),
    }


def summary(store: Records, seconds: float = SECONDS_TO_REFRESH) -> dict[str, Any]:
    """What the list says of a store, which is brought up to date for so long at most."""
    store.index.refresh(max(0.0, seconds))
    index = store.index
    progress, known = index.progress, index.kept("totals", lambda: totals(index))
    return {
        "store": store,
        "runs": progress.all_runs,
        "experiments": progress.all_experiments,
        "read": progress.runs,
        "is_complete": progress.is_complete,
        "is_growing": store.is_growing(),
        "error": index.error,
        "axes": [(f.name, len(f.values)) for f in index.settings.varying()],
        **known,
        "last": ago(known["last"]),
    }


def totals(index: Index) -> dict[str, Any]:
    """What all runs of a store come to."""
    with index.lock:
        counts = np.bincount(index.column("status"), minlength=len(STATUSES)).tolist()
        finished, success = index.column("finished"), index.column("success")
        return {
            "statuses": dict(zip(STATUSES, counts, strict=True)),
            "last": float(np.nanmax(finished, initial=0.0)),
            "seconds": float(np.nansum(index.column("seconds"))),
            "judged": int(np.sum(~np.isnan(success))),
            "succeeded": int(np.sum(success == 1)),
        }


def ago(moment: float | None) -> str:
    """How long ago a moment was, in words."""
    if not moment or moment < 1e6:
        return "at an unknown time"
    seconds = max(0.0, time.time() - moment)
    for unit, length in (("days", 86400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{seconds:.0f} seconds ago"


def study(sources: Sources, request: Request) -> Answer:
    """A bundle: claims first, those that fail on top."""
    from elegans.report import page

    chosen = study_of(sources, request)
    result = chosen.result()
    charts = chart_specs(chosen)
    tables = {
        name: {
            "columns": list(table.columns),
            "numeric": [column.dtype.kind in "iuf" for _, column in table.items()],
            "rows": page.cells(result, name, table.head(ROWS_PER_TABLE)),
            "count": len(table),
            "file": f"{name}.csv" if f"{name}.csv" in chosen.files else "",
        }
        for name, table in result.tables.items()
    }
    stems = ["figure" if i == 1 else f"figure-{i}" for i in range(1, len(result.figures) + 1)]
    figures = [
        {
            "file": f"{stem}.png",
            "svg": f"{stem}.svg" if f"{stem}.svg" in chosen.files else "",
            "caption": result.captions.get(name, ""),
        }
        for stem, name in zip(stems, result.figures, strict=True)
        if f"{stem}.png" in chosen.files
    ]
    values = {
        "title": result.title,
        "study": chosen,
        "result": result,
        "claims": result.ordered_claims(),
        "counts": claim_counts(chosen),
        "figures": figures,
        "charts": dict(zip(result.charts, charts, strict=False)),
        "tables": tables,
        "limit": ROWS_PER_TABLE,
        "store": summary(sources.stores[chosen.store]) if chosen.store else None,
    }
    return "study.html.j2", values


def chart_specs(chosen: Study) -> list[Any]:
    """The specifications of the charts on a bundle's page."""
    if "page.html" not in chosen.files:
        return []
    text = read_listed(chosen.files["page.html"]).decode("utf-8", errors="replace")
    decoder, specs, start = json.JSONDecoder(), [], text.find(CHART)
    while start >= 0:
        begin = text.find("{", start)
        try:
            spec, end = decoder.raw_decode(text, begin)
        except (ValueError, RecursionError):
            break
        specs.append(spec)
        start = text.find(CHART, end)
    return specs


def file(sources: Sources, request: Request) -> Response:
    """A file of a bundle, as it is, unable to do anything."""
    chosen = study_of(sources, request)
    name = request.path_params["file"]
    if name not in chosen.files:
        raise NotThere(f"{chosen.name} has no file {name!r}. It has: {', '.join(chosen.files)}.")
    kind = TYPES[name.rpartition(".")[2]]
    headers = {"content-security-policy": SANDBOX}
    if kind == "text/csv":
        headers["content-disposition"] = f'attachment; filename="{chosen.name}-{ascii_name(name)}"'
    return Response(read_listed(chosen.files[name]), media_type=kind, headers=headers)


def ascii_name(name: str) -> str:
    """A file name as a header can hold it."""
    return "".join(c if (c.isalnum() and c.isascii()) or c in "._-" else "-" for c in name)


def thumbnail(sources: Sources, request: Request) -> Response:
    """The first figure of a bundle, small."""
    chosen = study_of(sources, request)
    if "figure.png" not in chosen.files:
        raise NotThere(f"{chosen.name} has no figure.")
    data = small(read_listed(chosen.files["figure.png"]))
    return Response(data, media_type="image/png", headers={"cache-control": "private, max-age=60"})


@lru_cache(maxsize=256)
def small(data: bytes) -> bytes:
    """A picture that fits a card."""
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data), formats=["PNG"]) as picture:
            picture.draft("RGB", THUMBNAIL)
            reduced = picture.convert("RGB")
            reduced.thumbnail(THUMBNAIL)
            file = io.BytesIO()
            reduced.quantize(64).save(file, "PNG", optimize=True)
            return file.getvalue()
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise ValueError(f"figure.png cannot be read: {error}") from error


def study_of(sources: Sources, request: Request) -> Study:
    """The bundle that a URL names."""
    name = request.path_params["name"]
    if name not in sources.studies:
        raise NotThere(f"There is no study {name!r}. {there('Studies', sources.studies)}")
    return sources.studies[name]


def there(what: str, names: Any) -> str:
    """A sentence with all names that there are."""
    return f"{what} that are there: {', '.join(sorted(names)) or 'none'}."
