"""Relevant items that are known by their number only: which lists and queries have such, and
warnings of them.
"""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from retrieval_report.contracts.warning import warn
from retrieval_report.metrics.parsing import Requests, divided_by_relevant
from retrieval_report.scoring.judged import Judged
from retrieval_report.scoring.layout import Prepared


def unpooled_queries(lists: pl.DataFrame) -> pl.DataFrame:
    """Return queries of which counts do not tell R: ``query``, ``least`` and ``most`` relevant
    items of a model.
    """
    number, shown = pl.col("n_relevant"), lists.filter(pl.col("items") > 0)
    found = shown.group_by("query").agg(
        least=number.min(), most=number.max(), pooled=pl.col("pooled").any()
    )
    return (
        found.filter(pl.col("pooled") | (pl.col("least") < pl.col("most")))
        .drop("pooled")
        .sort("query")
    )


def warn_unpooled(
    queries: pl.DataFrame, requests: Requests, warn: Callable[[str], None] = warn
) -> None:
    """Warn if R of queries is not known, because counts of several models have no items to pool,
    and divides scores.
    """
    if queries.height and any(divided_by_relevant(str(metric)) for metric, _ in requests):
        query, least, most = queries.row(0)
        warn(
            f"counts: R of {queries.height} queries is not known, first {query!r} (a model has "
            f"{least} to {most} "
            "relevant items): counts have no items to pool, so recall, ap and ndcg of a model are "
            "divided by its own "
            "number; count the rankings of all models together, or give n_relevant in the queries "
            "frame"
        )


def unseen_lists(prepared: Prepared, judged: Judged, requests: Requests) -> pl.Series:
    """Return which lists have a graded ideal that is a guess: some of their relevant items are not
    in the data.
    """
    ideal = any(ideal.over == "judged" for metric, _ in requests for ideal in metric.reads.ideals)
    known = judged.whole.judged or "n_relevant" not in judged.lists.columns
    if not ideal or known or prepared.relevant_grade.sum() <= 1:
        return pl.repeat(False, prepared.names.height, eager=True)
    return pl.Series(prepared.relevant > prepared.retrieved.total(prepared.relevant_grade))


def warn_unseen(lists: pl.DataFrame, warn: Callable[[str], None] = warn) -> None:
    """Warn that the ideal of graded lists is a guess if some of their relevant items are not in the
    data.
    """
    if lists.height:
        warn(
            f"ndcg: for {lists.height} lists only some relevant items are in the data, first query "
            f"{lists['query'][0]!r}; in the ideal the others have the lowest relevant grade of "
            "their list, so ndcg may be too high; judgements would give their grades"
        )
