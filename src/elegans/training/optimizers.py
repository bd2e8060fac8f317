r"""From gradients to directions: optimisers as configurations, each one of Optax's transformations.

An optimiser is a configuration with `transformation()`, an Optax transformation from mean gradients
to directions; the recipe multiplies these by learning rates (`updates`). A recipe takes one, or the
name of one of these; `optax.scale_by_lion()` in a class of your own does as well:

    @el.configuration
    class Lion:
        b1: float = 0.9

        def transformation(self):
            return optax.scale_by_lion(b1=self.b1)
"""

from typing import Any, Protocol, runtime_checkable

import optax

from elegans import checks
from elegans.fields import Number, configuration, is_off
from elegans.protocols import path_name as path_name


@runtime_checkable
class Optimizer(Protocol):
    """A rule from gradients to directions."""

    def transformation(self) -> Any:
        """An `optax.GradientTransformation`, without the learning rate."""


@configuration
class SGD:
    r"""$v \leftarrow \mu v + g$ with momentum $\mu$, as PyTorch's SGD without dampening.

    The direction is $v$ or, with `nesterov`, $\mu v + g$ of the new $v$.
    """

    momentum: Number = 0.0
    nesterov: bool = False

    def __post_init__(self) -> None:
        checks.number(self, "momentum", self.momentum, low=0, high=1, what="is a share kept")

    def transformation(self) -> Any:
        """The identity, or a trace of gradients."""
        if is_off(self.momentum):
            return optax.identity()
        return optax.trace(decay=self.momentum, nesterov=self.nesterov)


@configuration
class Adam:
    """Adam, with its usual numbers."""

    b1: Number = 0.9
    b2: Number = 0.999
    eps: Number = 1e-8

    def __post_init__(self) -> None:
        for name in ("b1", "b2"):
            checks.number(self, name, getattr(self, name), low=0, high=1, what="is a share kept")
        checks.number(self, "eps", self.eps, low=0, what="is added to a root")

    def transformation(self) -> Any:
        """Moments with bias correction."""
        return optax.scale_by_adam(b1=self.b1, b2=self.b2, eps=self.eps)


@configuration
class AdamW(Adam):
    """Adam whose weight decay is added to its directions and not to the gradients."""

    is_decoupled = True


OPTIMIZERS: dict[str, Optimizer] = {"sgd": SGD(), "adam": Adam(), "adamw": AdamW()}


def optimizer_of(optimizer: str | Optimizer) -> Optimizer:
    """The optimiser that a name stands for; anything else is one itself."""
    return OPTIMIZERS[optimizer] if isinstance(optimizer, str) else optimizer


def is_decoupled(optimizer: str | Optimizer) -> bool:
    """Whether weight decay is added to directions."""
    return bool(getattr(optimizer_of(optimizer), "is_decoupled", False))


def check_optimizer(owner: object, optimizer: object) -> None:
    """Refuses what is neither a name nor an optimiser."""
    if isinstance(optimizer, str):
        checks.choice(owner, "optimizer", optimizer, OPTIMIZERS)
    elif isinstance(optimizer, type) or not isinstance(optimizer, Optimizer):
        raise TypeError(
            f"{checks.shown(owner)}: optimizer is one of {', '.join(map(repr, OPTIMIZERS))}, or a "
            f"configuration with a method transformation; got {optimizer!r}."
        )
