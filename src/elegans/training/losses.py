r"""Losses and errors of one example.

A prediction is a real number $f$ with a label $y = \pm 1$, or a vector of logits (one such vector a
position, for sequences) with the number of the right class. The square loss is $(y - f)^2$, no
half, as in the thesis (B.4.1) and in PyTorch; the correlation loss is $-yf$ (section 3.3 of the
thesis prints it without its sign, see docs/errata.md).

A loss is a configuration that is called with a prediction and a label; a recipe takes one, or the
name of one of these, and one of your own class likewise. Its `labels` are the kinds of labels that
it is for, any if it does not say.
"""

from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Num

from elegans import checks
from elegans.descriptions import LABELS, describe
from elegans.fields import Number, configuration

FEW = 32  # states of a sequence, up to which a sum over all of them beats looking one up


@runtime_checkable
class Loss(Protocol):
    """A number to be small, from one prediction and its label."""

    def __call__(self, f: Float[Array, "..."], y: Num[Array, "..."]) -> Float[Array, ""]:
        """The loss of one prediction."""


Prediction = Float[Array, "..."]
Label = Num[Array, "..."]


@configuration
class Hinge:
    r"""$\max(0, 1 - yf)$."""

    labels = ("sign",)

    def __call__(self, f: Float[Array, ""], y: Num[Array, ""]) -> Float[Array, ""]:
        """The loss of one prediction."""
        return jax.nn.relu(1 - y * f)


@configuration
class Square:
    r"""$(y - f)^2$; summed over classes against the one-hot label where $f$ is a vector."""

    labels = LABELS

    def __call__(self, f: Prediction, y: Label) -> Float[Array, ""]:
        """The loss of one prediction."""
        target = y if is_sign(f, y) else jax.nn.one_hot(y, f.shape[-1])
        return jnp.sum((target - f) ** 2)


@configuration
class Logistic:
    r"""$\log(1 + e^{-yf})$."""

    labels = ("sign",)

    def __call__(self, f: Float[Array, ""], y: Num[Array, ""]) -> Float[Array, ""]:
        """The loss of one prediction."""
        return jax.nn.softplus(-y * f)


@configuration
class Correlation:
    """$-yf$."""

    labels = ("sign",)

    def __call__(self, f: Float[Array, ""], y: Num[Array, ""]) -> Float[Array, ""]:
        """The loss of one prediction."""
        return -y * f


@configuration
class CrossEntropy:
    r"""$-\log \operatorname{softmax}(f)_y$, averaged over positions.

    Where $f$ is one number it is the log odds of the label $+1$, and this is the logistic loss.

    Attributes:
        precise: Whether a small loss and its gradient are right to rounding. The usual form takes
            the gradient $p_y - 1$ at the right class, which in float32 has no digit left at a loss
            of 1e-7; this one is the logistic loss of $f_y - \log \sum_{c \ne y} e^{f_c}$.
    """

    precise: bool = False
    labels = ("sign", "class")

    def __call__(self, f: Prediction, y: Label) -> Float[Array, ""]:
        """The loss of one prediction."""
        if is_sign(f, y):
            return Logistic()(f, y)
        if self.precise:
            right = jax.nn.one_hot(y, f.shape[-1], dtype=bool)
            others = jax.nn.logsumexp(f, axis=-1, where=~right)
            return jnp.mean(jax.nn.softplus(others - jnp.sum(jnp.where(right, f, 0.0), axis=-1)))
        if f.ndim == 2 and f.shape[1] <= FEW:  # classes first, and no gather: a tenth of a step
            logits = f.T
            right = jnp.sum(jax.nn.one_hot(y, f.shape[1], axis=0) * logits, axis=0)
            return jnp.mean(jax.nn.logsumexp(logits, axis=0) - right)
        return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(f, y))


@configuration
class Margin:
    r"""$\frac1k \sum_{i \ne y} \max(0, \Delta + f_i - f_y)$, averaged over positions (thesis, 8.7).

    $\Delta$ is the `margin`, which the document leaves open ("large enough" in its proofs).
    """

    margin: Number = 1.0
    labels = ("class",)

    def __post_init__(self) -> None:
        checks.number(self, "margin", self.margin, low=0, what="is a distance between logits")
        if isinstance(self.margin, int | float) and self.margin == 0:
            raise ValueError(f"{checks.shown(self)}: margin is positive; got {self.margin!r}.")

    def __call__(
        self, f: Float[Array, "*length classes"], y: Num[Array, "*length"]
    ) -> Float[Array, ""]:
        """The loss of one prediction."""
        is_right = jax.nn.one_hot(y, f.shape[-1])
        right = jnp.sum(is_right * f, axis=-1, keepdims=True)
        return jnp.mean((1 - is_right) * jax.nn.relu(self.margin + f - right))


LOSSES: dict[str, Loss] = {
    "hinge": Hinge(),
    "square": Square(),
    "logistic": Logistic(),
    "cross-entropy": CrossEntropy(),
    "correlation": Correlation(),
    "margin": Margin(),
}
SUGGESTED = {"sign": "hinge", "class": "cross-entropy", "real": "square"}
NAMES = {"sign": "labels of +-1", "class": "classes", "real": "real numbers"}


def loss_of(loss: str | Loss) -> Loss:
    """The loss that a name stands for; anything else is one itself."""
    return LOSSES[loss] if isinstance(loss, str) else loss


def check_labels(loss: str | Loss, task: Any) -> None:
    """Refuses a task whose labels are not those that a loss is for."""
    known = describe(task)
    wanted = getattr(loss_of(loss), "labels", LABELS)
    if known.labels in wanted:
        return
    name = loss if isinstance(loss, str) else checks.shown(loss)
    has = f"{known.classes} classes" if known.labels == "class" else NAMES[known.labels]
    way_out = f"Use {SUGGESTED[known.labels]!r}."
    if known.is_zero_one and "sign" in wanted:
        has, way_out = "labels of 0 and 1", "Return 2 * y - 1."
    raise ValueError(
        f"Experiment: the {name} loss is for {' or '.join(NAMES[kind] for kind in wanted)}, and "
        f"{checks.shown(task)} has {has}. {way_out}"
    )


def error(f: Float[Array, "..."], y: Num[Array, "..."]) -> Float[Array, ""]:
    """1 where the prediction is wrong, averaged over positions; zero and NaN are wrong."""
    right = y * f > 0 if is_sign(f, y) else jnp.argmax(f, axis=-1) == y
    return jnp.mean(1.0 - right)


def is_sign(f: Float[Array, "..."], y: Num[Array, "..."]) -> bool:
    """Whether the prediction is one number, whose sign counts."""
    return f.ndim == y.ndim
