"""Files without a header, files that are something else, and files of one name in two folders."""

import io
import zipfile
from pathlib import Path

import pytest

import retrieval_report as rr
from commands import run
from retrieval_report.contracts.errors import ColumnError, DataError, FileError

NUMBERED = {"query": "1", "item": "2", "score": "3"}


def write(folder: Path, name: str, text: str | bytes) -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


@pytest.mark.parametrize("mark", [",", "\t", " "])
def test_columns_may_be_named_by_number(mark: str, tmp_path: Path):
    text = "".join(mark.join(row) + "\n" for row in (("q", "a", "0.5"), ("q", "b", "0.25")))
    file = write(tmp_path, "run.txt" if mark == " " else "run.csv", text)
    with pytest.raises(ColumnError, match=r"no header: the first line is .*such as columns="):
        rr.read_rankings(file)
    found = rr.read_rankings(file, columns=NUMBERED)
    assert found.select("query", "item", "score").rows() == [("q", "a", 0.5), ("q", "b", 0.25)]
    qrels = write(tmp_path, "qrels.csv", "q,a,1\nq,b,0\n")
    words = f"evaluate {file} --qrels {qrels} --measures rr@2 --truncated no"
    for told in (
        "--columns query=1,item=2,score=3",
        "--judgement-columns query=1,item=2,relevance=3",
    ):
        assert told in run(words, code=2).stderr
        words += f" {told}"
    run(words)


def test_lines_of_a_trec_file_with_commas_are_told_where_their_items_stand(tmp_path: Path):
    run = write(tmp_path, "run.csv", "q,Q0,a,1,0.5,t\nq,Q0,b,2,0.25,t\n")
    qrels = write(tmp_path, "qrels.csv", "q,0,a,1\n")
    first = r"no header: the first line is 'q,Q0,a,1,0\.5,t'; .*'item': '3', 'score': '5'"
    with pytest.raises(ColumnError, match=first):
        rr.read_rankings(run)
    with pytest.raises(ColumnError, match="'item': '3', 'relevance': '4'"):
        rr.read_judgements(qrels)
    columns = {"query": "1", "item": "3", "score": "5"}
    assert rr.read_rankings(run, columns=columns)["item"].to_list() == ["a", "b"]
    # Every item is then called Q0: whether they belong to several models is looked up by number, too.
    found = rr.read_rankings(run, columns=NUMBERED | {"score": "5"})
    with pytest.raises(DataError, match="1 row repeats"):
        rr.evaluate(found, judgements=rr.read_judgements({"q": {"Q0": 1}}), metrics="rr")


def test_lines_without_a_header_are_counted_from_the_first(tmp_path: Path):
    file = write(tmp_path, "run.csv", "q,a,0.5\nq,b,high\n")
    with pytest.raises(DataError, match=r"line 2: column 'score': 'high'.*\(1 such value\)"):
        rr.read_rankings(file, columns=NUMBERED)


def workbook() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("xl/workbook.xml", "<workbook/>")
    return held.getvalue()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (workbook(), "is an Excel workbook; save the sheet as CSV"),
        (b"\x89HDF\r\n\x1a\n\0\0", "is an HDF5 file; save"),
        (b"\x80\x04\x95\x00", "is a pickle, which is not read"),
        (b"\x93NUMPY\x01\x00", r"is one NumPy array \(.npy\); save distances and"),
        (bytes(8) + b"DUCK" + bytes(9), "is a DuckDB database"),
        (b"PK\x03\x04" + bytes(22) + b"\x10\0\0\0archive/data.pkl", "is a file of PyTorch"),
        (b"<!DOCTYPE html>\n<html>\n", "is a web page, not the data"),
        (b"version https://git-lfs.github.com/spec/v1\n", "is a pointer of Git LFS"),
        (b"SQLite format 3\0", "is an SQLite database"),
    ],
)
def test_other_files_are_called_what_they_are(content: bytes, words: str, tmp_path: Path):
    with pytest.raises(FileError, match=words):
        rr.read_rankings(write(tmp_path, "run", content))


def test_a_file_of_pairs_is_told_what_lacks(tmp_path: Path):
    path = write(tmp_path, "pairs.tsv", "7\t71\n8\t75\n")
    with pytest.raises(ColumnError, match=r"2 columns, .* query, item, relevance; where all"):
        rr.read_judgements(path, columns={"query": "1", "item": "2"})
