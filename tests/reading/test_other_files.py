"""Files that are something else."""

import io
import zipfile
from pathlib import Path

import pytest

import retrieval_report as rr
from retrieval_report.contracts.errors import FileError
from text_files import write


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
        rr.read_rankings(write(tmp_path / "run", content))
