"""Inits that take their weights from a run: that of another seed, or of another experiment.

Both are plain data: a seed, or an experiment with a seed. Nothing is stored with them, so an
experiment that holds one still prints as JSON and is named by its hash.
"""

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any

import jax
from jaxtyping import PRNGKeyArray, PyTree

from elegans import checks
from elegans.fields import Count, configuration
from elegans.keys import SEEDS, keys_of
from elegans.protocols import Init, param_shapes, path_name


@configuration
class Fixed:
    """The weights of the run with this seed, whatever the seed of the run: the same weights again.

    With other seeds of the run everything else is drawn anew: the examples, their order, the test
    set. `init=None` is how the model starts by itself.
    """

    init: Init | None = None
    seed: Count = 0

    def __post_init__(self) -> None:
        checks.count(self, "seed", self.seed, low=0, what="numbers a run")

    def __call__(self, key: PRNGKeyArray, model: Any, task: Any) -> PyTree:
        """What `init` draws under the seed's own key."""
        key = keys_of(self.seed).init
        if self.init is not None:
            return self.init(key, model, task)
        return _with_default_init(model).init_params(key, task)

    def check(self, model: Any, task: Any) -> None:
        """Refuses what `init` refuses."""
        check = getattr(self.init, "check", None)
        if check is not None:
            check(model, task)


@configuration
class FromRun:
    """The weights of another run, at its start or at its end, perhaps of a few neurons alone.

    This is plain data: the start is drawn again wherever it is needed; the end is looked up, or
    trained first, by whoever runs experiments.

    Attributes:
        experiment: The experiment of that run.
        seed: Its seed.
        at: "start" or "end".
        neurons: Which neurons of the first hidden layer to keep; None is all.
    """

    experiment: Any
    seed: int = 0
    at: str = "end"
    neurons: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        if not (hasattr(self.experiment, "model") and hasattr(self.experiment, "task")):
            raise ValueError(
                f"FromRun: experiment is that of the run to start from, an Experiment; there is no "
                f"run of {self.experiment!r}."
            )
        checks.whole(self, "seed", self.seed, low=0, high=SEEDS - 1, what="numbers a run")
        checks.choice(self, "at", self.at, ["start", "end"])
        if self.neurons is not None:
            if isinstance(self.neurons, str) or not isinstance(self.neurons, Iterable):
                raise TypeError(
                    f"{checks.shown(self)}: neurons holds numbers of neurons, as in (0, 3), or is "
                    f"None for all; got {self.neurons!r}."
                )
            object.__setattr__(self, "neurons", tuple(self.neurons))
            for i in self.neurons:
                checks.whole(self, "neurons", i, low=0, what="numbers neurons")
            if not self.neurons or len(set(self.neurons)) < len(self.neurons):
                raise ValueError(
                    f"{checks.shown(self)}: neurons holds one or more, each once; "
                    f"got {self.neurons!r}."
                )

    def __call__(self, key: PRNGKeyArray, model: Any, task: Any) -> PyTree:
        """The parameters at the start of that run."""
        if self.at == "end":
            raise ValueError(
                f"{checks.shown(self)}: the weights at the end of a run are known once it has been "
                "trained. elegans.run and sweeps do that first; Job takes them as `initial`."
            )
        source = self.experiment
        params = source.model.init_params(keys_of(self.seed).init, source.task)
        return cut(source.model, params, self.neurons)

    def shapes(self, model: Any, task: Any) -> PyTree:
        """The shapes of the model's parameters, which are those of its own init."""
        return param_shapes(_with_default_init(model), task)

    def check(self, model: Any, task: Any) -> None:
        """Refuses a model whose parameters have other shapes than those of that run."""
        source = self.experiment
        shapes = param_shapes(source.model, source.task)
        if self.neurons is not None and hasattr(source.model, "neurons"):
            high = jax.eval_shape(source.model.neurons, shapes)[0].shape[0] - 1
            for i in self.neurons:
                checks.whole(self, "neurons", i, low=0, high=high, what="numbers neurons")
        theirs = jax.eval_shape(lambda params: cut(source.model, params, self.neurons), shapes)
        wanted, offered = _shapes(self.shapes(model, task)), _shapes(theirs)
        if wanted != offered:
            raise ValueError(
                f"{checks.shown(model)}: its parameters have the shapes {wanted}, and those that "
                f"it is to start from {offered}."
            )


def _with_default_init(model: Any) -> Any:
    """The model with the init that it has by default."""
    field = next(field for field in dataclasses.fields(model) if field.name == "init")
    factory: Any = field.default_factory
    is_made = field.default is dataclasses.MISSING and factory is not dataclasses.MISSING
    return dataclasses.replace(model, init=factory() if is_made else field.default)


def _shapes(params: PyTree) -> dict[str, tuple[int, ...]]:
    """The shape of each parameter, by its path."""
    leaves = jax.tree_util.tree_leaves_with_path(params)
    return {path_name(path): leaf.shape for path, leaf in leaves}


def cut(model: Any, params: PyTree, neurons: Sequence[int] | None) -> PyTree:
    """The parameters of a model with these neurons of its first hidden layer alone; None is all."""
    if neurons is None:
        return params
    if not hasattr(model, "keep"):
        raise ValueError(
            f"{checks.shown(model)}: it has no method keep(params, neurons), so neurons of it "
            "cannot be chosen."
        )
    return model.keep(params, neurons)
