"""The architectures of the chapter on hidden progress, by the document's label, with their recipes.

Fifteen settings, (i) to (xv), learn sparse parities whatever the batch size; three, starred, need
batches of 16 or more. The activation of a network that is made for parities, and the degree of a
product, are those of the task's $k$, so the list is a function of `n` and `k`. Recipes are online,
with the hinge loss, batches of 32 and, where the document prints one, its learning rate.

All two-layer networks have an output bias, which the document's formula lacks: two rectifiers
without one cannot compute the sign of a parity of two bits (docs/errata.md).

References: Barak et al. (2022), Hidden progress, sections 5.3.1 and B.4.1.
"""

from typing import Any, NamedTuple

from elegans import checks
from elegans.models.mlp import MLP
from elegans.models.polynet import PolyNet
from elegans.models.transformers.classifier import TransformerClassifier
from elegans.training.recipe import Stop, Training

NEURONS = {
    "zigzag": ("vii", "xi"),
    "oscillating": ("viii", "xii"),
    "infinite-zigzag": ("ix", "xiii"),
    "sinusoid": ("x", "xiv"),
}
RATES = {
    "i": 0.5,
    "ii": 0.1,
    "iii": 0.1,
    "iv": 0.05,
    "v": 0.01,
    "vi": 0.01,
    "vii": 0.2,
    "viii": 0.01,
    "ix": 0.2,
    "x": 0.05,
    "xi": 0.1,
    "xii": 0.01,
    "xiii": 0.1,
    "xiv": 0.01,
    "xv": 0.07,
    "*i": 0.1,
    "*ii": 0.01,
    "*iii": 3e-4,
}
LABELS = tuple(RATES)
STEPS = 100_000


class Architecture(NamedTuple):
    """A setting of the document: its label, what it is, and how it is trained."""

    label: str
    name: str
    model: Any
    training: Training


class Architectures(dict[str, Architecture]):
    """Architectures by label; one that does not exist is refused by name."""

    def __missing__(self, label: object) -> Architecture:
        raise KeyError(
            f"no architecture is labelled {label!r}{checks.nearest(label, self)} "
            f"There are {', '.join(self)}."
        )


def architectures(n: int, k: int) -> Architectures:
    """All 18 settings for parities of `k` out of `n` bits, by label."""
    owner = f"architectures(n={n}, k={k})"
    checks.whole(owner, "n", n, low=1, what="counts the bits")
    checks.whole(owner, "k", k, low=1, high=n, what="counts relevant bits")
    models = _models(k)
    return Architectures(
        {
            label: Architecture(label, models[label][0], models[label][1], recipe(label))
            for label in LABELS
        }
    )


def recipe(label: str) -> Training:
    """The document's recipe for a setting, looking at 8,192 fresh examples every 10 steps."""
    return Training(
        loss="hinge",
        optimizer="adam" if label == "*iii" else "sgd",
        learning_rate=RATES[label],
        batch=32,
        steps=STEPS,
        evaluate_every=10,
        test_samples=8192,
        stop=Stop(test_error=0.0),
    )


def _models(k: int) -> dict[str, tuple[str, Any]]:
    """Name and model by label."""
    widths = {"i": 10, "ii": 100, "iii": 1000}
    models: dict[str, tuple[str, Any]] = {
        label: (f"ReLU, width {width:,}", MLP(width=width)) for label, width in widths.items()
    }
    for label, width in zip(("iv", "v", "vi"), widths.values(), strict=True):
        models[label] = (f"z^{k}, width {width:,}", MLP(width=width, activation=f"z^{k}"))
    for kind, (two_layers, one_layer) in NEURONS.items():
        activation, name = f"{kind}:{k}", kind.replace("-", " ")
        models[two_layers] = (f"{name} neuron", MLP(width=1, activation=activation))
        models[one_layer] = (
            f"{name} neuron, no second layer",
            MLP(width=1, activation=activation, output_layer=False),
        )
    models["xv"] = (f"PolyNet of degree {k}", PolyNet(degree=k))
    models["*i"] = (f"ReLU, width {k}", MLP(width=k))
    models["*ii"] = (f"z^{k}, width {k}", MLP(width=k, activation=f"z^{k}"))
    models["*iii"] = ("Parity Transformer", TransformerClassifier.parity())
    return models
