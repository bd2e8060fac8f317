"""Learners that are not SGD, with the interface of scikit-learn."""
