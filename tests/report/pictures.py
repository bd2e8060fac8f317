"""Figures and charts of the results that the tests make up."""

import altair as alt

from elegans.report import look


def figure(tables):
    """A line."""
    picture = look.figure(3, 2, "a line")
    axes = picture.subplots()
    axes.plot(tables["points"]["x"], tables["points"]["y"])
    axes.set(xlabel="x", ylabel=f"y, times {tables.facts['factor']}")
    return picture


def broken(tables):
    """Asks for a table that is not there."""
    return tables["nothing"]


def chart(tables):
    """Dots."""
    return alt.Chart(tables["points"]).mark_circle().encode(x="x:Q", y="y:Q")
