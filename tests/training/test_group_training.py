"""Training on the table of a group: the penalty over neurons, and a fraction as a split."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import elegans as el
from elegans.tasks.groups import Cyclic
from elegans.training import source
from elegans.training.regularisers import Norm

pytestmark = pytest.mark.usefixtures("cheap_compilation")

MODEL = el.models.TwoEmbedding(width=6)


def test_a_model_of_one_layer_may_have_one_matrix_of_neurons():
    params = MODEL.init_params(jax.random.key(0), el.tasks.GroupOperation(Cyclic(5)))
    norms = np.linalg.norm(np.asarray(MODEL.neurons(params), np.float64), axis=1)
    penalty = Norm(0.5, a=2.0, b=3.0, power=3.0)
    np.testing.assert_allclose(penalty(MODEL, params), 0.5 * np.sum(norms**3), rtol=1e-5)


@pytest.mark.parametrize("fraction", [None, 0.6])
def test_full_batches_train_on_the_fraction_and_test_on_the_rest(fraction):
    """Five steps of the engine beside five gradients written out."""
    task = el.tasks.GroupOperation(Cyclic(5), fraction=fraction)
    training = el.Training(
        loss="cross-entropy",
        samples=None,
        batch=None,
        steps=5,
        evaluate_every=5,
        learning_rate=0.5,
        regulariser=Norm(0.01, a=2.0, b=3.0, power=3.0),
    )
    run = el.run(el.Experiment(task, MODEL, training), seed=1)
    whole = source.table_of(task, MODEL, training, source.keys_for(task, 1).data)
    is_train = np.asarray(whole.is_train)
    assert is_train.sum() == (15 if fraction else 25)
    np.testing.assert_array_equal(whole.is_test, ~is_train if fraction else is_train)
    x, y = task.population()

    def loss(params, rows):
        logits = jax.vmap(MODEL.apply, in_axes=(None, 0))(params, x[rows])
        return -jnp.mean(jax.nn.log_softmax(logits)[jnp.arange(len(rows)), y[rows]])

    def objective(params):
        norms = jnp.linalg.norm(MODEL.neurons(params), axis=1)
        return loss(params, np.flatnonzero(is_train)) + 0.01 * jnp.sum(norms**3)

    params = run.initial
    for _ in range(5):
        slope = jax.grad(objective)(params)
        params = jax.tree.map(lambda p, g: p - 0.5 * g, params, slope)
    for ours, theirs in zip(run.params, params, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        run.test_loss, loss(params, np.flatnonzero(whole.is_test)), rtol=1e-4
    )
