"""Matrix products by one thread. BLAS hands larger ones to all processors, which for products of
this size takes longer, keeps the others spinning for some 30 ms after each, and lets the last
digits of sums depend on how many processors there are.
"""

import math

import numpy as np

from retrieval_report.kernels.lists import Floats

# Up to these sizes OpenBLAS works alone: multiplications of a product of matrices, of a complex
# matrix and a vector, and terms of a sum.
MATRIX = 1 << 18
COMPLEX = 1 << 12
TERMS = 10_000
COLUMNS_AT_A_TIME = 4  # columns at a time; with fewer, threads are worth it


def product(left: Floats, right: Floats) -> Floats:
    """Return ``left @ right``, computed for as many columns at a time as one thread takes.

    >>> product(np.ones((2, 3)), np.arange(6.0).reshape(3, 2)).tolist()
    [[6.0, 9.0], [6.0, 9.0]]
    """
    step = MATRIX // max(left.size, 1)
    result = np.empty((len(left), right.shape[1]))
    if step < COLUMNS_AT_A_TIME:
        return np.matmul(left, right, out=result)
    for start in range(0, right.shape[1], step):
        columns = slice(start, start + step)
        np.matmul(left, right[:, columns], out=result[:, columns])
    return result


def dot(first: Floats, second: Floats) -> float:
    """Return the sum of the products of two vectors, the same on any number of processors.

    >>> dot(np.ones(20_001), np.ones(20_001))
    20001.0
    """
    starts = range(0, first.size, TERMS)
    return math.fsum(first[at : at + TERMS] @ second[at : at + TERMS] for at in starts)
