"""The 18 architectures of the chapter on hidden progress, by label."""

import re
from pathlib import Path

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest

import elegans as el
from elegans.models import zoo
from elegans.models.inits import Layer, Layers
from elegans.tasks import Parity

DOCUMENTED = [
    *("i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv"),
    *("xv", "*i", "*ii", "*iii"),
]


def test_all_eighteen_settings_are_listed_by_their_labels():
    listed = zoo.architectures(20, 3)
    assert list(listed) == DOCUMENTED
    assert all(each.label == label for label, each in listed.items())


@pytest.mark.parametrize("k", [2, 3])
def test_every_architecture_is_an_experiment_with_its_recipe(k):
    for each in zoo.architectures(10, k).values():
        experiment = el.Experiment(Parity(10, k), each.model, each.training)
        assert el.Experiment.from_json(experiment.to_json()) == experiment
        assert (each.training.optimizer == "adam") == (each.label == "*iii")
        assert each.training.stop == el.Stop(test_error=0.0)


def test_a_single_neuron_without_a_second_layer_computes_the_parity():
    k = 3
    x, y = Parity(6, k).population()
    weight = jnp.zeros((6, 1)).at[:k].set(1.0)
    params = Layers((Layer(weight, jnp.zeros(1)),))
    for label in ("xi", "xii", "xiii", "xiv"):
        model = zoo.architectures(6, k)[label].model
        values = jax.vmap(model.apply, (None, 0))(params, x)
        np.testing.assert_allclose(values, y, atol=1e-5)
        shapes = jax.eval_shape(lambda key, m=model: m.init_params(key, Parity(6, k)), jr.key(0))
        assert len(shapes.layers) == 1


def test_two_rectifiers_without_an_output_bias_cannot_compute_the_sign_of_a_parity():
    """The document's formula has no output bias; over 20,000 random networks the best is 75%."""
    rng = np.random.default_rng(0)
    x = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]], float)
    y = x.prod(axis=1)
    w, b = rng.standard_normal((20_000, 2, 2)), rng.standard_normal((20_000, 1, 2))
    u = rng.standard_normal((20_000, 2, 1))
    f = (np.maximum(np.einsum("pi,rij->rpj", x, w) + b, 0) @ u)[..., 0]
    assert ((f * y) > 0).all(axis=1).sum() == 0
    with_bias = f + rng.standard_normal((20_000, 1))
    assert ((with_bias * y) > 0).all(axis=1).sum() > 0


def test_what_is_no_architecture_or_no_parity_is_refused():
    with pytest.raises(KeyError, match=r"no architecture is labelled 'xvi'; did you mean 'xv'"):
        zoo.architectures(20, 3)["xvi"]
    with pytest.raises(ValueError, match=r"k counts relevant bits, so it is in 1..5; got 6"):
        zoo.architectures(5, 6)


def test_the_page_of_the_chapter_runs_as_printed(capsys):
    page = (Path(__file__).parents[2] / "docs" / "hidden-progress.md").read_text("utf-8")
    for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        exec(compile(block, "hidden-progress.md", "exec"), {})
    assert "True" in capsys.readouterr().out
