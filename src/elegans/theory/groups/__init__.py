"""Finite groups."""
