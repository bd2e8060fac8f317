"""Weights set by hand: proofs made executable."""

from elegans.constructions import groups as groups
from elegans.constructions.dual_keys import coherence as coherence
from elegans.constructions.groups import max_margin as max_margin
from elegans.constructions.induction import bigram_minimal as bigram_minimal
from elegans.constructions.induction import bigram_transformer as bigram_transformer
from elegans.constructions.induction import unigram_minimal as unigram_minimal
from elegans.constructions.memoriser import memoriser as memoriser
from elegans.constructions.one_sparse import gated as gated
from elegans.constructions.one_sparse import indexing as indexing
from elegans.constructions.one_sparse import junta as junta
from elegans.constructions.one_sparse import (
    learning_with_rounding as learning_with_rounding,
)
from elegans.constructions.one_sparse import lift as lift
from elegans.constructions.one_sparse import lifted_parity as lifted_parity
from elegans.constructions.one_sparse import network as network
from elegans.constructions.parity import parity_mlp as parity_mlp
from elegans.constructions.parity import sensitive_parity as sensitive_parity
from elegans.constructions.selection import selection_head as selection_head
from elegans.constructions.selection import selection_heads as selection_heads
from elegans.constructions.transformers import junta_transformer as junta_transformer
from elegans.constructions.transformers import symmetric_transformer as symmetric_transformer
