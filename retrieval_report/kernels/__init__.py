"""Compiled kernels on flat arrays, one per family of metrics; they use NumPy and Numba only."""
