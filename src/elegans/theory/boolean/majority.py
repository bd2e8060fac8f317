r"""The Fourier coefficients of majority and of its derivative, in closed form.

$\mathrm{Maj}_n(x)$ is the sign of $\sum_i x_i$ and $\mathrm{Half}_n(x) = [\sum_i x_i = 0]$. Both
are symmetric, so the coefficient at a set depends on its size $k$ alone. With $n = 2m$, $k = 2j$,

$$\widehat{\mathrm{Half}}_{n}(k) = \widehat{\mathrm{Maj}}_{n+1}(k+1)
= (-1)^j \frac{\binom{m}{j}}{\binom{2m}{2j}} \frac{\binom{2m}{m}}{2^{2m}}
= (-1)^j \prod_{i<j} \frac{2i+1}{2m-2i-1} \prod_{i=1}^{m} \Big(1 - \frac{1}{2i}\Big).$$

Sums of logarithms, with Stirling's series for the last product, overflow at no $n$. For even $n$ a
tie is worth `ties`; the documents take $-1$. A tie broken by a coin is a bit more: that is
$\mathrm{Maj}_{n+1}$ at sets without the coin.

References: O'Donnell (2014), Analysis of Boolean functions, section 5.3; Titsworth (1962).
"""

import math

import numpy as np

from elegans import checks


