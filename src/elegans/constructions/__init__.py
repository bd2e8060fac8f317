"""Weights set by hand: proofs made executable."""

from elegans.constructions.sparse_activation import gated as gated
from elegans.constructions.sparse_activation import indexing as indexing
from elegans.constructions.sparse_activation import junta as junta
from elegans.constructions.sparse_activation import (
    learning_with_rounding as learning_with_rounding,
)
from elegans.constructions.sparse_activation import lift as lift
from elegans.constructions.sparse_activation import lifted_parity as lifted_parity
from elegans.constructions.sparse_activation import network as network
