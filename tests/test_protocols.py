"""What a class needs to be a task or a model, and the refusals that say what is missing."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import elegans as el
from elegans.keys import keys_of
from elegans.protocols import check_experiment, describe
from elegans.training import losses

MODEL = el.models.MLP(width=4)
TRAINING = el.Training(samples=50, steps=4, batch=8, test_samples=100)


@el.configuration
class Vote:
    """The majority of three bits, with nothing but `sample`."""

    n: int = 9

    def sample(self, key, size):
        x = jr.rademacher(key, (size, self.n), dtype=jnp.float32)
        return x, jnp.sign(x[:, :3].sum(1))


@dataclass(frozen=True)
class Unregistered:
    """The same, as a plain frozen dataclass with a number in it."""

    n: int = 9
    shift: float = 0.5

    def sample(self, key, size):
        x = jr.normal(key, (size, self.n))
        return x, jnp.sign(x[:, 0] + self.shift)


@el.configuration
class Labelled(Vote):
    """Labels of any kind, for what is refused."""

    kind: str = "sign"

    def sample(self, key, size):
        x, y = super().sample(key, size)
        return {
            "column": lambda: (x, y[:, None]),
            "zero_one": lambda: (x, (y + 1) / 2),
            "integers": lambda: (x, (y > 0).astype(int)),
            "real": lambda: (x, y * 0.5),
            "constant": lambda: (jnp.ones((size, self.n)), jnp.ones(size)),
            "one array": lambda: x,
            "too few": lambda: (x[:1], y),
            "tokens": lambda: ((x > 0).astype(int), (x > 0).astype(int)),
            "nan": lambda: (x / 0 * 0, y),
        }[self.kind]()


@el.configuration
class Classes(Labelled):
    """The same with declared classes."""

    classes = 2


def experiment(task, model=MODEL, **changes):
    fields = {f: getattr(TRAINING, f) for f in ("samples", "steps", "batch", "test_samples")}
    return el.Experiment(task, model, el.Training(**{**fields, **changes}))


@pytest.mark.parametrize("task", [Vote(), Unregistered()], ids=lambda t: type(t).__name__)
def test_a_class_with_sample_alone_trains_under_an_mlp(task):
    run = el.run(experiment(task))
    assert run.status == "done"
    assert run.params.layers[0].weight.shape == (9, 4)
    known = describe(task)
    assert (known.shape, known.kind, known.labels) == ((9,), "real", "sign")
    assert known.population is None


def test_what_a_task_declares_counts_first():
    known = describe(el.tasks.MarkovChains(states=3, length=7))
    assert (known.kind, known.labels, known.classes) == ("token", "class", 3)
    assert (known.states, known.length, known.label_shape) == (3, 7, (7,))
    assert describe(el.tasks.Parity(6, 2)).population == 64
    assert describe(el.tasks.Parity(60, 2)).population is None
    assert describe(el.tasks.SparseNetwork(n=6, b=2)).labels == "real"


@pytest.mark.parametrize(
    "task, changes, message",
    [
        (Labelled(kind="column"), {"loss": "square"}, r"shape \(1,\).*Return.*y\[:, 0\]"),
        (Labelled(kind="zero_one"), {}, r"hinge loss is for labels of \+-1.*0 and 1. Return 2 \*"),
        (Labelled(kind="integers"), {}, r"integers, so it declares.*classes"),
        (Labelled(kind="real"), {}, r"hinge loss .* has real numbers. Use 'square'"),
        (Classes(kind="integers"), {}, r"hinge loss .*2 classes. Use 'cross-entropy'"),
        (Classes(kind="integers"), {"loss": losses.Hinge()}, r"the Hinge\(\) loss"),
        (Vote(), {"loss": "margin"}, r"margin loss is for classes.*Use 'hinge'"),
        (Labelled(kind="constant"), {}, r"same 64 examples from two keys"),
        (Labelled(kind="one array"), {}, r"returns inputs and labels"),
        (Labelled(kind="too few"), {}, r"x with 2 rows; got shape \(1, 9\)"),
        (Labelled(kind="nan"), {}, r"inputs hold NaN"),
        (Classes(kind="tokens"), {}, r"reads vectors of real numbers.*int32"),
    ],
)
def test_a_task_that_does_not_fit_is_refused_with_what_would_be_right(task, changes, message):
    with pytest.raises((ValueError, TypeError), match=message):
        experiment(task, **changes)


def test_tokens_declare_their_states():
    with pytest.raises(ValueError, match=r"how many states a token has: declare states"):
        experiment(Classes(kind="tokens"), el.models.AttentionOnly(), loss="cross-entropy")
    with pytest.raises(ValueError, match=r"has none. Use tasks.MarkovChains"):
        experiment(Vote(), el.models.AttentionOnly())


def test_an_unhashable_or_plain_class_is_told_about_the_decorator():
    @dataclass
    class Thawed:
        n: int = 3

        def sample(self, key, size):
            raise AssertionError("never drawn")

    class Plain:
        def sample(self, key, size):
            raise AssertionError("never drawn")

    for task in (Thawed(), Plain()):
        with pytest.raises(TypeError, match=r"@elegans.configuration above class"):
            experiment(task)
    with pytest.raises(TypeError, match=r"task has a method sample; got 3"):
        experiment(3)
    with pytest.raises(TypeError, match=r"model has a method init_params"):
        experiment(Vote(), Vote())
    with pytest.raises(TypeError, match=r"training is a Training; got 'hinge'"):
        check_experiment(Vote(), MODEL, "hinge")


@el.configuration
class Squashed:
    """An integer is not multiplied: a model of one's own, stochastic, with an unusual tree."""

    noise: float = 0.1

    def init_params(self, key, task):
        return {"w": jnp.zeros(9), "inner": [jnp.zeros(())]}

    def apply(self, params, x, key=None):
        shift = 0.0 if key is None else self.noise * jr.normal(key)
        return jnp.tanh(x @ params["w"] + params["inner"][0] + shift)


