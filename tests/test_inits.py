"""Starts by their moments and their structure."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

from elegans import Experiment, Training, run
from elegans.keys import keys_of
from elegans.models import MLP, AttentionOnly, inits
from elegans.probes import parameters
from elegans.tasks import MarkovChains, Parity
from elegans.training import program
from elegans.training.lanes import columns
from tests.brute_force import cube

KEY = jr.key(3)
N, WIDTH = 40, 600
TASK = Parity(N, 4)


def start(init, *, width=WIDTH, depth=1, task=TASK):
    model = MLP(width=width, depth=depth, init=init)
    model.check(task)
    return [tuple(np.asarray(a) for a in layer) for layer in model.init_params(KEY, task).layers]


def assert_moments(values, mean, variance):
    """Mean and variance within five standard errors of a bounded or Gaussian variable."""
    count = values.size
    assert abs(values.mean() - mean) < 5 * (variance / count) ** 0.5
    assert abs(values.var() / variance - 1) < 5 * (2 / count) ** 0.5 + 1e-6


def test_uniform_is_pytorchs_default():
    for (weight, bias), fan_in in zip(
        start(inits.Uniform(), depth=2), (N, WIDTH, WIDTH), strict=True
    ):
        c = fan_in**-0.5
        assert max(np.abs(weight).max(), np.abs(bias).max()) <= c
        assert_moments(weight, 0, c**2 / 3)
    assert_moments(start(inits.Uniform())[0][1], 0, 1 / N / 3)


def test_gaussian_is_kaimings_start():
    for (weight, bias), fan_in in zip(
        start(inits.Gaussian(), depth=2), (N, WIDTH, WIDTH), strict=True
    ):
        assert_moments(weight, 0, 2 / fan_in)
        assert not bias.any()


@pytest.mark.parametrize("c", [None, 0.3])
def test_sign_is_plus_or_minus_c(c):
    weight, bias = start(inits.Sign(c))[0]
    size = np.float32(N**-0.5 if c is None else c)
    np.testing.assert_array_equal(np.abs(weight), size)
    np.testing.assert_array_equal(np.abs(bias), size)
    assert_moments(weight, 0, float(size) ** 2)


def test_sparse_neurons_read_s_inputs_with_weight_one():
    (weight, bias), (u, c) = start(inits.Sparse(2))
    assert set(np.unique(weight)) == {0.0, 1.0}
    np.testing.assert_array_equal(weight.sum(0), 2)
    pairs = {tuple(np.flatnonzero(column)) for column in weight.T}
    assert len(pairs) > 300  # of 780 pairs, 600 draws hit 419 on average
    counts = weight.sum(1)
    assert np.abs(counts - 2 * WIDTH / N).max() < 5 * (2 * WIDTH / N) ** 0.5
    assert_moments(bias, 0, 1 / N / 3)
    assert_moments(u, 0, 1 / WIDTH / 3)
    assert abs(c[0]) <= WIDTH**-0.5


def test_sparse_signs_have_the_variance_of_the_default_start():
    (weight, bias), (u, _) = start(inits.SparseSigns(3))
    np.testing.assert_array_equal((weight != 0).sum(0), 3)
    np.testing.assert_allclose(np.abs(weight[weight != 0]), 1 / 3)
    assert abs(np.sign(weight).sum()) < 5 * (3 * WIDTH) ** 0.5
    np.testing.assert_allclose((weight**2).sum(0), 1 / 3, rtol=1e-6)
    assert_moments(bias, 0, 1 / N / 3)
    assert_moments(u, 0, 1 / WIDTH / 3)


def assert_mirrored(layers):
    """The second half repeats the first with opposite signs, so that the network is zero."""
    (weight, bias), (u, c) = layers
    half = weight.shape[1] // 2
    np.testing.assert_array_equal(weight[:, :half], weight[:, half:])
    np.testing.assert_array_equal(bias[:half], bias[half:])
    np.testing.assert_array_equal(u[:half], -u[half:])
    np.testing.assert_array_equal(np.abs(u), 1)
    assert abs(u[:half].mean()) < 5 / half**0.5
    assert c[0] == 0


@pytest.mark.parametrize("k, complete", [(4, False), (6, False), (6, True), (2, True)])
def test_symmetric_sparse_is_the_start_of_appendix_b22(k, complete):
    layers = start(inits.SymmetricSparse(7, complete=complete), task=Parity(N, k))
    assert_mirrored(layers)
    weight, bias = layers[0]
    np.testing.assert_array_equal(weight.sum(0), 7)
    assert set(np.unique(weight)) == {0.0, 1.0}
    grid = [(-k + 2 * i + 1 / 16) / (2 * k) for i in range(0 if complete else 1, k // 2)]
    np.testing.assert_allclose(np.unique(bias), grid, rtol=1e-6)


def test_an_offset_shifts_the_bias_grid_and_is_refused_where_bad_neurons_would_speak():
    grid = inits.SymmetricSparse(7, complete=True, offset=0.5).biases(4)
    np.testing.assert_allclose(grid, np.array([-3.5, -1.5]) / 8)
    with pytest.raises(ValueError, match="offset shifts the bias grid"):
        inits.SymmetricSparse(7, offset=0.9)


@pytest.mark.parametrize("k", [4, 6, 8])
def test_the_printed_bias_grid_cannot_write_the_parity_and_the_complete_one_can(k):
    """docs/errata.md: the proof of Lemma 11 needs one more kink than the grid has."""
    sums = np.arange(-k, k + 1, 2)
    parity = np.array([(-1) ** ((k - s) // 2) for s in sums])
    for complete in (False, True):
        grid = np.asarray(inits.SymmetricSparse(5, complete=complete).biases(k), float)
        kinks = [np.maximum(sign * sums / (2 * k) + b, 0) for b in grid for sign in (1, -1)]
        features = np.stack([np.ones(k + 1), *kinks], axis=1)
        residual = parity - features @ np.linalg.lstsq(features, parity, rcond=None)[0]
        assert (np.abs(residual).max() < 1e-8) == complete


@pytest.mark.parametrize("epsilon", [None, 0.01])
def test_perturbed_sparse_is_the_start_of_appendix_b3(epsilon):
    s, k = 2, 4
    layers = start(inits.PerturbedSparse(s, epsilon))
    assert_mirrored(layers)
    small = np.float32(0.5 / (N - s) if epsilon is None else epsilon)
    weight, bias = layers[0]
    np.testing.assert_array_equal(np.unique(weight), [small, 1])
    np.testing.assert_array_equal((weight == 1).sum(0), s)
    grid = [small * j / (2 * k) for j in (-3, -1, 1, 3)]
    np.testing.assert_allclose(np.unique(bias), grid, rtol=1e-6)


def test_symmetric_sign_is_the_unbiased_start_of_the_thesis():
    layers = start(inits.SymmetricSign())
    assert_mirrored(layers)
    weight, bias = layers[0]
    np.testing.assert_array_equal(np.abs(weight), 1)
    assert abs(weight.mean()) < 5 / weight.size**0.5 * 2**0.5
    np.testing.assert_allclose(np.unique(bias), np.arange(-3, 4) / 4, rtol=1e-6)


@pytest.mark.parametrize(
    "init", [inits.SymmetricSparse(3), inits.PerturbedSparse(2), inits.SymmetricSign()], ids=repr
)
def test_a_mirrored_network_computes_zero_at_the_start(init):
    task = Parity(8, 4)
    model = MLP(width=20, init=init)
    outputs = model.apply(model.init_params(KEY, task), jnp.asarray(cube(8), jnp.float32))
    np.testing.assert_allclose(outputs, 0, atol=1e-5)


@pytest.mark.parametrize(
    "init, options, message",
    [
        (inits.SymmetricSparse(3), {"width": 7}, r"the width is even; got width 7"),
        (inits.SymmetricSign(), {"width": 7}, r"the width is even; got width 7"),
        (inits.SymmetricSign(), {"depth": 2}, r"one hidden layer and one output"),
        (inits.SymmetricSparse(3), {"task": Parity(N, 3)}, r"even number of relevant.*k = 3"),
        (inits.SymmetricSparse(3), {"task": Parity(N, 2)}, r"empty at k = 2. Use complete=True"),
        (inits.Sparse(41), {}, r"s counts the ones.*1\.\.40; got 41"),
        (inits.SparseSigns(41), {}, r"s counts the inputs.*1\.\.40; got 41"),
        (inits.PerturbedSparse(2, 0.5), {}, r"epsilon lies strictly between.*got 0.5"),
    ],
)
def test_a_start_that_does_not_fit_is_refused_by_name(init, options, message):
    with pytest.raises(ValueError, match=message):
        start(init, **options)


@pytest.mark.parametrize("s", [0, -1])
def test_a_start_without_ones_is_refused(s):
    for build in (inits.Sparse, inits.SymmetricSparse, inits.PerturbedSparse):
        with pytest.raises(ValueError, match=r"s counts the ones"):
            build(s)


def test_fixed_draws_the_weights_of_the_run_with_its_seed_and_compiles_nothing_new():
    task = Parity(8, 2)
    experiment = Experiment(task, MLP(5, init=inits.Sparse(2)), Training(steps=2, samples=10))
    reference = run(experiment, seed=3)
    fixed = experiment.varied({"model.init": inits.Fixed(inits.Sparse(2), 3)})
    first, again = (run(fixed, seed=seed, probes=[parameters]) for seed in (3, 7))
    for result in (first, again):
        for name, values in columns(reference.initial).items():
            np.testing.assert_array_equal(result.probes[f"parameters.{name}"][0], values)
    np.testing.assert_array_equal(first.params.layers[0].weight, reference.params.layers[0].weight)
    assert not np.array_equal(first.params.layers[0].weight, again.params.layers[0].weight)
    before = program.begin._cache_size()
    for seed in (0, 1, 2):
        run(fixed.varied({"model.init.seed": seed}), seed=0)
    assert program.begin._cache_size() == before
    with pytest.raises(ValueError, match=r"s counts the ones"):
        experiment.varied({"model.init": inits.Fixed(inits.Sparse(20), 3)})


def test_a_transformer_starts_again_from_the_weights_of_a_seed():
    task, model = MarkovChains(2, 6), AttentionOnly(dim=4)
    fixed = AttentionOnly(dim=4, init=inits.Fixed(seed=5))
    a, b = model.init_params(keys_of(5).init, task), fixed.init_params(KEY, task)
    jax.tree.map(np.testing.assert_array_equal, a, b)


def test_from_run_draws_the_start_again_and_keeps_the_neurons_that_it_names():
    task = Parity(8, 2)
    parent = Experiment(task, MLP(6, init=inits.Gaussian()), Training(steps=2, samples=10))
    start = parent.model.init_params(keys_of(4).init, task)
    child = MLP(2, init=inits.FromRun(parent, 4, at="start", neurons=(5, 1)))
    child.check(task)
    (w, b), (u, c) = child.init_params(KEY, task).layers
    np.testing.assert_array_equal(w, np.asarray(start.layers[0].weight)[:, [5, 1]])
    np.testing.assert_array_equal(b, np.asarray(start.layers[0].bias)[[5, 1]])
    np.testing.assert_array_equal(u, np.asarray(start.layers[1].weight)[[5, 1]])
    np.testing.assert_array_equal(c, start.layers[1].bias)
    hash(child)  # an experiment is structure: plain data
    for model, message in (
        (MLP(3, init=inits.FromRun(parent, 4, neurons=(5, 1))), r"layers.0.weight.*\(8, 3\)"),
        (MLP(2, init=inits.FromRun(parent, 4, neurons=(6, 1))), r"neurons numbers.*0\.\.5; got 6"),
    ):
        with pytest.raises(ValueError, match=message):
            model.check(task)
    with pytest.raises(ValueError, match="each once"):
        inits.FromRun(parent, 4, neurons=(1, 1))
    with pytest.raises(ValueError, match=r"known once it has been trained"):
        inits.FromRun(parent, 4)(KEY, child, task)


def test_a_fixed_init_without_an_init_is_the_models_own():
    task = Parity(6, 2)
    fixed = MLP(4, init=inits.Fixed(seed=3)).init_params(jr.key(9), task)
    other = run(Experiment(task, MLP(4), Training(samples=9, steps=1)), seed=3)
    np.testing.assert_array_equal(fixed.layers[0].weight, other.initial.layers[0].weight)
