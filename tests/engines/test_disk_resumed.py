"""An interrupted run continues where it stopped, and writes the same bytes as an uninterrupted
one.
"""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import retrieval_report as rr
from commands import run
from retrieval_report.cli import engines
from retrieval_report.engines import score_parts
from retrieval_report.scoring.run import score_runs
from stored_cuts import complete
from stored_frames import made, written

PARTS = 4
RUN = """
import sys
import retrieval_report as rr
rr.evaluate_to(sys.argv[1], sys.argv[2], rows_per_part=40, resume=sys.argv[3], truncated="no", metrics="ap")
"""


@pytest.fixture
def source(tmp_path: Path):
    """Rankings of several parts."""
    (tmp_path / "in").mkdir()
    return written(tmp_path / "in", [made().sample(fraction=1, shuffle=True, seed=1)])


def scored(out: Path, source: Path, kept: Path | None, **options: Any) -> bytes:
    given: Any = {
        "rows_per_part": 100,
        "policies": ("naive", "best"),
        "truncated": "no",
        **options,
    }
    return rr.evaluate_to(out / "scores.parquet", source, resume=kept, **given).read_bytes()


def numbers_scored(monkeypatch: pytest.MonkeyPatch, fails: int | None = None) -> list[int]:
    """The parts scored from now on, by their number; the scoring of one is interrupted."""
    seen: list[int] = []
    score = score_runs

    def counted(*given: Any):
        if isinstance(given[0][0].options.truncated, str):  # no rows, which try the arguments
            return score(*given)
        seen.append(len(seen))
        if len(seen) - 1 == fails:
            raise KeyboardInterrupt
        return score(*given)

    monkeypatch.setattr(score_parts, "score_runs", counted)
    return seen


@pytest.mark.parametrize("fails", [0, PARTS - 1])
def test_it_goes_on_after_the_last_part_that_was_finished(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch, fails: int
):
    expected, kept = scored(tmp_path, source, None), tmp_path / "kept"
    with monkeypatch.context() as patch:
        numbers_scored(patch, fails)
        with pytest.raises(KeyboardInterrupt):
            scored(tmp_path, source, kept)
    assert len(list(kept.glob("part-*.npz"))) == fails
    seen = numbers_scored(monkeypatch)
    assert scored(tmp_path, source, kept) == expected
    again = len(seen)
    assert scored(tmp_path, source, kept) == expected
    assert len(seen) == again > 0
    assert again + fails == len(list(kept.glob("part-*.npz")))


@pytest.mark.parametrize("fails", range(1, 8))
def test_it_goes_on_while_parts_that_decided_otherwise_are_scored_again(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch, fails: int
):
    """One part proves that lists were cut, so three of four are scored twice."""
    path = source / "part-0.parquet"
    complete(5, 1).sort("query", maintain_order=True).slice(0, 479).write_parquet(path)
    asked = {"truncated": "auto", "rows_per_part": 120}
    expected, kept = scored(tmp_path, source, None, **asked), tmp_path / "kept"
    with monkeypatch.context() as patch:
        numbers_scored(patch, fails - 1)
        with pytest.raises(KeyboardInterrupt):
            scored(tmp_path, source, kept, **asked)
    seen = numbers_scored(monkeypatch)
    assert scored(tmp_path, source, kept, **asked) == expected
    assert len(seen) == 7 - (fails - 1)


def test_a_warning_counts_the_lists_of_kept_parts_too(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
):
    known = {
        "metrics": "ndcg@3",
        "queries": made().select("query").unique().with_columns(n_relevant=50),
    }
    with pytest.warns(rr.RetrievalReportWarning, match="ndcg: for") as whole:
        scored(tmp_path, source, None, **known)
    assert len(whole) == 1
    with monkeypatch.context() as patch:
        numbers_scored(patch, 1)
        with pytest.raises(KeyboardInterrupt):
            scored(tmp_path, source, tmp_path / "kept", **known)
    for _ in range(2):  # one part was kept, and then all
        with pytest.warns(rr.RetrievalReportWarning, match="ndcg: for") as resumed:
            scored(tmp_path, source, tmp_path / "kept", **known)
        assert [str(warning.message) for warning in resumed] == [
            str(warning.message) for warning in whole
        ]


