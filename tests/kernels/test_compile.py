"""Kernels as Python and compiled: which one runs, and that both give the same bits."""

import ast
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from retrieval_report.kernels import compile as kernels
from retrieval_report.kernels import tables
from retrieval_report.kernels.lists import Lists
from retrieval_report.kernels.waves import SUM, list_wave

pytestmark = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled"
)


def rankings(grades: int, queries: int = 12, longest: int = 50) -> pl.DataFrame:
    """Lists of which some tie in long ties, some in short ones and some not at all."""
    draw, parts = np.random.default_rng(5), []
    for query in range(queries):
        size = int(draw.integers(1, longest))
        parts.append(
            pl.DataFrame(
                {
                    "query": [query] * size,
                    "item": np.arange(size),
                    "distance": draw.integers(0, (3, 20, 10**6)[query % 3], size),
                    "relevance": draw.integers(0, grades, size),
                }
            )
        )
    return pl.concat(parts)


def in_both_ways(
    compute: Callable[[], pl.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> list[pl.DataFrame]:
    """What is computed when every kernel runs as Python, and when every one is compiled."""
    found = []
    for compiled in (False, True):
        tables._filled.cache_clear()
        monkeypatch.setattr(kernels.Kernel, "compiles", lambda *_, answer=compiled: answer)
        found.append(compute())
    return found


def chances() -> pl.DataFrame:
    rows = rankings(3, queries=6, longest=20)
    other = rows.with_columns(pl.col("distance") // 2, model=pl.lit("b"))
    both = pl.concat([rows.with_columns(model=pl.lit("a")), other])
    asked = "ndcg@5, ap@5, err@5, ap(denominator=retrieved)@5"
    return rr.Study(both, measures=asked, truncated="no").comparison


def counted() -> pl.DataFrame:
    draw = np.random.default_rng(1)
    codes, labels = draw.integers(0, 2, (60, 32)).astype(bool), draw.integers(0, 4, 60)
    return rr.codes.count_codes(codes[:9], codes, query_labels=labels[:9], item_labels=labels)


def curve() -> pl.DataFrame:
    return rr.lists.recall_curve(rankings(3), truncated="no")


OTHERS = {"random walks": chances, "codes": counted, "recall curve": curve}


def test_kernels_write_no_power():
    """Python's power and NumPy's functions round differently from compiled ones."""
    folder = Path(kernels.__file__).parent
    powers = [
        f"{path.name}:{node.lineno}"
        for path in folder.glob("*.py")
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)
    ]
    assert powers == []


def test_waves_have_the_same_bits():
    """NumPy divides complex numbers by another rule than Numba."""
    found = []
    start, tie = np.array([0, 1]), np.array([0, 3])
    lists = Lists(start, tie, np.arange(3, dtype=np.int32), np.array([4, 5, 2]))
    kernel: Any = list_wave
    for form in (kernel.python, kernel.compiled):
        wave = np.ones(40, np.complex128)
        added = (SUM, np.array([0.0, 0.3, 0.7]), 1.0 / np.log2(np.arange(2.0, 14.0)))
        form(0, lists, 9, added, (3, 0.37), wave)
        found.append(wave)
    assert found[0].tolist() == found[1].tolist()


@pytest.mark.parametrize("compute", OTHERS.values(), ids=OTHERS)
def test_what_else_uses_kernels_has_the_same_bits(
    compute: Callable[[], pl.DataFrame], monkeypatch: pytest.MonkeyPatch
):
    assert_frame_equal(*in_both_ways(compute, monkeypatch), check_exact=True)


@pytest.fixture
def total(monkeypatch: pytest.MonkeyPatch):
    """A maker of kernels in a process that has computed nothing."""
    monkeypatch.setattr(kernels, "_expected", [0.0])
    monkeypatch.setattr(kernels, "stored", frozenset)

    def make():
        return kernels.kernel(lambda numbers: numbers.sum())

    return make


def test_little_work_needs_no_compiler(total: Callable[[], Any]):
    made, little = total(), np.zeros(1000)
    assert not any(made.compiles(little) for _ in range(100))


def test_work_adds_up_until_a_kernel_is_compiled(total: Callable[[], Any]):
    made, much = total(), np.zeros(int(0.6 * kernels.COMPILING))
    assert [made.compiles(much) for _ in range(3)] == [False, True, True]


def test_compiled_code_is_used_wherever_it_is(total: Callable[[], Any]):
    made = total()
    assert not made.compiles(np.zeros(1))
    assert made.compiled(np.zeros(1)) == 0.0
    assert made.compiles(np.zeros(1))


def test_stored_code_is_loaded_sooner_and_once_the_compiler_is_there(
    total: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(kernels, "stored", lambda: {"test_compile.<lambda>"})
    monkeypatch.delitem(sys.modules, kernels.COMPILER, raising=False)
    made = total()
    assert not made.compiles(np.zeros(1))
    kernels.expect(kernels.LOADING)
    assert made.compiles(np.zeros(1))
    monkeypatch.setattr(kernels, "_expected", [0.0])
    monkeypatch.setitem(sys.modules, kernels.COMPILER, sys)
    assert made.compiles(np.zeros(1))


def test_kernels_are_found_by_the_names_of_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "kernels_1").mkdir()
    (tmp_path / "kernels_1" / "ap.ap_moments-285.py311.abc.nbc").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert kernels.stored.__wrapped__() == {"ap.ap_moments"}


@pytest.mark.parametrize("number", [0.3, 1.0, 0.0])
def test_powers_are_repeated_squares(number: float):
    power: Any = kernels.power
    compiled: Any = kernels.kernel(lambda x, n: x**n)
    for exponent in (0, 1, 2, 3, 17, 1000, 70_000):
        assert power(number, exponent) == compiled.compiled(number, exponent)
