r"""Tasks labelled by sparsely activated networks, and the distributions on which they are hard.

`SparseNetwork` has fair bits and a random teacher in $\mathcal{H}_{n,s,k}$. The other two have
inputs that are the products of all pairs of a few hidden bits: on those, 1-sparse networks compute
parities and learning with rounding, which no efficient (statistical query) learner finds.

References: Awasthi et al. (2024), Learning neural networks with sparse activations, section 4 and
appendix A; Banerjee, Peikert and Rosen (2012), Pseudorandom functions and lattices.
"""

import functools

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from elegans import checks, constructions, cube
from elegans.cube import relevant_bits, uniform_bits
from elegans.fields import Number, configuration, is_off
from elegans.models.inits import Layers
from elegans.tasks.boolean import POPULATION_MAX, Batch


@configuration
class SparseNetwork:
    r"""Fair bits, labelled by a random network of $s = k 2^b$ neurons, `k` of them active at most.

    The teacher is the sum of `k` gated networks (`constructions.gated`), each with $b$ address bits
    of its own and dense random directions of length one on the remaining $n - kb$ bits. `dense`
    takes the gates away: the same directions and as many neurons, about half of them active.
    Labels are real, for the square loss; `noise` is the standard deviation of what is added to
    them.
    """

    n: int
    b: int
    k: int = 1
    seed: int = 0
    dense: bool = False
    noise: Number = 0.0

    def __post_init__(self) -> None:
        checks.whole(self, "b", self.b, low=1, high=12, what="counts the bits of an address")
        checks.whole(self, "k", self.k, low=1, what="counts active neurons")
        checks.whole(self, "n", self.n, low=self.k * self.b + 1, what="counts k addresses and data")
        checks.number(self, "noise", self.noise, low=0.0, what="is a standard deviation")

    @property
    def s(self) -> int:
        """The number of the teacher's neurons."""
        return self.k * 2**self.b

    @property
    def features(self) -> int:
        """The length of an input."""
        return self.n

    @property
    def labels(self) -> str:
        """Real numbers."""
        return "real"

    def teacher(self) -> Layers:
        """The parameters of the network that labels, an MLP of width `s`."""
        return teacher(self.n, self.b, self.k, self.seed, self.dense)

    def label(self, x: Float[Array, "*batch n"]) -> Float[Array, "*batch"]:
        """The teacher's value at each row of `x`."""
        hidden, outer = self.teacher().layers
        return (jax.nn.relu(hidden.at(x)) @ outer.weight)[..., 0]

    def sample(self, key: PRNGKeyArray, size: int) -> Batch:
        """Draws `size` independent examples."""
        x = uniform_bits(key, size, self.n)
        y = self.label(x)
        if not is_off(self.noise):
            y = y + self.noise * jr.normal(jr.fold_in(key, 1), (size,))
        return Batch(x, y)

    def population(self) -> Batch:
        """Every input once, without noise: bit $i$ of the row's number is 1 where $x_i = -1$."""
        checks.whole(self, "n", self.n, low=1, high=POPULATION_MAX, what="is enumerated")
        x = cube.population(self.n)
        return Batch(x, self.label(x))


@functools.lru_cache(maxsize=32)
def teacher(n: int, b: int, k: int, seed: int, dense: bool) -> Layers:
    """A random network of `k` gated parts, each on its own address bits and on all data bits."""
    generator = np.random.default_rng(seed)
    q = n - k * b
    weights, biases = [], []
    with jax.ensure_compile_time_eval():  # a constant, also when first asked for under `jit`
        for part in range(k):
            directions = generator.standard_normal((2**b, q))
            directions /= np.linalg.norm(directions, axis=1, keepdims=True)
            (gate, bias), _ = constructions.gated(directions, 0.0 if dense else "everywhere").layers
            weight = np.zeros((n, 2**b))
            weight[part * b : (part + 1) * b] = np.asarray(gate)[:b]
            weight[k * b :] = np.asarray(gate)[b:]
            weights.append(weight)
            biases.append(np.asarray(bias, dtype=np.float64))
        return constructions.network(np.hstack(weights), np.concatenate(biases), np.ones(k * 2**b))


