"""Random orders of lists: the keys from which they are drawn, and room for the grades that change between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from retrieval_report.kernels import shuffling
from retrieval_report.kernels.lists import Integers, Lists
from retrieval_report.scoring.arrays import keys_of
from retrieval_report.scoring.layout import Prepared


def list_keys(prepared: Prepared, seed: int) -> NDArray[np.uint64]:
    """Return the key from which the random orders of each list are drawn."""
    keys = np.empty(prepared.names.height, np.uint64)
    names = prepared.names
    shuffling.list_keys(np.uint64(int(seed) % 2**64), keys_of(names["model"]), keys_of(names["query"]), keys)
    return keys


def drawn_lists(ties: Lists, limit: Integers) -> Lists:
    """Lay out lists to be drawn: a tie of one grade stays one cell, a mixed tie gets one cell per slot up to ``limit``.

    Only the grades of the slots change between draws, which fill them in.
    """
    ends = np.concatenate([[0], np.cumsum(ties.items)])[ties.tie]
    size, mixed = np.diff(ends), np.diff(ties.tie) > 1
    left = np.repeat(limit + ends[ties.start[:-1]], np.diff(ties.start)) - ends[:-1]  # ranks from a tie on to the limit
    cells = np.where(left > 0, np.where(mixed, np.minimum(size, left), 1), 0)
    start = np.concatenate([[0], np.cumsum(cells)])
    grade, items = ties.grade[ties.tie[:-1]], np.where(mixed, 1, size)
    return Lists(start[ties.start], np.arange(start[-1] + 1), np.repeat(grade, cells), np.repeat(items, cells))
