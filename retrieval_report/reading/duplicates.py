"""Find items that are the same: by their content, or, as a suspicion, by how they rank."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl

from retrieval_report.contracts.checks import check_unique, refuse
from retrieval_report.contracts.errors import ColumnError, DataError, ParameterError
from retrieval_report.contracts.frames import (
    check_rankings,
    order_column,
    unmasked,
    with_model,
)
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.reading.convert import convert
from retrieval_report.reading.finding import is_path
from retrieval_report.reading.frames import to_polars
from retrieval_report.reading.readers import columns_of
from retrieval_report.reading.search_results import as_array, is_array, item_ids

CONTENT = "content"


def duplicates(items: object, ids: object = None) -> pl.DataFrame:
    """Find groups of items that are the same, for :func:`collapse <retrieval_report.collapse>` to
    take as one.

    A search cannot tell such items apart, so they tie in every list, and the judgements of one of
    them say nothing about its twins.

    Parameters
    ----------
    items
        What is compared. An array with a row per item, such as embeddings or codes, or with one
        value per item, such as a hash. Or a frame or a dictionary of columns with ``item``, of
        which all other columns are compared; or a dictionary of item → text or hash. Or rankings,
        as :func:`read_rankings` accepts them: items that are retrieved by the same lists, and tie
        in each, are *suspected*. The last tie of a list is left out, since a list that was cut may
        hold only a part of it.
    ids
        The items of the rows of an array: text or whole numbers; by default 0, 1, ….

    Returns
    -------
    polars.DataFrame
        One row per item that has a twin: ``item``, its ``group``, which is the first item of it in
        the order received, and how many ``copies`` the group has. From rankings also ``lists``, the
        number of lists in which they tie: the fewer, the likelier it is chance. Values are compared
        exactly, and 0.0 is −0.0; items without content (null) are the same as no other.

    Raises
    ------
    RetrievalReportError
        A ValueError: for an item that occurs twice, an array with NaN or of more than two
        dimensions, counts, and values that are refused in rankings.

    Examples
    --------
    >>> import numpy as np
    >>> duplicates(np.array([[0.5, 1.0], [0.25, 1.0], [0.5, 1.0]]), ids=["a", "b", "c"]).rows()
    [('a', 'a', 2), ('c', 'a', 2)]
    >>> duplicates({"a": "the same", "b": "another", "c": "the same"}).rows()
    [('a', 'a', 2), ('c', 'a', 2)]
    >>> lists = {"q1": {"a": 0.5, "c": 0.5, "b": 0.25}, "q2": {"b": 2, "c": 1, "a": 1, "d": 0}}
    >>> duplicates(lists).rows()
    [('a', 'a', 2, 2), ('c', 'a', 2, 2)]
    """
    items = items.collect() if isinstance(items, pl.LazyFrame) else items
    if is_array(items):
        return _groups(_rows_of(items, ids))
    if ids is not None:
        raise ParameterError("ids: only for an array; a frame has a column 'item'")
    content = _content_of(items)
    if content is None:
        return _suspects(to_polars(items, "rankings"))
    check_unique(content, ["item"], "items")
    return _groups(content)


def _rows_of(items: object, ids: object) -> pl.DataFrame:
    """Return the rows of an array with their ids."""
    array = as_array(items, "items")
    if array.dtype.kind not in "biufU" or array.ndim not in (1, 2) or not all(array.shape[1:]):
        raise DataError(
            f"items: an array of {array.dtype} with shape {array.shape}; expected numbers or text, "
            "one row per item"
        )
    for row, *_ in np.argwhere(np.isnan(array)) if array.dtype.kind == "f" else ():
        raise DataError(f"items: row {row} holds NaN, which equals nothing")
    array = array.astype(np.float32) if array.dtype == np.float16 else array
    row_ids = np.arange(len(array)) if ids is None else as_array(ids, "ids")
    if row_ids.shape != array.shape[:1] or row_ids.dtype.kind not in "iuU":
        raise ParameterError(
            f"ids: {row_ids.dtype} values of shape {row_ids.shape}; expected text or whole "
            f"numbers, one for each of the {len(array)} rows"
        )
    frame = pl.DataFrame([item_ids(row_ids), pl.Series(CONTENT, array)])
    check_unique(frame, ["item"], "ids")
    return frame


def _content_of(items: object) -> pl.DataFrame | None:
    """Return a frame of items and what they hold, or None for rankings."""
    if is_path(items) or isinstance(items, tuple | list):
        return None
    if isinstance(items, Mapping):
        if any(isinstance(part, Mapping) for part in items.values()):
            return None
        items = columns_of(items, "item", CONTENT)
    names = items if isinstance(items, Mapping) else getattr(items, "columns", ())
    if "item" not in names:
        return None
    frame = convert(items, "items")
    if "query" in to_polars(frame.head(0), "rankings").columns:
        return None
    if frame.width < 2:
        raise ColumnError("items: nothing to compare; found only 'item'")
    refuse(frame, pl.col("item").is_null(), "item", "null", what="items")
    return frame


def _groups(frame: pl.DataFrame, **more: pl.Expr) -> pl.DataFrame:
    """Return the items that agree in every other column."""
    others = [name for name in frame.columns if name != "item" and name not in more]
    with_content = frame.filter(pl.any_horizontal(pl.col(others).is_not_null()))
    groups = with_content.group_by(others, maintain_order=True).agg("item", copies=pl.len(), **more)
    twins = groups.filter(pl.col("copies") > 1).with_columns(group=pl.col("item").list.first())
    names = ["item", "group", "copies", *more]
    return in_contract(twins.select(names).explode("item"), schema("duplicates", *names))


def _suspects(rankings: pl.DataFrame) -> pl.DataFrame:
    """Return the items that the same lists retrieve, and that tie in each."""
    if "count" in rankings.columns:
        raise ColumnError("items: counts do not say which items tie")
    rows = check_rankings(rankings, relevance=False, null_distance=True)
    order = order_column(rows)
    rows = unmasked(with_model(rows)).drop_nulls(order)
    check_unique(rows, ["model", "query", "item"], "items")
    last = pl.max(order) if order == "distance" else pl.min(order)
    above = rows.filter(pl.col(order) != last.over("model", "query"))
    retrieved = above.select("item", order, list=pl.struct("model", "query").rank("dense")).sort(
        "list", maintain_order=True
    )
    by_item = retrieved.group_by("item", maintain_order=True).agg("list", order)
    first = rows.select("item").unique(maintain_order=True)
    by_item = first.join(by_item, on="item", how="inner", maintain_order="left")
    return _groups(by_item, lists=pl.col("list").list.len().first())
