r"""Margins and features of homogeneous networks, at each evaluation.

The normalised margin is $\min_x g(x) / \|\theta\|_{2,\nu}^\nu$ over the whole population, $\nu$ the
model's degree of homogeneity, the norm over all weights of each neuron. It is compared with the
largest there is: that of the game for a task with a `group`, that of Theorem 7.8 for a parity.

The maximal power of a vector on a group is the share of its squared norm that lies in one real
irreducible representation, the constant part left in: for a cyclic group, in one frequency $\pm z$.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Num

from elegans import checks
from elegans.fields import configuration
from elegans.protocols import View
from elegans.theory import groups

Powers = Float[Array, "reps width"]


class Basis(NamedTuple):
    """Matrix entries of all `size` representations, side by side, and of which each is."""

    frame: Float[np.ndarray, "n entries"]
    owner: Int[np.ndarray, " entries"]
    size: int


def best_margin(task: Any) -> float:
    """The largest normalised margin on a task: of a group, or of a parity of its support."""
    if hasattr(task, "group"):
        return groups.maximum_margin(task.group).value
    if hasattr(task, "support"):
        return groups.parity_margin(len(task.support))
    raise ValueError(
        f"{checks.shown(task)}: maximum margins are known for tasks with a `group` and for "
        "parities, which have a `support`."
    )


def margin(view: View) -> dict[str, Float[Array, ""]]:
    """The normalised margin, its ratio to the largest one, and the norm to the power of nu."""
    degree = view.model.homogeneity
    x, y = view.task.population()[:2]
    if hasattr(view.model, "apply_population"):
        f = view.model.apply_population(view.params)
    else:
        f = jax.vmap(view.model.apply, in_axes=(None, 0))(view.params, x)
    if f.ndim == 1:
        smallest = jnp.min(y * f)
    else:
        right = jax.nn.one_hot(y, f.shape[1], dtype=bool)
        others = jnp.max(jnp.where(right, -jnp.inf, f), axis=1)
        smallest = jnp.min(jnp.sum(jnp.where(right, f, 0.0), axis=1) - others)
    norm = jnp.sum(_norms(view) ** degree)
    value = smallest / norm
    return {"margin": value, "ratio": value / best_margin(view.task), "norm": norm}


@configuration
class MarginRatio:
    """The normalised margin as a part of the largest one: a number that a run may stop at."""

    def __call__(self, view: View) -> Float[Array, ""]:
        """The ratio alone."""
        return margin(view)["ratio"]


def features(view: View) -> dict[str, Num[Array, "..."]]:
    r"""What neurons on a group have specialised in.

    `u`, `v` and `w` are the maximal power of each neuron; `shares` is the part of
    $\|\theta\|^\nu$ per representation, a neuron counted where most of its squared norm is;
    `power` is the maximal power of all weights together, averaged over neurons by that part;
    `norms` and `home` are each neuron's norm and that representation.
    """
    task, params = view.task, view.params
    vectors = {"u": params.u, "v": params.v, "w": params.w.T}
    basis = _basis(task.group)
    powers = {name: _powers(basis, vector) for name, vector in vectors.items()}
    total = sum(powers.values(), jnp.zeros(()))
    norms = _norms(view)
    parts = norms**view.model.homogeneity
    parts = parts / jnp.sum(parts)
    home = jnp.argmax(total, axis=0)
    each = {name: _maximal(power) for name, power in powers.items()}
    shares = parts @ jax.nn.one_hot(home, basis.size)
    power = parts @ _maximal(total)
    return {**each, "shares": shares, "power": power, "norms": norms, "home": home}


def _norms(view: View) -> Float[Array, " width"]:
    """The Euclidean norm of all weights of each neuron."""
    return jnp.linalg.norm(view.model.neurons(view.params), axis=1)


@functools.lru_cache(maxsize=16)
def _basis(group: Any) -> Basis:
    frames = [representation.frame for representation in groups.irreducibles(group)]
    owner = np.repeat(np.arange(len(frames)), [frame.shape[1] for frame in frames])
    return Basis(np.concatenate(frames, axis=1), owner, len(frames))


def _powers(basis: Basis, vectors: Float[Array, "n width"]) -> Powers:
    """The power of each column in each representation."""
    squares = (jnp.asarray(basis.frame, jnp.float32).T @ vectors) ** 2
    return jax.ops.segment_sum(squares, jnp.asarray(basis.owner), basis.size)


def _maximal(powers: Powers) -> Float[Array, " width"]:
    """The share of each column's power that is in its strongest representation; 0 for a zero."""
    total = jnp.sum(powers, axis=0)
    return jnp.max(powers, axis=0) / jnp.where(total > 0, total, 1.0)
