r"""The weights of single neurons, for pictures of them: values, interpolants and spectra.

On a cyclic group a vector of weights has one trigonometric interpolant of frequencies below $p/2$,
the curve that the dots of Figure 7.1 lie on. The spectrum of a vector is the share of its squared
norm per real irreducible representation: per frequency $\pm z$ for a cyclic group.
"""

import numpy as np
import pandas as pd
from jaxtyping import Float

from elegans.runs import Run, Runs
from elegans.studies.groups import networks
from elegans.theory import groups as theory

NEURONS_KEPT = 24  # per network, evenly spaced in the order by norm
POINTS = 4  # of the interpolant, per element


def weight_table(runs: Runs) -> pd.DataFrame:
    """One row per number of a picture: neurons of the first seed of each network.

    `part` is u, v or w; `kind` is "weight" (at the element x), "interpolant" (between elements,
    for cyclic groups alone) or "power" (of representation x).
    """
    every = runs[:]
    first = min(run.seed for run in every)
    chosen = [i for i, run in enumerate(every) if run.seed == first]
    return Runs([every.labels[i] for i in chosen], [every[i] for i in chosen]).rows(_weights)


def _weights(run: Run) -> pd.DataFrame:
    group, params = run.experiment.task.group, run.params
    vectors = {"u": params.u, "v": params.v, "w": params.w.T}
    parts = []
    for neuron in _spread(networks.neurons(run)):
        for name, columns in vectors.items():
            vector = np.asarray(columns, np.float64)[:, neuron]
            powers = theory.powers(group, vector)
            lines = {
                "weight": (np.arange(group.order), vector),
                "power": (np.arange(len(powers)), powers / max(powers.sum(), 1e-300)),
            }
            if hasattr(group, "p"):
                lines["interpolant"] = interpolant(vector)
            for kind, (x, value) in lines.items():
                rows = pd.DataFrame({"x": np.asarray(x, float), "value": value})
                parts.append(rows.assign(neuron=neuron, part=name, kind=kind))
    return pd.concat(parts, ignore_index=True)


def _spread(neurons: pd.DataFrame) -> list[int]:
    """Live neurons, evenly spaced in the order by norm: nobody chose them by how they look.

    A penalty can be so large that all weights are zero; then all neurons count.
    """
    if neurons["is_live"].any():
        neurons = neurons[neurons["is_live"]]
    live = neurons.sort_values("norm")["neuron"].to_numpy()
    places = np.linspace(0, len(live) - 1, min(NEURONS_KEPT, len(live)))
    return [int(live[i]) for i in np.unique(places.round().astype(int))]


def interpolant(
    vector: Float[np.ndarray, " p"],
) -> tuple[Float[np.ndarray, " points"], Float[np.ndarray, " points"]]:
    """The trigonometric interpolant of a vector on a cyclic group: places and values.

    Of an even modulus the highest frequency is taken as a cosine, which keeps the curve real.
    """
    p = len(vector)
    x = np.arange(POINTS * p) / POINTS
    frequencies = np.fft.fftfreq(p, 1 / p)
    waves = np.exp(2j * np.pi * np.outer(x, frequencies) / p)
    return x, np.real(waves @ np.fft.fft(vector)) / p
