"""Variable creation (thesis, chapter 4): transformers select sparse variables."""
