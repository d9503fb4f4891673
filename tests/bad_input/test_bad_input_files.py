"""Rows 74 to 94 of the table of bad input: damaged, misnamed and hostile files. Small texts are in
tests/data/files.json.
"""

import gzip
import os
import time
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from retrieval_report import evaluate
from retrieval_report.contracts.errors import (
    DataError,
    FileError,
    RetrievalReportError,
    RetrievalReportWarning,
)
from retrieval_report.reading import read_judgements, read_rankings, sources

HEADER = "query,item,distance,relevance\n"
ROWS = "q1,a,1,1\nq1,b,2,0\nq2,a,1,0\n"
FRAME = pl.DataFrame(
    {"query": ["q1"] * 200, "item": list(range(200)), "distance": [i % 9 for i in range(200)]}
)


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path: Path, message: str, error: type[RetrievalReportError] = FileError):
    """The file is refused by a message that begins with its path."""
    with pytest.raises(error, match=message) as caught:
        read_rankings(path)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le", "utf-32"])
def test_row_075_utf16(tmp_path: Path, encoding: str):
    content = (HEADER + ROWS).encode(encoding)
    refused(write(tmp_path / "a.csv", content), "UTF-16|UTF-32")
    refused(write(tmp_path / "b.csv.gz", gzip.compress(content)), "UTF-16|UTF-32")


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_row_076_latin1_bytes(tmp_path: Path, name: str):
    # Beyond the first chunk, and behind a character of two bytes, so that the offset has to be
    # right.
    before = (HEADER + "é" + ROWS * 150_000).encode()
    content = before + b"q3,caf\xe9,1,1\n"
    path = write(tmp_path / name, gzip.compress(content) if name.endswith("gz") else content)
    refused(path, rf"byte {len(before) + 6} \(0xe9\) is not UTF-8; is it Latin-1")


@pytest.mark.parametrize("text", ["NaN", "-inf", ""])
def test_row_083_missing_and_infinite_values_reach_the_rules(tmp_path: Path, text: str):
    read = read_rankings(write(tmp_path / "a.csv", HEADER + ROWS + f"q3,a,{text},1\n"))
    assert read["distance"].dtype.is_numeric()
    with pytest.raises(DataError, match=r"column 'distance'.*query 'q3'"):
        evaluate(read)


def test_row_085_type_changes_after_100_rows(tmp_path: Path):
    rows = "".join(f"{query},a,1,1\n" for query in range(5000))
    read = read_rankings(write(tmp_path / "a.csv", HEADER + rows + "q7,a,0.5,0.25\n"))
    assert read.schema["query"] == pl.String
    assert read.schema["distance"] == read.schema["relevance"] == pl.Float64
    assert read.row(-1) == ("a", "q7", "a", 0.5, 0.25, 5000)


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.csv.gz"])
@pytest.mark.parametrize("rows", [1, 500_000])
def test_row_086_nul_bytes_inside_are_damage(tmp_path: Path, name: str, rows: int):
    lines = {
        "a.run": ("", "q1 Q0 a{} 1 0.5 t\n"),
        "a.jsonl": ("", '{{"query": "q1", "item": "a{}", "score": 1}}\n'),
        "a.json": ('{"q1": {"a": 1', ', "b{}": 2'),
        "a.tsv": (HEADER.replace(",", "\t"), "q1\ta{}\t1\t1\n"),
    }
    start, line = lines.get(name, (HEADER, "q1,a{},1,1\n"))
    before = (start + "".join(map(line.format, range(rows)))).encode()
    content = before + bytes(512) + line.format("x").encode()
    path = write(tmp_path / name, gzip.compress(content, 1) if name.endswith("gz") else content)
    refused(path, f"byte {len(before)} is NUL, which no text holds|NUL bytes in the first line")


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_row_087_truncated_text(tmp_path: Path, name: str):
    text = {
        "run": "q1 Q0 a 1 0.5 t\nq1 Q0 b 2 0.25 t",
        "jsonl": '{"query": "q1", "item": "a", "score": 1}\n{"query": "q1", "item": "b", "score": '
        "1}",
    }.get(name[2:], (HEADER + ROWS).strip())
    path = write(tmp_path / name, gzip.compress(text.encode()) if name.endswith("gz") else text)
    with pytest.warns(
        RetrievalReportWarning, match="no newline at the end; the file may have been truncated"
    ):
        assert read_rankings(path).height >= 2


