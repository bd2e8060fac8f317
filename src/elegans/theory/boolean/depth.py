r"""Why a deep quadratic network cannot be trained layer by layer, and how far depth reaches.

Let all hidden activations be $z^2$. A network of $L$ layers, the last one linear, is a polynomial
of degree $2^{L-1}$ in its inputs, so it has no correlation with a parity of more bits. A single
layer has degree 2: for $k > 2$ each coordinate of the gradient $\mathbb{E}\,\chi_S\,\partial
\sigma(\langle w, x \rangle + b)$ is exactly zero, whatever the weights, so that a first layer with
a linear head of its own learns nothing, although all layers together can reach $k \le 2^{L-1}$.

References: Barak et al. (2022), Hidden progress, appendix B.3.7.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from elegans import checks
from elegans.theory.boolean.closed_forms import polynomial


def degree_limit(layers: int) -> int:
    r"""The degree $2^{L-1}$ of a quadratic network: the largest parity that it can correlate with.

    With `layers` counting the linear one on top.
    """
    checks.whole("degree_limit", "layers", layers, low=1, what="counts the layers")
    return 2 ** (layers - 1)


def downstream_degree(layers: int) -> int:
    r"""The degree in $x$ of $\partial f / \partial z_1$, the factor that upper layers send down.

    $f$ has degree $2^{L-2}$ in the activations $z_1$ of the first hidden layer, its derivative one
    less, and $z_1$ itself degree 2 in $x$: $2(2^{L-2} - 1)$. The document prints $2^{L-2} - 1$,
    which is the degree in $z_1$. With the factor $x_i \sigma'$, of degree 2, that is $2^{L-1}$.
    """
    checks.whole("downstream_degree", "layers", layers, low=2, what="counts the layers")
    return 2 * (2 ** (layers - 2) - 1)


def layerwise_gradient(
    w: Float[np.ndarray, " n"], b: float | int, support: Sequence[int]
) -> Float[np.ndarray, " gradient"]:
    r"""The gradient of a neuron $z^2$ under a linear head: $n$ weights, then the bias.

    Zero for $k > 2$ and at irrelevant bits for $k = 2$; at $k = 2$ it is $2 w_j$ for the other
    relevant bit $j$.
    """
    return polynomial((0, 0, 1), w, b, support)
