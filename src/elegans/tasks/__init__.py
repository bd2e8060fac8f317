"""Where examples come from: distributions with a known answer."""

from elegans.tasks.boolean import Batch as Batch
from elegans.tasks.boolean import Conjunction as Conjunction
from elegans.tasks.boolean import DisjointParity as DisjointParity
from elegans.tasks.boolean import Disjunction as Disjunction
from elegans.tasks.boolean import Junta as Junta
from elegans.tasks.boolean import Parity as Parity
from elegans.tasks.boolean import SparseMajority as SparseMajority
from elegans.tasks.sparse_networks import LearningWithRounding as LearningWithRounding
from elegans.tasks.sparse_networks import LiftedParity as LiftedParity
from elegans.tasks.sparse_networks import SparseNetwork as SparseNetwork
