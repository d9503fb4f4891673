import errno
import os
import re
import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from retrieval_report.contracts.errors import OutputError
from retrieval_report.study.export import read_csv
from retrieval_report.writing.files import (
    check_writable_folder,
    csv_bytes,
    write_files,
)


def fail_at_call(number: int, error: BaseException, monkeypatch: pytest.MonkeyPatch):
    """Make the given fsync fail, as a full disk or an interrupt does, after the data went to the
    file.
    """
    calls: list[int] = []

    def fsync(_descriptor: int):
        calls.append(1)
        if len(calls) == number:
            raise error

    monkeypatch.setattr(os, "fsync", fsync)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_missing_folder_is_made(tmp_path: Path):
    write_files({tmp_path / "report" / "digits" / "a.csv": b"1"})
    assert (tmp_path / "report" / "digits" / "a.csv").read_bytes() == b"1"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no umask")
def test_new_files_follow_the_umask(tmp_path: Path):
    before = os.umask(0o027)
    try:
        write_files({tmp_path / "a": b""})
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


@pytest.mark.parametrize("failing", [1, 2])
def test_row_098_a_full_disk_leaves_the_old_files_and_no_partial_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: int
):
    old = {tmp_path / "scores.csv": b"old scores", tmp_path / "summary.csv": b"old summary"}
    write_files(old)
    fail_at_call(failing, OSError(errno.ENOSPC, "No space left on device"), monkeypatch)
    with pytest.raises(OutputError, match=r"cannot write to '.*\.csv': No space left on device"):
        write_files(dict.fromkeys(old, b"new"))
    assert {path: path.read_bytes() for path in old} == old
    assert names(tmp_path) == ["scores.csv", "summary.csv"]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(143), MemoryError()])
def test_row_099_an_interrupt_leaves_no_partial_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException
):
    fail_at_call(2, error, monkeypatch)
    with pytest.raises(type(error)):
        write_files({tmp_path / "scores.csv": b"1", tmp_path / "summary.csv": b"2"})
    assert names(tmp_path) == []


def test_a_signal_while_trying_a_folder_leaves_no_probe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    make = Path.mkdir

    def stopped(path: Path):
        make(path)
        raise SystemExit(143)

    monkeypatch.setattr(Path, "mkdir", stopped)
    with pytest.raises(SystemExit):
        check_writable_folder(tmp_path)
    assert names(tmp_path) == []


def test_row_100_two_writers_leave_one_whole_winner(tmp_path: Path):
    contents = [bytes([digit]) * 200_000 for digit in b"0123456789"]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda data: write_files({tmp_path / "scores.csv": data}), contents))
    assert (tmp_path / "scores.csv").read_bytes() in contents
    assert names(tmp_path) == ["scores.csv"]


