"""Sparsely activated networks: what theory says, and what is measured."""
