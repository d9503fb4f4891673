"""Sums of pairs in patterns of signs, counted by the definition in fractions: as NumPy and compiled."""

from __future__ import annotations

import os
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from retrieval_report.comparison.max_t import step_down
from retrieval_report.comparison.significance import sampled_sign_flips
from retrieval_report.engines.score_grid import Pairs
from retrieval_report.kernels import compile as kernels
from retrieval_report.kernels import reaching
from retrieval_report.kernels.lists import Floats, all_frozen, frozen
from retrieval_report.kernels.reaching import Family, count_in_blocks

count_reached: Any = reaching.count_reached
compiling = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled"
)
FORMS = ["python", pytest.param("compiled", marks=compiling)]


def made(seed: int, models: int = 7, patterns: int = 40) -> tuple[Floats, Family]:
    """Sums and scales in eighths and sixteenths, of which many are equal; pairs in random order."""
    draw = np.random.default_rng(seed)
    sums = draw.integers(-12, 13, (models, patterns)) / 8
    first, second = (draw.permuted(one) for one in np.triu_indices(models, 1))
    seen, scale = (np.sort(draw.integers(low, 24, first.size)) for low in (-2, 0))
    return sums, Family(first, second, seen / 8, scale / 16)


def by_definition(sums: Floats, family: Family, alone: bool) -> list[int]:
    """In how many patterns each pair, or one up to it, is as far from 0 as it was."""
    exact = [[Fraction(one) for one in row] for row in sums.tolist()]
    pairs = list(zip(*(column.tolist() for column in family), strict=True))
    far = [
        [abs(one - other) * unit for one, other in zip(exact[a], exact[b], strict=True)]
        for a, b, _, scale in pairs
        for unit in [1 if alone else Fraction(scale)]
    ]
    found = []
    for pair, (_, _, seen, _) in enumerate(pairs):
        rivals = far[pair : pair + 1] if alone else far[: pair + 1]
        found.append(sum(max(column) >= Fraction(seen) for column in zip(*rivals, strict=True)))
    return found


@pytest.mark.parametrize("rows", [4, 256])
@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_patterns_are_counted_as_defined(
    form: str, alone: bool, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reaching, "ROWS", rows)
    for seed in range(5):
        sums, family = made(seed)
        reached = np.ones(family.seen.size, np.int64)
        getattr(count_reached, form)(
            frozen(sums), all_frozen(family), np.zeros(sums.shape[1]), alone, reached
        )
        expected = by_definition(sums, family, alone)
        assert (reached - 1).tolist() == expected
        assert len(set(expected)) > 5


def test_sums_of_pairs_are_counted_as_those_of_models() -> None:
    sums, family = made(9)
    for alone in (True, False):
        reached = np.zeros(family.seen.size, np.int64)
        count_in_blocks(lambda a, b: sums[a] - sums[b], family, alone, reached)
        assert reached.tolist() == by_definition(sums, family, alone)


@compiling
def test_both_forms_give_the_same_p(monkeypatch: pytest.MonkeyPatch) -> None:
    thirds = np.random.default_rng(3).integers(0, 7, (9, 30)) / 3
    for test in (sampled_sign_flips, step_down):
        found = []
        for compiled in (False, True):
            monkeypatch.setattr(kernels.Kernel, "compiles", lambda *_, answer=compiled: answer)
            found.append(test(thirds, Pairs.every(9), 1_500, 2).tolist())
        assert found[0] == found[1]
        assert len(set(found[0])) > 10


@pytest.mark.parametrize(("models", "tests", "worth"), [(143, 2, False), (300, 1, True)])
def test_the_compiler_is_loaded_only_for_hundreds_of_models(
    models: int, tests: int, worth: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two tests of 143 models are done before it is there; of 300 models one takes longer."""
    monkeypatch.setattr(kernels, "_expected", [0.0])
    monkeypatch.setattr(kernels, "stored", lambda: {"reaching.count_reached"})
    monkeypatch.setattr(kernels, "DISABLED", False)
    monkeypatch.delitem(sys.modules, kernels.COMPILER, raising=False)
    anew: Any = kernels.kernel(count_reached.__wrapped__)
    anew.costs = count_reached.costs
    family = Family(*np.triu_indices(models, 1), np.zeros(0), np.zeros(0))
    calls = tests * 9_999 // 512
    assert any(anew.compiles(np.zeros((1, 512)), family) for _ in range(calls)) == worth
