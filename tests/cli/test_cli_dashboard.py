"""`retrieval-report dashboard` refuses in words what it cannot open, before any server starts."""

import importlib.util
import json
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from retrieval_report.cli import cli
from retrieval_report.cli.dashboard import open_browser
from retrieval_report.study.samples import sample_folder


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch):
    """What would have been served, instead of serving it."""
    found: list[dict[str, Any]] = []

    def serve(script: str, run_name: str):
        assert run_name == "__main__"
        found.append(
            {
                "script": script,
                "files": os.environ["RETRIEVAL_REPORT_DASHBOARD"] or None,
                "settings": json.loads(os.environ["RETRIEVAL_REPORT_SERVER"]),
                "browser": os.environ["RETRIEVAL_REPORT_BROWSER"] or None,
            }
        )

    monkeypatch.setattr("runpy.run_path", serve)  # which does not return while the server runs
    for name in ("DASHBOARD", "SERVER", "BROWSER"):
        monkeypatch.setenv(f"RETRIEVAL_REPORT_{name}", "left over")
    return found


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["dashboard", *arguments])


def test_it_opens_the_samples_on_this_machine_alone(served: list[dict[str, Any]]):
    assert run("--no-browser").exit_code == 0
    assert served[0]["files"] is None
    assert served[0]["browser"] is None
    assert Path(served[0]["script"]).name == "main.py"
    assert served[0]["settings"] == {
        "server.address": "127.0.0.1",
        "server.headless": True,
        "browser.gatherUsageStats": False,
        "server.showEmailPrompt": False,
        "global.disableWidgetStateDuplicationWarning": True,
        "logger.hideWelcomeMessage": True,
    }


def test_it_hands_over_the_files(served: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(sample_folder() / "docs")
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]
    outcome = run(
        "runs",
        "--judgements",
        "qrels.txt",
        "--columns",
        "query=query",
        "--name-by",
        "file",
        *("--baseline", "bm25", "--margin", "1 %", "--costs", "costs.csv"),
        "--port",
        str(free),
    )
    assert outcome.exit_code == 0, outcome.output
    told = json.loads(served[0]["files"])
    assert told == {
        "rankings": ["runs"],
        "judgements": "qrels.txt",
        "columns": {"query": "query"},
        "options": {},
        "name_by": "file",
        "labels_as_rankings": False,
        "negative": "keep",
        "baseline": "bm25",
        "margin": "1 %",
        "costs": "costs.csv",
    }
    assert served[0]["settings"]["server.port"] == free
    assert served[0]["browser"] == "open"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.csv",), "missing.csv: No such file or directory"),
        (("good.csv", "--judgements", "."), "empty.csv: the file is empty (0 bytes)"),
        (("qrels.txt", "--judgements", "a.run"), "a.run: is a TREC run, not judgements"),
        (("qrels.txt", "--judgements", "qrels.txt"), "qrels.txt: is TREC qrels, not rankings"),
        (("one.npy",), "pass vectors to from_embeddings in Python"),
        (("--judgements", "good.csv"), "require RANKINGS, but none are given"),
        (("--port", "70000"), "70000 is not in the range"),
        (("good.csv", "--measures", "ap"), "--measures: choose it on the page, by “Metric” and"),
        (("good.csv", "--exclude-self"), "by “Leave queries out of their lists” under “Rules”"),
    ],
)
def test_what_cannot_be_opened_is_refused_in_words(
    arguments: tuple[str, ...],
    message: str,
    served: list[dict[str, Any]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.chdir(tmp_path)
    Path("good.csv").write_text("query,item,distance,relevance\nq,a,1,1\n", encoding="utf-8")
    Path("empty.csv").touch()
    Path("a.run").write_text("q Q0 a 1 0.5 tag\n", encoding="utf-8")
    Path("qrels.txt").write_text("q 0 a 1\n", encoding="utf-8")
    Path("one.npy").write_bytes(b"\x93NUMPY\x01\x00")
    outcome = run(*arguments)
    assert outcome.exit_code == 2
    assert message in outcome.output
    assert "Traceback" not in outcome.output
    assert served == []


def test_a_port_that_is_taken_is_refused(served: list[dict[str, Any]]):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        outcome = run("--port", str(port))
    assert outcome.exit_code == 2
    assert outcome.output.startswith(
        f"Error: port {port} cannot be used: Address already in use; choose another --port"
    )
    assert served == []


def test_without_streamlit_it_says_what_to_install(
    served: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name == "streamlit" else find(name)
    )
    outcome = run()
    assert outcome.exit_code == 2
    assert "pip install 'retrieval-report[app]'" in outcome.output
    assert served == []


@pytest.mark.parametrize(
    ("platform", "screen", "opened"),
    [
        ("linux", {}, 0),
        ("linux", {"WAYLAND_DISPLAY": "w"}, 1),
        ("darwin", {}, 1),
    ],
)
def test_a_browser_is_opened_where_there_is_a_screen(
    platform: str, screen: dict[str, str], opened: int, monkeypatch: pytest.MonkeyPatch
):
    asked: list[str] = []
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in screen.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setattr("click.launch", asked.append)
    open_browser("http://127.0.0.1:8501")
    assert asked == ["http://127.0.0.1:8501"] * opened


def test_it_hands_over_judges_labels_seeds_data_sets_and_clusters(
    served: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    folder, other = sample_folder() / "docs", tmp_path / "gpt.txt"
    monkeypatch.chdir(folder)
    other.write_bytes(Path("qrels.txt").read_bytes())
    judges = ("--judgements", f"human=qrels.txt,gpt={other}", "--judge", "gpt")
    (tmp_path / "labels.csv").write_text("item,label\na,1\n")
    labels = ("--labels", str(tmp_path / "labels.csv"))
    lists = ("--truncated", "between_ties")
    outcome = run("runs", *judges, *labels, *lists, "--replicates", "seed", "--cluster", "topic")
    assert outcome.exit_code == 0, outcome.output
    told = json.loads(served[0]["files"])
    assert told["judgements"] == {"human": "qrels.txt", "gpt": str(other)}
    assert told["options"] == {"truncated": "between_ties"}
    assert told["labels"] == str(tmp_path / "labels.csv")
    assert (told["judge"], told["replicate"], told["cluster"]) == ("gpt", "seed", "topic")


def test_it_hands_over_label_sets_whatever_their_files_are_called(
    served: list[dict[str, Any]], tmp_path: Path
):
    (tmp_path / "gpt").write_text("q 0 a 3\nq 0 b 3\n")
    judged = ("--judgements", str(tmp_path / "gpt"), "--labels-as-rankings")
    outcome = run(str(tmp_path), *judged)
    assert outcome.exit_code == 0, outcome.output
    told = json.loads(served[0]["files"])
    assert told["options"] == {"truncated": "no"}  # a label set is whole
    assert (told["rankings"], told["labels_as_rankings"]) == ([f"{tmp_path}/*"], True)
