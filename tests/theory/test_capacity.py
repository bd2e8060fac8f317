"""Covers of bounded transformers: worked numbers, inequalities on real networks, and what is
wrong in print."""

import dataclasses
import functools
import itertools
import math

import jax
import jax.random as jr
import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from elegans.constructions import selection_head, selection_heads
from elegans.models import TransformerClassifier
from elegans.models.transformers.bounded import BoundedTransformer
from elegans.tasks import Parity
from elegans.theory import capacity
from elegans.theory.capacity import HeadNorms, Norms
from elegans.theory.capacity.layers import layer_lipschitz
from elegans.theory.capacity.linear import zhang
from elegans.theory.capacity.norms import column_norms, head_norms


def selector_norms(T, s=3):
    heads = selection_head(T, tuple(range(s)))
    return capacity.norms(heads.model, heads.params)


def matrix_reference(BW, BX, eps, N, rows):
    """Lemma 4.10 with the best of many splits."""
    shares = np.linspace(1e-4, 1 - 1e-4, 4001)
    return min(
        math.ceil((BW * BX / (a * eps)) ** 2) * math.log(2 * rows + 1)
        + zhang(BW, BX, (1 - a) * eps, N)
        for a in shares
    )


def test_the_norms_of_a_selector_are_those_of_the_lemma():
    norms, R = selector_norms(100), math.log(1200)
    head = norms.layers[0][0]
    assert (norms.X, norms.dim, norms.key) == (pytest.approx(math.sqrt(2)), 103, 1)
    np.testing.assert_allclose((head.V, head.V21), math.sqrt(2), rtol=1e-12)
    np.testing.assert_allclose((head.QK, head.QK21, head.cls), R * math.sqrt(3), rtol=1e-12)


# T: document's constants, sharp softmax, [CLS] form, all d x d entries, entries of q, ln C(T, 3).
WORKED = {
    100: (5.6e7, 1.5e7, 4.9e6, 7.1e4, 872, 12),
    1000: (1.1e8, 3.0e7, 9.2e6, 7.0e6, 8.8e3, 19),
    10_000: (1.9e8, 5.1e7, 1.5e7, 7.2e8, 9.0e4, 26),
}


@pytest.mark.parametrize("T", WORKED)
def test_the_worked_numbers(T):
    norms, m, eps = selector_norms(T), 1000, 0.5
    numbers = (
        capacity.head_cover(norms, m, T, eps, printed=True),
        capacity.head_cover(norms, m, T, eps),
        capacity.cls_cover(norms, m, T, eps),
        capacity.volumetric_cover(norms, eps, split=0.5, printed=True),
        capacity.volumetric_cover(norms, eps, split=0.5, cls=True),
        capacity.selector_entropy(T, 3),
    )
    np.testing.assert_allclose(numbers, WORKED[T], rtol=0.04)  # two digits, of 1.1 at the least
    assert capacity.volumetric_cover(norms, eps) <= numbers[3]
    assert capacity.volumetric_cover(norms, eps, cls=True) <= numbers[4]


def test_the_bound_on_the_complexity_is_below_one_only_near_ten_billion_samples():
    norms = selector_norms(100)

    def cover(m, eps):
        return capacity.cls_cover(norms, m, 100, eps)

    assert capacity.dudley(cover, 10**10, 2.0) < 1 < capacity.dudley(cover, 10**9, 2.0)
    assert capacity.generalisation(cover, 1000, A=2.0) > 4  # vacuous, and its number says so


def test_the_split_of_a_sum_of_inverse_squares_is_optimal():
    alphas, betas, total = [2.0, 0.3, 5.0], [1.0, 4.0, 0.5], 0.7
    radii = capacity.best_split(alphas, betas, total)
    assert np.dot(betas, radii) == pytest.approx(total, rel=1e-12)
    value = sum(a / x**2 for a, x in zip(alphas, radii, strict=True))
    gamma = sum(a ** (1 / 3) * b ** (2 / 3) for a, b in zip(alphas, betas, strict=True))
    assert value == pytest.approx(gamma**3 / total**2, rel=1e-12)
    generator = np.random.default_rng(0)
    for _ in range(200):
        other = generator.uniform(0.01, 1, 3)
        other *= total / np.dot(betas, other)
        assert np.sum(alphas / other**2) >= value


