"""Interpolated precision at levels of recall, exact under ties: the curve that trec_eval prints as 11 points."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Unpack

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.contracts.arguments import is_number, number_text
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.frames import SCORES
from retrieval_report.contracts.options import ScoringOptions, options_with
from retrieval_report.metrics.parsing import parse_metrics
from retrieval_report.scoring.arrays import Lists
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.scoring.layout import Prepared, lay_out
from retrieval_report.scoring.run import Run, refuse_without

__all__ = ["LEVELS", "curve_cells", "recall_curve"]

LEVELS = tuple(tenth / 10 for tenth in range(11))
POLICIES = ("expected", "naive", "best", "worst")
MOST_CELLS = 2e8  # of one list: slots × relevant items × different precisions, a second or two
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def recall_curve(
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    levels: Sequence[float] = LEVELS,
    policies: str | Sequence[str] = POLICIES,
    **options: Unpack[ScoringOptions],
) -> pl.DataFrame:
    """Score lists by interpolated precision: the best from the rank on where a share of recall is reached.

    At level r of a query with R relevant items it is the maximum of hits(i) / i over the ranks i with at least
    ⌊r·R + 0.9⌋ hits, which is trec_eval's rounding; 0 where the list never gets so far.

    Parameters
    ----------
    rankings, judgements, queries
        As for :func:`evaluate`.
    levels
        Of recall, between 0 and 1.
    policies
        Of "expected", "naive", "best" and "worst".
    **options
        Those of :func:`evaluate`. Lists are taken for all there is, as trec_eval takes them.

    Returns
    -------
    polars.DataFrame
        Scores as of :func:`evaluate`, for :func:`summarise`, with the metrics ``iprec(recall=0)`` to
        ``iprec(recall=1)`` and no cutoff. Expected values and their ``std`` are exact; they are null for lists of
        which a tie is so large that they cannot be found in reasonable time.

    Raises
    ------
    RetrievalReportError
        As :func:`evaluate`, for counts, and for levels that are not between 0 and 1.

    Examples
    --------
    The relevant item comes first or second of the tie, and the other one always third.

    >>> rankings = {"query": ["q"] * 3, "item": list("abc"), "distance": [1, 1, 2], "relevance": [1, 0, 1]}
    >>> scores = recall_curve(rankings, levels=(0.5, 1), policies="expected")
    >>> scores.select("metric", "value").rows()
    [('iprec(recall=0.5)', 0.8333333333333333), ('iprec(recall=1)', 0.6666666666666666)]
    """
    wanted = [_checked(level) for level in levels]
    asked = options_with(options, truncated="no", policies=policies)
    for name in asked.policies:
        if name not in POLICIES:
            raise ParameterError(f"policies: {name!r} is none of {', '.join(map(repr, POLICIES))}")
    prepared = lay_out(judge(rankings, judgements, queries, asked), asked)
    refuse_without(prepared, asked)
    run = Run(prepared, parse_metrics("recall", None), asked)
    columns: dict[str, list[Any]] = {name: [] for name in ("list", "level", "policy", "value", "std")}
    for number in range(prepared.length.size):
        for level, policy, value, std in _of_list(prepared, number, wanted, asked.policies):
            for name, part in zip(columns, (number, level, policy, value, std), strict=True):
                columns[name].append(part)
    return _frame(run, columns, asked.no_relevant == "one")


def curve_cells(judged: Judged, **options: Unpack[ScoringOptions]) -> float:
    """Bound the work for exact expected values, a second or two per `MOST_CELLS`; lists left null cost nothing."""
    prepared = lay_out(judged, options_with(options, truncated="no", policies="expected"))
    ties = prepared.ties
    if not ties.grade.size:
        return 0.0
    counts = ties.items, ties.items * prepared.relevant_grade[ties.grade]
    items, relevant = (np.add.reduceat(count, ties.tie[:-1]).astype(float) for count in counts)
    slots, values = (np.append(0, np.cumsum(part)) for part in (items * relevant, relevant * (items - relevant + 1)))
    cells = np.diff(slots[ties.start]) * np.diff(values[ties.start])
    return float(cells[cells <= MOST_CELLS].sum())


def _checked(level: object) -> float:
    if not is_number(level) or not 0 <= level <= 1:  # type: ignore[operator]
        raise ParameterError(f"levels: {level!r} is not a number between 0 and 1")
    return float(level)  # type: ignore[arg-type]


def _of_list(
    prepared: Prepared, number: int, levels: Sequence[float], policies: Sequence[str]
) -> Iterator[tuple[float, str, float | None, float | None]]:
    """Level, policy, value and standard deviation of one list."""
    relevant = max(int(prepared.relevant[number]), 0)
    needed = [max(int(level * relevant + 0.9), 1) for level in levels]
    ties = _Ties.of(prepared.ties, number, prepared.relevant_grade)
    values: dict[str, Sequence[tuple[float | None, float | None]]] = {}
    for policy in policies:
        if policy == "expected":
            values[policy] = _expected(ties, needed)
        elif policy == "naive":
            assert prepared.naive is not None
            values[policy] = _Ties.of(prepared.naive, number, prepared.relevant_grade).along(needed)
        else:
            values[policy] = ties.along(needed, last=policy == "worst")
    for at, level in enumerate(levels):
        for policy in policies:
            yield level, policy, *values[policy][at]


class _Ties(NamedTuple):
    """The ties of one list that hold relevant items."""

    before: Integers  # items in front of each
    items: Integers
    relevant: Integers

    @classmethod
    def of(cls, lists: Lists, number: int, relevant_grade: NDArray[np.bool_]) -> _Ties:
        """Those of a list."""
        edges = lists.tie[lists.start[number] : lists.start[number + 1] + 1]
        if edges.size < 2:
            return cls(*[np.empty(0, np.int64)] * 3)
        cells = slice(edges[0], edges[-1])
        counts = lists.items[cells], lists.items[cells] * relevant_grade[lists.grade[cells]]
        items, relevant = (np.add.reduceat(count, edges[:-1] - edges[0]) for count in counts)
        kept = relevant > 0
        return cls((np.cumsum(items) - items)[kept], items[kept], relevant[kept])

    @property
    def hits(self) -> Integers:
        """Relevant items in front of each."""
        found: Integers = np.cumsum(self.relevant) - self.relevant
        return found

    def along(self, needed: Sequence[int], *, last: bool = False) -> list[tuple[float, None]]:
        """The scores where the relevant items of every tie come first, or last."""
        number = np.arange(1, int(self.relevant.sum()) + 1)
        front = self.before + (self.items - self.relevant if last else 0) - self.hits
        precision = number / (np.repeat(front, self.relevant) + number)
        best = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
        return [(float(best[min(least, best.size) - 1]), None) for least in needed]


def _expected(ties: _Ties, needed: Sequence[int]) -> list[tuple[float | None, float | None]]:
    """Mean and standard deviation over all orders of the ties.

    The maximum is at most x if every relevant item from the needed one on stands far enough behind. The ties are
    independent, and inside one the chance is found slot by slot, for all values x that can come about at once.
    """
    precisions = _precisions(ties)
    if precisions.size * float((ties.items * ties.relevant).sum()) > MOST_CELLS:
        return [(None, None)] * len(needed)
    later = np.ones(precisions.size)
    below: dict[int, Floats] = {}
    for before, items, relevant, found in zip(*(part[::-1].tolist() for part in (*ties, ties.hits)), strict=True):
        for least in {least for least in needed if found < least <= found + relevant}:
            below[least] = later * _chance(before, items, relevant, found, least - found, precisions)
        later = later * _chance(before, items, relevant, found, 1, precisions)
    return [_moments(precisions, below[least]) if least in below else (0.0, 0.0) for least in needed]


def _precisions(ties: _Ties) -> Floats:
    """Every precision that a relevant item may have, rising."""
    parts = [np.empty(0)]
    for before, items, relevant, hits in zip(*ties, ties.hits, strict=True):
        number = np.arange(1, relevant + 1)
        slots = number[:, None] + np.arange(items - relevant + 1)
        parts.append(((hits + number)[:, None] / (before + slots)).ravel())
    return np.unique(np.concatenate(parts))


def _chance(before: int, items: int, relevant: int, hits: int, least: int, precisions: Floats) -> Floats:
    """The chance that the relevant items of a tie, from the ``least``-th on, have at most each of the precisions."""
    number = np.arange(1, relevant + 1)
    # state j: j relevant items so far; few of them are reached early, and all are there at the end
    chance = np.zeros((relevant + 1, precisions.size))
    chance[0] = 1.0
    for slot in range(1, items + 1):
        left = items - slot + 1
        fits = (hits + number)[:, None] / (before + slot) <= precisions
        fits[: least - 1] = True
        share = (relevant - number + 1.0)[:, None] / left  # of a relevant item next, with j − 1 so far
        moved = np.where(fits, chance[:-1] * np.clip(share, 0.0, 1.0), 0.0)
        chance *= np.clip(1.0 - (relevant - np.arange(relevant + 1.0)) / left, 0.0, 1.0)[:, None]
        chance[1:] += moved
    last: Floats = chance[-1]
    return last


def _moments(values: Floats, below: Floats) -> tuple[float, float]:
    """Mean and standard deviation of a maximum that is at most each of the values with these chances."""
    share = np.diff(below, prepend=0.0)
    mean = float(share @ values)
    return mean, max(float(share @ (values - mean) ** 2), 0.0) ** 0.5


def _frame(run: Run, columns: dict[str, list[Any]], one: bool) -> pl.DataFrame:
    """Scores in their contract; null where a list is left out."""
    number = np.array(columns["list"], np.int64)
    lists = run.prepared.names.with_columns(
        items=pl.Series(run.prepared.length, dtype=pl.Int64),
        n_relevant=pl.Series(np.maximum(run.prepared.relevant, 0), dtype=pl.Int64),
        nobody=pl.Series(run.left_out()),
        pooled=pl.Series(run.prepared.beyond.pooled),
        truncated=pl.lit(False),
    )
    scores = pl.DataFrame(
        {
            "metric": [f"iprec(recall={number_text(level)})" for level in columns["level"]],
            "policy": columns["policy"],
            "value": pl.Series(columns["value"], dtype=pl.Float64),
            "std": pl.Series(columns["std"], dtype=pl.Float64),
        }
    ).with_columns(cutoff=pl.lit(None, pl.Int64))
    both = pl.concat([lists[number], scores], how="horizontal")
    if one:
        both = both.with_columns(value=pl.when(n_relevant=0).then(1.0).otherwise("value"))
    gone = pl.when("nobody").then(None)
    both = both.with_columns(value=gone.otherwise("value"), std=gone.otherwise("std"))
    return both.select(pl.col(name).cast(dtype) if dtype else pl.col(name) for name, dtype in SCORES.items())
