"""What should happen: functions from a configuration to the number that should come out."""

from elegans.theory import boolean as boolean
from elegans.theory import capacity as capacity
from elegans.theory import groups as groups
from elegans.theory import markov as markov
from elegans.theory import resources as resources
from elegans.theory import sparse_activation as sparse_activation
