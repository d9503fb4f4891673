"""Rows 54 to 58, 72 and 73 of the table of bad input: shapes, and where frames come from."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal

from bad_input import ENTRANCES, POLICIES, numbers, one_list, rankings, refused, scores
from catalogue_texts import TEXTS
from retrieval_report import (
    Meter,
    compare,
    count_ties,
    evaluate,
    from_scores,
    from_search,
    read_rankings,
    shuffled_means,
    summarise,
)
from retrieval_report.contracts.errors import (
    ColumnError,
    DataError,
    FileError,
)
from retrieval_report.contracts.frames import SCORES, SUMMARY
from retrieval_report.lists import query_weights, tie_groups

EMPTY = {
    "typed": rankings().clear(),
    "integer ids": rankings(query=[1] * 4, item=[1, 2, 3, 4]).clear(),
    "without types": pl.DataFrame({name: [] for name in rankings().columns}),
    "pandas": pd.DataFrame({name: [] for name in rankings().columns}),
    "pandas objects": pd.DataFrame(
        {name: pd.Series([], dtype=object) for name in rankings().columns}
    ),
    "dict": {name: [] for name in rankings().columns},
    "lazy": rankings().clear().lazy(),
}


@pytest.mark.parametrize("kind", EMPTY)
def test_row_054_empty_frame(kind: str):
    found = evaluate(EMPTY[kind], metrics=TEXTS, policies=POLICIES)
    assert found.height == 0
    assert found.columns == list(SCORES)
    assert all(found.schema[name] == dtype for name, dtype in SCORES.items() if dtype is not None)
    summary = summarise(found)
    assert summary.height == 0
    assert dict(summary.schema) == SUMMARY
    assert shuffled_means(EMPTY[kind]).columns == ["model", "metric", "cutoff", "draw", "value"]
    assert count_ties(EMPTY[kind]).columns == ["model", "query", "distance", "relevance", "count"]
    assert tie_groups(EMPTY[kind]).columns[-4:] == ["tie", "tie_start", "tie_size", "tie_relevant"]
    assert query_weights(EMPTY[kind], metrics="rr").columns == [
        "model",
        "query",
        "metric",
        "weight",
    ]


@pytest.mark.parametrize("nothing", [{}, {"q": {}}])
def test_row_054_a_model_without_rows_does_not_vanish(nothing: dict[str, dict[str, float]]):
    with pytest.raises(DataError, match="model 'B': no rows"):
        read_rankings({"A": {"q": {"a": 1.0}}, "B": nothing})


def test_row_054_a_file_without_rows_does_not_vanish(tmp_path: Path):
    """It names a model; one of several parts of a table may be empty."""
    for name, row in {"A": "q,a,1\n", "B": ""}.items():
        (tmp_path / f"{name}.csv").write_text(f"query,item,distance\n{row}")
    with pytest.raises(DataError, match=r"B\.csv: no rows; leave it out"):
        read_rankings(tmp_path)
    for name, row in {"A": "m,q,a,1\n", "B": ""}.items():
        (tmp_path / f"{name}.csv").write_text(f"model,query,item,distance\n{row}")
    assert read_rankings(tmp_path).height == 1


@pytest.mark.parametrize("nothing", [1.0, -math.inf, math.nan, None])
def test_row_054_masked_rows_are_in_no_tie_and_may_hold_anything(nothing: float | None):
    """As recommenders give what was bought before a score of minus infinity, and a grade of -100."""
    grade = None if nothing is None else -100
    frame = one_list([1.0, nothing, 2.0], [1, grade, 1], mask=[True, False, True])
    counts = count_ties(frame)
    assert counts.select("distance", "relevance", "count").rows() == [(1, 1, 1), (2, 1, 1)]
    assert scores(counts, TEXTS, [1, None]) == scores(frame, TEXTS, [1, None])
    assert tie_groups(frame)["tie_size"].to_list() == [1, 1]


def test_row_055_columns_of_other_functions():
    with pytest.raises(ColumnError, match=r"no column 'metric'.*expected what evaluate returns"):
        summarise(rankings())
    runs = {"a": {"q": {"d": 1.0}}}
    for wrong in (runs, runs["a"]):
        with pytest.raises(
            ColumnError, match=r"^scores: expected what evaluate .* use a Study, as"
        ):
            compare(wrong)
    with pytest.raises(ColumnError, match=r"no column 'weight'"):
        query_weights(rankings(weight=None), metrics="rr")
    found = evaluate(rankings())
    for average, column in (("macro", "label"), ("weighted", "weight")):
        with pytest.raises(ColumnError, match=column):
            summarise(found, average=average)
        with pytest.raises(ColumnError, match=column):
            summarise(found, average=average, queries=pl.DataFrame({"query": ["q1", "q2"]}))


@pytest.mark.parametrize("name", ["query", "note"])
def test_row_056_column_name_that_is_there_twice(name: str):
    table = (
        rankings()
        .to_arrow()
        .append_column("note", pa.array(["x"] * 4))
        .append_column(name, pa.array(["y"] * 4))
    )
    refused(table, ColumnError, name, "twice")
    refused(table.to_pandas(), ColumnError, name, "twice")


def test_row_057_other_columns_are_left_out():
    extra = rankings(note=["x"] * 4, tie=[1, 2, 3, 4], object=numbers([{}] * 4, pl.Object))
    for function in (evaluate, count_ties, tie_groups):
        assert_frame_equal(function(extra), function(rankings()))


NO_FRAMES = [
    *(None, 5, "runs.csv", b"runs", [], {1, 2}, np.zeros(3), object(), iter([])),
    *(
        pl.Series([1]),
        pd.Series([1]),
        {"query": {"item": 1.0}},
        {"query": "q"},
        rankings().group_by("query"),
    ),
    {"query": ["q"], "item": ["a"], "distance": np.array(1.0), "relevance": [1]},
    rankings().lazy().select("nothing"),
]


@pytest.mark.parametrize("frame", NO_FRAMES, ids=lambda frame: type(frame).__name__)
def test_row_072_what_is_no_frame(frame: Any):
    for call in (*ENTRANCES.values(), summarise):
        with pytest.raises(
            (ColumnError, DataError, FileError), match=r"rankings|scores|runs\.csv: No such file"
        ):
            call(frame)  # evaluate and count_ties take paths
    with pytest.raises(
        (ColumnError, DataError, FileError), match=r"queries|runs\.csv: No such file"
    ):
        evaluate(rankings(), queries=frame if frame is not None else 0)


def test_row_072_rows_as_objects_name_the_columns_they_lack():
    refused([{"query": "q"}], ColumnError, "rankings", "no column 'item'", "found 'query'")
    pair = [{"query": "q", "item": item} for item in "ab"]
    refused(pair, ColumnError, "neither 'distance' nor 'score'", "found 'query', 'item'")


def test_row_016_truth_values_are_no_scores_of_a_matrix_either():
    yes, grades = [[True, False]], [[1, 0]]
    both = {"a": np.array([[0.1, 0.2]]), "b": np.array(yes)}
    with pytest.raises(DataError, match=r"model 'b': bool values; distances and scores are number"):
        from_search(both, relevance=np.array(grades), scores={"b"})
    with pytest.raises(DataError, match="scores: truth values; distances and scores are numbers"):
        Meter("rr").update(scores=yes, relevance=grades)
    with pytest.raises(DataError, match="bool; expected one number"):
        from_scores((np.array([True]), np.array(yes)))
