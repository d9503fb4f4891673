"""What the command line reads from standard input, and prints for other programs."""

from __future__ import annotations

import errno
import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import retrieval_report as rr
from made_reports import made_rankings
from retrieval_report.cli import cli, files

RANKINGS = made_rankings(("coarse", "fine"))
TEXT = RANKINGS.write_csv().encode()
ASKED = ("--metrics", "ndcg,ap", "--cutoffs", "3")


def run(*arguments: str, given: bytes = TEXT) -> str:
    outcome = CliRunner().invoke(cli, arguments, input=given)
    assert outcome.exit_code == 0, outcome.output
    return outcome.stdout


def loaded(output: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(output)
    return found


def test_messages_call_standard_input_by_its_name() -> None:
    outcome = CliRunner().invoke(cli, ["evaluate", "-", *ASKED], input=b"a b c\n")
    assert outcome.exit_code == 2
    assert "standard-input: neither a table" in outcome.stderr


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_dash_is_standard_input(tmp_path: Path, pack: Any) -> None:
    (tmp_path / "lists.csv").write_bytes(TEXT)
    assert run("evaluate", "-", *ASKED, given=pack(TEXT)) == run(
        "evaluate", str(tmp_path / "lists.csv"), *ASKED
    )


@pytest.mark.parametrize(
    ("words", "redirect", "message"),
    [
        ("evaluate {} --json", "> /dev/full", "the output cannot be written: No space left"),
        ("evaluate {}", ">&-", "the output cannot be written: it is closed"),
        ("evaluate -", "<&-", "standard-input: is closed; name a file instead of -"),
        ("evaluate absent.csv", "2> /dev/full", ""),
    ],
)
def test_streams_that_are_full_or_closed_end_with_a_message(
    tmp_path: Path, words: str, redirect: str, message: str
) -> None:
    (tmp_path / "lists.csv").write_bytes(TEXT)
    command = [sys.executable, "-m", "retrieval_report"]
    command += words.format(tmp_path / "lists.csv").split()
    shell = ["bash", "-c", f'"$@" {redirect}', "bash", *command]
    ended = subprocess.run(shell, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert "Traceback" not in ended.stderr
    assert f"Error: {message}" in ended.stderr or not message


def test_standard_input_that_does_not_end_is_refused_at_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    endless = b"a,b,c\n" * 1000
    outcome = CliRunner().invoke(cli, ["evaluate", "-", "--max-bytes", "5999"], input=endless)
    assert outcome.exit_code == 2
    message = "standard-input: holds more than 5999 bytes; if that is right, raise --max-bytes"
    assert message in outcome.stderr
    assert "the rankings lack" in CliRunner().invoke(cli, ["evaluate", "-"], input=endless).stderr

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "_keep_standard_input", full)
    outcome = CliRunner().invoke(cli, ["evaluate", "-"], input=endless)
    assert outcome.exit_code == 2
    assert "No space left on device; set TMPDIR to a folder with more space" in outcome.stderr


@pytest.mark.parametrize("command", ["evaluate", "leaderboard"])
def test_an_option_moves_the_bound_of_gzipped_files(tmp_path: Path, command: str) -> None:
    path = tmp_path / "lists.csv.gz"
    path.write_bytes(gzip.compress(TEXT))
    words = [command, str(path), "--max-bytes"]
    outcome = CliRunner().invoke(cli, [*words, str(len(TEXT) - 1)])
    assert outcome.exit_code == 2
    assert "raise --max-bytes" in outcome.stderr
    if command == "evaluate":
        assert CliRunner().invoke(cli, [*words, str(len(TEXT))]).exit_code == 0


def test_judgements_come_from_standard_input_too(tmp_path: Path) -> None:
    RANKINGS.drop("relevance").write_csv(tmp_path / "lists.csv")
    judgements = (
        RANKINGS.select("query", "item", "relevance").unique(["query", "item"]).write_csv().encode()
    )
    assert "ndcg@3" in run(
        "evaluate", str(tmp_path / "lists.csv"), "--qrels", "-", *ASKED, given=judgements
    )


def test_json_holds_the_frames_that_are_printed() -> None:
    study = rr.Study(RANKINGS, "ndcg@3, ap@3")
    summary = loaded(run("evaluate", "-", "--json", *ASKED))["summary"]
    means = {(row["model"], row["metric"], row["policy"]): row["value"] for row in summary}
    assert means == {
        row[:3]: row[3]
        for row in study.summary.select("model", "metric", "policy", "value").iter_rows()
    }
    compared = loaded(run("compare", "-", "--json", *ASKED))
    assert compared.keys() == {"comparison", "flips", "notices"}
    assert [row["verdict"] for row in compared["flips"]] == study.flips["verdict"].to_list()


def test_latex_is_the_table_of_a_study() -> None:
    printed = run("leaderboard", "-", "--latex", *ASKED)
    assert printed == rr.Study(RANKINGS, "ndcg@3, ap@3").to_latex()
    printed = run("leaderboard", "-", "--latex", "--correction", "holm", *ASKED)
    assert "with Holm's correction over" in printed


def test_help_names_every_command_without_cutting_it() -> None:
    outcome = CliRunner().invoke(cli, ["--help"], env={"COLUMNS": "80"})
    lines = outcome.output.splitlines()
    assert len(lines) <= 36
    assert max(map(len, lines)) <= 80
    assert "..." not in outcome.output.replace("[ARGS]...", "")
    assert "_RETRIEVAL_REPORT_COMPLETE" in outcome.output
