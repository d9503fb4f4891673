"""Turn ranked chunks into ranked documents, and items that are the same into one."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl
from polars.exceptions import ComputeError

from retrieval_report.contracts.arguments import check_text
from retrieval_report.contracts.checks import check_choice, check_unique, refuse
from retrieval_report.contracts.errors import ColumnError, ParameterError
from retrieval_report.contracts.frames import (
    check_rankings,
    check_table,
    order_column,
    unmasked,
    with_row,
)
from retrieval_report.contracts.warning import warn
from retrieval_report.reading.convert import convert, in_kind_of
from retrieval_report.reading.frames import to_polars
from retrieval_report.reading.readers import columns_of

DOCUMENT = ("model", "query", "item")


def collapse(rankings: object, group: object = "item", how: str = "max") -> pl.DataFrame:
    r"""Rank documents by their chunks, or groups of items that are the same: one row per query
    and document, however many of its chunks were retrieved.

    Each further chunk of a relevant document would otherwise count as another relevant item, which
    pushes recall and NDCG above 1.

    Parameters
    ----------
    rankings
        Anything that :func:`read_rankings` accepts, except counts. ``relevance`` may be that of
        chunks; judgements passed to :func:`evaluate` are those of documents. Or judgements of
        items, a frame as :func:`read_judgements` returns it: a document has the highest of its
        chunks' grades.
    group
        What names the document of a chunk. "item", or another column. Or a pattern that ids of
        chunks match as a whole, whose first group is the document: ``r"(.+)#\d+"`` turns "d7#2"
        into "d7". Ids that do not match stay as they are, with a warning. Or a frame of ``item``
        and ``group``, as :func:`lists.duplicates` returns it, or a dictionary of item → group;
        items that it does not hold stay as they are.
    how
        "max": a document is as near as its nearest chunk. "sum": its score is the sum of the scores
        of its chunks.

    Returns
    -------
    polars.DataFrame
        Rankings of documents: ``model`` (if there is one), ``query``, ``item``, ``distance`` or
        ``score``, ``relevance`` (if there is one: the highest of the chunks), and ``row``, that of
        the first of the nearest chunks. Rows with a false ``mask`` and other columns are left out.
        Of judgements ``query``, ``item`` and ``relevance``.

    Raises
    ------
    RetrievalReportError
        A ValueError: for values that are refused in rankings, a pattern that no item matches, an
        item with two groups, and sums of distances.

    Warns
    -----
    RetrievalReportWarning
        Some ids do not match the pattern, or none is in the frame of groups: how many, and one.

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
    >>> twins = {"b": "a"}
    >>> collapse({"q": {"a": 2, "b": 2, "c": 1}}, twins).select("item", "score").rows()
    [('a', 2), ('c', 1)]
    >>> judged = pl.DataFrame({"query": ["q", "q"], "item": ["b", "c"], "relevance": [1, 0]})
    >>> collapse(judged, twins).rows()
    [('q', 'a', 1), ('q', 'c', 0)]
    """
    check_choice("how", how, ("max", "sum"))
    frame = to_polars(rankings, "rankings")
    if "count" in frame.columns:
        raise ColumnError("rankings: counts do not say which items are chunks of one document")
    if "relevance" in frame.columns and not {"distance", "score"} & {*frame.columns}:
        return _judgements(frame, group)
    rows = check_rankings(frame, relevance=False, null_distance=True)
    order = order_column(rows)
    if how == "sum" and order == "distance":
        raise ParameterError("how: 'sum' adds scores, but these are distances; take 'max'")
    documents = _documents(frame, rows["item"], group, retrieved=True)
    rows = unmasked(with_row(rows).with_columns(documents)).sort(
        order, "row", descending=[order == "score", False], nulls_last=True
    )
    keys = [name for name in DOCUMENT if name in rows.columns]
    total = pl.when(pl.count(order) > 0).then(pl.sum(order))  # of falling scores
    aggregates = [total if how == "sum" else pl.first(order), pl.first("row")]
    if "relevance" in rows.columns:
        aggregates.insert(1, pl.max("relevance"))
    return rows.group_by(keys, maintain_order=True).agg(aggregates).sort("row", maintain_order=True)


def _judgements(frame: pl.DataFrame, group: object) -> pl.DataFrame:
    """Return the judgements of documents: the highest of their chunks."""
    rows = check_table(frame, "judgements")
    documents = _documents(frame, rows["item"], group, retrieved=False)
    by_document = rows.with_columns(documents).group_by("query", "item", maintain_order=True)
    return by_document.agg(pl.max("relevance"))


def _documents(
    frame: pl.DataFrame, items: pl.Series, group: object, *, retrieved: bool
) -> pl.Series:
    """Return the document of every row."""
    if isinstance(group, Mapping | pl.LazyFrame) or hasattr(group, "columns"):
        return _mapped(items, group, retrieved=retrieved)
    name = check_text("group", group)
    return frame[name].alias("item") if name in frame.columns else _matched(items, name)


def _mapped(items: pl.Series, group: object, *, retrieved: bool) -> pl.Series:
    """Return the group of every item by a table of items and groups."""
    table = convert(columns_of(group, "item", "group"), "group")
    lacking = {"item", "group"} - {*table.columns}
    if lacking:
        raise ColumnError(
            f"group: no column {min(lacking)!r}; expected a column of the rankings, a pattern, or "
            "a table of item and group"
        )
    if table.is_empty():
        return items
    check_unique(table, ["item"], "group")
    for name in ("item", "group"):
        refuse(table, pl.col(name).is_null(), name, "null", what="group")
    known_items = in_kind_of(items, table["item"], "rankings", "groups")
    groups = in_kind_of(items, table["group"].alias("item"), "rankings", "groups")
    group_of_items = items.replace_strict(
        known_items, groups, default=None, return_dtype=groups.dtype
    )
    if retrieved and len(items) and not group_of_items.count():  # of judged items there may be few
        warn(
            f"group: none of its {len(table)} items, such as {known_items[0]!r}, is among the "
            f"{items.n_unique()} items here, such as {items[0]!r}"
        )
    return group_of_items.fill_null(items.cast(groups.dtype)).alias("item")


def _matched(items: pl.Series, group: str) -> pl.Series:
    """Return the document of every item by a pattern."""
    try:
        documents = items.cast(pl.String).str.extract(f"^(?:{group})$", 1)
    except ComputeError as error:
        raise ParameterError(f"group: '{group}' is neither a column nor a pattern") from error
    if len(documents) and not documents.count():
        raise ParameterError(
            f"group: '{group}' is not a column, and as a pattern with a group in parentheses it "
            f"matches no item; the first item is {items[0]!r}"
        )
    others = items.filter(documents.is_null()).unique().sort()
    if len(others):
        warn(
            f"group: {len(others)} of {items.n_unique()} item ids, such as {others[0]!r}, do not "
            f"match '{group}'; each is taken as a document of its own"
        )
    return documents.fill_null(items.cast(pl.String))
