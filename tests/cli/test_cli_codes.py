"""`retrieval-report codes`, on files."""

from pathlib import Path

import numpy as np
import polars as pl

from commands import run


def test_codes_in_several_files_are_scored_as_one_collection(tmp_path: Path):
    generator = np.random.default_rng(0)
    queries, items = generator.choice([-1, 1], (5, 16)), generator.choice([-1, 1], (40, 16))
    labels, own = generator.integers(0, 3, 40), generator.integers(0, 3, 5)
    np.savez(tmp_path / "q.npz", codes=queries, labels=own)
    np.savez(tmp_path / "whole.npz", codes=items, labels=labels)
    np.savez(tmp_path / "a.npz", codes=items[:30], labels=labels[:30])
    np.savez(tmp_path / "b.npz", codes=items[30:], labels=labels[30:])

    def summary_of(*files: str):
        paths = [str(tmp_path / name) for name in files]
        result = run(f"codes --metrics ap@10 --out {tmp_path}/out", *paths)
        assert "ap@10" in result.output
        assert "within a radius" in result.output
        return pl.read_csv(tmp_path / "out/summary.csv")

    assert summary_of("q.npz", "a.npz", "b.npz").equals(summary_of("q.npz", "whole.npz"))
    assert summary_of("q.npz", "a.npz", "b.npz")["model"].unique().to_list() == ["q"]
    assert pl.read_parquet(tmp_path / "out/counts.parquet")["count"].sum() == 200


def test_it_says_why_there_is_no_radius_table(tmp_path: Path):
    codes, labels = np.arange(16, dtype=np.uint8).reshape(4, 4) % 2, np.array([0, 1, 0, 1])
    for name in ("q.npz", "i.npz"):
        np.savez(tmp_path / name, codes=codes, labels=labels)
    asked = "--metrics rr@1 --depth 3"
    result = run(f"codes {tmp_path}/q.npz {tmp_path}/i.npz {asked} --out {tmp_path}/out")
    reason = "with --depth 3, items within a radius may be missing"
    assert f"\nNo radius table: {reason}.\n" in result.output
    assert not (tmp_path / "out/radius.csv").exists()


def test_queries_among_the_items_have_to_be_left_out(tmp_path: Path):
    np.savez(tmp_path / "q.npz", codes=np.eye(4, dtype=np.uint8), labels=[0, 1, 0, 1])
    call = f"codes {tmp_path}/q.npz {tmp_path}/q.npz --metrics precision@1"
    assert "its own nearest; --exclude-self leaves it out of its list" in run(call, code=2).output
    assert "precision@1" in run(f"{call} --exclude-self").output
