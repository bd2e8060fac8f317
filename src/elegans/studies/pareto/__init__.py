"""The Pareto paper: frontiers of data, width, time and luck."""
