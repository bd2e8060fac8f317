"""Thesis, chapter 8: in-context learning of Markov chains."""
