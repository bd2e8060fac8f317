"""Made-up tables for the claims of chapter 5: true worlds, and worlds in which a claim is false."""

import numpy as np
import pandas as pd

RNG = np.random.default_rng(0)
SEEDS = np.arange(40)


def frame(**columns):
    return pd.DataFrame(columns)


def times(values, network="ReLU, width 10"):
    return frame(network=network, seed=np.arange(len(values)), time=np.asarray(values, float))


# Times near their median, with slow ones; and the geometric times of a search without memory.
NARROW = np.concatenate([np.linspace(900, 1000, 60), np.linspace(1000, 2500, 40)])
GEOMETRIC = -np.log(1 - (np.arange(200) + 0.5) / 200) * 1000


def starts(by_start):
    rows = [(s, d, (3.0**s if by_start else 3.0**d) * 100) for s in range(5) for d in range(5)]
    return pd.DataFrame(rows, columns=["start", "seed", "time"])


def copies(best):
    return frame(
        copies=[1, 10],
        best=[1000.0, best],
        low=[990.0, 0.95 * best],
        high=[1010.0, 1.05 * best],
        wide_median=[1000.0, 900.0],
        theory_memoryless=[1000.0, 100.0],
    )


def widths(**by_width):
    rows = [
        (30, 3, int(width[1:]), seed, bool(np.isfinite(t)), t)
        for width, values in by_width.items()
        for seed, t in enumerate(values)
    ]
    return pd.DataFrame(rows, columns=["n", "k", "width", "seed", "success", "time"])


SLOW_TAIL = [1000.0] * 28 + [5000.0] * 12
STEADY = [1000.0] * 39 + [1100.0]
FAST = [100.0] * 40


def grok(outcomes):
    """Six seeds in each cell (samples, decay) with one outcome."""
    kinds = {"learned": (100, 150), "grokked": (100, 900), "memorised": (100, np.inf)}
    rows = []
    for (m, decay), outcome in outcomes.items():
        memorised, generalised = kinds.get(outcome, (np.inf, np.inf))
        for seed in range(6):
            rows.append((m, decay, seed, memorised, generalised, outcome, 0.4))
    columns = ["samples", "decay", "seed", "memorised", "generalised", "outcome", "test_error"]
    table = pd.DataFrame(rows, columns=columns)
    return {"runs": table.assign(delay=table["generalised"] / table["memorised"])}


GROK = {
    (4000, 0.0): "learned",
    (4000, 0.01): "learned",
    (4000, 0.1): "neither",
    (500, 0.0): "memorised",
    (500, 0.01): "grokked",
    (500, 0.1): "neither",
    (250, 0.0): "memorised",
    (250, 0.01): "memorised",
    (250, 0.1): "neither",
}


def firsts(lead, moved):
    return {"firsts": frame(seed=SEEDS, lead=float(lead), moved=float(moved), time=1000.0)}


def predictivity(correlation, p):
    return {
        "predictivity": frame(
            measure=["path", "error"],
            moment=0.25,
            step=100.0,
            runs=40,
            correlation=[correlation, 0.0],
            low=[correlation - 0.2, -0.2],
            high=[correlation + 0.2, 0.2],
            null_low=-0.3,
            null_high=0.3,
            p=[p, 0.9],
        )
    }


def looks(signal, noise, gap_end):
    """Paths and gaps of 40 runs at steps 0 and 500, on the parity and on coin flips."""
    rows = []
    for labels, path in (("parity", signal), ("noise", noise)):
        for seed in SEEDS:
            end = gap_end if labels == "parity" else 0.01
            rows.append((labels, seed, 0, 0.0, 0.01))
            rows.append((labels, seed, 500, path + 0.001 * seed / 40, end))
    table = pd.DataFrame(rows, columns=["labels", "seed", "step", "path", "gap"])
    return {"looks": table, **firsts(700, 900)}


def noisy(learned_at_45, times_by_flip, small=0):
    flips = [0.0, 0.3, 0.45]
    cells, rows = [], []
    for flip, time in zip(flips, times_by_flip, strict=True):
        for batch in (32, 512):
            wins = 10 if flip < 0.45 else (learned_at_45 if batch == 512 else small)
            cells.append((flip, batch, 10, wins, wins / 20, time))
            for seed in range(10):
                ok = seed < wins
                at = time + seed if ok else np.inf
                rows.append((flip, batch, seed, ok, at, 0.0 if ok else 0.3))
    names = ["flip", "batch", "runs", "learned", "low", "median"]
    more = ["flip", "batch", "seed", "success", "time", "test_error"]
    return {
        "cells": pd.DataFrame(cells, columns=names),
        "runs": pd.DataFrame(rows, columns=more),
    }


def elimination(with_noise):
    flips = np.repeat([0.0, 0.1, 0.3], 20)
    return {"elimination": frame(flip=flips, found=np.where(flips == 0, True, with_noise))}


