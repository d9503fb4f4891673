"""Files, lists, globs and folders, and what becomes of several files."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from retrieval_report import evaluate
from retrieval_report.contracts.errors import ColumnError, FileError, ParameterError
from retrieval_report.reading import read_judgements, read_rankings
from text_files import write

CSV = "query,item,distance,relevance\nq1,007,2,1\nq1,7,2,0\nq2,007,5,1\n"


def many(folder: Path) -> Path:
    write(folder / "b.csv", "query,item,score\nq,b1,1\nq,b2,1\n")
    write(folder / "a.tsv.gz", "query\titem\tscore\nq\ta1\t0.5\n")
    write(folder / "c.txt", "query,item,score\nq,c1,1\n")
    write(folder / "_hidden.csv", "x\n")
    write(folder / "README.md", "# notes\n")
    (folder / "more.csv").mkdir()
    return folder


def test_a_folder_gives_its_known_files_in_the_order_of_their_names(tmp_path: Path):
    read = read_rankings(many(tmp_path))
    assert read["item"].to_list() == ["a1", "b1", "b2"]
    assert read["model"].to_list() == ["a", "b", "b"]
    assert read["row"].to_list() == [0, 1, 2]
    assert read["score"].dtype == pl.Float64


def test_a_list_keeps_its_order_and_a_glob_is_sorted(tmp_path: Path):
    many(tmp_path)
    listed = read_rankings([str(tmp_path / "c.txt"), tmp_path / "a.tsv.gz"])
    assert listed["item"].to_list() == ["c1", "a1"]
    assert read_rankings(tmp_path / "[a-c].[tc]*")["item"].to_list() == ["a1", "b1", "b2", "c1"]
    assert read_rankings(str(tmp_path / "**" / "b.csv"))["item"].to_list() == ["b1", "b2"]


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


@pytest.mark.parametrize("path", ["nothing.csv", "*.csv", ".", []])
def test_nothing_to_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileError):
        read_rankings(path)


def test_two_files_with_one_name_are_called_after_their_folders_or_the_model(
    tmp_path: Path,
):
    (tmp_path / "x").mkdir()
    paths = [write(tmp_path / "m.csv", CSV), write(tmp_path / "x" / "m.csv", CSV)]
    assert read_rankings(paths)["model"].unique().sort().to_list() == sorted([tmp_path.name, "x"])
    (tmp_path / "y" / "x").mkdir(parents=True)
    with pytest.raises(FileError, match=r"would both be model 'x/m'"):
        read_rankings([paths[1], write(tmp_path / "y" / "x" / "m.csv", CSV)])
    assert read_rankings(paths, model="m").height == 6


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


def test_files_must_have_the_same_columns(tmp_path: Path):
    write(tmp_path / "a.csv", "query,item,score\nq,a,1\n")
    write(tmp_path / "b.csv", "query,item,distance,relevance\nq,a,1,1\n")
    with pytest.raises(
        ColumnError, match=r"b.csv has the columns .*'relevance'.*but .*a.csv has .*'distance'"
    ):
        read_rankings(tmp_path)
    write(tmp_path / "b.csv", "query,item,distance\nq,a,1\n")
    assert read_rankings(tmp_path)["distance"].to_list() == [-1, 1]


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


def parquet(path: Path, values: list[float], dtype: type[pl.DataType], model: str = "m") -> None:
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


def test_negative_grades_are_kept_or_count_as_unjudged(tmp_path: Path):
    path = write(tmp_path / "q.csv", "query,item,relevance\nq,a,-1\nq,b,0\nq,c,\n")
    assert read_judgements(path)["relevance"].to_list() == [-1, 0, None]
    assert read_judgements(path, negative="unjudged")["relevance"].to_list() == [0, None]
    with pytest.raises(ParameterError, match=r"negative: 'drop' is not one of 'keep', 'unjudged'"):
        read_judgements(path, negative="drop")
