"""Interpolated precision at levels of recall, exact under ties: the curve that trec_eval prints as
11 points.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Unpack

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import Names, check_number, listed, number_text, quoted
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import Options, ScoringOptions, options_with
from retrieval_report.contracts.registry import schema
from retrieval_report.kernels.lists import Bools, Floats, Lists, frozen, running
from retrieval_report.kernels.recall import (
    HitTies,
    expected_precision,
    precision_along,
    steps_of_lists,
)
from retrieval_report.metrics.parsing import parse_metrics
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.scoring.layout import lay_out
from retrieval_report.scoring.run import Run
from retrieval_report.scoring.scorer import arrange
from retrieval_report.scoring.scores import ListScores

LEVELS = tuple(tenth / 10 for tenth in range(11))
POLICIES = ("expected", "naive", "best", "worst")
MOST_CELLS = 2e8  # of one list: slots × relevant items × different precisions, a second or two


def recall_curve(
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    levels: Sequence[float] = LEVELS,
    policies: Names = POLICIES,
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
    wanted = [
        check_number("levels", level, lambda share: 0 <= share <= 1, "number between 0 and 1")
        for level in listed(levels)
    ]
    asked = options_with(options, truncated="no", policies=policies)
    for name in asked.policies:
        if name not in POLICIES:
            raise ParameterError(f"policies: {name!r} is none of {quoted(POLICIES)}")
    return curve_of(judge(rankings, judgements, queries, asked), wanted, asked)


def curve_of(
    judged: Judged, levels: Sequence[float], asked: Options, most: float = math.inf
) -> pl.DataFrame:
    """Score lists that are joined already; no columns where that takes more than ``most`` cells.

    `MOST_CELLS` take a second or two, and lists that need more are left null, which costs nothing.
    """
    prepared = lay_out(judged, asked)
    ties = _ties_of(prepared.ties, prepared.relevant_grade)
    if steps_of_lists(ties, None, MOST_CELLS) > most:
        return pl.DataFrame()
    naive = ties
    if "naive" in asked.policies:
        naive = _ties_of(arrange(prepared, "naive").lists, prepared.relevant_grade)
    relevant = np.maximum(prepared.relevant, 0)[:, None]
    needed = frozen(np.maximum((np.array(levels) * relevant + 0.9).astype(np.int64), 1))
    values, spreads = np.full((2, len(asked.policies), *needed.shape), np.nan)
    for policy, value, spread in zip(asked.policies, values, spreads, strict=True):
        if policy == "expected":
            expected_precision(ties, needed, MOST_CELLS, value, spread)
        else:
            lists = naive if policy == "naive" else ties
            precision_along(lists, needed, policy == "worst", value)
    run = Run(prepared, parse_metrics("recall", None), asked)
    by_level = (numbers.transpose(1, 2, 0) for numbers in (values, spreads))
    return _frame(run, levels, *by_level)


def _ties_of(lists: Lists, relevant_grade: Bools) -> HitTies:
    """The ties of all lists that hold relevant items."""
    items, relevant = lists.of_ties(), lists.of_ties(relevant_grade)
    kept = np.flatnonzero(relevant)
    first = lists.start[np.searchsorted(lists.start, kept, side="right") - 1]  # of the tie's list
    before, hits = (total[kept] - total[first] for total in map(running, (items, relevant)))
    parts = before, items[kept], relevant[kept], hits
    return HitTies(frozen(np.searchsorted(kept, lists.start)), *map(frozen, parts))


def _frame(run: Run, levels: Sequence[float], values: Floats, spreads: Floats) -> pl.DataFrame:
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
        items=run.prepared.length,
        n_relevant=np.maximum(run.prepared.relevant, 0),
    )
    value, std = (part.reshape(lists.height, columns.height) for part in (values, spreads))
    if run.options.no_relevant == "one":
        value[run.prepared.relevant <= 0] = 1.0
    value[run.left_out()], std[run.left_out()] = np.nan, np.nan
    truncated = np.zeros((lists.height, columns.height), np.bool_)
    pooled = np.repeat(run.prepared.pooled[:, None], columns.height, axis=1)
    return ListScores(lists, columns, value, std, truncated, pooled).frame()