def of_pyarrow(path: Path, rows: int = 50, **how: Any) -> bytes:
    """A file of PyArrow, which other numbers than 50 do not occur in, as a varint."""
    pa = pytest.importorskip("pyarrow")
    columns = {
        "query": ["q"] * rows,
        "item": list(range(rows)),
        "distance": [item % 7 for item in range(rows)],
        "relevance": [item % 2 for item in range(rows)],
    }
    how = {"write_statistics": False, "compression": "none", **how}
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(columns), path, **how)
    return path.read_bytes()


READ: list[Any] = [read_rankings, lambda path: evaluate(path, metrics="rr", truncated="no")]


@pytest.mark.parametrize("read", READ)
def test_row_089_a_page_whose_checksum_is_wrong(tmp_path: Path, read: Any):
    for version in ("1.0", "2.0"):
        how: Any = {
            "write_page_checksum": True,
            "data_page_version": version,
            "use_dictionary": False,
        }
        whole = of_pyarrow(tmp_path / "a.parquet", **how)
        read(tmp_path / "a.parquet")
        found = whole.index(b"".join(number.to_bytes(8, "little") for number in range(20, 25)))
        flipped = whole[:found] + bytes([whole[found] ^ 1]) + whole[found + 1 :]
        with pytest.raises(FileError, match="'item' has a page whose checksum is wrong"):
            read(write(tmp_path / "b.parquet", flipped))


@pytest.mark.parametrize("read", READ)
@pytest.mark.parametrize(
    "how", [{}, {"use_dictionary": False}, {"data_page_version": "2.0"}, {"data_page_size": 10}]
)
def test_row_089_row_counts_that_all_lie_alike(tmp_path: Path, read: Any, how: Any):
    whole = of_pyarrow(tmp_path / "a.parquet", **how)
    size = int.from_bytes(whole[-8:-4], "little") + 8
    fifty, half = (b"\x16" + bytes([2 * count]) for count in (50, 25))
    assert whole[-size:].count(fifty) >= 6  # of the file, the group and every column
    lying = whole[:-size] + whole[-size:].replace(fifty, half)
    assert pl.read_parquet(lying).height == 25  # Polars believes it
    with pytest.raises(FileError, match="holds more values than the 25 that the file says it has"):
        read(write(tmp_path / "b.parquet", lying))


@pytest.mark.parametrize(
    "how",
    [
        {"compression": "zstd", "write_statistics": True, "write_page_checksum": True},
        {"row_group_size": 7, "data_page_size": 1},
        {"data_page_version": "2.0", "use_dictionary": False, "write_page_index": True},
    ],
)
def test_row_089_whole_files_of_other_writers_are_read(tmp_path: Path, how: Any):
    of_pyarrow(tmp_path / "a.parquet", **how)
    assert read_rankings(tmp_path / "a.parquet").height == how.get("rows", 50)
    FRAME.write_parquet(tmp_path / "b.parquet", row_group_size=9, data_page_size=1)
    assert read_rankings(tmp_path / "b.parquet").height == FRAME.height


@pytest.mark.parametrize("read", READ)
def test_row_088_decimals_of_256_bits(tmp_path: Path, read: Callable[[Path], object]):
    pa = pytest.importorskip("pyarrow")
    distances = pa.array([Decimal("1.5"), Decimal("2.5")], pa.decimal256(50, 2))
    table = pa.table({"query": ["q", "q"], "item": ["a", "b"], "distance": distances})
    pytest.importorskip("pyarrow.parquet").write_table(table, tmp_path / "a.parquet")
    with pytest.raises(
        FileError, match=r"a\.parquet: decimals of more than 38 digits are not read"
    ):
        read(tmp_path / "a.parquet")


def binary(folder: Path, name: str) -> bytes:
    path = folder / f"whole.{name}"
    writers: dict[str, Callable[[Path], None]] = {
        "parquet": FRAME.write_parquet,
        "arrow": FRAME.write_ipc,
        "arrows": FRAME.write_ipc_stream,
    }
    writers[name](path)
    return path.read_bytes()


