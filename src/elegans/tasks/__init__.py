"""Where examples come from: distributions with a known answer, and tables of real data."""

from elegans.tasks import groups as groups
from elegans.tasks.boolean import Batch as Batch
from elegans.tasks.boolean import Conjunction as Conjunction
from elegans.tasks.boolean import DisjointParity as DisjointParity
from elegans.tasks.boolean import Disjunction as Disjunction
from elegans.tasks.boolean import Junta as Junta
from elegans.tasks.boolean import Parity as Parity
from elegans.tasks.boolean import SparseMajority as SparseMajority
from elegans.tasks.groups import GroupOperation as GroupOperation
from elegans.tasks.markov.chains import MarkovChains as MarkovChains
from elegans.tasks.markov.chains import NGrams as NGrams
from elegans.tasks.markov.priors import Dirichlet as Dirichlet
from elegans.tasks.markov.priors import DoublyStochastic as DoublyStochastic
from elegans.tasks.markov.priors import IidUnigram as IidUnigram
from elegans.tasks.markov.priors import Mixture as Mixture
from elegans.tasks.sparse_networks import LearningWithRounding as LearningWithRounding
from elegans.tasks.sparse_networks import LiftedParity as LiftedParity
from elegans.tasks.sparse_networks import SparseNetwork as SparseNetwork
from elegans.tasks.tables import tabular as tabular
from elegans.tasks.tables.tabular import Tabular as Tabular
from elegans.tasks.unique_conjunction import UniqueConjunction as UniqueConjunction
