"""The range that the audit gives for systems whose order inside ties is not defined."""

import polars as pl
import pytest

import oracles
from retrieval_report.systems.audit import audit


def test_an_open_order_is_shown_as_the_least_and_the_most_that_any_order_prints():
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
