r"""How weights start: the initialisations of the literature, for layers $x \mapsto xW + b$.

An init is called as `init(key, model, task)` and returns the model's parameters; `init.check(model,
task)` refuses what it cannot start. Those of this file are for networks of affine layers: they ask
the model for its layer sizes, `model.sizes(task)`. Column $j$ of a weight matrix
is neuron $j$'s vector: `weight` has shape (fan-in, fan-out), the order in which a CPU multiplies
fastest (benchmarks/training.py).

The symmetric inits are those of the proofs: the second half of the hidden layer repeats the first
with the opposite sign in the output, so that the network computes zero at the start and the first
gradient is that of the correlation loss.
"""

import itertools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import jax.random as jr
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from elegans import checks
from elegans.fields import Count, Number, configuration
from elegans.models.from_runs import Fixed as Fixed
from elegans.models.from_runs import FromRun as FromRun
from elegans.models.from_runs import cut as cut
from elegans.protocols import Init


class Layer(NamedTuple):
    """One affine map, $x \\mapsto xW + b$, or a linear one where there is no bias."""

    weight: Float[Array, "fan_in fan_out"]
    bias: Float[Array, " fan_out"] | None

    def at(self, x: Float[Array, "*batch fan_in"]) -> Float[Array, "*batch fan_out"]:
        """The value at `x`."""
        return x @ self.weight if self.bias is None else x @ self.weight + self.bias


class Layers(NamedTuple):
    """The parameters of an MLP, from input to output."""

    layers: tuple[Layer, ...]


class LayeredInit:
    """What the inits of this file share: the layers of a network, from its sizes and the task."""

    def __call__(self, key: PRNGKeyArray, model: Any, task: Any) -> Layers:
        """The parameters of `model`, a network of affine layers, before the first step."""
        return Layers(self.layers(key, model.sizes(task), task))

    def check(self, model: Any, task: Any) -> None:
        """Refuses a model or a task that this init does not fit."""
        self.check_sizes(model.sizes(task), task)

    def check_sizes(self, sizes: tuple[int, ...], task: object) -> None:
        """Refuses layer sizes or a task that this init does not fit."""

    def layers(self, key: PRNGKeyArray, sizes: tuple[int, ...], task: object) -> tuple[Layer, ...]:
        """The layers between consecutive `sizes`."""
        raise TypeError(f"{type(self).__name__} is not an init: it has no layers.")


@configuration
class Uniform(LayeredInit):
    r"""PyTorch's default: weights and biases uniform on $\pm 1/\sqrt{\text{fan-in}}$."""

    def layers(self, key: PRNGKeyArray, sizes: tuple[int, ...], task: object) -> tuple[Layer, ...]:
        """Every layer independently."""
        shapes = [(a + 1, b) for a, b in pairs(sizes)]
        ends = list(itertools.accumulate(a * b for a, b in shapes))
        values = jr.uniform(key, (ends[-1],), minval=-1.0, maxval=1.0)  # at once: compiles fast
        parts = [
            part.reshape(shape) * (shape[0] - 1) ** -0.5
            for part, shape in zip(jnp.split(values, ends[:-1]), shapes, strict=True)
        ]
        return tuple(Layer(part[:-1], part[-1]) for part in parts)


@configuration
class Gaussian(LayeredInit):
    r"""Kaiming's init for rectifiers: weights $N(0, 2/\text{fan-in})$, biases zero."""

    def layers(self, key: PRNGKeyArray, sizes: tuple[int, ...], task: object) -> tuple[Layer, ...]:
        """Every layer independently."""
        return tuple(
            Layer(jr.normal(jr.fold_in(key, i), (a, b)) * (2 / a) ** 0.5, jnp.zeros(b))
            for i, (a, b) in enumerate(pairs(sizes))
        )


