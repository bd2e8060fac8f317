"""The engine: from a task, a model and a recipe to a trained network and its record."""
