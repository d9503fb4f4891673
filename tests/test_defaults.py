"""The default measures: four, the first the headline, the same wherever nothing else is asked
for.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import records
import retrieval_report as rr
from commands import run
from made_reports import made_rankings
from retrieval_report.report import report_contents

USUAL = [("ndcg", 10), ("precision", 10), ("recall", 10), ("ap", None)]
RANKINGS = made_rankings(("fine", "coarse"), queries=3)
BINARY = RANKINGS.with_columns(pl.col("relevance").clip(upper_bound=1))


def measures_in(frame: pl.DataFrame) -> list[tuple[str, int | None]]:
    return frame.select("metric", "cutoff").unique(maintain_order=True).rows()


FACES: dict[str, Callable[[pl.DataFrame], pl.DataFrame]] = {
    "evaluate": rr.evaluate,
    "shuffled_means": lambda rows: rr.shuffled_means(rows, shuffles=2),
    "audit": lambda rows: rr.audit(rows, systems="ranx"),
    "like": lambda rows: rr.systems.evaluate_like(rows, "ranx"),
    "Study": lambda rows: rr.Study(rows, shuffles=2).scores,
    "report": lambda rows: report_contents(rows, shuffles=2).summary,
}


@pytest.mark.parametrize("rows", [BINARY, RANKINGS], ids=["binary", "graded"])
@pytest.mark.parametrize("face", FACES)
def test_four_measures_are_the_default(face: str, rows: pl.DataFrame):
    found = measures_in(FACES[face](rows))
    assert sorted(found, key=USUAL.index) == USUAL
    assert found == USUAL or face == "audit"  # which follows the order of the system's calls


def test_the_first_is_the_headline():
    assert report_contents(RANKINGS, shuffles=2).measure == rr.Study(RANKINGS).measure == "ndcg@10"
    assert (
        report_contents(RANKINGS, metrics="ap", cutoffs=[1, 5, None], shuffles=2).measure == "ap@1"
    )
    data = records.OpenedData("made", rr.Study(RANKINGS))
    assert data.start.measure == "ndcg@10"
    assert tuple(USUAL) == records.MEASURES


def test_the_default_on_disk_and_in_commands(tmp_path: Path):
    rows, out = str(tmp_path / "rows.parquet"), tmp_path / "scores.parquet"
    RANKINGS.write_parquet(rows)
    assert measures_in(pl.read_parquet(rr.evaluate_to(out, rows))) == USUAL
    for command in ("evaluate", "leaderboard", "compare", "audit"):
        result = run(f"{command} {rows} --json")
        [frame] = [
            part
            for name, part in json.loads(result.stdout).items()
            if name in ("summary", "leaderboard", "comparison", "audit")
        ]
        assert {(row["metric"], row["cutoff"]) for row in frame} == set(USUAL), command


def test_cutoffs_alone_give_the_four_metrics_at_these_and_a_metric_alone_the_whole_list():
    asked: Any = {"policies": "expected"}
    assert measures_in(rr.evaluate(RANKINGS, cutoffs=[2, "all"], **asked)) == [
        (metric, cutoff) for metric, _ in USUAL for cutoff in (2, None)
    ]
    for text in ("ap, rr", "ap, rr@all"):  # whether or not another measure has a cutoff
        assert measures_in(rr.evaluate(RANKINGS, metrics=text, **asked)) == [
            ("ap", None),
            ("rr", None),
        ]
        assert rr.Study(RANKINGS, text).measures == (("ap", None), ("rr", None))
