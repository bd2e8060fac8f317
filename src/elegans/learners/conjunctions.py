r"""Conjunctions of few of many bits: by exhaustive search, and by elimination.

Both learners read bits that are $\pm 1$ (with $-1$ for "true") or 0/1, and labels likewise.

* `ConjunctionSearch` tries all $\binom{T}{s}$ supports. It takes any function of $s$ bits in the
  place of the conjunction (`learners.supports` has the errors of all supports).
* `ConjunctionElimination` (Valiant, 1984) keeps the literals that are true in every positive
  example. It looks at each bit alone, and pays for that in samples: about twice as many.

With bits that are true with probability $p$, a positive example leaves an irrelevant bit with
probability $p$, independently of all others. `elimination_probability` is therefore exact.
"""

import numpy as np
from jaxtyping import Bool
from scipy.stats import binom
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from elegans import checks
from elegans.learners.bits import is_zero_one, label_bits, pack_columns, true_bits
from elegans.learners.supports import distinct_orders, error_blocks, reorder, truth_table


def elimination_probability(T: int, s: int, m: int, p: float) -> float:
    r"""The probability that elimination returns exactly the `s` relevant of `T` bits.

    $\sum_j \binom mj q^j (1-q)^{m-j} (1 - p^j)^{T-s}$, where $q = p^s$ is the share of positive
    examples: each of the $T - s$ other bits has to be false in one of $j$ positives.
    """
    owner = f"elimination_probability(T={T}, s={s}, m={m}, p={p:g})"
    checks.whole(owner, "T", T, low=1, what="counts the bits")
    checks.whole(owner, "s", s, low=0, high=T, what="counts relevant bits")
    checks.whole(owner, "m", m, low=0, what="counts the examples")
    checks.number(owner, "p", p, low=0.0, high=1.0, what="is the probability of a true bit")
    positives = np.arange(m + 1)
    success = (1.0 - float(p) ** positives) ** (T - s)
    return float(binom.pmf(positives, m, float(p) ** s) @ success)


