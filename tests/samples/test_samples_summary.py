"""The two samples score what they scored when they were made; the exact values also by a second,
plain way.
"""

from pathlib import Path

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from retrieval_report.study.samples import SAMPLES, Sample, sample_folder

DATA = Path(__file__).parents[1] / "data"
POLICIES = ("naive", "expected", "worst", "best")
METRICS = {
    "digits": "precision@1, precision@10, ap(denominator=retrieved)@100, ndcg@10",
    "docs": "precision@1, rr@10, ndcg@10",
}


def summary_of(sample: Sample) -> pl.DataFrame:
    folder = sample_folder()
    scores = rr.evaluate(
        rr.read_rankings(folder / sample.rankings),
        judgements=None
        if sample.judgements is None
        else rr.read_judgements(folder / sample.judgements),
        queries=None if sample.queries is None else rr.read_queries(folder / sample.queries),
        metrics=METRICS[sample.name],
        policies=POLICIES,
        truncated=sample.truncated,
    )
    return rr.summarise(scores).select("model", "metric", "cutoff", "policy", "value", "tie_std")


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_summary_is_the_one_kept(sample: Sample):
    found = summary_of(sample)
    kept = pl.read_csv(DATA / f"summary_{sample.name}.csv", schema=found.schema)
    assert_frame_equal(found, kept, rel_tol=1e-12, abs_tol=1e-15)
