r"""PolyNets: products of $k$ linear forms, the smallest networks that learn parities by SGD.

$$f(x) = \prod_{i=1}^{k} (\langle w_i, x \rangle + b_i) \qquad\text{and}\qquad
f(x) = \prod_{i=1}^{k} \langle w_i, x_{P_i} \rangle,$$

the second on disjoint blocks $P_i$ of $n/k$ consecutive bits, without biases: gradient flow on it
is solved exactly in `theory.boolean.polynet`. A `PolyNet` computes the parity of $S$ where its
forms are the bits of $S$, in any order.

References: Barak et al. (2022), Hidden progress, section 5.3.1 (xv) and appendix B.2.3.
"""

import dataclasses
import functools
import operator
from dataclasses import field
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from elegans import checks
from elegans.descriptions import input_size
from elegans.fields import configuration
from elegans.models.inits import Layers, Normal, Uniform
from elegans.protocols import Init, check_init


class Blocks(NamedTuple):
    """The weights of a `DisjointPolyNet`: row $i$ reads block $i$."""

    weight: Float[Array, "k block"]


@configuration
class PolyNet:
    """The product of `degree` affine forms of all inputs, which starts as an affine layer."""

    degree: int
    init: Init = field(default_factory=Uniform)

    def __post_init__(self) -> None:
        check_product(self, self.degree, self.init)

    def check(self, task: Any) -> None:
        """Refuses a task that this network cannot start on."""
        input_size(self, task)
        check_one_output(self, task)
        check_init(self, task)

    def sizes(self, task: Any) -> tuple[int, ...]:
        """Inputs and forms."""
        return (input_size(self, task), self.degree)

    def init_params(self, key: PRNGKeyArray, task: Any) -> Layers:
        """The forms before the first step, as one affine layer."""
        return self.init(key, self, task)

    @property
    def body(self) -> "PolyNet":
        """What predictions depend on: the network however it starts."""
        return dataclasses.replace(self, init=Uniform())

    def apply(self, params: Layers, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        """The product of the forms at one example.

        Form by form: on a CPU, products with vectors and their gradients take half of the time of
        a product with a narrow matrix and of the gradient of `jnp.prod`.
        """
        weight, bias = params.layers[0]
        assert bias is not None
        forms = (x @ weight[:, i] + bias[i] for i in range(self.degree))
        return functools.reduce(operator.mul, forms)


@configuration
class DisjointPolyNet:
    """The product of `degree` linear forms, each of a block of consecutive inputs.

    `init` is one for layers, of which the weights count alone: the default is independent standard
    normal numbers, as in figure B.1, and `inits.Sign(1)` is that of theorems 5.7 and 5.8.
    """

    degree: int
    init: Init = field(default_factory=Normal)

    def __post_init__(self) -> None:
        check_product(self, self.degree, self.init)

    def check(self, task: Any) -> None:
        """Refuses inputs that cannot be split into equal blocks."""
        self.sizes(task)
        check_one_output(self, task)
        check_init(self, task)

    def sizes(self, task: Any) -> tuple[int, ...]:
        """Bits of a block, and blocks."""
        n = input_size(self, task)
        if n % self.degree:
            raise ValueError(
                f"{checks.shown(self)}: its blocks are equal, so the degree divides the number of "
                f"inputs; {checks.shown(task)} has {n}, and {n % self.degree} are left over."
            )
        return (n // self.degree, self.degree)

    def init_params(self, key: PRNGKeyArray, task: Any) -> Blocks:
        """The weights of all blocks before the first step."""
        return Blocks(self.init(key, self, task).layers[0].weight.T)

    @property
    def body(self) -> "DisjointPolyNet":
        """What predictions depend on: the network however it starts."""
        return dataclasses.replace(self, init=Normal())

    def apply(self, params: Blocks, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        """The product of the forms at one example."""
        blocks = x.reshape(*x.shape[:-1], *params.weight.shape)
        return jnp.prod(jnp.sum(blocks * params.weight, axis=-1), axis=-1)


def check_product(owner: object, degree: object, init: object) -> None:
    """Refuses a degree below one, and what is not an init."""
    checks.whole(owner, "degree", degree, low=1, what="counts the factors")
    if isinstance(init, type) or not callable(init):
        raise TypeError(f"{type(owner).__name__}: init is one such as inits.Sign(1); got {init!r}.")


def check_one_output(owner: object, task: Any) -> None:
    """Refuses a task whose labels are classes: a product is one number."""
    if getattr(task, "classes", None) is not None:
        raise ValueError(
            f"{checks.shown(owner)}: it predicts one number, and the labels of "
            f"{checks.shown(task)} are classes. Use a task with signs, such as Parity."
        )