@pytest.mark.slow
def test_row_100_kills_at_any_moment_change_no_byte(tmp_path: Path, source: Path):
    draw = random.Random(18)
    files = [str(tmp_path / "scores.parquet"), str(source), str(tmp_path / "kept")]
    whole = [str(tmp_path / "whole.parquet"), str(source), str(tmp_path / "others")]
    subprocess.run([sys.executable, "-c", RUN, *whole], check=True)
    for wanted in (0, 1, 4):
        process = subprocess.Popen([sys.executable, "-c", RUN, *files])
        while process.poll() is None and len(list((tmp_path / "kept").glob("part-*.npz"))) < wanted:
            time.sleep(0.001)
        time.sleep(draw.uniform(0, 0.02))
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run([sys.executable, "-c", RUN, *files], check=True)
    assert (tmp_path / "scores.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert [
        path.name
        for path in (tmp_path / "kept").iterdir()
        if path.suffix not in (".npz", ".sha256", ".tmp")
    ] == []


CHANGES: dict[str, dict[str, Any]] = {
    "file": {},
    "policies": {"policies": ("best",)},
    "rows of the parts": {"rows_per_part": 50},
    "judgements": {"judgements": {"query": ["q"], "item": ["a"], "relevance": [1]}},
    "queries": {"queries": {"query": ["q00", "another"]}},
}


@pytest.mark.parametrize("name", CHANGES)
def test_parts_of_another_run_are_refused(tmp_path: Path, source: Path, name: str):
    kept = tmp_path / "kept"
    scored(tmp_path, source, kept)
    before = (tmp_path / "scores.parquet").read_bytes()
    if name == "file":
        path = source / "part-0.parquet"
        pl.read_parquet(path).with_columns(pl.col("distance") * 2).write_parquet(path)
    with pytest.raises(rr.OutputError, match=r"cannot resume from .* changed since"):
        scored(tmp_path, source, kept, **CHANGES[name])
    assert (tmp_path / "scores.parquet").read_bytes() == before


def test_what_is_no_folder_of_parts_or_no_file_is_refused(tmp_path: Path, source: Path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "mine.txt").write_text("mine")
    with pytest.raises(rr.OutputError, match="it has no finished parts of this run"):
        scored(tmp_path, source, other)
    with pytest.raises(rr.ParameterError, match="works only for rankings in files"):
        rr.evaluate_to(tmp_path / "scores.parquet", made(), resume=other)


def test_a_damaged_part_is_scored_again(tmp_path: Path, source: Path):
    kept = tmp_path / "kept"
    expected = scored(tmp_path, source, kept)
    first, second, *_ = sorted(kept.glob("part-*.npz"))
    first.write_bytes(first.read_bytes()[:100])
    data = bytearray(second.read_bytes())
    data[len(data) // 2] ^= 4
    second.write_bytes(data)
    assert scored(tmp_path, source, kept) == expected


def test_the_command_line_removes_the_parts_once_the_results_are_written(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
):
    words = f"evaluate {source} --engine disk --out {tmp_path}/out --resume --truncated=no"
    kept = tmp_path / "out" / "scores.parquet.parts"
    with monkeypatch.context() as patch:
        patch.setattr(engines, "write_files", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            run(words)
    assert sorted(path.name for path in kept.iterdir()) == ["part-000000.npz", "run.sha256"]
    run(words, code=2)  # 2 of 23 queries have no list
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "health.csv",
        "scores.parquet",
        "summary.csv",
    ]
    refused = run(f"evaluate {source} --resume", code=2)
    assert "--resume does not work with --engine memory" in refused.output