class SparseBitClassifier(ClassifierMixin, BaseEstimator):
    """Validation that learners of functions of a few bits share."""

    def _bits(
        self, X: object, y: object
    ) -> tuple[Bool[np.ndarray, "rows n"], Bool[np.ndarray, " rows"]]:
        """Validates the data, sets what `predict` needs, and returns which bits are true."""
        owner = type(self).__name__
        x, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        classes = np.unique(labels)
        if len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported: {owner} learns a function with two "
                f"values; y has {len(classes)} classes."
            )
        if len(classes) < 2 and classes[0] not in (-1, 1):
            raise ValueError(
                f"{owner}: y has one class, {classes[0]}, and nothing says whether it is true. "
                "Two classes are needed, unless labels are -1 (true) or 1 (false)."
            )
        self.false_true_, is_true = label_bits(owner, labels)
        self.zero_one_ = is_zero_one(x)
        bits = true_bits(owner, x, self.zero_one_)
        self.classes_ = np.unique(self.false_true_)
        return bits, is_true

    def _checked_bits(self, X: object) -> Bool[np.ndarray, "rows n"]:
        """Which bits of new rows are true."""
        check_is_fitted(self)
        x = validate_data(self, X, reset=False, dtype=np.float64)
        return true_bits(type(self).__name__, x, self.zero_one_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class ConjunctionSearch(SparseBitClassifier):
    r"""The conjunction (or another function) of `s` bits with the fewest errors on the data.

    Time: $\binom Ts m / 64$ word operations, times the number of different functions that
    reordering the bits of the function gives. Samples: those of information, about
    $\log_2 \binom Ts$ times a small constant.

    Parameters
    ----------
    s : int
        Number of relevant bits.
    function : {"and", "or", "parity", "majority"} or sequence of int
        What is computed from the relevant bits: a name, or the table of a `tasks.Junta`.

    Attributes
    ----------
    support_ : tuple of int
        The relevant bits, in the order in which the function takes them.
    error_ : float
        The fraction of training labels that are wrong.
    n_best_ : int
        How many hypotheses have this error: above one, there are too few data.
    n_searched_ : int
        How many hypotheses were tried.
    """

    @checks.stores_anything
    def __init__(self, s: int = 2, *, function: object = "and") -> None:
        self.s = s
        self.function = function

    def fit(self, X: object, y: object) -> "ConjunctionSearch":
        """Finds the support with the least error."""
        x, labels = self._bits(X, y)
        rows, n = x.shape
        checks.whole(self, "s", self.s, low=1, high=n, what="counts relevant bits of the input")
        self.table_ = truth_table(self, self.function, self.s)
        columns, target = pack_columns(x), pack_columns(labels[:, None])[0]
        best, self.n_best_, self.n_searched_ = rows + 1, 0, 0
        for order in distinct_orders(self.table_):
            # Bit i of the function is the order[i]-th smallest position of the support.
            reordered = reorder(self.table_, order)
            for prefix, first, errors in error_blocks(columns, target, reordered, rows):
                self.n_searched_ += errors.size
                least = int(errors.min())
                if least < best:
                    sorted_support = (*prefix, first + int(errors.argmin()))
                    self.support_ = tuple(sorted_support[i] for i in order)
                    best, self.n_best_ = least, 0
                if least == best:
                    self.n_best_ += int((errors == best).sum())
        self.error_ = best / rows
        return self

    def predict(self, X: object) -> np.ndarray:
        """The class of each row of `X`."""
        bits = self._checked_bits(X)[:, list(self.support_)]
        return self.false_true_[self.table_[bits @ 2 ** np.arange(self.s)].astype(int)]


class ConjunctionElimination(SparseBitClassifier):
    """The conjunction of all literals that are true in every positive example.

    Without a positive example that is the conjunction of all literals. Time: one pass over the
    data. A single false positive label ruins the result.

    Parameters
    ----------
    negations : bool
        Whether negated bits are literals as well.

    Attributes
    ----------
    support_ : tuple of int
        The bits of the conjunction.
    negated_ : tuple of int
        The bits whose negation is in the conjunction.
    error_ : float
        The fraction of training labels that are wrong: 0 if a conjunction fits the data.
    """

    @checks.stores_anything
    def __init__(self, *, negations: bool = False) -> None:
        self.negations = negations

    def fit(self, X: object, y: object) -> "ConjunctionElimination":
        """Eliminates the literals that are false in a positive example."""
        x, labels = self._bits(X, y)
        self.support_ = tuple(np.flatnonzero(x[labels].all(axis=0)).tolist())
        never = ~x[labels].any(axis=0) if self.negations else np.zeros(x.shape[1], dtype=bool)
        self.negated_ = tuple(np.flatnonzero(never).tolist())
        self.error_ = float(np.mean(self._value(x) != labels))
        return self

    def predict(self, X: object) -> np.ndarray:
        """The class of each row of `X`."""
        is_true = self._value(self._checked_bits(X))
        return self.false_true_[is_true.astype(int)]

    def _value(self, x: Bool[np.ndarray, "rows n"]) -> Bool[np.ndarray, " rows"]:
        """The conjunction at each row."""
        positive, negative = x[:, list(self.support_)], x[:, list(self.negated_)]
        return np.asarray(positive.all(axis=1) & ~negative.any(axis=1))


def consistent_conjunctions(
    x: Bool[np.ndarray, "rows n"], labels: Bool[np.ndarray, " rows"], s: int
) -> list[tuple[int, ...]]:
    """All sets of `s` bits whose conjunction fits every label, in lexicographic order.

    A bit of such a set is true in every positive example, so that only what elimination leaves
    has to be searched: this is how training sets with more than one answer are recognised.
    """
    candidates = np.flatnonzero(x[labels].all(axis=0))
    if len(candidates) < s:
        return []
    columns, target = pack_columns(x[:, candidates]), pack_columns(labels[:, None])[0]
    table = truth_table("consistent_conjunctions", "and", s)
    return [
        tuple(int(candidates[i]) for i in (*prefix, first + int(place)))
        for prefix, first, errors in error_blocks(columns, target, table, len(x))
        for place in np.flatnonzero(errors == 0)
    ]
