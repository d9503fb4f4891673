"""Rows 36 to 53 of the table of bad input: ids, repeated rows, and frames that do not fit
together.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from bad_input import JUDGEMENTS, rankings, refused, value
from retrieval_report import (
    evaluate,
    read_judgements,
    read_rankings,
    shuffled_means,
    summarise,
)
from retrieval_report.contracts.errors import (
    DataError,
    KeyMismatchError,
    RetrievalReportWarning,
)
from retrieval_report.lists import tie_groups

BARE = rankings(relevance=None, weight=None)
QUERIES = pl.DataFrame(
    {"query": ["q1", "q2"], "label": ["x", "y"], "weight": [1.0, 3.0], "n_relevant": [2, 1]}
)
IDS = ("model", "query", "item")


@pytest.mark.parametrize("column", ["query", "item"])
def test_row_039_blanks_belong_to_ids(column: str) -> None:
    ids = ["a", " a", "a ", ""]
    message = rf"'{column}': 2 ids differ only by what strip\(\) would remove, such as ' a' and 'a'"
    with pytest.warns(RetrievalReportWarning, match=message):
        groups = tie_groups(rankings(**{column: ids}))
    assert sorted(groups[column]) == sorted(ids)


def test_row_039_blanks_around_a_header_do_not_matter() -> None:
    wanted = evaluate(rankings(), metrics="rr")
    assert_frame_equal(evaluate(rankings().rename({"query": " Query"}), metrics="rr"), wanted)
    both = rankings().with_columns(
        pl.lit("x").alias(" Query")
    )  # our own name is the column, whatever else is there
    assert_frame_equal(evaluate(both, metrics="rr"), wanted)


@pytest.mark.parametrize("column", ["query", "item"])
def test_row_040_unicode_ids_are_compared_as_bytes(column: str) -> None:
    ids = [
        "e\u0301",
        "\u00e9",
        "\U0001f600",
        "q\u200b",
    ]  # é of two characters and of one, emoji, zero width
    frame = rankings(**{column: ids})
    with pytest.warns(
        RetrievalReportWarning, match=rf"'{column}': 1 ids differ only by what Unicode NFC"
    ):
        found = evaluate(frame, metrics="recall", cutoffs=None, truncated="no")
    assert set(found["query"]) == (set(ids) if column == "query" else {"q1", "q2"})


@pytest.mark.parametrize("column", ["model", "query", "item"])
def test_row_042_half_a_surrogate_pair(column: str) -> None:
    columns = rankings().to_dict(as_series=False) | {column: ["a", "b", "c", "\ud800"]}
    refused(columns, DataError, f"'{column}'", r"\ud800", "not Unicode")
    judgements = JUDGEMENTS.to_dict(as_series=False) | {"item": ["a", "\udfff", "b"]}
    refused(BARE, DataError, "judgements", "'item'", r"\udfff", judgements=judgements)


def test_row_043_queries_of_another_kind() -> None:
    numbered = QUERIES.with_columns(query=pl.Series([1, 2]))
    found = evaluate(rankings())
    for average in ("macro", "weighted"):
        with pytest.raises(
            KeyMismatchError, match=r"'query' is String in the scores and Int64 in the queries"
        ):
            summarise(found, queries=numbered, average=average)


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["itq", "q2", "q1", "b", "a"])])
def test_row_045_categories_are_compared_as_text(dtype: Any) -> None:
    plain = rankings(distance=[1, 1, 1, 1])
    coded = plain.with_columns(pl.col(*IDS).cast(dtype))
    for order in (
        "row",
        "item",
        "item_descending",
    ):  # by the text, not by the number of the category
        assert_frame_equal(evaluate(coded, naive_order=order), evaluate(plain, naive_order=order))


def test_row_046_ids_of_text_files_stay_apart(tmp_path: Path) -> None:
    ids = ["7", "007", "1e5", "NA", "99999999999999999999"]
    rows = "".join(f"{query},{item},1\n" for query in ids for item in ids)
    (tmp_path / "run.csv").write_text("query,item,distance\n" + rows)
    read = read_rankings(tmp_path / "run.csv")
    assert read.select("query", "item").rows() == [(query, item) for query in ids for item in ids]
    (tmp_path / "qrels.csv").write_text("query,item,relevance\n7,007,1\n")
    judgements = read_judgements(tmp_path / "qrels.csv")
    assert value(read.filter(query="7"), "precision", judgements=judgements) == 0.2


TWO_MODELS: dict[str, Any] = {
    "model": ["a", "a", "b", "b"],
    "query": ["q1", "q2", "q1", "q1"],
    "item": list("xxxy"),
}


@pytest.mark.parametrize(("rule", "row"), [("zero", (0.5, 2, 1)), ("skip", (1.0, 1, 1))])
def test_row_047_judged_query_without_rows(rule: str, row: tuple[Any, ...]) -> None:
    judgements = {"q1": {"a": 1}, "gone": {"a": 1}}
    asked: Any = {"judgements": judgements, "metrics": "rr", "cutoffs": 1, "missing_query": rule}
    found = evaluate(BARE[:2], policies="expected", **asked)
    gone = found.filter(query="gone").select("value", "items", "n_relevant")
    assert gone.rows() == [(0.0 if rule == "zero" else None, 0, 1)]
    assert summarise(found).select("value", "queries", "missing").rows() == [row]
    assert shuffled_means(BARE[:2], shuffles=1, **asked)["value"].to_list() == [row[0]]


def test_row_048_query_without_judgements() -> None:
    judgements = JUDGEMENTS.filter(query="q1")
    found = evaluate(
        BARE,
        judgements=judgements,
        metrics=["rr", "precision"],
        cutoffs=None,
        policies="expected",
        unjudged_query="skip",
    )
    assert found["value"].to_list() == [1.0, 0.5, None, None]
    assert found["n_relevant"].to_list() == [1, 1, None, None]
    assert summarise(found).select("value", "queries", "unjudged").rows() == [
        (1.0, 1, 1),
        (0.5, 1, 1),
    ]


def test_row_048_queries_frame_that_lacks_a_query() -> None:
    found = evaluate(rankings())
    for average in ("macro", "weighted"):
        with pytest.raises(
            DataError, match=r"scores without (label|weight), first in query 'q2' of model 'itq'"
        ):
            summarise(found, queries=QUERIES[:1], average=average)


def test_row_049_models_with_different_queries() -> None:
    frame = rankings(**TWO_MODELS, relevance=[1, 1, 1, 0])
    asked: dict[str, Any] = {"metrics": "precision@all", "policies": "expected", "truncated": "no"}
    for rule, rows in (
        ("zero", [("a", 1.0, 2, 0), ("b", 0.25, 2, 1)]),
        ("skip", [("a", 1.0, 2, 0), ("b", 0.5, 1, 1)]),
    ):
        means = summarise(evaluate(frame, **asked, missing_query=rule))
        assert means.select("model", "value", "queries", "missing").rows() == rows
    refused(frame, KeyMismatchError, "1 ", "'q2'", "'b'", missing_query="error")
