"""Properties of every metric on every engine of this machine: what should not matter changes no
bit.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from properties import exact, lists
from retrieval_report import count_ties

CUTOFFS = [1, 3, None]
KEYS = ["model", "query"]
Engine = Callable[[pl.DataFrame, Path], pl.DataFrame]


def by_files(frame: pl.DataFrame, folder: Path) -> pl.DataFrame:
    """Parquet in several files and row groups, one part in memory at a time."""
    for number in range(3):
        part = frame[number * frame.height // 3 : (number + 1) * frame.height // 3]
        part.write_parquet(folder / f"{number}.parquet", row_group_size=37)
    return exact([str(folder / f"{number}.parquet") for number in range(3)], cutoffs=CUTOFFS)


ENGINES: dict[str, Engine] = {
    "memory": lambda frame, _: exact(frame, cutoffs=CUTOFFS),
    "lazy": lambda frame, _: exact(frame.lazy(), cutoffs=CUTOFFS),
    "files": by_files,
    "counts": lambda frame, _: exact(count_ties(frame), cutoffs=CUTOFFS),
}
DISTANCE = pl.col("distance")
WITHOUT_EFFECT: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "as it is": lambda frame: frame,
    "row order": lambda frame: frame.sample(fraction=1, shuffle=True, seed=8),
    "chunks": lambda frame: pl.concat([frame[:7], frame[7:200], frame[200:]], rechunk=False),
    "ids": lambda frame: frame.with_columns(item=pl.col("item").hash()),
    "rising distances": lambda frame: frame.with_columns(distance=DISTANCE.exp() * 1e-200),
    "scores": lambda frame: frame.with_columns(score=1 / (1 + DISTANCE)).drop("distance"),
    "types": lambda frame: frame.with_columns(
        DISTANCE.cast(pl.UInt8), pl.col("relevance").cast(pl.Float64)
    ),
}


@pytest.fixture(scope="module")
def rankings() -> pl.DataFrame:
    return lists(21, queries=60)


@pytest.mark.parametrize("change", WITHOUT_EFFECT)
@pytest.mark.parametrize("engine", ENGINES)
def test_property_01_what_does_not_matter_changes_no_bit(
    rankings: pl.DataFrame, engine: str, change: str, tmp_path: Path
) -> None:
    changed = ENGINES[engine](WITHOUT_EFFECT[change](rankings), tmp_path)
    by = [*KEYS, "metric", "cutoff", "policy"]
    found, wanted = (
        frame.sort(by, nulls_last=True) for frame in (changed, exact(rankings, cutoffs=CUTOFFS))
    )
    assert_frame_equal(found, wanted, check_exact=True)
