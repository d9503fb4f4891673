"""Inputs that people reported in public, each in the smallest form, with its right value."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from retrieval_report.contracts.errors import ColumnError, DataError, ParameterError
from retrieval_report.metrics.parsing import parse_metric


def mean(rankings: object, measure: str, **options: Any) -> float:
    asked = {"truncated": "no", "policies": "expected", **options}
    return float(rr.summarise(rr.evaluate(rankings, metrics=measure, **asked))["value"].item())


SEARCHED = np.random.default_rng(0).normal(size=(50, 8)).astype(np.float32)


@pytest.mark.parametrize("k", [5])
def test_inner_products_judge_the_nearest_items(k: int):
    products = SEARCHED @ SEARCHED.T
    found = np.argsort(-products, axis=1)[:, :20]
    values = np.take_along_axis(products, found, 1)
    with pytest.raises(DataError, match=r"as scores do; say what they are by scores=True"):
        rr.lists.neighbour_judgements(values, found, k)
    judged = rr.lists.neighbour_judgements(values, found, k, scores=True)
    flat = rr.from_search({"flat": (values[:, :k], found[:, :k])}, judgements=judged, scores=True)
    data = dict(flat)
    assert mean(data.pop("rankings"), f"precision@{k}", judgements=data["judgements"]) == 1.0
    with pytest.raises(DataError, match="as distances do; say what they are by scores=False"):
        rr.lists.neighbour_judgements(-values, found, k, scores=True)
    with pytest.raises(ParameterError, match="there are scores"):
        rr.lists.neighbour_judgements(values, found, k, 0.1, scores=True)


ARMS = [
    ("q1", "a", "x", 3, 1, 0),
    ("q1", "b", "x", 2, 2, 1),
    ("q1", "c", "x", 1, 3, 0),
    ("q2", "d", "x", 3, 1, 1),
    ("q2", "e", "x", 2, 2, 0),
    ("q2", "f", "x", 1, 3, 0),
    ("q1", "g", "y", 9, 1, 1),
    ("q1", "h", "y", 8, 2, 0),
    ("q1", "i", "y", 7, 3, 0),
    ("q2", "j", "y", 9, 1, 1),
    ("q2", "k", "y", 8, 2, 0),
    ("q2", "l", "y", 7, 3, 0),
]


@pytest.mark.parametrize("form", ["csv", "parquet", "frame", "part by part"])
@pytest.mark.parametrize("ranks", [True, False])
@pytest.mark.parametrize("order", [None, ["query", "printed"], ["printed"]])
def test_a_column_whose_name_says_nothing_of_models_is_found_by_its_lists(
    ranks: bool, form: str, order: list[str] | None, tmp_path: Path
):
    names = ["query", "item", "arm", "score", "printed", "relevance"]
    frame = pl.DataFrame(ARMS, schema=names, orient="row").with_columns(page=1, text="item")
    frame = (frame.sort(order, maintain_order=True) if order else frame).rename({"printed": "rank"})
    if order is None:
        frame = frame.with_columns(pl.col("rank") - 1, pl.col("arm").cast(pl.Categorical))
    frame = frame if ranks else frame.drop("rank")
    frame.write_csv(tmp_path / "run.csv")
    frame.write_parquet(tmp_path / "run.parquet")
    given: Any = (
        frame if form == "frame" else tmp_path / f"run.{'csv' if form == 'csv' else 'parquet'}"
    )
    read = rr.read_rankings
    if form == "part by part":
        read = lambda path: rr.evaluate(path, measures="rr")  # type: ignore[assignment,misc] # noqa: E731
    if ranks:
        with pytest.raises(ColumnError, match=r"2 values of column 'arm' has ranks of its"):
            read(given)
    else:
        with pytest.warns(rr.RetrievalReportWarning, match="column 'arm' divides all lists into 2"):
            read(given)
    rankings = rr.read_rankings(given, columns={"model": "arm"})
    means = rr.summarise(rr.evaluate(rankings, measures="rr", policies="expected", truncated="no"))
    assert means.select("model", "value").rows() == [("x", 0.75), ("y", 1.0)]


def test_columns_that_divide_lists_by_something_else_are_left_alone():
    random = np.random.default_rng(2)
    size = 400
    frame = pl.DataFrame(
        {
            "query": np.repeat(np.arange(20), size // 20),
            "item": np.arange(size),
            "score": random.normal(size=size),
            "rank": np.tile(np.arange(1, 1 + size // 20), 20),
            "language": random.choice(["de", "en"], size),
            "section": np.repeat(np.arange(20) // 5, size // 20),
            "text": [f"text {number}" for number in range(size)],
            "relevance": random.integers(0, 2, size),
        }
    )
    rr.read_rankings(frame.drop("rank"))
    ranked = frame.sort("query", "score", descending=[False, True]).with_columns(frame["rank"])
    rr.read_rankings(ranked)
    tied = ranked.with_columns(pl.col("rank") // 2, score=-1.0 * (pl.col("rank") // 2))
    rr.read_rankings(tied)


@pytest.mark.filterwarnings("ignore:.*nearest items are relevant")  # labels are drawn
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_labels_in_one_column_are_class_ids(classes: int, dtype: Any):
    random = np.random.default_rng(1)
    codes, labels = random.integers(0, 2, (60, 12)).astype(bool), random.integers(0, classes, 60)
    column = labels.astype(dtype)[:, None]

    def counts(of: Any):
        return rr.codes.count_codes(codes[:20], codes, query_labels=of[:20], item_labels=of)

    assert counts(column).equals(counts(labels))
    distances = (codes[:20, None] != codes[None]).sum(axis=2)

    def inputs(of: Any):
        return rr.from_search(distances, query_labels=of[:20], item_labels=of)

    assert inputs(column).rankings.equals(inputs(labels).rankings)


@pytest.mark.parametrize("ranks", [False, True])
def test_one_list_for_everybody_is_no_proof_that_it_is_whole(ranks: bool):
    users = [f"u{number}" for number in range(3)]
    frame = pl.DataFrame(
        {
            "query": np.repeat(users, 3),
            "item": list("abc") * 3,
            ("distance" if ranks else "score"): [1, 2, 3] * 3 if ranks else [9.5, 7.0, 2.0] * 3,
            "relevance": [1, 0, 0, 0, 1, 0, 0, 0, 1],
        }
    )
    assert rr.truncated_lists(frame, cutoffs=3).select("truncated", "reason").row(0) == (
        "within_tie",
        "every query has the same list",
    )
    scores = rr.evaluate(frame, metrics="recall@3", policies="expected")
    assert scores["truncated"].all()
    order = "distance" if ranks else "score"
    own = frame.with_columns(pl.col(order).shuffle(seed=1).alias(order))
    assert rr.truncated_lists(own, cutoffs=3)["truncated"].item() == "no"
    queries = pl.DataFrame({"query": ["a user without a list", *users]})
    missing = rr.truncated_lists(frame, queries=queries, cutoffs=3)
    assert missing["reason"].item() == "every query has the same list"
    tied = frame.with_columns(pl.lit(0).alias(order))
    assert rr.truncated_lists(tied, cutoffs=3)["truncated"].item() == "no"


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("measure", ["ndcg@5", "ap", "recall@4"])
def test_expressions_take_the_judged_grades_as_a_column_of_lists(measure: str, lazy: bool):
    random = np.random.default_rng(0)
    run = pl.DataFrame(
        [(f"q{q}", f"d{d}", int(random.integers(0, 4))) for q in range(20) for d in range(8)],
        ["query", "item", "score"],
        orient="row",
    )
    judged = pl.DataFrame(
        [(f"q{q}", f"d{d}", int(random.integers(0, 4))) for q in range(20) for d in range(3, 14)],
        ["query", "item", "relevance"],
        orient="row",
    )
    rows = run.join(judged, on=["query", "item"], how="left").with_columns(
        pl.col("relevance").fill_null(0)
    )
    rows = rows.join(judged.group_by("query").agg(judged="relevance"), on="query")
    metric, depths = parse_metric(measure)
    for least in (None, 2.0):
        asked: Any = {
            "score": "score",
            "k": depths and depths[0],
            "relevant_from": least,
        }
        value = metric.expr("relevance", judged="judged", **asked).alias("value")
        grouped = (rows.lazy() if lazy else rows).group_by("query").agg(value)
        exact = rr.evaluate(
            run,
            judgements=judged,
            metrics=measure,
            truncated="no",
            policies="expected",
            relevant_from=least,
        )
        together = grouped.lazy().collect().join(exact, on="query")
        assert np.allclose(together["value"], together["value_right"], rtol=0, atol=1e-12)
    bad = rows.with_columns(judged=pl.lit([1, -1]))
    null = bad.group_by("query").agg(metric.expr("relevance", judged="judged", score="score"))
    assert null.to_series(1).null_count() == 20
