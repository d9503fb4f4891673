"""Scores as dense arrays, and the pairs of models that are compared in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.contracts.arguments import listed
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.registry import in_contract
from retrieval_report.engines.check_scores import BOUNDS, FLAGS, SCORE

BLOCK = 1 << 22  # differences held at a time
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class Grid:
    """Scores as dense arrays, NaN if there is no score. Sorted names make results independent of
    row order.
    """

    models: list[str]  # sorted
    queries: list[object]  # sorted
    measures: list[tuple[str, int | None, str]]  # metric, cutoff, policy, in the order of the frame
    value: Floats  # (measures, models, queries)
    std: Floats
    truncated: Bools  # whether the score reaches into a tie that the list's end may have cut
    pooled: Bools  # whether R counts only what some model retrieved

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Grid:
        """Lay out a checked scores frame.

        >>> from retrieval_report.engines.check_scores import SCORES, check_scores
        >>> frame = pl.DataFrame(
        ...     [
        ...         ("b", "q", "ap", 1, "naive", 0.5, None, 3, 1),
        ...         ("a", "r", "ap", 1, "naive", 1.0, None, 3, 1),
        ...     ],
        ...     schema=list(SCORES)[:9],
        ...     orient="row",
        ... )
        >>> grid = Grid.of(check_scores(frame))
        >>> grid.models, grid.value.tolist()
        (['a', 'b'], [[[nan, 1.0], [0.5, nan]]])
        """
        models = frame.select("model").unique().sort("model").with_row_index("row")
        queries = frame.select("query").unique().sort("query").with_row_index("column")
        measures = frame.select(SCORE).unique(maintain_order=True).with_row_index("measure")
        coded = (
            frame.join(measures, on=SCORE, how="left", nulls_equal=True, maintain_order="left")
            .join(models, on="model", how="left", maintain_order="left")
            .join(queries, on="query", how="left", maintain_order="left")
        )
        where = tuple(coded[name].to_numpy() for name in ("measure", "row", "column"))
        shape = (measures.height, models.height, queries.height)
        named = models["model"].to_list(), queries["query"].to_list(), measures.select(SCORE).rows()
        arrays = []
        for name, nothing in {
            "value": np.nan,
            "std": np.nan,
            **dict.fromkeys(FLAGS, False),
        }.items():
            array = np.full(shape, nothing)
            array[where] = coded[name].to_numpy()
            arrays.append(array)
        return cls(*named, *arrays)

    def pairs(self, baseline: str | None) -> Pairs:
        """Return all pairs of models, or those of the others with a baseline."""
        if baseline is None:
            return Pairs.every(len(self.models))
        check_choice("baseline", baseline, self.models)
        return Pairs.against(len(self.models), self.models.index(baseline))

    def of_pairs(
        self,
        measure: int,
        pairs: Pairs,
        columns: Mapping[str, object],
        contract: Mapping[str, Any],
        **words: str | int,
    ) -> pl.DataFrame:
        """Return columns about pairs of models by one measure, as `measured` does."""
        models = pl.Series(self.models, dtype=pl.String)
        named = {"model_a": models[pairs.first], "model_b": models[pairs.second], **columns}
        return measured(named, self.measures[measure], contract, **words)

    def under(self, measure: int, policy: str) -> Floats:
        """Return the values under another policy by the metric at the cutoff of a measure; NaN if
        there are none.
        """
        other = (*self.measures[measure][:2], policy)
        found = self.value[self.measures.index(other)] if other in self.measures else None
        return np.full_like(self.value[measure], np.nan) if found is None else found


@dataclass(frozen=True)
class Pairs:
    """Pairs of models that are compared, as rows of the grid."""

    first: Indices
    second: Indices

    @classmethod
    def every(cls, models: int) -> Pairs:
        """Return all pairs, the earlier model first."""
        return cls(*np.triu_indices(models, 1))

    @classmethod
    def against(cls, models: int, fixed: int) -> Pairs:
        """Return every other model with one that is fixed."""
        others = np.delete(np.arange(models, dtype=np.intp), fixed)
        return cls(others, np.full_like(others, fixed))

    def blocks(self, queries: int) -> list[slice]:
        """Return slices of pairs whose differences fit in memory."""
        step = max(1, BLOCK // max(queries, 1))
        return [slice(start, start + step) for start in range(0, self.first.size, step)]

    def part(self, block: slice | Indices) -> Pairs:
        """Return some of the pairs."""
        return Pairs(self.first[block], self.second[block])


def measured(
    columns: Mapping[str, object],
    measure: tuple[str, int | None, str],
    contract: Mapping[str, Any],
    **words: str | int,
) -> pl.DataFrame:
    """Return columns about one metric, cutoff and policy as a frame in its contract; NaN becomes
    null.
    """
    same = {"metric": measure[0], "policy": measure[2], **words}
    frame = pl.DataFrame(columns).with_columns(pl.lit(measure[1], pl.Int64).alias("cutoff"))
    frame = frame.with_columns(pl.lit(word).alias(name) for name, word in same.items())
    return in_contract(frame.with_columns(pl.selectors.float().fill_nan(None)), contract)


def asked_measures(grid: Grid, policies: str | Sequence[str] | None) -> list[int]:
    """Return which metrics, cutoffs and policies of the grid are requested; by default all except
    the bounds.
    """
    found = list(dict.fromkeys(policy for _, _, policy in grid.measures))
    usual = [policy for policy in found if policy not in BOUNDS] or found
    chosen = usual if policies is None else listed(policies)
    if policies is not None and not chosen:
        raise ParameterError("policies: none given")
    for policy in chosen:
        check_choice("policies", policy, found)
    return [number for number, (_, _, policy) in enumerate(grid.measures) if policy in chosen]
