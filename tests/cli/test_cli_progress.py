"""What commands say on standard error about slow steps."""

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from commands import run
from made_reports import made_rankings
from retrieval_report.cli import cli


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Two models in two files, and codes and neighbours; every step counts as slow."""
    monkeypatch.chdir(tmp_path)
    rankings = made_rankings(("a", "b"))
    for (name,), rows in rankings.group_by("model"):
        rows.write_parquet(f"{name}.parquet")
    np.savez("q.npz", codes=np.array([[1, -1], [1, 1]]), labels=np.array([0, 1]))
    np.save("d.npy", np.array([[0.1, 0.2]]))
    np.save("i.npy", np.array([[4, 5]]))
    monkeypatch.setattr("retrieval_report.contracts.steps.SLOW", 0.0)


def test_slow_steps_are_told_on_standard_error_alone():
    result = run("compare a.parquet b.parquet --metrics rr --json")
    lines = result.stderr.splitlines()
    for beginning in ("Reading … ", "Scoring … ", "Comparing pairs … "):
        assert sum(line.startswith(beginning) for line in lines) == 1, lines
    assert json.loads(result.stdout)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("evaluate a.parquet --metrics rr --engine disk", "Scoring parts … "),
        ("profile a.parquet", "Looking at ties … "),
        ("gate a.parquet b.parquet --metrics rr --margin 0.1", "Testing losses … "),
        ("codes q.npz q.npz --metrics ap --exclude-self", "Scoring codes … "),
        ("neighbours d.npy i.npy --k 1", "Judging neighbours … "),
    ],
)
def test_every_slow_command_says_what_it_did(command: str, told: str):
    result = CliRunner().invoke(cli, command.split())
    assert result.exit_code in (0, 1, 3), result.output
    assert any(line.startswith(told) for line in result.stderr.splitlines()), result.stderr
