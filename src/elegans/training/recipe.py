r"""How to train: a frozen description of loss, optimiser, data, evaluation and stop rule.

One step draws a batch and updates $\theta$ with the mean gradient $g$. Weight decay $\lambda$ comes
in two forms, by name:

* `"coupled"`: $\theta \leftarrow \theta - \eta\,(g + \lambda\theta)$, as PyTorch's SGD;
* `"shrink"`: $\theta \leftarrow (1 - \lambda)\,\theta - \eta g$, as the documents write it.

(AdamW has its own, $\theta \leftarrow \theta - \eta\,(\text{Adam}(g) + \lambda\theta)$.) The
training set is virtual: row $i$ is a function of the run's data key and $i$.
"""

from typing import Any

import jax

from elegans import checks
from elegans.fields import Count, Number, configuration
from elegans.protocols import matches, param_shapes, path_name
from elegans.training.losses import LOSSES, Loss, check_labels

OPTIMIZERS = ("sgd", "adam", "adamw")
DECAYS = ("coupled", "shrink")
SCHEDULES = ("constant", "linear", "cosine", "inverse")


@configuration
class Stop:
    """A run stops, and has succeeded, when its full test error is at most `test_error`."""

    test_error: Number = 0.1

    def __post_init__(self) -> None:
        checks.number(self, "test_error", self.test_error, low=0, high=1, what="is a fraction")


@configuration
class Group:
    """Rates of the parameters whose path starts with `match`, in steps `start` to `stop`.

    Paths are those of the model's parameters: "layers.0.weight" is the first weight matrix of an
    MLP, "layers.0" that and its bias. The first group that matches and is active at a step counts;
    elsewhere the recipe's own rates hold.
    """

    match: str
    learning_rate: Number = 0.0
    weight_decay: Number = 0.0
    start: int = 0
    stop: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.match, str) or not self.match:
            raise ValueError(
                f"{checks.shown(self)}: match is the start of a parameter's path, as 'layers.0'."
            )
        checks.number(self, "learning_rate", self.learning_rate, what="multiplies the gradient")
        checks.number(self, "weight_decay", self.weight_decay, what="multiplies the weights")
        checks.whole(self, "start", self.start, low=0, what="is the first step")
        if self.stop is not None:
            checks.whole(self, "stop", self.stop, low=self.start, what="is the step after the last")


@configuration
class Training:
    """How to train. Numbers that a sweep varies are leaves: varying them compiles nothing.

    Attributes:
        steps: Updates at most.
        samples: Size of the training set; None draws a fresh example each time (online).
        batch: Examples a step, drawn from the training set with replacement; None is all of it.
        evaluate_every: Steps between evaluations; None is a hundredth of `steps`.
        test_samples: Size of the test set, drawn afresh for each seed.
        truncate: Gradient entries of at most this size become zero (Pareto paper, B.3).
        schedule: Factor on all learning rates at step t of T after `warmup` steps of linear
            increase: "constant", "linear" 1 - t/T, "cosine" (1 + cos(pi t/T))/2, "inverse" 1/(t+1).
        groups: Rates of single parameters, and when they hold.
        stop: When a run has succeeded; None trains for all `steps`.
    """

    loss: str | Loss = "hinge"
    optimizer: str = "sgd"
    learning_rate: Number = 0.1
    weight_decay: Number = 0.0
    decay: str = "coupled"
    steps: Count = 10_000
    samples: Count | None = None
    batch: int | None = 32
    evaluate_every: Count | None = None
    test_samples: Count = 10_000
    truncate: Number = 0.0
    schedule: str = "constant"
    warmup: Count = 0
    groups: tuple[Group, ...] = ()
    stop: Stop | None = None

    def __post_init__(self) -> None:
        checks.choice_or_own(self, "loss", self.loss, LOSSES)
        checks.choice(self, "optimizer", self.optimizer, OPTIMIZERS)
        checks.choice(self, "decay", self.decay, DECAYS)
        checks.choice(self, "schedule", self.schedule, SCHEDULES)
        rate = "multiplies the gradient"
        checks.number(self, "learning_rate", self.learning_rate, low=0, what=rate)
        checks.number(self, "weight_decay", self.weight_decay, low=0, what="multiplies the weights")
        checks.number(
            self, "truncate", self.truncate, low=0, what="is the size of a small gradient"
        )
        checks.count(self, "steps", self.steps, low=1, what="counts the updates")
        checks.count(self, "samples", self.samples, low=1, what="counts the training examples")
        checks.count(self, "evaluate_every", self.evaluate_every, low=1, what="counts steps")
        checks.count(self, "test_samples", self.test_samples, low=1, what="counts test examples")
        checks.count(self, "warmup", self.warmup, low=0, what="counts steps")
        if self.batch is not None:
            checks.whole(self, "batch", self.batch, low=1, what="counts the examples of a step")
        elif self.samples is None:
            raise ValueError(
                f"{checks.shown(self)}: batch=None takes the whole training set in each step, "
                "so samples is a number; got None."
            )

    def check(self, task: Any, model: Any) -> None:
        """Refuses a task or a model that this recipe does not fit."""
        check_labels(self.loss, task)
        if hasattr(task, "stored") and self.samples is not None:
            rows = task.sizes[0]
            if int(self.samples) > rows:
                raise ValueError(
                    f"Experiment: {checks.shown(task)} has {rows} rows to train on, "
                    f"so samples is at most that, or None for all of them; got {self.samples}."
                )
        self._check_groups(task, model)

    def _check_groups(self, task: Any, model: Any) -> None:
        """Refuses a group of rates that matches no parameter."""
        if not self.groups:
            return
        leaves, _ = jax.tree_util.tree_flatten_with_path(param_shapes(model, task))
        paths = [path_name(path) for path, _ in leaves]
        for group in self.groups:
            if not any(matches(group.match, path) for path in paths):
                raise ValueError(
                    f"{checks.shown(group)}: match is the start of a parameter's path; "
                    f"{checks.shown(model)} has {', '.join(paths)}."
                )

    @property
    def interval(self) -> int:
        """Steps between evaluations."""
        if self.evaluate_every is None:
            return max(1, int(self.steps) // 100)
        return int(self.evaluate_every)