def log_half(n: int, k: int) -> float:
    r"""$\log |\widehat{\mathrm{Half}}_n(k)|$, minus infinity where the coefficient is zero."""
    check_size("Half", n, k)
    if n % 2 or k % 2:
        return -math.inf
    m = n // 2
    j = min(k // 2, m - k // 2)  # complements have coefficients of equal size
    i = np.arange(j, dtype=float)
    ratio = np.log((2 * i + 1) / (2 * m - 2 * i - 1)).sum()
    return float(ratio) + log_central(m)


def log_central(m: int) -> float:
    r"""$\log \left(\binom{2m}{m} 2^{-2m}\right)$, to the last digits at every `m`."""
    if m < 100:
        return math.log(math.comb(2 * m, m) / 4**m)
    inverse = 1 / m  # Stirling's series; the next term is below 1e-17
    series = -inverse / 8 + inverse**3 / 192 - inverse**5 / 640
    return series - 0.5 * math.log(math.pi * m)


def half(n: int, k: int) -> float:
    r"""$\widehat{\mathrm{Half}}_n(S)$ at a set of `k` out of `n` bits; zero if either is odd."""
    return (-1) ** (k // 2) * math.exp(log_half(n, k))


def log_coefficient(n: int, k: int) -> float:
    r"""$\log |\widehat{\mathrm{Maj}}_n(k)|$ at odd `k`, where ties play no part."""
    check_size("Maj", n, k)
    if k % 2 == 0:
        raise ValueError(f"log_coefficient(n={n}, k={k}): k is odd; at even k see coefficient.")
    return log_half(n - n % 2, k - 1)


def coefficient(n: int, k: int, ties: float = -1.0) -> float:
    r"""$\widehat{\mathrm{Maj}}_n(S)$ at a set of `k` out of `n` bits.

    At even `k` only ties count: zero for odd `n`, $\mathrm{ties} \cdot \widehat{\mathrm{Half}}_n$
    for even `n`. Lemma B.1 of the thesis says zero at every even `k`, which needs odd `n`.
    """
    check_size("Maj", n, k)
    if k % 2 == 0:
        return ties * half(n, k)
    return (-1) ** (k // 2) * math.exp(log_coefficient(n, k))


def gap(n: int, k: int) -> float:
    r"""The Fourier gap $|\xi_{k-1}| - |\xi_{k+1}|$ of $\mathrm{Maj}_n$ at sets of even size `k`.

    For odd `n`, $|\xi_{k+1}| = \frac{k-1}{n-k} |\xi_{k-1}|$. The neuron's derivative is
    $(1 + \mathrm{Maj})/2$, so its gap is half of this.
    """
    check_even("gap", n, k)
    above = abs(coefficient(n, k + 1)) if k < n else 0.0
    return abs(coefficient(n, k - 1)) - above


def gap_bound(n: int, k: int) -> float:
    r"""Lemma B.2: the gap is at least $0.03\,(n-1)^{-(k-1)/2}$ if $n \ge 4k$, `k` even, `n` odd."""
    check_even("gap_bound", n, k)
    if n < 4 * k or n % 2 == 0:
        raise ValueError(f"gap_bound(n={n}, k={k}): the bound is for odd n of at least 4k.")
    return 0.03 * (n - 1) ** (-(k - 1) / 2)


def degree_weight(n: int, k: int) -> float:
    r"""$W^k = \sum_{|S|=k} \widehat{\mathrm{Maj}}_n(S)^2$ at odd `k`."""
    log_count = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(log_count + 2 * log_coefficient(n, k))


def limit_weight(k: int) -> float:
    r"""Theorem 5.22 of O'Donnell: $W^k[\mathrm{Maj}_n] \downarrow \frac{4}{\pi k 2^k}
    \binom{k-1}{(k-1)/2}$ as odd $n \to \infty$, for odd `k`.

    The proof of Lemma 8 of the Pareto paper prints half of this as $\rho(k)$ and then uses
    $\rho \le W^k \le 2\rho$, whose second half fails at every $n$. It holds with this value, for
    $n \ge 2k^2$. It decays as $(2/\pi)^{3/2} k^{-3/2}$, not as the $k^{-2/3}$ of Lemma B.1.
    """
    checks.whole("limit_weight", "k", k, low=1, what="counts the bits of a set")
    if k % 2 == 0:
        raise ValueError(f"limit_weight(k={k}): majority has no weight at even degrees.")
    half_k = (k - 1) // 2
    log_binomial = math.lgamma(k) - 2 * math.lgamma(half_k + 1)
    return math.exp(log_binomial - k * math.log(2)) * 4 / (math.pi * k)


def relevant_gradient(s: int, k: int) -> float:
    r"""$C_{k,s} = \frac12 \widehat{\mathrm{Maj}}_s(k-1)$ of Lemma 8: a good neuron at $i \in S$."""
    check_even("relevant_gradient", s, k)
    return coefficient(s, k - 1) / 2


def irrelevant_gradient(s: int, k: int) -> float:
    r"""$c_{k,s} = \frac12 \widehat{\mathrm{Maj}}_s(k+1)$ of Lemma 8: a good neuron, $i \notin S$.

    Exactly $|c_{k,s}| = \frac{k-1}{s-k} |C_{k,s}|$ for odd `s`, so below the lemma's $4k/s$.
    """
    check_even("irrelevant_gradient", s, k)
    return coefficient(s, k + 1) / 2 if k < s else 0.0


def relevant_bound(s: int, k: int) -> float:
    r"""Lemma 8: $|C_{k,s}| \ge \frac12 \sqrt{\rho(k-1)} \binom{s}{k-1}^{-1/2}$, `s` odd.

    With $\rho$ as in `limit_weight`, $\sqrt 2$ above what is printed, and sharp as $s \to \infty$.
    """
    check_even("relevant_bound", s, k)
    return 0.5 * math.sqrt(limit_weight(k - 1) / math.comb(s, k - 1))


def check_size(owner: str, n: int, k: int) -> None:
    """Refuses sets that are larger than the input."""
    checks.whole(f"{owner}(n={n}, k={k})", "n", n, low=0, what="counts the bits")
    checks.whole(f"{owner}(n={n}, k={k})", "k", k, low=0, high=n, what="counts bits of a set")


def check_even(owner: str, n: int, k: int) -> None:
    """Refuses sets of odd size, at which majority has no gap."""
    checks.whole(f"{owner}(n={n}, k={k})", "k", k, low=2, high=n, what="counts relevant bits")
    if k % 2:
        raise ValueError(
            f"{owner}(n={n}, k={k}): k is even, as majority has a gap between sets of k - 1 and "
            f"k + 1 bits, and correlates with sets of odd size alone; got {k}."
        )
