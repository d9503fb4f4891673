"""Characteristic functions of sums of independent scores: E exp(i·t·sum) at t = step, 2·step, …"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels.compile import kernel
from retrieval_report.kernels.lists import Floats, Integers

__all__ = ["NEGLIGIBLE", "multiply_characteristics"]

NEGLIGIBLE = 1e-10  # a factor is at most 1 in size, so a product this small stays that small


@kernel
def multiply_characteristics(
    value: Floats, chance: Floats, start: Integers, step: float, product: NDArray[np.complex128]
) -> None:
    """Multiply ``product`` by the characteristic function of each part; entry n is at t = n·step.

    Part p has the values ``start[p]`` … ``start[p + 1]`` − 1. Once all entries from one on are negligible they are
    left alone: what is there is an upper bound of their size up to ``NEGLIGIBLE``.
    """
    last = product.size
    factor = np.empty(product.size, np.complex128)
    for part in range(start.size - 1):
        while last > 1 and abs(product[last - 1]) < NEGLIGIBLE:
            last -= 1
        factor[:last] = 0.0
        for atom in range(start[part], start[part + 1]):
            turn = np.exp(1j * step * value[atom])
            here = complex(chance[atom])
            for n in range(last):
                if n % 1024 == 0:  # afresh, so that roundings do not pile up
                    here = chance[atom] * np.exp(1j * (step * n * value[atom]))
                factor[n] += here
                here *= turn
        for n in range(last):
            product[n] *= factor[n]