@configuration
class Normal(LayeredInit):
    """Independent normal weights of one `scale` whatever the fan-in, biases zero."""

    scale: Number = 1.0

    def __post_init__(self) -> None:
        checks.number(self, "scale", self.scale, low=0, what="multiplies the weights")

    def layers(self, key: PRNGKeyArray, sizes: tuple[int, ...], task: object) -> tuple[Layer, ...]:
        """Every layer independently."""
        return tuple(
            Layer(self.scale * jr.normal(jr.fold_in(key, i), shape), jnp.zeros(shape[1]))
            for i, shape in enumerate(pairs(sizes))
        )


@configuration
class Sign(LayeredInit):
    r"""Weights and biases $\pm c$ with equal probability; `c=None` is $1/\sqrt{\text{fan-in}}$."""

    c: Number | None = None

    def __post_init__(self) -> None:
        checks.number(self, "c", self.c, low=0, what="is the size of a weight")

    def layers(self, key: PRNGKeyArray, sizes: tuple[int, ...], task: object) -> tuple[Layer, ...]:
        """Every layer independently."""

        def layer(key: PRNGKeyArray, a: int, b: int) -> Layer:
            c = a**-0.5 if self.c is None else self.c
            signs = jr.rademacher(key, (a + 1, b), dtype=jnp.float32)
            return Layer(c * signs[:a], c * signs[a])

        return tuple(layer(jr.fold_in(key, i), *shape) for i, shape in enumerate(pairs(sizes)))


@configuration
class Sparse(LayeredInit):
    """Each hidden neuron reads `s` random inputs with weight one; the rest as PyTorch's default."""

    s: int

    def __post_init__(self) -> None:
        checks.whole(self, "s", self.s, low=1, what="counts the ones of a neuron")

    def check_sizes(self, sizes: tuple[int, ...], task: object) -> None:
        """Needs at least `s` inputs."""
        checks.whole(self, "s", self.s, low=1, high=sizes[0], what="counts the ones of a neuron")

    def layers(self, key: PRNGKeyArray, sizes: tuple[int, ...], task: object) -> tuple[Layer, ...]:
        """The default init with the first weight matrix replaced."""
        first, *rest = Uniform().layers(jr.fold_in(key, 0), sizes, task)
        weight = sparse_columns(jr.fold_in(key, 1), sizes[0], sizes[1], self.s)
        return (Layer(weight, first.bias), *rest)


@configuration
class SparseSigns(LayeredInit):
    r"""Each hidden neuron reads `s` random inputs with weights $\pm 1/\sqrt{3s}$.

    The variance of what a neuron computes is that of PyTorch's default init, as is the rest. On
    tables this does better than weights of one, which are larger and all positive
    (docs/tabular.md).
    """

    s: int

    def __post_init__(self) -> None:
        checks.whole(self, "s", self.s, low=1, what="counts the inputs of a neuron")

    def check_sizes(self, sizes: tuple[int, ...], task: object) -> None:
        """Needs at least `s` inputs."""
        checks.whole(self, "s", self.s, low=1, high=sizes[0], what="counts the inputs of a neuron")

    def layers(self, key: PRNGKeyArray, sizes: tuple[int, ...], task: object) -> tuple[Layer, ...]:
        """The sparse init with other values in the first weight matrix."""
        first, *rest = Sparse(self.s).layers(jr.fold_in(key, 0), sizes, task)
        signs = jr.rademacher(jr.fold_in(key, 1), first.weight.shape, dtype=jnp.float32)
        return (Layer(first.weight * signs * (3 * self.s) ** -0.5, first.bias), *rest)


