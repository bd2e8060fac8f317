"""In-context prediction of Markov chains: strategies, the Bayes predictor, levels and probes."""

from elegans.theory.markov_bayes import bayes as bayes
from elegans.theory.markov_levels import Divergences as Divergences
from elegans.theory.markov_levels import Level as Level
from elegans.theory.markov_levels import Levels as Levels
from elegans.theory.markov_levels import expected_loss as expected_loss
from elegans.theory.markov_levels import known_sequences as known_sequences
from elegans.theory.markov_levels import levels_of as levels_of
from elegans.theory.markov_levels import true_laws as true_laws
from elegans.theory.strategies import continuations as continuations
from elegans.theory.strategies import order_of as order_of
from elegans.theory.strategies import predict as predict
