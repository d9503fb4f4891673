"""Rows 36 to 53 of the table of bad input: ids, repeated rows, and frames that do not fit
together.
"""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from bad_input import LAST, numbers, one_list, rankings, refused, scores, value
from retrieval_report import (
    evaluate,
    read_judgements,
    read_rankings,
    shuffled_means,
    summarise,
)
from retrieval_report.contracts.errors import (
    ColumnError,
    DataError,
    KeyMismatchError,
    RetrievalReportWarning,
)
from retrieval_report.lists import tie_groups

BARE = rankings(relevance=None, weight=None)
JUDGEMENTS = pl.DataFrame(
    {"query": ["q1", "q1", "q2"], "item": ["a", "b", "b"], "relevance": [1, 0, 1]}
)
QUERIES = pl.DataFrame(
    {"query": ["q1", "q2"], "label": ["x", "y"], "weight": [1.0, 3.0], "n_relevant": [2, 1]}
)
IDS = ("model", "query", "item")


def test_row_036_repeated_item() -> None:
    frame = rankings(item=["a", "b", "b", "b"])
    refused(frame, DataError, "2 rows", "repeat", "model, query, item", *LAST)


def test_row_036_repeated_among_the_rows_that_were_not_retrieved() -> None:
    for distance in ([0.1, 0.2, 0.1, None], [0.1, 0.2, None, None]):
        frame = rankings(item=["a", "b", "b", "b"], distance=distance)
        refused(frame, DataError, "2 rows", "repeat", *LAST, null_distance="not_retrieved")


def test_row_036_repeated_judgements_and_queries() -> None:
    twice = pl.concat([JUDGEMENTS, JUDGEMENTS[2:].with_columns(relevance=pl.lit(0, pl.Int64))])
    different = (
        "1 item with different grades",
        "'b' of query 'q2'",
        "1 and 0",
        "repeated_judgements=",
    )
    refused(BARE, DataError, "judgements", *different, judgements=twice)
    refused(
        rankings(),
        DataError,
        "queries",
        "2 rows",
        "'q1'",
        queries=QUERIES.with_columns(query=pl.lit("q1")),
    )


def test_row_037_identical_rows() -> None:
    frame = pl.concat([rankings(), rankings()[3:]])
    advice = ("do they belong to several models?", "collapse(group=…)")
    refused(frame, DataError, "2 rows", "repeat", *LAST, *advice)
    assert scores(frame.unique(["model", "query", "item"]), "rr") == [1.0, 0.5]


@pytest.mark.parametrize("column", IDS)
def test_row_038_null_id(column: str) -> None:
    frame = rankings().with_columns(pl.when(pl.int_range(pl.len()) < 3).then(column))
    others = (word for name, word in zip(IDS, LAST, strict=True) if name != column)
    refused(frame, DataError, f"'{column}'", "1 null", *others, "None")
    refused(rankings(**{column: [None] * 4}), ColumnError, f"'{column}'", "Null")


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


def test_row_041_nul_in_an_id() -> None:
    frame = rankings(
        query=["a\0", "a\0", "a\0b", "a"], item=["x", "x\0", "x", "x"], relevance=[0, 1, 1, 0]
    )
    found = evaluate(frame, metrics="rr", cutoffs=None)
    expected = found.filter(policy="expected")
    assert expected.select("query", "value").rows() == [("a", 0.0), ("a\0", 0.5), ("a\0b", 1.0)]


@pytest.mark.parametrize("column", ["model", "query", "item"])
def test_row_042_half_a_surrogate_pair(column: str) -> None:
    columns = rankings().to_dict(as_series=False) | {column: ["a", "b", "c", "\ud800"]}
    refused(columns, DataError, f"'{column}'", r"\ud800", "not Unicode")
    judgements = JUDGEMENTS.to_dict(as_series=False) | {"item": ["a", "\udfff", "b"]}
    refused(BARE, DataError, "judgements", "'item'", r"\udfff", judgements=judgements)