@configuration
class SymmetricSparse(LayeredInit):
    r"""The over-sparse init of the Pareto paper, appendix B.2.2.

    The first half of the neurons are random `s`-sparse 0/1 vectors with biases drawn from
    $\beta_i = \frac{1}{2k}(-k + 2i + o)$ and signs $u \in \{\pm 1\}$; the second half repeats
    vectors and biases with $-u$; the output bias is zero.

    As printed, $i$ runs over $1, \dots, k/2 - 1$: for $k = 2$ that is nothing, and for any $k$ it
    is one kink too few to write the parity as a function of the sum of its bits (docs/errata.md).
    `complete=True` adds $i = 0$, with which the proof's linear algebra holds. The offset $o$ is
    printed as $\frac{1}{16}$, with which a feature is as small as $\frac{1}{32k}$; at $\frac12$ bad
    neurons are still silent and the readout is 8 times smaller at $k = 2$ and 52 at $k = 4$
    (`theory.resources.readout`).
    """

    s: int
    complete: bool = False
    offset: Number = 1 / 16

    def __post_init__(self) -> None:
        checks.whole(self, "s", self.s, low=1, what="counts the ones of a neuron")
        # From 3/4 on a bias does not silence bad neurons: they reach 10/(16k), and so would it.
        checks.number(self, "offset", self.offset, low=0, high=0.75, what="shifts the bias grid")

    def check_sizes(self, sizes: tuple[int, ...], task: object) -> None:
        """Needs one hidden layer of even width, one output, and an even number of relevant bits."""
        check_symmetric(self, sizes, task)
        checks.whole(self, "s", self.s, low=1, high=sizes[0], what="counts the ones of a neuron")
        k = relevant_count(self, task)
        if k == 2 and not self.complete:
            raise ValueError(
                f"{checks.shown(self)}: "
                "the bias grid as printed is empty at k = 2. Use complete=True."
            )

    def biases(self, k: int) -> Float[Array, " grid"]:
        r"""The grid $\beta_i$."""
        i = jnp.arange(0 if self.complete else 1, k // 2)
        return (-k + 2 * i + self.offset) / (2 * k)

    def layers(self, key: PRNGKeyArray, sizes: tuple[int, ...], task: object) -> tuple[Layer, ...]:
        """Two layers, the second half of the neurons the mirror of the first."""
        weight = sparse_columns(jr.fold_in(key, 0), sizes[0], sizes[1] // 2, self.s)
        return mirrored(jr.fold_in(key, 1), weight, self.biases(relevant_count(self, task)))


@configuration
class PerturbedSparse(LayeredInit):
    r"""The under-sparse init of the Pareto paper, appendix B.3.

    As `SymmetricSparse`, but the other weights of a neuron are $\epsilon < 1/(n - s)$ (the default
    is half of that), and biases are drawn from
    $\{\pm\epsilon \frac{1}{2k}, \pm\epsilon \frac{3}{2k}, \dots, \pm\epsilon \frac{k-1}{2k}\}$.
    """

    s: int
    epsilon: Number | None = None

    def __post_init__(self) -> None:
        checks.whole(self, "s", self.s, low=1, what="counts the ones of a neuron")
        checks.number(self, "epsilon", self.epsilon, low=0, what="is a small weight")

    def check_sizes(self, sizes: tuple[int, ...], task: object) -> None:
        """Needs one hidden layer of even width, one output, even `k`, and a small `epsilon`."""
        check_symmetric(self, sizes, task)
        n = sizes[0]
        checks.whole(self, "s", self.s, low=1, high=n - 1, what="counts the ones of a neuron")
        if self.epsilon is not None and not 0 < self.epsilon < 1 / (n - self.s):
            raise ValueError(
                f"{checks.shown(self)}: "
                f"epsilon lies strictly between 0 and 1/(n - s) = {1 / (n - self.s):g} "
                f"at n = {n}; got {self.epsilon!r}."
            )

    def layers(self, key: PRNGKeyArray, sizes: tuple[int, ...], task: object) -> tuple[Layer, ...]:
        """Two layers, the second half of the neurons the mirror of the first."""
        n, k = sizes[0], relevant_count(self, task)
        epsilon = 0.5 / (n - self.s) if self.epsilon is None else self.epsilon
        ones = sparse_columns(jr.fold_in(key, 0), n, sizes[1] // 2, self.s)
        biases = epsilon * jnp.arange(1 - k, k, 2) / (2 * k)
        return mirrored(jr.fold_in(key, 1), jnp.where(ones > 0, 1.0, epsilon), biases)


@configuration
class SymmetricSign(LayeredInit):
    r"""The unbiased init of the thesis, appendix B.2.1.

    Neurons in $\{\pm 1\}^n$, biases in $\{-1 + \frac{1}{k}, -1 + \frac{2}{k}, \dots, 1 -
    \frac{1}{k}\}$, signs $u \in \{\pm 1\}$; the second half repeats the first with $-u$.
    """

    def check_sizes(self, sizes: tuple[int, ...], task: object) -> None:
        """Needs one hidden layer of even width, one output, and an even number of relevant bits."""
        check_symmetric(self, sizes, task)

    def layers(self, key: PRNGKeyArray, sizes: tuple[int, ...], task: object) -> tuple[Layer, ...]:
        """Two layers, the second half of the neurons the mirror of the first."""
        k = relevant_count(self, task)
        signs = jr.rademacher(jr.fold_in(key, 0), (sizes[0], sizes[1] // 2), dtype=jnp.float32)
        return mirrored(jr.fold_in(key, 1), signs, jnp.arange(1 - k, k) / k)


def pairs(sizes: tuple[int, ...]) -> list[tuple[int, int]]:
    """Fan-in and fan-out of each layer."""
    return list(itertools.pairwise(sizes))


def sparse_columns(key: PRNGKeyArray, n: int, width: int, s: int) -> Float[Array, "n width"]:
    """Columns with `s` ones each, uniform over all such columns."""
    _, chosen = jax.lax.top_k(jr.uniform(key, (width, n)), s)
    return jnp.zeros((n, width)).at[chosen, jnp.arange(width)[:, None]].set(1.0)


def mirrored(
    key: PRNGKeyArray, weight: Float[Array, "n half"], grid: Float[Array, " grid"]
) -> tuple[Layer, Layer]:
    """A network that computes zero: neurons with biases from `grid`, each twice, signs opposed."""
    half = weight.shape[1]
    bias = jr.choice(jr.fold_in(key, 0), grid.astype(jnp.float32), (half,))
    sign = jr.rademacher(jr.fold_in(key, 1), (half,), dtype=jnp.float32)
    hidden = Layer(jnp.tile(weight, (1, 2)), jnp.tile(bias, 2))
    return hidden, Layer(jnp.concatenate([sign, -sign])[:, None], jnp.zeros(1))


def relevant_count(init: object, task: object) -> int:
    """The number of relevant bits of `task`, from which the bias grids are made."""
    k = getattr(task, "k", None)
    if not isinstance(k, int):
        raise ValueError(
            f"{checks.shown(init)}: "
            "its biases depend on the number of relevant bits k of the task, "
            f"and {task} has none. Use a task such as Parity(n, k)."
        )
    return k


def check_symmetric(init: object, sizes: tuple[int, ...], task: object) -> None:
    """What every mirrored init needs."""
    if len(sizes) != 3 or sizes[-1] != 1:
        raise ValueError(
            f"{checks.shown(init)}: a mirrored init has one hidden layer and one output; "
            f"the layer sizes are {sizes}."
        )
    if sizes[1] % 2:
        raise ValueError(
            f"{checks.shown(init)}: "
            "the second half of the neurons mirrors the first, so the width is even; "
            f"got width {sizes[1]}."
        )
    if relevant_count(init, task) % 2:
        raise ValueError(
            f"{checks.shown(init)}: its bias grid is made for an even number of relevant bits; "
            f"{task} has k = {relevant_count(init, task)}."
        )


@configuration
class Restart:
    """Another draw of an init for the same run: its data stay, its weights change.

    Attributes:
        init: What draws.
        number: Of the restart, traced: restarts compile nothing.
    """

    init: Init
    number: Count = 0

    def __post_init__(self) -> None:
        checks.count(self, "number", self.number, low=0, what="counts restarts")

    def __call__(self, key: PRNGKeyArray, model: Any, task: Any) -> PyTree:
        """The parameters of the restart of this number."""
        return self.init(jr.fold_in(key, self.number), model, task)

    def check(self, model: Any, task: Any) -> None:
        """Refuses what the init refuses."""
        if hasattr(self.init, "check"):
            self.init.check(model, task)
