"""Read arrays with names, as ``numpy.savez`` writes them and as vector stores return them in
dictionaries: the distances or scores of a search, its indices, and ids; or columns of a table.
"""

import zipfile
from collections.abc import Mapping
from typing import BinaryIO, TypeGuard

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import Array, known_of
from retrieval_report.contracts.errors import (
    ColumnError,
    DataError,
    FileError,
    RetrievalReportError,
    one_line,
)
from retrieval_report.reading.convert import convert
from retrieval_report.reading.names import Choose, Kind, under_our_names
from retrieval_report.reading.search_results import (
    Results,
    as_array,
    check_direction,
    item_ids,
    read_results,
)
from retrieval_report.reading.sources import MAX_BYTES, Source, larger

# Names of arrays, of which the first that is there counts, for our columns.
_NAMES = {
    "distance": ("distance", "distances", "dists", "d"),
    "score": ("score", "scores", "similarities", "sims"),
    "item": ("item", "indices", "neighbors", "neighbours", "i", "idx", "ids", "keys", "labels"),
    "query": ("query", "query_ids", "queries", "qids"),
}
_LOOKUP = ("item_ids", "doc_ids", "document_ids", "corpus_ids", "docids", "docnos")
_EXPECTED = (
    "A search has arrays 'distances' or 'scores' with a row per query, and 'indices' of the same "
    "shape or 'item_ids' of the columns; from_embeddings searches vectors, in Python"
)


def read_archive(path: str, file: BinaryIO, max_bytes: int | None = None) -> dict[str, Array]:
    """Return the arrays of an ``.npz`` archive by name; nothing is unpacked to disk.

    Parameters
    ----------
    path
        For messages.
    file
        The archive, open for reading.
    max_bytes
        Most bytes that the arrays may unpack to, if that is more than the file holds. By default
        4 GiB.

    Raises
    ------
    FileError
        The archive is damaged, unpacks to too much, or holds Python objects.

    Examples
    --------
    >>> import io
    >>> file = io.BytesIO()
    >>> np.savez_compressed(file, codes=np.zeros((1000, 8)))
    >>> read_archive("a.npz", file)["codes"].shape
    (1000, 8)
    >>> read_archive("a.npz", file, max_bytes=1000)
    Traceback (most recent call last):
    retrieval_report.FileError: a.npz: unpacks to 64128 bytes, more than 1000; if that is right,
    raise max_bytes=
    """
    limit = MAX_BYTES if max_bytes is None else max_bytes
    try:
        file.seek(0)
        with zipfile.ZipFile(file) as archive:
            size = sum(member.file_size for member in archive.infolist())
            if size > max(limit, file.seek(0, 2)):
                raise FileError(f"{path}: unpacks to {size} bytes, more than {limit}{larger()}")
        file.seek(0)
        # NumPy does not close a file that it opened itself if the archive is broken.
        with np.load(file, allow_pickle=False) as loaded:
            return dict(loaded)
    except RetrievalReportError:
        raise
    except Exception as error:  # of foreign bytes; zlib and tokenize have their own
        if str(error).startswith("Object arrays"):
            raise FileError(
                f"{path}: holds Python objects, which are not read because they can run any code"
            ) from error
        raise FileError(f"{path}: damaged .npz archive: {one_line(error)}") from error


def read_arrays(source: Source, choose: Choose, kind: Kind) -> pl.DataFrame:
    """Read an ``.npz`` archive: the results of a search, or arrays of one dimension as columns."""
    with source.open() as file:
        arrays = read_archive(str(source.path), file, source.max_bytes)
    what = str(source.path)
    if kind.ranked and any(array.ndim == 2 for array in arrays.values()):
        return results_of(arrays, choose, what)
    frame = convert({name: array for name, array in arrays.items() if array.ndim == 1}, what)
    return frame.select(under_our_names(choose(frame.columns)))


def holds_results(value: object) -> TypeGuard[Mapping[str, object]]:
    """Return whether this is a mapping with the values and the items of a search, a row per query.

    >>> (
    ...     holds_results({"ids": [["a", "b"]], "distances": [[0.1, 0.2]], "documents": None}),
    ...     holds_results({"item": ["a", "b"], "distance": [0.1, 0.2]}),
    ... )
    (True, False)
    """
    if not isinstance(value, Mapping) or not any(map(_is_matrix, value.values())):
        return False
    if not all(isinstance(name, str) for name in value):
        return False
    matched = _match_arrays(known_of(value))
    values = [value[matched[ours]] for ours in ("distance", "score") if ours in matched]
    return "item" in matched and any(map(_is_matrix, values))


