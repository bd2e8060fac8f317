"""Transformers, and how causal attention is computed."""