def test_linear_covers_have_their_constants():
    assert capacity.linear_cover(3.0, 2.0, 0.5, 10) == pytest.approx(
        36 * 144 * math.log(2 * 50 * 10 + 1), rel=1e-12
    )
    assert capacity.linear_cover(3.0, 2.0, 6.0, 10) == 0.0
    for BW, BX, eps, N, rows in ((3.0, 1.4, 0.5, 1000, 50), (1.0, 1.0, 0.9, 10, 2)):
        value = capacity.matrix_cover(BW, BX, eps, N, rows)
        best = matrix_reference(BW, BX, eps, N, rows)
        assert best * 0.999 <= value <= 1.02 * best
        assert capacity.matrix_cover(BW, BX, eps, N, rows, printed=True) < value


def test_a_head_divides_its_radius_nearly_as_well_as_possible():
    norms, m, T, eps = selector_norms(50), 100, 50, 0.4
    head = norms.layers[0][0]

    def total(share):
        weight = head.V * norms.X**2
        scores = matrix_reference(head.QK21, norms.X, share * eps / weight, m * T + 1, norms.dim)
        return scores + matrix_reference(head.V21, norms.X, (1 - share) * eps, m * T + 1, norms.key)

    best = minimize_scalar(total, bounds=(0.3, 0.95), method="bounded", options={"xatol": 1e-2})
    value = capacity.head_cover(norms, m, T, eps)
    assert 0.99 * best.fun <= value <= 1.01 * best.fun
    assert capacity.head_cover(norms, m, T, capacity.largest_output(norms)) == 0.0


def test_a_head_is_an_instance_of_theorem_4_6():
    norms, m, T, eps = selector_norms(50), 100, 50, 0.4
    head, points = norms.layers[0][0], m * T + 1
    value = capacity.attention_cover(
        lambda r: capacity.matrix_cover(head.QK21, norms.X, r / norms.X, points, norms.dim),
        lambda r: capacity.matrix_cover(head.V21, norms.X, r, points, norms.key),
        eps,
        bound=head.V * norms.X,
    )
    assert value == pytest.approx(capacity.head_cover(norms, m, T, eps), rel=1e-6)
    moved = capacity.with_positions(norms._replace(X=1.0), math.sqrt(2) - 1)
    assert capacity.head_cover(moved, m, T, eps) == pytest.approx(value, rel=1e-6)


def test_softmax_contracts_with_constant_one():
    generator = np.random.default_rng(0)

    def softmax(a):
        return np.exp(a - a.max()) / np.exp(a - a.max()).sum()

    largest = 0.0
    for _ in range(500):
        a, b = generator.standard_normal((2, 4)) * generator.uniform(0, 3)
        ratio = np.abs(softmax(a) - softmax(b)).sum() / np.abs(a - b).max()
        largest = max(largest, ratio)
    assert largest <= 1
    close = np.array([1e-3, -1e-3])
    assert np.abs(softmax(close) - softmax(-close)).sum() / 2e-3 == pytest.approx(1, abs=1e-6)
    p = softmax(generator.standard_normal(5))
    jacobian = np.diag(p) - np.outer(p, p)
    assert np.abs(jacobian).sum() == pytest.approx(2 * np.sum(p * (1 - p)))  # printed: at most 2
    signs = np.array(list(itertools.product([-1, 1], repeat=5)))
    assert np.abs(signs @ jacobian).sum(axis=1).max() <= 1


def perturbed(params, size, seed):
    generator = np.random.default_rng(seed)
    return jax.tree.map(
        lambda w: np.asarray(w, float) + size * generator.standard_normal(w.shape), params
    )


