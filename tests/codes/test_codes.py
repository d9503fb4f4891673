"""Counts of codes against counting by hand: distances, labels, judgements, depth, and the scores
they give.

Small enough for the interpreted run.
"""

from typing import Any

import numpy as np
import pytest

from codes_by_hand import by_hand, classes, hamming, pairs, random_bits, rows, same
from retrieval_report.codes import count_codes, shards


@pytest.mark.parametrize("width", [2, 5, 64, 90])
def test_multi_hot_labels(width: int):
    queries, items = random_bits(15, 4, 16), random_bits(16, 40, 16)
    own, other = random_bits(17, 4, width), random_bits(18, 40, width)
    distance, shared = pairs(queries, items, hamming), own @ other.T
    any_ = count_codes(queries, items, query_labels=own, item_labels=other)
    assert rows(any_) == by_hand(distance, (shared > 0).astype(int))
    graded = count_codes(
        queries, items, query_labels=own, item_labels=other.astype(bool), relevance="shared"
    )
    assert rows(graded) == by_hand(distance, shared)


def test_ids_and_model_are_kept_and_sorted_by():
    model = "é"
    codes = random_bits(37, 3, 8)
    counts = count_codes(
        codes,
        codes,
        query_labels=[0, 1, 2],
        item_labels=[0, 1, 2],
        query_ids=["c", "a", "b"],
        model=model,
    )
    assert counts["model"].unique().to_list() == [model]
    assert counts["query"].unique(maintain_order=True).to_list() == ["a", "b", "c"]
    assert counts.equals(counts.sort("model", "query", "distance", "relevance"))
    own = counts.filter(distance=0, relevance=1)
    assert own["query"].to_list() == ["a", "b", "c"]


# Excluded pairs


@pytest.mark.parametrize("kind", ["classes", "any", "shared"])
def test_a_query_can_be_left_out_of_its_own_list(kind: str):
    items = random_bits(41, 30, 11)
    measures = [4, 20, 7]
    known: Any = {
        "query_ids": [f"i{measure}" for measure in measures],
        "item_ids": [f"i{n}" for n in range(30)],
    }
    labels = classes(42, 30)
    hot = random_bits(43, 30, 6)
    if kind == "classes":
        known |= {"query_labels": labels[measures], "item_labels": labels}
        relevance = pairs(labels[measures], labels, same)
    else:
        known |= {"query_labels": hot[measures], "item_labels": hot, "relevance": kind}
        shared = hot[measures] @ hot.T
        relevance = shared if kind == "shared" else (shared > 0).astype(int)
    distance = pairs(items[measures], items, hamming)
    distance[np.arange(3), measures] = -1
    counts = count_codes(items[measures], items, exclude_self=True, **known)
    order = {f"i{measure}": n for n, measure in enumerate(measures)}
    assert sorted((order[row[0]], *row[1:]) for row in rows(counts)) == by_hand(distance, relevance)


def test_without_ids_query_i_is_item_i():
    items = random_bits(44, 12, 9)
    labels = classes(45, 12)
    distance = pairs(items[:5], items, hamming)
    distance[np.arange(5), np.arange(5)] = -1
    counts = count_codes(
        items[:5], items, query_labels=labels[:5], item_labels=labels, exclude_self=True
    )
    assert rows(counts) == by_hand(distance, pairs(labels[:5], labels, same))


# Depth


@pytest.mark.parametrize("sliced", [False, True])
@pytest.mark.parametrize("exclude", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 5, 17, 39, 40, 1000])
def test_depth_keeps_the_nearest_and_the_last_tie_whole(
    depth: int, exclude: bool, sliced: bool, monkeypatch: pytest.MonkeyPatch
):
    items = random_bits(46, 40, 9)
    queries = items[:6]
    labels = classes(47, 40)
    known: Any = {"query_labels": labels[:6], "item_labels": labels}
    everything = count_codes(queries, items, **known, exclude_self=exclude)
    if sliced:
        monkeypatch.setattr(shards, "SLICE_BYTES", 9 * 8)
    kept = []
    for query in range(6):
        nearer, last = 0, -1
        for row in rows(everything.filter(query=query)):
            if nearer >= depth and row[1] != last:
                break
            kept.append(row)
            nearer, last = nearer + row[3], row[1]
    found = count_codes(queries, items, **known, exclude_self=exclude, depth=depth)
    assert rows(found.drop("truncated")) == kept
    assert found["truncated"].unique().to_list() == [
        "no" if depth > 40 - exclude else "between_ties"
    ]


# What the counts are for
