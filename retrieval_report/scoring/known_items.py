"""Look up the relevance of every row in the judgements if there are any, else in the rankings."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from retrieval_report.contracts.checks import refuse, warn_unmatched
from retrieval_report.kernels import hash_join
from retrieval_report.kernels.lists import Keys, Places, Rows, frozen
from retrieval_report.reading.ids import in_kind_of
from retrieval_report.scoring import arrays

KEYS = ["model", "query"]
UNJUDGED_HINT = "; unjudged='non_relevant' or 'drop' in evaluate decides what to do with them"


class Located(NamedTuple):
    """Rows with their lists, and a 64-bit key for every item."""

    names: pl.DataFrame  # the keys of the lists, sorted
    rows: Rows
    items: Keys | None  # None for counts

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Located:
        """Find the lists of a frame."""
        names, rows = arrays.locate(frame, [key for key in KEYS if key in frame.columns])
        return cls(names, rows, arrays.id_keys(frame["item"]) if "item" in frame.columns else None)


def judged_rows(
    rows: pl.DataFrame,
    located: Located,
    judgements: pl.DataFrame,
    workers: int,
    *,
    unjudged: int | None = None,
    part: bool = False,
) -> pl.DataFrame:
    """Return the rows with their judged relevance, or ``unjudged`` where there is no judgement.

    Ids have the same types in both frames. If the rows already have a relevance, it must agree.
    """
    found = _find(rows, located, judgements, workers)
    hits = np.flatnonzero(found != 0)
    if not part:  # other parts may have judged items
        warn_unmatched(rows, hits.size, judgements)
    said = judgements["relevance"].gather(found[hits] - 1)
    if "relevance" in rows.columns:
        narrow = pl.Float32 if pl.Float32 in (rows.schema["relevance"], said.dtype) else pl.Float64
        differ = pl.col("relevance").cast(narrow) != pl.col("judged").cast(narrow)
        joined = rows.with_columns(
            said.clear().extend_constant(None, rows.height).scatter(hits, said).alias("judged")
        )
        refuse(
            joined,
            differ,
            "relevance",
            "differ from the judgements",
            "; drop the column to use the judgements",
        )
    relevance = pl.repeat(unjudged, rows.height, dtype=said.dtype, eager=True).scatter(hits, said)
    return rows.drop("relevance", strict=False).with_columns(relevance.alias("relevance"))


def _find(rows: pl.DataFrame, located: Located, judgements: pl.DataFrame, workers: int) -> Places:
    """Return the row of each row's judgement, counted from 1, or 0 if there is none."""
    found = _probe(rows, located, judgements, workers)
    if found is not None:
        return found
    numbered = judgements.select("query", "item").with_row_index(
        "judgement", 1
    )  # 128 bits, or two texts of one hash
    joined = rows.join(numbered, on=["query", "item"], how="left", maintain_order="left")
    return joined["judgement"].fill_null(0).to_numpy()


def _probe(
    rows: pl.DataFrame, located: Located, judgements: pl.DataFrame, workers: int
) -> Places | None:
    """Return each row's judgement + 1, or 0, found by item keys; None if the keys collide."""
    items, dtype = located.items, rows.schema["item"]
    if items is None or dtype in (pl.Int128, pl.UInt128):
        return None
    theirs = Located.of(judgements.select("query", "item"))
    joined = located.names.join(
        theirs.names.with_row_index("list"), on="query", how="left", maintain_order="left"
    )
    judged = frozen(joined["list"].cast(pl.Int64).fill_null(-1).to_numpy())
    found = np.empty(rows.height, np.uint32)
    keys = theirs.items
    assert keys is not None

    listed, judgements_of = (
        hash_join.ItemRows(located.rows, items),
        hash_join.ItemRows(theirs.rows, keys),
    )

    def task(first: int, last: int) -> bool:
        return hash_join.find_judgements(first, last, listed, judged, judgements_of, found)

    if not all(arrays.over_ranges(task, located.rows.work, workers)):
        return None
    hits = np.flatnonzero(found != 0)
    same = (
        dtype != pl.String
        or (rows["item"].gather(hits) == judgements["item"].gather(found[hits] - 1)).all()
    )
    return found if same else None


def settle_nulls(rows: pl.DataFrame, rule: str) -> pl.DataFrame:
    """Refuse rows without relevance, count them as not relevant, or drop them."""
    if rows["relevance"].null_count() == 0:
        return rows
    if rule == "error":
        refuse(rows, pl.col("relevance").is_null(), "relevance", "null or NaN", UNJUDGED_HINT)
    if rule == "drop":
        return rows.filter(pl.col("relevance").is_not_null())
    return rows.with_columns(pl.col("relevance").fill_null(0))


def of_one_width(
    left: pl.DataFrame, right: pl.DataFrame, key: str, other: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return both frames with ids of one type; whole numbers of different widths get a type that
    holds both.
    """
    right = right.with_columns(in_kind_of(left[key], right[key], "rankings", other))
    one, two = left.schema[key], right.schema[key]
    if one == two:
        return left, right
    wide = {pl.UInt64, pl.Int128, pl.UInt128} & {one, two}
    fits = left[key].cast(pl.Int128).max(), right[key].cast(pl.Int128).max()
    small = not wide or all(value is None or value < 2**63 for value in fits)  # type: ignore[operator]
    dtype = pl.Int64 if small else pl.Int128
    return left.with_columns(pl.col(key).cast(dtype)), right.with_columns(pl.col(key).cast(dtype))
