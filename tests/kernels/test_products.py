"""Products and sums have the same digits whatever number of threads BLAS has."""

import os
import subprocess
import sys

import numpy as np

from retrieval_report.kernels.products import product

SUM = """
import numpy as np
from retrieval_report.kernels.products import dot
print([dot(*np.random.default_rng(seed).random((2, 50_001))).hex() for seed in range(20)])
"""


def test_a_sum_has_the_same_bits_on_any_number_of_processors():
    sums = {
        subprocess.check_output(
            [sys.executable, "-c", SUM], env={**os.environ, "OPENBLAS_NUM_THREADS": threads}
        )
        for threads in "124"
    }
    assert len(sums) == 1


def test_columns_are_multiplied_in_parts_and_all_of_them():
    generator = np.random.default_rng(0)
    for shape in ((1, 1), (13, 200), (1_000, 50), (600, 500)):  # the last is multiplied as a whole
        left = generator.integers(-9, 9, shape).astype(np.float64)
        right = generator.integers(-9, 9, (333, shape[1])).astype(np.float64).T
        assert (product(left, right) == left @ right).all()
    assert product(np.ones((0, 3)), np.ones((3, 2))).shape == (0, 2)
