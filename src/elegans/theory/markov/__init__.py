"""In-context prediction of Markov chains: strategies, the Bayes predictor, levels."""

from elegans.theory.markov import frequencies as frequencies
from elegans.theory.markov import induction as induction
from elegans.theory.markov.bayes_predictor import bayes as bayes
from elegans.theory.markov.levels import Levels as Levels
from elegans.theory.markov.levels import expected_loss as expected_loss
from elegans.theory.markov.levels import known_sequences as known_sequences
from elegans.theory.markov.levels import levels_of as levels_of
from elegans.theory.markov.levels import true_laws as true_laws
from elegans.theory.markov.strategies import continuations as continuations
from elegans.theory.markov.strategies import order_of as order_of
from elegans.theory.markov.strategies import predict as predict
