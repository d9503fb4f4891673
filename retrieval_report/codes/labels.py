"""Turn class ids or multi-hot labels into words that the kernels compare to find relevant items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.codes.inputs import Matrix, as_words
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import DataError, KeyMismatchError, ParameterError
from retrieval_report.kernels import hamming
from retrieval_report.kernels.hamming import Words
from retrieval_report.kernels.lists import Integers

RELEVANCES = ("any", "shared")


@dataclass(frozen=True)
class LabelSpace:
    """Properties shared by the labels of queries and items, and the labels of the queries."""

    relation: int
    grades: int  # relevances are 0 … grades - 1
    classes: Matrix  # the queries' class ids, ascending; empty without class ids
    width: int  # columns of multi-hot labels
    queries: Words  # (queries, words)

    @classmethod
    def of(cls, labels: object, count: int, relevance: str) -> LabelSpace:
        """Derive the space from the queries' labels."""
        check_choice("relevance", relevance, RELEVANCES)
        nothing = np.empty(0)
        values = _as_labels(labels, count, "query_labels")
        if values.ndim == 1:
            classes, codes = np.unique(_as_classes(values, "query_labels"), return_inverse=True)
            return cls(hamming.SAME, 2, classes, 0, codes.astype(np.uint64)[:, None])
        words = _pack(values, "query_labels", 0)
        if relevance == "any":
            return cls(hamming.ANY, 2, nothing, values.shape[1], words)
        most = int(np.bitwise_count(words).sum(axis=1).max())
        return cls(hamming.SHARED, most + 1, nothing, values.shape[1], words)

    def check(self, labels: object, count: int, what: str) -> Matrix:
        """Return the items' labels as an array of the same kind as the queries', without a copy if
        possible.
        """
        if labels is None:
            raise ParameterError(f"query_labels: given without {what}")
        values = _as_labels(labels, count, what)
        if self.relation != hamming.SAME:
            if values.ndim != 2 or values.shape[1] != self.width:
                raise DataError(
                    f"{what}: shape {values.shape}; query_labels are multi-hot over {self.width} "
                    "classes"
                )
        elif values.ndim != 1:
            raise DataError(
                f"{what}: shape {values.shape}; query_labels are class ids, one per row"
            )
        elif (values.dtype.kind == "U") != (self.classes.dtype.kind == "U"):
            raise KeyMismatchError(
                f"{what}: {values.dtype} where query_labels are {self.classes.dtype}; classes are "
                "never cast"
            )
        return values

    def encode(self, labels: Matrix, what: str, offset: int) -> Words:
        """Lay checked labels out as (words, labels); ``offset`` is the number of their first row,
        for messages.
        """
        if self.relation != hamming.SAME:
            return np.ascontiguousarray(_pack(labels, what, offset).T)
        values = _as_classes(labels, what)
        location = np.searchsorted(self.classes, values)
        known = self.classes[np.minimum(location, self.classes.size - 1)] == values
        return np.where(known, location, self.classes.size).astype(np.uint64)[None]

    def relevance(self, queries: Matrix, items: Matrix, item_labels: Words) -> Integers:
        """Return the relevance of single pairs, given as indices of queries and items."""
        one, other = self.queries[queries].T, item_labels[:, items]
        if self.relation == hamming.SAME:
            return np.asarray(one[0] == other[0], np.int64)
        shared = np.bitwise_count(one & other).sum(axis=0, dtype=np.int64)
        return np.asarray(np.minimum(shared, self.grades - 1))


def _as_labels(labels: object, count: int, what: str) -> Matrix:
    """Return labels as an array of whole numbers or text (n,), or of anything that may be multi-hot
    (n, classes).
    """
    try:
        values = np.asarray(labels)
    except ValueError as error:  # rows of unequal length
        raise DataError(f"{what}: not an array of labels: {error}") from None
    if values.dtype.kind in "OU" and not isinstance(labels, np.ndarray | pl.Series | list | tuple):
        raise DataError(f"{what}: a {type(labels).__name__} is not a list or array of labels")
    if values.dtype == object or (values.dtype.kind == "U" and isinstance(labels, list | tuple)):
        # NumPy converts numbers to text if a list holds both.
        odd = [
            value
            for value in np.asarray(labels, dtype=object).ravel()
            if not isinstance(value, str)
        ]
        if odd:
            raise DataError(
                f"{what}: {odd[0]!r} among text; labels are whole numbers or text, none missing"
            )
        values = values.astype(str)
    if values.ndim not in (1, 2):
        raise DataError(
            f"{what}: shape {values.shape}; labels are class ids (n,) or multi-hot (n, classes)"
        )
    if len(values) != count:
        raise DataError(f"{what}: {len(values)} labels for {count} codes")
    if values.ndim == 1 and values.dtype.kind not in "iubU":
        raise DataError(f"{what}: {values.dtype} values; class ids are whole numbers or text")
    return values


def _as_classes(values: Matrix, what: str) -> Matrix:
    """Return class ids as text or as int64, so that NumPy never compares them as floats."""
    if values.dtype.kind == "U":
        return values
    if values.dtype == np.uint64 and values.max() > np.iinfo(np.int64).max:
        raise DataError(f"{what}: class ids beyond int64, largest {values.max()}")
    return values.astype(np.int64)


def _pack(values: Matrix, what: str, offset: int) -> Words:
    """Pack multi-hot rows into words."""
    if values.dtype.kind not in "biuf" or not values.shape[1]:
        raise DataError(
            f"{what}: {values.dtype} values of shape {values.shape}; multi-hot labels are 0 and 1"
        )
    ones = values == 1
    bad = ~(ones | (values == 0))
    if bad.any():
        row, column = np.argwhere(bad)[0].tolist()
        hint = "; class ids have shape (n,)" if values.shape[1] == 1 else ""
        raise DataError(
            f"{what}: {int(bad.sum())} values are neither 0 nor 1, first {values[row, column]} in "
            f"row {offset + row}, "
            f"column {column}{hint}"
        )
    return as_words(np.packbits(ones, axis=1))


def check_ids(ids: Any, count: int, what: str) -> pl.Series:
    """Return ids as a series of distinct text or whole numbers, one per code."""
    if hasattr(ids, "__len__") and len(ids) != count:
        raise DataError(f"{what}: {len(ids)} ids for {count} codes")
    try:
        series = pl.Series(ids)
    except (TypeError, ValueError, OverflowError, pl.exceptions.PolarsError):
        raise DataError(f"{what}: not all text and not all whole numbers") from None
    if isinstance(series.dtype, pl.Categorical | pl.Enum):
        series = series.cast(pl.String)
    if series.dtype != pl.String and not series.dtype.is_integer():
        raise DataError(f"{what}: {series.dtype} values; ids are text or whole numbers")
    if series.null_count():
        raise DataError(
            f"{what}: {series.null_count()} null, first in row {series.is_null().arg_max()}"
        )
    unique = series.n_unique()
    if unique != count:
        twice = series.filter(series.is_duplicated())[0]
        raise DataError(f"{what}: {count - unique} of {count} ids repeat another, first {twice!r}")
    try:
        return series if series.dtype == pl.String else series.cast(pl.Int64)
    except pl.exceptions.InvalidOperationError:
        raise DataError(f"{what}: ids beyond int64, largest {series.max()!r}") from None
