"""Judgements that repeat: the same grade twice is one judgement, of different grades the caller
chooses, on every face and engine.
"""

from pathlib import Path

import polars as pl
import pytest

import retrieval_report as rr

RUN = {"m": {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}}
DIFFERENT = pl.DataFrame({"query": ["q"] * 3, "item": ["a", "b", "a"], "relevance": [1, 2, 4]})
DCG = {"error": None, "highest": 4 + 2 / 1.584962500721156, "mean": 2.5 + 2 / 1.584962500721156}


@pytest.mark.parametrize("rule", ["highest", "mean"])
def test_of_different_grades_the_rule_counts(rule: str, tmp_path: Path):
    expected = pytest.approx(DCG[rule])
    given = {"judgements": DIFFERENT, "measures": "dcg@3", "repeated_judgements": rule}
    assert rr.evaluate(RUN, policies="expected", **given)["value"].item() == expected  # type: ignore[arg-type]
    pl.DataFrame({"query": "q", "item": ["a", "b", "c"], "score": [3.0, 2.0, 1.0]}).write_parquet(
        tmp_path / "m.parquet"
    )
    scores = rr.evaluate_to(
        tmp_path / "s.parquet",
        tmp_path / "m.parquet",
        policies="expected",
        **given,  # type: ignore[arg-type]
    )
    assert pl.read_parquet(scores)["value"].item() == expected
