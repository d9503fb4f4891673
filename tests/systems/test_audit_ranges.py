"""The range that the audit gives for systems whose order inside ties is not defined."""

from __future__ import annotations

import polars as pl
import pytest

import oracles
from retrieval_report.systems.audit import audit


def test_an_open_order_is_shown_as_the_least_and_the_most_that_any_order_prints() -> None:
    ties = {"q": [[0, 2], [0, 1, 1]], "r": [[1], [3, 0, 0], [1, 0]]}
    rows = [
        {"query": query, "item": f"{index}{number}", "distance": index, "relevance": grade}
        for query, parts in ties.items()
        for index, part in enumerate(parts)
        for number, grade in enumerate(part)
    ]
    metrics = ("ap@3", "ndcg@3", "rr", "dcg@4", "precision@2")
    frame = audit(
        pl.DataFrame(rows),
        metrics=metrics,
        systems=["KerasRS", "torchmetrics", "deep-hashing scripts"],
    )
    shown = frame.filter(~pl.col("order").str.starts_with("mean over all orders"))
    for row in shown.iter_rows(named=True):
        moments = [
            oracles.moments(parts, row["definition"], row["cutoff"]) for parts in ties.values()
        ]
        low, high = (
            float(sum(getattr(one, end) for one in moments) / 2) for end in ("minimum", "maximum")
        )
        assert (row["prints_low"], row["prints_high"]) == (pytest.approx(low), pytest.approx(high))
        decided = high - low < 1e-12
        assert (row["prints"] is None, row["off"] is None, row["z"] is None) == (
            not decided,
            not decided,
            True,
        )
    assert shown["prints"].null_count() > 5


def test_ranx_keeps_rows_as_received_in_lists_of_up_to_15_items() -> None:
    """Numba's quicksort leaves them to an insertion sort."""
    longer = pl.DataFrame(
        {
            "query": "long",
            "item": [f"{n:02}" for n in range(16)],
            "score": 1.0,
            "relevance": [1] * 1 + [0] * 15,
        }
    )
    short = longer.head(15).with_columns(query=pl.lit("short"))
    [row] = audit(pl.concat([longer, short]), metrics="rr", cutoffs=None, systems="ranx").rows(
        named=True
    )
    assert (row["prints"], row["prints_low"], row["prints_high"]) == (None, (1 / 16 + 1) / 2, 1.0)
    assert row["order"].startswith(
        "rows as received in lists of up to 15 items, else unstable sort"
    )


def test_bounds_of_an_open_order_hold_for_the_ties_that_float32_makes() -> None:
    rankings = pl.DataFrame(
        {"query": "q", "item": ["a", "b"], "score": [0.5 + 1e-10, 0.5], "relevance": [1, 0]}
    )
    [row] = audit(rankings, metrics="rr", cutoffs=1, systems="KerasRS").rows(named=True)
    assert (row["lowest"], row["highest"], row["expected"]) == (1.0, 1.0, 1.0)
    assert (row["prints"], row["prints_low"], row["prints_high"]) == (None, 0.0, 1.0)


def test_every_model_that_an_open_order_may_put_first_is_a_winner() -> None:
    parts = [
        ("far", [1, 1], [0, 0]),
        ("near", [1, 1], [1, 0]),
        ("tied", [1, 1], [0, 1]),
        ("third", [1, 2], [0, 1]),
    ]
    rankings = pl.concat(
        pl.DataFrame(
            {
                "model": model,
                "query": model,
                "item": ["a", "b"],
                "distance": distance,
                "relevance": relevance,
            }
        )
        for model, distance, relevance in parts
    ).with_columns(query=pl.lit("q"), item=pl.col("model") + pl.col("item"))
    frame = audit(rankings, metrics="rr", cutoffs=None, systems=["KerasRS", "rax"])
    winners = (
        frame.select("system", "winner", "exact_winner", "same_winner")
        .unique(maintain_order=True)
        .rows()
    )
    assert winners == [
        ("KerasRS", "near or third or tied", "near = tied", None),
        ("rax", "near", "near = tied", False),
    ]
