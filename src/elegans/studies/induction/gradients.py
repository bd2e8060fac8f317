r"""Exact computations about the first steps of the minimal model, for `even-odd`.

All of them follow from the tensor $G$ of `theory.markov.induction`: the gradient of $v_j$ is
$W$ contracted with $G_j$, that of $W$ is $v$ contracted with $G$.
"""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pandas as pd

from elegans.fields import configuration
from elegans.models import MinimalInduction
from elegans.models.induction import Induction
from elegans.tasks import MarkovChains
from elegans.theory.markov import continuations, induction

POSITIONS = 8  # of Figure E.2
SEQUENCES = 4096


@configuration
class TwoSteps:
    """A computation: the two population steps of Lemma 8.4 from one constant."""

    length: int
    start: float
    rate: float

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per step and parameter: "v" by position, "W" by row and column."""
        rows = []
        for step, weights in enumerate(
            induction.two_steps(self.length, float(self.start), float(self.rate))
        ):
            rows += [
                {"step": step, "parameter": "v", "i": j + 1, "j": 0, "exact": value}
                for j, value in enumerate(weights.position)
            ]
            rows += [
                {"step": step, "parameter": "W", "i": i + 1, "j": j + 1, "exact": value}
                for (i, j), value in np.ndenumerate(weights.weight)
            ]
        return pd.DataFrame(rows)


@configuration
class DiagonalGradient:
    r"""A computation: the part of the second gradient of $v$ that is due to $W = I$ (Figure E.2).

    Divided by $(t-j+1)(t-j+2)/2$, and beside it the expectation in equations E.39 and E.40, whose
    part in $\lambda^{j-1}$ is the `moment`.
    """

    length: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per position."""
        t, chains = self.length, induction.uniform_chains(self.length)
        tensor = induction.gradient_tensor(t, chains)
        a, b, weight = chains
        eigenvalue = a + b - 1
        cube = (eigenvalue - 1) ** 3
        alternating = 2 * (a - 1) * (b - 1) * ((b - 1) * (a - 0.5) + (a - 1) * (b - 0.5)) / cube
        steady = (b - a) * ((b - 1) ** 2 * (a - 0.5) - (a - 1) ** 2 * (b - 0.5)) / cube
        rows = []
        for j in range(1, min(POSITIONS + 1, t) + 1):
            pairs = (t - j + 1) * (t - j + 2) / 2
            moment = float(np.sum(weight * alternating * eigenvalue ** (j - 1)))
            printed = moment + float(np.sum(weight * steady))
            if j == 1:
                printed = (1 - np.log(2)) / 3
            rows.append(
                {
                    "j": j,
                    "gradient": float(tensor[j - 1, 0, 0] + tensor[j - 1, 1, 1]),
                    "scaled": float(tensor[j - 1, 0, 0] + tensor[j - 1, 1, 1]) / pairs,
                    "printed": printed,
                    "moment": moment,
                }
            )
        return pd.DataFrame(rows)


@configuration
class FirstGradient:
    """A computation: the first gradient of $v$ at constant weights, on two kinds of chains."""

    length: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """Two rows: how much the first position is favoured, and the gradient of W off it."""
        kinds = {
            "uniform": induction.uniform_chains(self.length),
            "symmetric": induction.symmetric_chains(self.length, 0.5),
        }
        rows = []
        for name, chains in kinds.items():
            tensor = induction.gradient_tensor(self.length, chains)
            position, weight = tensor.sum(axis=(1, 2)), tensor.sum(axis=0)
            rows.append(
                {
                    "chains": name,
                    "first": float(position[0]),
                    "middle": float(position[self.length // 2]),
                    "diagonal": float(weight[0, 0]),
                    "rest": float(weight[0, 1]),
                }
            )
        return pd.DataFrame(rows)


@configuration
class Curriculum:
    r"""A computation: the steps of Proposition 8.5, and two more like its second.

    `contamination` and its `limit` after the second step are those of `theory.markov.induction`:
    what is besides $v_2$. `bigrams` is the share of sequences of which the model takes the bigrams'
    side, among those where the two strategies differ.
    """

    length: int
    epsilon: float
    weight: float = 0.0
    position: float = 0.01
    steps: int = 4

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per step."""
        t = self.length
        start = induction.constant_start(t, float(self.weight), float(self.position))
        rates = (1 / t**2, 1 / t)
        path = induction.curriculum(t, float(self.epsilon), rates, start, self.steps - 1)
        ratio = path[0].weight[0, 0] / path[0].weight[0, 1]
        rows = []
        for step, weights in enumerate(path, start=1):
            share, count = sides_with_bigrams(weights, seed)
            rows.append(
                {
                    "step": step,
                    "contamination": induction.contamination(weights),
                    "limit": induction.contamination_limit(float(ratio)),
                    "diagonal": float(weights.weight[0, 0]),
                    "rest": float(weights.weight[0, 1]),
                    "bigrams": share,
                    "sequences": count,
                }
            )
        return pd.DataFrame(rows)


def sides_with_bigrams(weights: induction.Weights, seed: int) -> tuple[float, int]:
    """The share of bigrams among sequences where their majority is not that of unigrams."""
    length = len(weights.position)
    tokens = MarkovChains(2, length).sample(jr.key(seed), SEQUENCES).x
    params = Induction(
        # In units of their largest entries: a majority does not depend on them.
        jnp.asarray(weights.weight / np.abs(weights.weight).max(), jnp.float32),
        jnp.asarray(weights.position / np.abs(weights.position).max(), jnp.float32),
    )
    model = jax.vmap(lambda row: MinimalInduction().apply(params, row)[-1])(tokens)
    unigram, bigram = (
        np.asarray(jax.vmap(lambda row, order=order: continuations(row, 2, order)[-1])(tokens))
        for order in (1, 2)
    )
    sides = [np.sign(each[:, 1] - each[:, 0]) for each in (unigram, bigram, np.asarray(model))]
    differ = (sides[0] * sides[1]) < 0
    return float((sides[2] == sides[1])[differ].mean()), int(differ.sum())
