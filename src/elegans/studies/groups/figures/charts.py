"""Pages on which one clicks a neuron and sees it."""

import altair as alt
import pandas as pd

from elegans.report.result import Tables

PARTS = alt.Scale(domain=["u", "v", "w"], range=["#1f77b4", "#2ca02c", "#d62728"])
HOVER = ["network", "neuron", "representation", "norm", "power_u", "power_v", "power_w"]


def frequency_chart(tables: Tables) -> alt.HConcatChart:
    """Neurons of networks that add; a click shows a neuron's weights, interpolant and spectrum."""
    return _neuron_chart(tables, "activation", "number", "frequency")


def representation_chart(tables: Tables) -> alt.HConcatChart:
    """Neurons of networks that multiply in a group; a click shows one's weights and spectrum."""
    return _neuron_chart(tables, "group", "element", "representation (by its number)")


def _neuron_chart(tables: Tables, by: str, element: str, feature: str) -> alt.HConcatChart:
    """On the left a dot per neuron; on the right the one that was clicked last."""
    weights = _named(tables["weights"], by)
    neurons = _named(tables["neurons"], by)
    first = weights["seed"].min()
    neurons = neurons[(neurons["when"] == "end") & (neurons["seed"] == first)]
    neurons = neurons[neurons["name"].isin(weights["name"])][["name", *HOVER]]
    one = neurons[neurons["network"] == weights["network"].iloc[0]]
    strongest = one.loc[one["norm"].idxmax(), "name"]
    # Short labels first: "frequency 2" before "frequency 10".
    order = sorted(set(neurons["representation"]), key=lambda label: (len(label), label))
    pick = alt.selection_point(fields=["name"], value=[{"name": strongest}], empty=False)
    dots = (
        alt.Chart(neurons)
        .mark_circle(stroke="black")
        .encode(
            x=alt.X("representation:N", title=None, sort=order),
            y=alt.Y("norm:Q", title="norm of the neuron"),
            color=alt.Color("network:N", scale=alt.Scale(scheme="set2")),
            size=alt.condition(pick, alt.value(220), alt.value(70)),
            strokeWidth=alt.condition(pick, alt.value(2), alt.value(0)),
            tooltip=HOVER,
        )
        .add_params(pick)
        .properties(width=330, height=330, title="Click a neuron")
    )
    shown = alt.Chart(weights[["name", "part", "kind", "x", "value"]]).transform_filter(pick)
    colour = alt.Color("part:N", title="weights", scale=PARTS)
    x = alt.X("x:Q", title=element)
    y = alt.Y("value:Q", title="weight")
    points = shown.transform_filter("datum.kind == 'weight'").mark_circle(size=45, opacity=1)
    curve = shown.transform_filter("datum.kind == 'interpolant'").mark_line(strokeWidth=1)
    bars = shown.transform_filter("datum.kind == 'power'").mark_bar()
    waves = (curve.encode(x, y, colour) + points.encode(x, y, colour)).properties(
        width=430, height=170, title="Its weights"
    )
    spectrum = bars.encode(
        alt.X("x:O", title=feature, axis=alt.Axis(labelAngle=0, format="d")),
        alt.Y("value:Q", title="share of power", scale=alt.Scale(domain=[0, 1])),
        colour,
        xOffset="part:N",
    ).properties(width=430, height=110, title="Their spectrum")
    return alt.hconcat(dots, alt.vconcat(waves, spectrum)).resolve_scale(color="independent")


def _named(table: pd.DataFrame, by: str) -> pd.DataFrame:
    """The table with the network of each neuron, and a name that no other neuron has."""
    network = table[by].astype(str)
    return table.assign(network=network, name=network + " " + table["neuron"].astype(str))
