"""What learning a parity costs at least: queries, samples, prescriptions of the theorems."""

from elegans.theory.resources.bounds import binary_entropy as binary_entropy
from elegans.theory.resources.bounds import check_support as check_support
from elegans.theory.resources.bounds import exponential as exponential
from elegans.theory.resources.bounds import fixed_kernel_loss as fixed_kernel_loss
from elegans.theory.resources.bounds import fixed_kernel_norm as fixed_kernel_norm
from elegans.theory.resources.bounds import multi_resource_bound as multi_resource_bound
from elegans.theory.resources.bounds import parity_queries as parity_queries
from elegans.theory.resources.bounds import query_bound as query_bound
from elegans.theory.resources.bounds import search_samples as search_samples
from elegans.theory.resources.bounds import statistical_limit as statistical_limit
from elegans.theory.resources.dense import dense_sign as dense_sign
from elegans.theory.resources.dense import good_pair_probability as good_pair_probability
from elegans.theory.resources.oracles import Population as Population
from elegans.theory.resources.oracles import StatisticalQueryOracle as StatisticalQueryOracle
from elegans.theory.resources.prescriptions import Prescription as Prescription
from elegans.theory.resources.prescriptions import good_probability as good_probability
from elegans.theory.resources.prescriptions import over_sparse as over_sparse
from elegans.theory.resources.prescriptions import readout as readout
from elegans.theory.resources.prescriptions import steps_over_log as steps_over_log
from elegans.theory.resources.prescriptions import under_sparse as under_sparse
from elegans.theory.resources.search import SearchTime as SearchTime
from elegans.theory.resources.search import lucky_chance as lucky_chance
from elegans.theory.resources.search import lucky_probability as lucky_probability
from elegans.theory.resources.search import random_search as random_search
