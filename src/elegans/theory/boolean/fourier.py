r"""Fourier analysis of real functions on the Boolean cube.

$$f = \sum_{T \subseteq [n]} \hat f(T) \chi_T, \qquad \hat f(T) = \mathbb{E}_x f(x) \chi_T(x),
\qquad \chi_T(x) = \prod_{i \in T} x_i.$$

A function is a callable that takes rows of $\pm 1$, or its table of $2^n$ values (entry $x$ has bit
$i$ set where $x_i = -1$), or a `Spectrum` of coefficients that are known already, or a model with
its `params`. Dense results are indexed by bit mask, bit $i$ of mask $T$ set where $i \in T$;
`sparse` names the large ones by tuples. With `p`, bits are true ($-1$) with that probability and
characters are $\prod_{i \in T} (x_i - \mu)/\sigma$, $\mu = 1 - 2p$, $\sigma^2 = 4p(1-p)$.

Scales are the documents': sensitivities have a factor 1/4, so that they count bits for functions
with values $\pm 1$. Then (claim 2.1) $\mathrm{AS} = \sum |T| \hat f(T)^2$ and
$\mathrm{NS}_\rho = \frac12 \sum (1 - \rho^{|T|}) \hat f(T)^2$.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int, Num

from elegans import checks
from elegans.cube import character, drawn_signs, signs, subset_sizes
from elegans.cube import mask_of as mask_of
from elegans.cube import subset_of as subset_of
from elegans.statistics import Interval, bernstein_mean, normal_mean
from elegans.theory.boolean.transforms import table_bits, tensor_transform
from elegans.theory.boolean.transforms import walsh_hadamard as walsh_hadamard

ENUMERATED_MAX = 22  # bits of a callable: 4 million evaluations
CHUNK = 2**16  # rows evaluated at a time


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Coefficients that stand for their function, so that no transform is done twice."""

    values: Float[np.ndarray, " size"]
    p: float = 0.5


@runtime_checkable
class Model(Protocol):
    """A model of this library: `apply` is its prediction at one example."""

    def apply(self, params: Any, x: Any) -> Any:
        """The prediction at one example."""
        ...


Rows = Callable[[Float[np.ndarray, "rows n"]], Any]
Function = Rows | Num[np.ndarray, " size"] | Spectrum | Model


def table(f: Function, n: int, *, params: Any = None) -> Float[np.ndarray, " size"]:
    """The values of `f` at all 2**n inputs."""
    if isinstance(f, Spectrum):
        table_bits("table", f.values.size, n)
        mu, sigma = moments(f.p)
        inverse = np.array([[1.0, (1 - mu) / sigma], [1.0, (-1 - mu) / sigma]])
        return tensor_transform(f.values, inverse)
    if isinstance(f, np.ndarray):
        table_bits("table", f.size, n)
        return f.astype(np.float64)
    checks.whole("table", "n", n, low=0, what="counts the bits")
    if n > ENUMERATED_MAX:
        raise ValueError(
            f"table(n={n}): a function is enumerated up to n = {ENUMERATED_MAX}, 2**{n} inputs are "
            "too many. Sample it: noise_sensitivity_sampled, coefficient_sampled."
        )
    evaluate = batched(f, params)
    chunks = [
        np.asarray(evaluate(signs(n, start, min(start + CHUNK, 2**n))), dtype=np.float64)
        for start in range(0, 2**n, CHUNK)
    ]
    values = np.concatenate([np.atleast_1d(chunk) for chunk in chunks])
    if values.shape != (2**n,):
        raise ValueError(f"A function returns one number per row, {2**n} here; got {values.shape}.")
    return values


def batched(f: Rows | Model, params: Any = None) -> Rows:
    """A function of rows: `f` itself, or a model's prediction at each row under `params`."""
    if params is None:
        if not callable(f):
            raise TypeError(f"{f!r} is a model; give its params as well.")
        return f
    if not isinstance(f, Model):
        raise TypeError(f"params belong to a model with apply(params, x); got {f!r}.")
    import jax

    apply = jax.jit(jax.vmap(f.apply, in_axes=(None, 0)))
    return lambda x: apply(params, np.asarray(x, dtype=np.float32))


