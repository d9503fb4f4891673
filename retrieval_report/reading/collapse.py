"""Turn ranked chunks into ranked documents."""

from __future__ import annotations

import polars as pl
from polars.exceptions import ComputeError

from retrieval_report.contracts.arguments import check_text
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ColumnError, ParameterError
from retrieval_report.contracts.frames import check_rankings, order_column, unmasked, with_row
from retrieval_report.contracts.warning import warn
from retrieval_report.reading.frames import to_polars

DOCUMENT = ("model", "query", "item")


def collapse(rankings: object, group: str = "item", how: str = "max") -> pl.DataFrame:
    r"""Rank documents by their chunks: one row per query
    and document, however many of its chunks were retrieved.

    Each further chunk of a relevant document would otherwise count as another relevant item, which
    pushes recall and NDCG above 1.

    Parameters
    ----------
    rankings
        Anything that :func:`read_rankings` accepts, except counts. ``relevance`` may be that of
        chunks; judgements passed to :func:`evaluate` are those of documents.
    group
        What names the document of a chunk. "item", or another column. Or a pattern that ids of
        chunks match as a whole, whose first group is the document: ``r"(.+)#\d+"`` turns "d7#2"
        into "d7". Ids that do not match stay as they are, with a warning.
    how
        "max": a document is as near as its nearest chunk. "sum": its score is the sum of the scores
        of its chunks.

    Returns
    -------
    polars.DataFrame
        Rankings of documents: ``model`` (if there is one), ``query``, ``item``, ``distance`` or
        ``score``, ``relevance`` (if there is one: the highest of the chunks), and ``row``, that of
        the first of the nearest chunks. Rows with a false ``mask`` and other columns are left out.

    Raises
    ------
    RetrievalReportError
        A ValueError: for values that are refused in rankings, a pattern that no item matches, and
        sums of distances.

    Warns
    -----
    RetrievalReportWarning
        Some ids do not match the pattern: how many, and one of them.

    Notes
    -----
    Documents tie where their nearest chunks do, and every order of tied documents is equally
    probable, however many chunks they have. A system that draws an order of chunks and then keeps
    the first of each document favours those with many chunks in a tie; what it prints from the rows
    received is the policy ``naive``. Where lists of chunks are cut, the nearest chunks are
    complete up to the last distance, and so are the documents; a sum lacks what was cut.

    Examples
    --------
    >>> chunks = {"q": {"d1#0": 0.9, "d1#1": 0.8, "d2#0": 0.8}}
    >>> collapse(chunks, r"(.+)#\d+").select("item", "score").rows()
    [('d1', 0.9), ('d2', 0.8)]
    >>> collapse(chunks, r"(.+)#\d+", how="sum").select("item", pl.col("score").round(2)).rows()
    [('d1', 1.7), ('d2', 0.8)]
    """
    check_choice("how", how, ("max", "sum"))
    frame = to_polars(rankings, "rankings")
    if "count" in frame.columns:
        raise ColumnError("rankings: counts do not say which items are chunks of one document")
    rows = check_rankings(frame, relevance=False, null_distance=True)
    order = order_column(rows)
    if how == "sum" and order == "distance":
        raise ParameterError("how: 'sum' adds scores, but these are distances; take 'max'")
    documents = _documents(frame, rows["item"], check_text("group", group))
    rows = unmasked(with_row(rows).with_columns(documents)).sort(
        order, "row", descending=[order == "score", False], nulls_last=True
    )
    keys = [name for name in DOCUMENT if name in rows.columns]
    total = pl.when(pl.col(order).count() > 0).then(pl.col(order).sum())  # of falling scores
    kept = [total if how == "sum" else pl.col(order).first(), pl.first("row")]
    if "relevance" in rows.columns:
        kept.insert(1, pl.max("relevance"))
    return rows.group_by(keys, maintain_order=True).agg(kept).sort("row", maintain_order=True)


def _documents(frame: pl.DataFrame, items: pl.Series, group: str) -> pl.Series:
    """Return the document of every row."""
    if group in frame.columns:
        return frame[group].alias("item")
    try:
        documents = items.cast(pl.String).str.extract(f"^(?:{group})$", 1)
    except ComputeError as error:
        raise ParameterError(f"group: {group!r} is neither a column nor a pattern") from error
    if len(documents) and not documents.count():
        raise ParameterError(
            f"group: {group!r} is no column, and no item such as {items[0]!r} matches it as a "
            "pattern with a group in parentheses"
        )
    others = items.filter(documents.is_null()).unique().sort()
    if len(others):
        warn(
            f"group: {len(others)} of {items.n_unique()} item ids, such as {others[0]!r}, do not "
            f"match {group!r}; each is taken as a document of its own"
        )
    return documents.fill_null(items.cast(pl.String))
