"""A damaged upload may crash the process that tries it first, but no other."""

import io
import os
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from retrieval_report.contracts.errors import FileError
from retrieval_report.reading.crash_guard import try_first
from retrieval_report.reading.crash_guard_process import scan_binary, size_in_memory
from retrieval_report.reading.formats import detect_format
from retrieval_report.reading.sources import source_of

DATA = Path(__file__).parents[1] / "data"
FRAME = pl.DataFrame(
    {"query": ["q"] * 4, "item": list("abcd"), "distance": [1, 2, 2, 3], "relevance": [0, 1, 0, 1]}
)
WRITERS: dict[str, Callable[[io.BytesIO], object]] = {
    "parquet": FRAME.write_parquet,
    "arrow": FRAME.write_ipc,
    "arrows": FRAME.write_ipc_stream,
}


@pytest.mark.parametrize("name", ["aborts.parquet", "aborts.arrow"])
def test_row_088_an_upload_that_ends_its_reader_is_refused(name: str):
    upload = source_of(name, (DATA / name).read_bytes())
    with pytest.raises(FileError, match=rf"{name}: damaged file.* was ended by SIGABRT"):
        try_first(upload, detect_format(upload), 10**6, 2**30)


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_whole_or_raises_an_error_is_left_for_the_reader(name: str):
    buffer = io.BytesIO()
    WRITERS[name](buffer)
    whole = source_of(f"a.{name}", buffer.getvalue())
    try_first(whole, detect_format(whole), 10, 1000)
    cut = source_of(f"a.{name}", buffer.getvalue()[:-20])
    try_first(cut, detect_format(cut), 10, 1000)


def test_what_takes_too_much_memory_is_refused():
    many = pl.DataFrame({"query": ["q"], "item": ["i"], "distance": [1]}).select(
        pl.all().repeat_by(200_000).explode()
    )
    buffer = io.BytesIO()
    many.write_parquet(buffer)
    assert len(buffer.getvalue()) < 10_000
    with pytest.raises(FileError, match=r"b.parquet: takes \d+ bytes in memory, more than 1000000"):
        try_first(source_of("b.parquet", buffer.getvalue()), "parquet", 200_000, 1_000_000)
    assert size_in_memory(buffer.getvalue(), "parquet", 199_999) == 0  # the reader refuses it


def test_an_arrow_file_is_not_mapped(tmp_path: Path):
    path = tmp_path / "a.arrow"
    FRAME.write_ipc(path)
    frame = scan_binary(path, "arrow", 10)
    os.truncate(path, 300)
    assert frame.collect().height == 4