@pytest.mark.parametrize("seed", range(3))
def test_two_heads_differ_by_no_more_than_lemma_4_7_allows(seed):
    """With the norms of a network, and B_X squared beside the scores."""
    task = Parity(7, 2)
    model = BoundedTransformer(kind="head", key_width=4, activation="gelu", scale=2.0)
    params = perturbed(model.init_params(jr.key(seed), task), 0.0, 0)
    other = perturbed(params, 0.05, seed)
    x = np.asarray(task.population().x)
    difference = np.linalg.norm(model.evaluate(params, x) - model.evaluate(other, x), axis=1).max()
    norms = capacity.norms(model, params)
    (a,), (b,) = params.layers, other.layers
    products = [layer.query[0] @ layer.key[0].T for layer in (a, b)]
    scores = norms.X**2 * np.linalg.norm(products[0] - products[1], 2)
    values = norms.X * np.linalg.norm(a.value[0] - b.value[0], 2)
    head = norms.layers[0][0]
    assert difference <= norms.lipschitz * (head.V * norms.X * scores + values)
    assert norms.lipschitz == pytest.approx(1.1289, abs=1e-4)


@pytest.mark.parametrize("layers, heads", [(1, 1), (2, 2), (3, 1)])
def test_two_deep_networks_differ_by_no_more_than_the_amplified_errors(layers, heads):
    task = Parity(5, 2)
    model = BoundedTransformer(
        kind="block", layers=layers, heads=heads, key_width=3, activation="gelu", scale=1.5
    )
    params = perturbed(model.init_params(jr.key(layers), task), 0.0, 0)
    other = perturbed(params, 0.02, layers)
    x = np.asarray(task.population().x)
    difference = np.abs(model.evaluate(params, x) - model.evaluate(other, x)).max()
    norms = capacity.norms(model, params)
    assert norms.X == 1.0
    L, total = norms.lipschitz, np.linalg.norm(params.readout - other.readout)
    alphas = capacity.amplifications(layer_lipschitz(norms, 1.0))
    for alpha, sizes, a, b in zip(alphas, norms.layers, params.layers, other.layers, strict=True):
        for h, head in enumerate(sizes):
            scores = a.query[h] @ a.key[h].T - b.query[h] @ b.key[h].T
            total += (norms.w * alpha) * (
                L * np.linalg.norm(a.output[h] - b.output[h], 2)
                + L * head.C * head.V * np.linalg.norm(scores, 2)
                + L * head.C * np.linalg.norm(a.value[h] - b.value[h], 2)
            )
    assert difference <= total


def test_errors_are_amplified_by_later_layers():
    kappas = [0, 10, 3]
    error = 0.0
    for kappa in kappas:
        error = kappa * error + 1
    assert sum(capacity.amplifications(kappas)) == error == 34
    assert sum(capacity.amplifications(kappas, printed=True)) == 1


def test_the_capacity_of_a_head_does_not_depend_on_the_units_of_the_tokens():
    head = HeadNorms(V=1.3, V21=2.0, QK=3.0, QK21=4.0, cls=2.5)
    norms = Norms(X=0.7, layers=((head,),), dim=9, key=4)
    c = 3.0
    scaled = Norms(
        X=0.7 * c,
        layers=((HeadNorms(V=1.3 / c, V21=2.0 / c, QK=3 / c**2, QK21=4 / c**2, cls=2.5 / c**2),),),
        dim=9,
        key=4,
    )
    for cover in (capacity.head_cover, capacity.heads_scaling):
        assert cover(scaled, 50, 8, 0.2) == pytest.approx(cover(norms, 50, 8, 0.2), rel=1e-9)
    volumes = [capacity.volumetric_cover(n, 0.2) for n in (norms, scaled)]
    assert volumes[0] == pytest.approx(volumes[1], rel=1e-9)
    for statement in ("4.9", "A.1.4", "A.11", "A.12"):
        printed = [
            capacity.heads_scaling(n, 50, 8, 0.2, printed=statement) for n in (norms, scaled)
        ]
        assert printed[1] != pytest.approx(printed[0], rel=0.1)
    q = [capacity.cls_cover(n, 50, 8, 0.2) for n in (norms, scaled)]
    assert q[0] != pytest.approx(q[1], rel=0.1)  # the query token has its own norm, here fixed


