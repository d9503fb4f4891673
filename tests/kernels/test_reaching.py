"""Sums of pairs in patterns of signs, counted with NumPy and compiled: the same p, and which
of them counts.
"""

import os
import sys
from typing import Any

import numpy as np
import pytest

from retrieval_report.comparison.max_t import step_down
from retrieval_report.comparison.significance import sampled_sign_flips
from retrieval_report.engines.score_grid import Pairs
from retrieval_report.kernels import compile as kernels
from retrieval_report.kernels import reaching
from retrieval_report.kernels.reaching import Family

count_reached: Any = reaching.count_reached
compiling = pytest.mark.skipif(
    os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled"
)


@compiling
def test_both_forms_give_the_same_p(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(reaching, "ROWS", 4)  # of 36 pairs, so that many blocks follow one another
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
):
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
