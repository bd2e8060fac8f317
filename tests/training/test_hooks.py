"""Hooks of the recipe, each against brute force, NumPy or Optax on a tiny case."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import optax
import pytest

import elegans as el
from elegans.keys import keys_of
from elegans.models.inits import Layers
from elegans.training import losses, optimizers, program, regularisers, schedules, updates
from elegans.training import source as data
from elegans.training.recipe import Training

TASK = el.tasks.Parity(n=6, k=2)
MODEL = el.models.MLP(width=3)
BASE = {"samples": 40, "steps": 6, "batch": 4, "test_samples": 300, "learning_rate": 0.2}


def run(task=TASK, model=MODEL, seed=1, **changes):
    return el.run(el.Experiment(task, model, Training(**{**BASE, **changes})), seed=seed)


def as_numpy(params):
    return [np.asarray(leaf, float) for leaf in jax.tree.leaves(params)]


@pytest.mark.parametrize("a, b, power", [(2, 2, 2), (2, 1, 1), (1, 3, 0.5), (2, 3, 3)])
def test_norms_over_neurons_are_those_of_numpy(a, b, power):
    params = MODEL.init_params(jr.key(0), TASK)
    (w, bias), (u, _) = (
        tuple(np.asarray(part, float) for part in layer) for layer in params.layers
    )
    rows = [np.concatenate([w[:, j], [bias[j]], u[j]]) for j in range(3)]
    expected = 0.3 * sum(np.linalg.norm(row, a) ** b for row in rows) ** (power / b)
    norm = regularisers.Norm(0.3, a, b, power)
    np.testing.assert_allclose(norm(MODEL, params), expected, rtol=1e-5)
    slope = jax.grad(lambda p: norm(MODEL, p))(jax.tree.map(jnp.zeros_like, params))
    assert all(np.isfinite(part).all() for part in as_numpy(slope))


def test_the_squared_norm_is_weight_decay_of_twice_its_strength():
    decayed = run(model=el.models.MLP(3, output_bias=False), weight_decay=0.1)
    regularised = run(
        model=el.models.MLP(3, output_bias=False), regulariser=regularisers.Norm(0.05, power=2)
    )
    for a, b in zip(*(as_numpy(r.params) for r in (decayed, regularised)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    task = el.tasks.MarkovChains(2, 5)
    with pytest.raises(ValueError, match=r"no method neurons"):
        run(task, el.models.AttentionOnly(), loss="cross-entropy",
            regulariser=regularisers.Norm(0.1))  # fmt: skip


def test_milestones_multiply_the_rate_at_each():
    schedule = schedules.Milestones((3, 5), 0.1)
    factors = [float(schedule(jnp.asarray(float(t)), 10)) for t in range(7)]
    np.testing.assert_allclose(factors, [1, 1, 1, 0.1, 0.1, 0.01, 0.01], rtol=1e-6)
    optaxs = optax.piecewise_constant_schedule(1.0, {3: 0.1, 5: 0.1})
    np.testing.assert_allclose(factors, [float(optaxs(t)) for t in range(7)], rtol=1e-6)
    assert run(schedule=schedule).test_loss != run().test_loss


PARAMS = {"a": jnp.asarray([1.0, -2.0]), "b": jnp.asarray(0.5)}
GRADS = {"a": jnp.asarray([3.0, 0.0]), "b": jnp.asarray(-4.0)}


def stepped(training, steps=3):
    params, state = PARAMS, updates.init(training, PARAMS)
    for t in range(steps):
        params, state = updates.update(training, GRADS, state, params, jnp.asarray(t))
    return params


@pytest.mark.parametrize(
    "mine, optaxs",
    [
        ({"optimizer": optimizers.SGD(0.9)}, optax.sgd(0.1, momentum=0.9)),
        ({"optimizer": optimizers.SGD(0.9, True)}, optax.sgd(0.1, momentum=0.9, nesterov=True)),
        ({"optimizer": optimizers.Adam(0.8, 0.9)}, optax.adam(0.1, b1=0.8, b2=0.9)),
        ({"clip": 1.0}, optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1))),
        ({"clip": 9.0}, optax.sgd(0.1)),
        ({"optimizer": optimizers.SGD()}, optax.sgd(0.1)),
    ],
)
def test_momentum_clipping_and_adams_numbers_are_optaxs(mine, optaxs):
    got = stepped(Training(learning_rate=0.1, **mine))
    params, state = PARAMS, optaxs.init(PARAMS)
    for _ in range(3):
        directions, state = optaxs.update(GRADS, state, params)
        params = optax.apply_updates(params, directions)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), got, params)


@el.configuration
class Lion:
    """An optimiser of one's own."""

    b1: float = 0.9

    def transformation(self):
        return optax.scale_by_lion(b1=self.b1)


