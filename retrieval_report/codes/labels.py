"""Turn class ids or multi-hot labels into words that the kernels compare to find relevant items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.codes.inputs import as_words, bad_values
from retrieval_report.contracts.arguments import Array
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import DataError, KeyMismatchError, ParameterError
from retrieval_report.contracts.warning import warn
from retrieval_report.kernels import hamming
from retrieval_report.kernels.hamming import Words
from retrieval_report.kernels.lists import Integers
from retrieval_report.reading.search_results import as_array
from retrieval_report.scoring.unrelated import DEVIATIONS, FEWEST_LISTS

RELEVANCES = ("any", "shared")
MOST_QUERIES, MOST_NEAREST = 300, 100  # whose items are looked at, and how many of each
# relevant items that chance would give; fewer show nothing
ENOUGH_BY_CHANCE = 20
NO_SKILL, ROOM = 1.2, 1.5  # times chance: what was found at the most, what could be at the least
# above the mean of dealing the lists to queries again: what one order in a hundred exceeds
ACCIDENT = 2.33
# Class ids, or multi-hot rows of at least two classes.
Labels = pl.Series | Array


@dataclass(frozen=True)
class LabelSpace:
    """Properties shared by the labels of queries and items, and the labels of the queries."""

    relation: int
    grades: int  # relevances are 0 … grades - 1
    classes: pl.Series  # the queries' class ids, each once; empty without class ids
    width: int  # columns of multi-hot labels
    queries: Words  # (queries, words)

    @classmethod
    def of(cls, labels: object, count: int, relevance: str) -> LabelSpace:
        """Derive the space from the queries' labels."""
        check_choice("relevance", relevance, RELEVANCES)
        values = as_labels(labels, count, "query_labels")
        if isinstance(values, pl.Series):
            classes = values.unique(maintain_order=True)
            return cls(hamming.SAME, 2, classes, 0, _indexes(values, classes)[:, None])
        words = _pack(values, "query_labels", 0)
        relation, grades = hamming.ANY, 2
        if relevance == "shared":
            relation, grades = hamming.SHARED, int(np.bitwise_count(words).sum(axis=1).max()) + 1
        return cls(relation, grades, pl.Series(dtype=pl.Int64), values.shape[1], words)

    def check(self, labels: object, count: int, what: str) -> Labels:
        """Return the items' labels in the form of the queries', without a copy if possible."""
        if labels is None:
            raise ParameterError(f"query_labels: given without {what}")
        values = as_labels(labels, count, what)
        if not isinstance(values, pl.Series):
            fits = values.shape[1] == self.width
        elif (fits := self.relation == hamming.SAME) and values.dtype != self.classes.dtype:
            raise KeyMismatchError(
                f"{what}: {values.dtype} where query_labels are {self.classes.dtype}; classes are "
                "never cast"
            )
        if not fits:
            expected_form = f"multi-hot over {self.width} classes" if self.width else "class ids"
            raise DataError(f"{what}: shape {values.shape}; query_labels are {expected_form}")
        return values

    def encode(self, labels: Labels, what: str, offset: int) -> Words:
        """Lay checked labels out as (words, labels); ``offset``
        is the number of their first row, for messages.
        """
        if isinstance(labels, pl.Series):
            return _indexes(labels, self.classes)[None]
        return np.ascontiguousarray(_pack(labels, what, offset).T)

    def relevance(self, queries: Array, items: Array, item_labels: Words) -> Integers:
        """Return the relevance of single pairs, given as indices of queries and items."""
        query_labels, labels_of_items = self.queries[queries].T, item_labels[:, items]
        if self.relation == hamming.SAME:
            return np.asarray(query_labels[0] == labels_of_items[0], np.int64)
        shared = np.bitwise_count(query_labels & labels_of_items).sum(axis=0, dtype=np.int64)
        return np.asarray(np.minimum(shared, self.grades - 1))


def _indexes(values: pl.Series, classes: pl.Series) -> Words:
    """Return the index of the class of every value, or the number of classes if it is another."""
    numbers = pl.int_range(classes.len(), dtype=pl.UInt64, eager=True)
    indexes = values.replace_strict(classes, numbers, default=classes.len(), return_dtype=pl.UInt64)
    return indexes.to_numpy()


def as_labels(labels: Any, count: int, what: str) -> Labels:
    """Return class ids (n,) as text or whole numbers, or anything that may be multi-hot (n,
    classes) as an array.
    """
    rows = rows_of(labels, what)
    if rows != count:
        raise DataError(f"{what}: {rows} labels for {count} rows")
    if len(np.shape(labels)) == 1:
        return as_names(labels, what)
    values = as_array(labels, what)
    return as_names(_single_column(values), what) if values.shape[1] == 1 else values


def _single_column(values: Array) -> Array:
    """Return class ids of shape (n, 1), as many files hold them, with shape (n,); floats that are
    whole are whole numbers.
    """
    column = values[:, 0]
    is_whole = column.dtype.kind == "f" and np.equal(column, np.rint(column)).all()
    return column.astype(np.int64) if is_whole else column


def rows_of(labels: Any, what: str) -> int:
    """Return how many ids or labels there are."""
    try:
        shape = np.shape(labels)
    except ValueError as error:  # rows of unequal length
        raise DataError(f"{what}: not an array: {error}") from None
    if len(shape) not in (1, 2):
        raise DataError(
            f"{what}: shape {shape}; expected (n,) or (n, 1), or (n, classes) if multi-hot"
        )
    return int(shape[0])