def _is_matrix(values: object) -> bool:
    if hasattr(values, "shape"):
        return len(values.shape) == 2
    return isinstance(values, list) and bool(values) and isinstance(values[0], list | np.ndarray)


def _match_arrays(arrays: Mapping[str, object]) -> dict[str, str]:
    """Return which arrays stand for our columns by their names.

    >>> _match_arrays({"I": 0, "D": 0, "item_ids": 0, "queries": np.ones((2, 3))})
    {'distance': 'D', 'item': 'I'}
    """
    folded = {name.casefold(): name for name in arrays}
    if _is_matrix(arrays.get(folded.get("queries", ""))):  # their vectors
        del folded["queries"]
    names = {**_NAMES, "item": (*_NAMES["item"], *_LOOKUP)}
    firsts = {
        ours: next((folded[name] for name in spellings if name in folded), None)
        for ours, spellings in names.items()
    }
    return known_of(firsts)


def results_of(arrays: Mapping[str, object], choose: Choose, what: str) -> pl.DataFrame:
    """Return the results of a search as rankings.

    Parameters
    ----------
    arrays
        ``distances`` or ``scores`` with a row per query, and ``indices`` or ids of the same shape.
        Optionally ``query_ids`` of the rows, which are else 0, 1, …; ``item_ids``, to which the
        indices point, or of the columns where there are no indices; ``relevance`` and other columns
        of the same shape; and the name of the ``model``.
    choose
        Returns which of the names stand for which of our columns.
    what
        The name of the data in messages.

    Raises
    ------
    ColumnError
        An array is missing.
    DataError
        Shapes do not fit each other, an index points to no id, or every row begins with what is
        farthest.

    Examples
    --------
    >>> from retrieval_report.reading.names import RANKINGS, match_columns
    >>> found = {"D": [[0.1, 0.2]], "I": [[1, 0]], "item_ids": ["a", "b"], "query_ids": ["q7"]}
    >>> choose = lambda names: match_columns(names, RANKINGS, None, "found.npz")
    >>> results_of(found, choose, "found.npz").rows()
    [('q7', 'b', 0.1), ('q7', 'a', 0.2)]
    """
    by_name = _match_arrays(arrays)
    ours_of = {theirs: ours for ours, theirs in by_name.items()}
    own = [name for name in arrays if name.casefold() != "label"]  # classes
    offered = [*dict.fromkeys([ours_of.get(name, name) for name in own] + ["query"])]
    try:
        matched = choose(offered)
    except ColumnError as error:
        try:  # whoever names columns may do so by the names of the arrays
            matched = choose(own)
        except ColumnError:
            raise ColumnError(f"{error}. {_EXPECTED}") from None
    names = {ours: by_name.get(theirs, theirs) for ours, theirs in matched.items()}
    order = "distance" if "distance" in names else "score"
    values, items = (as_array(arrays[names.pop(ours)], what) for ours in (order, "item"))
    columnwise = values.ndim == 2 and items.shape == values.shape[1:]  # ids of the columns
    items = np.broadcast_to(items, values.shape) if columnwise else items
    results = read_results((values, items), what)
    if not columnwise:
        rename = f"name the array {'distances' if order == 'score' else 'scores'}"
        check_direction(results, what, scores=order == "score", cure=rename)
    columns = {"query": results.query, "item": item_ids(_pointed(results.item, arrays, what))}
    columns[order] = results.value
    for ours, theirs in names.items():
        if theirs in arrays:
            columns[ours] = _column(ours, as_array(arrays[theirs], what), items, results, what)
    return pl.DataFrame(columns)


def _pointed(items: Array, arrays: Mapping[str, object], what: str) -> Array:
    """Return the ids that indices point to, if there is an array of ids."""
    name = next((name for name in arrays if name.casefold() in _LOOKUP), None)
    if name is None or items.dtype.kind not in "iu":
        return items
    ids = as_array(arrays[name], what)
    if ids.ndim != 1:
        return items
    if items.size and not 0 <= items.min() <= items.max() < ids.size:
        raise DataError(f"{what}: index {items.max()} where {name} has {ids.size} ids, from 0")
    return ids[items]


def _column(
    ours: str, array: Array, items: Array, results: Results, what: str
) -> Array | pl.Series:
    """Return one value for every result of an array with a value for each of them, for each query
    or for all.
    """
    if array.ndim == 0:
        return pl.repeat(array.item(), results.value.size, eager=True)
    if ours == "query" and array.shape == (results.queries,):
        return item_ids(array[results.query])
    if ours == "query" or array.shape != items.shape:
        raise DataError(
            f"{what}: {ours} has shape {array.shape}, where the results have {items.shape}"
        )
    return read_results((array, items), what).value
