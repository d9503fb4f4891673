"""Look at one ranked list: its rows as ties, and beside another list."""

from __future__ import annotations

from typing import Unpack

import polars as pl

from retrieval_report.contracts.arguments import Named, check_text
from retrieval_report.contracts.errors import ColumnError, ParameterError
from retrieval_report.contracts.frames import with_model
from retrieval_report.contracts.options import RowOptions, options_with
from retrieval_report.engines.check_scores import join_left
from retrieval_report.reading.frames import to_polars
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.layout import rounded
from retrieval_report.scoring.ties import with_ties

LIST = ("model", "query", "item", "tie", "tie_start", "tie_size", "relevance")


def ranking_ties(
    rankings: object,
    *,
    model: str,
    query: object,
    judgements: object = None,
    queries: object = None,
    relevant_from: float | None = None,
    **options: Unpack[RowOptions],
) -> pl.DataFrame:
    """Return one list of the rankings with its ties and the relevances by which it is scored.

    Parameters
    ----------
    rankings
        A rankings frame; a counts frame has no items and is refused.
    model, query
        The model and query of the list; rankings without a column ``model`` belong to "model".
    judgements, queries, relevant_from, **options
        As for :func:`evaluate`; options that do not decide which rows count have no effect.

    Returns
    -------
    polars.DataFrame
        The result of :func:`tie_groups`; no rows if the model has none for this query.

    Examples
    --------
    >>> rankings = {"query": ["p", "q", "q"], "item": ["a", "a", "b"], "distance": [1, 2, 2]}
    >>> judgements = {"query": ["p", "q"], "item": ["a", "b"], "relevance": [1, 1]}
    >>> rows = ranking_ties(rankings, model="model", query="q", judgements=judgements)
    >>> rows.select("item", "relevance", "tie", "tie_size", "tie_relevant").rows()
    [('a', 0, 1, 2, 1), ('b', 1, 1, 2, 1)]
    """
    frame, sources = lists_of_query(rankings, query, judgements, queries)
    checked = options_with(options, relevant_from=relevant_from, policies="expected")
    judged = judge(frame.filter(model=check_text("model", model)), **sources, options=checked)
    rows = rounded(judged.scored_rows, checked)
    if checked.distance_threshold is not None:
        near = pl.col("distance") <= checked.distance_threshold
        rows = rows.with_columns(relevance=pl.when(near).then("relevance").otherwise(0))
    return with_ties(rows, checked.relevant_from)


def side_by_side(rows: object, other: object) -> pl.DataFrame:
    """Show the ranks of the items of one list in itself and in another one.

    Parameters
    ----------
    rows, other
        Two results of :func:`ranking_ties`, for the same query.

    Returns
    -------
    polars.DataFrame
        The rows of the first, nearest first, with ``ranks`` (those that tie order leaves an item,
        such as 3 or 4–7, on the first item of a tie; the others have its bracket) and
        ``other_ranks`` (of the item in the other list; null if it is not there).

    Examples
    --------
    >>> rankings = {
    ...     "model": ["fine"] * 3 + ["tied"] * 3,
    ...     "query": ["q"] * 6,
    ...     "item": list("abcabd"),
    ...     "distance": [1, 2, 3, 5, 5, 5],
    ...     "relevance": [1, 0, 0, 1, 0, 0],
    ... }
    >>> fine, tied = (ranking_ties(rankings, model=name, query="q") for name in ("fine", "tied"))
    >>> side_by_side(fine, tied).select("item", "ranks", "other_ranks").rows()
    [('a', '1', '1–3'), ('b', '2', '1–3'), ('c', '3', None)]
    >>> side_by_side(tied, fine)["ranks"].to_list()
    ['┌ 1–3', '│', '└']
    """
    start, last = pl.col("tie_start"), pl.col("tie_start") + pl.col("tie_size") - 1
    alone = pl.when(tie_size=1).then(start.cast(pl.String))
    span = alone.otherwise(pl.format("{}–{}", start, last))
    spans = _tied(other, "other").select("item", other_ranks=span)
    joined = join_left(_tied(rows, "rows").sort("tie", maintain_order=True), spans, "item")
    row = pl.int_range(pl.len()).over("tie")
    inner = row < pl.len().over("tie") - 1
    marked = alone.when(row == 0).then("┌ " + span)
    return joined.with_columns(ranks=marked.when(inner).then(pl.lit("│")).otherwise(pl.lit("└")))


def _tied(rows: object, name: str) -> pl.DataFrame:
    frame = to_polars(rows, name)
    if missing := [column for column in LIST if column not in frame.columns]:
        raise ColumnError(f"{name}: no column {missing[0]!r}; expected what ranking_ties returns")
    return frame


def lists_of_query(
    rankings: object, query: object, judgements: object, queries: object
) -> tuple[pl.DataFrame, Named]:
    """The rankings of all models for one query, and what is known of it: all that may decide the
    score of a list.

    A counts frame is refused.

    >>> rankings = {"query": ["p", "q"], "item": ["a", "a"], "distance": [1, 2]}
    >>> frame, given = lists_of_query(rankings, "q", None, {"query": ["p", "q"]})
    >>> frame["distance"].to_list(), given["queries"]["query"].to_list()
    ([2], ['q'])
    """
    frame = _with_query(rankings, "rankings")
    if "count" in frame.columns:
        raise ParameterError("rankings: a counts frame has no items, so there is no list to show")
    kind = frame.schema.get("query")
    if kind is not None and isinstance(query, str) == kind.is_integer():
        raise ParameterError(
            f"query: {query!r} is not an id of this kind; column 'query' of the rankings is {kind}"
        )
    of_query = pl.col("query").cast(pl.String) == str(query)
    return with_model(frame).filter(pl.col("query") == query), {
        name: None if part is None else _with_query(part, name).filter(of_query)
        for name, part in {"judgements": judgements, "queries": queries}.items()
    }


def _with_query(value: object, name: str) -> pl.DataFrame:
    frame = to_polars(value, name)
    if "query" not in frame.columns:
        raise ColumnError(f"{name}: no column 'query'")
    return frame
