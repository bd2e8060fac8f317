r"""The norms of a network that capacity bounds are stated in.

$\|A\|_{2,1}$ is the sum of the norms of the columns. Scores are $x_\tau^\top W_Q W_K^\top x_t$, so
queries and keys enter through their product alone: the bounds take $\|W_K W_Q^\top\|_{2,1}$, a sum
over $d$ columns. (Printed in A.1.7 is $\|W_K^\top W_Q\|_{2,1}$, which is $k \times k$ and can
vanish while scores do not.) (2,1) norms depend on the basis; spectral norms do not.

A model says where its weights are: `attention_weights(params)` gives layers with `query`, `key`,
`value` and `output`, heads first, scaled such that scores are plain inner products; `token_norm`,
`cls_token` and `readout_norm` give what is before and after them, `lipschitz` the constant of the
activation.
"""

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float

from elegans import checks


class HeadNorms(NamedTuple):
    r"""Norms of one head.

    Attributes:
        V: $\|W_V\|_2$.
        V21: $\|W_V\|_{2,1}$.
        QK: $\|W_K W_Q^\top\|_2$.
        QK21: $\|W_K W_Q^\top\|_{2,1}$.
        C: $\|W_C\|_2$; 1 without a $W_C$.
        C21: $\|W_C\|_{2,1}$; 0 without a $W_C$.
        cls: $\|W_K W_Q^\top x_{[CLS]}\|$ in the first layer, $\|W_K W_Q^\top\|_2$ in others.
    """

    V: float
    V21: float
    QK: float
    QK21: float
    C: float = 1.0
    C21: float = 0.0
    cls: float = 0.0


class Norms(NamedTuple):
    """Norms of a network: of its tokens, of each head of each layer, and of what follows.

    Attributes:
        X: The largest norm of a token.
        layers: Heads, layer by layer.
        dim: Width of the tokens.
        key: Width of a head.
        w: Lipschitz constant of what follows the heads; the norm of the readout if that is all.
        lipschitz: Of the activation.
    """

    X: float
    layers: tuple[tuple[HeadNorms, ...], ...]
    dim: int
    key: int
    w: float = 1.0
    lipschitz: float = 1.0


@runtime_checkable
class Attends(Protocol):
    """A model that says where its attention weights are."""

    @property
    def lipschitz(self) -> float:
        """The Lipschitz constant of the activation."""
        ...

    def attention_weights(self, params: Any) -> Any:
        """Layers with `query`, `key`, `value` and `output`, heads first."""
        ...

    def token_norm(self, params: Any) -> float:
        """The largest norm of a token."""
        ...

    def cls_token(self, params: Any) -> np.ndarray:
        """The token whose output is read."""
        ...

    def readout_norm(self, params: Any) -> float:
        """The Lipschitz constant of what follows the heads."""
        ...


def norms(model: object, params: Any) -> Norms:
    """The norms of a network, per layer and head; only of one that the bounds are about."""
    if not isinstance(model, Attends):
        raise TypeError(
            f"norms: {checks.shown(model)} is not in the classes that are bounded (a residual "
            "stream, LayerNorm and trained positions are outside of them); a BoundedTransformer is."
        )
    layers = model.attention_weights(params)
    cls = np.asarray(model.cls_token(params), dtype=np.float64)
    _, dim, key = layers[0].query.shape
    return Norms(
        X=model.token_norm(params),
        layers=tuple(
            tuple(
                head_norms(
                    layer.query[h],
                    layer.key[h],
                    layer.value[h],
                    None if layer.output is None else layer.output[h],
                    cls=cls if i == 0 else None,
                )
                for h in range(len(layer.query))
            )
            for i, layer in enumerate(layers)
        ),
        dim=int(dim),
        key=int(key),
        w=model.readout_norm(params),
        lipschitz=float(model.lipschitz),
    )


def head_norms(
    query: Any,
    key: Any,
    value: Any,
    output: Any = None,
    *,
    cls: Float[np.ndarray, " dim"] | None = None,
) -> HeadNorms:
    """The norms of one head from its matrices: (dim, key) each, `output` transposed."""
    query, key, value = (np.asarray(w, dtype=np.float64) for w in (query, key, value))
    # The product is dim by dim; triangular factors have its norms at the size of a head.
    query_factor, key_factor = (np.linalg.qr(w).R for w in (query, key))
    product = float(np.linalg.norm(query_factor @ key_factor.T, 2))
    sizes = HeadNorms(
        V=float(np.linalg.norm(value, 2)),
        V21=column_norms(value),
        QK=product,
        QK21=column_norms((query @ key_factor.T).T),
        cls=product if cls is None else float(np.linalg.norm(key @ (query.T @ cls))),
    )
    if output is None:
        return sizes
    output = np.asarray(output, dtype=np.float64)
    return sizes._replace(C=float(np.linalg.norm(output, 2)), C21=column_norms(output))


def column_norms(matrix: Float[np.ndarray, "rows columns"]) -> float:
    r"""$\|A\|_{2,1}$, the sum of the norms of the columns."""
    return float(np.linalg.norm(matrix, axis=0).sum())
