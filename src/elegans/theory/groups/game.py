r"""The maximum margin of a finite group, as the value of a matrix game.

Quadratic networks of two embeddings, $f(a, b)[c] = \sum_i (u_i[a] + v_i[b])^2 w_i[c]$, under
$\|\theta\|_{2,3} = 1$ on all pairs of $G$. With $S$ over non-trivial real irreducible
representations, of dimension $D_S$, and $C$ over non-trivial classes joined with their inverses,

$$\gamma^* = \frac{2}{(3|G|)^{3/2}} \operatorname{val}(M), \qquad
M[S, C] = \frac{D_S - \chi_S(C)}{D_S^{3/2}}.$$

*At least:* the neurons $(S_{ij}, \pm S_{jk}, \pm S_{ik})$ of `constructions.max_margin`, with
shares $n_S$ of $\|\theta\|^3$, compute $\frac{2}{(3|G|)^{3/2}} \sum_S n_S D_S^{-3/2} \chi_S(a b
c^{-1})$, whose smallest margin is that of the game's $\min_C (nM)_C$.

*At most:* let a wrong label $c$ weigh $\tau(a b c^{-1})$, $\tau$ a class function with $\tau(g) =
\tau(g^{-1})$ that sums to one. The mean weighted margin of a neuron is a trilinear form in $(u, v,
w)$, and zero between different representations (Schur). In each, $\sum_g \tau(g) S(g)$ is central
and symmetric, so a real scalar, and what is left is a product in a matrix algebra over
$\mathbb{R}$, $\mathbb{C}$ or $\mathbb{H}$, where $\|AB\|_F \le \|A\|_F \|B\|_F$: a unit neuron has
at most $\frac{2}{(3|G|)^{3/2}} \sum_C |C| \tau_C M[S, C]$. The largest of these over $S$,
$B(\tau)$, bounds the margin of every network.

The thesis has this for groups whose representations are all real (D.9.2), as a search over subsets
of the character table; those are the kernels of the game, which has a solution for every group.
"""

import functools
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from elegans.tasks.groups import FiniteGroup, check_group
from elegans.theory.groups.characters import (
    ReadOnly,
    RealCharacterTable,
    inverse_closed_classes,
    real_character_table,
)
from elegans.theory.groups.matrix_game import SHARE_TOLERANCE, equilibrium, optimal_range


@dataclass(frozen=True, eq=False)
class MaximumMargin(ReadOnly):
    r"""The solution of the game.

    Representations are numbered as in `irreducibles`, classes as in `real_character_table`; the
    trivial representation and the identity are among them, with share and weight zero.

    Attributes:
        value: The maximum normalised margin $\gamma^*$.
        bound: $B(\tau)$, which equals the value up to rounding.
        shares: One optimal share of $\|\theta\|^3$ per representation.
        tau: The weight of a wrong label, per element of each class: $\sum_C |C| \tau_C = 1$.
        low, high: The smallest and largest share of each representation among all optimal ones.
        labels: The name of each representation.
        classes: The name of each class.
    """

    value: float
    bound: float
    shares: Float[np.ndarray, " reps"]
    tau: Float[np.ndarray, " classes"]
    low: Float[np.ndarray, " reps"]
    high: Float[np.ndarray, " reps"]
    labels: tuple[str, ...]
    classes: tuple[str, ...]

    @property
    def required(self) -> tuple[int, ...]:
        """Representations that every network of maximum margin uses."""
        return tuple(int(i) for i in np.flatnonzero(self.low > SHARE_TOLERANCE))

    @property
    def never(self) -> tuple[int, ...]:
        """Representations that no network of maximum margin uses; the trivial one is among them."""
        return tuple(int(i) for i in np.flatnonzero(self.high <= SHARE_TOLERANCE))

    @property
    def optional(self) -> tuple[int, ...]:
        """Representations that some networks of maximum margin use, and others do not."""
        return tuple(sorted(set(range(len(self.low))) - {*self.required, *self.never}))


def margin_unit(group: FiniteGroup) -> float:
    r"""The factor $2 / (3|G|)^{3/2}$ between the game's payoff and a margin."""
    return float(2 / (3 * group.order) ** 1.5)


def payoff(table: RealCharacterTable) -> Float[np.ndarray, "reps classes"]:
    r"""The matrix $(D - \chi(C)) / D^{3/2}$, without the trivial representation and class."""
    d = table.values[1:, :1]
    return (d - table.values[1:, 1:]) / d**1.5


def maximum_margin(group: FiniteGroup) -> MaximumMargin:
    """The maximum margin, its norm shares and label weights, for any finite group.

    Characters alone are needed: symmetric groups are solved without their table.
    """
    check_group("maximum_margin", group)
    return _maximum_margin(group)


@functools.lru_cache(maxsize=64)
def _maximum_margin(group: FiniteGroup) -> MaximumMargin:
    table = real_character_table(group)
    game = payoff(table)
    shares, weights = equilibrium(game)
    low, high = optimal_range(game, shares, weights)
    unit = margin_unit(group)
    zero = np.zeros(1)
    return MaximumMargin(
        value=unit * float((shares @ game).min()),
        bound=unit * float((game @ weights).max()),
        shares=np.concatenate([zero, shares]),
        tau=np.concatenate([zero, weights / table.sizes[1:]]),
        low=np.concatenate([zero, low]),
        high=np.concatenate([zero, high]),
        labels=table.labels,
        classes=table.classes,
    )


def single_neuron_bound(group: FiniteGroup, tau: Float[np.ndarray, " classes"]) -> float:
    r"""$B(\tau)$: the largest mean weighted margin of a unit neuron, which bounds every margin.

    Args:
        group: Any finite group.
        tau: The weight of a wrong label $c$ by the class of $a b c^{-1}$, per element; classes as
            in `real_character_table`.
    """
    table = real_character_table(group)
    check_weights(group, tau)
    weights = tau[1:] * table.sizes[1:]
    return margin_unit(group) * float((payoff(table) @ weights).max())


def check_weights(group: FiniteGroup, tau: Float[np.ndarray, " classes"]) -> None:
    """Refuses label weights that are not a distribution on the elements other than e."""
    sizes = real_character_table(group).sizes
    if tau.shape != sizes.shape:
        raise ValueError(
            f"tau: {group} has {len(sizes)} classes joined with their inverses, each with one "
            f"weight; got {tau.shape}. Weights that are no function of these have no closed bound."
        )
    total = float(tau @ sizes)
    if tau[0] != 0 or tau.min() < 0 or not np.isclose(total, 1.0, rtol=0, atol=1e-9):
        raise ValueError(
            "tau: weights are at least 0, zero at the identity (class 0), and sum to 1 over "
            f"elements; got {tau[0]} at the identity, least {tau.min()}, sum {total}."
        )


def element_weights(
    group: FiniteGroup, tau: Float[np.ndarray, " classes"]
) -> Float[np.ndarray, " n"]:
    """The weight of each element of the group, from the weights of classes."""
    check_weights(group, tau)
    return tau[inverse_closed_classes(group)]
