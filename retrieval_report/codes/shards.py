"""Split items, given whole or in shards, into slices that fit in memory."""

from collections.abc import Iterable, Iterator, Sized
from typing import TypeGuard

import polars as pl

from retrieval_report.codes.counting import Items
from retrieval_report.codes.inputs import CodeSpace, as_matrix
from retrieval_report.codes.labels import LabelSpace, check_ids
from retrieval_report.contracts.arguments import Array
from retrieval_report.contracts.errors import DataError, ParameterError

SLICE_BYTES = 1 << 25  # of encoded codes; with labels and checks some 300 MiB for 64-bit codes


Shard = tuple[str, Array, object, object]  # its name in messages; codes, labels and ids


def read_slices(
    item_codes: object, item_labels: object, item_ids: object, space: CodeSpace, labels: LabelSpace
) -> Iterator[Items]:
    """Check and encode the items, slice by slice."""
    passed = 0
    for where, matrix, its_labels, its_ids in _shards(item_codes, item_labels, item_ids):
        where_labels, rows = where.replace("codes", "labels"), len(matrix)
        ids = None if its_ids is None else check_ids(its_ids, rows, where.replace("codes", "ids"))
        checked_labels = labels.check(its_labels, rows, where_labels)
        step = max(1, SLICE_BYTES // (8 * space.words))
        for start in range(0, rows, step):
            stop = min(start + step, rows)
            codes = space.encode(matrix[start:stop], where, start)
            words = labels.encode(checked_labels[start:stop], where_labels, start)
            names = (
                pl.int_range(passed + start, passed + stop, eager=True)
                if ids is None
                else ids[start:stop]
            )
            yield Items(codes, words, names, ids is not None)
        passed += rows


def _shards(item_codes: object, item_labels: object, item_ids: object) -> Iterator[Shard]:
    if is_array(item_codes):
        yield "item_codes", as_matrix(item_codes, "item_codes"), item_labels, item_ids
        return
    if not isinstance(item_codes, Iterable):
        raise DataError(
            f"item_codes: a {type(item_codes).__name__} is neither an array nor shards of arrays"
        )
    for name, values in (("item_labels", item_labels), ("item_ids", item_ids)):
        if values is not None:
            raise ParameterError(
                f"{name}: given beside shards; a shard holds its own: (codes, labels, ids)"
            )
    number = -1
    for number, shard in enumerate(item_codes):
        name = f"item_codes of shard {number}"
        parts = shard if isinstance(shard, tuple) else (shard,)
        if not 1 <= len(parts) <= 3:
            raise DataError(
                f"{name}: a tuple of {len(parts)}; a shard must be codes, (codes, labels) or "
                "(codes, labels, ids)"
            )
        codes, labels, ids = [*parts, None, None][:3]
        yield name, as_matrix(codes, name), labels, ids
    if number < 0:
        raise DataError("item_codes: no shards")


def is_array(item_codes: object) -> TypeGuard[Sized]:
    """Return whether items are one array, not shards of it."""
    return hasattr(item_codes, "shape") or (
        isinstance(item_codes, list) and isinstance((item_codes or [0])[0], list)
    )
