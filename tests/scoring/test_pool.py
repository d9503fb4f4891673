"""Counts of several models know R of every query as their rankings do, on all engines, or say that
they do not.
"""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from retrieval_report import count_ties, evaluate, evaluate_to
from retrieval_report.engines import disk

METRICS = "recall, ap, ndcg, precision, r_precision, ndcg(ideal=list)"
ASKED: Any = {
    "metrics": METRICS,
    "cutoffs": [3, 5, None],
    "policies": ("expected", "best", "worst", "shuffled"),
    "shuffles": 5,
}


def runs(seed: int, order: str = "distance") -> pl.DataFrame:
    """The nearest 8 of 40 items by three models, for 6 queries, one of which the second model does
    not answer.
    """
    generator, rows = np.random.default_rng(seed), []
    grades = generator.integers(0, 4, (6, 40)) * (generator.random((6, 40)) < 0.4)
    for model in "abc":
        for query in range(6):
            distance = np.round(generator.random(40) * 6).astype(int)
            nearest = np.argsort(distance, kind="stable")[:8]
            if (model, query) != ("b", 3):
                rows += [
                    (model, f"q{query}", f"d{i}", int(distance[i]), int(grades[query, i]))
                    for i in nearest
                ]
    frame = pl.DataFrame(
        rows, schema=["model", "query", "item", "distance", "relevance"], orient="row"
    )
    return (
        frame
        if order == "distance"
        else frame.with_columns(score=-pl.col("distance")).drop("distance")
    )


@pytest.mark.parametrize(
    "options",
    [
        {"truncated": "no"},
        {"truncated": "within_tie"},
        {"truncated": {"a": "no", "b": "within_tie", "c": "between_ties"}},
        {"truncated": "within_tie", "relevant_items": "own"},
        {"truncated": "no", "relevant_from": 2, "missing_query": "skip"},
        {
            "truncated": "no",
            "queries": {"query": [f"q{query}" for query in range(6)], "n_relevant": [30] * 6},
        },
    ],
)
@pytest.mark.filterwarnings(
    "ignore:ndcg. for .* lists only some:retrieval_report.RetrievalReportWarning"
)
def test_scores_of_counts_are_those_of_the_rankings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
):
    rankings = runs(0)
    wanted, counts = evaluate(rankings, **ASKED, **options), count_ties(rankings)
    assert_frame_equal(evaluate(counts, **ASKED, **options), wanted, check_exact=True)
    monkeypatch.setattr(disk, "ROWS_PER_PART", 30)
    assert_frame_equal(count_ties(rankings.lazy()), counts)
    out = evaluate_to(tmp_path / "scores.parquet", counts, rows_per_part=30, **ASKED, **options)
    assert_frame_equal(
        pl.read_parquet(out).sort(*wanted.columns[:5]), wanted.sort(*wanted.columns[:5])
    )


def test_one_model_has_no_pool():
    assert count_ties(runs(0).filter(model="a")).columns == [
        "model",
        "query",
        "distance",
        "relevance",
        "count",
    ]
