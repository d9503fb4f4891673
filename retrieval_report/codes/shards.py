"""Split items, given whole or in shards, into slices that fit in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import polars as pl

from retrieval_report.codes.counting import Items
from retrieval_report.codes.inputs import CodeSpace, Matrix, as_matrix
from retrieval_report.codes.labels import LabelSpace, check_ids
from retrieval_report.contracts.errors import DataError, ParameterError

SLICE_BYTES = 1 << 25  # of encoded codes; with labels and checks some 300 MiB for 64-bit codes


class _Shard(NamedTuple):
    name: str
    codes: Matrix
    labels: object
    ids: object


def read_slices(
    item_codes: object, item_labels: object, item_ids: object, space: CodeSpace, labels: LabelSpace
) -> Iterator[Items]:
    """Check and encode the items, slice by slice."""
    passed = 0
    for shard in _shards(item_codes, item_labels, item_ids):
        where = shard.name
        where_labels = where.replace("codes", "labels")
        rows = len(shard.codes)
        ids = (
            None if shard.ids is None else check_ids(shard.ids, rows, where.replace("codes", "ids"))
        )
        known = labels.check(shard.labels, rows, where_labels)
        step = max(1, SLICE_BYTES // space.item_bytes)
        for start in range(0, rows, step):
            stop = min(start + step, rows)
            codes = space.encode(shard.codes[start:stop], where, start)
            part = None if known is None else known[start:stop]
            words = labels.encode(part, stop - start, where_labels, start)
            own = (
                pl.int_range(passed + start, passed + stop, eager=True)
                if ids is None
                else ids[start:stop]
            )
            yield Items(codes, words, own, ids is not None)
        passed += rows


def count_items(item_codes: object) -> int | None:
    """Return the number of items if it is known before they are read, else None."""
    if _is_array(item_codes):
        return len(item_codes)  # type: ignore[arg-type]
    if isinstance(item_codes, list | tuple):
        shards: list[Any] = [
            shard[0] if isinstance(shard, tuple) else shard for shard in item_codes
        ]
        return sum(len(codes) for codes in shards if hasattr(codes, "__len__"))
    return None


def _shards(item_codes: object, item_labels: object, item_ids: object) -> Iterator[_Shard]:
    if _is_array(item_codes):
        yield _Shard("item_codes", as_matrix(item_codes, "item_codes"), item_labels, item_ids)
        return
    if not isinstance(item_codes, Iterable):
        raise DataError(
            f"item_codes: a {type(item_codes).__name__} is neither an array nor shards of arrays"
        )
    beside = {
        "item_labels": _lists(item_labels, "item_labels"),
        "item_ids": _lists(item_ids, "item_ids"),
    }
    number = -1
    for number, shard in enumerate(item_codes):
        name = f"item_codes of shard {number}"
        values = _parts(shard, name)
        for index, (other, lists) in enumerate(beside.items(), 1):
            if lists is not None:
                if values[index] is not None:
                    raise ParameterError(f"{other}: given together with shards that hold their own")
                if number >= len(lists):
                    raise DataError(f"{other}: {len(lists)} entries, but there are more shards")
                values[index] = lists[number]
        yield _Shard(name, as_matrix(values[0], name), values[1], values[2])
    if number < 0:
        raise DataError("item_codes: no shards")
    for other, lists in beside.items():
        if lists is not None and len(lists) != number + 1:
            raise DataError(f"{other}: {len(lists)} entries for {number + 1} shards")


def _is_array(item_codes: object) -> bool:
    return hasattr(item_codes, "shape") or (
        isinstance(item_codes, list) and isinstance((item_codes or [0])[0], list)
    )


def _parts(shard: object, name: str) -> list[object]:
    """Return the codes, labels and ids of a shard, with None for what it lacks."""
    parts = shard if isinstance(shard, tuple) else (shard,)
    if not 1 <= len(parts) <= 3:
        raise DataError(
            f"{name}: a tuple of {len(parts)}; a shard must be codes, (codes, labels) or (codes, "
            "labels, ids)"
        )
    return [*parts, None, None][:3]


def _lists(values: object, what: str) -> list[Any] | tuple[Any, ...] | None:
    if values is None or isinstance(values, list | tuple):
        return values
    raise ParameterError(
        f"{what}: a {type(values).__name__}; if item_codes are shards, pass a list with one entry "
        "per shard"
    )