@pytest.mark.parametrize("kept", [8, 100, -1, -9])
@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_row_088_truncated_parquet_or_arrow(tmp_path: Path, name: str, kept: int):
    path = write(tmp_path / f"a.{name}", binary(tmp_path, name)[:kept])
    refused(path, "damaged or truncated file")


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_row_088_a_binary_ending_without_its_content(tmp_path: Path, name: str):
    path = write(tmp_path / f"a.{name}", b"\x00\x01\x02\x80" + binary(tmp_path, name)[4:])
    refused(path, f"is not in {name} format .it begins b'.*; damaged or misnamed")


def test_row_090_gzip(tmp_path: Path):
    content = gzip.compress((HEADER + ROWS * 1000).encode())
    assert read_rankings(write(tmp_path / "a.csv.gz", content), model="m").height == 3000
    two_members = gzip.compress(HEADER.encode()) + gzip.compress(ROWS.encode())
    assert read_rankings(write(tmp_path / "b.csv.gz", two_members)).height == 3
    refused(write(tmp_path / "c.csv.gz", content[:-100]), "damaged gzip file")
    wrong_sum = bytearray(content)
    wrong_sum[-7] ^= 1
    refused(
        write(tmp_path / "d.csv.gz", bytes(wrong_sum)), "damaged gzip file: .*incorrect data check"
    )
    refused(write(tmp_path / "f.csv.gz", gzip.compress(content)), "gzip inside gzip")


def test_row_091_a_header_only(tmp_path: Path):
    read = read_rankings(write(tmp_path / "c.csv", HEADER))
    assert read.height == 0
    assert read.schema == {
        "model": pl.String,
        "query": pl.String,
        "item": pl.String,
        "distance": pl.Float64,
        "relevance": pl.Int64,
        "row": pl.Int64,
    }
    assert read_judgements(tmp_path / "c.csv").schema["relevance"] == pl.Int64


def test_row_092_content_decides_against_the_ending(tmp_path: Path):
    for ending in ("csv", "run", "jsonl", "gz", "unknown"):
        path = write(tmp_path / f"a.{ending}", binary(tmp_path, "parquet"))
        assert read_rankings(path)["item"].dtype == pl.Int64
    for ending in ("parquet", "arrow", "txt", "run", "csv.gz"):
        assert read_rankings(write(tmp_path / f"b.{ending}", HEADER + ROWS)).height == 3


@pytest.mark.parametrize(
    ("start", "name"),
    [
        (b"PK\x03\x04", "a zip archive"),
        (b"(\xb5/\xfd", "zstd"),
        (b"FEA1\x00\x00", "first version of Feather"),
    ],
)
def test_row_092_other_containers_are_named(tmp_path: Path, start: bytes, name: str):
    refused(write(tmp_path / "a.csv", start + b"\x00" * 100), name)


def test_row_093_missing_folder_or_odd_path(tmp_path: Path):
    refused(tmp_path / "missing.csv", "No such file")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    refused(tmp_path / "loop", "symbolic links")
    with pytest.raises(FileError, match="null byte"):
        read_rankings("a\0b")
    with pytest.raises(FileError, match="too long"):
        read_rankings("x" * 5000)
    (tmp_path / "folder.csv").mkdir()
    refused(tmp_path / "folder.csv", "the folder has no file ending in .csv")
    (tmp_path / "folder.csv" / "lsh.npz").write_bytes(b"PK")
    refused(
        tmp_path / "folder.csv",
        r"folder.csv: name its files by a pattern, such as .*folder.csv/\*.npz; the folder",
    )


def test_row_093_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = write(tmp_path / "a.csv", HEADER + ROWS)

    def refuse(self: Path, *args: object, **options: object):
        raise PermissionError(13, "Permission denied", str(self))

    # Taking the permission away would not stop root, under whom CI runs.
    monkeypatch.setattr(Path, "open", refuse)
    refused(path, "Permission denied")
    monkeypatch.setattr(Path, "iterdir", refuse)
    refused(tmp_path, "Permission denied")


