"""A damaged file may crash the process that tries it first, but no other."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from polars.testing import assert_frame_equal

from retrieval_report import evaluate, evaluate_to
from retrieval_report.cli import cli
from retrieval_report.contracts.errors import ColumnError, FileError
from retrieval_report.reading import crash_guard, read_rankings
from retrieval_report.reading.crash_guard import tried_first
from retrieval_report.reading.crash_guard_process import scan_binary
from retrieval_report.reading.files import frame_from
from retrieval_report.reading.names import RANKINGS
from retrieval_report.reading.sources import source_of

DATA = Path(__file__).parents[1] / "data"
DAMAGED = [DATA / "aborts.parquet", DATA / "aborts.arrow"]
FRAME = pl.DataFrame(
    {"query": ["q"] * 4, "item": list("abcd"), "distance": [1, 2, 2, 3], "relevance": [0, 1, 0, 1]}
)


@pytest.fixture(params=["parquet", "arrow", "arrows"])
def file(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / f"whole.{request.param}"
    write: dict[str, Callable[[Path], object]] = {
        "parquet": FRAME.write_parquet,
        "arrow": FRAME.write_ipc,
        "arrows": FRAME.write_ipc_stream,
    }
    write[request.param](path)
    return path


@pytest.mark.parametrize("path", DAMAGED, ids=lambda path: path.name)
def test_without_a_trial_the_files_end_the_process(path: Path) -> None:
    # Where Polars has learnt to refuse them, these files and their tests have done their work.
    program = "import sys; from retrieval_report import read_rankings; read_rankings(sys.argv[1])"
    ended = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, check=False
    )
    assert ended.returncode == -signal.SIGABRT


@pytest.mark.parametrize("path", DAMAGED, ids=lambda path: path.name)
def test_row_088_a_file_that_ends_its_reader_is_refused(path: Path, file: Path) -> None:
    with tried_first():
        for _ in range(2):
            with pytest.raises(
                FileError, match=r"damaged file: the process that tried .* ended by SIGABRT"
            ) as caught:
                read_rankings(path)
            assert str(caught.value).startswith(str(path))
        upload = source_of(path.name, path.read_bytes())
        with pytest.raises(FileError, match="ended by SIGABRT"):
            frame_from([upload], RANKINGS)
        with pytest.raises(FileError, match="ended by SIGABRT"):
            evaluate(path)
        with pytest.raises(FileError, match="ended by SIGABRT"):
            evaluate_to(file.with_name("out"), path)
        assert read_rankings(file).height == 4


@pytest.mark.parametrize("engine", ["memory", "disk"])
@pytest.mark.parametrize("path", DAMAGED, ids=lambda path: path.name)
def test_the_command_line_refuses_it_by_default(tmp_path: Path, path: Path, engine: str) -> None:
    asked = ["evaluate", str(path), "--out", str(tmp_path / "out"), "--engine", engine]
    result = CliRunner().invoke(cli, asked)
    assert result.exit_code == 2
    assert "ended by SIGABRT" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_what_is_tried_is_read_as_ever(file: Path) -> None:
    upload = source_of(file.name, file.read_bytes())
    with tried_first():
        assert_frame_equal(read_rankings(file), read_rankings([file]))
        assert_frame_equal(frame_from([upload], RANKINGS), read_rankings(file))
        with pytest.raises(ColumnError, match="'nothing'"):
            read_rankings(file, columns={"score": "nothing"})
        assert read_rankings(file, columns={"relevance": "relevance"}).height == 4


def test_one_process_tries_all_files_and_is_gone_afterwards(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = []
    start = crash_guard._start

    def counted() -> subprocess.Popen[bytes]:
        started.append(start())
        return started[-1]

    monkeypatch.setattr(crash_guard, "_start", counted)
    read_rankings(file)
    assert started == []
    with tried_first():
        for _ in range(3):
            read_rankings(file)
        assert len(started) == 1
    assert started[0].returncode is not None


def test_what_takes_too_much_memory_is_refused(file: Path) -> None:
    many = pl.DataFrame({"query": ["q"], "item": ["i"], "distance": [1]}).select(
        pl.all().repeat_by(200_000).explode()
    )
    buffer = io.BytesIO()
    many.write_parquet(buffer)
    assert len(buffer.getvalue()) < 10_000
    with tried_first(most_bytes=1_000_000):
        assert read_rankings(file).height == 4
        with pytest.raises(
            FileError, match=r"b.parquet: takes \d+ bytes in memory, more than 1000000"
        ):
            frame_from([source_of("b.parquet", buffer.getvalue())], RANKINGS)


def test_an_arrow_file_is_not_mapped(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    FRAME.write_ipc(path)
    frame = scan_binary(path, "arrow", 10)
    os.truncate(path, 300)
    assert frame.collect().height == 4
