"""What truncation leaves open in a list: from which position on, and which items may follow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from retrieval_report.contracts.frames import MOST_ITEMS
from retrieval_report.kernels.lists import Bools, Cells, Integers, Lists
from retrieval_report.scoring import arrays


@dataclass(frozen=True)
class Beyond:
    """What truncation leaves open in each list."""

    before: (
        Integers  # items whose position no further item can change; MOST_ITEMS if nothing is open
    )
    within: (
        Bools  # whether further items may belong to the last tie; otherwise they all come after it
    )
    pooled: Bools  # whether R counts only what the models retrieved, so that more relevant items may follow
    far: (
        Bools  # whether all further items are beyond ``distance_threshold`` and so have relevance 0
    )

    @classmethod
    def nothing(cls, lists: int) -> Beyond:
        """Return the record for lists that hold all items."""
        no = np.zeros(lists, np.bool_)
        return cls(np.full(lists, MOST_ITEMS), no, no, no)

    def __getitem__(self, which: Integers) -> Beyond:
        """Select some of the lists."""
        return Beyond(self.before[which], self.within[which], self.pooled[which], self.far[which])

    @property
    def open(self) -> Bools:
        """Return which lists were truncated."""
        return self.before < MOST_ITEMS


def difference(lists: Lists, shown: Lists) -> Cells:
    """Count, by list and grade, items of relevance above 0 that are in ``lists`` but not in
    ``shown``.

    >>> one = Lists(
    ...     np.array([0, 1]), np.array([0, 2]), np.array([2, 1], np.int32), np.array([3, 4])
    ... )
    >>> two = Lists(np.array([0, 1]), np.array([0, 1]), np.array([2], np.int32), np.array([1]))
    >>> difference(one, two)
    Cells(start=array([0, 2]), grade=array([1, 2], dtype=int32), items=array([4, 2]))
    """
    number = lists.start.size - 1
    keys, items = [], []
    for part, sign in ((lists, 1), (shown, -1)):
        owner = np.repeat(np.arange(number), np.diff(part.tie[part.start]))
        keys.append(owner << 32 | part.grade)
        items.append(part.items * sign)
    key, index = np.unique(np.concatenate(keys), return_inverse=True)
    left = np.zeros(key.size, np.int64)
    np.add.at(left, index, np.concatenate(items))
    kept = (left > 0) & (key & 0xFFFFFFFF > 0)
    owner = key[kept] >> 32
    return Cells(
        arrays.starts(owner, number), (key[kept] & 0xFFFFFFFF).astype(np.int32), left[kept]
    )