@configuration
class LiftedParity:
    r"""A parity of `k` of `m` fair bits, shown as the $m^2$ products of pairs of bits.

    On the diagonal of the products are the bits themselves, so a learner of parities finds it; the
    same labels are those of a 1-sparse network (`constructions.lifted_parity`).
    """

    m: int
    k: int
    flip: Number = 0.0
    support: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        checks.whole(self, "m", self.m, low=1, what="counts the hidden bits")
        checks.whole(self, "k", self.k, low=1, high=self.m, what="counts relevant bits")
        if self.support is None:
            object.__setattr__(self, "support", tuple(range(self.k)))
        checks.support(self, self.m, self.k, self.relevant)
        checks.number(self, "flip", self.flip, low=0.0, high=1.0, what="is a probability")

    @property
    def relevant(self) -> tuple[int, ...]:
        """The support, which construction has filled in."""
        assert self.support is not None
        return self.support

    @property
    def features(self) -> int:
        """The length of an input."""
        return self.m**2

    @property
    def labels(self) -> str:
        """Signs, predicted by one real number."""
        return "sign"

    def label(self, x: Float[Array, "*batch square"]) -> Float[Array, "*batch"]:
        """The parity of the relevant bits, which are on the diagonal."""
        diagonal = tuple(i * (self.m + 1) for i in self.relevant)
        return jnp.prod(relevant_bits(x, diagonal), axis=-1)

    def sample(self, key: PRNGKeyArray, size: int) -> Batch:
        """Draws `size` independent examples."""
        x = lifted(uniform_bits(key, size, self.m))
        y = self.label(x)
        if not is_off(self.flip):
            y = jnp.where(jr.bernoulli(jr.fold_in(key, 1), self.flip, (size,)), -y, y)
        return Batch(x, y)

    def population(self) -> Batch:
        """The products of every setting of the hidden bits, without noise."""
        checks.whole(self, "m", self.m, low=1, high=14, what="is enumerated")
        x = lifted(cube.population(self.m))
        return Batch(x, self.label(x))


@configuration
class LearningWithRounding:
    r"""$y \in \mathbb{Z}_q^m$ uniform, labelled by $\lfloor p\,(\langle w, y \rangle \bmod q) / q
    \rfloor$ for a random secret $w$.

    Labels are the numbers $0, \dots, p - 1$, for the square loss. Inputs are the binary digits of
    $y$ (least first, a digit 1 is $-1$), or with `lifted` the products of all pairs of them. With
    `rule="modulus"` the label is $(\langle w, y \rangle \bmod q) \bmod p$, as definition 15 of the
    paper has it; where $p$ divides $q$ that is linear modulo $p$ and easy, so the default is the
    rounding that the problem is named for.
    """

    m: int
    q: int
    p: int = 2
    seed: int = 0
    rule: str = "rounding"
    lifted: bool = True

    def __post_init__(self) -> None:
        checks.whole(self, "m", self.m, low=1, what="counts the coordinates")
        checks.whole(self, "q", self.q, low=2, high=2**15, what="is the modulus")
        checks.whole(self, "p", self.p, low=2, high=self.q, what="counts the labels")
        checks.choice(self, "rule", self.rule, ["rounding", "modulus"])

    @property
    def digits(self) -> int:
        """Binary digits of a coordinate."""
        return (self.q - 1).bit_length()

    @property
    def features(self) -> int:
        """The length of an input."""
        r = self.m * self.digits
        return r**2 if self.lifted else r

    @property
    def labels(self) -> str:
        """Real numbers, 0 to p - 1."""
        return "real"

    @property
    def secret(self) -> tuple[int, ...]:
        """The hidden vector."""
        drawn = np.random.default_rng(self.seed).integers(0, self.q, self.m)
        return tuple(int(w) for w in drawn)

    def values(self) -> tuple[int, ...]:
        """The label of each residue modulo `q`."""
        if self.rule == "rounding":
            return tuple(self.p * c // self.q for c in range(self.q))
        return tuple(c % self.p for c in range(self.q))

    def teacher(self) -> Layers:
        """The 1-sparse network that labels lifted inputs."""
        return constructions.learning_with_rounding(self.secret, self.q, self.values())

    def example(self, y: Int[Array, "batch m"]) -> Batch:
        """The example of each row of residues."""
        bits = y[:, :, None] >> jnp.arange(self.digits) & 1
        z = 1.0 - 2.0 * bits.reshape(len(y), -1).astype(jnp.float32)
        total = jnp.sum(y * jnp.array(self.secret)[None, :], axis=1) % self.q
        return Batch(lifted(z) if self.lifted else z, jnp.array(self.values(), jnp.float32)[total])

    def sample(self, key: PRNGKeyArray, size: int) -> Batch:
        """Draws `size` independent examples."""
        return self.example(jr.randint(key, (size, self.m), 0, self.q))

    def population(self) -> Batch:
        """Every vector of residues once, the first coordinate changing fastest."""
        size = self.q**self.m
        checks.whole(self, "q**m", size, low=1, high=2**14, what="counts what is enumerated")
        rows = np.arange(size)[:, None] // self.q ** np.arange(self.m) % self.q
        return self.example(jnp.asarray(rows))


def lifted(z: Float[Array, "batch m"]) -> Float[Array, "batch square"]:
    """The products of all pairs of entries, with the entries themselves on the diagonal."""
    m = z.shape[1]
    products = jnp.where(jnp.eye(m, dtype=bool)[None], z[:, :, None], z[:, :, None] * z[:, None, :])
    return products.reshape(len(z), m * m)
