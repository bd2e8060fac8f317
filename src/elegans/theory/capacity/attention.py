r"""Covers of one layer of attention.

Softmax is a contraction from the maximum norm to the sum norm up to a constant $C$:
$\|\operatorname{softmax}(a) - \operatorname{softmax}(b)\|_1 \le C \|a - b\|_\infty$. Printed is
$C = 2$, the sum of all entries of the Jacobian; the sharp constant is $C = 1$, since for signs
$\sigma$ the norm of $J\sigma$ is $4q(1-q)$ at the mass $q$ of the positive ones. Hence for two
heads with the same output map (lemma 4.7), over all tokens of norm at most $B_X$,

$$\|f - f'\| \le C L B_V B_X \max_t |\text{score}_t - \text{score}'_t| + L \max_t \|W_V^\top x_t -
W_V'^\top x_t\|,$$

a maximum over $mT$ tokens: linear covers of that many points are enough, and $T$ enters through a
logarithm. Scores are within $B_X$ times the error of $W_{QK} x_t$. The explicit bounds divide the
radius between scores and values; `heads_scaling` is the formula of corollary 4.9, up to constants.

As printed, the powers of $B_X$ beside $B_{QK} B_V$ are 0 or 1. Only 2 leaves the bound as it is
when $X \mapsto cX$, $W_V \mapsto W_V/c$, $W_{QK} \mapsto W_{QK}/c^2$, which changes no function.
Fixed positions of norm $B_P$ add to $B_X$; nothing is proved for trained ones.
"""

import math

from elegans import checks
from elegans.theory.capacity.linear import Cover, check_radius, combined_cover, lemma_4_10, zhang
from elegans.theory.capacity.norms import HeadNorms, Norms

Real = float | int
SOFTMAX = 1.0
PRINTED_SOFTMAX = 2.0
# Where the document states the bound: its softmax constant, and the power of B_X beside B_QK B_V.
STATEMENTS = {"4.9": (1.0, 0), "A.1.4": (1.0, 1), "A.11": (2.0, 1), "A.12": (2.0, 0)}


def head_cover(
    norms: Norms, m: int, T: int, eps: Real, *, softmax: Real = SOFTMAX, printed: bool = False
) -> float:
    r"""$\ln \mathcal{N}_\infty$ of heads with norms at most `norms` on `m` examples of `T` tokens.

    What follows the head is fixed. With `printed`, $C = 2$ and the constant [CLS] token is not
    counted among the points.
    """
    owner = check_layer("head_cover", norms, m, T, eps)
    if len(norms.layers[0]) > 1:
        raise ValueError(f"{owner}: the layer has {len(norms.layers[0])} heads; use heads_cover.")
    return heads_cover(norms, m, T, eps, softmax=softmax, printed=printed)


def heads_cover(
    norms: Norms, m: int, T: int, eps: Real, *, softmax: Real = SOFTMAX, printed: bool = False
) -> float:
    """The same for the sum of all heads of a layer: the radius is divided among them as well."""
    check_layer("heads_cover", norms, m, T, eps)
    constant = PRINTED_SOFTMAX if printed else float(softmax)
    points = m * T if printed else m * T + 1
    terms = []
    for head in norms.layers[0]:
        out = norms.lipschitz * head.C * norms.w
        scores, values = head_terms(head, norms, points, constant)
        terms += [(out * scores[0], scores[1]), (out * values[0], values[1])]
    return 0.0 if eps >= largest_output(norms) else combined_cover(terms, eps)


def cls_cover(norms: Norms, m: int, T: int, eps: Real, *, softmax: Real = SOFTMAX) -> float:
    r"""The same where the query is the constant [CLS]: scores are one linear function of a token.

    $\langle q, x_t \rangle$ with $q = W_K W_Q^\top x_{[CLS]}$, so neither a (2,1) norm nor the norm
    of the query token enters. (Not in the document.)
    """
    check_layer("cls_cover", norms, m, T, eps)
    points, terms = m * T + 1, []
    for head in norms.layers[0]:
        out = norms.lipschitz * head.C * norms.w
        _, values = head_terms(head, norms, points, float(softmax))
        scores = linear_class(head.cls, norms.X, points)
        terms += [(softmax * out * head.V * norms.X, scores), (out * values[0], values[1])]
    return 0.0 if eps >= largest_output(norms) else combined_cover(terms, eps)


def attention_cover(
    scores: Cover,
    values: Cover,
    eps: Real,
    *,
    bound: Real,
    out: Real = 1.0,
    softmax: Real = SOFTMAX,
) -> float:
    r"""$\ln \mathcal{N}_\infty$ of any attention head from covers of its two parts (theorem 4.6).

    Args:
        scores: $\ln \mathcal{N}_\infty$ of the scores on all tokens of all examples, of a radius.
        values: The same for the values.
        eps: The radius.
        bound: On the norms of values ($B_{in} B_X$ in the document).
        out: Lipschitz constant of what follows.
        softmax: $C$.
    """
    owner = f"attention_cover(eps={eps})"
    check_radius(owner, eps, bound=bound, out=out, softmax=softmax)
    return combined_cover([(softmax * out * bound, scores), (out, values)], eps)