def test_row_093_fifo_and_device(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.csv")
    refused(tmp_path / "pipe.csv", "is a pipe.*; only regular files are read")
    with pytest.raises(FileError, match="the folder has no file"):
        read_rankings(tmp_path)
    refused(Path("/dev/zero"), "a device.*; only regular files are read")


@pytest.mark.skipif(not Path("/proc/kmsg").exists(), reason="a file of Linux alone")
def test_row_093_a_file_of_the_kernel_that_would_block(tmp_path: Path):
    refused(Path("/proc/kmsg"), "is empty")


def test_row_093_links_in_a_circle(tmp_path: Path):
    for name in ("a", "b", "c"):
        (tmp_path / name).symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "runs [1]").mkdir()
    for path in (tmp_path / "x.csv", tmp_path / "runs [1]" / "y.csv"):
        write(path, HEADER + ROWS)
    for pattern in ("**/*.csv", "**/**/?.csv", "**"):
        found = read_rankings(f"{tmp_path}/{pattern}")
        assert set(found["model"]) == {"x", "y"}
    assert set(read_rankings(f"{tmp_path}/**/runs*/**")["model"]) == {"y"}
    with pytest.raises(FileError, match="no file matches"):
        read_rankings(f"{tmp_path}/**/*.parquet")


def test_row_094_gzip_bomb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = write(tmp_path / "a.csv.gz", gzip.compress((HEADER + ROWS * 10_000).encode()))
    size = len(HEADER + ROWS * 10_000)
    assert read_rankings(path, max_bytes=size).height == 30_000
    with pytest.raises(
        FileError, match=rf"a.csv.gz: unpacks to more than {size - 1} bytes; .* raise max_bytes="
    ):
        read_rankings(path, max_bytes=size - 1)
    monkeypatch.setattr(sources, "MAX_BYTES", 1000)
    refused(path, "unpacks to more than")


def test_row_094_a_gzip_bomb_is_counted_before_it_is_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "a.csv.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write(HEADER.encode())
        for _ in range(64):
            file.write(b"a" * 2**20)
    monkeypatch.setattr(sources, "COUNT_FIRST", 2**20)
    tracemalloc.start()
    with pytest.raises(FileError, match="unpacks to more than 60000000 bytes"):
        read_rankings(path, max_bytes=60_000_000)
    assert tracemalloc.get_traced_memory()[1] < 2**25
    tracemalloc.stop()


def test_row_094_zeros_behind_text_are_refused_before_they_are_held(tmp_path: Path):
    path = tmp_path / "a.csv.gz"
    with gzip.open(path, "wb", 1) as file:
        file.write((HEADER + ROWS).encode())
        for _ in range(200):
            file.write(bytes(2**20))
    tracemalloc.start()
    refused(path, "is NUL")
    assert tracemalloc.get_traced_memory()[1] < 2**25
    tracemalloc.stop()


def test_row_090_pieces_zeros_and_a_huge_name_in_a_header(tmp_path: Path):
    head, *rows = (HEADER + ROWS).splitlines(keepends=True)
    pieces = [gzip.compress(piece.encode()) for piece in (head, "", *rows, *[""] * 3000)]
    path = write(tmp_path / "a.csv.gz", b"".join(pieces) + bytes(100_000))
    assert read_rankings(path).height == 3
    packed = gzip.compress((HEADER + ROWS).encode())
    named = packed[:3] + b"\x08" + packed[4:10] + b"n" * 60_000_000 + b"\0" + packed[10:]
    started = time.process_time()
    assert read_rankings(write(tmp_path / "b.csv.gz", named)).height == 3
    assert time.process_time() - started < 2
    for name in ("c.csv.gz", "input.c.gz"):
        write(tmp_path / name, named[:-30])
    refused(tmp_path / "c.csv.gz", "damaged gzip file")


@pytest.mark.parametrize("name", ["parquet", "arrow", "arrows"])
def test_row_094_rows_are_counted_before_they_are_read(tmp_path: Path, name: str):
    path = write(tmp_path / f"a.{name}", binary(tmp_path, name))
    assert read_rankings(path, max_rows=200).height == 200
    with pytest.raises(FileError, match=rf"a.{name}: 200 rows are more than max_rows=199"):
        read_rankings(path, max_rows=199)
