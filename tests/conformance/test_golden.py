"""The golden cases through the public API: means, variances and extremes over all orders."""

import math
from typing import Any

import polars as pl
import pytest

import golden
import oracles
from retrieval_report import evaluate

POLICIES = {"expected": "mean", "best": "max", "worst": "min"}


def number(value: Any) -> float:
    return float(value["float"]) if isinstance(value, dict) else float(value)


def scores_of(cases: list[dict[str, Any]]) -> pl.DataFrame:
    """Scores of all cases at once: every case is a query, evaluated at every cutoff that some case
    has.
    """
    rows = [
        (number_, measure, f"i{item}", grade)
        for number_, case in enumerate(cases)
        for item, (measure, grade) in enumerate(
            (p, g) for p, tie in enumerate(case["ties"]) for g in tie
        )
    ]
    frame = pl.DataFrame(rows, schema=["query", "distance", "item", "relevance"], orient="row")
    frame = frame.with_columns(item=pl.concat_str("query", "item"))
    queries = pl.DataFrame(
        {"query": range(len(cases)), "n_relevant": [case["n_relevant"] for case in cases]}
    )
    return evaluate(
        frame,
        queries=queries,
        metrics=sorted({text for case in cases for text in case["expected"]}),
        cutoffs=sorted({case["k"] for case in cases}),
        policies=tuple(POLICIES),
        truncated="no",
    )


@pytest.mark.filterwarnings("ignore:ndcg. for .* lists only some relevant items are in the data")
@pytest.mark.parametrize("file", ["exact_small", "exact_medium"])
def test_golden(file: str):
    cases = golden.cases(file)
    wrong, compared = [], 0
    for row in scores_of(cases).iter_rows(named=True):
        case = cases[row["query"]]
        exact = case["expected"].get(row["metric"], {})
        wanted = exact.get(POLICIES[row["policy"]])
        if case["k"] != row["cutoff"] or wanted is None:
            continue
        compared += 1
        if not math.isclose(row["value"], number(wanted), rel_tol=1e-12, abs_tol=1e-300):
            wrong.append((row, number(wanted)))
        if row["policy"] == "expected" and "variance" in exact:
            # variances of dcg and ndcg are float64 differences in the small file, so rounding is
            # left in them
            variance = number(exact["variance"])
            if row["metric"] in ("dcg(gain=exp2)", "ndcg(gain=exp2)") and file == "exact_small":
                variance = float(oracles.moments(case["ties"], row["metric"], case["k"]).variance)
            if row["std"] is None or not math.isclose(
                row["std"], math.sqrt(variance), rel_tol=1e-9, abs_tol=1e-14
            ):
                wrong.append((row, math.sqrt(variance)))
    assert wrong == []
    assert compared > 10 * len(cases)


def test_errors_of_large_ties_have_no_standard_deviation_rather_than_an_estimate():
    frame = pl.DataFrame(
        {"query": "q", "distance": 0, "relevance": [0, 1, 2, 3], "count": [7000, 1000, 1000, 1000]}
    )
    scores = evaluate(frame, metrics="err", cutoffs=[10, None], policies="expected", truncated="no")
    assert scores["std"].is_null().to_list() == [False, True]
