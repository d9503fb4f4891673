"""Scores of lists as arrays, and as a long frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.contracts.frames import SCORES
from retrieval_report.kernels.lists import Bools, Floats
from retrieval_report.metrics.parsing import Requests

Scored = tuple[pl.DataFrame, pl.DataFrame]  # scores, and means under every random order
PIECE = 1_000_000  # rows of the long frame that are written together
ARRAYS = ("values", "spreads", "truncated", "pooled")
SCORES_OF_ARRAYS = ("value", "std", "truncated", "pooled")  # their columns of the long frame


@dataclass(frozen=True)
class ListScores:
    """Scores of lists with one column per metric, cutoff
    and policy, at a sixth of the long frame's size.
    """

    lists: (
        pl.DataFrame
    )  # model, query, items, n_relevant (several where levels differ), pooled; of parts unseen too
    columns: (
        pl.DataFrame
    )  # metric, cutoff, policy; where lists have several, relevant: the name of R
    values: Floats  # (lists, columns), NaN if there is none
    spreads: Floats  # standard deviations, likewise
    truncated: Bools  # (lists, columns), whether a score depends on what truncation leaves open
    pooled: Bools  # (lists, columns), whether it depends on an R that counts what models retrieved

    @classmethod
    def of(cls, parts: Sequence[ListScores]) -> ListScores:
        """Combine scores of different lists, sorted by model and query."""
        arrays = [np.concatenate([getattr(part, name) for part in parts]) for name in ARRAYS]
        whole = cls(pl.concat([part.lists for part in parts]), parts[0].columns, *arrays)
        return whole.take(
            whole.lists.select(pl.arg_sort_by("model", "query")).to_series().to_numpy()
        )

    @classmethod
    def beside(cls, parts: Sequence[ListScores], requests: Requests) -> ListScores:
        """Combine scores of the same lists by different
        metrics, in the requested order of the metrics.
        """
        if len(parts) == 1:
            return parts[0]
        names = ["n_relevant", *(f"n_relevant {number}" for number in range(1, len(parts)))]
        columns = pl.concat(
            part.columns.with_columns(relevant=pl.lit(name))
            for name, part in zip(names, parts, strict=True)
        )
        lists = parts[0].lists.with_columns(
            part.lists["n_relevant"].alias(name) for name, part in zip(names, parts, strict=True)
        )
        measure = pl.col("metric").cast(pl.Enum([str(metric) for metric, _ in requests]))
        which = columns.with_row_index().sort(measure, maintain_order=True)["index"].to_numpy()
        arrays = [
            np.concatenate([getattr(part, name) for part in parts], axis=1)[:, which]
            for name in ARRAYS
        ]
        return cls(lists, columns[which], *arrays)

    def take(self, which: NDArray[np.integer] | slice) -> ListScores:
        """Return the scores of some of the lists."""
        return ListScores(
            self.lists[which], self.columns, *(getattr(self, name)[which] for name in ARRAYS)
        )

    def frames(self, rows: int = PIECE) -> Iterator[pl.DataFrame]:
        """Yield the long frame in pieces of about so many rows."""
        step = max(rows // max(self.columns.height, 1), 1)
        for first in range(0, max(self.lists.height, 1), step):
            yield self.take(slice(first, first + step)).frame()

    def frame(self) -> pl.DataFrame:
        """Return the long frame, with one row per list, metric, cutoff and policy."""
        numbers = [name for name in self.lists.columns if name.startswith("n_relevant")]
        lists = self.lists.select("model", "query", "items", *numbers)
        names = lists.join(self.columns, how="cross", maintain_order="left_right")
        arrays = zip(SCORES_OF_ARRAYS, (getattr(self, name) for name in ARRAYS), strict=True)
        frame = names.hstack(
            [pl.Series(name, of.reshape(-1), nan_to_null=True) for name, of in arrays]
        )
        if "relevant" in frame.columns:
            number = pl.coalesce(pl.when(relevant=name).then(name) for name in numbers)
            frame = frame.with_columns(n_relevant=number)
        return pl.DataFrame([frame[name] for name in SCORES])
