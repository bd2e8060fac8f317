r"""Constructions as computations: errors on truth tables, norms, coherent vectors, single bits.

All in NumPy and float64, with hidden sets that are neither sorted nor contiguous.
"""

import itertools
import math
from collections.abc import Iterator

import numpy as np
import pandas as pd

from elegans import cube
from elegans.constructions import junta_transformer, symmetric_transformer
from elegans.constructions.selection import Selection, selection_head
from elegans.fields import configuration
from elegans.theory import capacity

SPREAD_SUPPORT = 3  # hidden positions are this far apart, so that no order is special


def hidden(T: int, s: int) -> tuple[int, ...]:
    """A hidden set that is neither sorted nor contiguous."""
    return tuple((SPREAD_SUPPORT * i + 2) % T for i in range(s))[::-1]


@configuration
class TruthTables:
    """The largest error of a construction over all inputs and truth tables.

    Attributes:
        kind: "symmetric" or "junta".
        inputs: How bits become tokens.
        T: Number of bits.
        s: Number of hidden ones.
        symbols: Number of different inputs; two are bits.
    """

    kind: str
    inputs: str
    T: int
    s: int
    symbols: int = 2

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row: tables, inputs, and the largest error."""
        support, rng = hidden(self.T, self.s), np.random.default_rng([seed, self.T, self.s])
        x, number = self.examples(rng, support)
        worst, count = 0.0, 0
        for table in self.truth_tables(rng):
            if self.kind == "symmetric":
                model, params = symmetric_transformer(table, self.T, support, inputs=self.inputs)
            else:
                model, params = junta_transformer(
                    table, self.T, support, inputs=self.inputs, symbols=self.symbols
                )
            error = np.abs(model.evaluate(params, x) - np.asarray(table, float)[number])
            worst, count = max(worst, float(error.max())), count + 1
        return pd.DataFrame([{"tables": count, "examples": len(x), "error": worst}])

    def examples(
        self, rng: np.random.Generator, support: tuple[int, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """All inputs, or 64 random ones if there are too many, and the table's entry of each."""
        if self.symbols > 2:
            strings = itertools.product(range(self.symbols), repeat=self.T)
            x = np.array(list(strings), float)
            return x, (x[:, support].astype(int) * self.symbols ** np.arange(self.s)).sum(axis=1)
        x = cube.signs(self.T) if self.T <= 12 else cube.drawn_signs(rng, 64, self.T)
        bits = (x[:, support] < 0).astype(int)
        entry = bits.sum(axis=1) if self.kind == "symmetric" else bits @ 2 ** np.arange(self.s)
        return x, entry

    def truth_tables(self, rng: np.random.Generator) -> Iterator[tuple[float, ...]]:
        """All tables of zeros and ones if there are at most 256, else eight random real ones."""
        rows = self.s + 1 if self.kind == "symmetric" else self.symbols**self.s
        if self.T <= 12 and 2**rows <= 256:
            yield from itertools.product((0.0, 1.0), repeat=rows)
        else:
            yield from (tuple(rng.standard_normal(rows)) for _ in range(8))


@configuration
class Norms:
    """Norms of a head's weights beside their bounds, and how far a hidden bit moves its output."""

    inputs: str
    T: int
    s: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per weight matrix."""
        support = hidden(self.T, self.s)
        head = selection_head(self.T, support, inputs=self.inputs)
        sizes = head.norms()
        rows = [
            {"weight": name, "norm": sizes[name], "bound": bound}
            for name, bound in head.bounds.items()
        ]
        return pd.DataFrame(rows).assign(error=worst_error(head, self.T, support))


@configuration
class Coherent:
    """The worst error of a head over all inputs, on random position vectors."""

    T: int
    dim: int
    s: int
    printed: bool

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row: the coherence, the worst error, and what the proof allows."""
        support = hidden(self.T, self.s)
        repaired = selection_head(self.T, support, vectors="signs", dim=self.dim, seed=seed)
        head = repaired
        if self.printed:
            head = selection_head(
                self.T,
                support,
                vectors="signs",
                dim=self.dim,
                seed=seed,
                rate=repaired.rate,
                printed=True,
            )
            # The printed values have the other sign: that alone is not what is looked at here.
            head = head._replace(targets=-head.targets)
        error = worst_error(head, self.T, support)
        row = {"coherence": head.coherence, "error": error, "allowed": head.gamma / 4}
        return pd.DataFrame([row])


def worst_error(head: Selection, T: int, support: tuple[int, ...]) -> float:
    """The largest error of the first output over all inputs.

    On positions the attention does not depend on the bits, so that the output is linear in them
    and, for each pattern of hidden bits, is farthest off where all others are equal. In a bag of
    vectors the others only add to the denominator: again all or none of them.
    """
    patterns = cube.signs(len(support))
    worst = 0.0
    for others in (-1.0, 1.0):
        x = np.full((len(patterns), T), others)
        x[:, support] = patterns
        counts = (patterns < 0).sum(axis=1)
        output = head.model.evaluate(head.params, x)[:, 0]
        worst = max(worst, float(np.abs(output - head.targets[counts, 0]).max()))
    return worst


@configuration
class Flips:
    """How far one hidden bit moves the output of a head, at a norm that grows and at a fixed one.

    `averaging` is the head without scores, which returns the mean of all values.
    """

    T: int
    s: int
    fixed_T: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per head: what was measured, and the closed form."""
        support = hidden(self.T, self.s)
        rates = {
            "growing": math.log(4 * self.T * self.s),
            "fixed": math.log(4 * self.fixed_T * self.s),
            "averaging": 0.0,
        }
        x = np.ones((2, self.T))
        x[1, support[0]] = -1.0
        rows = []
        for name, rate in rates.items():
            head = selection_head(self.T, support, rate=rate)
            low, high = head.model.evaluate(head.params, x)[:, 0]
            theory = capacity.flip_effect(self.T, self.s, rate)
            rows.append({"head": name, "rate": rate, "effect": high - low, "theory": theory})
        return pd.DataFrame(rows)
