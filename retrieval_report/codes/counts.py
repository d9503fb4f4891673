"""Turn codes into counts: ``count_codes`` and ``count_relevant``."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from retrieval_report.codes.counting import Items, Task, cells_of
from retrieval_report.codes.inputs import CodeSpace, as_matrix
from retrieval_report.codes.labels import LabelSpace, as_labels, check_ids
from retrieval_report.codes.pairs import Selves
from retrieval_report.codes.shards import is_array, read_slices
from retrieval_report.contracts.arguments import check_whole, is_name
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.forks import refuse_fork
from retrieval_report.contracts.options import BETWEEN_TIES, NO
from retrieval_report.contracts.wording import in_python

if TYPE_CHECKING:
    from tqdm import tqdm

KEYS = ["query", "distance", "relevance"]


def count_codes(
    query_codes: object,
    item_codes: object,
    *,
    query_labels: object = None,
    item_labels: object = None,
    relevance: str = "any",
    model: str = "model",
    query_ids: object = None,
    item_ids: object = None,
    bits: int | None = None,
    exclude_self: bool = False,
    depth: int | None = None,
    threads: int | None = None,
    progress: bool = False,
) -> pl.DataFrame:
    """Count the items at every distance from every query, by relevance.

    An exact score needs nothing else. There is no distance matrix and no sort, so memory is bounded
    by the result and one shard of items.

    Parameters
    ----------
    query_codes, item_codes
        Arrays with one code per row. Bits as columns: −1 and 1, or 0 and 1, of any number type, or
        booleans. Packed bits (from ``np.packbits``, or as words): uint8 or uint64, marked by
        ``bits``. Queries and items must have the same form. Items may also be an iterable of
        shards: arrays, or tuples ``(codes, labels)`` or ``(codes, labels, ids)``. Arrays may be
        memory-mapped.
    query_labels, item_labels
        Class ids of shape (n,), as whole numbers or text, or multi-hot labels of shape (n, classes)
        with 0 and 1. Of shards, labels and ids of the items stand in the shards.
    relevance
        One of {"any", "shared"}: multi-hot labels give 1 for any class in common, or the number of
        classes in common. Class ids give 1 for the same class.
    model
        The value of the column ``model``.
    query_ids, item_ids
        Text or whole numbers; by default the row numbers 0, 1, …, counted over all shards for
        items.
    bits
        Number of bits of a packed code. Without it, columns are bits and values must be −1/1 or
        0/1; uint8 codes of 0 and 1 are never mistaken for packed ones.
    exclude_self
        Leave out the item with the same id as the query. Without ids, query i is item i, and their
        codes must be equal.
    depth
        Count only this many of the nearest items, and all that tie with the last. Relevant items
        farther away are missing from the counts, so pass the result of :func:`count_relevant` to
        ``evaluate`` as ``queries``.
    threads
        Number of threads; by default all processors. The result does not depend on it.
    progress
        Show a progress bar, in items.

    Returns
    -------
    polars.DataFrame
        ``model``, ``query``, ``distance``, ``relevance``, ``count``, sorted by the first four, and
        ``truncated``: "no", or "between_ties" if ``depth`` left items out; no count is 0. Counts of
        shards, without ``depth``, add up to the counts of the whole (:func:`count_ties` adds them).

    Raises
    ------
    RetrievalReportError
        A ValueError that names the rule, the location and the value.

    Examples
    --------
    >>> import numpy as np
    >>> queries = np.array([[1, 1, 1, 1], [-1, -1, 1, 1]])
    >>> items = np.array([[1, 1, 1, 1], [-1, 1, 1, 1], [1, -1, 1, 1], [-1, -1, -1, -1]])
    >>> count_codes(
    ...     queries, items, query_labels=[0, 1], item_labels=[0, 0, 1, 1], query_ids=["a", "b"]
    ... )
    shape: (8, 6)
    ┌───────┬───────┬──────────┬───────────┬───────┬───────────┐
    │ model ┆ query ┆ distance ┆ relevance ┆ count ┆ truncated │
    │ ---   ┆ ---   ┆ ---      ┆ ---       ┆ ---   ┆ ---       │
    │ str   ┆ str   ┆ i64      ┆ i64       ┆ i64   ┆ str       │
    ╞═══════╪═══════╪══════════╪═══════════╪═══════╪═══════════╡
    │ model ┆ a     ┆ 0        ┆ 1         ┆ 1     ┆ no        │
    │ model ┆ a     ┆ 1        ┆ 0         ┆ 1     ┆ no        │
    │ model ┆ a     ┆ 1        ┆ 1         ┆ 1     ┆ no        │
    │ model ┆ a     ┆ 4        ┆ 0         ┆ 1     ┆ no        │
    │ model ┆ b     ┆ 1        ┆ 0         ┆ 1     ┆ no        │
    │ model ┆ b     ┆ 1        ┆ 1         ┆ 1     ┆ no        │
    │ model ┆ b     ┆ 2        ┆ 0         ┆ 1     ┆ no        │
    │ model ┆ b     ┆ 2        ┆ 1         ┆ 1     ┆ no        │
    └───────┴───────┴──────────┴───────────┴───────┴───────────┘
    """
    refuse_fork()
    if query_labels is None:
        raise ParameterError(
            "query_labels: none given; "
            + in_python("", "put them beside the codes as an array labels (np.savez); ")
            + "to judge codes by judgements, search them first, and "
            + in_python("pass the results to from_search", "evaluate the results")
        )
    if not is_name(model):
        raise ParameterError(f"model: {model!r} is not a name")
    queries = as_matrix(query_codes, "query_codes")
    space = CodeSpace.of(queries, bits)
    labels = LabelSpace.of(query_labels, len(queries), relevance)
    ids = query_names(query_ids, len(queries))
    limit = None if depth is None else check_whole("depth", depth, 1)
    workers = (os.cpu_count() or 1) if threads is None else check_whole("threads", threads, 1)
    encoded = np.ascontiguousarray(space.encode(queries, "query_codes").T)
    # An excluded item may be among the nearest that a slice keeps, so one more is kept until it is
    # removed.
    task = Task(space, labels, encoded, None if limit is None else limit + exclude_self, workers)
    selves = None
    if exclude_self:
        selves = Selves(task, ids, query_ids is None, np.zeros(len(ids), np.bool_))
    slices = read_slices(item_codes, item_labels, item_ids, space, labels)
    from tqdm import tqdm

    with tqdm(
        total=len(item_codes) if is_array(item_codes) else None,
        disable=not progress,
        unit="items",
        unit_scale=True,
    ) as bar:
        cells = _sum_slices(task, slices, selves, limit, bar)
    if selves is not None:
        selves.check()
    cells_with_ids = cells.with_columns(model=pl.lit(model), query=ids.gather(cells["query"]))
    if not ids.is_sorted():
        cells_with_ids = cells_with_ids.sort("query", maintain_order=True)
    # A list that is not as long as the limit holds all items.
    items_per_query = cells.group_by("query").agg(pl.sum("count"))["count"]
    ends = NO if limit is None or (items_per_query < limit).all() else BETWEEN_TIES
    return cells_with_ids.select("model", *KEYS, "count", truncated=pl.lit(ends))


def count_relevant(
    query_labels: object,
    item_labels: object,
    *,
    relevance: str = "any",
    relevant_from: int = 1,
    query_ids: object = None,
    item_ids: object = None,
    exclude_self: bool = False,
) -> pl.DataFrame:
    """Count the relevant items of every query, at any distance, from labels alone.

    Counts limited to a ``depth`` or a radius do not include them all; with this frame as
    ``queries``, :func:`evaluate` and :func:`evaluate_radius` still know R.

    Parameters
    ----------
    query_labels, item_labels, relevance, query_ids, item_ids, exclude_self
        The same arguments as for :func:`count_codes`.
    relevant_from
        The relevance from which on items are counted: that of :func:`evaluate`.

    Returns
    -------
    polars.DataFrame
        ``query``, ``n_relevant``, ``n_relevant_from`` (the level) and, if labels are class ids,
        ``label``, in the order of the queries.

    Examples
    --------
    >>> count_relevant(["cat", "dog"], ["cat", "cat", "bird"], query_ids=["a", "b"]).rows()
    [('a', 2, 1, 'cat'), ('b', 0, 1, 'dog')]
    """
    level = check_whole("relevant_from", relevant_from, 1)
    for what, labels in (("query_labels", query_labels), ("item_labels", item_labels)):
        if not hasattr(labels, "__len__"):
            raise ParameterError(
                f"{what}: a {type(labels).__name__} is not a list or array of labels"
            )
    queries, items = (
        np.zeros((len(labels), 1), np.bool_)  # type: ignore[arg-type]
        for labels in (query_labels, item_labels)
    )
    counts = count_codes(
        queries,
        items,
        query_labels=query_labels,
        item_labels=item_labels,
        relevance=relevance,
        query_ids=query_ids,
        item_ids=item_ids,
        exclude_self=exclude_self,
    )
    relevant = (
        counts.filter(pl.col("relevance") >= level)
        .group_by("query")
        .agg(n_relevant=pl.sum("count"))
    )
    frame = pl.DataFrame({"query": query_names(query_ids, len(queries))})
    frame = frame.join(relevant, on="query", how="left", maintain_order="left").with_columns(
        pl.col("n_relevant").fill_null(0), n_relevant_from=pl.lit(level, pl.Int64)
    )
    labels = as_labels(query_labels, len(queries), "query_labels")
    return frame.with_columns(label=labels) if isinstance(labels, pl.Series) else frame


def query_names(ids: object, count: int) -> pl.Series:
    """Return the ids of the queries, by default their numbers."""
    return pl.int_range(count, eager=True) if ids is None else check_ids(ids, count, "query_ids")


def _sum_slices(
    task: Task,
    slices: Iterable[Items],
    selves: Selves | None,
    limit: int | None,
    bar: tqdm[None],
) -> pl.DataFrame:
    """Add up the cells of all slices, dropping those beyond the limit after every slice."""
    total: list[pl.DataFrame] = []
    for items in slices:
        parts = []
        for share, cells in cells_of(task, items):
            parts.append(cells)
            bar.update(share * items.size)
        parts = [*total, pl.concat(parts), *([selves.cells(items)] if selves else [])]
        merged = parts[0]  # the cells of one slice are distinct and sorted
        if len(parts) > 1:
            merged = pl.concat(parts).group_by(KEYS).agg(pl.sum("count")).sort(KEYS)
        total = [_nearest(merged, limit)]
    return total[0].filter(pl.col("count") != 0)


def _nearest(cells: pl.DataFrame, limit: int | None) -> pl.DataFrame:
    """Drop the cells beyond the tie that holds the limit-th item."""
    if limit is None:
        return cells
    ties = cells.group_by("query", "distance", maintain_order=True).agg(pl.sum("count"))
    before = pl.col("count").cum_sum().over("query") - pl.col("count")
    return cells.join(
        ties.filter(before < limit), on=["query", "distance"], how="semi", maintain_order="left"
    )
