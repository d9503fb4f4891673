"""Interpolated precision at levels of recall, exact under ties: the curve that trec_eval prints as
11 points.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple, Unpack

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import is_number, listed, number_text
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import Options, ScoringOptions, options_with
from retrieval_report.contracts.registry import schema
from retrieval_report.kernels.lists import Bools, Floats, Integers, Lists
from retrieval_report.metrics.parsing import parse_metrics
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.scoring.layout import lay_out
from retrieval_report.scoring.run import Run, refuse_without
from retrieval_report.scoring.scores import ListScores

LEVELS = tuple(tenth / 10 for tenth in range(11))
POLICIES = ("expected", "naive", "best", "worst")
MOST_CELLS = 2e8  # of one list: slots × relevant items × different precisions, a second or two
Score = tuple[float | None, float | None]  # value and standard deviation


def recall_curve(
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    levels: Sequence[float] = LEVELS,
    policies: str | Sequence[str] = POLICIES,
    **options: Unpack[ScoringOptions],
) -> pl.DataFrame:
    """Score lists by interpolated precision: the best from the rank on where a share of recall is
    reached.

    At level r of a query with R relevant items it is the maximum of hits(i) / i over the ranks i
    with at least ⌊r·R + 0.9⌋ hits, which is trec_eval's rounding; 0 where the list never gets so
    far.

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
        Scores as of :func:`evaluate`, for :func:`summarise`, with the metrics ``iprec(recall=0)``
        to ``iprec(recall=1)`` and no cutoff. Expected values and their ``std`` are exact; they are
        null for lists of which a tie is so large that they cannot be found in reasonable time.

    Raises
    ------
    RetrievalReportError
        As :func:`evaluate`, for counts, and for levels that are not between 0 and 1.

    Examples
    --------
    The relevant item comes first or second of the tie, and the other one always third.

    >>> rankings = {
    ...     "query": ["q"] * 3,
    ...     "item": list("abc"),
    ...     "distance": [1, 1, 2],
    ...     "relevance": [1, 0, 1],
    ... }
    >>> scores = recall_curve(rankings, levels=(0.5, 1), policies="expected")
    >>> scores.select("metric", "value").rows()
    [('iprec(recall=0.5)', 0.8333333333333333), ('iprec(recall=1)', 0.6666666666666666)]
    """
    wanted = [_checked(level) for level in listed(levels)]
    asked = options_with(options, truncated="no", policies=policies)
    for name in asked.policies:
        if name not in POLICIES:
            raise ParameterError(f"policies: {name!r} is none of {', '.join(map(repr, POLICIES))}")
    return curve_of(judge(rankings, judgements, queries, asked), wanted, asked)


def curve_of(
    judged: Judged, levels: Sequence[float], asked: Options, most: float = math.inf
) -> pl.DataFrame:
    """Score lists that are joined already; no columns where that takes more than ``most`` cells.

    `MOST_CELLS` take a second or two, and lists that need more are left null, which costs nothing.
    """
    prepared = lay_out(judged, asked)
    ties = _ties_of(prepared.ties, prepared.relevant_grade)
    if sum(cells for own in ties if (cells := own.cells) <= MOST_CELLS) > most:
        return pl.DataFrame()
    refuse_without(prepared, asked)
    naive = ties if prepared.naive is None else _ties_of(prepared.naive, prepared.relevant_grade)
    found: list[Score] = []
    for own, order, relevant in zip(
        ties, naive, np.maximum(prepared.relevant, 0).tolist(), strict=True
    ):
        needed = [max(int(level * relevant + 0.9), 1) for level in levels]
        by_policy = [_under(policy, own, order, needed) for policy in asked.policies]
        found += [score for at_level in zip(*by_policy, strict=True) for score in at_level]
    return _frame(Run(prepared, parse_metrics("recall", None), asked), levels, found)


def _checked(level: object) -> float:
    if not is_number(level) or not 0 <= level <= 1:  # type: ignore[operator]
        raise ParameterError(f"levels: {level!r} is not a number between 0 and 1")
    return float(level)  # type: ignore[arg-type]


class _Ties(NamedTuple):
    """The ties of one list that hold relevant items."""

    before: Integers  # items in front of each
    items: Integers
    relevant: Integers

    @property
    def hits(self) -> Integers:
        """Relevant items in front of each."""
        found: Integers = np.cumsum(self.relevant) - self.relevant
        return found

    @property
    def slots(self) -> float:
        """The steps of finding chances, for one precision."""
        return float((self.items * self.relevant).sum())

    @property
    def cells(self) -> float:
        """A bound on the work for exact expected values."""
        return self.slots * float((self.relevant * (self.items - self.relevant + 1)).sum())

    def along(self, needed: Sequence[int], *, last: bool = False) -> list[Score]:
        """The scores where the relevant items of every tie come first, or last."""
        number = np.arange(1, int(self.relevant.sum()) + 1)
        front = self.before + (self.items - self.relevant if last else 0) - self.hits
        precision = number / (np.repeat(front, self.relevant) + number)
        best = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
        return [(float(best[min(least, best.size) - 1]), None) for least in needed]


def _ties_of(lists: Lists, relevant_grade: Bools) -> list[_Ties]:
    """The ties of every list."""
    counts = lists.items, lists.items * relevant_grade[lists.grade]
    items, relevant = (np.add.reduceat(count, lists.tie[:-1]) for count in counts)
    found = []
    for first, last in itertools.pairwise(lists.start):
        own, hits = items[first:last], relevant[first:last]
        kept = hits > 0
        found.append(_Ties((np.cumsum(own) - own)[kept], own[kept], hits[kept]))
    return found


def _under(policy: str, ties: _Ties, naive: _Ties, needed: Sequence[int]) -> Sequence[Score]:
    """Value and standard deviation of one list where so many hits are needed."""
    if policy == "expected":
        return _expected(ties, needed)
    return (naive if policy == "naive" else ties).along(needed, last=policy == "worst")


def _expected(ties: _Ties, needed: Sequence[int]) -> list[Score]:
    """Mean and standard deviation over all orders of the ties.

    The maximum is at most x if every relevant item from the needed one on stands far enough behind.
    The ties are independent, and inside one the chance is found slot by slot, for all values x that
    can come about at once.
    """
    precisions = _precisions(ties)
    if precisions.size * ties.slots > MOST_CELLS:
        return [(None, None)] * len(needed)
    later = np.ones(precisions.size)
    below: dict[int, Floats] = {}
    for before, items, relevant, found in zip(
        *(part[::-1].tolist() for part in (*ties, ties.hits)), strict=True
    ):
        for least in {least for least in needed if found < least <= found + relevant}:
            below[least] = later * _chance(
                before, items, relevant, found, least - found, precisions
            )
        later = later * _chance(before, items, relevant, found, 1, precisions)
    return [
        _moments(precisions, below[least]) if least in below else (0.0, 0.0) for least in needed
    ]


def _precisions(ties: _Ties) -> Floats:
    """Every precision that a relevant item may have, rising."""
    parts = [np.empty(0)]
    for before, items, relevant, hits in zip(*ties, ties.hits, strict=True):
        number = np.arange(1, relevant + 1)
        slots = number[:, None] + np.arange(items - relevant + 1)
        parts.append(((hits + number)[:, None] / (before + slots)).ravel())
    return np.unique(np.concatenate(parts))


def _chance(
    before: int, items: int, relevant: int, hits: int, least: int, precisions: Floats
) -> Floats:
    """The chance that the relevant items of a tie, from the ``least``-th on, have at most each of
    the precisions.
    """
    number = np.arange(1, relevant + 1)
    # state j: j relevant items so far; few of them are reached early, and all are there at the end
    chance = np.zeros((relevant + 1, precisions.size))
    chance[0] = 1.0
    for slot in range(1, items + 1):
        left = items - slot + 1
        fits = (hits + number)[:, None] / (before + slot) <= precisions
        fits[: least - 1] = True
        share = (relevant - number + 1.0)[
            :, None
        ] / left  # of a relevant item next, with j − 1 so far
        moved = np.where(fits, chance[:-1] * np.clip(share, 0.0, 1.0), 0.0)
        chance *= np.clip(1.0 - (relevant - np.arange(relevant + 1.0)) / left, 0.0, 1.0)[:, None]
        chance[1:] += moved
    last: Floats = chance[-1]
    return last


def _moments(values: Floats, below: Floats) -> tuple[float, float]:
    """Mean and standard deviation of a maximum that is at most each of the values with these
    chances.
    """
    share = np.diff(below, prepend=0.0)
    mean = float(share @ values)
    return mean, max(float(share @ (values - mean) ** 2), 0.0) ** 0.5


def _frame(run: Run, levels: Sequence[float], found: Sequence[Score]) -> pl.DataFrame:
    """Scores in their contract, by list, level and policy; null where a list is left out."""
    names, policies = (
        [f"iprec(recall={number_text(level)})" for level in levels],
        run.options.policies,
    )
    labels = [(name, None, policy) for name in names for policy in policies]
    columns = pl.DataFrame(
        labels, schema=schema("scores", "metric", "cutoff", "policy"), orient="row"
    )
    lists = run.prepared.names.with_columns(
        items=pl.Series(run.prepared.length, dtype=pl.Int64),
        n_relevant=pl.Series(np.maximum(run.prepared.relevant, 0), dtype=pl.Int64),
        pooled=pl.Series(run.prepared.beyond.pooled),
    )
    numbers = np.array(found, np.float64).reshape(lists.height, columns.height, 2)
    if run.options.no_relevant == "one":
        numbers[run.prepared.relevant <= 0, :, 0] = 1.0
    numbers[run.left_out()] = np.nan
    truncated = np.zeros((lists.height, columns.height), np.bool_)
    return ListScores(lists, columns, numbers[..., 0], numbers[..., 1], truncated).frame()
