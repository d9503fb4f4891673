"""Properties of every metric on every engine of this machine: what should not matter changes no
bit. In memory, each change is tried alone in `test_properties.py`.
"""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from properties import exact, lists
from retrieval_report import count_ties

CUTOFFS = [1, 3, None]
BY = ["model", "query", "metric", "cutoff", "policy"]
Engine = Callable[[pl.DataFrame, Path], pl.DataFrame]


def by_files(frame: pl.DataFrame, folder: Path) -> pl.DataFrame:
    """Parquet in several files and row groups, one part in memory at a time."""
    for number in range(3):
        part = frame[number * frame.height // 3 : (number + 1) * frame.height // 3]
        part.write_parquet(folder / f"{number}.parquet", row_group_size=37)
    return exact([str(folder / f"{number}.parquet") for number in range(3)], cutoffs=CUTOFFS)


ENGINES: dict[str, Engine] = {
    "lazy": lambda frame, _: exact(frame.lazy(), cutoffs=CUTOFFS),
    "files": by_files,
    "counts": lambda frame, _: exact(count_ties(frame), cutoffs=CUTOFFS),
}
DISTANCE = pl.col("distance")


@pytest.mark.parametrize("engine", ENGINES)
def test_property_01_what_does_not_matter_changes_no_bit(engine: str, tmp_path: Path):
    frame = lists(21, queries=60)
    mixed = frame.sample(fraction=1, shuffle=True, seed=8)
    wanted = exact(frame, cutoffs=CUTOFFS).sort(BY, nulls_last=True)
    for other in (
        pl.concat([mixed[:7], mixed[7:200], mixed[200:]], rechunk=False).with_columns(
            DISTANCE.cast(pl.UInt8), pl.col("relevance").cast(pl.Float64), pl.col("item").hash()
        ),
        frame.with_columns(score=1 / (1 + DISTANCE)).drop("distance"),
        frame.with_columns(distance=DISTANCE.exp() * 1e-200),
    ):
        found = ENGINES[engine](other, tmp_path)
        assert_frame_equal(found.sort(BY, nulls_last=True), wanted, check_exact=True)
