r"""How to train: a frozen description of loss, optimiser, data, evaluation and stop rule.

One step draws a batch and updates $\theta$ with the mean gradient $g$. Weight decay $\lambda$ comes
in two forms, by name:

* `"coupled"`: $\theta \leftarrow \theta - \eta\,(g + \lambda\theta)$, as PyTorch's SGD;
* `"shrink"`: $\theta \leftarrow (1 - \lambda)\,\theta - \eta g$, as the documents write it.

(AdamW has its own, $\theta \leftarrow \theta - \eta\,(\text{Adam}(g) + \lambda\theta)$.) The
training set is virtual: row $i$ is a function of the run's data key and $i$.
"""

import math
from collections.abc import Mapping
from typing import Any

import jax

from elegans import checks
from elegans.descriptions import row_counts
from elegans.fields import Count, Number, configuration
from elegans.protocols import Probe, matches, param_shapes, path_name
from elegans.training.losses import LOSSES, Loss, check_labels
from elegans.training.optimizers import Optimizer, check_optimizer, is_decoupled
from elegans.training.regularisers import Norm, Regulariser
from elegans.training.schedules import SCHEDULES, Schedule

MEASURES = ("test_error", "test_loss", "train_error", "train_loss")
DECAYS = ("coupled", "shrink")
SMALL_GRADIENT = "is the size of a small gradient"


@configuration
class Stop:
    """A run stops, and has succeeded, when all that is set here holds.

    Attributes:
        test_error: The error on the whole test set is at most this; likewise the three others,
            those of the training set on the rows of it that are looked at.
        probe: A probe that returns one number, which is `at_least` or `at_most` a value (or both).
        looks: Evaluations in a row at which all of it holds.
    """

    test_error: Number | None = 0.1
    test_loss: Number | None = None
    train_error: Number | None = None
    train_loss: Number | None = None
    probe: Probe | None = None
    at_least: Number | None = None
    at_most: Number | None = None
    looks: Count = 1

    def __post_init__(self) -> None:
        for name in ("test_error", "train_error"):
            checks.number(self, name, getattr(self, name), low=0, high=1, what="is a fraction")
        for name in ("test_loss", "train_loss"):
            checks.number(self, name, getattr(self, name), what="is a mean loss")
        for name in ("at_least", "at_most"):
            checks.number(self, name, getattr(self, name), what="is a value of the probe")
        checks.count(self, "looks", self.looks, low=1, what="counts evaluations in a row")
        has_limit = self.at_least is not None or self.at_most is not None
        if (self.probe is not None) != has_limit:
            raise ValueError(
                f"{checks.shown(self)}: a probe comes with at_least or at_most, the value at which "
                "a run stops, and these with a probe."
            )
        if self.probe is not None and not checks.is_configuration(self.probe):
            raise TypeError(
                f"Stop: the probe is part of the experiment and of its hash, so it is a "
                f"configuration such as probes.MarginRatio(), not a function; got {self.probe!r}."
            )
        rules = [getattr(self, name) for name in MEASURES]
        if self.probe is None and all(rule is None for rule in rules):
            raise ValueError(f"{checks.shown(self)}: a rule is missing, such as test_error=0.1.")

    def is_met(self, row: Mapping[str, float | int], value: float | None) -> bool:
        """Whether an evaluation, at which the probe saw `value`, meets all rules."""
        limits = {name: getattr(self, name) for name in MEASURES}
        is_met = all(
            row[name] <= float(limit) for name, limit in limits.items() if limit is not None
        )
        if value is None:
            return is_met
        low = -math.inf if self.at_least is None else float(self.at_least)
        high = math.inf if self.at_most is None else float(self.at_most)
        return is_met and low <= value <= high


