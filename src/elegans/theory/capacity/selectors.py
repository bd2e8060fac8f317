r"""Heads that select $s$ of $T$ positions, in closed form.

The head of lemma A.19 attends to each hidden position with score $R$ and to all others, [CLS]
included, with score 0; hidden bits count as $c_t = \pm 1$ ($+1$ if true) and [CLS] as 0. So

$$f_I(b) = \frac{e^R \sum_{t \in I} c_t + \sum_{t \notin I} c_t}{s e^R + T + 1 - s},$$

the softmax running over $T + 1$ tokens. All $\binom Ts$ of them have the same norms. This makes
$\ln T$ tight: a class that holds them has $\ln\mathcal{N} \ge \ln\binom Ts$.
"""

import math

import numpy as np
from jaxtyping import Float, Int, Num

from elegans import checks

Real = float | int


def selector_values(
    x: Num[np.ndarray, "m T"], supports: Int[np.ndarray, "functions s"], R: Real
) -> Float[np.ndarray, "functions m"]:
    """The selectors of all supports on bits `x` (-1 is true), one row per support."""
    T, s = x.shape[1], supports.shape[1]
    c = -np.asarray(x, dtype=np.float64)
    hidden = c.T[supports].sum(axis=1)
    # Divided by e**R, which overflows long before a rate is unusual.
    rest = math.exp(-R) * (c.sum(axis=1) - hidden)
    return (hidden + rest) / (s + math.exp(-R) * (T + 1 - s))


def selector_distance(T: int, s: int, R: Real) -> float:
    r"""The least distance of two selectors, $2(e^R - 1)/(s e^R + T + 1 - s)$.

    Supports that differ in one position are closest, and they differ most where one of the two bits
    is true and the other is not.
    """
    check_selection(f"selector_distance(T={T}, s={s})", T, s)
    return 2 * -math.expm1(-R) / (s + math.exp(-R) * (T + 1 - s))


def selector_entropy(T: int, s: int) -> float:
    r"""$\ln \binom Ts$: a lower bound on $\ln \mathcal{N}$ below half the selectors' distance."""
    check_selection(f"selector_entropy(T={T}, s={s})", T, s)
    return math.log(math.comb(T, s))


def selection_error(T: int, s: int, R: Real) -> float:
    r"""The largest error of $f_I$ against $(2r - s)/s$, for $r$ true hidden bits.

    $(2(T - s) + 1)/(s e^R + T + 1 - s)$. At $s = 1$ it is that of one of $s$ heads,
    $(2T - 1)/(e^R + T)$.
    """
    check_selection(f"selection_error(T={T}, s={s})", T, s)
    return (2 * (T - s) + 1) * math.exp(-R) / (s + math.exp(-R) * (T + 1 - s))


def bag_error(T: int, s: int, R: Real) -> float:
    r"""The same for a bag of vectors against $(r - s)/(r + 1)$: $sT/(e^R + T)$, at $r = 0$."""
    check_selection(f"bag_error(T={T}, s={s})", T, s)
    return s * T * math.exp(-R) / (1 + math.exp(-R) * T)


def flip_effect(T: int, s: int, R: Real) -> float:
    r"""How much a relevant bit moves $f_I$: $2e^R/(s e^R + T + 1 - s)$ (Hahn's limit).

    At a fixed rate it falls as $2e^R/T$: bounded weights cannot keep a bit relevant. At
    $R = \ln(4Ts)$ it tends to $2/s$.
    """
    check_selection(f"flip_effect(T={T}, s={s})", T, s)
    return 2 / (s + math.exp(-R) * (T + 1 - s))


def check_selection(owner: str, T: int, s: int) -> None:
    """Refuses a hidden set that is larger than the input."""
    checks.whole(owner, "T", T, low=1, what="counts the positions")
    checks.whole(owner, "s", s, low=1, high=T, what="counts the selected positions")