def test_a_model_of_ones_own_trains_and_draws_with_a_key():
    runs = [el.run(experiment(Vote(), Squashed(noise)), seed=1) for noise in (0.1, 0.1, 0.5)]
    ends = [run.arrays["params"] for run in runs]
    assert set(ends[0]) == {"w", "inner.0"}
    np.testing.assert_array_equal(ends[0]["w"], ends[1]["w"])
    assert not np.array_equal(ends[0]["w"], ends[2]["w"])


@el.configuration
class Loudness:
    """A loss of one's own with a number that is swept."""

    scale: float = 1.0

    def __call__(self, f, y):
        return self.scale * (f - y) ** 2


def test_a_loss_of_ones_own_is_swept_without_compiling_anew():
    from elegans.training import program

    base = el.run(experiment(Vote(), loss="square"), seed=0)
    mine = [el.run(experiment(Vote(), loss=Loudness(s)), seed=0) for s in (1.0, 2.0)]
    for name, column in base.arrays["params"].items():
        np.testing.assert_allclose(mine[0].arrays["params"][name], column, rtol=1e-6)
    np.testing.assert_allclose(mine[1].history.test_loss[0], 2 * base.history.test_loss[0], 1e-6)
    before = program.compile_count()
    el.run(experiment(Vote(), loss=Loudness(3.0)), seed=0)
    assert program.compile_count() == before
    with pytest.raises(TypeError, match=r"loss is one of 'hinge'.*__call__; got <class"):
        experiment(Vote(), loss=losses.Hinge)


@pytest.mark.parametrize("seed", [0, 7, 2**31 + 5, 2**32 - 1])
def test_keys_are_folded_from_jaxs_key_of_the_seed_traced_or_not(seed):
    root = jr.key(np.uint32(seed))
    for i, key in enumerate(keys_of(seed)):
        np.testing.assert_array_equal(jr.key_data(key), jr.key_data(jr.fold_in(root, i)))
    if seed < 2**31:
        np.testing.assert_array_equal(jr.key_data(root), jr.key_data(jr.key(seed)))
        for a, b in zip(keys_of(seed), jax.jit(keys_of)(seed), strict=True):
            np.testing.assert_array_equal(jr.key_data(a), jr.key_data(b))
