"""Thesis, chapter 5: hidden progress."""
