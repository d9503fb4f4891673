"""Turn search results into flat columns: (distances,
indices), matrices, rows of unequal length, tensors.

FAISS, usearch, hnswlib, scikit-learn and torch are not imported: results are recognised by their
shape, and tensors are converted by NumPy's array protocol.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, NoReturn

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.contracts.arguments import Array, quoted
from retrieval_report.contracts.errors import DataError, ParameterError
from retrieval_report.contracts.wording import in_python
from retrieval_report.reading.records import hit_of

NO_ACCIDENT = math.log(1e6)  # one in so many: that rows are in order
FEW_ORDERS = math.log(5)  # of rows of a search by radius, which have none
LOOKED_AT = 20  # rows in which swapped arrays are looked for
# The index that FAISS and others return if there are no more results.
NO_RESULT = -1

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Results:
    """The rows of one search, in the order received; all arrays have the same length.

    Attributes
    ----------
    query : NDArray
        The query, counted from 0.
    item : NDArray
        The item: the index (or key) that the search returned, or the column of a matrix.
    value : NDArray
        Distances or scores, in the type received.
    queries : int
        Number of queries, including those without results.
    indexed : bool
        Whether the search named its items; otherwise an item is a column.
    scored : bool
        Whether the search says itself that its values are scores.
    """

    query: Whole
    item: Array
    value: Array
    queries: int
    indexed: bool
    scored: bool = False


def is_search_result(value: object) -> bool:
    """Return whether this is a search result, not a
    frame: a tuple of arrays, or an object like usearch's.

    >>> (
    ...     is_search_result((np.ones((2, 3)), np.ones((2, 3), int))),
    ...     is_search_result(("a.csv", "b.csv")),
    ... )
    (True, False)
    """
    if isinstance(value, tuple):
        return not hasattr(value, "_fields") and len(value) in (2, 3) and all(map(is_array, value))
    return hasattr(value, "distances") and hasattr(value, "keys") and not callable(value.keys)


def is_array(value: object) -> bool:
    """Return whether this is an array, or a list of numbers or of arrays."""
    if isinstance(value, list):
        return bool(value) and not isinstance(value[0], str | bytes | Mapping | tuple)
    return hasattr(value, "__array__") and hasattr(value, "shape") and not hasattr(value, "columns")


def as_array(values: object, what: str) -> Array:
    """Return an array of anything with the array protocol,
    including tensors with gradients or on other devices.

    >>> as_array([[1, 2], [3, 4]], "results").shape
    (2, 2)
    """
    array: Any = values
    for step in ("detach", "cpu"):
        array = getattr(array, step)() if callable(getattr(array, step, None)) else array
    try:
        found = np.asarray(array)
        # of JAX; Polars has no such numbers, and float32 holds all their values
        return found.astype(np.float32) if found.dtype.name == "bfloat16" else found
    except ValueError:
        return _ragged(array)
    except (TypeError, RuntimeError) as error:
        try:
            return np.asarray(
                array.float()
            )  # bfloat16, which NumPy lacks; float32 holds all its values
        except (AttributeError, TypeError, RuntimeError):
            raise DataError(f"{what}: not an array: {error}") from None


def _ragged(rows: Sequence[object]) -> Array:
    """Return rows of unequal length as an array of rows."""
    array = np.empty(len(rows), object)
    array[:] = rows
    return array


def labels_and_mask(relevance: object, mask: object, name: str) -> tuple[object, object]:
    """Return labels and mask of KerasRS's ``{"labels": …, "mask": …}``, or of the two arguments, of
    which ``name`` is the second.

    >>> labels_and_mask({"labels": [[1, 0]]}, [[True, False]], "mask")
    ([[1, 0]], [[True, False]])
    """
    if not isinstance(relevance, Mapping) or "labels" not in relevance:
        return relevance, mask
    if not relevance.keys() <= {"labels", "mask"}:
        raise ParameterError(
            f"relevance: keys {quoted(relevance)}; such a dictionary has 'labels' and perhaps "
            "'mask'"
        )
    inner = relevance.get("mask")
    if mask is not None and inner is not None:
        raise ParameterError(f"{name}: given together with a mask in relevance")
    return relevance["labels"], mask if inner is None else inner


def read_results(content: object, what: str, *, indexes: object = None) -> Results:
    """Return the rows of one search.

    Parameters
    ----------
    content : object
        A tuple (distances, indices), in either order if only one of them has fractions; FAISS's
        (limits, distances, indices) of a range search; usearch's matches; a list of hits of every
        query, such as ``{"corpus_id": 3, "score": 0.5}``; or a matrix with one row
        per query and a column for every item. One query may come without the dimension of queries.
    what : str
        Name of the results in messages.
    indexes : object
        The query of every value, if all queries are in one flat array (as for torchmetrics).

    Raises
    ------
    DataError
        Arrays have different or impossible shapes, or indices are neither whole numbers nor text.

    Examples
    --------
    >>> found = read_results(
    ...     (np.array([[0.1, 0.2], [0.3, 9.0]]), np.array([[4, 7], [4, -1]])), "results"
    ... )
    >>> found.query, found.item, found.value
    (array([0, 0, 1]), array([4, 7, 4]), array([0.1, 0.2, 0.3]))
    """
    if isinstance(content, Results):
        return content
    if rows := _hits_of_queries(content):
        return _read_hits(rows, what)
    value, item, counts = _parts(content, what)
    flat, lengths = flat_rows(value, what)
    items, widths = (flat, lengths) if item is None else flat_rows(item, what)
    if flat.dtype.kind in "iuUO" and items.dtype.kind == "f":  # hnswlib returns labels first
        flat, items = items, flat
    if flat.dtype.kind not in "iuf":
        raise DataError(f"{what}: {flat.dtype} values; distances and scores are numbers")
    query = np.repeat(np.arange(lengths.size), lengths)
    if item is None:  # whoever fills one matrix again and again must not change what was read
        flat = flat.copy()
    if item is None and indexes is not None:
        has_names, queries = _flat_queries(indexes, flat, lengths, what)
        return Results(has_names, np.arange(flat.size), flat, queries, indexed=False)
    if item is None:
        return Results(query, within(lengths), flat, lengths.size, indexed=False)
    if not np.array_equal(lengths, widths):
        raise DataError(
            f"{what}: the distances have shape {_shape(value)}, the indices {_shape(item)}"
        )
    if items.dtype.kind not in "iuUO":
        raise DataError(f"{what}: indices of type {items.dtype}; they are whole numbers or text")
    if flat.dtype.kind in "iu" and items.dtype.kind in "iu":
        _check_swapped(query, flat, items, what)
    present = np.ones(flat.size, bool) if items.dtype.kind != "i" else items != NO_RESULT
    if counts is not None:
        present &= within(lengths) < np.repeat(counts, lengths)
    return Results(query[present], items[present], flat[present], lengths.size, indexed=True)


def _check_swapped(query: Whole, value: Array, item: Array, what: str) -> None:
    """Refuse indices that repeat in a row, as distances do, beside distances that do not."""
    is_seen = (query < LOOKED_AT) & (item.astype(np.int64) != NO_RESULT)
    of_value, of_item = (
        np.unique(np.stack([query[is_seen], numbers[is_seen]]), axis=1).shape[1]
        for numbers in (value, item)
    )
    if of_item < is_seen.sum() == of_value:
        raise DataError(
            f"{what}: indices repeat within a row, and distances do not; are the two arrays "
            "swapped? Distances come first"
        )


def _hits_of_queries(content: object) -> Sequence[object]:
    """Return the hits of every query, as of sentence-transformers' ``semantic_search``; nothing of
    anything else.

    >>> _hits_of_queries([{"corpus_id": 4, "score": 0.5}]), _hits_of_queries([[0.5]])
    ([[{'corpus_id': 4, 'score': 0.5}]], [])
    """
    rows = content if isinstance(content, list) else []
    if rows and isinstance(rows[0], Mapping):
        rows = [rows]
    first = next((hit for row in rows if isinstance(row, list) for hit in row), None)
    return rows if isinstance(first, Mapping) else []


def _read_hits(rows: Sequence[object], what: str) -> Results:
    """Return hits, which name their item and its score.

    >>> hits = [[{"corpus_id": 4, "score": 0.5}, {"corpus_id": 7, "score": 0.25}], []]
    >>> found = _read_hits(hits, "results")
    >>> found.query, found.item, found.value, found.queries
    (array([0, 0]), array([4, 7]), array([0.5 , 0.25]), 2)
    """
    hits = []
    for query, row in enumerate(rows):
        if not isinstance(row, list):
            raise DataError(f"{what}: query {query} has {row!r:.60}, not a list of hits")
        hits += [hit_of(query, hit, what) for hit in row]
    for hit in hits:
        if not isinstance(hit.score, Real):
            raise DataError(
                f"{what}: query {hit.query}: item {hit.item!r} has the score {hit.score!r}, not a "
                "number"
            )
    queries, items, scores, _ = map(np.asarray, zip(*hits, strict=True))
    return Results(queries, items, scores, len(rows), indexed=True, scored=True)


def _parts(content: Any, what: str) -> tuple[Array, Array | None, Array | None]:
    """Return values, indices, and how many of each row count, if the object says so."""
    if not is_search_result(content):
        return as_array(content, what), None, None
    if not isinstance(content, tuple):
        counts = getattr(content, "counts", None)
        counts = None if counts is None else np.atleast_1d(as_array(counts, what))
        return as_array(content.distances, what), as_array(content.keys, what), counts
    arrays = [as_array(part, what) for part in content]
    if (
        len(arrays) == 3
    ):  # a range search of FAISS: where the results of every query begin, and both flat arrays
        limits, *flat = arrays
        if limits.ndim != 1 or limits.dtype.kind not in "iu" or limits[-1] != flat[0].size:
            raise DataError(
                f"{what}: three arrays, but not (limits, distances, indices) of a range search"
            )
        arrays = [_ragged(np.split(part, limits[1:-1].astype(np.int64))) for part in flat]
    value, item = arrays
    return value, item, None


def flat_rows(array: Array, what: str) -> tuple[Array, Whole]:
    """Return all values one after the other, and the length of every row."""
    if array.ndim == 1 and array.dtype == object and any(np.ndim(row) == 1 for row in array):
        rows = [np.asarray(row) for row in array]
        filled = [row for row in rows if row.size]
        return np.concatenate(filled or rows[:1]), np.array([row.size for row in rows], np.int64)
    if array.ndim not in (1, 2):
        raise DataError(f"{what}: shape {array.shape}; expected one row per query")
    matrix = np.atleast_2d(array)
    return matrix.ravel(), np.full(matrix.shape[0], matrix.shape[1], np.int64)


def _shape(array: Array) -> object:
    return array.shape if array.dtype != object else f"({array.size} rows of unequal length)"


def within(lengths: Whole) -> Whole:
    """Return the position of every value in its row."""
    return np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)


def _flat_queries(indexes: object, flat: Array, lengths: Whole, what: str) -> tuple[Array, int]:
    """Queries of a flat array, as they are named, and how many there are."""
    query = as_array(indexes, "indexes")
    if lengths.size != 1 or query.shape != flat.shape:
        raise ParameterError(
            f"indexes: shape {query.shape} for {what} of shape {(lengths.size, flat.size)}; one "
            "each"
        )
    if query.dtype.kind not in "iu":
        raise DataError(f"indexes: {query.dtype} values; they are whole numbers")
    return query.astype(np.int64), np.unique(query).size


def results_frame(value: object, what: str) -> pl.DataFrame:
    """Return results of a search that names its items, as ``query``, ``item`` and ``distance``."""
    results = read_results(value, what)
    check_direction(results, what, scores=False)
    return pl.DataFrame(
        {"query": results.query, "item": item_ids(results.item), "distance": results.value}
    )


def item_ids(values: Array) -> pl.Series:
    """Return indices as ids."""
    are_names = values.dtype.kind in "UO"
    return pl.Series("item", list(map(str, values.tolist())) if are_names else values)


def is_turned(results: Results, *, scores: bool) -> bool:
    """Return whether every row begins with the value that its kind puts last. Rows of different
    lengths may be in no order, as those of a search by radius: of a few, this shows nothing.
    """
    # The columns of a matrix are items, not ranks.
    if not results.indexed or not results.value.size:
        return False
    begin = np.flatnonzero(np.append(True, results.query[1:] != results.query[:-1]))
    ends = np.minimum.reduceat(results.value, begin), np.maximum.reduceat(results.value, begin)
    nearest, farthest = reversed(ends) if scores else ends
    first = results.value[begin]
    length, tells = np.diff(np.append(begin, results.query.size)), first != nearest
    is_clear = np.ptp(length) == 0 or np.log(length[tells]).sum() > FEW_ORDERS
    return bool((first == farthest).all() and tells.any() and is_clear)


def is_ranked(results: Results, *, scores: bool) -> bool:
    """Return whether the columns of a matrix are ranks, not items: all rows are in order, which is
    no accident, and they are not the same, as scores by popularity are.

    >>> distances = np.sort(np.random.default_rng(0).random((5, 6)))
    >>> results = read_results(distances, "results")
    >>> is_ranked(results, scores=False), is_ranked(results, scores=True)
    (True, False)
    """
    if results.indexed:
        return False
    columns = int(results.item.max(initial=0)) + 1
    is_matrix = results.value.size == results.queries * columns
    if not is_matrix or results.queries * math.lgamma(columns + 1) < NO_ACCIDENT:
        return False
    rows = results.value.reshape(-1, columns)
    near, far = (rows[:, 1:], rows[:, :-1]) if scores else (rows[:, :-1], rows[:, 1:])
    # Of a large matrix by item, the first rows tell at once.
    return bool(
        (near[:LOOKED_AT] <= far[:LOOKED_AT]).all()
        and (near <= far).all()
        and (rows != rows[0]).any()
    )


def check_direction(results: Results, what: str, *, scores: bool, cure: str = "") -> None:
    """Refuse results of which every row begins with the value that its kind puts last; ``cure``
    says how to name their kind.

    >>> similar = read_results(
    ...     (np.array([[0.9, 0.2], [0.8, 0.8]]), np.array([[4, 7], [4, 5]])), "results"
    ... )
    >>> check_direction(similar, "results", scores=False)
    Traceback (most recent call last):
    retrieval_report.DataError: results: every row begins with its farthest result, as if these were
    not distances but similarities; say what they are by from_search(results, scores=True), or sort
    the rows
    """
    if is_turned(results, scores=scores):
        refuse_direction(what, scores=scores, models=not scores, cure=cure)


def refuse_direction(what: str, *, scores: bool, models: object, cure: str = "") -> NoReturn:
    """Say that results begin with the farthest; ``models`` are those whose values are scores, for
    `from_search`.
    """
    words = "not scores but distances" if scores else "not distances but similarities"
    cure = cure or in_python(f"say what they are by from_search(results, scores={models})")
    raise DataError(
        f"{what}: every row begins with its farthest result, as if these were {words}; "
        + (f"{cure}, or " if cure else "")
        + "sort the rows"
    )