def test_query_and_key_enter_through_the_product_that_scores_are_made_of():
    query, key = np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]])
    norms = head_norms(query, key, np.eye(2))
    assert column_norms(key.T @ query) == 0  # printed
    assert norms.QK21 == norms.QK == 1.0
    generator = np.random.default_rng(0)
    query, key, value, output = (generator.standard_normal((6, 3)) for _ in range(4))
    norms = head_norms(query, key, value, output.T)
    product = key @ query.T
    np.testing.assert_allclose(norms.QK, np.linalg.norm(product, 2), rtol=1e-12)
    np.testing.assert_allclose(norms.QK21, np.linalg.norm(product, axis=0).sum(), rtol=1e-12)
    np.testing.assert_allclose(norms.V21, np.linalg.norm(value, axis=0).sum(), rtol=1e-12)
    np.testing.assert_allclose(norms.C21, np.linalg.norm(output, axis=1).sum(), rtol=1e-12)
    np.testing.assert_allclose(norms.C, np.linalg.norm(output, 2), rtol=1e-12)


def test_sums_of_column_norms_depend_on_the_basis():
    heads = selection_head(20, (0, 1, 2))
    (layer,) = heads.params.layers
    rotation = np.linalg.qr(np.random.default_rng(0).standard_normal((23, 23)))[0]
    before = head_norms(layer.query[0], layer.key[0], layer.value[0])
    after = head_norms(rotation @ layer.query[0], rotation @ layer.key[0], layer.value[0])
    np.testing.assert_allclose(after.QK, before.QK, rtol=1e-12)
    assert after.QK21 > 3 * before.QK21


def test_equal_heads_cost_the_cube_of_their_number():
    head = HeadNorms(V=1.0, V21=2.0, QK=3.0, QK21=4.0, cls=2.5)
    norms = {h: Norms(X=1.0, layers=((head,) * h,), dim=9, key=4) for h in (1, 4)}
    scalings = {h: capacity.heads_scaling(n, 50, 8, 0.2) for h, n in norms.items()}
    assert scalings[4] == pytest.approx(64 * scalings[1], rel=1e-12)
    covers = {h: capacity.heads_cover(n, 50, 8, 0.2) for h, n in norms.items()}
    assert 64 < covers[4] / covers[1] < 64 * 1.3  # logarithms of a smaller radius
    assert covers[1] == capacity.head_cover(norms[1], 50, 8, 0.2)


def test_norm_bounds_grow_as_the_logarithm_of_the_context():
    head = HeadNorms(V=1.0, V21=2.0, QK=3.0, QK21=4.0, C=1.0, C21=2.0, cls=2.5)
    norms = Norms(X=1.0, layers=((head,),), dim=9, key=4)
    contexts = 2 ** np.arange(6, 40, 4)
    for cover in (capacity.head_cover, capacity.cls_cover, capacity.layers_cover):
        sizes = np.array([cover(norms, 100, int(T), 0.1) for T in contexts])
        slopes = np.diff(sizes) / np.diff(np.log(contexts))
        assert slopes.max() / slopes.min() < 1.2  # ever smaller radii for the larger logarithms
        assert sizes[-1] < 4 * sizes[0]


def test_scalar_heads_scale_with_what_follows_them():
    norms = selector_norms(30)
    for cover in (capacity.head_cover, capacity.cls_cover):
        doubled = cover(norms._replace(w=2.0), 10, 30, 0.5)
        assert doubled == pytest.approx(cover(norms, 10, 30, 0.25), rel=1e-12)
    heads = selection_heads(12, (0, 3))
    model = dataclasses.replace(heads.model, kind="scalar")
    dim = heads.model.dim
    params = heads.params._replace(readout=np.full(dim, 2.0))
    assert capacity.norms(model, params).w == pytest.approx(2 * math.sqrt(dim))