def test_a_target_that_is_a_folder_is_refused_before_any_file_is_replaced(tmp_path: Path):
    (tmp_path / "summary.csv").mkdir()
    (tmp_path / "scores.csv").write_bytes(b"old")
    with pytest.raises(OutputError, match=r"summary\.csv': it is a folder"):
        write_files({tmp_path / "scores.csv": b"new", tmp_path / "summary.csv": b"new"})
    assert (tmp_path / "scores.csv").read_bytes() == b"old"
    assert names(tmp_path) == ["scores.csv", "summary.csv"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has neither pipes nor such devices in folders")
def test_pipes_and_devices_are_refused_before_any_file_is_replaced(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "device").symlink_to(os.devnull)
    (tmp_path / "scores.csv").write_bytes(b"old")
    for name in ("pipe", "device"):
        with pytest.raises(OutputError, match=f"{name}': it is not a regular file"):
            write_files({tmp_path / "scores.csv": b"new", tmp_path / name: b"new"})
    assert (tmp_path / "scores.csv").read_bytes() == b"old"
    assert not Path(os.devnull).is_file()
    assert names(tmp_path) == ["device", "pipe", "scores.csv"]


def test_a_link_stays_and_what_it_points_to_is_replaced(tmp_path: Path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "scores.csv").write_bytes(b"old")
    (tmp_path / "near.csv").symlink_to(tmp_path / "far" / "scores.csv")
    (tmp_path / "folder").symlink_to(tmp_path / "far")
    write_files({tmp_path / "near.csv": b"new", tmp_path / "folder" / "summary.csv": b"1"})
    assert (tmp_path / "near.csv").is_symlink()
    assert (tmp_path / "far" / "scores.csv").read_bytes() == b"new"
    assert names(tmp_path / "far") == ["scores.csv", "summary.csv"]
    assert check_writable_folder(tmp_path / "folder") == tmp_path / "folder"


def test_what_no_longer_belongs_to_them_is_removed_and_may_be_missing(tmp_path: Path):
    (tmp_path / "old").write_bytes(b"1")
    write_files({tmp_path / "new": b"2"}, gone=[tmp_path / "old", tmp_path / "never"])
    assert names(tmp_path) == ["new"]


def test_what_somebody_left_in_a_folder_is_not_obeyed(tmp_path: Path):
    """A planted note named files to delete, and was believed."""
    planted = tmp_path / ".retrieval-report-x.tmp"
    planted.mkdir()
    (planted / "decided.json").write_text('{"replace": [], "remove": ["kept.csv"]}')
    os.utime(planted, (0, 0))
    write_files({tmp_path / "kept.csv": b"1"})
    check_writable_folder(tmp_path)
    write_files({tmp_path / "other.csv": b"1"})
    assert (tmp_path / "kept.csv").exists()


def test_row_102_a_usable_folder_is_left_as_it_was(tmp_path: Path):
    assert check_writable_folder(tmp_path) == tmp_path
    assert check_writable_folder(str(tmp_path / "new")) == tmp_path / "new"
    assert names(tmp_path) == []


def test_row_102_folders_that_cannot_be_written_to_are_refused(tmp_path: Path):
    (tmp_path / "file").write_text("")
    reasons = {
        "file": "File exists",
        "file/below": "Not a directory",
        "missing/below": "No such file or directory; make '.*missing' first",
        "x" * 300: "File name too long",
        "nul\0": "embedded null",
    }
    for name, reason in reasons.items():
        with pytest.raises(OutputError, match=f"cannot write to .*: {reason}"):
            check_writable_folder(tmp_path / name)


def test_row_103_text_that_a_spreadsheet_would_run_gets_an_apostrophe():
    text = ["=1", "+1", "-1", "@a", "\tx", "\rx", "\0x", "a=1", "", None]
    frame = pl.DataFrame({"model": text, "value": [-1.5] * len(text)})
    read = pl.read_csv(csv_bytes(frame))
    escaped = ["'" + cell for cell in text[:7] if cell is not None]
    assert read["model"].to_list()[:8] == [*escaped, "a=1"]
    assert read["value"].to_list() == [-1.5] * len(text)
    assert pl.read_csv(csv_bytes(frame, raw=True))["model"].to_list()[:8] == text[:8]


SIGNS = "=+-@＝＋－＠﹦﹢﹣﹫"
BEFORE = ("", " ", "\u00a0", "\u3000 ", "\n", "\n ", "\ufeff")


def test_row_103_formulas_behind_blanks_and_breaks_are_defused():
    for text in (f"{before}{sign}1" for before in BEFORE for sign in SIGNS):
        cell = csv_bytes(pl.DataFrame({"model": [text]})).decode().removeprefix("model\n")
        assert not re.match(rf"[\s\0\ufeff]*[{re.escape(SIGNS)}]", cell.strip('"\n')), cell


@given(st.lists(st.text("=+-@＝＠;' \n\t\uff1da", max_size=8)))
def test_what_is_defused_is_read_back_as_it_was(texts: list[str]):
    frame = pl.DataFrame({"model": texts}, schema={"model": pl.String})
    assert_frame_equal(read_csv(csv_bytes(frame), frame.schema, raw=False), frame)


def test_csv_keeps_every_digit_and_leaves_null_empty():
    frame = pl.DataFrame(
        {"value": [0.1 + 0.2, None, 1e-300, 5e-324], "cutoff": [1, None, 3, 2**62]}
    )
    assert (
        csv_bytes(frame)
        == b"value,cutoff\n0.30000000000000004,1\n,\n1e-300,3\n5e-324,4611686018427387904\n"
    )


def test_a_kill_in_the_middle_leaves_the_old_files(tmp_path: Path):
    for name in ("report.html", "scores.csv"):
        (tmp_path / name).write_text("old")
    program = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from retrieval_report.writing import files\n"
        "files.os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "folder = Path(sys.argv[1])\n"
        "files.write_files({folder / 'report.html': b'new', folder / 'scores.csv': b'new'})\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert {(tmp_path / name).read_text() for name in ("report.html", "scores.csv")} == {"old"}
