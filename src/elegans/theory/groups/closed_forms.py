r"""Closed forms of maximum margins: Theorems 7.7, 7.8 and 7.9 of the thesis, and what joins them.

If $\sum_S \frac{1}{t_S} D_S^{3/2} \chi_S(C) \le 0$ for every class $C \ne \{e\}$, the sum over
non-trivial real irreducible representations, the matrix game of `game` is solved by shares in
proportion to $D_S^{5/2} / t_S$ and by $\tau_C$ in proportion to minus that sum, so that

$$\gamma^* = \frac{2}{3\sqrt{3|G|}} \Big/ \sum_S \frac{D_S^{5/2}}{t_S}.$$

Theorem 7.9 is the case $t = 1$, with strict inequalities; Theorem 7.7 is $D = t = 2$. The printed
$\tau$ of Lemma D.14 lacks the minus.
"""

import math

import numpy as np
from jaxtyping import Float

from elegans import checks
from elegans.tasks.groups import FiniteGroup
from elegans.theory.groups.characters import RealCharacterTable, real_character_table


def cyclic_margin(p: int) -> float:
    r"""Theorem 7.7: $\sqrt{2/27}\,/\,(\sqrt p\,(p - 1))$ for addition modulo an odd `p`.

    The thesis asks for a prime, which its proof does not use. For even `p` one representation is
    real, and the margin is that of `closed_form_margin`.
    """
    checks.whole("cyclic_margin", "p", p, low=3, what="is the modulus")
    if p % 2 == 0:
        raise ValueError(
            f"cyclic_margin: Theorem 7.7 is for odd p; got {p}. Use maximum_margin(Cyclic({p}))."
        )
    return math.sqrt(2 / 27) / (math.sqrt(p) * (p - 1))


def parity_margin(k: int) -> float:
    r"""Theorem 7.8: $k! \sqrt{2 (k+1)^{-(k+1)}}$ for parities of `k` bits, of however many.

    It is the largest margin of $\sum_i (u_i \cdot x)^k w_i$, $w_i \in \mathbb{R}^2$, under
    $\|\theta\|_{2,k+1} = 1$, from width $2^{k-1}$ on.
    """
    checks.whole("parity_margin", "k", k, low=1, what="counts the relevant bits")
    return math.factorial(k) * math.sqrt(2 / (k + 1) ** (k + 1))


def real_group_margin(group: FiniteGroup) -> float:
    """Theorem 7.9: the margin of a group with real representations that meets its condition.

    Raises:
        ValueError: A representation is not real, or the condition fails on a class.
    """
    table = real_character_table(group)
    for label, kind in zip(table.labels, table.types, strict=True):
        if kind != "real":
            raise ValueError(
                f"{group}: Theorem 7.9 is for groups whose representations are all real; "
                f"{label} is {kind}. Use maximum_margin."
            )
    _check_condition(group, table, strict=True)
    return _margin(group, table)


def closed_form_margin(group: FiniteGroup) -> float:
    """The margin of any group that meets the condition at the head of this file.

    Raises:
        ValueError: The condition fails on a class; `maximum_margin` needs none.
    """
    table = real_character_table(group)
    _check_condition(group, table, strict=False)
    return _margin(group, table)


def class_condition(group: FiniteGroup) -> Float[np.ndarray, " classes"]:
    r"""$\sum_S \frac{1}{t_S} D_S^{3/2} \chi_S(C)$ for each class; closed forms ask for $\le 0$.

    Classes are those of `real_character_table`; the identity, which is first, is not asked.
    """
    table = real_character_table(group)
    return (table.dimensions**1.5 / table.commutants)[1:] @ table.values[1:]


def _check_condition(group: FiniteGroup, table: RealCharacterTable, *, strict: bool) -> None:
    sums = class_condition(group)
    worst = 1 + int(np.argmax(sums[1:]))
    # A sum that is zero up to rounding meets the weak inequality and not the strict one.
    slack = 1e-9 * float(sums[0])
    if sums[worst] > (-slack if strict else slack):
        bound = "negative" if strict else "at most 0"
        raise ValueError(
            f"{group}: the closed form asks that the sum of D^1.5 chi / t be {bound} on classes "
            f"other than e; it is {sums[worst]:.6g} on that of {table.classes[worst]}. "
            "Use maximum_margin."
        )


def _margin(group: FiniteGroup, table: RealCharacterTable) -> float:
    total = float(np.sum((table.dimensions**2.5 / table.commutants)[1:]))
    return 2 / (3 * math.sqrt(3 * group.order)) / total
