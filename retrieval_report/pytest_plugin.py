"""What pytest gets from this package: the fixture ``retrieval_gate`` and ``--retrieval-baseline``.

``retrieval_gate(candidate, measures="ndcg@10", margin=0.01, …)`` takes what
:func:`retrieval_report.gate` takes, and fails the test unless the gate passes; see
``docs/howto/ci.md``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from retrieval_report.comparison.gate import Gate

OPTION, SETTING = "--retrieval-baseline", "retrieval_baseline"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option and the setting that name the baseline."""
    what = "rankings that retrieval_gate compares with: a file or folder"
    parser.getgroup("retrieval-report").addoption(OPTION, metavar="RUN", help=what)
    parser.addini(SETTING, f"{what}, relative to the folder of this setting")


@pytest.fixture
def retrieval_gate(
    pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> Callable[..., Gate]:
    """Return a function that fails the test unless a candidate loses less than a margin."""

    def hold(candidate: object, *, baseline: object = None, **how: Any) -> Gate:
        from retrieval_report import gate  # loads Polars, which other tests do not need

        __tracebackhide__ = True
        if baseline is None:
            baseline = _configured(pytestconfig)
        result = gate(baseline, candidate, **how)
        record_property("retrieval_gate", result.line())
        if result.status != "passed":
            pytest.fail(result.line(), pytrace=False)
        return result

    return hold


def _configured(config: pytest.Config) -> object:
    """Return the baseline of the option, or else of the setting."""
    option = config.getoption(OPTION)
    if option is not None:
        return config.invocation_params.dir / option
    if setting := config.getini(SETTING):
        folder = config.inipath.parent if config.inipath else config.rootpath
        return folder / str(setting)
    return pytest.fail(
        f"retrieval_gate: there is no baseline; pass {OPTION} RUN, set {SETTING} in the "
        "configuration of pytest, or pass baseline= to the fixture",
        pytrace=False,
    )
