"""Search embeddings in several formats, exactly: what each format would cost in quality, and what
it saves in bytes.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.codes.formats import Format, Originals, Singles, lengths, parse_formats
from retrieval_report.codes.inputs import bad_values
from retrieval_report.codes.labels import check_ids, rows_of
from retrieval_report.codes.nearest import nearest
from retrieval_report.codes.search import Inputs, from_search
from retrieval_report.contracts.arguments import Named, check_flag, check_whole
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import DataError
from retrieval_report.contracts.forks import refuse_fork
from retrieval_report.contracts.options import BETWEEN_TIES, NO
from retrieval_report.reading.search_results import Results, as_array
from retrieval_report.writing.names import with_number

SIMILARITIES = ("cosine", "inner_product")
BYTES = "bytes per vector"
COMMON = ("float32", "float16", "bfloat16", "int8", "int4", "binary")
# What is wrong with bytes that are to be stored in these ways.
CODES: dict[str, tuple[tuple[type, ...], str]] = {
    "binary": (
        (np.uint8, np.int8),
        (
            "{kind} values up to {most}, of which format {name!r} would keep only whether they are above "
            "0; unpack packed bits by np.unpackbits(…, axis=1), and centre quantised values"
        ),
    ),
    "int8": (
        (np.int8,),
        (
            "int8 values are quantised already, and format {name!r} would quantise them again; pass the "
            "original vectors, or compare these values as they are by 'float32'"
        ),
    ),
}


def from_embeddings(
    queries: object,
    items: object,
    formats: object = COMMON,
    *,
    depth: int = 100,
    similarity: str = "cosine",
    calibration: object = None,
    query_labels: object = None,
    item_labels: object = None,
    judgements: object = None,
    relevance: object = "any",
    query_ids: object = None,
    item_ids: object = None,
    exclude_self: bool = False,
) -> Inputs:
    r"""Search the same embeddings in several formats, each of which becomes a model of a study.

    The search is exact. It returns the ``depth`` nearest items of every query and all that tie with
    the last of them, so no tie is cut. Scores are computed in double precision and rounded to those
    of the format, so equal vectors tie wherever they stand. There is no matrix of all distances:
    memory holds the vectors, one encoded copy of them, a block of scores, and the result.

    Parameters
    ----------
    queries, items : array of shape (n, dimensions)
        Embeddings as numbers of any type: NumPy arrays, tensors or nested lists.
    formats : list of text, or dict of model name → text
        How vectors are stored and compared. One storage:

        ========================== ==== ============================================ ===============
        storage                    bits a value becomes                              scores are
        ========================== ==== ============================================ ===============
        "float32"                  32   the nearest float32                          float32
        "float16", "bfloat16"      16   the nearest such number                      of the same type
        "int8", "int4"             8, 4 :math:`\lfloor (x - a)/s \rfloor - 2^{b-1}`  whole numbers
        "binary"                   1    whether it is above 0                        Hamming distance
        "SQ8", "SQ4"               8, 4 :math:`a + (c + 0.5)\,s` (items only)        float32
        "SQfp16", "SQbf16"         16   the nearest such number (items only)         float32
        ========================== ==== ============================================ ===============

        Added to it by ``+``, or alone for float32: "truncate:N" keeps the first N dimensions,
        "digits:N" rounds scores to N decimals, and "upcast" (with float16 and bfloat16) compares
        the rounded vectors in float32.
    depth : int
        The smallest number of items in a list, if there are as many.
    similarity : {"cosine", "inner_product"}
        How vectors are compared. For cosine, vectors are scaled to length 1 first, after the
        truncation, and codes of whole numbers are compared by their own cosine, in float32. Binary
        vectors are compared by Hamming distance in either case, or by the number of equal bits if
        other formats give scores.
    calibration : array of shape (n, dimensions)
        Vectors whose smallest and largest value in each dimension, a and a + (2ᵇ − 1) s, set the
        steps of int8, int4, SQ8 and SQ4; values outside are clipped. By default the items.
    query_labels, item_labels, judgements, relevance, query_ids, item_ids, exclude_self
        What is relevant, and what the rows are called, as for :func:`from_search`.

    Returns
    -------
    Inputs
        As from :func:`from_search`, with a model for each format; and ``truncated``, how the lists
        end, and ``costs``, the bytes of one vector in each format. A :class:`Study` takes all of
        it; for :func:`evaluate`, pass ``**inputs, truncated=inputs.truncated``.

    Raises
    ------
    DataError
        Values are not finite or too large for a format, vectors have different dimensions, a vector
        of zeros has no cosine, or a format is so coarse that its ties have too many rows.
    ParameterError
        A format or another argument is none of those above.

    Notes
    -----
    *float16* and *bfloat16* scores are what a product of such tensors prints. mteb and
    sentence-transformers from version 6 on compare in float32, as ``"bfloat16+upcast"`` does, where
    hardly anything ties; low scores remain where an index, a cross-encoder or a log keeps them.
    *int8* and *binary* are those of ``quantize_embeddings`` in sentence-transformers 6.2, and
    *int4* is the same with 16 levels. mteb's ``CompressionWrapper`` differs: it takes the ranges of
    the queries from the queries, and compares bits by the cosine of 0 and 1. *SQ8*, *SQ4*, *SQfp16*
    and *SQbf16* are FAISS's ``IndexScalarQuantizer``, in which queries keep their precision (but
    for SQbf16 on processors with AVX512-BF16, where FAISS 1.15 rounds them too).

    Examples
    --------
    >>> import numpy as np
    >>> import retrieval_report as rr
    >>> rng = np.random.default_rng(0)
    >>> centres = rng.normal(size=(4, 32))
    >>> labels = np.arange(400) % 4
    >>> vectors = centres[labels] + rng.normal(size=(400, 32))
    >>> found = rr.from_embeddings(
    ...     vectors[:100],
    ...     vectors[100:],
    ...     ["float32", "int8", "binary", "binary+truncate:16"],
    ...     query_labels=labels[:100],
    ...     item_labels=labels[100:],
    ... )
    >>> found.costs.rows()
    [('float32', 128), ('int8', 32), ('binary', 4), ('binary+truncate:16', 2)]
    >>> study = rr.Study(found, "precision@10", baseline="float32", margin=0.05)
    >>> study.table().get_column("model").to_list()
    ['float32', 'int8', 'binary', 'binary+truncate:16']
    >>> study.decision
    'Ship int8: no worse than float32 (margin 0.05 in precision@10) at a quarter of the cost.'
    """
    refuse_fork()
    parsed_formats = parse_formats(formats)
    depth = check_whole("depth", depth, 1)
    check_choice("similarity", similarity, SIMILARITIES)
    originals = _originals(queries, items, calibration, cosine=similarity == "cosine")
    shape = len(originals.queries), len(originals.items)
    _check_rows(relevance, item_labels, item_ids, shape)
    _refuse_codes({"queries": queries, "items": items}, parsed_formats)
    of_distances = all(format_.is_binary for format_ in parsed_formats.values())
    how: Named = {
        "query_labels": query_labels,
        "item_labels": item_labels,
        "judgements": judgements,
        "relevance": relevance,
        "query_ids": query_ids,
        "item_ids": item_ids,
        "exclude_self": check_flag("exclude_self", exclude_self),
        "scores": not of_distances,
    }
    sizes = [format_.bytes_of(originals.items.shape[1]) for format_ in parsed_formats.values()]
    # Labels and ids that do not fit are refused before the search, which takes its time.
    none = np.empty(0, np.int64)
    nothing = Results(none, none, none, shape[0], indexed=True)
    from_search(dict.fromkeys(parsed_formats, nothing), **how)
    results = {
        name: _search(originals, format_, depth + exclude_self, of_distances=of_distances)
        for name, format_ in parsed_formats.items()
    }
    return replace(
        from_search(results, **how),
        truncated=NO if depth + exclude_self >= shape[1] else BETWEEN_TIES,
        costs=pl.DataFrame({"model": list(parsed_formats), BYTES: sizes}),
    )


def _search(originals: Originals, format_: Format, depth: int, *, of_distances: bool) -> Results:
    """Return the nearest items of every query in one format: scores, which of bits is the number of
    equal ones, or Hamming distances.
    """
    precision = format_.precision(cosine=originals.cosine)
    encoded = format_.encode(originals)
    nearest_items = nearest(encoded, precision, depth, f"format {format_.text!r}")
    value = nearest_items.score
    if format_.is_binary:
        value = (encoded.items.shape[1] + (-value if of_distances else value)) // 2
    elif not np.isfinite(value).all():
        query = int(nearest_items.query[~np.isfinite(value)][0])
        raise DataError(
            f"format {format_.text!r}: scores of query {query} are too large for it; scale the "
            "vectors, or use similarity='cosine'"
        )
    return Results(
        nearest_items.query, nearest_items.item, value, len(originals.queries), indexed=True
    )


def _originals(queries: object, items: object, calibration: object, *, cosine: bool) -> Originals:
    """Return the vectors in single precision, checked; for cosine none of them is zero."""
    arrays = {"queries": queries, "items": items}
    if calibration is not None:
        arrays["calibration"] = calibration
    vectors = {what: _vectors(values, what) for what, values in arrays.items()}
    width = vectors["items"].shape[1]
    for what, array in vectors.items():
        if array.shape[1] != width:
            raise DataError(f"{what}: {array.shape[1]} dimensions, and the items have {width}")
        zero = lengths(array) == 0
        if cosine and zero.any():
            raise DataError(
                f"{what}: {with_number(int(zero.sum()), 'row')} of zeros, first row "
                f"{int(zero.argmax())}; zeros have no direction; leave them out, or use "
                "similarity='inner_product'"
            )
    scale = vectors.get("calibration", vectors["items"])
    return Originals(vectors["queries"], vectors["items"], scale, cosine)


def _vectors(values: object, what: str) -> Singles:
    """Return finite numbers in rows of equal length, in single precision."""
    array = as_array(values, what)
    if array.ndim != 2 or array.dtype.kind not in "biuf":
        kind = "" if array.dtype.kind in "biuf" else f", {array.dtype} values"
        cure = "; pass the original vectors once, and name the formats" * isinstance(values, dict)
        cure += "; np.load reads them from a file" * isinstance(values, str | Path)
        cure += "; np.stack joins vectors" * (array.dtype == object)
        raise DataError(
            f"{what}: shape {array.shape}{kind}; embeddings are numbers, (n, dimensions){cure}"
        )
    if 0 in array.shape:
        raise DataError(f"{what}: empty, shape {array.shape}")
    with np.errstate(over="ignore"):
        singles = np.ascontiguousarray(array, np.float32)
    bad = ~np.isfinite(singles)
    if bad.any():
        raise DataError(f"{what}: {bad_values(array, bad, 'not finite in float32')}")
    return singles


def _refuse_codes(arrays: Named, formats: dict[str, Format]) -> None:
    """Refuse bytes that are more than bits or signs where bits are asked for, of which nearly every
    byte is above 0, or where int8 would be quantised to int8 once more.
    """
    names = {format_.storage: name for name, format_ in reversed(formats.items())}
    for storage, (kinds, problem) in CODES.items():
        for what, values in arrays.items() if storage in names else ():
            array = as_array(values, what)
            if array.dtype in kinds and (array.max() > 1 or array.min() < -1):
                text = problem.format(kind=array.dtype, most=array.max(), name=names[storage])
                raise DataError(f"{what}: {text}")


def _check_rows(
    relevance: Any, item_labels: object, item_ids: object, shape: tuple[int, int]
) -> None:
    """Refuse labels, ids or a matrix that do not have one row (or column) for every item."""
    if item_labels is not None and (rows := rows_of(item_labels, "item_labels")) != shape[1]:
        raise DataError(f"item_labels: {rows} labels for {shape[1]} items")
    if item_ids is not None:
        check_ids(item_ids, shape[1], "item_ids")
    if not isinstance(relevance, str) and (actual_shape := np.shape(relevance)) != shape:
        raise DataError(
            f"relevance: shape {actual_shape}; a row for each of {shape[0]} queries and a column "
            f"for each of {shape[1]} items"
        )