@configuration
class Group:
    """Rates of the parameters whose path starts with `match`, in steps `start` to `stop`.

    Paths are those of the model's parameters: "layers.0.weight" is the first weight matrix of an
    MLP, "layers.0" that and its bias. The first group that matches and is active at a step counts;
    elsewhere the recipe's own rates hold. A parameter whose rate is exactly zero is not
    differentiated in those steps (`step`).

    Attributes:
        match: The start of a path.
        learning_rate: In these steps, times the recipe's schedule.
        weight_decay: In these steps.
        start: The first step.
        stop: The step after the last; None is the end.
        truncate: Gradient entries of at most this size become zero; None is as in the recipe.
        decay: "coupled" or "shrink"; None is as in the recipe.
    """

    match: str
    learning_rate: Number = 0.0
    weight_decay: Number = 0.0
    start: int = 0
    stop: int | None = None
    truncate: Number | None = None
    decay: str | None = None

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
        checks.number(self, "truncate", self.truncate, low=0, what=SMALL_GRADIENT)
        if self.decay is not None:
            checks.choice(self, "decay", self.decay, DECAYS)

    def is_active(self, step: Any) -> Any:
        """Whether a step, perhaps a traced one, is among those of the group."""
        is_active = step >= self.start
        return is_active if self.stop is None else is_active & (step < self.stop)


