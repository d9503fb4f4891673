"""Files, lists, globs and folders, and what becomes of several files."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from retrieval_report import evaluate
from retrieval_report.contracts.errors import ColumnError
from retrieval_report.reading import read_rankings
from text_files import write


def test_a_file_name_with_brackets_is_a_file(tmp_path: Path):
    frame = pl.DataFrame({"query": ["q"], "item": ["a"], "score": [1]})
    frame.write_csv(tmp_path / "a[1].csv")
    frame.write_ndjson(tmp_path / "b[1].jsonl")
    frame.write_ipc(tmp_path / "c[1].arrow")
    frame.write_ipc_stream(tmp_path / "d[1].arrows")
    frame.write_parquet(tmp_path / "e[1].parquet")
    write(tmp_path / "f[1].run", "q Q0 a 1 1 t\n")
    for path in sorted(tmp_path.iterdir()):
        assert read_rankings(path)["item"].to_list() == ["a"]


def test_folders_name_models_as_on_spark(tmp_path: Path):
    frame = pl.DataFrame(
        {"query": ["q", "q"], "item": ["a", "b"], "distance": [1, 2], "relevance": [0, 1]}
    )
    for folder, item in (("model=itq", "a"), ("model=lsh%3A16", "b"), ("other=x", "c")):
        (tmp_path / folder).mkdir()
        for part in (0, 1):
            frame.with_columns(
                pl.format("{}{}", "item", pl.lit(f"{item}{part}")).alias("item"),
                query=pl.lit(f"q{part}"),
            ).write_parquet(tmp_path / folder / f"part-{part}.snappy.parquet")
        (tmp_path / folder / "_SUCCESS").touch()
    frame.with_columns(query=pl.lit("q0")).write_parquet(tmp_path / "flat.parquet")
    read = read_rankings(tmp_path)
    assert read.group_by("model", maintain_order=True).len().rows() == [
        ("flat", 2),
        ("itq", 4),
        ("lsh:16", 4),
    ]
    asked: Any = {"metrics": "rr", "policies": "expected", "truncated": "no"}
    assert_frame_equal(evaluate(tmp_path, **asked), evaluate(read, **asked))  # part by part
    frame.with_columns(model=pl.lit("own")).write_parquet(
        tmp_path / "model=itq" / "part-0.snappy.parquet"
    )
    assert read_rankings(tmp_path / "model=itq" / "part-0.snappy.parquet")[
        "model"
    ].unique().to_list() == ["own"]


def test_row_043_numbers_and_text_spelt_as_numbers_are_the_same_ids(tmp_path: Path):
    write(tmp_path / "a.csv", "query,item,score\n7,1,1\n")
    pl.DataFrame({"query": [7], "item": ["1"], "score": [1]}).write_parquet(tmp_path / "b.parquet")
    assert read_rankings(tmp_path)["query"].to_list() == ["7", "7"]
    write(tmp_path / "a.csv", "query,item,score\n07,1,1\n")
    with pytest.raises(
        ColumnError,
        match=r"'query' has types that do not go together: String in .*; Int64 in .*\('07' is",
    ):
        read_rankings(tmp_path)


def parquet(path: Path, values: list[float], dtype: type[pl.DataType], model: str = "m"):
    items = [f"{path.stem}{index}" for index in range(len(values))]
    frame = pl.DataFrame({"query": "q", "item": items, "score": pl.Series(values, dtype=dtype)})
    frame.with_columns(model=pl.lit(model)).write_parquet(path)


def test_row_010_one_list_of_two_float_types_is_refused(tmp_path: Path):
    parquet(tmp_path / "a.parquet", [0.1], pl.Float32)
    parquet(tmp_path / "b.parquet", [0.1], pl.Float64)
    with pytest.raises(
        ColumnError, match=r"'score' is Float32 in .*a.parquet but Float64 in .*b.parquet"
    ):
        read_rankings(tmp_path)
    parquet(tmp_path / "b.parquet", [0.1], pl.Float64, model="other")
    assert read_rankings(tmp_path)["score"].dtype == pl.Float64


def test_large_integers_do_not_become_floats_because_of_another_file(tmp_path: Path):
    parquet(tmp_path / "a.parquet", [2**53, 2**53 + 1], pl.Int64)
    parquet(tmp_path / "b.parquet", [0.5], pl.Float64)
    with pytest.raises(
        ColumnError, match=r"a.parquet: column 'score' has Int64 values .* they would tie"
    ):
        read_rankings(tmp_path)
    parquet(tmp_path / "a.parquet", [2**53, 2**53 + 2], pl.Int64)  # Float64 tells these apart
    assert read_rankings(tmp_path)["score"].to_list() == [2.0**53, 2.0**53 + 2, 0.5]
