"""Sparsely activated networks: their class, their sensitivity, the samples they need."""

from elegans.theory.sparse_activation.activity import activity_bound as activity_bound
from elegans.theory.sparse_activation.activity import activity_degree as activity_degree
from elegans.theory.sparse_activation.networks import Membership as Membership
from elegans.theory.sparse_activation.networks import TwoLayers as TwoLayers
from elegans.theory.sparse_activation.networks import active as active
from elegans.theory.sparse_activation.networks import degree_bound as degree_bound
from elegans.theory.sparse_activation.networks import halfspace_sensitivity as halfspace_sensitivity
from elegans.theory.sparse_activation.networks import lipschitz_degree as lipschitz_degree
from elegans.theory.sparse_activation.networks import lipschitz_noise as lipschitz_noise
from elegans.theory.sparse_activation.networks import lipschitz_sensitivity as lipschitz_sensitivity
from elegans.theory.sparse_activation.networks import (
    log_low_degree_samples as log_low_degree_samples,
)
from elegans.theory.sparse_activation.networks import membership as membership
from elegans.theory.sparse_activation.networks import neurons as neurons
from elegans.theory.sparse_activation.networks import noise_bound as noise_bound
from elegans.theory.sparse_activation.networks import sensitivity_bound as sensitivity_bound
from elegans.theory.sparse_activation.rademacher import best_direction as best_direction
from elegans.theory.sparse_activation.rademacher import (
    conjectured_rademacher as conjectured_rademacher,
)
from elegans.theory.sparse_activation.rademacher import correlated_network as correlated_network
from elegans.theory.sparse_activation.rademacher import dense_rademacher as dense_rademacher
from elegans.theory.sparse_activation.rademacher import gated_part as gated_part
from elegans.theory.sparse_activation.rademacher import rademacher_lower as rademacher_lower
from elegans.theory.sparse_activation.rademacher import sample_size as sample_size
from elegans.theory.sparse_activation.rademacher import sparse_rademacher as sparse_rademacher
