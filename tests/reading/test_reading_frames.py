"""Frames of other libraries become Polars frames, or a clear error."""

import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd  # type: ignore[import-untyped, unused-ignore]
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped, unused-ignore]
import pytest
from polars.testing import assert_frame_equal

from retrieval_report.contracts.errors import ColumnError, DataError
from retrieval_report.reading import to_polars

FRAME = pl.DataFrame(
    {"query": ["q1", "q1", "q2"], "item": ["a", "b", "a"], "distance": [0.5, 0.5, -0.0]}
)


def duckdb_relation():
    return duckdb.connect().from_arrow(FRAME.to_arrow())


@pytest.mark.parametrize(
    "make",
    [
        FRAME.lazy,
        FRAME.to_pandas,
        lambda: FRAME.to_pandas().astype({"query": object, "item": object}),
        lambda: FRAME.to_pandas().convert_dtypes(),
        lambda: FRAME.to_pandas().astype({"query": "string[pyarrow]", "item": "string[python]"}),
        FRAME.to_arrow,
        lambda: pa.RecordBatchReader.from_batches(
            FRAME.to_arrow().schema, FRAME.to_arrow().to_batches()
        ),
        duckdb_relation,
        lambda: nw.from_native(FRAME),
        lambda: FRAME.to_dict(as_series=False),
        lambda: {name: np.array(values) for name, values in FRAME.to_dict(as_series=False).items()},
    ],
)
def test_row_072_frames_of_every_library(make: Callable[[], object]):
    converted = to_polars(make(), "rankings")
    assert_frame_equal(converted, FRAME, check_dtypes=False)
    assert converted.schema["query"] == pl.String


def test_row_072_missing_values_of_pandas():
    frame = pd.DataFrame(
        {
            "query": pd.Series(["q", None, "q"], dtype=object),
            "item": ["a", None, "b"],
            "distance": [1.0, float("nan"), 2.0],
            "score": pd.array([1.0, None, 2.0], dtype="Float64"),
            "relevance": pd.array([1, None, 2], dtype="Int64"),
            "mask": pd.array([True, None, False], dtype="boolean"),
        }
    )
    read = to_polars(frame, "frame")
    assert read.null_count().row(0) == (1, 1, 0, 1, 1, 1)
    assert read["distance"].is_nan().to_list() == [False, True, False]
    assert read.schema["relevance"] == pl.Int64
    assert read.schema["mask"] == pl.Boolean


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"query": pd.Series(["q", 7], dtype=object)}),
        pd.DataFrame({"query": pd.Series([object()], dtype=object)}),
        pl.DataFrame({"query": pl.Series([object()], dtype=pl.Object)}),
        {"query": ["q", 7]},
        {"query": [object()]},
    ],
)
def test_row_072_columns_of_mixed_types_are_refused(frame: object):
    with pytest.raises(
        ColumnError, match=r"rankings: column 'query' cannot be used: .* give it one type first"
    ):
        to_polars(frame, "rankings")


def test_columns_that_nobody_uses_may_be_of_any_kind():
    frame = pd.DataFrame(
        {"query": ["q"], "note": pd.Series([object()], dtype=object), 3: [{"a": 1}]}
    )
    assert "note" not in to_polars(frame, "rankings").columns
    mixed = {"query": ["q", "r"], "note": ["a", 1]}
    assert to_polars(mixed, "rankings").columns == ["query"]


@pytest.mark.parametrize(
    ("frame", "hint"),
    [
        ([[1.5]], "a list is not a frame; pass a Polars, pandas, PyArrow or DuckDB frame"),
        (
            [SimpleNamespace(run={"q": {"a": 1.0}}, name=None)] * 2,
            "the runs need names, as in Run",
        ),
        ([pl.DataFrame()] * 2, "these are several frames; join them with polars.concat"),
        ({"query": "q", "item": "a"}, "a dict of columns has lists of equal length, not str"),
        (
            {"query": ["q"], "item": ["a", "b"]},
            "the columns differ in length: {'query': 1, 'item': 2}",
        ),
        (np.zeros((2, 2)), "a ndarray is not a frame"),
    ],
)
def test_row_072_what_is_no_frame_is_refused_with_a_hint(frame: object, hint: str):
    with pytest.raises(ColumnError, match=hint):
        to_polars(frame, "rankings")


@pytest.mark.parametrize(
    ("name", "values"), [("user_id", [[1]]), ("docno", [1.5]), ("similarity", ["near"])]
)
def test_a_column_of_an_unusable_type_is_named_as_the_caller_named_it(name: str, values: list[Any]):
    frame = pl.DataFrame({"user_id": ["q"], "docno": ["a"], "similarity": [1.0], name: values})
    with pytest.raises(ColumnError, match=f"^rankings: column '{name}' is "):
        to_polars(frame, "rankings")


def test_several_runs_in_the_place_of_judgements_are_asked_whether_both_are_swapped():
    run = {"q1": {"a": 2.5, "b": 1.5}}
    with pytest.raises(ColumnError, match="are rankings and judgements swapped"):
        to_polars({"bm25": run, "dense": run}, "judgements")


def test_a_lazy_frame_that_fails_is_named():
    lazy = pl.LazyFrame({"query": ["x"]}).with_columns(pl.col("query").cast(pl.Int64))
    with pytest.raises(DataError, match="rankings: the frame cannot be computed"):
        to_polars(lazy, "rankings")


def test_other_libraries_are_not_imported():
    code = (
        "import sys; from retrieval_report.reading import to_polars; "
        "to_polars({'query': ['q']}, 'rankings'); "
        "print([name for name in ('pandas', 'pyarrow', 'duckdb') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
