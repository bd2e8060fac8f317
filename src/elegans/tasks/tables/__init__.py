"""Tables of real data: their loading, and training on them as a task."""
