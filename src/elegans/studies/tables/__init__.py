"""Wide and sparse networks on tables of real data."""
