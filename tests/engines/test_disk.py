"""Scoring part by part gives the same bits as scoring in memory, however the rows are stored."""

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from retrieval_report import (
    ColumnError,
    DataError,
    KeyMismatchError,
    OutputError,
    ParameterError,
    evaluate,
)
from retrieval_report.engines import disk_parts, disk_tables
from retrieval_report.engines.disk import evaluate_to
from stored_frames import FEW, POLICIES, made, written


def agrees(folder: Path, rankings: Any, whole: pl.DataFrame, **options: Any):
    expected = evaluate(whole, **options)
    path = evaluate_to(folder / "scores.parquet", rankings, rows_per_part=100, **options)
    scores = pl.read_parquet(path).sort("model", "query", maintain_order=True)
    assert_frame_equal(scores, expected, check_exact=True)
    assert [entry.name for entry in folder.iterdir() if entry.name.startswith(".")] == []


@pytest.fixture
def source(tmp_path: Path):
    (tmp_path / "in").mkdir()
    return tmp_path / "in"


def test_masks_thresholds_rounding_missing_distances_and_rows_of_their_own(
    tmp_path: Path, source: Path
):
    random = np.random.default_rng(5)
    frame = made(
        models=1, queries=46
    )  # a threshold lets models differ about an item, which is refused
    noise = pl.Series(random.random(frame.height).round(2))
    frame = frame.with_columns(
        distance=pl.when(noise > 0.1).then(pl.col("distance") + noise),
        row=pl.Series(random.permutation(frame.height)),
    )
    options = {
        **FEW,
        "null_distance": "not_retrieved",
        "decimals": 1,
        "distance_threshold": 3.2,
        "relevant_from": 2,
    }
    agrees(tmp_path, written(source, [frame]), frame, policies=POLICIES, **options)
    masked = frame.with_columns(mask=noise < 0.7)
    agrees(tmp_path, written(source, [masked]), masked, **options)


def test_ids_may_fill_the_whole_range_of_their_type(tmp_path: Path):
    full = pl.DataFrame({"query": range(256), "item": 1, "distance": 1, "relevance": 1}).cast(
        {"query": pl.UInt8}
    )
    agrees(tmp_path, full.lazy(), full, **FEW)


@pytest.mark.parametrize("text", [True, False])
def test_text_spelt_as_numbers_and_numbers_are_the_same_ids(tmp_path: Path, text: bool):
    frame = made(text=False)
    judged = frame.select("query", "item", "relevance").unique(maintain_order=True)
    texts = pl.col("query", "item").cast(pl.String)
    rankings, judgements = (
        (frame.with_columns(texts), judged) if text else (frame, judged.with_columns(texts))
    )
    asked: Any = {**FEW, "truncated": "no"}
    agrees(tmp_path, rankings.lazy(), rankings, judgements=judgements, **asked)
    odd = (
        pl.when(pl.int_range(pl.len()) == pl.len() - 1)
        .then(pl.lit("007"))
        .otherwise("item")
        .alias("item")
    )
    spoilt: Any = {"rankings": rankings.lazy(), "judgements": judgements}
    spoilt["rankings" if text else "judgements"] = spoilt[
        "rankings" if text else "judgements"
    ].with_columns(odd)
    with pytest.raises(KeyMismatchError, match=r"'007'.* is not spelt as a number"):
        evaluate_to(tmp_path / "bad.parquet", rows_per_part=60, **spoilt, **asked)


ERRORS: list[tuple[type[Exception], str, dict[str, Any]]] = [
    (ParameterError, "rows_per_part", {"rows_per_part": 0}),
    (ParameterError, "columns: works only for files", {"columns": {"query": "a"}}),
    (
        KeyMismatchError,
        "4 .* pairs have no rows, first query 'q16'",
        {"missing_query": "error", "rows_per_part": 10**6},
    ),
    (ParameterError, "above max_grade=2", {"metrics": "err(max_grade=2)"}),
]


@pytest.mark.parametrize(("error", "message", "options"), ERRORS)
def test_errors_leave_nothing_behind(
    tmp_path: Path, error: type[Exception], message: str, options: dict[str, Any]
):
    (tmp_path / "scores.parquet").write_text("older")
    with pytest.raises(error, match=message):
        evaluate_to(
            tmp_path / "scores.parquet",
            made().lazy(),
            **{"rows_per_part": 60, "truncated": "no", **options},
        )
    assert [entry.name for entry in tmp_path.iterdir()] == ["scores.parquet"]
    assert (tmp_path / "scores.parquet").read_text() == "older"


def test_what_cannot_be_read_or_written(tmp_path: Path, source: Path):
    frame = made()
    written(source, [frame[:50], frame[50:].with_columns(pl.col("distance").cast(pl.Float32))])
    with pytest.raises(ColumnError, match="all files need the same columns and types"):
        evaluate_to(tmp_path / "scores.parquet", source)
    with pytest.raises(OutputError, match="is a folder"):
        evaluate_to(source, frame)
    with pytest.raises(OutputError, match="No such file"):
        evaluate_to(tmp_path / "absent" / "scores.parquet", frame)


def test_no_rows_and_no_distances(tmp_path: Path, source: Path):
    frame = made()
    agrees(tmp_path, frame.clear(), frame.clear(), **FEW)
    judged = frame.select("query", "item", "relevance").unique(["query", "item"])
    agrees(tmp_path, written(source, [frame.clear(), frame]), frame, judgements=judged, **FEW)
    for bad in (
        frame.with_columns(distance=pl.lit(None, pl.Int64)),
        frame.with_columns(distance=float("nan")),
    ):
        with pytest.raises(DataError, match="first in query 'q0'"):
            evaluate_to(tmp_path / "scores.parquet", bad, **FEW)


@pytest.mark.parametrize(
    "work",
    [
        lambda table, folder: table.read(),
        lambda table, folder: disk_parts.copied_parts(table, folder, 10, 1),
        lambda table, folder: disk_parts.find_parts(table, lambda: folder, 5, 1),
    ],
)
def test_rows_that_vanish_after_they_were_counted_are_missed(tmp_path: Path, work: Any):
    frame = pl.DataFrame(
        {"query": ["q"] * 7, "item": range(7), "distance": range(7), "relevance": [1] * 7}
    )
    table = disk_tables.open_table(frame, lambda: tmp_path)
    longer = replace(table, files=(replace(table.files[0], rows=9),))
    with pytest.raises(
        DataError, match=r"^the rankings: 7 rows where 9 were counted before; was a file changed"
    ):
        work(longer, tmp_path)


def test_the_input_is_never_replaced(tmp_path: Path):
    made().write_parquet(tmp_path / "rankings.parquet")
    with pytest.raises(OutputError, match="one of the files to be read"):
        evaluate_to(tmp_path / "rankings.parquet", tmp_path)
    assert_frame_equal(pl.read_parquet(tmp_path / "rankings.parquet"), made())


def test_progress_bars(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    frame = made().sample(fraction=1.0, shuffle=True, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # tqdm's monitor thread
        agrees(tmp_path, frame, frame, policies="naive", progress=True, **FEW)
    shown = capsys.readouterr().err
    assert "scoring: 100%" in shown
