"""What the command line reads from standard input, and prints for other programs."""

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
from commands import run
from made_reports import made_rankings
from retrieval_report.cli import cli, files

RANKINGS = made_rankings(("coarse", "fine"))
TEXT = RANKINGS.write_csv().encode()
ASKED = "--metrics ndcg,ap --cutoffs 3"


def printed(words: str, given: bytes = TEXT) -> str:
    return run(words, given=given).stdout


def loaded(output: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(output)
    return found


def test_messages_call_standard_input_by_its_name():
    outcome = run(f"evaluate - {ASKED}", given=b"a b c\n", code=2)
    assert "standard-input: neither a table" in outcome.stderr


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_dash_is_standard_input(tmp_path: Path, pack: Any):
    (tmp_path / "lists.csv").write_bytes(TEXT)
    of_file = printed(f"evaluate {tmp_path}/lists.csv {ASKED}")
    assert printed(f"evaluate - {ASKED}", given=pack(TEXT)) == of_file


@pytest.mark.parametrize(
    ("words", "redirect", "message"),
    [
        ("evaluate {} --json", "> /dev/full", "the output cannot be written: No space left"),
        ("evaluate {}", ">&-", "the output cannot be written: it is closed"),
        ("evaluate -", "</dev/null", "standard-input: is empty, or was read before"),
        ("evaluate -", "<&-", "standard-input: is closed; name a file instead of -"),
        ("evaluate absent.csv", "2> /dev/full", ""),
    ],
)
def test_streams_that_are_full_or_closed_end_with_a_message(
    tmp_path: Path, words: str, redirect: str, message: str
):
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
):
    endless = b"a,b,c\n" * 1000
    outcome = run("evaluate - --max-bytes 5999", given=endless, code=2)
    message = "standard-input: holds more than 5999 bytes; if that is right, raise --max-bytes"
    assert message in outcome.stderr
    assert "the rankings lack" in run("evaluate -", given=endless, code=2).stderr

    def full(*_: object):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "_keep_standard_input", full)
    outcome = run("evaluate -", given=endless, code=2)
    assert "No space left on device; set TMPDIR to a folder with more space" in outcome.stderr


@pytest.mark.parametrize("command", ["evaluate", "leaderboard"])
def test_an_option_moves_the_bound_of_gzipped_files(tmp_path: Path, command: str):
    path = tmp_path / "lists.csv.gz"
    path.write_bytes(gzip.compress(TEXT))
    words = f"{command} {path} --max-bytes"
    assert "raise --max-bytes" in run(f"{words} {len(TEXT) - 1}", code=2).stderr
    if command == "evaluate":
        run(f"{words} {len(TEXT)}")


def test_judgements_come_from_standard_input_too(tmp_path: Path):
    RANKINGS.drop("relevance").write_csv(tmp_path / "lists.csv")
    judgements = (
        RANKINGS.select("query", "item", "relevance").unique(["query", "item"]).write_csv().encode()
    )
    assert "ndcg@3" in printed(f"evaluate {tmp_path}/lists.csv --qrels - {ASKED}", judgements)


def test_json_holds_the_frames_that_are_printed():
    study = rr.Study(RANKINGS, "ndcg@3, ap@3")
    summary = loaded(printed(f"evaluate - --json {ASKED}"))["summary"]
    means = {(row["model"], row["metric"], row["policy"]): row["value"] for row in summary}
    assert means == {
        row[:3]: row[3]
        for row in study.summary.select("model", "metric", "policy", "value").iter_rows()
    }
    compared = loaded(printed(f"compare - --json {ASKED}"))
    assert compared.keys() == {"reversals", "comparison", "flips", "notices"}
    assert [row["verdict"] for row in compared["flips"]] == study.flips["verdict"].to_list()


def test_latex_is_the_table_of_a_study():
    table = printed(f"leaderboard - --latex {ASKED}")
    assert table == rr.Study(RANKINGS, "ndcg@3, ap@3").to_latex()
    table = printed(f"leaderboard - --latex --correction holm {ASKED}")
    assert "with Holm's correction over" in table


def test_help_names_every_command_without_cutting_it():
    outcome = CliRunner().invoke(cli, ["--help"], env={"COLUMNS": "80"})
    lines = outcome.output.splitlines()
    assert len(lines) <= 36
    assert max(map(len, lines)) <= 80
    assert "..." not in outcome.output.replace("[ARGS]...", "")
    assert "_RETRIEVAL_REPORT_COMPLETE" in outcome.output
