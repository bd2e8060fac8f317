"""Tasks that a user writes are swept like ours, wherever another process can import them."""

import sys
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import jax.random as jr
import pytest

import elegans as el


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Threshold:
    """The sign of the sum of the first two of ten Gaussians, shifted."""

    shift: float = 0.0

    features, classes = 10, None

    def sample(self, key, size):
        x = jr.normal(key, (size, 10))
        return x, jnp.sign(x[:, 0] + x[:, 1] + self.shift)


def experiment(task):
    return el.Experiment(task, el.models.MLP(width=4), el.Training(samples=50, steps=5))


def test_a_task_of_ones_own_survives_json_and_is_swept():
    mine = experiment(Threshold(0.5))
    assert el.Experiment.from_json(mine.to_json()) == mine
    table = el.Sweep(mine, over={"task.shift": [0.1, 1.0]}).run(workers=0, progress=False)
    assert list(table["task.shift"]) == [0.1, 1.0]
    assert (table["status"] == "done").all()


def test_a_task_that_workers_cannot_import_is_refused_before_anything_is_computed(monkeypatch):
    monkeypatch.setattr(Threshold, "__module__", "__main__")
    monkeypatch.setattr(sys.modules["__main__"], "Threshold", Threshold, raising=False)
    sweep = el.Sweep(experiment(Threshold()), over={"task.shift": [0.1, 1.0]})
    with pytest.raises(ValueError, match=r"cannot import __main__:Threshold.*workers=0"):
        sweep.run(workers=1, progress=False)
    assert len(sweep.run(workers=0, progress=False)) == 2


@pytest.mark.parametrize("name", ["no_such_module:Task", "elegans.tasks:Nothing", "json:dumps"])
def test_a_type_that_is_no_configuration_is_refused_by_name(name):
    text = experiment(Threshold()).to_json().replace(f"{__name__}:Threshold", name)
    with pytest.raises(ValueError, match=name):
        el.Experiment.from_json(text)


def test_an_experiment_that_cannot_be_written_down_is_refused_before_it_is_trained():
    @el.configuration
    class Measured:
        function: object

        def __call__(self, view):
            return self.function(view)

    stop = el.Stop(test_error=None, probe=Measured(lambda view: 1.0), at_least=0.5)
    with pytest.raises(TypeError, match=r"numbers, strings, tuples and configurations; got <func"):
        el.Experiment(el.tasks.Parity(8, 2), el.models.MLP(width=4), el.Training(stop=stop))
