"""Rows 36 to 53 of the table of bad input: ids, repeated rows, and frames that do not fit
together.
"""

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
    summarise,
)
from retrieval_report.contracts.errors import (
    DataError,
    KeyMismatchError,
)

BARE = rankings(relevance=None, weight=None)
QUERIES = pl.DataFrame(
    {"query": ["q1", "q2"], "label": ["x", "y"], "weight": [1.0, 3.0], "n_relevant": [2, 1]}
)
IDS = ("model", "query", "item")


def test_row_039_blanks_around_a_header_do_not_matter():
    wanted = evaluate(rankings(), metrics="rr")
    assert_frame_equal(evaluate(rankings().rename({"query": " Query"}), metrics="rr"), wanted)
    both = rankings().with_columns(
        pl.lit("x").alias(" Query")
    )  # our own name is the column, whatever else is there
    assert_frame_equal(evaluate(both, metrics="rr"), wanted)


@pytest.mark.parametrize("column", ["model", "query", "item"])
def test_row_042_half_a_surrogate_pair(column: str):
    columns = rankings().to_dict(as_series=False) | {column: ["a", "b", "c", "\ud800"]}
    refused(columns, DataError, f"'{column}'", r"\ud800", "not Unicode")
    judgements = JUDGEMENTS.to_dict(as_series=False) | {"item": ["a", "\udfff", "b"]}
    refused(BARE, DataError, "judgements", "'item'", r"\udfff", judgements=judgements)


def test_row_043_queries_of_another_kind():
    numbered = QUERIES.with_columns(query=pl.Series([1, 2]))
    found = evaluate(rankings())
    for average in ("macro", "weighted"):
        with pytest.raises(
            KeyMismatchError, match=r"'query' is String in the scores and Int64 in the queries"
        ):
            summarise(found, queries=numbered, average=average)


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["itq", "q2", "q1", "b", "a"])])
def test_row_045_categories_are_compared_as_text(dtype: Any):
    plain = rankings(distance=[1, 1, 1, 1])
    coded = plain.with_columns(pl.col(*IDS).cast(dtype))
    for order in (
        "row",
        "item",
        "item_descending",
    ):  # by the text, not by the number of the category
        assert_frame_equal(evaluate(coded, naive_order=order), evaluate(plain, naive_order=order))


def test_row_046_ids_of_text_files_stay_apart(tmp_path: Path):
    ids = ["7", "007", "1e5", "NA", "99999999999999999999"]
    rows = "".join(f"{query},{item},1\n" for query in ids for item in ids)
    (tmp_path / "run.csv").write_text("query,item,distance\n" + rows)
    read = read_rankings(tmp_path / "run.csv")
    assert read.select("query", "item").rows() == [(query, item) for query in ids for item in ids]
    (tmp_path / "qrels.csv").write_text("query,item,relevance\n7,007,1\n")
    judgements = read_judgements(tmp_path / "qrels.csv")
    assert value(read.filter(query="7"), "precision", judgements=judgements) == 0.2


def test_row_048_queries_frame_that_lacks_a_query():
    found = evaluate(rankings())
    for average in ("macro", "weighted"):
        with pytest.raises(
            DataError, match=r"scores without (label|weight), first in query 'q2' of model 'itq'"
        ):
            summarise(found, queries=QUERIES[:1], average=average)
