"""A small study of computations, for the tests of the framework."""

from dataclasses import dataclass

import pandas as pd

import elegans as el
from elegans.report.result import Claim
from elegans.studies.study import Scale, Study, known_failure
from elegans.sweeps.sweep import Sweep

CALLS = []  # the computations that were done in this process


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Which powers, of how many numbers."""

    powers: tuple[int, ...]
    seeds: int = 3


@el.configuration
class Power:
    """A power of the seed plus one."""

    power: int

    def __call__(self, seed):
        """One row; the power 13 brings bad luck."""
        CALLS.append((self.power, seed))
        if self.power == 13:
            raise ZeroDivisionError("thirteen")
        return pd.DataFrame({"value": [float((seed + 1) ** self.power)], "odd": [seed % 2 == 0]})


def runs(settings):
    """Every power with every seed."""
    points = [({"power": power}, Power(power=power)) for power in settings.powers]
    return {"numbers": Sweep.of(points, seeds=settings.seeds)}


def doubling(settings):
    """A generator: the next power is the sum of the values of the last one."""
    power = settings.powers[0]
    for name in ("first", "second"):
        finished = yield {name: Sweep.of([({"power": power}, Power(power=power))], seeds=2)}
        power = int(finished[name].table["value"].sum())


def tables(settings, runs):
    """The sums by power."""
    rows = pd.concat([each.table for each in runs.values()])
    return {"sums": rows.groupby("power", sort=False)["value"].sum().reset_index()}


def facts(settings, tables):
    """The largest sum."""
    return {"largest": tables["sums"]["value"].max()}


def sums_are_positive(tables):
    """A claim that holds."""
    return claim("Sums are positive", bool((tables["sums"]["value"] > 0).all()))


def sums_are_small(tables):
    """A claim that fails where the largest sum is 10 or more."""
    return claim("Sums are small", tables.facts["largest"] < 10)


@known_failure(reason="powers grow", scales=("quick", "small"))
def sums_are_tiny(tables):
    """A claim that is known to fail at two scales."""
    return claim("Sums are tiny", tables.facts["largest"] < 5)


def claim(text, holds):
    """A claim of this study."""
    return Claim(text=text, source="a test", measured="sums", against="others", holds=holds)


def figure(tables):
    """The sums."""
    from elegans.report import look

    picture = look.figure(3, 2)
    picture.subplots().plot(tables["sums"]["power"], tables["sums"]["value"])
    return picture


STUDY = Study(
    name="toy",
    title="Powers of small numbers",
    summary="Sums of powers.",
    source="A test",
    scales={
        "quick": Scale(Settings(powers=(1, 2)), minutes=0.01),
        "small": Scale(Settings(powers=(0,)), minutes=0.01),
        "unlucky": Scale(Settings(powers=(1, 13)), minutes=0.01),
    },
    runs=runs,
    tables=tables,
    facts=facts,
    claims=(sums_are_positive, sums_are_tiny),
    figures="tests.studies.toy:figure",
    shown=("sums",),
    captions={"sums": "Sums of powers"},
)
