r"""The best that a single layer can do at the last position, by fitting its class of functions.

One layer with one head attends from the last token $x_p$ of a chain of two states with weights
$a_j \propto e^{S_{x_p x_j} + R_{x_p, p - j}}$: the score of a pair of states, and of a distance.
What it reads is $u = \sum_j a_j x_j$ (with absolute positions also $\sum_j a_j \gamma_j$, as values
carry them too), and the log odds of its prediction are $\alpha_{x_p} + \beta u$, or a function
of $(x_p, u)$ where a hidden layer follows. At one position nothing else can be done, so the tables
$S$ and $R$ and the read-out are fitted directly, to chains whose law is known. The result is a
lower estimate of the best of the class: gradient descent may have stopped short of it.
"""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pandas as pd
from jaxtyping import Array, Float, Int, PyTree

from elegans.fields import configuration
from elegans.statistics import normal_mean
from elegans.tasks import MarkovChains
from elegans.theory.markov import predict

HIDDEN = 32  # neurons of the read-out where there is a hidden layer
PATTERNS_SCALE = 0.1  # of the scores at the start
BATCH = 4096  # sequences per step of the fit


@configuration
class BestSingleLayer:
    """A computation: how far below unigrams the best single layer is, at the last position.

    Attributes:
        length: Tokens of a sequence; chains have two states.
        position: "relative" or "absolute".
        mlp: Whether a hidden layer follows.
        steps: Of the fit, each on sequences that are drawn anew.
        fresh: Sequences that the fit is tested on.
    """

    length: int
    position: str
    mlp: bool
    steps: int = 1500
    rate: float = 0.05
    fresh: int = 32_768

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row: the gain over unigrams in nats, with its 95% interval over sequences."""
        fit_key, test_key, init_key = jr.split(jr.key(seed), 3)
        params = self._fitted(fit_key, self._initial(init_key))
        gain = normal_mean(np.asarray(_gains(self, params, test_key), np.float64))
        return pd.DataFrame([{"gain": gain.value, "low": gain.low, "high": gain.high}])

    def _initial(self, key: Array) -> PyTree:
        keys = jr.split(key, 5)
        small = PATTERNS_SCALE
        return {
            "pairs": small * jr.normal(keys[0], (2, 2)),
            "distances": small * jr.normal(keys[1], (2, self.length)),
            "values": small * jr.normal(keys[2], (self.length,)),
            "current": jnp.zeros(2),
            "slope": jnp.array([2.0, 1.0]),
            "into": jr.normal(keys[3], (HIDDEN, 4)) / 2,
            "out": jnp.zeros(HIDDEN),
        }

    def log_odds(self, params: PyTree, tokens: Int[Array, "size length"]) -> Float[Array, " size"]:
        """The log odds of state 1 after each sequence."""
        current = tokens[:, -1]
        scores = jnp.where(tokens == 1, params["pairs"][current, 1:], params["pairs"][current, :1])
        attention = jax.nn.softmax(scores + params["distances"][current])
        read = jnp.sum(attention * tokens, axis=1)
        place = (
            attention @ params["values"] if self.position == "absolute" else jnp.zeros_like(read)
        )
        odds = params["current"][current] + params["slope"][0] * read + params["slope"][1] * place
        if not self.mlp:
            return odds
        inputs = jnp.stack([read, place, 1.0 * current, jnp.ones_like(read)], axis=1)
        return odds + jax.nn.relu(inputs @ params["into"].T) @ params["out"]

    def _fitted(self, key: Array, params: PyTree) -> PyTree:
        optimizer = optax.adam(optax.cosine_decay_schedule(self.rate, self.steps))

        @jax.jit
        def fit(params: PyTree) -> PyTree:
            def step(carry: tuple[PyTree, PyTree], i: Array) -> tuple[tuple[PyTree, PyTree], None]:
                params, state = carry
                grads = jax.grad(lambda p: jnp.mean(_losses(self, p, jr.fold_in(key, i), BATCH)))(
                    params
                )
                updates, state = optimizer.update(grads, state)
                return (optax.apply_updates(params, updates), state), None

            start = (params, optimizer.init(params))
            with jax.numpy_dtype_promotion("standard"):  # optax mixes floats and int32
                (params, _), _ = jax.lax.scan(step, start, jnp.arange(self.steps))
            return params

        return fit(params)


def _drawn(layer: BestSingleLayer, key: Array, size: int) -> tuple[Array, Array]:
    """Sequences of two states, and the probability that each is followed by a one."""
    known = MarkovChains(2, layer.length).sample_with_truth(key, size)
    current = known.x[:, -1]
    return known.x, jnp.where(current == 1, known.transitions[:, 1, 1], known.transitions[:, 0, 1])


def _cross_entropy(
    one: Float[Array, " size"], odds: Float[Array, " size"]
) -> Float[Array, " size"]:
    return jax.nn.softplus(odds) - one * odds


def _losses(layer: BestSingleLayer, params: PyTree, key: Array, size: int) -> Float[Array, " size"]:
    tokens, one = _drawn(layer, key, size)
    return _cross_entropy(one, layer.log_odds(params, tokens))


@jax.jit
def _gains(layer: BestSingleLayer, params: PyTree, key: Array) -> Float[Array, " size"]:
    """The unigram strategy's loss minus the layer's, sequence by sequence."""
    tokens, one = _drawn(layer, key, layer.fresh)
    law = predict("unigram", tokens, 2)[:, -1]
    unigram = _cross_entropy(one, jnp.log(law[:, 1]) - jnp.log(law[:, 0]))
    return unigram - _cross_entropy(one, layer.log_odds(params, tokens))
