r"""What `sensitivity` computes besides random teachers: gates of any strength, the most sensitive
networks, and Gaussian inputs.

* Remark 11: gates of strength $\Gamma$ keep all neurons but one silent at every input, at most
  inputs, or not at all ($\Gamma = 0$). The class $\mathcal{H}_{n,s,k}$ knows the largest number of
  active neurons, `theory.sparse_activation.activity_bound` their second moment.
* `constructions.sensitive_parity` attains $4k^2W^2$.
* Under Gaussian inputs a gate is a bias. Orthonormal directions make $s$ neurons independent, each
  active with probability $q = \Phi(-t)$ at bias $-t$, so that the least $t$ with
  $\Pr[\text{more than one active}] \le s^{-2}$ is the solution of one equation, and
  $\mathbb{E} h^2 = s\,\mu_2 + s(s-1)\,\mu_1^2$ for the moments $\mu_i$ of $(z - t)_+$.
"""

import math

import numpy as np
import pandas as pd
from scipy import optimize, special

from elegans import checks, constructions, cube
from elegans.fields import configuration
from elegans.models import MLP
from elegans.tasks import SparseNetwork
from elegans.theory import sparse_activation
from elegans.theory.boolean import fourier


@configuration
class GateStrength:
    r"""A random gated network of $2^b$ neurons with gates of `share` times $\sqrt q$."""

    n: int
    b: int
    share: float
    degree: int = 2

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row; directions depend on the seed alone."""
        q = self.n - self.b
        directions = np.random.default_rng([seed, 13]).standard_normal((2**self.b, q))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        params = constructions.gated(directions, float(self.share) * math.sqrt(q))
        weight, bias, outer = sparse_activation.neurons(params)
        x = cube.signs(self.n)
        active = sparse_activation.active(weight, bias, x)
        weights = fourier.degree_weights(np.maximum(x @ weight + bias, 0) @ outer, self.n)
        member = sparse_activation.membership(params)
        row = {
            "k": member.k,
            "second_moment": float(np.mean(active.astype(float) ** 2)),
            "AS": float(np.arange(self.n + 1) @ weights),
            "tail": float(weights[self.degree + 1 :].sum() / weights[1:].sum()),
            "theory_activity": sparse_activation.activity_bound(MLP(width=member.s), params),
            "theory": sparse_activation.lipschitz_sensitivity(member.k, member.W),
        }
        return pd.DataFrame([row])


@configuration
class MostSensitive:
    """`constructions.sensitive_parity` of `p` bits with `k` active neurons."""

    p: int
    k: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row; nothing is random."""
        params = constructions.sensitive_parity(self.p, self.k)
        member = sparse_activation.membership(params)
        model = MLP(width=member.s)
        row = {
            "W": member.W,
            "active": member.k,
            "AS": fourier.average_sensitivity(model, self.p, params=params),
            "theory": sparse_activation.lipschitz_sensitivity(member.k, member.W),
            "theory_activity": sparse_activation.activity_bound(model, params),
        }
        return pd.DataFrame([row])


@configuration
class GaussianGates:
    """Networks of $s = 2^b$ unit neurons, sparse with high probability: biases, and mean squares.

    `gaussian` is the mean square under Gaussian inputs, `bits` that of a gated network with data
    directions of length one on `n` fair bits.
    """

    b: int
    n: int

    def __call__(self, seed: int) -> pd.DataFrame:
        """One row."""
        s = 2**self.b
        t = sparse_bias(s)
        y = np.asarray(SparseNetwork(n=self.n, b=self.b, seed=seed).population().y, float)
        first, second = ramp_moments(t)
        row = {
            "s": s,
            "bias": t,
            "theory": math.sqrt(2 * math.log(s**2)),
            "gaussian": s * second + s * (s - 1) * first**2,
            "bits": float(np.mean(y**2)),
        }
        return pd.DataFrame([row])


def sparse_bias(s: int) -> float:
    r"""The least $t$ for which $s$ independent normal numbers exceed it twice with probability at
    most $s^{-2}$."""
    checks.whole("sparse_bias", "s", s, low=2, what="counts neurons")

    def log_excess(t: float) -> float:
        q = special.ndtr(-t)
        return math.log(special.betainc(2, s - 1, q)) + 2 * math.log(s)

    return float(optimize.brentq(log_excess, 0.0, 15.0))


def ramp_moments(t: float) -> tuple[float, float]:
    r"""$\mathbb{E}(z - t)_+$ and $\mathbb{E}(z - t)_+^2$ for a normal number $z$."""
    density = math.exp(-(t**2) / 2) / math.sqrt(2 * math.pi)
    q = float(special.ndtr(-t))
    return density - t * q, (1 + t**2) * q - t * density
