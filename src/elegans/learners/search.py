r"""Exhaustive search for a sparse parity, over all $\binom{n}{k}$ supports.

The training error of a support is the number of ones in the exclusive or of its columns and the
labels, 64 examples to a word. Supports are visited as a prefix of all but the last two bits, and
a table of the columns of all pairs: what remains for a prefix is one block of that table.
"""

import itertools
from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool, UInt64
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from elegans import checks
from elegans.learners.bits import is_zero_one, label_bits, pack_columns, true_bits

# The checks of scikit-learn that fit real features, which a learner of parities refuses. It passes
# all others; LowDegreeClassifier passes them all.
FED_REAL_FEATURES = (
    "check_classifier_data_not_an_array",
    "check_classifiers_classes",
    "check_classifiers_one_label",
    "check_classifiers_train",
    "check_dict_unchanged",
    "check_dont_overwrite_parameters",
    "check_dtype_object",
    "check_estimators_dtypes",
    "check_estimators_fit_returns_self",
    "check_estimators_nan_inf",
    "check_estimators_overwrite_params",
    "check_estimators_pickle",
    "check_f_contiguous_array_estimator",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit2d_predict1d",
    "check_fit_check_is_fitted",
    "check_fit_idempotent",
    "check_fit_score_takes_y",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_n_features_in",
    "check_n_features_in_after_fitting",
    "check_pipeline_consistency",
    "check_positive_only_tag_during_fit",
    "check_readonly_memmap_input",
    "check_supervised_y_2d",
)
PAIRS_MAX = 2**25  # words of the table of pairs: 256 MB


class ParityClassifier(ClassifierMixin, BaseEstimator):
    """What the learners of parities share: bits in, a parity of `support_` out."""

    def predict(self, X: object) -> np.ndarray:
        """The class of each row of `X`."""
        check_is_fitted(self)
        x = validate_data(self, X, reset=False, dtype=np.float64)
        bits = true_bits(type(self).__name__, x, self.zero_one_)[:, list(self.support_)]
        odd = np.bitwise_xor.reduce(bits, axis=1) ^ self.negated_
        return self.false_true_[odd.astype(int)]

    def _bits(
        self, X: object, y: object
    ) -> tuple[Bool[np.ndarray, "rows n"], Bool[np.ndarray, " rows"]]:
        """Validates the data, sets what `predict` needs, and returns which bits are true."""
        x, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.false_true_, is_true = label_bits(type(self).__name__, labels)
        self.zero_one_ = is_zero_one(x)
        bits = true_bits(type(self).__name__, x, self.zero_one_)
        self.classes_ = np.unique(self.false_true_)
        self.negated_ = False
        return bits, is_true

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class ParitySearch(ParityClassifier):
    r"""The parity of `k` bits with the fewest errors on the training data.

    Time: $\binom{n}{k} m / 64$ word operations, half of that on average with an early stop.
    Samples: $\log_2 \binom{n}{k}$ and a little more (`theory.queries.search_samples`), the least
    that any learner needs. Noise: any rate below one half, with $(1 - H(\text{rate}))^{-1}$ times
    as many samples.

    Parameters
    ----------
    k : int
        Number of relevant bits.
    order : {"lexicographic", "random"}
        In which order supports are tried. The random order is lexicographic in a random order of
        the bits, in which the place of every support is uniform.
    stop_error : float or None
        Stop at the first support whose training error is at most this; None tries them all.
    signed : bool
        Whether the negation of a parity may be learned as well.
    random_state : int, RandomState or None
        Of the random order.

    Attributes
    ----------
    support_ : tuple of int
        The relevant bits found.
    error_ : float
        The fraction of training labels that the parity of `support_` gets wrong.
    n_best_ : int
        How many of the supports that were tried have this error: above one, they are too few data.
    n_searched_ : int
        How many supports were tried.
    """

    @checks.stores_anything
    def __init__(
        self,
        k: int = 2,
        *,
        order: str = "lexicographic",
        stop_error: float | None = None,
        signed: bool = False,
        random_state: object = None,
    ) -> None:
        self.k = k
        self.order = order
        self.stop_error = stop_error
        self.signed = signed
        self.random_state = random_state

    def fit(self, X: object, y: object) -> "ParitySearch":
        """Finds the support with the least error."""
        x, labels = self._bits(X, y)
        rows, n = x.shape
        checks.whole(self, "k", self.k, low=1, high=n, what="counts relevant bits of the input")
        checks.choice(self, "order", self.order, ["lexicographic", "random"])
        columns = np.arange(n)
        if self.order == "random":
            columns = check_random_state(self.random_state).permutation(n)
        packed = pack_columns(x[:, columns])
        target = pack_columns(labels[:, None])[0]
        stop = -1 if self.stop_error is None else int(self.stop_error * rows)
        best, self.n_best_, self.n_searched_ = rows + 1, 0, 0
        found: tuple[int, ...] = ()
        negated = False
        for prefix, tails, errors in error_blocks(packed, target, self.k):
            folded = np.minimum(errors, rows - errors) if self.signed else errors
            hits = np.flatnonzero(folded <= stop)
            if hits.size:
                folded = folded[: hits[0] + 1]
            self.n_searched_ += folded.size
            least = int(folded.min())
            if least < best:
                place = int(folded.argmin())
                best, found, self.n_best_ = least, (*prefix, *tails[place].tolist()), 0
                negated = bool(errors[place] != least)
            self.n_best_ += int((folded == best).sum())
            if hits.size:
                break
        self.support_ = tuple(sorted(int(columns[i]) for i in found))
        self.negated_ = negated
        self.error_ = best / rows
        return self


def error_blocks(
    columns: UInt64[np.ndarray, "n words"], target: UInt64[np.ndarray, " words"], k: int
) -> Iterator[tuple[tuple[int, ...], np.ndarray, np.ndarray]]:
    """The errors of all supports of size `k` in lexicographic order, block by block.

    Each block has a prefix, the rest of each support, and the number of errors of each.
    """
    n, words = columns.shape
    paired = k >= 3 and n * (n - 1) // 2 * words <= PAIRS_MAX
    if paired:
        first, second = np.triu_indices(n, 1)
        table = (columns[first] ^ columns[second]).T.copy()  # words in rows: sums run along them
        tails = np.stack([first, second], axis=1)
    else:
        table, tails = columns.T.copy(), np.arange(n)[:, None]
    starts = np.searchsorted(tails[:, 0], np.arange(n + 1))
    for prefix in itertools.combinations(range(n), k - tails.shape[1]):
        start = starts[prefix[-1] + 1] if prefix else 0
        if start == len(tails):
            continue
        word = np.bitwise_xor.reduce(columns[list(prefix)], axis=0) ^ target
        counts = np.bitwise_count(table[:, start:] ^ word[:, None])
        yield prefix, tails[start:], counts.sum(axis=0, dtype=np.int64)
