"""Weights set by hand: proofs made executable."""

from elegans.constructions.induction import bigram_minimal as bigram_minimal
from elegans.constructions.induction import bigram_transformer as bigram_transformer
from elegans.constructions.induction import unigram_minimal as unigram_minimal
