"""The pages of single experiments and runs: all seeds of one, one run, and several side by side."""

import json
from typing import Any

from starlette.requests import Request

from elegans.explorer import charts
from elegans.explorer.cells import wilson
from elegans.explorer.curves import MAX_CURVES, Curve, band, scalars
from elegans.explorer.index import Index
from elegans.explorer.network import layers
from elegans.explorer.pages import run_entry, store_of
from elegans.explorer.query import MAX_DIGITS, refuse, shown_value
from elegans.explorer.records import NotThere, Record, Records
from elegans.explorer.sources import Sources
from elegans.explorer.studies import Answer, ago
from elegans.runs import METRICS
from elegans.store.fields import flattened

MAX_COMPARED = 8
CHARTS_OF_A_RUN = ("error", "loss")
MAX_PROBE_CHARTS = 12
ROWS_OF_A_TABLE = 50


def cell(sources: Sources, request: Request) -> Answer:
    """An experiment: all its seeds."""
    records = store_of(sources, request)
    name = request.path_params["experiment"]
    settings = records.experiment(name)
    records.index.refresh(0.2)
    rows = seeds(records.index, name)
    with records.reading():
        histories = {
            row["seed"]: scalars(records.arrays(row["run"], "history")) for row in rows[:MAX_CURVES]
        }
    measures = list(dict.fromkeys(m for curves in histories.values() for m in curves))
    metric = request.query_params.get("metric") or _preferred(measures)
    if metric and metric not in measures:
        refuse("metric", metric, measures)
    curves = {f"seed {s}": c[metric] for s, c in histories.items() if metric in c}
    log = logs(request)
    judged = [s for s in (row["metrics"]["success"] for row in rows) if s is not None]
    return "cell.html.j2", {
        "title": f"Experiment {name}",
        "store": records,
        "name": name,
        "varied": varied(records, name),
        "settings": described(settings),
        "rows": rows,
        "rate": wilson(sum(judged), len(judged)) if judged else None,
        "judged": len(judged),
        "metrics": METRICS,
        "measures": measures,
        "metric": metric,
        "log": log,
        "shown": len(curves),
        "total": len(rows),
        "chart_spec": charts.curves_chart(
            curves, metric, log=log, summary=band(list(curves.values())), is_faint=len(curves) > 1
        )
        if curves
        else None,
    }


def seeds(index: Index, name: str) -> list[dict[str, Any]]:
    """The runs of an experiment, given by hash, by seed."""
    with index.lock:
        return [run_entry(index, row, []) for row in index.seeds_of(name).tolist()]


def run(sources: Sources, request: Request) -> Answer:
    """A run: what it was, what came out, and how to repeat it."""
    records = store_of(sources, request)
    record = records.record(request.path_params["experiment"], request.path_params["seed"])
    history = scalars(records.arrays(record.number, "history"))
    log = logs(request)
    pictures = {}
    for word in CHARTS_OF_A_RUN:
        group = {n.replace("_", " "): c for n, c in history.items() if n.endswith(f"_{word}")}
        if group:
            pictures[word] = charts.curves_chart(group, word, log=log)
    probes = scalars(records.probes(record))
    table = records.arrays(record.number, "table")
    return "run.html.j2", {
        "title": f"Run {record.run.hash}, seed {record.run.seed}",
        "store": records,
        "record": record,
        "run": record.run,
        "varied": varied(records, record.run.hash),
        "finished": ago(record.run.finished),
        "metrics": records.metrics(record),
        "settings": described(record.settings),
        "versions": versions(record),
        "log": log,
        "charts": pictures,
        "history": rows_of(records.arrays(record.number, "history")),
        "probes": charts.small_charts(dict(list(probes.items())[:MAX_PROBE_CHARTS]))
        if probes
        else None,
        "probe_values": {name: curve.value[-1].item() for name, curve in probes.items()},
        "max_probe_charts": MAX_PROBE_CHARTS,
        "layers": {name: layer.shape for name, layer in layers(records, record).items()},
        "table": rows_of(table),
        "code": code(records, record),
    }