@configuration
class Training:
    """How to train. Numbers that a sweep varies are leaves: varying them compiles nothing.

    Attributes:
        steps: Updates at most.
        samples: Size of the training set; None draws a fresh example each time (online).
        batch: Examples per step, drawn from the training set with replacement; None is all of it
            and, with `samples=None`, all of the task's population.
        first_batch: Examples of step 0, the first so many rows of the training set, in blocks that
            take no memory; None is `batch`. Online, later steps draw the rows after these.
        loss: "hinge", "square", "logistic", "cross-entropy", "correlation" or "margin", or a
            configuration such as `losses.Margin(0.5)`.
        optimizer: "sgd", "adam" or "adamw", or a configuration such as
            `optimizers.SGD(momentum=0.9)`.
        learning_rate: What multiplies the gradient, or the optimiser's direction.
        weight_decay: What multiplies the weights, in the form that `decay` names.
        decay: "coupled" (to the learning rate) or "shrink".
        evaluate_every: Steps between evaluations; None is a hundredth of `steps`.
        evaluations_per_decade: Evaluations at each tenfold of steps, evenly spaced in their
            logarithm, instead; None is every `evaluate_every` steps.
        test_samples: Size of the test set, drawn afresh for each seed.
        screen_rows: Of the test set, looked at in each evaluation; all of it where they are near
            the stop rule, and at the end.
        train_rows: Of the training set, looked at in each evaluation, at most.
        clean_test: Whether test labels are without noise, the task's `label` of each input.
        truncate: Gradient entries of at most this size become zero (Pareto paper, B.3).
        clip: The largest norm of all gradients together; larger ones are scaled down to it.
        regulariser: What is added to the loss, such as `regularisers.Norm(1e-4, a=2, b=3)`.
        schedule: Factor on all learning rates at step t of T after `warmup` steps of linear
            increase: "constant", "linear" 1 - t/T, "cosine" (1 + cos(pi t/T))/2, "inverse" 1/(t+1),
            or one such as `schedules.Milestones((1000, 2000), 0.1)`.
        warmup: Steps over which the rate grows from zero.
        groups: Rates of single parameters, and when they hold.
        stop: When a run has succeeded; None trains for all `steps`.
    """

    loss: str | Loss = "hinge"
    optimizer: str | Optimizer = "sgd"
    learning_rate: Number = 0.1
    weight_decay: Number = 0.0
    decay: str = "coupled"
    steps: Count = 10_000
    samples: Count | None = None
    batch: int | None = 32
    evaluate_every: Count | None = None
    test_samples: Count = 10_000
    truncate: Number = 0.0
    schedule: str | Schedule = "constant"
    warmup: Count = 0
    groups: tuple[Group, ...] = ()
    stop: Stop | None = None
    evaluations_per_decade: Count | None = None
    screen_rows: Count = 1_000
    train_rows: Count = 10_000
    clean_test: bool = False
    clip: Number | None = None
    regulariser: Regulariser | None = None
    first_batch: Count | None = None

    def __post_init__(self) -> None:
        checks.choice_or_own(self, "loss", self.loss, LOSSES)
        check_optimizer(self, self.optimizer)
        checks.choice(self, "decay", self.decay, DECAYS)
        checks.choice_or_own(self, "schedule", self.schedule, SCHEDULES)
        rate = "multiplies the gradient"
        checks.number(self, "learning_rate", self.learning_rate, low=0, what=rate)
        checks.number(self, "weight_decay", self.weight_decay, low=0, what="multiplies the weights")
        checks.number(self, "truncate", self.truncate, low=0, what=SMALL_GRADIENT)
        checks.count(self, "steps", self.steps, low=1, what="counts the updates")
        checks.count(self, "samples", self.samples, low=1, what="counts the training examples")
        checks.count(self, "evaluate_every", self.evaluate_every, low=1, what="counts steps")
        checks.count(self, "test_samples", self.test_samples, low=1, what="counts test examples")
        checks.count(self, "warmup", self.warmup, low=0, what="counts steps")
        checks.count(self, "screen_rows", self.screen_rows, low=1, what="counts test examples")
        checks.count(self, "train_rows", self.train_rows, low=1, what="counts training examples")
        per_decade = self.evaluations_per_decade
        checks.count(self, "evaluations_per_decade", per_decade, low=1, what="counts evaluations")
        checks.number(self, "clip", self.clip, low=0, what="is the largest norm of a gradient")
        if self.regulariser is not None and (
            isinstance(self.regulariser, type) or not callable(self.regulariser)
        ):
            raise TypeError(
                f"{checks.shown(self)}: regulariser is one such as regularisers.Norm(1e-4); "
                f"got {self.regulariser!r}."
            )
        if self.stop is not None and not isinstance(self.stop, Stop):
            raise TypeError(
                f"{checks.shown(self)}: stop is one such as Stop(test_error=0.1), or None; "
                f"got {self.stop!r}."
            )
        if not isinstance(self.groups, tuple) or not all(isinstance(g, Group) for g in self.groups):
            raise TypeError(
                f"{checks.shown(self)}: groups is a tuple, such as (Group('layers.0'),); "
                f"got {self.groups!r}."
            )
        if self.batch is not None:
            checks.whole(self, "batch", self.batch, low=1, what="counts the examples of a step")
        self._check_first_batch()
        if is_decoupled(self.optimizer) and any(group.decay for group in self.groups):
            raise ValueError(
                f"{checks.shown(self)}: the weight decay of this optimiser has a form of its own; "
                "leave out the decay of groups."
            )

    def _check_first_batch(self) -> None:
        """Refuses a first batch without others, and one that the training set does not have."""
        if self.first_batch is None:
            return
        what = "counts the examples of step 0"
        checks.count(self, "first_batch", self.first_batch, low=1, what=what)
        first, samples = self.first_batch, self.samples
        if isinstance(first, int) and isinstance(samples, int) and first > samples:
            raise ValueError(
                f"{checks.shown(self)}: first_batch {what}, at most all samples, "
                f"{self.samples}; got {self.first_batch}."
            )
        if self.batch is None:
            raise ValueError(
                f"{checks.shown(self)}: every step is on the whole training set, so that step 0 "
                "needs no first_batch; set batch for the steps after it."
            )

    def check(self, task: Any, model: Any) -> None:
        """Refuses a task or a model that this recipe does not fit."""
        check_labels(self.loss, task)
        is_whole = self.samples is None and self.batch is None
        sizes = row_counts(task, is_whole=is_whole)
        if sizes is not None and self.samples is not None and int(self.samples) > sizes[0]:
            raise ValueError(
                f"Experiment: {checks.shown(task)} has {sizes[0]} rows to train on, "
                f"so samples is at most that, or None for all of them; got {self.samples}."
            )
        rules = () if self.stop is None else (self.stop.train_error, self.stop.train_loss)
        if sizes is None and self.samples is None and any(rule is not None for rule in rules):
            raise ValueError(
                f"{checks.shown(self.stop)}: online training has no training set to measure; "
                "set samples to a number, or stop on the test set."
            )
        if self.clean_test and not callable(getattr(task, "label", None)):
            raise ValueError(
                f"{checks.shown(self)}: clean_test takes test labels from a method label(x), which "
                f"{checks.shown(task)} does not have."
            )
        if isinstance(self.regulariser, Norm) and not hasattr(model, "neurons"):
            raise ValueError(
                f"{checks.shown(self)}: the regulariser is a norm over neurons, and "
                f"{checks.shown(model)} has no method neurons(params)."
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

    def next_look(self, step: int) -> int:
        """The step of the first evaluation after `step`."""
        if self.evaluations_per_decade is None:
            return step + self.interval
        spacing = 1 / int(self.evaluations_per_decade)
        i = math.floor(math.log10(max(1, step)) / spacing) - 1
        following = 0
        while following <= step:
            following = round(10 ** (max(0, i) * spacing))
            i += 1
        return following
