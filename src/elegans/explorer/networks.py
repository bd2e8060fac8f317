"""The page of one network: what it kept of its weights, at any step of its training."""

from typing import Any

from starlette.requests import Request

from elegans.explorer import charts
from elegans.explorer.curves import scalars
from elegans.explorer.network import (
    Layer,
    bias_of,
    inputs_of,
    layer_of,
    layers,
    neuron,
    neuron_axis,
    neurons,
    spectrum,
    strongest,
)
from elegans.explorer.pages import store_of
from elegans.explorer.query import MAX_DIGITS
from elegans.explorer.records import Record
from elegans.explorer.runs import varied
from elegans.explorer.sources import Sources
from elegans.explorer.studies import Answer

MAX_MEASURES = 9


def network(sources: Sources, request: Request) -> Answer:
    """A slider over training, an array as a picture, one neuron and what it is made of."""
    records = store_of(sources, request)
    with records.reading():
        record = records.record(request.path_params["experiment"], request.path_params["seed"])
        available = layers(records, record)
    layer = layer_of(available, request.query_params.get("layer", ""))
    step = whole(request, "step", layer.steps[-1] if layer.steps else 0)
    place = layer.place(step) if layer.steps else 0
    inputs = inputs_of(record.settings)
    number = whole(request, "neuron", strongest(layer, inputs))
    measures = {
        **scalars(records.arrays(record.number, "history")),
        **scalars(records.probes(record)),
    }
    measures.pop("test_rows", None)
    shown = dict(list(measures.items())[:MAX_MEASURES])
    at = layer.steps[place] if layer.steps else 0
    cursor = at if layer.steps else record.run.steps or 0
    return "network.html.j2", {
        "title": f"Inside run {record.run.hash}, seed {record.run.seed}",
        "store": records,
        "record": record,
        "run": record.run,
        "varied": varied(records, record.run.hash),
        "layers": list(available.values()),
        "layer": layer,
        "steps": layer.steps,
        "place": place,
        "step": at,
        "neuron": number,
        "neurons": neurons(layer, inputs),
        "neuron_word": "column" if layer.is_matrix and neuron_axis(layer, inputs) else "row",
        "parts": parts(available, layer, at, number, record) if layer.is_matrix else None,
        "measures": charts.small_charts(shown, cursor) if shown else None,
        "shown_measures": len(shown),
        "all_measures": len(measures),
    }


def parts(
    available: dict[str, Layer], layer: Layer, step: int, number: int, record: Record
) -> dict[str, Any]:
    """A neuron's weights and spectrum at a step, as rows of tables."""
    weights = neuron(layer, step, number, inputs_of(record.settings))
    bias = bias_of(available, layer, step, number)
    shares = spectrum(weights, record.settings, bias)
    task = record.settings.get("task")
    support = task.get("support") if isinstance(task, dict) else None
    return {
        "weights": weights.tolist(),
        "bias": bias,
        "support": support if isinstance(support, list) else [],
        "spectrum": None
        if shares is None
        else {
            "kind": shares.kind,
            "names": shares.names,
            "values": shares.values.tolist(),
            "note": shares.note,
        },
    }


def whole(request: Request, name: str, default: int) -> int:
    """A whole number of the URL."""
    text = request.query_params.get(name) or str(default)
    if not text.isdecimal() or len(text) > MAX_DIGITS:
        raise ValueError(f"{name}={text}: it is a whole number, zero or more.")
    return int(text)