def with_positions(norms: Norms, BP: Real) -> Norms:
    """Norms after fixed position vectors of norm at most `BP` are added to the tokens (A.11)."""
    checks.number("with_positions", "BP", BP, low=0, what="is a norm")
    return norms._replace(X=norms.X + BP)


def head_terms(
    head: HeadNorms, norms: Norms, points: int, softmax: float
) -> tuple[tuple[float, Cover], tuple[float, Cover]]:
    """How the errors of the score matrix and of the value matrix enter a head, and their covers."""
    scores = matrix_class(head.QK21, norms.X, points, norms.dim)
    values = matrix_class(head.V21, norms.X, points, norms.key)
    return (softmax * head.V * norms.X**2, scores), (1.0, values)


def matrix_class(BW: float, BX: float, points: int, rows: int) -> Cover:
    """The cover of a class of matrices as a function of the radius; of the zero matrix, nothing."""
    return lambda eps: lemma_4_10(BW, BX, eps, points, rows) if BW * BX > 0 else 0.0


def linear_class(B1: float, B2: float, points: int) -> Cover:
    """The cover of a class of linear functions as a function of the radius."""
    return lambda eps: zhang(B1, B2, eps, points) if B1 * B2 > 0 else 0.0


def largest_output(norms: Norms) -> float:
    """A bound on the output of one layer: from that radius on the zero function is a cover.

    It is also the bound A of `dudley` and `generalisation`. (Of kind "block" that is `norms.w`.)
    """
    return sum(norms.lipschitz * h.C * norms.w * h.V * norms.X for h in norms.layers[0])


def heads_scaling(
    norms: Norms,
    m: int,
    T: int,
    eps: Real,
    *,
    softmax: Real = SOFTMAX,
    constant: Real = 1.0,
    printed: str | None = None,
) -> float:
    r"""Corollary 4.9 and lemma A.12 up to a constant: how capacity scales.

    $c\,(L B_X)^2 \big[\sum_h B_{V21}^{2/3} + (C B_{QK21} B_V B_X^2)^{2/3}\big]^3
    \ln(dmT)/\epsilon^2$; `printed` is one of "4.9", "A.1.4", "A.11" and "A.12", the statements of
    the document.
    """
    owner = check_layer("heads_scaling", norms, m, T, eps)
    power, size = 2, norms.dim * m * T
    if printed is not None:
        checks.choice(owner, "printed", printed, list(STATEMENTS))
        softmax, power = STATEMENTS[printed]
        size = m * T if printed == "4.9" else size
    total = sum(
        h.V21 ** (2 / 3) + (softmax * h.QK21 * h.V * norms.X**power) ** (2 / 3)
        for h in norms.layers[0]
    )
    return constant * (norms.lipschitz * norms.X) ** 2 * total**3 * math.log(size) / eps**2


def volumetric_cover(
    norms: Norms,
    eps: Real,
    *,
    cls: bool = False,
    split: float | None = None,
    softmax: Real = SOFTMAX,
    printed: bool = False,
) -> float:
    r"""$\ln \mathcal{N}_\infty$ by counting parameters: no $m$ and no $T$, but $d^2$.

    A ball of radius $B$ in $n$ dimensions has a cover of $(1 + 2B/r)^n$ balls of radius $r$. Scores
    move by at most $B_X^2 \|dW_{QK}\|_2$, values by $B_X \|dW_V\|_2$.

    Args:
        norms: Of the class, spectral.
        eps: The radius.
        cls: With the vector $q$ of the constant [CLS] query in the place of the matrix.
        split: The share of the radius that scores take; None is the best of many.
        softmax: $C$.
        printed: With $C = 2$.
    """
    check_layer("volumetric_cover", norms, 1, 1, eps)
    if eps >= largest_output(norms):
        return 0.0
    constant = PRINTED_SOFTMAX if printed else float(softmax)
    shares = [split] if split is not None else [i / 200 for i in range(1, 200)]
    radius, total = eps / len(norms.layers[0]), 0.0
    for h in norms.layers[0]:
        out = norms.lipschitz * h.C * norms.w
        scores = constant * out * h.V * norms.X * (norms.X * h.cls if cls else norms.X**2 * h.QK)
        unknowns = norms.dim if cls else norms.dim**2
        total += min(
            unknowns * math.log1p(2 * scores / (a * radius))
            + norms.dim * norms.key * math.log1p(2 * out * h.V * norms.X / ((1 - a) * radius))
            for a in shares
        )
    return total


def check_cover(name: str, norms: Norms, m: int, T: int, eps: Real) -> str:
    """The owner of a refusal, after refusing negative norms and a radius that is not positive."""
    owner = f"{name}(m={m}, T={T}, eps={eps})"
    checks.whole(owner, "m", m, low=1, what="counts the examples")
    checks.whole(owner, "T", T, low=1, what="counts the tokens of an example")
    check_radius(owner, eps, X=norms.X, w=norms.w, lipschitz=norms.lipschitz)
    for head in (head for layer in norms.layers for head in layer):
        check_radius(owner, eps, **head._asdict())
    return owner


def check_layer(name: str, norms: Norms, m: int, T: int, eps: Real) -> str:
    """The same for bounds on a single layer, which refuse a deeper network."""
    owner = check_cover(name, norms, m, T, eps)
    if len(norms.layers) > 1:
        raise ValueError(f"{owner}: the network has {len(norms.layers)} layers; use layers_cover.")
    return owner
