"""`evaluate --engine disk`: the numbers of the memory engine, from Parquet, part by part."""

import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from commands import run
from retrieval_report.engines import disk as stream_scores

ASKED = "--metrics precision,ap,r_precision,ap@2 --cutoffs 1,all --policies worst,best,expected"


def rankings(models: int = 2) -> pl.DataFrame:
    rows = [
        (
            f"m{models - model}",
            f"q{query}",
            f"i{item}",
            item * (model + query) % 4,
            (query + item) % 3,
        )
        for model in range(models)
        for query in range(12)
        for item in range(9)
        if (query, model) != (3, 0)
    ]
    return pl.DataFrame(
        rows, schema=["model", "query", "item", "distance", "relevance"], orient="row"
    )


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stream_scores, "ROWS_PER_PART", 40)
    rankings().write_parquet(tmp_path / "rankings.parquet")
    return tmp_path / "rankings.parquet"


def test_both_engines_print_and_write_the_same(tmp_path: Path, file: Path):
    queries = tmp_path / "queries.csv"
    queries.write_text("query,weight\n" + "".join(f"q{query},{query + 1}\n" for query in range(12)))
    asked = f"evaluate {file} {ASKED} --queries {queries} --average weighted --out {tmp_path}"
    memory = run(f"{asked}/memory", code=2)
    disk = run(f"{asked}/disk --engine disk", code=2)
    # One list is missing.
    table, _, written = memory.stdout.rpartition("\n\n")
    assert disk.stdout.startswith(table + "\n\n")
    assert written.count("Wrote") == 3
    names = "scores.parquet", "summary.csv", "health.csv"
    assert disk.stdout.endswith("".join(f"Wrote {tmp_path}/disk/{name}\n" for name in names))
    assert (tmp_path / "disk/summary.csv").read_text() == (
        tmp_path / "memory/summary.csv"
    ).read_text()
    scores = pl.read_parquet(tmp_path / "disk/scores.parquet").sort(
        "model", "query", maintain_order=True
    )
    assert_frame_equal(scores, pl.read_csv(tmp_path / "memory/scores.csv"), check_exact=True)
    assert {path.name for path in (tmp_path / "disk").iterdir()} == {*names}


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_no_rows(tmp_path: Path, engine: str):
    file = tmp_path / "rankings.parquet"
    rankings().clear().write_parquet(file)
    result = run(f"evaluate {file} --engine {engine} --out {tmp_path}/out", code=2)
    assert result.stderr == f"Error: {file}: no rows\n"
    assert list(tmp_path.iterdir()) == [file]


KILLED = """
import os, signal, sys
from retrieval_report.engines import summary
from retrieval_report.cli import cli

summary.with_bounds = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
cli(sys.argv[1:])
"""


def test_row_099_a_kill_leaves_no_new_scores_beside_an_old_summary(tmp_path: Path, file: Path):
    out = tmp_path / "out"
    words = f"evaluate {file} {ASKED} --engine disk --out {out}"
    run(words, code=2)
    old = {path.name: path.read_bytes() for path in out.iterdir()}
    rankings().with_columns(distance=-pl.col("distance")).write_parquet(file)
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, *words.split()], check=False, capture_output=True
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    assert {path.name: path.read_bytes() for path in out.iterdir() if path.is_file()} == old


def test_what_the_average_lacks_is_told_before_the_work(tmp_path: Path, file: Path):
    result = run(f"evaluate {file} --engine disk --average macro --out {tmp_path}/out", code=2)
    assert "needs queries with a column 'label'" in result.stderr
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("engines", [("memory", "disk")])
def test_scores_of_an_earlier_run_by_the_other_engine_do_not_stay_beside_new_ones(
    tmp_path: Path, file: Path, engines: tuple[str, str]
):
    for engine in engines:
        run(f"evaluate {file} {ASKED} --out {tmp_path}/out --engine {engine}", code=2)
    kind = {"memory": "csv", "disk": "parquet"}[engines[1]]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "health.csv",
        f"scores.{kind}",
        "summary.csv",
    ]
