"""NumPy and Numba only: flat arrays in, flat arrays out, one kernel per family of metrics."""
