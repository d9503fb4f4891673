"""Reading one file: formats, types and model names."""

from pathlib import Path

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from retrieval_report.contracts.errors import (
    ColumnError,
)
from retrieval_report.reading import read_rankings
from text_files import write

FRAME = pl.DataFrame(
    {
        "model": ["itq"] * 3,
        "query": ["q1", "q1", "q2"],
        "item": ["007", "7", "007"],
        "distance": [2, 2, 5],
        "relevance": [1, 0, 1],
        "row": [0, 1, 2],
    }
)


def test_json_lines_look_at_every_line_before_choosing_a_type(tmp_path: Path):
    lines = [f'{{"query": "q", "item": "{item}", "score": 1}}\n' for item in range(2000)]
    text = "".join([*lines, '{"query": "q", "item": "x", "score": 0.5}\n'])
    assert read_rankings(write(tmp_path / "a.jsonl", text))["score"].dtype == pl.Float64


def test_parquet_keeps_integer_ids_and_types(tmp_path: Path):
    frame = pl.DataFrame(
        {"query": [7, 7], "item": [1, 2], "distance": [3, 4]},
        schema={"query": pl.UInt32, "item": pl.Int64, "distance": pl.UInt8},
    )
    frame.write_parquet(tmp_path / "codes.parquet")
    read = read_rankings(tmp_path / "codes.parquet")
    assert read.schema == {
        "model": pl.String,
        "query": pl.UInt32,
        "item": pl.Int64,
        "distance": pl.UInt8,
        "row": pl.Int64,
    }
    assert read.rows() == [("codes", 7, 1, 3, 0), ("codes", 7, 2, 4, 1)]


@pytest.mark.parametrize("name", ["itq.arrow", "itq.bin"])
def test_arrow_file(tmp_path: Path, name: str):
    FRAME.drop("model", "row").write_ipc(tmp_path / name)
    assert_frame_equal(read_rankings(tmp_path / name, model="itq"), FRAME)


@pytest.mark.parametrize("zipped", [False, True])
def test_arrow_stream(tmp_path: Path, zipped: bool):
    FRAME.drop("model", "row").write_ipc_stream(tmp_path / "itq.arrows")
    path = tmp_path / "itq.arrows"
    if zipped:
        path = write(tmp_path / "itq.arrows.gz", path.read_bytes())
    assert_frame_equal(read_rankings(path), FRAME)


def test_judgements_with_other_names_are_told_which_function_takes_them():
    ours = pl.DataFrame({"visitor": ["u"], "item_id": ["a"], "score": [1], "relevance": [1]})
    rankings, judgements = ours.drop("relevance"), ours.drop("score")
    columns = {"query": "visitor"}
    read = rr.read_judgements(judgements, columns=columns)
    assert rr.Study(rankings, "ndcg@10", judgements=read, columns=columns).leaderboard.height == 1
    twice = judgements.rename({"visitor": "qid"}).with_columns(topic="qid")
    with pytest.raises(ColumnError, match=r"which with read_judgements\(columns="):
        rr.Study(ours, "ndcg@10", columns=columns, judgements=twice)


def test_names_of_movielens_are_recognised():
    given = pl.DataFrame({"userId": [1], "movieId": [2], "rating": [4.0], "timestamp": [0]})
    assert rr.read_judgements(given).columns == ["query", "item", "relevance"]


def test_a_named_index_of_pandas_is_not_read_and_the_error_says_so():
    frame = pd.DataFrame({"query": ["q"], "item": ["a"], "score": [1.0]})
    message = (
        r"lack query; .*; the index \['query'\] of the pandas frame is not read: call "
        r".reset_index\(\)$"
    )
    with pytest.raises(ColumnError, match=message):
        read_rankings(frame.set_index("query"))
    with pytest.raises(
        ColumnError, match=r"<your name for it>'\}$"
    ):  # an index without a name holds no column
        read_rankings(frame.drop(columns="query"))
