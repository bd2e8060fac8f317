r"""A transformer that reads $\pm 1$ inputs as tokens and classifies them at an extra token, [CLS].

Token $t$ is $E_{b_t} + P_t$, where $b_t$ says whether input $t$ is true ($-1$); [CLS] comes last.
A layer is $z \leftarrow z + \mathrm{Attn}(\mathrm{norm}\, z)$ and then $z \leftarrow z + W_2\,
\mathrm{gelu}(W_1\, \mathrm{norm}\, z + b_1) + b_2$, with scores divided by $\sqrt k$ at heads of
width $k$, and no mask: [CLS] attends to all tokens, itself among them. The prediction is read from
the stream at [CLS].

With its defaults this is the block that the thesis trained (appendix A.3: minGPT), with 50,432 +
64(T + 1) parameters at `dim` 64; `TransformerClassifier.parity()` is the Parity Transformer of
appendix B.4.1, without norms, biases of attention, and a position of [CLS]. (In print its
attention leaves out $X$ before $W_V$, its MLP has $x$ for $z$ and $W_2$ transposed.)

Two outputs are logits of false and true, and the prediction is their difference: its logistic loss
is their cross-entropy. How a layer is computed is in `classifier_forward`.
"""

import dataclasses
from typing import Any

from jaxtyping import Array, Float, Num, PRNGKeyArray

from elegans import checks
from elegans.fields import configuration
from elegans.models.transformers.classifier_forward import (
    ClassifierTrace,
    forward,
    has_shared_tokens,
)
from elegans.models.transformers.classifier_params import ClassifierParams, NormalInit, XavierInit
from elegans.models.transformers.dropout import Dropout
from elegans.protocols import Init, check_init

NORMS = ("layer", "ball", "none")
POSITIONS = ("trained", "fixed", "none")
ACTIVATIONS = ("gelu", "relu")
CACHED = 1 << 17  # numbers of a batch's tokens that stay in the cache of a core


@configuration
class TransformerClassifier:
    """A transformer with `layers` layers of `heads` heads, read at [CLS].

    Attributes:
        dim: Width of the stream.
        key_width: Width of a head; None is `dim / heads`, which is then an integer.
        hidden: Neurons of the hidden layer that follows attention; None is `4 * dim`.
        norm: Before attention, before the hidden layer and before the readout: "layer" is
            LayerNorm, "ball" the projection onto the unit ball, which theory has in its place.
        residual: Whether a layer adds to the stream, or replaces it.
        positions: "trained", "fixed" at what they are at first, or "none".
        cls_position: Whether [CLS] has a position too.
        bias: Whether queries, keys, values and the output of attention have biases.
        activation: "gelu" (with the error function) or "relu".
        dropout: What is zeroed in training.
        outputs: 1, or 2 for a logit each of false and true.
        init: How weights start: `NormalInit`, `XavierInit`, or one of your own.
    """

    layers: int = 1
    heads: int = 16
    dim: int = 64
    key_width: int | None = None
    hidden: int | None = None
    norm: str = "layer"
    residual: bool = True
    positions: str = "trained"
    cls_position: bool = True
    bias: bool = True
    activation: str = "gelu"
    dropout: Dropout = Dropout()
    outputs: int = 2
    init: Init = NormalInit()

    @classmethod
    def parity(cls, heads: int = 128, dim: int = 1024, **fields: Any) -> "TransformerClassifier":
        """The Parity Transformer of appendix B.4.1; other fields may be changed by name."""
        options: dict[str, Any] = {
            "norm": "none",
            "cls_position": False,
            "bias": False,
            "outputs": 1,
            "init": XavierInit(),
        }
        return cls(heads=heads, dim=dim, **(options | fields))

    def __post_init__(self) -> None:
        checks.whole(self, "layers", self.layers, low=1, what="counts the layers")
        checks.whole(self, "heads", self.heads, low=1, what="counts the heads of a layer")
        checks.whole(self, "dim", self.dim, low=1, what="is the width of the stream")
        for name, what in (("key_width", "is the width of a head"), ("hidden", "counts neurons")):
            if getattr(self, name) is not None:
                checks.whole(self, name, getattr(self, name), low=1, what=what)
        if self.key_width is None and self.dim % self.heads:
            raise ValueError(
                f"{checks.shown(self)}: without a key_width the heads share the {self.dim} numbers "
                f"of the stream, so heads divides dim; {self.dim % self.heads} left."
            )
        checks.choice(self, "norm", self.norm, NORMS)
        checks.choice(self, "positions", self.positions, POSITIONS)
        checks.choice(self, "activation", self.activation, ACTIVATIONS)
        checks.whole(self, "outputs", self.outputs, low=1, high=2, what="counts logits of a sign")

    def check(self, task: Any) -> None:
        """Refuses a task without inputs to read as bits, or whose labels are not signs."""
        if not hasattr(task, "features"):
            raise ValueError(
                f"{checks.shown(self)}: reads bits, and {checks.shown(task)} has none: a task of "
                "bits says how many there are (an attribute features)."
            )
        if getattr(task, "classes", None) is not None:
            raise ValueError(
                f"{checks.shown(self)}: predicts a sign, and {checks.shown(task)} has "
                f"{task.classes} classes."
            )
        check_init(self, task)

    @property
    def width(self) -> int:
        """The width of a head."""
        return self.dim // self.heads if self.key_width is None else self.key_width

    @property
    def hidden_width(self) -> int:
        """The neurons of a hidden layer."""
        return 4 * self.dim if self.hidden is None else self.hidden

    def places(self, T: int) -> int:
        """How many positions there are for `T` inputs."""
        return 0 if self.positions == "none" else T + int(self.cls_position)

    @property
    def body(self) -> "TransformerClassifier":
        """What predictions depend on: the network however it starts."""
        return dataclasses.replace(self, init=NormalInit())

    @property
    def is_stochastic(self) -> bool:
        """Whether training draws random numbers in `apply`."""
        return self.dropout.is_on

    def rows_at_once(self, T: int) -> int | None:
        """The examples that training differentiates at once; None is as many as there are."""
        if has_shared_tokens(self, is_training=self.is_stochastic):
            return None
        return max(1, CACHED // ((T + 1) * self.dim))

    def init_params(self, key: PRNGKeyArray, task: Any) -> ClassifierParams:
        """The parameters before the first step, for inputs of the task's length."""
        return self.init(key, self, task)

    def apply(
        self, params: ClassifierParams, x: Num[Array, " T"], key: PRNGKeyArray | None = None
    ) -> Float[Array, ""]:
        """The prediction at one example, positive for +1; `key` draws what is dropped."""
        logits = forward(self, params, x, key).logits
        return logits[0] if self.outputs == 1 else logits[0] - logits[1]

    def trace(
        self, params: ClassifierParams, x: Num[Array, " T"], key: PRNGKeyArray | None = None
    ) -> ClassifierTrace:
        """The logits at one example, and the attention of [CLS]: (layers, heads, T + 1)."""
        return forward(self, params, x, key)
