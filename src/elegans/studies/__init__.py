"""The figures and tables of the documents, by name, with the claims that each one checks."""