@pytest.mark.parametrize("column", ["query", "item"])
def test_row_043_text_in_one_frame_and_numbers_in_the_other(column: str) -> None:
    numbered = JUDGEMENTS.with_columns(pl.Series(column, [1, 2, 3]))
    words = (f"'{column}'", "String", "Int64", "rankings", "judgements", "never cast")
    refused(BARE, KeyMismatchError, *words, judgements=numbered)
    refused(
        BARE.with_columns(pl.Series(column, [1, 2, 3, 4])),
        KeyMismatchError,
        *words,
        judgements=JUDGEMENTS,
    )


def test_row_043_queries_of_another_kind() -> None:
    numbered = QUERIES.with_columns(query=pl.Series([1, 2]))
    refused(rankings(), KeyMismatchError, "'query'", "String", "Int64", "queries", queries=numbered)
    found = evaluate(rankings())
    for average in ("macro", "weighted"):
        with pytest.raises(
            KeyMismatchError, match=r"'query' is String in the scores and Int64 in the queries"
        ):
            summarise(found, queries=numbered, average=average)


@pytest.mark.parametrize(
    ("one", "other", "far"),
    [
        (pl.Int8, pl.Int64, 1000),
        (pl.UInt8, pl.Int64, -1),
        (pl.Int64, pl.UInt64, 2**64 - 1),
        (pl.Int64, pl.Int128, 2**100),
    ],
)
@pytest.mark.parametrize("column", ["query", "item"])
def test_row_043_whole_numbers_of_another_width_fit(
    column: str, one: Any, other: Any, far: int
) -> None:
    """A judged query or item that the narrower type cannot hold is one that was not retrieved, no
    crash.
    """
    frame = BARE.with_columns(query=numbers([1, 1, 2, 2], one), item=numbers([1, 2, 1, 2], one))
    ids = {"query": [1, 2, 2], "item": [1, 2, 2]}
    ids[column][2] = far
    judgements = pl.DataFrame(
        {name: numbers(given, other) for name, given in ids.items()} | {"relevance": [1, 1, 1]}
    )
    found = evaluate(
        frame, judgements=judgements, metrics="recall", cutoffs=None, policies="expected"
    )
    recalls = dict(found.select("query", "value").iter_rows())
    assert recalls == ({1: 1.0, 2: 1.0, far: 0.0} if column == "query" else {1: 1.0, 2: 0.5})


@pytest.mark.parametrize("column", IDS)
@pytest.mark.parametrize(
    "ids",
    [
        numbers([1.0, 2.0, 3.0, 4.0], pl.Float64),
        numbers([1, 2, 3, 4], pl.Decimal(5, 0)),
        numbers([True, False, True, False], pl.Boolean),
        numbers([dt.date(2020, 1, day) for day in (1, 2, 3, 4)], pl.Date),
        numbers([["a"], ["b"], ["c"], ["d"]], pl.List(pl.String)),
    ],
    ids=lambda series: str(series.dtype),
)
def test_row_044_ids_that_are_neither_text_nor_whole_numbers(column: str, ids: pl.Series) -> None:
    dtype = type(ids.dtype).__name__
    refused(rankings(**{column: ids}), ColumnError, f"'{column}'", dtype, "text or a whole number")
    if column != "model":
        refused(
            BARE,
            ColumnError,
            "judgements",
            f"'{column}'",
            judgements=JUDGEMENTS.with_columns(ids[:3].alias(column)),
        )


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


def test_row_047_error_on_request() -> None:
    judgements = pl.DataFrame({"query": ["q1", "gone"], "item": ["a", "a"], "relevance": [1, 1]})
    refused(
        BARE[:2],
        KeyMismatchError,
        "1 ",
        "'gone'",
        "'itq'",
        judgements=judgements,
        missing_query="error",
    )
    one_more = pl.DataFrame({"query": ["q1", "q2", "gone"]})
    refused(
        rankings(),
        KeyMismatchError,
        "1 ",
        "'gone'",
        "'itq'",
        queries=one_more,
        missing_query="error",
    )


def test_row_048_query_without_judgements() -> None:
    judgements = JUDGEMENTS.filter(query="q1")
    refused(
        BARE, KeyMismatchError, "1 of 2 queries", "no judgements", "'q2'", judgements=judgements
    )
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
    refused(rankings(), KeyMismatchError, "queries", "1 ", "'q2'", queries=QUERIES[:1])
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


