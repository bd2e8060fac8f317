r"""Losses and errors of one example.

A prediction is a real number $f$ with a label $y = \pm 1$, or a vector of logits (one such vector a
position, for sequences) with the number of the right class. The square loss is $(y - f)^2$, no
half, as in the thesis (B.4.1) and in PyTorch; the correlation loss is $-yf$ (section 3.3 of the
thesis prints it without its sign, see docs/errata.md).
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Num

FEW = 32  # states of a sequence, up to which a sum over all of them beats looking one up
Loss = Callable[[Float[Array, "..."], Num[Array, "..."]], Float[Array, ""]]


def hinge(f: Float[Array, ""], y: Num[Array, ""]) -> Float[Array, ""]:
    r"""$\max(0, 1 - yf)$."""
    return jax.nn.relu(1 - y * f)


def square(f: Float[Array, "..."], y: Num[Array, "..."]) -> Float[Array, ""]:
    r"""$(y - f)^2$; summed over classes against the one-hot label where $f$ is a vector."""
    target = y if is_sign(f, y) else jax.nn.one_hot(y, f.shape[-1])
    return jnp.sum((target - f) ** 2)


def logistic(f: Float[Array, ""], y: Num[Array, ""]) -> Float[Array, ""]:
    r"""$\log(1 + e^{-yf})$."""
    return jax.nn.softplus(-y * f)


def correlation(f: Float[Array, ""], y: Num[Array, ""]) -> Float[Array, ""]:
    """$-yf$."""
    return -y * f


def cross_entropy(f: Float[Array, "..."], y: Num[Array, "..."]) -> Float[Array, ""]:
    r"""$-\log \operatorname{softmax}(f)_y$, averaged over positions.

    Where $f$ is one number it is the log odds of the label $+1$, and this is the logistic loss.
    """
    if is_sign(f, y):
        return logistic(f, y)
    if f.ndim == 2 and f.shape[1] <= FEW:  # classes first, and no gather: a tenth of a step
        logits = f.T
        right = jnp.sum(jax.nn.one_hot(y, f.shape[1], axis=0) * logits, axis=0)
        return jnp.mean(jax.nn.logsumexp(logits, axis=0) - right)
    return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(f, y))


def margin(f: Float[Array, "*length classes"], y: Num[Array, "*length"]) -> Float[Array, ""]:
    r"""$\frac1k \sum_{i \ne y} \max(0, 1 + f_i - f_y)$, averaged over positions (thesis, 8.7)."""
    is_right = jax.nn.one_hot(y, f.shape[-1])
    right = jnp.sum(is_right * f, axis=-1, keepdims=True)
    return jnp.mean((1 - is_right) * jax.nn.relu(1 + f - right))


LOSSES: dict[str, Loss] = {
    "hinge": hinge,
    "square": square,
    "logistic": logistic,
    "cross-entropy": cross_entropy,
    "correlation": correlation,
    "margin": margin,
}
SIGN_LOSSES = ("hinge", "logistic", "correlation")


def error(f: Float[Array, "..."], y: Num[Array, "..."]) -> Float[Array, ""]:
    """1 where the prediction is wrong, averaged over positions; zero and NaN are wrong."""
    right = y * f > 0 if is_sign(f, y) else jnp.argmax(f, axis=-1) == y
    return jnp.mean(1.0 - right)


def is_sign(f: Float[Array, "..."], y: Num[Array, "..."]) -> bool:
    """Whether the prediction is one number, whose sign counts."""
    return f.ndim == y.ndim
