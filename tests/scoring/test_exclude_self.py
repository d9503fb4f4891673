"""Items whose id is the query's own leave its list and its judgements, in every function."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from retrieval_report.engines.disk import evaluate_to

MEASURES = "ndcg, ap, rr, recall, bpref, err"
CUTOFFS = (1, 3, None)
EVERY: Any = {
    "measures": MEASURES,
    "cutoffs": CUTOFFS,
    "policies": ("expected", "naive", "shuffled", "best", "worst"),
    "shuffles": 3,
}
KEYS = ["query", "item"]


def made(dtype: Any = pl.String, seed: int = 0) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Lists of two models in which the query is an item, most often nearest; and judgements."""
    generator = np.random.default_rng(seed)
    rows = [
        (model, query, item, 0 if item == query else int(generator.integers(0, 4)))
        for model in "ab"
        for query in range(9)
        for item in generator.permutation(12)[:8].tolist()
    ]
    frame = pl.DataFrame(rows, ["model", "query", "item", "distance"], orient="row")
    judged = frame.select(KEYS).unique(maintain_order=True)
    # The largest grade is that of own items alone, so that it must not count.
    grade = pl.when(pl.col("query") == pl.col("item")).then(4)
    judged = judged.with_columns(
        relevance=grade.otherwise((pl.col("item") * 5 + pl.col("query")) % 4)
    )
    types = dict.fromkeys(KEYS, dtype)
    return frame.cast(types), judged.cast(types)


def by_hand(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(pl.col("query") != pl.col("item"))


@pytest.mark.parametrize("dtype", [pl.String, pl.UInt16])
@pytest.mark.parametrize("truncated", ["auto", "no"])
@pytest.mark.parametrize("with_judgements", [True, False])
def test_scores_are_those_of_frames_without_own_items(
    dtype: Any, truncated: str, with_judgements: bool
):
    rows, judged = made(dtype)
    how: Any = {**EVERY, "truncated": truncated}
    if with_judgements:
        wanted = rr.evaluate(by_hand(rows), judgements=by_hand(judged), **how)
        found = rr.evaluate(rows, judgements=judged, exclude_self=True, **how)
    else:
        rows = rows.join(judged, on=KEYS, maintain_order="left")
        wanted = rr.evaluate(by_hand(rows), **how)
        found = rr.evaluate(rows, exclude_self=True, **how)
    assert_frame_equal(found, wanted, check_exact=True)
    assert not found.equals(rr.evaluate(rows, judgements=judged, **how))


@pytest.mark.parametrize(("truncated", "with_judgements"), [("auto", True), ("no", False)])
def test_parts_on_disk_have_the_same_bits(tmp_path: Path, truncated: str, with_judgements: bool):
    rows, judged = made()
    how: Any = {**EVERY, "truncated": truncated, "exclude_self": True}
    if with_judgements:
        how["judgements"] = judged
    else:
        rows = rows.join(judged, on=KEYS, maintain_order="left")
    rows.write_parquet(tmp_path / "rows.parquet")
    out = evaluate_to(
        tmp_path / "scores.parquet", tmp_path / "rows.parquet", rows_per_part=40, **how
    )
    keys = ["model", "query", "metric", "cutoff", "policy"]
    parts, whole = (frame.sort(keys) for frame in (pl.read_parquet(out), rr.evaluate(rows, **how)))
    assert_frame_equal(parts, whole, check_exact=True)


def test_ids_of_two_kinds_and_masks():
    rows, judged = made(pl.Int64)
    as_text = rows.with_columns(pl.col("query").cast(pl.String))
    how: Any = {"measures": "ap", "truncated": "no", "policies": "expected"}
    how["exclude_self"] = True
    judged_text = judged.with_columns(pl.col("query").cast(pl.String))
    one = rr.evaluate(rows, judgements=judged, **how)
    other = rr.evaluate(as_text, judgements=judged_text, **how)
    assert one["value"].to_list() == other["value"].to_list()
