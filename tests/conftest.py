"""How every test runs: no silent skips, repeatable hypothesis."""

from __future__ import annotations

import os
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

# Deadlines and slow-generation checks would fail on a busy machine, not on a wrong program.
settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", settings.get_profile("here"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not hasattr(report, "wasxfail"):
        refuse_skip(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    refuse_skip(report)
    return report


def refuse_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    """Turn a skip into a failure where it has no reason, or where RETRIEVAL_REPORT_FORBID_SKIPS is set."""
    if not report.skipped:
        return
    # A skip is reported as (file, line, "Skipped: reason"), without a reason as "Skipped" alone.
    message = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    reason = message.removeprefix("Skipped").lstrip(":").strip()
    if reason in ("", "unconditional skip"):
        report.outcome, report.longrepr = "failed", "a skip has to carry a reason"
    elif os.environ.get("RETRIEVAL_REPORT_FORBID_SKIPS"):
        report.outcome, report.longrepr = "failed", f"skips are forbidden here: {reason}"