def coefficients(
    f: Function, n: int, *, params: Any = None, p: float = 0.5
) -> Float[np.ndarray, " size"]:
    """All Fourier coefficients of `f`, indexed by bit mask."""
    checks.number("coefficients", "p", p, low=1e-12, high=1 - 1e-12, what="is a probability")
    if isinstance(f, Spectrum) and f.p == p:
        table_bits("coefficients", f.values.size, n)
        return f.values
    deviation = math.sqrt(p * (1 - p))
    mean = np.array([[1 - p, p], [deviation, -deviation]])
    return tensor_transform(table(f, n, params=params), mean)


def degree_weights(
    f: Function, n: int, *, params: Any = None, p: float = 0.5
) -> Float[np.ndarray, " degrees"]:
    r"""$W^d = \sum_{|T| = d} \hat f(T)^2$ for $d = 0, \dots, n$."""
    squares = coefficients(f, n, params=params, p=p) ** 2
    return np.bincount(subset_sizes(n), weights=squares, minlength=n + 1)


def degree(f: Function, n: int, *, params: Any = None, tolerance: float = 1e-9) -> int:
    """The largest size of a set whose coefficient exceeds `tolerance` times the largest one."""
    size = np.abs(coefficients(f, n, params=params))
    large = subset_sizes(n)[size > tolerance * size.max()]
    return int(large.max(initial=0))


def tail_weight(f: Function, n: int, d: int, *, params: Any = None, p: float = 0.5) -> float:
    r"""$\sum_{|T| > d} \hat f(T)^2$: the least square error of a polynomial of degree `d`."""
    return float(degree_weights(f, n, params=params, p=p)[d + 1 :].sum())


def low_degree(f: Function, n: int, d: int, *, params: Any = None, p: float = 0.5) -> Spectrum:
    """The projection of `f` on polynomials of degree at most `d`."""
    kept = coefficients(f, n, params=params, p=p).copy()
    kept[subset_sizes(n) > d] = 0.0
    return Spectrum(kept, p)


def influences(
    f: Function, n: int, *, params: Any = None, p: float = 0.5
) -> Float[np.ndarray, " n"]:
    r"""$\mathbb{E}\,\mathrm{Var}_i f = \sum_{T \ni i} \hat f(T)^2$ for each bit $i$.

    For fair bits $\frac14 \mathbb{E}(f(x) - f(x^{\oplus i}))^2$.
    """
    squares = coefficients(f, n, params=params, p=p) ** 2
    influence = np.empty(n)
    for i in range(n):  # folding out one bit at a time takes 2**(n + 1) steps in all
        pairs = squares.reshape(-1, 2)
        influence[i] = pairs[:, 1].sum()
        squares = pairs.sum(axis=1)
    return influence


def average_sensitivity(f: Function, n: int, *, params: Any = None, p: float = 0.5) -> float:
    r"""$\mathrm{AS}(f) = \mathbb{E} \sum_i \frac14 (f(x) - f(x^{\oplus i}))^2$."""
    return float(influences(f, n, params=params, p=p).sum())


def noise_stability(
    f: Function, n: int, rho: float | int, *, params: Any = None, p: float = 0.5
) -> float:
    r"""$\mathbb{E} f(x) f(N_\rho(x)) = \sum \rho^{|T|} \hat f(T)^2$."""
    check_rho("noise_stability", rho, p)
    weights = degree_weights(f, n, params=params, p=p)
    return float(weights @ float(rho) ** np.arange(n + 1))


def noise_sensitivity(
    f: Function, n: int, rho: float | int, *, params: Any = None, p: float = 0.5
) -> float:
    r"""$\mathrm{NS}_\rho(f) = \mathbb{E}\,\frac14 (f(x) - f(N_\rho(x)))^2$, from the spectrum.

    $N_\rho$ flips each fair bit with probability $(1 - \rho)/2$; biased bits are drawn anew with
    probability $1 - \rho$.
    """
    check_rho("noise_sensitivity", rho, p)
    weights = degree_weights(f, n, params=params, p=p)
    return float(weights @ (1 - float(rho) ** np.arange(n + 1))) / 2


