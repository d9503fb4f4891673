"""What both sample makers share: bfloat16, a depth cut that keeps ties whole, writing a folder
whole.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


def round_to_bfloat16(values: NDArray[np.floating]) -> NDArray[np.float32]:
    """Round to the nearest bfloat16 (8 significant bits, halves to even) and return it as float32.

    NumPy has no bfloat16; it is the upper half of a float32, so the lower 16 bits are rounded away.

    >>> round_to_bfloat16(np.array([1.0, 0.7, 0.9999])).tolist()
    [1.0, 0.69921875, 1.0]
    """
    bits = values.astype(np.float32).view(np.uint32)
    bits = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    return (bits & np.uint32(0xFFFF0000)).view(np.float32)


def nearest_with_whole_ties(distances: NDArray[np.generic], depth: int) -> NDArray[np.intp]:
    """Return the positions of the `depth` nearest items and of everything tied with the last of
    them.

    The order is the one an evaluator's stable argsort gives: by distance, then by position.

    >>> nearest_with_whole_ties(np.array([2, 1, 3, 2, 1, 2]), depth=3).tolist()
    [1, 4, 0, 3, 5]
    """
    order = np.argsort(distances, kind="stable")
    if len(order) <= depth:
        return order
    farthest_kept = distances[order[depth - 1]]
    return order[: np.searchsorted(distances[order], farthest_kept, side="right")]


@contextmanager
def replaced_folder(target: Path) -> Iterator[Path]:
    """Give an empty folder to fill; it takes the place of `target` when the block ends without an
    error.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{target.name}-", suffix=".tmp", dir=target.parent))
    try:
        new, old = work / "new", work / "old"
        new.mkdir()
        yield new
        if target.exists():
            target.replace(old)
        try:
            new.replace(target)
        except BaseException:
            if old.exists():
                old.replace(target)
            raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
