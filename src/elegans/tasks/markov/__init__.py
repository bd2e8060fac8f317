"""Sequences of Markov chains and n-grams, and the priors that their laws are drawn from."""
