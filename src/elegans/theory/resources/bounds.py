r"""What resources finding a hidden parity takes: statistical and computational limits.

There are $\binom{n}{k}$ parities of $k$ out of $n$ bits, orthonormal under fair bits. By Bessel, a
function with $\|h\|_2 \le 1$ correlates by more than $\tau$ with fewer than $\tau^{-2}$ of them, so
a learner that sees averages up to an error $\tau$, as gradient descent does, rules out that many a
query. The prescriptions of the matching upper bounds are in `prescriptions`, an oracle that answers
such queries in `oracles`.

References: Kearns (1998); Blum et al. (1994); Edelman et al. (2023), Pareto frontiers in deep
feature learning, section 3 and appendix B; Barak et al. (2022), Hidden progress in deep learning.
"""

import math

from elegans import checks

Real = float | int
PROPOSITION_3 = 0.25  # printed as 1/2; see multi_resource_bound


def statistical_limit(n: int, k: int, flip: Real = 0.0) -> float:
    r"""Samples without which no learner finds the parity: $\log_2 \binom{n}{k} / (1 - H(p))$.

    A noiseless label carries at most one bit about the support; one that is flipped with
    probability $p$ carries at most the capacity $1 - H(p)$ of the channel. Infinite at $p = 1/2$.
    """
    check_support("statistical_limit", n, k)
    checks.number(
        f"statistical_limit(n={n}, k={k})", "flip", flip, low=0.0, high=1.0, what="is a rate"
    )
    capacity = 1 - binary_entropy(flip)
    supports = math.log2(math.comb(n, k))
    if supports == 0:
        return 0.0
    return supports / capacity if capacity > 0 else math.inf


def binary_entropy(p: float) -> float:
    r"""$H(p) = -p \log_2 p - (1-p) \log_2 (1-p)$, in bits."""
    return sum(-q * math.log2(q) for q in (p, 1 - p) if q > 0)


def search_samples(n: int, k: int, flip: Real = 0.0, delta: float = 0.05) -> int:
    r"""Samples with which exhaustive search succeeds with probability $1 - \delta$.

    The right support errs on a fraction $p$ of the labels, a wrong one on half. Each of the
    $\binom{n}{k} - 1$ wrong ones errs less than the right one with probability at most
    $(2\sqrt{p(1-p)} + 1)^m / 2^m$ (Chernoff, a tie counted as a failure); for $p = 0$ that is
    $2^{-m}$.
    """
    check_support("search_samples", n, k)
    owner = f"search_samples(n={n}, k={k})"
    checks.number(owner, "flip", flip, low=0.0, high=1.0, what="is a rate")
    checks.number(owner, "delta", delta, low=1e-300, high=1.0, what="is a probability")
    rate = -math.log(0.5 + math.sqrt(flip * (1 - flip)))
    if flip >= 0.5 or rate == 0:
        raise ValueError(f"{owner}: with flip = {flip} >= 1/2 the right support is not the best.")
    return math.ceil(max(0.0, math.log(max(math.comb(n, k) - 1, 1) / delta)) / rate)


def multi_resource_bound(
    n: int,
    k: int,
    *,
    width: Real | None = None,
    steps: Real | None = None,
    samples: Real | None = None,
    luck: Real | None = None,
    constant: Real = PROPOSITION_3,
) -> float:
    r"""The one resource that is not given, at the edge of Proposition 3: below it, no learning.

    With $r$ parameters, $T$ steps, gradients up to an error $\tau$, if
    $\frac{rT}{\tau^2 \delta} \le \frac14 \binom{n}{k}$ there is a parity for which training is
    independent of the target except with probability $\delta$. As in the remark there, $m$ samples
    stand for $\tau = m^{-1/2}$: the logarithm is dropped.

    The proposition prints 1/2. Its proof spends $\tau/2$ on the sampling error, so the correlation
    has to stay below $\tau/2$ as well, and Markov's inequality at $\tau^2/4$ gives 1/4. It also
    needs assumption 2 for the gradient on the true target, not for the zero target alone.

    Args:
        n: Bits.
        k: Relevant bits.
        width: Number of parameters $r$.
        steps: Gradient steps $T$.
        samples: Samples behind each gradient, $\tau^{-2}$.
        luck: Probability of success $\delta$.
        constant: 1/4, or 1/2 for the bound as printed, or 1 for exact population gradients.

    Returns:
        The least width, steps or samples that escape the bound, or, if luck is not given, the most
        luck that the others can buy (at most 1).
    """
    check_support("multi_resource_bound", n, k)
    resources = {"width": width, "steps": steps, "samples": samples, "luck": luck}
    missing = [name for name, value in resources.items() if value is None]
    if len(missing) != 1:
        raise ValueError(
            f"multi_resource_bound(n={n}, k={k}): give three of width, steps, samples, luck and "
            f"leave out the one to solve for; left out: {', '.join(missing) or 'none'}."
        )
    logs = 0.0  # of r T m / delta: sums of logarithms do not overflow
    for name, value in resources.items():
        if value is not None:
            if not value > 0:
                raise ValueError(
                    f"multi_resource_bound(n={n}, k={k}): {name} is positive; got {value!r}."
                )
            logs += -math.log(value) if name == "luck" else math.log(value)
    edge = math.log(constant) + math.log(math.comb(n, k))
    if missing == ["luck"]:
        return min(1.0, math.exp(min(0.0, logs - edge)))
    return exponential(edge - logs)


