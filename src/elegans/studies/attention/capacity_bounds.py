"""The computations of the study of capacity: bounds of selectors, circles and shattered inputs."""

import math

import numpy as np
import pandas as pd

from elegans import cube
from elegans.constructions.selection import selection_head
from elegans.fields import configuration
from elegans.studies.attention.protocol import SPARSITY
from elegans.theory import capacity

RADIUS = 0.2


@configuration
class Sandwich:
    """Lower bounds, a measured packing and all covers of the heads that select 3 of T positions."""

    T: int
    selectors: int
    inputs: int
    eps: float = RADIUS

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row."""
        rng = np.random.default_rng([seed, self.T])
        support = tuple(range(SPARSITY))
        rate = math.log(4 * self.T * SPARSITY)
        head = selection_head(self.T, support, rate=rate)
        sizes = capacity.norms(head.model, head.params)
        values = capacity.selector_values(
            cube.drawn_signs(rng, self.inputs, self.T), self.supports(rng), rate
        )
        members = len(capacity.packing(values, self.eps))
        arguments = (sizes, self.inputs, self.T, self.eps)
        return pd.DataFrame(
            [
                {
                    "entropy": capacity.selector_entropy(self.T, SPARSITY),
                    "half_distance": capacity.selector_distance(self.T, SPARSITY, rate) / 2,
                    "packing": math.log(members),
                    "selectors": len(values),
                    "head_cover": capacity.head_cover(*arguments, printed=True),
                    "sharp_cover": capacity.head_cover(*arguments),
                    "cls_cover": capacity.cls_cover(*arguments),
                    "volume": capacity.volumetric_cover(sizes, self.eps),
                    "volume_cls": capacity.volumetric_cover(sizes, self.eps, cls=True),
                }
            ]
        )

    def supports(self, rng: np.random.Generator) -> np.ndarray:
        """All sets of three positions, or as many random ones as there is time for."""
        count = math.comb(self.T, SPARSITY)
        if count <= self.selectors:
            grid = np.indices((self.T,) * SPARSITY).reshape(SPARSITY, -1).T
            return grid[(np.diff(grid, axis=1) > 0).all(axis=1)]
        drawn = np.sort(rng.random((2 * self.selectors, self.T)).argsort(axis=1)[:, :SPARSITY])
        return np.unique(drawn, axis=0)[: self.selectors]


@configuration
class Circle:
    """How many heads of the circle are far apart at a norm."""

    T: int
    R: float
    eps: float = RADIUS

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row."""
        return pd.DataFrame([{"heads": capacity.circle_packing(self.T, self.R, self.eps)}])


@configuration
class Shattered:
    """Whether the heads of proposition 4.8 realise all patterns."""

    T: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row: distinct patterns, and the least distance to the threshold."""
        values = capacity.circle_values(*capacity.shattering(self.T))
        patterns = len(np.unique(values > 0.5, axis=0))
        margin = float(np.abs(values - 0.5).min())
        return pd.DataFrame([{"inputs": values.shape[1], "patterns": patterns, "margin": margin}])
