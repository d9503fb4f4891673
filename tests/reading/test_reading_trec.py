"""TREC runs and qrels, read as trec_eval reads them."""

import gzip
from pathlib import Path

import pytest

from retrieval_report.contracts.errors import (
    DataError,
    FileError,
    RetrievalReportWarning,
)
from retrieval_report.engines.evaluate import evaluate
from retrieval_report.reading import read_rankings
from text_files import write

RUN = "301 Q0 FBIS3-1 0 4.5 bm25\n301 Q0 FBIS3-2 1 4.5 bm25\n0302 Q0 FT941-7 0 -1e-3 bm25\n"


def test_a_run_without_its_first_items_is_noted(tmp_path: Path):
    lines = [f"q{query} Q0 d{rank} {rank} {-rank} x\n" for query in "ab" for rank in range(1, 31)]
    late = [line for line in lines if int(line.split()[3]) > 10]
    with pytest.warns(RetrievalReportWarning, match="no rank is below 11; do its lists lack their"):
        read_rankings(write(tmp_path / "late.run", "".join(late)))
    read_rankings(write(tmp_path / "some.run", "".join([*lines[:30], *late[20:]])))  # no warning
    swapped = [
        f"{line.split(' Q0')[0]} Q0 d{place} 9.5 {place} x\n" for place, line in enumerate(late)
    ]
    read_rankings(write(tmp_path / "score_as_rank.run", "".join(swapped)))  # no warning


def test_a_run_with_one_item_alone_is_asked_for_the_column_of_items(tmp_path: Path):
    lines = [f"q{query} d{item} Q0 {item + 1} {-item} x\n" for query in "ab" for item in range(3)]
    path = write(tmp_path / "swapped.run", "".join(lines))
    with pytest.raises(DataError, match=r"no row has another item than 'Q0': is another column"):
        evaluate(read_rankings(path), judgements={"qa": {"d1": 1}})


def test_one_tag_cannot_name_two_runs_of_an_item(tmp_path: Path):
    write(tmp_path / "a.run", "q1 Q0 a 1 1 Anserini\n")
    write(tmp_path / "b.run", "q0 Q0 a 1 1 Anserini\nq1 Q0 a 1 1 Anserini\n")
    with pytest.raises(DataError, match=r"a\.run and .*b\.run: both have the tag 'Anserini', and"):
        read_rankings(tmp_path, name_by="tag")
    write(tmp_path / "b.run", "q0 Q0 a 1 1 Anserini\nq1 Q0 b 1 1 Anserini\n")
    assert read_rankings(tmp_path, name_by="tag").height == 3  # parts of one run


def test_a_damaged_gzip_file_in_a_folder_is_not_passed_over(tmp_path: Path):
    write(tmp_path / "a.run", RUN)
    (tmp_path / "input.b.gz").write_bytes(gzip.compress(RUN.encode())[:15])
    with pytest.raises(FileError, match=r"input\.b\.gz: damaged gzip file"):
        read_rankings(tmp_path)