def query_bound(parities: int, tolerance: float, error: float = 0.0) -> float:
    r"""Queries at `tolerance` $\tau$ that learning one of `parities` to `error` takes.

    Answering a query $\phi(x, y) = \phi_0(x) + y \phi_1(x)$ by $\mathbb{E}\,\phi_0$ is wrong by
    more than $\tau$ for fewer than $\tau^{-2}$ parities, and a hypothesis of error $e < 1/2$ fits
    at most $(1 - 2e)^{-2}$ of them (Bessel, twice). So at least
    $\left(N - (1 - 2e)^{-2}\right) \tau^2$ queries.

    Theorem 14 is $N = 2^m$, $e = 1/3$: $\Omega(2^m \tau^2)$ is $(2^m - 9)\tau^2$.
    """
    owner = f"query_bound(parities={parities}, tolerance={tolerance}, error={error})"
    checks.whole(owner, "parities", parities, low=1, what="counts the targets")
    checks.number(
        owner, "tolerance", tolerance, low=0.0, high=1.0, what="is an error of an average"
    )
    if not 0 <= error < 0.5:
        raise ValueError(f"{owner}: half is the error of guessing, so error lies in [0, 1/2).")
    left = parities - (1 - 2 * error) ** -2
    return max(0.0, exponential(math.log(left) + 2 * math.log(tolerance))) if left > 0 else 0.0


def parity_queries(m: int, tolerance: float) -> float:
    r"""Theorem 14: queries to learn all parities of `m` bits to error 1/3."""
    return query_bound(2**m, tolerance, error=1 / 3)


def fixed_kernel_loss(n: int, k: int, norm: Real, dimension: int | None = None) -> float:
    r"""Theorem 5.6: the hinge loss that a linear predictor on fixed features has on some parity.

    For features with $\sup_x \|\Psi(x)\|_2 \le 1$ and weights with $\|w\|_2 \le R$,
    $\mathbb{E}\,\mathrm{hinge} \ge 1 - \langle w, \mathbb{E}\,\chi_S \Psi \rangle$ and
    $\sum_S \|\mathbb{E}\,\chi_S\Psi\|^2 \le \mathbb{E}\|\Psi\|^2 \le 1$, so on some $S$ the loss is
    at least $1 - R \binom{n}{k}^{-1/2}$: no number of features helps.

    As printed, $1 - R \sqrt{D / \binom{n}{k}}$ (given `dimension` $D$), which is weaker, and the
    same is claimed of the 0-1 loss, which is false: $w$ or $-w$ errs on at most half.
    """
    check_support("fixed_kernel_loss", n, k)
    checks.number(f"fixed_kernel_loss(n={n}, k={k})", "norm", norm, low=0.0, what="bounds a norm")
    features = 1 if dimension is None else dimension
    return max(0.0, 1 - norm * math.sqrt(features / math.comb(n, k)))


def fixed_kernel_norm(n: int, k: int, epsilon: float) -> float:
    r"""The norm $R$ that fixed features need for a hinge loss of $1 - \epsilon$ on every parity."""
    check_support("fixed_kernel_norm", n, k)
    return epsilon * math.sqrt(math.comb(n, k))


def exponential(logarithm: float) -> float:
    """The exponential, infinite where it exceeds the floats."""
    return math.exp(logarithm) if logarithm < 709 else math.inf


def check_support(owner: str, n: int, k: int) -> None:
    """Refuses supports that are larger than the input."""
    checks.whole(f"{owner}(n={n}, k={k})", "n", n, low=1, what="counts the bits")
    checks.whole(f"{owner}(n={n}, k={k})", "k", k, low=1, high=n, what="counts relevant bits")
