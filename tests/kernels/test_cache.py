"""Compiled code on disk: damaged files, folders that cannot be written, full disks, and several
processes at once.
"""

import errno
import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import pytest
from numba.core import caching

from retrieval_report.contracts.errors import RetrievalReportWarning
from retrieval_report.kernels import cache
from retrieval_report.kernels import compile as kernels

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled"
)


def plus_one(x: Any):
    return x + 1


def kernel(function: Any):
    """A kernel that is compiled however little it has to do."""
    return kernels.kernel(function).compiled


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Where this test keeps compiled code."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    cache._warn_once.cache_clear()
    yield tmp_path / "cache"
    cache._warn_once.cache_clear()


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def hits(function: Any) -> int:
    return sum(function.stats.cache_hits.values())


def test_code_is_kept_and_found_again(folder: Path):
    first, second = kernel(plus_one), kernel(plus_one)
    assert (first(1), first(0.5)) == (2, 1.5)
    assert len(files(folder)) == 2
    assert (second(0.5), second(1)) == (1.5, 2)
    assert (hits(first), hits(second)) == (0, 2)


def test_code_of_other_helpers_is_not_used(monkeypatch: pytest.MonkeyPatch):
    assert kernel(plus_one)(1) == 2
    monkeypatch.setattr(cache, "_sources", lambda: "a helper was edited")
    later = kernel(plus_one)
    assert later(1) == 2
    assert hits(later) == 0


DAMAGE = {
    "empty": lambda data: b"",
    "cut": lambda data: data[: len(data) // 2],
    "other text": lambda data: b"not compiled code",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damaged_code_is_compiled_again(folder: Path, damage: Any):
    kernel(plus_one)(1)
    (path,) = files(folder)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(
        RetrievalReportWarning, match=f"compiled code in '{path.parent}' cannot be used"
    ):
        assert kernel(plus_one)(1) == 2
    third = kernel(plus_one)
    assert (third(1), hits(third)) == (2, 1)


def test_an_index_that_numba_left_broken_does_not_matter(folder: Path):
    kernel(plus_one)(1)
    (path,) = files(folder)
    path.with_name(path.name.split(".py3")[0] + f".py3{sys.version_info[1]}.nbi").write_bytes(b"")
    second = kernel(plus_one)
    assert (second(1), hits(second)) == (2, 1)


def test_row_098_a_full_disk_does_not_stop_the_computation(
    folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pickle, "dump", full)
    with pytest.warns(
        RetrievalReportWarning, match=f"cannot be stored in '{folder}.*No space left on device"
    ) as caught:
        assert (kernel(plus_one)(1), kernel(plus_one)(0.5)) == (2, 1.5)
    assert len(caught) == 1
    assert files(folder) == []


def test_row_102_a_folder_that_is_gone_does_not_stop_the_computation(folder: Path):
    function = kernel(plus_one)
    shutil.rmtree(folder)
    folder.write_text("a file is here now")
    with pytest.warns(RetrievalReportWarning, match="cannot be stored in .*NUMBA_CACHE_DIR"):
        assert function(1) == 2


def test_row_102_an_installation_and_a_home_that_cannot_be_written(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])  # none finds a folder
    with pytest.warns(RetrievalReportWarning, match="neither folder is writable") as caught:
        assert (kernel(plus_one)(1), kernel(plus_one)(0.5)) == (2, 1.5)
    assert len(caught) == 1


MODULE = """
import sys
from retrieval_report.kernels.compile import inlined, kernel

@inlined
def twice(x):
    return x + x

@kernel
def moved(x, y):
    return twice(x) + y

moved = moved.compiled
kinds = [(1, 2), (1, 0.5), (0.5, 1)]
order = kinds if sys.argv[1] == "0" else kinds[::-1]
assert [moved(*pair) for pair in order] == [2 * x + y for x, y in order]
print(sum(moved.stats.cache_hits.values()))
"""


@pytest.mark.slow
def test_several_cold_processes_at_once_keep_each_others_code(folder: Path, tmp_path: Path):
    (tmp_path / "cold.py").write_text(MODULE)
    environment = {
        **os.environ,
        "NUMBA_CACHE_DIR": str(folder),
        "PYTHONWARNINGS": "error::UserWarning",
        "HOME": "/proc",  # where nobody can write, not even root
    }

    def start(number: int):
        words = [sys.executable, str(tmp_path / "cold.py"), str(number % 2)]
        return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, text=True)

    together = [start(number) for number in range(2)]
    assert [
        (process.wait(), process.communicate()[0].strip().isdigit()) for process in together
    ] == [(0, True)] * 2
    assert start(0).communicate()[0].strip() == "3"


COMPILING = """
import sys
import numpy as np
from retrieval_report.kernels.shuffling import integer_keys
sys.stderr.write("begun\\n")
integer_keys.compiled(np.zeros(1, np.uint64), np.zeros(1, np.uint64))
"""


@pytest.mark.slow
@pytest.mark.parametrize("terminal", [True, False])
def test_a_terminal_alone_is_shown_that_kernels_compile(folder: Path, terminal: bool):
    termios = pytest.importorskip("termios", reason="Windows has no pseudo-terminals")
    ours, theirs = os.openpty() if terminal else os.pipe()
    if terminal:
        termios.tcsetwinsize(theirs, (24, 80))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", COMPILING], stdout=subprocess.PIPE, stderr=theirs, env=environment
    )
    os.set_blocking(ours, False)
    shown = os.read(ours, 1 << 16).decode()
    os.close(theirs)
    os.close(ours)
    assert (done.returncode, done.stdout) == (0, b"")
    assert ("Compiling kernels, once after installation … " in shown) == terminal
    assert terminal or shown == "begun\n"
