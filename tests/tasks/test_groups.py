"""Groups against their axioms and presentations; the task against the table."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import jax.random as jr
import numpy as np
import pytest
from tests.groups import LARGE, SMALL

from elegans.tasks.groups import (
    Alternating,
    Cyclic,
    Dicyclic,
    Dihedral,
    GroupOperation,
    Product,
    Quaternion,
    Symmetric,
    from_table,
)

EVERY = {**SMALL, **LARGE}


@pytest.mark.parametrize("name", EVERY)
def test_every_table_is_a_group_with_identity_0(name):
    group = EVERY[name]
    table = group.table
    n = group.order
    assert table.shape == (n, n)
    assert len(set(group.elements)) == n
    np.testing.assert_array_equal(table[0], np.arange(n))
    np.testing.assert_array_equal(table[:, 0], np.arange(n))
    np.testing.assert_array_equal(np.sort(table, axis=1), np.tile(np.arange(n), (n, 1)))
    np.testing.assert_array_equal(table[np.arange(n), group.inverses], np.zeros(n))
    for a in range(n):
        np.testing.assert_array_equal(table[table[a]], table[a][table])


def power(group, a, exponent):
    product = 0
    for _ in range(exponent):
        product = int(group.table[product, a])
    return product


@pytest.mark.parametrize("k", [2, 3, 5, 6])
def test_dihedral_groups_have_their_presentation(k):
    group, r, s = Dihedral(k), 1, k
    assert group.elements[r] == "r^1"
    assert group.elements[s] == "r^0s"
    assert [power(group, r, i) for i in range(k + 1)] == [*range(k), 0]
    assert power(group, s, 2) == 0
    assert group.table[group.table[s, r], s] == group.inverses[r]
    assert [group.table[i, s] for i in range(k)] == list(range(k, 2 * k))


@pytest.mark.parametrize("k", [2, 3, 4])
def test_dicyclic_groups_have_their_presentation(k):
    group, a, x = Dicyclic(k), 1, 2 * k
    assert [power(group, a, i) for i in range(2 * k + 1)] == [*range(2 * k), 0]
    assert power(group, x, 2) == power(group, a, k) == k
    assert group.table[group.table[x, a], group.inverses[x]] == group.inverses[a]
    assert [group.table[i, x] for i in range(2 * k)] == list(range(2 * k, 4 * k))


def test_quaternions_multiply_as_hamilton_wrote():
    group = Quaternion()
    number = {name: i for i, name in enumerate(group.elements)}
    rules = {"ij": "k", "jk": "i", "ki": "j", "ji": "-k", "kj": "-i", "ik": "-j", "ii": "-1"}
    for (a, b), c in rules.items():
        assert group.table[number[a], number[b]] == number[c]
    assert group.table[number["-i"], number["j"]] == number["-k"]


def test_permutations_compose_as_functions_in_lexicographic_order():
    group = Symmetric(4)
    rows = group.permutations().tolist()
    assert rows == sorted(rows)
    assert group.elements[1] == "0 1 3 2"
    for a, b in [(3, 17), (22, 5)]:
        composed = [rows[a][rows[b][x]] for x in range(4)]
        assert rows[group.table[a, b]] == composed
    signs = [np.linalg.det(np.eye(5)[row]) for row in Alternating(5).permutations()]
    np.testing.assert_allclose(signs, 1.0)
    assert Alternating(5).order == len(signs) == 60


def test_elements_of_a_product_are_numbered_by_rows():
    group = Product(Cyclic(3), Symmetric(3))
    assert group.elements[1 * 6 + 4] == "(1, 2 0 1)"
    left, right = Cyclic(3).table, Symmetric(3).table
    assert group.table[1 * 6 + 4, 2 * 6 + 3] == left[1, 2] * 6 + right[4, 3]


def test_a_group_from_a_table_is_equal_to_another_and_hashable():
    table = Dihedral(4).table
    assert from_table(table) == from_table(table.tolist())
    assert hash(from_table(table)) == hash(from_table(table.tolist()))
    np.testing.assert_array_equal(from_table(table).table, table)


def test_symmetric_8_is_a_name_without_a_table():
    assert Symmetric(8).order == 40320
    with pytest.raises(ValueError, match=r"Symmetric\(k=8\): the group has 40320 elements"):
        Symmetric(8).table  # noqa: B018


def test_importing_the_groups_computes_nothing():
    code = (
        "import elegans.tasks.groups.group as g, elegans.tasks.groups as t;"
        "t.GroupOperation(t.Symmetric(6)); assert g._table.cache_info().misses == 0"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


BROKEN = [
    ([[0, 1], [1, 2]], "the product of 1 and 1 is 2, which is not an element: elements are 0..1"),
    ([[0, 1], [1]], "row 1 has 1 products; there are 2 rows"),
    ([[0]], "has 2..2000 elements; got 1"),
    ([[1, 0], [0, 1]], "the identity comes first, and here it is element 1"),
    ([[0, 1, 2], [1, 2, 0], [0, 0, 1]], "Element 0 is not: 0 \\* 2 = 2 and 2 \\* 0 = 0"),
    ([[0, 1, 2], [1, 0, 2], [2, 1, 1]], "element 2 has no inverse"),
]


@pytest.mark.parametrize("table, message", BROKEN)
def test_tables_that_are_no_group_are_refused_with_the_elements(table, message):
    with pytest.raises(ValueError, match=message):
        from_table(table)


def test_a_loop_that_is_not_associative_is_refused_with_the_triple():
    # The smallest Latin square with identity 0 and all elements of order two that is no group.
    loop = [[0, 1, 2, 3, 4], [1, 0, 3, 4, 2], [2, 4, 0, 1, 3], [3, 2, 4, 0, 1], [4, 3, 1, 2, 0]]
    with pytest.raises(ValueError, match=r"not associative: \(1 \* 1\) \* 2 = 2, and 1 \* \(1 \*"):
        from_table(loop)


def test_bad_fields_are_refused_by_name():
    with pytest.raises(ValueError, match=r"Cyclic\(p=1\): p is the modulus, so it is 2 or more"):
        Cyclic(1)
    with pytest.raises(ValueError, match="k counts the corners"):
        Dihedral(1)
    with pytest.raises(TypeError, match=r"the product of 0 and 0 is 0\.0, not an integer"):
        from_table(np.array([[0, 1], [1, 0.5]]))
    for table in (5, None):
        with pytest.raises(TypeError, match=f"is a list of rows or an array; got {table}"):
            from_table(table)
    with pytest.raises(TypeError, match="row 1 is None, not a list of products"):
        from_table([[0, 1], None])
    with pytest.raises(ValueError, match="fraction is the share of the population"):
        GroupOperation(Cyclic(3), fraction=1.5)
    with pytest.raises(ValueError, match="so it is more than 0"):
        GroupOperation(Cyclic(3), fraction=0.0)


def test_the_population_is_every_pair_in_row_major_order():
    task = GroupOperation(Symmetric(3))
    x, y = task.population()
    assert (x.dtype, y.dtype) == (jnp.int32, jnp.int32)
    assert task.classes == 6
    assert task.labels == "class"
    np.testing.assert_array_equal(x, [(a, b) for a in range(6) for b in range(6)])
    np.testing.assert_array_equal(y, Symmetric(3).table.reshape(-1))


def test_samples_are_uniform_pairs_with_their_products():
    task = GroupOperation(Dihedral(3))
    x, y = jax.jit(lambda task, key: task.sample(key, 20_000))(task, jr.key(0))
    np.testing.assert_array_equal(y, task.group.table[x[:, 0], x[:, 1]])
    counts = np.bincount(6 * np.asarray(x[:, 0]) + np.asarray(x[:, 1]), minlength=36)
    # Hoeffding's radius for failure 1e-9 over 36 counts.
    assert np.abs(counts / 20_000 - 1 / 36).max() < np.sqrt(np.log(2 * 36 / 1e-9) / 40_000)


def test_the_fraction_is_a_traced_number_and_the_group_is_structure():
    leaves, structure = jax.tree.flatten(GroupOperation(Cyclic(5), fraction=0.3))
    assert leaves == [0.3]
    assert structure == jax.tree.structure(GroupOperation(Cyclic(5), fraction=0.7))
    assert structure != jax.tree.structure(GroupOperation(Cyclic(7), fraction=0.3))
    assert jax.tree.leaves(GroupOperation(Product(Cyclic(2), Quaternion()))) == []