def compare(sources: Sources, request: Request) -> Answer:
    """Up to eight runs: where their settings differ, and their curves on one axis."""
    names = list(dict.fromkeys(request.query_params.getlist("run")))
    if not names:
        raise ValueError("compare: name runs as ?run=STORE/EXPERIMENT/SEED, up to eight of them.")
    if len(names) > MAX_COMPARED:
        raise ValueError(f"compare: {len(names)} runs are named; {MAX_COMPARED} fit on one axis.")
    chosen = [named_run(sources, name) for name in names]
    flat = [flattened(record.settings) for _, record in chosen]
    fields = list(dict.fromkeys(name for one in flat for name in one))
    texts = {f: [shown_value(one[f]) if f in one else "–" for one in flat] for f in fields}
    histories = [scalars(store.arrays(record.number, "history")) for store, record in chosen]
    measures = list(dict.fromkeys(m for curves in histories for m in curves))
    metric = request.query_params.get("metric") or _preferred(measures)
    if metric and metric not in measures:
        refuse("metric", metric, measures)
    labels = [f"{i}: {short(texts, i - 1)}seed {r.run.seed}" for i, (_, r) in enumerate(chosen, 1)]
    curves: dict[str, Curve] = {
        label: history[metric]
        for label, history in zip(labels, histories, strict=True)
        if metric in history
    }
    log = logs(request)
    return "compare.html.j2", {
        "title": f"{len(names)} runs",
        "names": names,
        "runs": [{"store": store, "record": record, "run": record.run} for store, record in chosen],
        "differences": {f: row for f, row in texts.items() if len(set(row)) > 1},
        "same": {f: row[0] for f, row in texts.items() if len(set(row)) == 1},
        "metrics": METRICS,
        "measures": measures,
        "metric": metric,
        "log": log,
        "chart_spec": charts.curves_chart(curves, metric, log=log) if curves else None,
        "shown": len(curves),
        "total": len(chosen),
    }


def named_run(sources: Sources, name: str) -> tuple[Records, Record]:
    """The run that "STORE/EXPERIMENT/SEED" names."""
    store, _, rest = name.partition("/")
    experiment, _, seed = rest.rpartition("/")
    if not experiment or not seed.isdecimal() or len(seed) > MAX_DIGITS:
        raise ValueError(f"run={name}: a run is named STORE/EXPERIMENT/SEED.")
    if store not in sources.stores:
        raise NotThere(f"run={name}: there is no store {store!r}.")
    return sources.stores[store], sources.stores[store].record(experiment, int(seed))


def logs(request: Request) -> list[str]:
    """The axes that are logarithmic."""
    names = [name for name in request.query_params.getlist("log") if name]
    for name in names:
        if name not in ("x", "y"):
            refuse("log", name, ("x", "y"))
    return names


def varied(records: Records, name: str) -> list[str]:
    """What tells an experiment from the others of its store, in words."""
    return [
        f"{field.name} not set" if value is None else f"{field.name}={shown_value(value)}"
        for field, value in records.index.varied(name)
        if value is not None or field.is_an_axis
    ]


def described(settings: dict[str, Any]) -> dict[str, list[tuple[str, str]]]:
    """Settings by part: the task, the model, the recipe, and what has no part."""
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, value in flattened(settings).items():
        part, _, rest = name.partition(".")
        if rest:
            groups.setdefault(part, []).append((rest, shown_value(value)))
        else:
            groups.setdefault("", []).append((name, shown_value(value)))
    return groups


def versions(record: Record) -> dict[str, str]:
    """What a run was made with; text that is not JSON as it is."""
    try:
        plain = json.loads(record.run.versions or "{}")
    except (ValueError, RecursionError):
        return {"versions": record.run.versions}
    return {str(n): str(v) for n, v in plain.items()} if isinstance(plain, dict) else {}


def rows_of(columns: dict[str, Any]) -> dict[str, Any]:
    """The first rows of a table of columns of equal length."""
    lengths = {len(values) for values in columns.values() if values.ndim == 1}
    if len(lengths) != 1:
        return {"columns": [], "rows": [], "count": 0}
    flat = {name: values for name, values in columns.items() if values.ndim == 1}
    parts = [values[:ROWS_OF_A_TABLE].tolist() for values in flat.values()]
    rows = [list(row) for row in zip(*parts, strict=True)]
    return {"columns": list(flat), "rows": rows, "count": lengths.pop()}


def code(records: Records, record: Record) -> str:
    """Python that does the run again."""
    return (
        "import elegans as el\n\n"
        f"store = el.Store({str(records.path)!r}, readonly=True)\n"
        f"(stored,) = store.runs([({record.run.hash!r}, {record.run.seed})])\n"
        f"run = el.run(stored.experiment, seed={record.run.seed})\n"
        "assert run.steps == stored.steps\n"
    )


def short(texts: dict[str, list[str]], place: int) -> str:
    """The settings in which a run differs from the others, in a few words."""
    different = [(f, row[place]) for f, row in texts.items() if len(set(row)) > 1]
    return "".join(f"{f.rpartition('.')[2]}={value}, " for f, value in different[:3])


def _preferred(measures: list[str]) -> str:
    order = [*(m for m in ("test_error", "test_loss", "train_loss") if m in measures), *measures]
    return order[0] if order else ""
