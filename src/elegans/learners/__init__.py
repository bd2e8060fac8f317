"""Learners that are not SGD, with the interface of scikit-learn."""

from elegans.learners.addresses import GatedNetwork as GatedNetwork
from elegans.learners.addresses import recover_gates as recover_gates
from elegans.learners.conjunctions import ConjunctionElimination as ConjunctionElimination
from elegans.learners.conjunctions import ConjunctionSearch as ConjunctionSearch
from elegans.learners.conjunctions import consistent_conjunctions as consistent_conjunctions
from elegans.learners.conjunctions import elimination_probability as elimination_probability
from elegans.learners.elimination import GaussianElimination as GaussianElimination
from elegans.learners.kushilevitz_mansour import KushilevitzMansour as KushilevitzMansour
from elegans.learners.kushilevitz_mansour import large_coefficients as large_coefficients
from elegans.learners.low_degree import LowDegreeClassifier as LowDegreeClassifier
from elegans.learners.low_degree import LowDegreeRegressor as LowDegreeRegressor
from elegans.learners.neural_tangent import NeuralTangentClassifier as NeuralTangentClassifier
from elegans.learners.neural_tangent import NeuralTangentRegressor as NeuralTangentRegressor
from elegans.learners.neural_tangent import degree_eigenvalues as degree_eigenvalues
from elegans.learners.neural_tangent import tangent_kernel as tangent_kernel
from elegans.learners.query_search import query_search as query_search
from elegans.learners.query_search import search_luck as search_luck
from elegans.learners.search import ParitySearch as ParitySearch
