r"""Covers of several layers of attention, with projections onto the unit ball between them.

If the weights of layer $i$ cause an error $e_i$ at its output, the next layers amplify it:
$\epsilon^{(i+1)} = \kappa_i \epsilon^{(i)} + e_i$ with $\kappa_i = L B_C B_V (1 + 2 C B_{QK})$,
summed over heads, so that the error at the end is $\sum_i \alpha_i e_i$ with $\alpha_i =
\prod_{j > i} \kappa_j$. The local error is $\epsilon_C + C L B_C B_V \epsilon_{QK} + L B_C
\epsilon_V$. With the readout, $\|w\| \le B_w$ (theorem A.17),

$$\ln \mathcal{N} \lesssim \frac{\ln(dmT)}{\epsilon^2} B_w^2 \Big(1 + \sum_i \alpha_i^{2/3} \big[
(L B_{C21})^{2/3} + (C L B_C B_V B_{QK21})^{2/3} + (L B_C B_{V21})^{2/3}\big]\Big)^3 .$$

Printed are the product over $j < i$, which belongs to the first layers where the last ones amplify;
factors $d^{2/3}$ and $k^{2/3}$, which would not be logarithmic in $d$; $B_w$ on the first term
only; no $L$ with $B_{C21}$; and $1 + 4 B_{QK}$, which is $C = 2$. The text says that norms of at
most 1 avoid an exponential in the depth; but $\kappa$ is then 3 or 5, and layers of norm 1 that
amplify by nearly 2 exist.
"""

import math
from collections.abc import Sequence

from elegans.theory.capacity.attention import (
    PRINTED_SOFTMAX,
    SOFTMAX,
    Real,
    check_cover,
    linear_class,
    matrix_class,
)
from elegans.theory.capacity.linear import combined_cover
from elegans.theory.capacity.norms import Norms


def amplifications(kappas: Sequence[Real], *, printed: bool = False) -> list[float]:
    r"""$\alpha_i = \prod_{j > i} \kappa_j$; printed, the product is over $j < i$."""
    sizes = [float(kappa) for kappa in kappas]
    return [
        math.prod(sizes[:i] if printed else sizes[i + 1 :], start=1.0) for i in range(len(sizes))
    ]


def layer_lipschitz(norms: Norms, softmax: Real) -> list[float]:
    r"""$\kappa_i$ of each layer, summed over its heads."""
    return [
        sum(norms.lipschitz * h.C * h.V * (1 + 2 * softmax * h.QK) for h in layer)
        for layer in norms.layers
    ]


def layers_cover(
    norms: Norms, m: int, T: int, eps: Real, *, softmax: Real = SOFTMAX, printed: bool = False
) -> float:
    r"""$\ln \mathcal{N}_\infty$ of networks of kind "block", with all constants.

    All weights vary within their norms, the readout too. With `printed`, $C = 2$ (the slips of the
    printed formula are in `layers_scaling`, as they do not give a cover).
    """
    owner = check_cover("layers_cover", norms, m, T, eps)
    if norms.X > 1 + 1e-12:
        raise ValueError(
            f"{owner}: the bound is for tokens of norm at most 1; got X={norms.X:g}. Networks of "
            'kind "block" project them.'
        )
    if eps >= norms.w:
        return 0.0
    constant = PRINTED_SOFTMAX if printed else float(softmax)
    L, points = norms.lipschitz, m * (T + 1)
    terms = [(1.0, linear_class(norms.w, 1.0, m))]
    alphas = amplifications(layer_lipschitz(norms, constant))
    for alpha, layer in zip(alphas, norms.layers, strict=True):
        scale = norms.w * alpha
        for h in layer:
            terms += [
                (scale, matrix_class(h.C21, L, points, norms.dim)),
                (scale * constant * L * h.C * h.V, matrix_class(h.QK21, 1.0, points, norms.dim)),
                (scale * L * h.C, matrix_class(h.V21, 1.0, points, norms.key)),
            ]
    return combined_cover(terms, eps)


def layers_scaling(
    norms: Norms,
    m: int,
    T: int,
    eps: Real,
    *,
    softmax: Real = SOFTMAX,
    constant: Real = 1.0,
    printed: bool = False,
) -> float:
    """Theorem A.17 up to a constant, as it should be or as printed."""
    check_cover("layers_scaling", norms, m, T, eps)
    C = PRINTED_SOFTMAX if printed else float(softmax)
    L, total = norms.lipschitz, norms.w ** (2 / 3) if printed else 1.0
    alphas = amplifications(layer_lipschitz(norms, C), printed=printed)
    output_scale = 1.0 if printed else L
    score_scale = float(norms.dim) if printed else 1.0
    value_scale = float(norms.key) if printed else 1.0
    for alpha, layer in zip(alphas, norms.layers, strict=True):
        total += alpha ** (2 / 3) * sum(
            (output_scale * h.C21) ** (2 / 3)
            + (score_scale * C * L * h.C * h.V * h.QK21) ** (2 / 3)
            + (value_scale * L * h.C * h.V21) ** (2 / 3)
            for h in layer
        )
    size = math.log(norms.dim * m * T) / eps**2
    return constant * size * total**3 * (1.0 if printed else norms.w**2)
