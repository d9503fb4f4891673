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


LISTS = {
    name: {f"q{n}": {f"d{n}{item}": shift + item for item in range(6)} for n in range(8)}
    for name, shift in {"a": 0.5, "b": 1.0}.items()
}
ONCE = [(f"q{n}", f"d{n}{item}", int(item > 3)) for n in range(8) for item in range(6)]
SCHEMA = ["query", "item", "relevance"]


@pytest.mark.parametrize("rule", ["error", "highest", "mean"])
def test_no_verdict_rests_on_judgements_that_repeat_until_a_rule_is_chosen(rule: str):
    """The scores are those of the judgements given once."""
    once, twice = (pl.DataFrame(rows, SCHEMA, orient="row") for rows in (ONCE, ONCE + ONCE[:9]))
    plain = rr.Study(LISTS, "ap@3", judgements=once)
    study = rr.Study(LISTS, "ap@3", judgements=twice, repeated_judgements=rule)
    assert study.scores.equals(plain.scores)
    asked = rule == "error"
    assert (study.leaderboard["rank"].null_count() == 2) == asked
    noticed = (
        pytest.raises(rr.DataError, match="nothing is tested: 9 of 57 judgements have")
        if asked
        else pytest.warns(UserWarning, match="9 of 57 judgements have")
    )
    with noticed:
        rr.gate(
            {"a": LISTS["a"]},
            {"b": LISTS["b"]},
            measures="ap@3",
            margin=0.1,
            judgements=twice,
            repeated_judgements=rule,
        )