def noise_sensitivity_sampled(
    f: Rows | Model,
    n: int,
    rho: float | int,
    *,
    samples: int = 100_000,
    confidence: float = 0.99,
    bound: float | None = None,
    params: Any = None,
    seed: int = 0,
) -> Interval:
    r"""$\mathrm{NS}_\rho(f)$ from `samples` pairs of fair inputs, for any `n`.

    With `bound` on $|f|$ the interval is rigorous (empirical Bernstein), else that of the normal
    limit.
    """
    check_rho("noise_sensitivity_sampled", rho, 0.5)
    generator = np.random.default_rng(seed)
    evaluate = batched(f, params)
    chunks = []
    for start in range(0, samples, CHUNK):
        x = drawn_signs(generator, min(CHUNK, samples - start), n)
        y = np.where(generator.random(x.shape) < (1 - rho) / 2, -x, x)
        chunks.append((np.asarray(evaluate(x), float) - np.asarray(evaluate(y), float)) ** 2 / 4)
    values = np.concatenate(chunks)
    if bound is None:
        return normal_mean(values, confidence)
    return bernstein_mean(values, bound**2, confidence)


def coefficient_sampled(
    f: Rows | Model,
    n: int,
    subset: tuple[int, ...],
    *,
    samples: int = 100_000,
    confidence: float = 0.99,
    bound: float | None = None,
    params: Any = None,
    seed: int = 0,
) -> Interval:
    r"""$\hat f(T)$ from `samples` fair inputs, for any `n`; `bound` as above."""
    generator = np.random.default_rng(seed)
    evaluate = batched(f, params)
    chunks = []
    for start in range(0, samples, CHUNK):
        x = drawn_signs(generator, min(CHUNK, samples - start), n)
        chunks.append(np.asarray(evaluate(x), float) * character(x, subset))
    values = np.concatenate(chunks)
    if bound is None:
        return normal_mean(values, confidence)
    return bernstein_mean(values, 2 * bound, confidence)


def restriction(
    f: Function, n: int, fixed: Mapping[int, int], *, params: Any = None
) -> Float[np.ndarray, " smaller"]:
    """The table of `f` on the free bits, in their order, with bit i set to `fixed[i]`, -1 or 1."""
    for i, value in fixed.items():
        checks.whole("restriction", "fixed", i, low=0, high=n - 1, what="names bits")
        if value not in (-1, 1):
            raise ValueError(f"restriction: a bit is -1 or 1; fixed[{i}] is {value!r}.")
    values = table(f, n, params=params).reshape((2,) * n)  # axis 0 is bit n - 1
    index = tuple((1 - fixed[i]) // 2 if i in fixed else slice(None) for i in reversed(range(n)))
    return np.array(values[index], dtype=np.float64).reshape(-1)


def sparse(
    f: Function, n: int, threshold: float, *, params: Any = None, p: float = 0.5
) -> dict[tuple[int, ...], float]:
    """The coefficients of absolute value `threshold` or more, by their sets, largest first."""
    spectrum = coefficients(f, n, params=params, p=p)
    masks = np.flatnonzero(np.abs(spectrum) >= threshold)
    masks = masks[np.argsort(-np.abs(spectrum[masks]), kind="stable")]
    return {subset_of(int(mask)): float(spectrum[mask]) for mask in masks}


def moments(p: float) -> tuple[float, float]:
    """The mean and the standard deviation of a bit that is -1 with probability `p`."""
    return 1 - 2 * p, 2 * math.sqrt(p * (1 - p))


def check_rho(owner: str, rho: float | int, p: float) -> None:
    """Refuses correlations that no pair of bits has."""
    low = -1.0 if p == 0.5 else 0.0
    checks.number(f"{owner}(p={p})", "rho", rho, low=low, high=1.0, what="is a correlation")


def masks_by_size(n: int) -> Int[np.ndarray, " size"]:
    """All bit masks in order of the size of their sets."""
    return np.argsort(subset_sizes(n), kind="stable")
