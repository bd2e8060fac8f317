"""Probes: what they see, and that watching does not change a record."""

import jax.numpy as jnp
import numpy as np
import pytest

import elegans as el
from elegans.training.loop import Job, train

EXPERIMENT = el.Experiment(
    el.tasks.Parity(n=10, k=2),
    el.models.MLP(width=12),
    el.Training(samples=200, steps=60, batch=8, evaluate_every=25, test_samples=500),
)


def steps_squared(view):
    """A tree of what a view holds besides parameters."""
    return {"now": view.step**2, "model": {"width": jnp.asarray(view.model.width)}}


def test_watching_does_not_change_a_bit_of_a_record():
    probes = {
        "support": el.probes.SupportShare(),
        "path": el.probes.SupNormPath(),
        "all": el.probes.parameters,
        "own": steps_squared,
    }
    ((_, plain),) = train([Job(0, EXPERIMENT, 3)])
    ((_, watched),) = train([Job(0, EXPERIMENT, 3)], probes=probes)
    for kind in ("history", "params"):
        for name, column in plain.arrays[kind].items():
            np.testing.assert_array_equal(column, watched.arrays[kind][name])
    seen = watched.probes
    np.testing.assert_array_equal(seen["step"], [0, 25, 50, 60])
    np.testing.assert_array_equal(seen["own.now"], seen["step"] ** 2)
    np.testing.assert_array_equal(seen["own.model.width"], [12] * 4)
    for name, column in watched.arrays["params"].items():
        np.testing.assert_array_equal(seen[f"all.{name}"][-1], column)
    weights = seen["all.layers.0.weight"].astype(float)
    np.testing.assert_allclose(
        seen["path"], np.abs(weights - weights[0]).max(axis=(1, 2)), rtol=1e-6
    )
    share = (weights[:, :2] ** 2).sum((1, 2)) / (weights**2).sum((1, 2))
    np.testing.assert_allclose(seen["support"], share, rtol=1e-5)
    assert plain.probes == {}


def test_a_probe_named_step_is_refused():
    with pytest.raises(ValueError, match="'step' is the name of a column"):
        list(train([Job(0, EXPERIMENT, 0)], probes={"step": el.probes.parameters}))


def test_a_job_may_start_from_given_parameters():
    ((_, first),) = train([Job(0, EXPERIMENT, 3)], probes={"all": el.probes.parameters})
    end = el.run(EXPERIMENT, 3).params
    ((_, second),) = train([Job(0, EXPERIMENT, 9, end)], probes={"all": el.probes.parameters})
    for name, column in first.arrays["params"].items():
        np.testing.assert_array_equal(second.probes[f"all.{name}"][0], column)