def deep(low=8, above=0.5, first=0.5, no_bias=0.5):
    rows = []
    for kind, k, wins, error in (
        ("all layers", 2, 10, 0.0),
        ("all layers", 4, low, 0.3),
        ("all layers", 5, 0, above),
        ("first layer alone", 4, 0, first),
        ("fixed features", 4, 0, 0.5),
        ("no output bias", 4, 0, no_bias),
    ):
        for seed in range(10):
            ok = seed < wins
            rows.append((kind, 3, 10, k, seed, ok, 0.0 if ok else error))
    runs = pd.DataFrame(rows, columns=["kind", "layers", "n", "k", "seed", "success", "test_error"])
    cells = (
        runs.groupby(["kind", "layers", "n", "k"], sort=False)["success"]
        .agg(converged="sum", runs="size")
        .reset_index()
    )
    return {
        "runs": runs,
        "cells": cells.assign(possible=cells["k"] <= 4),
        "gradients": frame(k=[2, 4], largest_gradient=[0.3, 0.0]),
    }


def networks(trained, untrained, accuracy=0.6):
    kinds = np.repeat(["trained", "untrained"], 16)
    return {
        "networks": frame(
            network=kinds,
            weakly_learned=True,
            accuracy=np.where(kinds == "trained", accuracy, 0.5),
            sets=3,
            recovered=np.concatenate([np.arange(16) < trained, np.arange(16) < untrained]),
        )
    }


def architectures(converged):
    labels = [f"a{i}" for i in range(18)]
    return frame(label=labels, name="network", rate=0.1, runs=8, converged=[converged, *[8] * 17])


def plateaus(powers, relu, listed=0.6):
    labels = [f"a{i}" for i in range(18)]
    every = frame(label=labels, rate=0.1, row="all", share=listed)
    wide = frame(
        network=["z^3"] * 5 + ["relu"] * 10,
        width=[300] * 10 + [10] * 5,
        batch=256.0,
        row="wide",
        share=[powers] * 5 + [relu] * 10,
        tread=[powers] * 5 + [relu] * 10,
    )
    return {
        "plateaus": pd.concat([every, wide], ignore_index=True),
        "architectures": architectures(8),
    }


def exponents(first, last, elbow=(0.5, 0.2, 0.8)):
    width = 0.1
    return {
        "exponents": frame(
            label="i",
            k=[2, 4],
            exponent=[first, last],
            low=[first - width, last - width],
            high=[first + width, last + width],
            common=[first, last],
            common_low=[first - width, last - width],
            common_high=[first + width, last + width],
            elbow=elbow[0],
            elbow_low=elbow[1],
            elbow_high=elbow[2],
        ),
        "medians": frame(label="i", k=[2, 2, 4, 4], n=[10, 40, 10, 40], median=100.0),
    }


def robust(converged, label="i", batch=32):
    return {
        "robust": frame(
            label=["i", label],
            n=20,
            k=3,
            init="uniform",
            loss="hinge",
            batch=[32, batch],
            rate=0.1,
            runs=20,
            converged=[20, converged],
        )
    }


def transformer(sgd, adam):
    """Runs that converge of 10 on the larger task; on the smaller one all do."""
    rows = frame(
        n=20,
        k=4,
        optimizer=["sgd"] * 10 + ["adam"] * 10,
        rate=0.1,
        success=[*(np.arange(10) < sgd), *(np.arange(10) < adam)],
    )
    return {"transformer": pd.concat([rows, rows.assign(n=10, k=3, success=True)])}


def doubled(wins):
    """Runs that converge of 20: all with z; with 2z `wins` at the rate 1, all at a quarter."""
    rows = []
    for kind, counts in (("sinusoid", {1.0: 20, 0.25: 20}), ("sinusoid-2z", {1.0: wins, 0.25: 20})):
        for layer in (True, False):
            for rate, count in counts.items():
                rows += [(kind, layer, rate, s, s < count, 100 / rate) for s in range(20)]
    names = ["kind", "second_layer", "rate", "seed", "success", "time"]
    return {"doubled": pd.DataFrame(rows, columns=names)}


def rates(low):
    return {
        "rates": frame(kind="zigzag", width=[1, 10], value=[1.0, low], low=[0.8, low], high=1.0)
    }


def theorem(errors):
    return {
        "theorem": frame(
            constant="printed", steps=100, positive_start=[True] * 20 + [False] * 5, error=errors
        )
    }


def fitted(value):
    return {
        "exponents": frame(k=[3, 4], value=[-0.5, value], low=-2.0, high=0.0, theory=[-0.5, -1])
    }


def sgd(share):
    return {
        "sgd": frame(seed=SEEDS, positive_start=True, converged=True, share=share, theory_share=0.8)
    }


def descent(factor):
    return {"descent": frame(seed=[0, 0, 1, 1], time=[1, 2 * factor, 1, 3], theory=[1.0, 2, 1, 3])}
