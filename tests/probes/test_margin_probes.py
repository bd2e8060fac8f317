"""Probes of margins and features, beside the functions of the theory in float64."""

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import elegans as el
from elegans import constructions
from elegans.models.two_embedding import Embeddings
from elegans.probes import margins
from elegans.protocols import View
from elegans.tasks.groups import Cyclic, Quaternion, Symmetric
from elegans.theory import groups as theory
from elegans.training.regularisers import Norm


def view_of(model, task, params):
    """What a probe is called with."""
    params = jax.tree.map(lambda leaf: jnp.asarray(leaf, jnp.float32), params)
    return View(params, params, model, task, jr.key(0), jnp.zeros((), jnp.int32))


@pytest.mark.parametrize("group", [Cyclic(5), Symmetric(3), Quaternion()])
def test_probes_agree_with_the_theory(group):
    task, model = el.tasks.GroupOperation(group), el.models.TwoEmbedding(width=7)
    n, rng = group.order, np.random.default_rng(0)
    params = Embeddings(
        rng.standard_normal((n, 7)), rng.standard_normal((n, 7)), rng.standard_normal((7, n))
    )
    view = view_of(model, task, params)
    seen = margins.margin(view)
    expected = theory.normalised_margin(model, params, task)
    np.testing.assert_allclose(seen["margin"], expected, rtol=1e-4)
    best = theory.maximum_margin(group).value
    np.testing.assert_allclose(seen["ratio"], expected / best, rtol=1e-4)
    features = margins.features(view)
    for name, vectors in (("u", params.u), ("v", params.v), ("w", params.w.T)):
        np.testing.assert_allclose(
            features[name], theory.maximal_power(group, vectors), rtol=1e-4, err_msg=name
        )
    powers = sum(theory.powers(group, x) for x in (params.u, params.v, params.w.T))
    shares = np.zeros(len(powers))
    np.add.at(shares, powers.argmax(axis=0), theory.norm_shares(model, params))
    np.testing.assert_allclose(features["shares"], shares, rtol=1e-4, atol=1e-7)


def test_networks_of_maximum_margin_have_ratio_one():
    model, params = constructions.max_margin(Symmetric(3))
    view = view_of(model, el.tasks.GroupOperation(Symmetric(3)), params)
    np.testing.assert_allclose(margins.margin(view)["ratio"], 1, rtol=1e-4)
    np.testing.assert_allclose(margins.features(view)["power"], 1, rtol=1e-5)
    shares = theory.maximum_margin(Symmetric(3)).shares
    np.testing.assert_allclose(margins.features(view)["shares"], shares, atol=1e-5)
    model, params = constructions.groups.sparse_parity(5, 3)
    view = view_of(model, el.tasks.Parity(5, 3), params)
    np.testing.assert_allclose(margins.margin(view)["ratio"], 1, rtol=1e-4)


def test_a_run_may_stop_at_a_part_of_the_largest_margin():
    training = el.Training(
        loss="cross-entropy",
        samples=None,
        batch=None,
        steps=4000,
        evaluate_every=100,
        learning_rate=1.0,
        regulariser=Norm(1e-3, a=2.0, b=3.0, power=3.0),
        stop=el.Stop(test_error=None, probe=el.probes.MarginRatio(), at_least=0.5),
    )
    task = el.tasks.GroupOperation(Cyclic(3))
    run = el.run(el.Experiment(task, el.models.TwoEmbedding(16), training), seed=0)
    assert run.success
    params = Embeddings(*(np.asarray(part, np.float64) for part in run.params))
    margin = theory.normalised_margin(el.models.TwoEmbedding(16), params, task)
    assert margin >= 0.5 * theory.maximum_margin(Cyclic(3)).value
    assert run.steps < 4000


def test_a_task_without_a_known_margin_is_refused():
    with pytest.raises(ValueError, match=r"maximum margins are known for tasks with a `group`"):
        margins.best_margin(el.tasks.MarkovChains(2, 5))
