"""Random orders of lists: the keys from which they are drawn, and room for the grades that change
between them.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from retrieval_report.kernels import shuffling
from retrieval_report.kernels.lists import Integers, Keys, Lists
from retrieval_report.scoring.arrays import keys_of


def list_keys(names: pl.DataFrame, seed: int) -> Keys:
    """Return the key from which the random orders of each list (model, query) are drawn."""
    keys = np.empty(names.height, np.uint64)
    shuffling.list_keys(
        np.uint64(int(seed) % 2**64), keys_of(names["model"]), keys_of(names["query"]), keys
    )
    return keys


def drawn_lists(ties: Lists, limit: Integers) -> Lists:
    """Lay out mixed ties slot by slot, up to the deepest cutoff; draws fill in the grades."""
    start = np.zeros(ties.start.size, np.int64)
    cells = shuffling.draw_layout(
        ties, limit, start, np.empty(0, np.int32), np.empty(0, np.int64), False
    )
    grade, count = np.empty(cells, np.int32), np.empty(cells, np.int64)
    shuffling.draw_layout(ties, limit, start, grade, count, True)
    return Lists(start, np.arange(cells + 1), grade, count)
