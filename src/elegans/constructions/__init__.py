"""Weights set by hand: proofs made executable."""
