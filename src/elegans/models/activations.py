r"""Activation functions by name, also those that are made for parities of $k$ bits.

Four activations interpolate the parity as a function of the sum of its bits: they pass through
$(k - 2j, (-1)^j)$ for $j = 0, \dots, k$, so that one neuron with weights $1_S$ computes $\chi_S$.
Their names carry the number of bits, as "zigzag:3":

* `zigzag:k`: linear between the points, and beyond them as in the last segment;
* `oscillating:k`: the polynomial of degree $k$ through the points;
* `infinite-zigzag:k`: a triangular wave of period 4 (the document's points have period 2, and are
  constant on sums of one parity: docs/errata.md);
* `sinusoid:k`: $\cos\frac{\pi}{2}(z - k)$, and `sinusoid-2z:k` the same at $2z$, as in section 5.3.

A power is "z^d". References: Barak et al. (2022), Hidden progress, section 5.3.1, figure B.14.
"""

import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from elegans import checks

Activation = Callable[[Array], Array]
Values = Float[Array, "*shape"]
DEGREE_MAX = 20  # beyond it the polynomial's coefficients cancel in float32

PLAIN: dict[str, Activation] = {
    "relu": jax.nn.relu,
    "gelu": jax.nn.gelu,
    "tanh": jnp.tanh,
    "sin": jnp.sin,
}


def infinite_zigzag(k: int, z: Values) -> Values:
    """The triangular wave of period 4 that is 1 at `k` and -1 at `k` - 2."""
    return 1.0 - jnp.abs(jnp.mod(z - k + 2, 4.0) - 2.0)


def zigzag(k: int, z: Values) -> Values:
    """The triangular wave on [-k, k], continued by its end segments."""
    # At both ends the wave is an extremum and its segment goes on away from zero.
    beyond = jax.nn.relu(jnp.abs(z) - k)
    return infinite_zigzag(k, jnp.clip(z, -k, k)) * (1.0 + beyond)


def oscillating(k: int, z: Values) -> Values:
    """The polynomial of degree `k` through the points, by Horner's rule."""
    value = jnp.zeros_like(z)
    for coefficient in reversed(oscillating_coefficients(k)):
        value = value * z + float(coefficient)
    return value


def sinusoid(k: int, z: Values) -> Values:
    r"""$\cos\frac{\pi}{2}(z - k)$."""
    return jnp.cos(math.pi / 2 * (z - k))


def doubled_sinusoid(k: int, z: Values) -> Values:
    r"""$\cos\frac{\pi}{2}(2z - k)$, which computes the parity at weights of one half."""
    return sinusoid(k, 2 * z)


OF_PARITIES: dict[str, Callable[[int, Array], Array]] = {
    "zigzag": zigzag,
    "oscillating": oscillating,
    "infinite-zigzag": infinite_zigzag,
    "sinusoid": sinusoid,
    "sinusoid-2z": doubled_sinusoid,
}
NAMES = (*PLAIN, "z^d", *(f"{name}:k" for name in OF_PARITIES))


@lru_cache
def oscillating_coefficients(k: int) -> tuple[Fraction, ...]:
    """The coefficients of the oscillating polynomial, constant first, exactly.

    Newton's divided differences on integers: (z**3 - 7z)/6 at k = 3.
    """
    points = [k - 2 * j for j in range(k + 1)]
    differences = [Fraction((-1) ** j) for j in range(k + 1)]
    for order in range(1, k + 1):
        for j in range(k, order - 1, -1):
            span = points[j] - points[j - order]
            differences[j] = (differences[j] - differences[j - 1]) / span
    total = [Fraction(0)] * (k + 1)
    basis = [Fraction(1)]  # the product of (z - p) over the points so far
    for difference, point in zip(differences, points, strict=True):
        for power, coefficient in enumerate(basis):
            total[power] += difference * coefficient
        shifted = [Fraction(0), *basis]
        basis = [a - point * b for a, b in zip(shifted, [*basis, Fraction(0)], strict=True)]
    return tuple(total)


def power_degree(name: str) -> int:
    """The degree d of an activation "z^d", or zero if it is none."""
    match = re.fullmatch(r"z\^([1-9][0-9]?)", str(name))
    return int(match[1]) if match else 0


def parity_of(name: str) -> tuple[str, int] | None:
    """The kind and the bits of an activation such as "zigzag:3", None if it is another."""
    kind, colon, bits = str(name).partition(":")
    is_one = colon and kind in OF_PARITIES and re.fullmatch(r"[1-9][0-9]?", bits)
    return (kind, int(bits)) if is_one and int(bits) <= DEGREE_MAX else None


def check(owner: object, name: object) -> None:
    """Refuses a name that stands for no activation."""
    if power_degree(str(name)) or parity_of(str(name)):
        return
    kind, colon, bits = str(name).partition(":")
    if kind in OF_PARITIES:
        text = f"{bits!r}" if colon else "none"
        raise ValueError(
            f"{checks.shown(owner)}: activation {kind!r} is made for a number of relevant bits, "
            f"1 to {DEGREE_MAX}, given after a colon as in '{kind}:3'; got {text}."
        )
    if kind.startswith("z^"):
        raise ValueError(
            f"{checks.shown(owner)}: activation 'z^d' is a power of degree d, 1 to 99; got "
            f"{name!r}."
        )
    if name not in PLAIN:
        checks.choice(owner, "activation", name, NAMES)


def activation(name: str) -> Activation:
    """The function that an activation's name stands for."""
    degree = power_degree(name)
    if degree:
        return lambda z: z**degree
    parity = parity_of(name)
    if parity:
        return partial(OF_PARITIES[parity[0]], parity[1])
    return PLAIN[name]
