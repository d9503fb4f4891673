"""TREC runs and qrels, read as trec_eval reads them."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from retrieval_report.contracts.errors import (
    DataError,
    FileError,
    ParameterError,
    RetrievalReportWarning,
)
from retrieval_report.engines.evaluate import evaluate
from retrieval_report.reading import read_judgements, read_rankings
from retrieval_report.reading.readers import read_each
from text_files import write

RUN = "301 Q0 FBIS3-1 0 4.5 bm25\n301 Q0 FBIS3-2 1 4.5 bm25\n0302 Q0 FT941-7 0 -1e-3 bm25\n"
QRELS = "301 0 FBIS3-1 1\n301 0 FBIS3-2 0\n0302 0 FT941-7 -2\n"


def test_a_file_of_several_runs_has_the_names_of_its_tags(tmp_path: Path):
    path = write(tmp_path / "a.run", "q Q0 a 1 1 x\nq Q0 a 1 1 unknown\n")
    assert read_rankings(path, model="z")["model"].to_list() == ["z", "z"]


def test_a_run_without_its_first_items_is_noted(tmp_path: Path):
    lines = [f"q{query} Q0 d{rank} {rank} {-rank} x\n" for query in "ab" for rank in range(1, 31)]
    late = [line for line in lines if int(line.split()[3]) > 10]
    with pytest.warns(RetrievalReportWarning, match="no rank is below 11; do its lists lack their"):
        read_rankings(write(tmp_path / "late.run", "".join(late)))
    read_rankings(write(tmp_path / "some.run", "".join([*lines[:30], *late[20:]])))  # no warning


def test_a_score_can_be_declared_a_distance(tmp_path: Path):
    read = read_rankings(write(tmp_path / "a.run", RUN), columns={"distance": "score"})
    assert read["distance"].to_list() == [4.5, 4.5, -0.001]
    assert "score" not in read.columns
    ranks = read_rankings(tmp_path / "a.run", columns={"distance": "rank"})["distance"]
    assert ranks.to_list() == [0, 1, 0]
    assert ranks.dtype == pl.Int64


@pytest.mark.parametrize(
    ("tags", "names"),
    [
        ({"a": "bm25", "b": "dense"}, ["bm25", "dense"]),
        ({"a": "bm25", "b": "unknown"}, ["a", "b"]),
        ({"a": "bm25", "b": "Anserini"}, ["a", "b"]),
        ({"a": "bm25", "b": "dense", "c": "dense"}, ["a", "b", "c"]),
        ({"a": "run"}, ["a"]),
    ],
)
def test_runs_are_all_named_by_tag_or_all_by_file(
    tmp_path: Path, tags: dict[str, str], names: list[str]
):
    for name, tag in tags.items():
        write(
            tmp_path / f"{name}.run",
            f"q1 Q0 a 1 1 {tag}\n" if tag else "query,item,score\nq1,a,1\n",
        )
    assert read_rankings(tmp_path)["model"].to_list() == names
    assert read_rankings(tmp_path, name_by="file")["model"].to_list() == list(tags)
    each = read_each([str(tmp_path / f"{name}.run") for name in tags])
    assert [frame["model"].item() for frame in each] == names


def test_one_tag_cannot_name_two_runs_of_an_item(tmp_path: Path):
    write(tmp_path / "a.run", "q1 Q0 a 1 1 Anserini\n")
    write(tmp_path / "b.run", "q0 Q0 a 1 1 Anserini\nq1 Q0 a 1 1 Anserini\n")
    with pytest.raises(DataError, match="1 row repeats another's model, query, item"):
        evaluate(read_rankings(tmp_path, name_by="tag"), judgements={"q1": {"a": 1}})
    with pytest.raises(ParameterError, match="name_by: 'files' is not one of"):
        read_rankings(tmp_path, name_by="files")


def test_a_folder_gives_runs_to_rankings_and_qrels_to_judgements(tmp_path: Path):
    write(tmp_path / "a.run", RUN)
    write(tmp_path / "b.qrels", QRELS)
    assert read_rankings(tmp_path).height == 3
    assert read_judgements(tmp_path).height == 3


def test_a_folder_gives_gzipped_trec_files_of_any_name(tmp_path: Path):
    write(tmp_path / "input.one.gz", RUN)
    write(tmp_path / "input.two.v1.0.GZ", gzip.compress(RUN.replace("bm25", "lm").encode()))
    write(tmp_path / "qrels.51-100.gz", QRELS)
    write(tmp_path / "readme.gz", "Two runs and some qrels: five words and more\n")
    write(tmp_path / "archive.tar.gz", b"input.x" + bytes(500) + RUN.encode())
    write(tmp_path / "input.plain", RUN)
    assert read_rankings(tmp_path)["model"].to_list() == ["bm25"] * 3 + ["lm"] * 3
    assert read_judgements(tmp_path).height == 3


def test_a_damaged_gzip_file_in_a_folder_is_not_passed_over(tmp_path: Path):
    write(tmp_path / "a.run", RUN)
    (tmp_path / "input.b.gz").write_bytes(gzip.compress(RUN.encode())[:15])
    with pytest.raises(FileError, match=r"input\.b\.gz: damaged gzip file"):
        read_rankings(tmp_path)


def test_what_follows_the_tag_is_ignored_with_a_warning(tmp_path: Path):
    path = write(tmp_path / "a.run", RUN + "301 Q0 x 3 1 bm25 more junk\n")
    with pytest.warns(
        RetrievalReportWarning, match=r"line 4: more than 6 fields \(1 such line\); 'more junk'"
    ):
        assert read_rankings(path)["model"].unique().to_list() == ["bm25"]
