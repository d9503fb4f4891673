"""The same counts from every form of codes and labels, any shards, sizes and threads."""

from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from codes_by_hand import Array, by_hand, classes, hamming, pairs, random_bits, rows, same
from retrieval_report.codes import count_codes, counting
from retrieval_report.contracts.errors import DataError
from retrieval_report.engines.evaluate import count_ties


def forms(bits: Array) -> dict[str, tuple[Array, int | None]]:
    """The same codes in every form, with ``bits=`` where it is needed."""
    count = bits.shape[1]
    packed = np.packbits(bits, axis=1)
    little = np.packbits(bits, axis=1, bitorder="little")
    filled = np.zeros((len(bits), -(-packed.shape[1] // 8) * 8), np.uint8)
    filled[:, : packed.shape[1]] = packed
    signs = 2 * bits - 1
    return {
        "booleans": (bits.astype(bool), None),
        "uint8 0 and 1": (bits.astype(np.uint8), None),
        "uint8 0 and 1, bits told": (bits.astype(np.uint8), count),
        "uint64 0 and 1": (bits.astype(np.uint64), None),
        "int8 signs": (signs.astype(np.int8), None),
        "int64 signs": (signs.astype(np.int64), None),
        "float16 signs": (signs.astype(np.float16), None),
        "float32 signs": (signs.astype(np.float32), None),
        "float64 0 and 1": (bits.astype(np.float64), None),
        "column-major": (np.asfortranarray(signs), None),
        "every second row of more": (np.repeat(signs, 2, axis=0)[::2], None),
        "packed bytes": (packed, count),
        "packed bytes, little end first": (little, count),
        "packed words": (filled.view(np.uint64), count),
    }


@pytest.mark.parametrize("bits", [8, 20, 64, 100])
@pytest.mark.parametrize("form", list(forms(np.zeros((1, 1), int))))
def test_every_form_of_codes_gives_the_same_counts(form: str, bits: int):
    queries, items = random_bits(5, 4, bits), random_bits(6, 9, bits)
    expected = by_hand(pairs(queries, items, hamming), np.zeros((4, 9), int))
    (query_codes, told), (item_codes, _) = forms(queries)[form], forms(items)[form]
    counts = count_codes(
        query_codes, item_codes, query_labels=[0] * 4, item_labels=[1] * 9, bits=told
    )
    assert rows(counts) == expected


def test_bytes_of_zeros_and_ones_are_bits_unless_told_otherwise():
    codes = np.array([[0, 1], [1, 0]], np.uint8)
    labels: Any = {"query_labels": [0, 0], "item_labels": [0, 0]}
    assert count_codes(codes, codes, **labels)["distance"].max() == 2
    assert count_codes(codes, 255 * codes, bits=16, **labels)["distance"].max() == 9


def counted_at_once(
    queries: Array, items: Array, relevant: Array
) -> list[tuple[int, int, int, int]]:
    """What ``count_codes`` gives, by NumPy, query by query."""
    found = []
    for number, query in enumerate(queries):
        values = 2 * (query != items).sum(axis=1) + relevant[number]
        counts = np.bincount(values)
        found += [
            (number, int(value) // 2, int(value) % 2, int(counts[value]))
            for value in np.flatnonzero(counts)
        ]
    return found


@pytest.mark.parametrize("size", [1, 8, 9, 4095, 4096, 4097, 20_001])
@pytest.mark.parametrize("bits", [20, 64, 96])
def test_no_tile_or_lane_boundary_loses_or_repeats_an_item(size: int, bits: int):
    queries, items = random_bits(7, 3, bits), random_bits(8, size, bits)
    own, other = classes(9, 3), classes(10, size)
    counts = count_codes(queries, items, query_labels=own, item_labels=other)
    relevant = (own[:, None] == other).astype(int)
    assert rows(counts) == counted_at_once(queries, items, relevant)


@pytest.mark.parametrize(  # every two of them together, but for some kinds of codes of 100 bits
    ("size", "kinds", "bits", "kind"),
    [
        (17_000, 10, 64, "random"),
        (17_000, 10, 255, "equal"),
        ((1 << 14) + 1, 5000, 255, "half equal"),
        ((1 << 14) + 1, 5000, 20, "random"),
        ((1 << 16) + 129, 1, 64, "half equal"),
        ((1 << 16) + 129, 1, 255, "random"),
        ((1 << 16) + 129, 1, 20, "equal"),
        ((1 << 16) + 129, 1, 256, "half equal"),
    ],
)
def test_many_items_of_any_classes_and_codes(size: int, kinds: int, bits: int, kind: str):
    generator = np.random.default_rng(bits)
    queries, items = random_bits(1, 64, bits), random_bits(2, size, bits)
    items[: {"random": 0, "equal": size, "half equal": size // 2}[kind]] = queries[0]
    own, other = generator.integers(0, kinds + 1, len(queries)), generator.integers(0, kinds, size)
    counts = count_codes(queries, items, query_labels=own, item_labels=other)
    few = 8  # by hand takes its time
    expected = counted_at_once(queries[:few], items, (own[:few, None] == other).astype(int))
    assert rows(counts.filter(pl.col("query") < few)) == expected
    assert counts["count"].sum() == size * len(queries)


@given(data=st.data())
def test_any_codes_any_shards(data: st.DataObject):
    bits = data.draw(st.sampled_from([1, 7, 8, 11, 24, 63, 64, 65, 130]))
    seed = data.draw(st.integers(0, 1000))
    size = data.draw(st.integers(1, 60))
    queries, items = random_bits(seed, 4, bits), random_bits(seed + 1, size, bits)
    own, other = classes(seed + 2, 4), classes(seed + 3, size)
    whole = count_codes(queries, items, query_labels=own, item_labels=other)
    assert rows(whole) == by_hand(pairs(queries, items, hamming), pairs(own, other, same))
    cuts = sorted(data.draw(st.sets(st.integers(1, size - 1), max_size=4))) if size > 1 else []
    parts = list(zip(np.split(items, cuts), np.split(other, cuts), strict=True))
    assert count_codes(queries, iter(parts), query_labels=own).equals(whole)
    each = [
        count_codes(queries, codes, query_labels=own, item_labels=labels) for codes, labels in parts
    ]
    assert count_ties(pl.concat(each)).equals(whole)


def test_shards_with_labels_and_ids():
    queries, items = random_bits(25, 3, 12), random_bits(26, 30, 12)
    labels, ids = classes(27, 30), np.arange(100, 130)
    known: Any = {
        "query_labels": [0, 1, 2],
        "query_ids": [100, 3, 4],
        "exclude_self": True,
    }
    whole = count_codes(queries, items, item_labels=labels, item_ids=ids, **known)
    cut = [np.split(values, [11, 12]) for values in (items, labels, ids)]
    assert count_codes(queries, zip(*cut, strict=True), **known).equals(whole)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads_change_nothing(threads: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(counting, "BLOCKS", 7)
    for bits in (8, 64):
        queries, items = random_bits(33, 50, bits), random_bits(34, 3000, bits)
        labels: Any = {"query_labels": classes(35, 50), "item_labels": classes(36, 3000)}
        distance = (queries[:, None, :] != items[None]).sum(axis=2)
        relevance = labels["query_labels"][:, None] == labels["item_labels"]
        expected = by_hand(distance, relevance.astype(int))
        assert rows(count_codes(queries, items, threads=threads, **labels)) == expected


def test_progress_counts_items(capsys: pytest.CaptureFixture[str]):
    codes = random_bits(65, 3000, 8)
    labels: Any = {"query_labels": [0] * 3000, "item_labels": [0] * 3000}
    count_codes(codes, codes, progress=True, **labels)
    assert "3.00k/3.00k" in capsys.readouterr().err
    count_codes(codes, codes, **labels)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("order", ["big", "little"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint64])
@pytest.mark.parametrize("side", ["query_codes", "item_codes"])
def test_bits_beyond_the_number_of_bits_are_refused(order: Any, dtype: Any, side: str):
    drawn = np.random.default_rng(7).random((30, 60)) < 0.5
    padded = np.pad(drawn, ((0, 0), (0, 4)))
    padded[17, 60:] = padded[17, :4] = padded[17, 52:60] = True
    sound = np.packbits(drawn, axis=1, bitorder=order).view(dtype)
    full = np.packbits(padded, axis=1, bitorder=order).view(dtype)
    call = partial(count_codes, query_labels=[0] * 30, item_labels=[0] * 30, bits=60)
    assert call(sound, sound).height
    arrays = {"query_codes": sound, "item_codes": sound, side: full}
    with pytest.raises(DataError, match=f"^{side}: row 17 has bits set beyond the first 60"):
        call(**arrays)