def test_row_050_models_with_different_items() -> None:
    frame = rankings(
        model=["a", "b", "b", "b"], query=["q"] * 4, item=list("wxyz"), relevance=[1, 0, 0, 1]
    )
    found = evaluate(
        frame, metrics="precision", cutoffs=[1, None], policies="expected", truncated="no"
    )
    assert found.select("model", "items").unique().sort("model").rows() == [("a", 1), ("b", 3)]
    assert found["value"].to_list() == pytest.approx([1.0, 1.0, 0.0, 1 / 3])


def test_row_051_judged_item_that_was_not_retrieved() -> None:
    judgements = pl.DataFrame(
        {"query": ["q"] * 3, "item": ["i0", "i1", "far"], "relevance": [1, 0, 2]}
    )
    frame = one_list([1, 1], [1, 0])
    found = evaluate(
        frame.drop("relevance"), judgements=judgements, metrics=["recall", "ndcg"], cutoffs=1,
        policies="expected", truncated="no",
    )  # fmt: skip
    assert found["value"].to_list() == [0.25, 0.25]
    assert found.select("items", "n_relevant").row(0) == (2, 2)
    # The same, told by rows without distance.
    told = pl.concat(
        [frame, pl.DataFrame({"query": "q", "item": "far", "distance": None, "relevance": 2})],
        how="vertical_relaxed",
    )
    same = evaluate(
        told, metrics=["recall", "ndcg"], cutoffs=1, policies="expected", truncated="no",
        null_distance="not_retrieved",
    )  # fmt: skip
    assert_frame_equal(same, found)
    # And by the number of relevant items alone.
    queries = pl.DataFrame({"query": ["q"], "n_relevant": [2]})
    assert value(frame, "recall", 1, queries=queries, truncated="no") == 0.25
    # In the ideal of graded lists it has the lowest grade of its list, whatever the grades of other
    # queries.
    assert value(frame, "recall", 1) == 0.5


def test_row_051_n_relevant_below_what_the_list_holds() -> None:
    queries = pl.DataFrame({"query": ["q1", "q2"], "n_relevant": [1, 0]})
    refused(
        rankings(),
        DataError,
        "'n_relevant'",
        "1 lists",
        "'q2'",
        "'itq'",
        "1 found",
        "0 stated",
        queries=queries,
    )


@pytest.mark.parametrize("told", [-1, None])
def test_row_051_n_relevant_that_is_no_count(told: int | None) -> None:
    queries = pl.DataFrame({"query": ["q1", "q2"], "n_relevant": [1, told]})
    refused(rankings(), DataError, "'n_relevant'", "'n_relevant': 1 n", "'q2'", queries=queries)


def test_row_052_retrieved_item_without_judgement() -> None:
    given = {
        "judgements": JUDGEMENTS,
        "metrics": ["rr", "precision"],
        "cutoffs": None,
        "policies": "expected",
    }
    found = evaluate(BARE, **given)  # type: ignore[arg-type]
    assert found["value"].to_list() == [1.0, 0.5, 0.5, 0.5]  # item a of q2 counts as not relevant
    dropped = evaluate(BARE, unjudged="drop", **given)  # type: ignore[arg-type]
    assert dropped["value"].to_list() == [1.0, 0.5, 1.0, 1.0]
    assert dropped["items"].to_list() == [2, 2, 1, 1]
    refused(
        BARE,
        DataError,
        "'relevance'",
        "1 null",
        "'itq'",
        "'q2'",
        "'a'",
        unjudged="error",
        judgements=JUDGEMENTS,
    )


def test_row_053_names_that_differ_by_case_only() -> None:
    frame = rankings(
        model=["ITQ", "itq", "Itq", "itq"], query=["q", "q", "q", "Q"], relevance=[1] * 4
    )
    found = evaluate(
        frame, metrics="rr", cutoffs=None, policies="expected", truncated="no", missing_query="skip"
    )
    assert found["model"].unique().sort().to_list() == ["ITQ", "Itq", "itq"]
    assert found["query"].unique().sort().to_list() == ["Q", "q"]


def test_row_053_empty_model_name() -> None:
    refused(rankings(model=["itq", "itq", "", ""]), DataError, "'model'", "2 empty", "'q2'", "'a'")
    found = evaluate(rankings(model=None))
    assert found["model"].unique().to_list() == ["model"]
