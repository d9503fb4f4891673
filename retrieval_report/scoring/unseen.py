"""Relevant items that are known by their number only: which lists and queries have such, and warnings of them."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from retrieval_report.contracts.warning import warn
from retrieval_report.metrics.parsing import Requests
from retrieval_report.scoring.judged import Judged
from retrieval_report.scoring.layout import Prepared


def unequal_counts(lists: pl.DataFrame) -> pl.DataFrame:
    """Return queries for which models retrieved different numbers of relevant items: ``query``, ``least``, ``most``."""
    number, shown = pl.col("n_relevant"), lists.filter(pl.col("items") > 0)
    found = shown.group_by("query").agg(least=number.min(), most=number.max())
    return found.filter(pl.col("least") < pl.col("most")).sort("query")


def warn_unequal(differ: pl.DataFrame, warn: Callable[[str], None] = warn) -> None:
    """Warn if models' counts hold different numbers of relevant items for a query, since counts cannot be pooled."""
    if differ.height:
        query, least, most = differ.row(0)
        warn(
            f"counts: for {differ.height} queries some models have more relevant items than others, first query "
            f"{query!r}: {least} to {most}. Counts have no items to pool, so recall, ap and ndcg of a model are "
            "divided by its own number; n_relevant in the queries frame would give the true one"
        )


def unseen_lists(prepared: Prepared, judged: Judged, requests: Requests) -> pl.Series:
    """Return which lists have a graded ideal that is a guess: some of their relevant items are not in the data."""
    ideal = any(ideal.over == "judged" for metric, _ in requests for ideal in metric.reads.ideals)
    known = judged.whole.judged or "n_relevant" not in judged.lists.columns
    if not ideal or known or prepared.relevant_grade.sum() <= 1:
        return pl.repeat(False, prepared.names.height, eager=True)
    return pl.Series(prepared.relevant > prepared.retrieved.total(prepared.relevant_grade))


def warn_unseen(lists: pl.DataFrame, warn: Callable[[str], None] = warn) -> None:
    """Warn that the ideal of graded lists is a guess if some of their relevant items are not in the data."""
    if lists.height:
        warn(
            f"ndcg: for {lists.height} lists only some relevant items are in the data, first query "
            f"{lists['query'][0]!r}; in the ideal the others have the lowest relevant grade of "
            "their list, so ndcg may be too high; judgements would give their grades"
        )
