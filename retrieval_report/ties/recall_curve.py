"""Interpolated precision at levels of recall, exact
under ties: the curve that trec_eval prints as 11 points.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import Names, as_list, check_number
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import Options, ScoringOptions, options_with
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.check_scores import join_left
from retrieval_report.engines.summary import summarise
from retrieval_report.kernels.lists import Bools, Lists, frozen, running
from retrieval_report.kernels.recall import (
    HitTies,
    expected_precision,
    precision_along,
    steps_of_lists,
)
from retrieval_report.metrics.catalogue import Recall
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.scoring.layout import lay_out
from retrieval_report.scoring.run import Run, list_scores
from retrieval_report.scoring.scorer import arrange

LEVELS = tuple(tenth / 10 for tenth in range(11))
POLICIES = ("expected", "naive", "best", "worst")
# Slots × relevant items × different precisions: two cores fill some 10⁹ in a second.
MOST_CELLS, MOST_CURVE_CELLS = 2e8, 2e9  # of one list, and of all lists of a study


@dataclass(frozen=True)
class Interpolated(Recall):
    """Interpolated precision at a level of recall: what names its scores, and says when they are
    undefined; `curve_of` computes them.
    """

    name = "iprec"
    recall: float = -1.0


def recall_curve(
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    levels: Sequence[float] = LEVELS,
    policies: Names = POLICIES,
    **options: Unpack[ScoringOptions],
) -> pl.DataFrame:
    """Score lists by interpolated precision: the best precision from a given recall on.

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
        Those of :func:`evaluate`. Lists are treated as complete, as in trec_eval.

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
    shares = [
        check_number("levels", level, lambda share: 0 <= share <= 1, "number between 0 and 1")
        for level in as_list(levels)
    ]
    if not shares:
        raise ParameterError("levels: none given")
    settings = options_with(options, truncated="no", policies=policies)
    for name in settings.policies:
        check_choice("policies", name, POLICIES)
    return curve_of(judge(rankings, judgements, queries, settings), shares, settings)


def curve_of(
    judged: Judged, levels: Sequence[float], settings: Options, most: float = math.inf
) -> pl.DataFrame:
    """Score lists that are joined already; no columns where that takes more than ``most`` cells.

    Lists that need more than `MOST_CELLS` are left null, which costs nothing.
    """
    prepared = lay_out(judged, settings)
    ties = _ties_of(prepared.ties, prepared.relevant_grade)
    if steps_of_lists(ties, None, MOST_CELLS) > most:
        return pl.DataFrame()
    naive = ties
    if "naive" in settings.policies:
        naive = _ties_of(arrange(prepared, "naive"), prepared.relevant_grade)
    relevant = np.maximum(prepared.relevant, 0)[:, None]
    needed = frozen(np.maximum((np.array(levels) * relevant + 0.9).astype(np.int64), 1))
    values, spreads = np.full((2, len(settings.policies), *needed.shape), np.nan)
    for policy, value, spread in zip(settings.policies, values, spreads, strict=True):
        if policy == "expected":
            expected_precision(ties, needed, MOST_CELLS, value, spread)
        else:
            lists = naive if policy == "naive" else ties
            precision_along(lists, needed, policy == "worst", value)
    run = Run(prepared, [(Interpolated(recall=level), (None,)) for level in levels], settings)
    return list_scores(run, *(numbers.transpose(1, 2, 0) for numbers in (values, spreads))).frame()


def _ties_of(lists: Lists, relevant_grade: Bools) -> HitTies:
    """The ties of all lists that hold relevant items."""
    items, relevant = lists.of_ties(), lists.of_ties(relevant_grade)
    relevant_places = np.flatnonzero(relevant)
    first = lists.start[
        np.searchsorted(lists.start, relevant_places, side="right") - 1
    ]  # of the tie's list
    before, hits = (
        total[relevant_places] - total[first] for total in map(running, (items, relevant))
    )
    parts = before, items[relevant_places], relevant[relevant_places], hits
    return HitTies(frozen(np.searchsorted(relevant_places, lists.start)), *map(frozen, parts))


def curve_means(judged: Judged, options: Mapping[str, object]) -> pl.DataFrame:
    """Return the interpolated precision of every model along recall; no columns if ties are so
    large that it would take more than seconds.
    """
    settings = options_with(options, truncated="no", policies=POLICIES)
    scores = curve_of(judged, LEVELS, settings, MOST_CURVE_CELLS)
    if not scores.width:
        return scores
    means, keys = summarise(scores), ["model", "metric"]
    naive = means.filter(policy="naive").select(*keys, naive="value")
    means_and_naive = join_left(means.filter(policy="expected"), naive, keys)
    level = pl.col("metric").str.extract(r"recall=([\d.]+)").cast(pl.Float64)
    return means_and_naive.with_columns(recall=level).select(list(schema("recall_curve")))
