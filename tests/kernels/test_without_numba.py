"""Nothing needs Numba: where it cannot be imported, every answer is the same, and later."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrieval_report as rr
from retrieval_report.kernels import compile as kernels

PROGRAM = Path(__file__).parents[1] / "helpers/core_answers.py"


def answers(folder: Path, how: str) -> tuple[dict[str, bytes], str, str]:
    """The files that the core's answers are written to, and what the process prints."""
    folder.mkdir()
    ran = subprocess.run(
        [sys.executable, str(PROGRAM), how], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*.*"))
        if path.is_file()
    }
    return files, ran.stdout, ran.stderr


@pytest.mark.slow
def test_the_core_answers_to_the_bit_without_numba(tmp_path: Path):
    files, printed, said = answers(tmp_path / "with", "numba")
    same_files, same_printed, same_said = answers(tmp_path / "without", "no-numba")
    assert said.endswith("loaded: llvmlite, numba\n")
    assert same_said.endswith("loaded: \n")
    assert same_said.count("Numba cannot be imported (No module named 'numba')") == 1
    assert files.keys() >= {"scores.parquet", "verdict.txt", "counts.parquet", "scored/scores.csv"}
    assert [name for name in files if files[name] != same_files.get(name)] == []
    assert printed == same_printed


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch):
    """A kernel in a process that has computed nothing and finds no compiler."""
    monkeypatch.setattr(kernels, "_expected", [0.0])
    monkeypatch.setattr(kernels, "_warned", [])
    monkeypatch.setattr(kernels, "DISABLED", False)
    monkeypatch.setattr(kernels, "stored", frozenset)
    monkeypatch.setattr(kernels, "COMPILER", "retrieval_report.kernels.no_compiler")
    kernels.missing_compiler.cache_clear()
    yield kernels.kernel(lambda numbers: numbers.sum())
    kernels.missing_compiler.cache_clear()


def test_from_some_work_on_one_warning_says_what_numba_would_save(made: Any):
    some, much = np.ones(1_000_000), np.ones(8_000_000)
    assert made(some) == 1e6
    with pytest.warns(
        rr.RetrievalReportWarning, match="hundred times slower than compiled: some 4 s"
    ):
        assert made(much) == 8e6
    assert made(much) == 8e6  # it warns once


def test_a_compiler_that_breaks_while_it_is_imported_is_not_used(
    made: Any, monkeypatch: pytest.MonkeyPatch
):
    def broken(_: str):
        raise OSError("libllvmlite.so: cannot open shared object file")

    monkeypatch.setattr(kernels, "import_module", broken)
    with pytest.warns(rr.RetrievalReportWarning, match=r"imported \(libllvmlite.so: cannot open"):
        assert made(np.ones(9_000_000)) == 9e6


def test_who_turns_the_compiler_off_is_not_warned(made: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(kernels, "DISABLED", True)
    assert made(np.ones(9_000_000)) == 9e6