def _pack(values: Array, what: str, offset: int) -> Words:
    """Pack multi-hot rows into words."""
    if values.dtype.kind not in "biuf" or not values.shape[1]:
        raise DataError(
            f"{what}: {values.dtype} values of shape {values.shape}; multi-hot labels are 0 and 1"
        )
    ones = values == 1
    bad = ~(ones | (values == 0))
    if bad.any():
        raise DataError(f"{what}: {bad_values(values, bad, 'neither 0 nor 1', offset)}")
    return as_words(np.packbits(ones, axis=1))


def as_names(values: Any, what: str) -> pl.Series:
    """Return ids or classes as text or as int64, none missing."""
    try:
        series = pl.Series(as_array(values, what) if hasattr(values, "detach") else values)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise DataError(f"{what}: not all text and not all whole numbers") from None
    text = isinstance(series.dtype, pl.String | pl.Categorical | pl.Enum)
    if not (text or series.dtype.is_integer() or series.dtype == pl.Boolean):
        raise DataError(f"{what}: {series.dtype} values; expected text or whole numbers")
    if series.null_count():
        raise DataError(
            f"{what}: {series.null_count()} null, first in row {series.is_null().arg_max()}"
        )
    try:
        return series.cast(pl.String if text else pl.Int64)
    except pl.exceptions.InvalidOperationError:
        raise DataError(f"{what}: beyond int64, largest {series.max()!r}") from None


def check_ids(ids: object, count: int | None, what: str) -> pl.Series:
    """Return ids as a series of distinct text or whole numbers, one per row if that is known."""
    if count is not None and (rows := rows_of(ids, what)) != count:
        raise DataError(f"{what}: {rows} ids for {count} rows")
    names = as_names(ids, what)
    again = names.filter(names.is_duplicated())
    if len(again):
        raise DataError(f"{what}: {len(again)} ids repeat another, first {again[0]!r}")
    return names


def hits_by_chance(
    found: pl.DataFrame,
    n_relevant: pl.DataFrame,
    items: int,
    what: str,
    relevance: Callable[[Integers, Integers], Integers],
) -> tuple[int, int] | None:
    """Warn of a search whose nearest items are as often relevant as any would be, or as its lists
    would hold if they were dealt to the queries again: labels or rows are then not in the order of
    the items or queries. Return how many are relevant, of how many; None where no dealing gives as
    many.

    Parameters
    ----------
    found
        ``query``, ``item``, ``distance`` or ``score``, ``relevance`` of what was found, and its
        ``place``.
    n_relevant
        ``query`` and ``n_relevant``.
    items
        Number of all items.
    what
        Name of the search in the warning.
    relevance
        Returns the relevance to queries, by number, of what was found at places.
    """
    order = "distance" if "distance" in found.columns else "score"
    rank = pl.col(order).rank("ordinal", descending=order == "score").over("query")
    queries = n_relevant["query"].head(MOST_QUERIES)
    nearest = found.filter(pl.col("query").is_in(queries.implode()))
    # Labels may be those of more items than were searched, of which a list may hold all.
    searched = found["item"].n_unique()
    nearest = nearest.filter(rank <= min(MOST_NEAREST, searched // 3))
    lists = nearest.group_by("query").agg(pl.len(), hits=(pl.col("relevance") > 0).sum())
    lists = lists.join(n_relevant, on="query")
    share = pl.col("n_relevant") / max(items, 1)
    hits, best, chance, total, most = lists.select(
        pl.sum("hits"),
        best=pl.min_horizontal("len", "n_relevant").sum(),
        chance=(pl.col("len") * share).sum(),
        total=pl.sum("len"),
        most=(pl.col("len") ** 2 * share * (1 - share)).sum(),  # if lists are relevant as a whole
    ).row(0)
    if chance < ENOUGH_BY_CHANCE or best < ROOM * chance:
        return None
    spread, skilled = "", hits > NO_SKILL * chance
    # without a look at other queries
    if skilled and (lists.height < FEWEST_LISTS or hits > chance + ACCIDENT * most**0.5):
        return None
    suit = False  # whether no dealing gives as many, although these are few
    if lists.height >= FEWEST_LISTS:
        mean, deviation = _dealt(nearest, n_relevant["query"], relevance)
        suit = hits > mean + DEVIATIONS * deviation
        if skilled:
            if hits > mean + ACCIDENT * deviation or mean + DEVIATIONS * deviation >= best:
                return None
            chance, spread = mean, f" ± {deviation:.0f}"
    question = (
        "item_labels in the order that the indices count, and query_labels in that of the queries"
    )
    if 5 * hits < 4 * chance:
        question = f"its {order}s really {order}s, {question}"
    warn(
        f"{what}: {hits} of its {total} nearest items are relevant, and chance alone would give "
        f"{chance:.0f}{spread}; are {question}?"
    )
    return None if suit else (hits, total)


def _dealt(
    nearest: pl.DataFrame, queries: pl.Series, relevance: Callable[[Integers, Integers], Integers]
) -> tuple[float, float]:
    """Return mean and standard deviation of how many items are relevant if lists are dealt to their
    queries in any order: those of a sum over a random permutation (Hoeffding 1951).
    """
    of_list = nearest["query"].rank("dense").to_numpy() - 1
    numbers = queries.is_in(nearest["query"].implode()).arg_true()
    place, size = nearest["place"].to_numpy(), len(numbers)
    hits = np.stack(
        [
            np.bincount(of_list, relevance(np.full(place.size, number), place) > 0, size)
            for number in numbers
        ]
    )
    apart = hits - hits.mean(0) - hits.mean(1, keepdims=True) + hits.mean()
    return float(hits.sum() / size), float(np.sqrt((apart**2).sum() / (size - 1)))
