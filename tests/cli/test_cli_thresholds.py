"""`retrieval-report thresholds`, and `Study.thresholds`."""

from pathlib import Path

import polars as pl

import retrieval_report as rr
from commands import run
from retrieval_report.study.samples import sample_folder


def test_it_prints_and_writes_what_the_function_returns(tmp_path: Path):
    given = sample_folder() / "digits" / "rankings.parquet"
    asked = "--k 5 --metric precision --at-least 0.9 --risk 0.1"
    result = run(f"thresholds {given} {asked} --out {tmp_path}")
    found = rr.thresholds(given, k=5)
    frames = {
        "thresholds": found.table,
        "threshold_areas": found.areas,
        "calibration": found.calibrate("precision", 0.9),
        "abstention": found.abstain(0.1),
    }
    for name, frame in frames.items():
        written = pl.read_csv(tmp_path / f"{name}.csv", schema_overrides=frame.schema)
        assert written.equals(frame)
    assert "strictest" in result.output
    assert " ".join(result.output.split()).count("nearest-centroid 0.1000 971 ") == 1
    assert found.areas["all_pairs"].to_list() == [1000.0] * 13
    assert "answered" in result.output
    assert all(model in result.output for model in frames["calibration"]["model"])