def test_deep_bounds_agree_with_theorem_a17_up_to_constants_and_logarithms():
    head = HeadNorms(V=0.9, V21=2.0, QK=0.5, QK21=1.5, C=1.1, C21=2.5)
    for layers in (1, 2, 4):
        norms = Norms(X=1.0, layers=((head,),) * layers, w=1.5, dim=16, key=8)
        cover = capacity.layers_cover(norms, 100, 20, 1e-3)
        scaling = capacity.layers_scaling(norms, 100, 20, 1e-3)
        assert 36 < cover / scaling < 36 * 4
        # All three slips at once: the readout, the powers of the widths, the order of the layers.
        assert capacity.layers_scaling(norms, 100, 20, 1e-3, printed=True) != pytest.approx(
            scaling, rel=0.5
        )
    # A last layer that is zero makes the network zero; the printed product does not see it.
    zero = head._replace(V=0.0, V21=0.0)
    norms = Norms(X=1.0, layers=((head,), (zero,)), w=1.0, dim=16, key=8)
    only = Norms(X=1.0, layers=((zero,),), w=1.0, dim=16, key=8)
    right = [capacity.layers_scaling(n, 100, 20, 0.1) for n in (norms, only)]
    assert right[0] == pytest.approx(right[1], rel=1e-12)
    wrong = [capacity.layers_scaling(n, 100, 20, 0.1, printed=True) for n in (norms, only)]
    assert wrong[0] > 2 * wrong[1]


def bad(**changes):
    head = {"V": 1.0, "V21": 1.0, "QK": 1.0, "QK21": 1.0}
    head |= {name: value for name, value in changes.items() if name in HeadNorms._fields}
    rest = {name: value for name, value in changes.items() if name in Norms._fields}
    return Norms(**{"X": 1.0, "layers": ((HeadNorms(**head),),), "dim": 2, "key": 2, **rest})


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda c: c.head_cover(bad(V21=-1.0), 5, 5, 0.1), "V21 is a norm.*got -1.0"),
        (lambda c: c.cls_cover(bad(X=-1.0), 5, 5, 0.1), "X is a norm.*got -1.0"),
        (lambda c: c.layers_cover(bad(C21=-2.0), 5, 5, 0.1), "C21 is a norm"),
        (lambda c: c.volumetric_cover(bad(w=math.nan), 0.1), "w is a norm"),
        (lambda c: c.head_cover(bad(), 5, 5, 0.0), "eps is the radius.*positive; got 0.0"),
        (lambda c: c.heads_cover(bad(), 5, 5, -0.5), "eps is the radius.*got -0.5"),
        (lambda c: c.linear_cover(-1.0, 1.0, 0.1, 5), "B1 is a norm"),
        (lambda c: c.matrix_cover(1.0, 1.0, 0.1, 0, 5), "N counts the points"),
        (lambda c: c.head_cover(bad(), 0, 5, 0.1), "m counts the examples"),
        (lambda c: c.layers_cover(bad(X=1.5), 5, 5, 0.1), "norm at most 1; got X=1.5"),
        (lambda c: c.heads_scaling(bad(), 5, 5, 0.1, printed="4.8"), "printed is one of"),
        (lambda c: c.dudley(lambda m, eps: 1.0, 0), "m counts the examples"),
        (lambda c: c.generalisation(lambda m, eps: 1.0, 5, delta=0.0), "delta is the probability"),
        (lambda c: c.samples_for(0.0, lambda m, eps: 1.0), "gap is positive"),
        (lambda c: c.shattering(1), "T counts the tokens"),
        (lambda c: c.selector_entropy(3, 4), "s counts the selected"),
        (lambda c: c.packing(np.zeros((2, 2)), -1.0), "eps is the radius"),
    ],
)
def test_bad_input_is_refused_by_name(call, message):
    with pytest.raises(ValueError, match=message):
        call(capacity)


def test_norms_are_those_of_a_network_that_is_bounded():
    with pytest.raises(TypeError, match=r"TransformerClassifier\(\) is not in the classes"):
        capacity.norms(TransformerClassifier(), None)


def test_one_head_is_asked_for_where_one_is_meant():
    heads = selection_heads(8, (0, 3))
    norms = capacity.norms(heads.model, heads.params)
    with pytest.raises(ValueError, match="2 heads; use heads_cover"):
        capacity.head_cover(norms, 5, 8, 0.1)
    deep = norms._replace(layers=norms.layers * 2)
    with pytest.raises(ValueError, match="2 layers; use layers_cover"):
        capacity.heads_cover(deep, 5, 8, 0.1)
    assert functools.partial(capacity.heads_cover, norms)(5, 8, 0.1) > 0
