"""What should happen: functions from a configuration to the number that should come out."""

from elegans.theory import fourier as fourier
from elegans.theory import frequencies as frequencies
from elegans.theory import gradients as gradients
from elegans.theory import groups as groups
from elegans.theory import induction as induction
from elegans.theory import majority as majority
from elegans.theory import markov as markov
from elegans.theory import queries as queries
from elegans.theory import sparse_activation as sparse_activation
