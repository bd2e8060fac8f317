r"""Covers of linear classes on $N$ points, and how to divide a radius among several of them.

$\mathcal{N}_\infty(\epsilon)$ is the least number of functions such that each of the class is
within $\epsilon$ of one of them at all points. Every function of this package returns its natural
logarithm (section 4.2 of the document drops the logarithm), and every constant is written out.

For $\|w\| \le B_1$, $\|x\| \le B_2$ (Zhang, 2002, theorem 4)

$$\ln \mathcal{N}_\infty(\epsilon) \le 36 \Big(\frac{B_1 B_2}{\epsilon}\Big)^2
\ln\Big(2 \Big\lceil \frac{4 B_1 B_2}{\epsilon} + 2 \Big\rceil N + 1\Big),$$

logarithmic in $N$. For matrices, $x \mapsto Wx$, whose row norms sum to $B_W$ (lemma 4.10): the
vector of the row norms is covered at radius $\epsilon_1$ by Maurey's lemma, and row $i$ of norm
$v_i$ as above at radius $\epsilon_2 \sqrt{v_i/\|v\|_1}$, with $\epsilon_2 + B_X \epsilon_1 =
\epsilon$. The cover is not made of members of the class, and nothing here needs that.
"""

import math
from collections.abc import Callable, Sequence

from elegans import checks

Real = float | int
Cover = Callable[[float], float]  # the logarithm of a covering number, of a radius
ROUNDS = 4  # of refining a split; logarithms move it little after the second


def check_radius(owner: str, eps: Real, **sizes: Real) -> None:
    """Refuses a radius that is not positive, and norms that are negative."""
    checks.number(owner, "eps", eps, what="is the radius of a cover")
    if not eps > 0:
        raise ValueError(f"{owner}: eps is the radius of a cover, so it is positive; got {eps!r}.")
    for name, size in sizes.items():
        checks.number(owner, name, size, low=0, what="is a norm")


def linear_cover(B1: Real, B2: Real, eps: Real, N: int) -> float:
    r"""$\ln \mathcal{N}_\infty$ of linear maps, $\|w\| \le B_1$, at `N` points, $\|x\| \le B_2$.

    It is 0 from $\epsilon = B_1 B_2$ on, where the zero function is a cover.
    """
    owner = f"linear_cover(B1={B1}, B2={B2}, eps={eps}, N={N})"
    check_radius(owner, eps, B1=B1, B2=B2)
    checks.whole(owner, "N", N, low=1, what="counts the points")
    return 0.0 if eps >= B1 * B2 else zhang(B1, B2, eps, N)


def matrix_cover(
    BW: Real, BX: Real, eps: Real, N: int, rows: int, *, printed: bool = False
) -> float:
    r"""$\ln \mathcal{N}_\infty$ of $x \mapsto Wx$, the norms of whose rows sum to at most $B_W$.

    As printed, the number of terms in Maurey's lemma is not rounded up.
    """
    owner = f"matrix_cover(BW={BW}, BX={BX}, eps={eps}, N={N}, rows={rows})"
    check_radius(owner, eps, BW=BW, BX=BX)
    checks.whole(owner, "N", N, low=1, what="counts the points")
    checks.whole(owner, "rows", rows, low=1, what="counts the rows of the matrix")
    if eps >= BW * BX:
        return 0.0
    return lemma_4_10(BW, BX, eps, N, rows, printed=printed)


def zhang(B1: Real, B2: Real, eps: Real, N: int) -> float:
    """The bound for one linear function, at any radius."""
    ratio = B1 * B2 / eps
    return 36 * ratio**2 * math.log(2 * math.ceil(4 * ratio + 2) * N + 1)


def lemma_4_10(BW: Real, BX: Real, eps: Real, N: int, rows: int, *, printed: bool = False) -> float:
    """The bound for matrices at any radius, divided well between norms and directions."""

    def norms(radius: float) -> float:
        terms = (BW / radius) ** 2
        return (terms if printed else math.ceil(terms)) * math.log(2 * rows + 1)

    def directions(radius: float) -> float:
        return zhang(BW, BX, radius, N)

    return combined_cover([(BX, norms), (1.0, directions)], eps)


def best_split(alphas: Sequence[Real], betas: Sequence[Real], total: Real) -> list[float]:
    r"""The $x_i > 0$ that minimise $\sum \alpha_i/x_i^2$ under $\sum \beta_i x_i =$ `total`.

    $x_i = \frac C\gamma (\alpha_i/\beta_i)^{1/3}$ with $\gamma = \sum \alpha_i^{1/3}
    \beta_i^{2/3}$; the minimum is $\gamma^3/C^2$ (lemma A.8).
    """
    gamma = sum(a ** (1 / 3) * b ** (2 / 3) for a, b in zip(alphas, betas, strict=True))
    return [total / gamma * (a / b) ** (1 / 3) for a, b in zip(alphas, betas, strict=True)]


def combined_cover(terms: Sequence[tuple[Real, Cover]], eps: Real) -> float:
    r"""The least sum of covers, nearly, over radii with $\sum_j \beta_j \epsilon_j = \epsilon$.

    Any split gives a cover. Covers are close to $\alpha_j/\epsilon_j^2$, so the best split for
    those, with $\alpha_j$ from the last round, is close to the best of all. A term whose factor
    $\beta_j$ is 0 never matters to the output, and one whose cover is a single function needs no
    radius: both are left out.
    """
    active = [(beta, cover) for beta, cover in terms if beta > 0 and cover(eps / beta) > 0]
    if not active:
        return 0.0
    betas = [beta for beta, _ in active]
    radii = [eps / (len(active) * beta) for beta in betas]
    best = math.inf
    for _ in range(ROUNDS):
        sizes = [cover(radius) for (_, cover), radius in zip(active, radii, strict=True)]
        best = min(best, sum(sizes))
        alphas = [size * radius**2 for size, radius in zip(sizes, radii, strict=True)]
        radii = best_split(alphas, betas, eps)
    return best
