"""What commands say on standard error about slow steps."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from retrieval_report.cli import cli
from retrieval_report.study.samples import sample_folder

FILE = str(sample_folder() / "digits/rankings.parquet")


def test_slow_steps_are_told_on_standard_error_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("retrieval_report.contracts.steps.SLOW", 0.0)
    result = CliRunner().invoke(cli, ["compare", FILE, "--metrics", "rr", "--json"])
    assert result.exit_code == 0, result.output
    lines = result.stderr.splitlines()
    for beginning in ("read the files in ", "scored ", "compared "):
        assert sum(line.startswith(beginning) for line in lines) >= 1, lines
    assert json.loads(result.stdout)


def test_quick_steps_are_not_told() -> None:
    result = CliRunner().invoke(cli, ["compare", FILE, "--metrics", "rr"])
    assert " in " not in result.stderr
