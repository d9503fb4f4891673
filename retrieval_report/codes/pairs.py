"""Queries that are items themselves, which are taken out of the counts."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from retrieval_report.codes.counting import CELLS, Items, Task
from retrieval_report.contracts.errors import DataError, KeyMismatchError, ParameterError
from retrieval_report.kernels.lists import Bools

CHUNK = 1 << 22  # words of pairs that are held in memory at a time


@dataclass
class Selves:
    """What takes each query out of its own list, slice of items by slice."""

    task: Task
    query_ids: pl.Series
    by_position: bool  # no ids were given: query i is item i
    found: Bools  # queries met among the items

    def cells(self, items: Items) -> pl.DataFrame:
        """Return the cells to add to those of one slice: each query that is in it counts −1."""
        ids = items.ids
        if items.named == self.by_position:
            raise ParameterError(
                "exclude_self: requires both query_ids and ids of the items, or neither"
            )
        if self.query_ids.dtype != ids.dtype:
            raise KeyMismatchError(
                f"exclude_self: query ids are {self.query_ids.dtype}, item ids {ids.dtype}; "
                "ids are never cast"
            )
        queries = pl.DataFrame({"item": self.query_ids}).with_row_index("index")
        pairs = queries.join(pl.DataFrame({"item": ids}).with_row_index("slot"), on="item")
        indexes, slots = pairs["index"].to_numpy(), pairs["slot"].to_numpy()
        if self.found[indexes].any():
            twice = self.query_ids[int(indexes[self.found[indexes]][0])]
            raise DataError(f"exclude_self: query {twice!r} is among the items more than once")
        self.found[indexes] = True
        distances = [np.empty(0, np.int64)]
        for part in pairs.iter_slices(max(1, CHUNK // len(items.codes))):
            differ = self.task.queries[part["index"]] ^ items.codes[:, part["slot"]].T
            distances.append(np.bitwise_count(differ).sum(axis=1, dtype=np.int64))
        distance = np.concatenate(distances)
        labels = self.task.labels.queries[indexes] != items.labels[:, slots].T
        differ = labels.any(axis=1) | (distance > 0)
        if self.by_position and differ.any():
            raise KeyMismatchError(
                f"exclude_self: without ids, query i counts as item i, but {int(differ.sum())} "
                f"of them have other codes or labels, first {int(indexes[differ].min())}; give "
                "query_ids and item_ids"
            )
        cells = {
            "query": indexes,
            "distance": distance,
            "relevance": self.task.labels.relevance(indexes, slots, items.labels),
        }
        return pl.DataFrame(cells).with_columns(count=-1).cast(CELLS)  # type: ignore[arg-type]

    def check(self) -> None:
        """Refuse, after the last slice, queries of which none was found."""
        if not self.found.any():
            raise KeyMismatchError(
                f"exclude_self: no query is among the items; first query id {self.query_ids[0]!r}"
            )
