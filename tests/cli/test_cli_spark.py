"""`evaluate --engine spark`: the numbers of the memory engine, also on two executors one of which
dies.
"""

import os
import pickle
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import spark_sessions
from commands import run
from retrieval_report.cli.group import Terminal
from retrieval_report.contracts.wording import argument, portable_reader, setting, speaking_to
from spark_kills import executor_of, wait_until

ASKED = (
    "--metrics",
    "ap@2,ndcg,precision",
    "--cutoffs",
    "5,all",
    "--policies",
    "expected,naive,best,worst",
)
# The Python of the workers: says that it starts, and waits until it may.
SLOW_PYTHON = """#!/bin/sh
touch "{folder}/worker-$$"
while [ ! -e "{folder}/open" ]; do sleep 0.05; done
exec "{python}" "$@"
"""

PANDAS_3 = pytest.mark.filterwarnings(
    "ignore:PySpark does not yet fully support pandas:FutureWarning"
)


@pytest.fixture
def asked(tmp_path: Path):
    """A command line: two models in four files that hold some items of every query each,
    judgements, and queries.
    """
    (tmp_path / "runs").mkdir()
    rows = [
        (
            f"m{model}",
            f"q{query}",
            f"d{item}",
            (item * (3 * model + query) + model) % (3 + model) / 2,
        )
        for item in range(12)
        for model in (2, 1)
        for query in range(15)
    ]
    frame = pl.DataFrame(rows, schema=["run", "qid", "docno", "dist"], orient="row")
    for number, part in enumerate(frame.iter_slices(frame.height // 4)):
        part.write_parquet(tmp_path / "runs" / f"part-{number}.parquet")
    qrels = [
        f"q{query} 0 d{item} {(query + item) % 3}" for query in range(16) for item in range(14)
    ]
    (tmp_path / "qrels.txt").write_text("\n".join(qrels) + "\n")
    queries = [f"q{query},{query + 1}" for query in range(16)]
    (tmp_path / "queries.csv").write_text("\n".join(["query,weight", *queries]) + "\n")
    told = ["--judgements", str(tmp_path / "qrels.txt"), "--queries", str(tmp_path / "queries.csv")]
    return ["evaluate", str(tmp_path / "runs"), *told, "--average", "weighted", *ASKED]


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_a_master_is_refused_by_other_engines(engine: str):
    result = run(f"evaluate x.parquet --engine {engine} --master local", code=2)
    assert f"--master does not work with --engine {engine}" in result.stderr


def test_without_pyspark_a_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.startswith("retrieval_report.spark")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyspark", None)
    result = run("evaluate x.parquet --engine spark", code=2)
    assert "pip install 'retrieval-report[spark]'" in result.stderr


def start(
    folder: Path, asked: list[str], master: str, **environment: str
) -> subprocess.Popen[bytes]:
    """The command in a process of its own; what Spark has to know lies in its folder of
    settings.
    """
    variables = os.environ | spark_sessions.environment(folder) | environment
    defaults = [f"{name} {value}" for name, value in spark_sessions.settings(folder).items()]
    (folder / "conf" / "spark-defaults.conf").write_text("\n".join(defaults) + "\n")
    command = [sys.executable, "-m", "retrieval_report", *on_spark(folder, asked, master)]
    with (folder / "stdout").open("wb") as out, (folder / "stderr").open("wb") as err:
        return subprocess.Popen(command, stdout=out, stderr=err, env=variables)


def on_spark(folder: Path, asked: list[str], master: str) -> list[str]:
    return [*asked, "--out", str(folder / "out"), "--engine", "spark", "--master", master]


def agrees(folder: Path, stdout: str, asked: list[str]):
    """What the command printed and wrote is what the memory engine prints and writes."""
    memory = run("", *asked, "--out", folder / "memory", code=2)
    lines = memory.stdout.splitlines(keepends=True)
    # Lists are dealt to other queries in memory alone.
    notes = "Note on the data: the lists of", "Check your data: the lists of"
    table, _, _ = "".join(line for line in lines if not line.startswith(notes)).rpartition("\n\n")
    assert stdout == f"{table}\n\nWrote {folder}/out/scores\nWrote {folder}/out/summary.csv\n"
    scores = pl.read_parquet(folder / "out/scores/**/*.parquet", hive_partitioning=True)
    expected = pl.read_csv(folder / "memory/scores.csv")
    scores = scores.select(expected.columns).sort("model", "query", maintain_order=True)
    assert_frame_equal(scores, expected, check_exact=True)
    summaries = [pl.read_csv(folder / name / "summary.csv") for name in ("out", "memory")]
    assert_frame_equal(*summaries, abs_tol=1e-12, rel_tol=0)
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["scores", "summary.csv"]
    assert (folder / "out/scores/_SUCCESS").exists()


@pytest.fixture
def session_here(spark: Any, monkeypatch: pytest.MonkeyPatch):
    """The command runs in this process, with the session that is there; one of its own takes ten
    seconds more.
    """
    monkeypatch.setattr(
        "retrieval_report.spark.sessions.session", lambda *_, **__: nullcontext(spark)
    )


@pytest.mark.spark
@PANDAS_3
@pytest.mark.usefixtures("session_here")
def test_on_one_machine(tmp_path: Path, asked: list[str]):
    result = run("", *on_spark(tmp_path, asked, "local[2]"), code=2)
    agrees(tmp_path, result.stdout, asked)


@pytest.mark.spark
def test_on_two_executors_one_of_which_is_killed_half_way(
    tmp_path: Path, asked: list[str], sessions: spark_sessions.Sessions
):
    """All rows are read and exchanged when the first worker starts; its executor dies, with what it
    had exchanged.
    """
    sessions.stop()  # a client of Spark Connect marks the environment, and the processes started from it
    (folder := tmp_path / "job").mkdir()
    slow = folder / "python"
    slow.write_text(SLOW_PYTHON.format(folder=folder, python=sys.executable))
    slow.chmod(0o755)
    process = start(folder, asked, "local-cluster[2,1,1024]", PYSPARK_PYTHON=str(slow))
    try:
        wait_until(lambda: list(folder.glob("worker-*")), lambda: process.poll() is None)
        (first, *_) = folder.glob("worker-*")
        os.kill(executor_of(int(first.name.removeprefix("worker-"))), signal.SIGKILL)
        (folder / "open").touch()
        assert process.wait(300) == 2, (folder / "stderr").read_text()
    finally:
        (folder / "open").touch()
        if process.poll() is None:
            process.terminate()
            process.wait()
    agrees(folder, (folder / "stdout").read_text(), asked)
    assert len(list(folder.glob("worker-*"))) > 1
    assert "Lost executor" in (folder / "stderr").read_text()


@pytest.mark.spark
@PANDAS_3
@pytest.mark.usefixtures("session_here")
def test_errors_of_executors_speak_in_options(tmp_path: Path):
    nothing = {"query": ["q"], "item": ["a"], "distance": [None], "relevance": [1]}
    frame = pl.DataFrame(nothing, schema_overrides={"distance": pl.Float64})
    frame.write_parquet(tmp_path / "run.parquet")
    asked = f"evaluate {tmp_path}/run.parquet --metrics rr --truncated no".split()
    result = run("", *on_spark(tmp_path, asked, "local[2]"), code=2)
    assert "--null-distance not_retrieved counts such items as known" in result.stderr
    assert "null_distance=" not in result.stderr


def test_a_terminal_keeps_its_options_in_another_process():
    with click.Context(click.Command("c", params=[click.Option(["--judgements", "--qrels"])])):
        reader = pickle.loads(pickle.dumps(Terminal(columns="judgements").portable()))
    with speaking_to(reader):
        assert setting("judgements", "a.txt") == "--judgements a.txt"
        assert setting("qrels", "a.txt") == "--qrels a.txt"
        assert argument("columns") == "--judgements"
        assert setting("decimals", 2) == ""
    assert portable_reader() is None
