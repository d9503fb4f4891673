"""Pairs that are counted separately: judged ones, and queries that are items themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.codes.counting import CELLS, Items, Task
from retrieval_report.contracts.errors import DataError, KeyMismatchError, ParameterError
from retrieval_report.contracts.frames import check_judgements
from retrieval_report.contracts.warning import warn
from retrieval_report.kernels.lists import Bools
from retrieval_report.reading.frames import to_polars
from retrieval_report.reading.ids import in_kind_of

CHUNK = 1 << 22  # words of pairs that are held in memory at a time


def judged_pairs(judgements: object, query_ids: pl.Series) -> pl.DataFrame:
    """Return the judgements of the given queries, with the query's index: ``index``, ``item``,
    ``relevance``.

    Relevances become Int64 if all are whole numbers.
    """
    frame = check_judgements(to_polars(judgements, "judgements"))
    frame = frame.with_columns(
        in_kind_of(query_ids.alias("query"), frame["query"], "codes", "judgements")
    )
    indexes = pl.DataFrame({"query": query_ids}).with_row_index("index")
    frame = frame.with_columns(pl.col("query").cast(query_ids.dtype))
    unjudged = indexes.join(frame, on="query", how="anti")
    if unjudged.height:
        raise KeyMismatchError(
            f"judgements: {unjudged.height} of {indexes.height} queries have none, first "
            f"{unjudged['query'][0]!r}"
        )
    relevance = pl.col("relevance")
    whole = frame.select((relevance.cast(pl.Float64) % 1 == 0).all()).item()
    frame = frame.with_columns(relevance.cast(pl.Int64 if whole else pl.Float64))
    return frame.join(indexes, on="query").select("index", "item", "relevance")


@dataclass
class Corrections:
    """Cells to add to the counts of each slice of items, so that these pairs are counted
    correctly.
    """

    task: Task
    query_ids: pl.Series
    judged: pl.DataFrame | None
    exclude_self: bool
    by_position: bool  # no ids were given: query i is item i
    found: Bools = field(init=False)  # queries met among the items
    met: int = 0  # judged pairs met among the items

    def __post_init__(self) -> None:
        self.found = np.zeros(len(self.query_ids), np.bool_)

    def cells(self, items: Items) -> list[pl.DataFrame]:
        """Return the cells of one slice: removed pairs count −1, judged ones move from relevance 0
        to their own.
        """
        frames: list[pl.DataFrame] = []
        if not self.exclude_self and self.judged is None:
            return frames
        ids = items.ids
        slots = pl.DataFrame({"item": ids}).with_row_index("slot")
        selves = None
        if self.exclude_self:
            if items.named == self.by_position:
                raise ParameterError(
                    "exclude_self: requires both query_ids and ids of the items, or neither"
                )
            if self.query_ids.dtype != ids.dtype:
                raise KeyMismatchError(
                    f"exclude_self: query ids are {self.query_ids.dtype}, item ids {ids.dtype}; "
                    "ids are never cast"
                )
            selves = (
                pl.DataFrame({"item": self.query_ids})
                .with_row_index("index")
                .join(slots, on="item")
            )
            frames.append(self._without_self(items, selves))
        if self.judged is not None:
            item = in_kind_of(ids.alias("item"), self.judged["item"], "codes", "judgements")
            pairs = self.judged.with_columns(item.cast(ids.dtype)).join(slots, on="item")
            self.met += pairs.height
            if selves is not None:
                pairs = pairs.join(selves, on=["index", "item"], how="anti")
            pairs = pairs.filter(pl.col("relevance") > 0)
            cells = self._cells(items, pairs)
            unjudged = cells.with_columns(
                relevance=pl.lit(0, pairs.schema["relevance"]), count=-pl.col("count")
            )
            frames += [unjudged, cells]
        return frames

    def _without_self(self, items: Items, selves: pl.DataFrame) -> pl.DataFrame:
        indexes, slots = selves["index"].to_numpy(), selves["slot"].to_numpy()
        if self.found[indexes].any():
            twice = self.query_ids[int(indexes[self.found[indexes]][0])]
            raise DataError(f"exclude_self: query {twice!r} is among the items more than once")
        self.found[indexes] = True
        if self.by_position:
            self._check_same(items, indexes, slots)
        relevance = self.task.labels.relevance(indexes, slots, items.labels)
        cells = self._cells(items, selves.with_columns(relevance=pl.Series(relevance)))
        return cells.with_columns(count=-pl.col("count"))

    def _check_same(self, items: Items, indexes: NDArray[Any], slots: NDArray[Any]) -> None:
        differ = (self.task.queries[indexes] != items.codes[:, slots].T).any(axis=1)
        differ |= (self.task.labels.queries[indexes] != items.labels[:, slots].T).any(axis=1)
        if differ.any():
            raise KeyMismatchError(
                f"exclude_self: without ids query i is taken to be item i, but {int(differ.sum())} "
                "of them have other "
                f"codes or labels, first {int(indexes[differ].min())}; give query_ids and item_ids"
            )

    def _cells(self, items: Items, pairs: pl.DataFrame) -> pl.DataFrame:
        """Return every pair as a cell of its own."""
        parts = pairs.select("index", "slot").iter_slices(max(1, CHUNK // len(items.codes)))
        distances = [np.empty(0, np.int64)]
        for index, slot in (part.to_numpy().T for part in parts):
            differ = self.task.queries[index] ^ items.codes[:, slot].T
            distances.append(np.bitwise_count(differ).sum(axis=1, dtype=np.int64))
        distance = pl.Series(np.concatenate(distances))
        cells = pairs.select(query="index", distance=distance, relevance="relevance", count=1)
        return cells.cast({name: dtype for name, dtype in CELLS.items() if name != "relevance"})

    def check(self) -> None:
        """Report queries and judged items that were never found, after the last slice."""
        if self.exclude_self and not self.found.any():
            raise KeyMismatchError(
                f"exclude_self: no query is among the items; first query id {self.query_ids[0]!r}"
            )
        if self.judged is not None and self.met < self.judged.height:
            warn(
                f"judgements: {self.judged.height - self.met} of {self.judged.height} name an item "
                "that has no code; "
                "they are not in the counts: if some are relevant, pass queries with n_relevant to "
                "evaluate"
            )
