"""Every configuration of the package, drawn at random: its JSON round trip and its hash.

`FIELDS` has strategies for the fields of each class, and a test that none is missing: whoever adds
a task, a model or an init adds it here. Plain data is drawn, and built in the test.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import elegans as el
from elegans.experiments.plain import configurations, from_plain, to_plain
from elegans.tasks import groups
from elegans.training import losses, optimizers, regularisers, schedules

PROBABILITY = st.floats(0, 1)
RATE = st.floats(0, 10) | st.integers(0, 3)
COUNT = st.integers(1, 10**9)
MAYBE = st.none() | PROBABILITY
SPARSE = {
    "n": st.sampled_from([6, 12]),
    "k": st.sampled_from([1, 2, 3]),
    "flip": PROBABILITY,
    "support": st.none() | st.permutations(range(6)).map(lambda order: order[:3]),
    "p": MAYBE,
}
ONES = st.integers(1, 6)
FIELDS = {
    "Parity": SPARSE,
    "DisjointParity": SPARSE,
    "Conjunction": SPARSE,
    "Disjunction": SPARSE,
    "SparseMajority": SPARSE,
    "Junta": {
        "n": st.integers(2, 9),
        "table": st.lists(st.sampled_from([-1, 1]), min_size=4, max_size=4),
        "flip": PROBABILITY,
        "p": MAYBE,
    },
    "SparseNetwork": {
        "n": st.integers(8, 20),
        "b": st.integers(1, 3),
        "k": st.integers(1, 2),
        "seed": st.integers(0, 9),
        "dense": st.booleans(),
        "noise": RATE,
    },
    "LiftedParity": {
        "m": st.integers(3, 6),
        "k": st.integers(1, 3),
        "flip": PROBABILITY,
        "support": SPARSE["support"],
    },
    "LearningWithRounding": {
        "m": st.integers(1, 4),
        "q": st.integers(5, 64),
        "p": st.integers(2, 5),
        "seed": st.integers(0, 9),
        "rule": st.sampled_from(["rounding", "modulus"]),
        "lifted": st.booleans(),
    },
    "Uniform": {},
    "Gaussian": {},
    "Sign": {"c": MAYBE},
    "Sparse": {"s": ONES},
    "SparseSigns": {"s": ONES},
    "SymmetricSparse": {"s": ONES, "complete": st.booleans()},
    "PerturbedSparse": {"s": ONES, "epsilon": st.none() | st.floats(0, 0.1)},
    "SymmetricSign": {},
    "Stop": {"test_error": PROBABILITY},
    "Group": {
        "match": st.sampled_from(["layers.0", "layers.1.weight"]),
        "learning_rate": RATE,
        "weight_decay": RATE,
        "start": st.integers(0, 5),
        "stop": st.none() | st.integers(5, 9),
    },
}
SEQUENCES = ("states", "length", "order", "weights")
INITS = [name for name in FIELDS if name in vars(el.inits)]
TASKS = [name for name in FIELDS if name in vars(el.tasks)]


def part(name):
    """Plain data of a configuration, some fields left out where they have a default."""
    fields = FIELDS[name]
    is_given = {"n", "k", "b", "m", "q", "table", "s", "match", "width", "name", *SEQUENCES}
    required = {field: values for field, values in fields.items() if field in is_given}
    rest = {field: values for field, values in fields.items() if field not in is_given}
    return st.fixed_dictionaries({"type": st.just(name), **required}, optional=rest)


STATES = {"states": st.integers(2, 4), "length": st.integers(5, 20)}
FIELDS |= {
    "Dirichlet": {"alpha": st.floats(0.1, 5)},
    "DoublyStochastic": {},
    "IidUnigram": {},
    "Mixture": {"weights": st.sampled_from([[0.5, 0.5], [0.25, 0.75]])},
    "MinimalInduction": {"weight": RATE, "position": RATE},
    "AttentionOnly": {
        "layers": st.integers(1, 3),
        "heads": st.sampled_from([1, 2]),
        "dim": st.sampled_from([4, 16]),
        "position": st.sampled_from(["relative", "absolute"]),
        "mlp": st.booleans(),
        "dropout": PROBABILITY,
        "scale": st.floats(0, 5),
    },
}
FIELDS["NGrams"] = {"order": st.integers(2, 3), **STATES, "prior": part("Dirichlet")}
FIELDS["MarkovChains"] = {
    **STATES,
    "prior": st.one_of(*map(part, ("Dirichlet", "DoublyStochastic", "IidUnigram", "Mixture"))),
}
FIELDS["Tabular"] = {
    "name": st.sampled_from(["pol", "MagicTelescope"]),
    "fraction": st.floats(0.01, 1),
    "directory": st.none() | st.just("tables"),
    "rows": st.none() | st.integers(2, 10**6),
}
FIELDS["MLP"] = {
    "width": st.integers(1, 10**4),
    "depth": st.integers(1, 3),
    "activation": st.sampled_from(["relu", "gelu", "tanh", "sin", "z^2"]),
    "init": st.one_of(*map(part, INITS)),
}
FIELDS["Training"] = {
    "loss": st.sampled_from(["hinge", "square"]),
    "optimizer": st.sampled_from(["sgd", "adam", "adamw"]),
    "learning_rate": RATE,
    "weight_decay": RATE,
    "decay": st.sampled_from(["coupled", "shrink"]),
    "steps": COUNT,
    "samples": COUNT,
    "batch": st.none() | st.integers(1, 512),
    "evaluate_every": st.none() | COUNT,
    "test_samples": COUNT,
    "truncate": RATE,
    "schedule": st.sampled_from(["constant", "linear", "cosine", "inverse"]),
    "warmup": st.integers(0, 9),
    "groups": st.lists(part("Group"), max_size=1),
    "stop": st.none() | part("Stop"),
}
EXPERIMENT = st.fixed_dictionaries(
    {"task": st.one_of(*map(part, TASKS)), "model": part("MLP"), "training": part("Training")}
)


def built(build, plain):
    """The configuration, unless its fields do not fit together."""
    try:
        return build(plain)
    except ValueError:
        assume(False)


SMALL = el.Experiment(el.tasks.Parity(4, 2), el.models.MLP(2), el.Training(samples=5, steps=3))
EXAMPLES = [  # of configurations with few fields
    SMALL,
    el.inits.Fixed(el.inits.Sparse(2), seed=7),
    el.inits.FromRun(SMALL, seed=3, at="start", neurons=(1,)),
    el.models.TwoEmbedding(width=5, activation="relu"),
    el.models.PowerNetwork(width=5, degree=3),
    el.models.BoundedTransformer(kind="block", layers=2, heads=2),
    el.models.TransformerClassifier(heads=2, dim=8, norm="none"),
    *(el.models.PolyNet(degree=3), el.models.DisjointPolyNet(degree=2)),
    el.tasks.GroupOperation(groups.Cyclic(5), fraction=0.5),
    el.tasks.GroupOperation(groups.Product(groups.Symmetric(3), groups.Dihedral(4))),
    *(groups.Alternating(4), groups.Dicyclic(3), groups.Quaternion()),
    groups.from_table([[0, 1], [1, 0]]),
    *(losses.Hinge(), losses.Square(), losses.Logistic(), losses.Correlation()),
    *(losses.CrossEntropy(), losses.Margin(0.5)),
    *(optimizers.SGD(momentum=0.9), optimizers.Adam(b1=0.8), optimizers.AdamW()),
    *(schedules.Constant(), schedules.Linear(), schedules.Cosine(), schedules.Inverse()),
    schedules.Milestones((10, 20), 2.0),
    regularisers.Norm(1e-4, b=3.0),
    *(el.probes.Attended(), el.probes.AttentionMasses(32), el.probes.SupNormPath()),
    el.probes.MarginRatio(),
    el.probes.Divergences(("unigram",), 16),
    *(el.probes.FourierGap(), el.probes.RelevantLead(), el.probes.RelevantProduct()),
    *(
        el.probes.SupportShare(),
        el.probes.ClsAttention(10),
        el.probes.Activity(),
        el.probes.MarginRatio(),
    ),
    el.tasks.UniqueConjunction(n=8, k=2, p=0.7, samples=30),
    el.inits.Restart(el.inits.Sparse(2), 4),
]


def names_in(plain):
    """The types that plain data names, at any depth."""
    if isinstance(plain, dict):
        below = [names_in(value) for value in plain.values()]
        return {plain["type"]}.union(*below) if "type" in plain else set().union(*below)
    return set().union(*map(names_in, plain)) if isinstance(plain, list) else set()


def test_every_configuration_of_the_package_is_drawn_here():
    shown = set().union(*(names_in(to_plain(example)) for example in EXAMPLES))
    assert set(configurations()) <= set(FIELDS) | shown


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: type(example).__name__)
def test_every_example_survives_json(example):
    for minimal in (False, True):
        plain = json.loads(json.dumps(to_plain(example, minimal=minimal)))
        assert from_plain(plain) == example


@pytest.mark.parametrize("name", FIELDS)
@settings(max_examples=15)
@given(st.data())
def test_every_configuration_survives_json(name, data):
    config = built(from_plain, data.draw(part(name)))
    assert from_plain(json.loads(json.dumps(to_plain(config)))) == config
    assert from_plain(json.loads(json.dumps(to_plain(config, minimal=True)))) == config


@settings(max_examples=15)
@given(EXPERIMENT, st.randoms(use_true_random=False))
def test_a_name_survives_json_another_order_of_fields_and_another_kind_of_number(plain, chance):
    experiment = built(el.Experiment.from_plain, plain)
    assert el.Experiment.from_json(experiment.to_json()) == experiment
    assert from_plain(to_plain(experiment, minimal=True)) == experiment
    other = shuffled(json.loads(experiment.to_json()), chance)
    for name in ("learning_rate", "weight_decay", "truncate"):
        number = other["training"][name]
        other["training"][name] = int(number) if number == int(number) else number
    assert from_plain(other).name == experiment.name


def shuffled(plain, chance):
    """The same data, the fields of every configuration in another order."""
    if isinstance(plain, dict):
        items = list(plain.items())
        chance.shuffle(items)
        return {name: shuffled(value, chance) for name, value in items}
    return [shuffled(value, chance) for value in plain] if isinstance(plain, list) else plain


@settings(max_examples=15)
@given(EXPERIMENT, st.data())
def test_different_experiments_have_different_names(plain, data):
    one = built(el.Experiment.from_plain, plain)
    field = data.draw(st.sampled_from(["learning_rate", "steps", "test_samples", "optimizer"]))
    other = plain | {"training": plain["training"] | {field: data.draw(FIELDS["Training"][field])}}
    two = built(el.Experiment.from_plain, other)
    assert (one.name == two.name) == (one == two)


def test_names_are_the_same_in_another_process_and_in_every_version(experiment):
    assert experiment.name == "85bce207d4d8765a"
    script = f"import elegans as el; print(el.Experiment.from_json({experiment.to_json()!r}).name)"
    environment = {"PYTHONPATH": str(Path(el.__file__).parents[1]), "PYTHONHASHSEED": "7"}
    out = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == experiment.name