@el.configuration
class Halving:
    """A schedule of one's own."""

    every: float = 2.0

    def __call__(self, t, total):
        return 0.5 ** jnp.floor(t / self.every)


def test_an_optimiser_and_a_schedule_of_ones_own_work_like_ours():
    got = stepped(Training(learning_rate=0.1, optimizer=Lion(), schedule=Halving()))
    rule = optax.lion(lambda t: 0.1 * 0.5 ** (t // 2), weight_decay=0.0)
    params, state = PARAMS, rule.init(PARAMS)
    for _ in range(3):
        directions, state = rule.update(GRADS, state, params)
        params = optax.apply_updates(params, directions)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-6), got, params)
    assert run(optimizer=Lion(), schedule=Halving()).status == "done"
    for bad, message in (
        ({"optimizer": optimizers.SGD}, "method transformation"),
        ({"optimizer": "sdg"}, "optimizer is one of 'sgd'"),
        ({"schedule": "cosin"}, "schedule is one of"),
        ({"regulariser": regularisers.Norm}, "regulariser is one such as"),
        ({"clip": -1.0}, "clip is the largest norm"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            Training(**bad)


def test_the_margin_is_a_number_that_is_swept():
    f, y = jnp.asarray([0.2, 0.5, -0.1]), jnp.asarray(1)
    expected = (max(0, 0.4 + 0.2 - 0.5) + max(0, 0.4 - 0.1 - 0.5)) / 3
    np.testing.assert_allclose(losses.Margin(0.4)(f, y), expected, rtol=1e-6)
    numbers = [program.split(TASK, MODEL, Training(loss=losses.Margin(m)))[0] for m in (0.5, 2.0)]
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("per_decade, expected", [
    (1, [0, 1, 10, 100, 350]),
    (2, [0, 1, 3, 10, 32, 100, 316, 350]),
])  # fmt: skip
def test_evaluations_are_evenly_spaced_in_the_logarithm(per_decade, expected):
    history = run(steps=350, evaluations_per_decade=per_decade).history
    assert list(history.step) == expected


def test_rows_of_a_look_are_fields_of_the_recipe():
    history = run(evaluate_every=2, screen_rows=64, train_rows=8).history
    assert list(history.test_rows) == [64, 64, 64, 300]
    params = MODEL.init_params(keys_of(1).init, TASK)
    for name, key, size in (("train", keys_of(1).data, 8), ("test", keys_of(1).test, 64)):
        x, y = data.rows(TASK, key, jnp.arange(size, dtype="uint32"))
        wrong = np.mean(np.asarray(MODEL.apply(params, x) * y) <= 0)
        assert history[f"{name}_error"][0] == pytest.approx(wrong, abs=1e-9)


def test_test_labels_are_clean_if_asked_for():
    noisy = el.tasks.Parity(n=6, k=2, flip=0.3)
    (clean, plain) = (run(noisy, clean_test=flag, steps=1) for flag in (True, False))
    params = clean.params
    x, y = data.rows(noisy, keys_of(1).test, jnp.arange(300, dtype="uint32"))
    predictions = np.asarray(MODEL.apply(params, x))
    assert clean.test_error == pytest.approx(
        np.mean(predictions * np.asarray(noisy.label(x)) <= 0), abs=1e-9
    )
    assert plain.test_error == pytest.approx(np.mean(predictions * np.asarray(y) <= 0), abs=1e-9)
    assert clean.train_error == plain.train_error
    with pytest.raises(ValueError, match=r"clean_test takes test labels from a method label"):
        run(el.tasks.MarkovChains(2, 5), el.models.AttentionOnly(), loss="cross-entropy",
            clean_test=True)  # fmt: skip


def first(history, condition, looks=1):
    """The first step at which a condition on the history has held for so many rows."""
    holds = condition.to_numpy()
    for i in range(looks - 1, len(holds)):
        if holds[i + 1 - looks : i + 1].all():
            return int(history.step[i])
    return int(history.step.iloc[-1])


def relative(view):
    """The largest change of a weight so far: a probe that grows."""
    return jnp.max(jnp.abs(view.params.layers[0].weight - view.initial.layers[0].weight))


LONG = {"steps": 400, "evaluate_every": 10, "learning_rate": 0.1, "samples": 200, "batch": 16}
WIDE = el.models.MLP(width=20)


@pytest.mark.parametrize(
    "rule, column, goal, looks",
    [
        ({"test_error": 0.3}, "test_error", 0.3, 1),
        ({"test_error": None, "test_loss": 0.5}, "test_loss", 0.5, 1),
        ({"test_error": None, "train_loss": 0.5}, "train_loss", 0.5, 1),
        ({"test_error": 0.2, "looks": 3}, "test_error", 0.2, 3),
        ({"test_error": 0.2, "train_error": 0.0}, None, 0.2, 1),
    ],
)
def test_stop_rules_end_a_run_at_the_first_look_that_meets_them(rule, column, goal, looks):
    whole = run(model=WIDE, **LONG).history
    stopped = run(model=WIDE, **LONG, stop=el.Stop(**rule))
    if column is None:
        condition = (whole.test_error <= 0.2) & (whole.train_error <= 0)
    else:
        condition = whole[column] <= goal
    assert stopped.success
    assert stopped.steps == first(whole, condition, looks)
    np.testing.assert_array_equal(
        stopped.history.test_loss, whole.test_loss[: len(stopped.history)]
    )


def test_a_run_stops_on_a_probe_of_the_rule_itself():
    whole = el.run(
        el.Experiment(TASK, WIDE, Training(**{**BASE, **LONG})), seed=1, probes={"path": relative}
    )
    stop = el.Stop(test_error=None, probe=el.probes.SupNormPath(), at_least=0.3)
    stopped = run(model=WIDE, **LONG, stop=stop)
    step = whole.probes["step"][np.argmax(whole.probes["path"] >= 0.3)]
    assert (stopped.steps, stopped.success) == (step, True)
    for bad in ({"probe": relative}, {"at_least": 0.3}, {"test_error": None}):
        with pytest.raises(ValueError, match=r"a probe comes with|a rule is missing"):
            el.Stop(**bad)
    with pytest.raises(TypeError, match=r"it is a configuration such as probes\.MarginRatio"):
        el.Stop(probe=relative, at_least=0.3)


def gradient_steps(params, x, y, rate, steps):
    """Full-batch descent on the square loss, by JAX on exactly these rows."""

    def loss(params):
        return jnp.mean((jax.vmap(MODEL.apply, in_axes=(None, 0))(params, x) - y) ** 2)

    for _ in range(steps):
        params = jax.tree.map(lambda p, g: p - rate * g, params, jax.grad(loss)(params))
    return params


def test_the_rows_of_a_full_batch_are_a_number():
    before = program.advance_and_look._cache_size()
    for samples in (33, 50, 64):
        got = run(samples=samples, batch=None, loss="square")
        x, y = data.rows(TASK, keys_of(1).data, jnp.arange(samples, dtype="uint32"))
        start = MODEL.init_params(keys_of(1).init, TASK)
        expected = gradient_steps(start, x, y, 0.2, 6)
        for a, b in zip(as_numpy(got.params), as_numpy(expected), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    assert program.advance_and_look._cache_size() == before + 1
    structures = [
        program.split(TASK, MODEL, Training(samples=m, batch=None))[0] for m in (64, 65, 128)
    ]
    assert structures[0] != structures[1] == structures[2]


@el.configuration
class Listed(type(TASK)):
    """A parity whose population may be split."""

    fraction: float | None = None


@el.configuration
class AtOnce(type(MODEL)):
    """An MLP that predicts the whole cube at once."""

    def apply_population(self, params):
        x, _ = TASK.population()
        return super().apply(params, x)


@pytest.mark.parametrize("model", [MODEL, AtOnce(width=3)], ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("fraction", [None, 0.75])
def test_a_population_is_trained_on_as_a_whole_or_split(model, fraction):
    got = run(Listed(6, 2, fraction=fraction), model, samples=None, batch=None, loss="square")
    x, y = (np.asarray(part) for part in TASK.population())
    train = test = np.arange(64)
    if fraction:
        seed = np.asarray(jr.key_data(keys_of(1).data)).tolist()
        order = np.random.default_rng(seed).permutation(64)
        train, test = order[:48], order[48:]
    start = MODEL.init_params(keys_of(1).init, TASK)
    expected = gradient_steps(start, x[train], y[train], 0.2, 6)
    for a, b in zip(as_numpy(got.params), as_numpy(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
    predictions = np.asarray(MODEL.apply(got.params, jnp.asarray(x)))
    for error, rows in ((got.train_error, train), (got.test_error, test)):
        assert error == pytest.approx(np.mean(predictions[rows] * y[rows] <= 0), abs=1e-9)
    assert set(got.history.test_rows) == {len(test)}


def test_a_task_without_a_population_says_so():
    for task in (el.tasks.Parity(40, 2), el.tasks.MarkovChains(2, 5)):
        with pytest.raises(ValueError, match=r"lists no population, so samples is a number"):
            run(task, el.models.AttentionOnly() if hasattr(task, "states") else MODEL,
                loss="square" if hasattr(task, "support") else "cross-entropy",
                samples=None, batch=None)  # fmt: skip
    for changes, message in (
        ({"fraction": 0.999}, r"fraction leaves 64 of 64 rows"),
        ({"fraction": 0.5, "samples": 33}, r"has 32 rows to train on.*got 33"),
    ):
        fraction, samples = changes["fraction"], changes.get("samples")
        with pytest.raises(ValueError, match=message):
            run(Listed(6, 2, fraction=fraction), samples=samples, batch=None)


def test_a_rule_on_the_training_set_needs_one():
    with pytest.raises(ValueError, match=r"online training has no training set"):
        run(samples=None, stop=el.Stop(test_error=None, train_loss=0.1))


@el.configuration
class Balanced(type(TASK)):
    """Twenty rows of its own, as many true as false, the same for each seed of the run."""

    data_seed: int | None = 3

    @property
    def sizes(self):
        return 12, 8

    def stored(self, key):
        return tuple(self.sample(key, 20))

    def accepts(self, table):
        return float(jnp.sum(table[1])) == 0


def test_a_task_chooses_its_own_training_set_and_redraws_what_it_rejects():
    task = Balanced(6, 2)
    tables = [data.table_of(task, MODEL, Training(**BASE), data.keys_for(task, s).data)
              for s in (0, 1)]  # fmt: skip
    for table in tables:
        assert float(jnp.sum(table[1])) == 0
        np.testing.assert_array_equal(table[0], tables[0][0])
    key = keys_of(3).data
    attempts = [task.stored(jr.fold_in(key, i) if i else key) for i in range(50)]
    accepted = next(table for table in attempts if task.accepts(table))
    np.testing.assert_array_equal(tables[0][0], accepted[0])
    first_run, second = (run(task, seed=s, samples=None) for s in (0, 1))
    assert first_run.history.train_error[0] * 12 == int(first_run.history.train_error[0] * 12)
    assert not np.array_equal(as_numpy(first_run.params)[0], as_numpy(second.params)[0])
    other = [data.table_of(Balanced(6, 2, data_seed=None), MODEL, Training(**BASE),
                           data.keys_for(Balanced(6, 2, data_seed=None), s).data)[0]
             for s in (0, 1)]  # fmt: skip
    assert not np.array_equal(*other)


def test_lanes_fit_a_constant_budget_of_bytes(monkeypatch):
    from elegans.training import lanes

    assert lanes.default_lanes(10**12) == 1
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert lanes.default_lanes(0) == lanes.default_lanes(2**20) == 64
    assert lanes.default_lanes(100 * 2**20) == 8
    assert lanes.default_lanes(10**12) == 1


def test_what_is_off_is_not_compiled():
    """A recipe's mechanisms leave no trace in the program when they are off."""
    structure, numbers = program.split(TASK, MODEL, Training(**BASE))
    state = program.start(structure, MODEL, numbers, keys_of(0))
    assert jax.tree.leaves(state.optimizer) == []
    explicit = Training(**BASE, optimizer=optimizers.SGD(momentum=0.0))
    other, _ = program.split(TASK, MODEL, explicit)
    assert jax.tree.leaves(program.start(other, MODEL, numbers, keys_of(0)).optimizer) == []
    assert isinstance(state.params, Layers)
