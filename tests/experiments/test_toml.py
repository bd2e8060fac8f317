import numpy as np
import pytest

import elegans as el
from elegans.experiments.toml import read

GRID = """
seeds = 3
[experiment.task]
type = "Parity"
n = 6
k = 2
[experiment.model]
type = "MLP"
width = 4
init = {type = "Sparse", s = 2}
[experiment.training]
samples = 50
steps = 300
stop = {type = "Stop", test_error = 0.1}
[over]
"training.learning_rate" = {log = [0.01, 1, 3]}
"training.samples" = {log = [10, 1000, 5]}
"""


@pytest.fixture
def write(tmp_path):
    def write(text):
        path = tmp_path / "grid.toml"
        path.write_text(text)
        return path

    return write


def test_a_file_is_a_whole_sweep(write):
    sweep = read(write(GRID))
    assert sweep.experiment == el.Experiment(
        el.tasks.Parity(6, 2),
        el.models.MLP(4, init=el.inits.Sparse(2)),
        el.Training(samples=50, steps=300, stop=el.Stop(0.1)),
    )
    np.testing.assert_allclose(sweep.over["training.learning_rate"], [0.01, 0.1, 1], rtol=1e-12)
    assert sweep.over["training.samples"] == [10, 32, 100, 316, 1000]
    assert all(isinstance(m, int) for m in sweep.over["training.samples"])
    assert sweep.seeds == 3
    assert len(el.Sweep(*sweep)) == 3 * 5 * 3


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("seeds = 3", "sedes = 3", "no part 'sedes'; did you mean 'seeds'"),
        ("[over]", "[oven]", "no part 'oven'; did you mean 'over'"),
        ("log = [0.01, 1, 3]", "log = [0, 1, 3]", "first and last above 0"),
        ("log = [0.01, 1, 3]", "log = [1, 3]", r"log is \[first, last, how many\]"),
        ("{log = [0.01, 1, 3]}", "0.1", "is a list of values, labelled values, or a range"),
        ('"Parity"', '"Partiy"', "did you mean 'Parity'"),
        ("n = 6", "n = ", "is not valid TOML"),
        ("[experiment.task]", "[experimint.task]", "did you mean 'experiment'"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_name(write, old, new, message):
    path = write(GRID.replace(old, new))
    with pytest.raises(ValueError, match=message) as error:
        read(path)
    assert str(error.value).startswith(str(path))
