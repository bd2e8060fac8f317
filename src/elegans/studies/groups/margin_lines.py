r"""Figure 7.3 made true: margins along straight lines through a network of maximum margin.

With label weights $\tau$ the weighted margin $g' = f[y] - \sum \tau f[y']$ is at least the margin
$g$. Its mean over the population is at most $B(\tau)$ for every network of norm 1, and at a network
$\theta^*$ of maximum margin it equals the smallest $g$. So along any line the curve of $g'$ lies
above that of $g$ and touches it at $\theta^*$, where both have their largest value: $\theta^*$ is
optimal because the upper curve says so.

One line goes in a random direction. The other ends in the network of D.4, which stores the table
with two neurons per pair: it is right everywhere, by a small margin.
"""

import numpy as np
import pandas as pd
from jaxtyping import Float

from elegans import constructions
from elegans.constructions.groups import memorising
from elegans.fields import configuration
from elegans.models.two_embedding import Embeddings, TwoEmbedding
from elegans.tasks import GroupOperation
from elegans.tasks.groups import FiniteGroup
from elegans.theory import groups as theory
from elegans.theory.groups.margins import network_norm

DIRECTIONS = ("random", "memorising")
REACH = 1.25  # how far lines go; at 1 the second one has arrived


@configuration
class MarginLine:
    """A computation: margin and mean weighted margin at points of a line through the maximum.

    Attributes:
        group: Any finite group with a table.
        direction: "random", or "memorising", in which the line arrives at that network at t = 1.
        points: On either side of the maximum.
    """

    group: FiniteGroup
    direction: str
    points: int = 50

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row per point t, both margins as parts of the largest possible one."""
        start, end = self.ends(seed)
        best = theory.maximum_margin(self.group)
        task, model = GroupOperation(self.group), TwoEmbedding(start.u.shape[1])
        rows = []
        for t in np.linspace(-REACH, REACH, 2 * self.points + 1):
            params = Embeddings(*((1 - t) * a + t * b for a, b in zip(start, end, strict=True)))
            weighted = theory.weighted_margins(model, params, task, best.tau)
            margin = theory.normalised_margin(model, params, task)
            row = {"t": float(t), "margin": margin, "weighted": float(weighted.mean())}
            rows.append(row)
        table = pd.DataFrame(rows)
        return table.assign(
            margin=table["margin"] / best.value, weighted=table["weighted"] / best.value
        )

    def ends(self, seed: int) -> tuple[Embeddings, Embeddings]:
        """The networks at t = 0, of maximum margin, and at t = 1; both have norm 1."""
        model, params = constructions.max_margin(self.group)
        if self.direction == "random":
            rng = np.random.default_rng([self.group.order, seed])
            noise = Embeddings(*(rng.standard_normal(part.shape) for part in params))
            size = network_norm(model, noise)
            return params, Embeddings(*(a + b / size for a, b in zip(params, noise, strict=True)))
        other_model, other = memorising(self.group)
        width, size = model.width, network_norm(other_model, other)
        other = Embeddings(*(np.asarray(part) / size for part in other))
        return (
            _beside(params, 0, other_model.width),
            _beside(other, width, 0),
        )


def _beside(params: Embeddings, before: int, after: int) -> Embeddings:
    """The same network among neurons of weight zero."""
    columns, rows = ((0, 0), (before, after)), ((before, after), (0, 0))
    return Embeddings(np.pad(params.u, columns), np.pad(params.v, columns), np.pad(params.w, rows))


def touches(line: pd.DataFrame) -> Float[np.ndarray, " points"]:
    """Where on a line the two margins are equal and the largest possible, up to rounding."""
    is_equal = (line["weighted"] - line["margin"]).abs() < 1e-9
    return line["t"][is_equal & ((line["margin"] - 1).abs() < 1e-9)].to_numpy(float)
