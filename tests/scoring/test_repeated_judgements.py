"""Judgements that repeat: the same grade twice is one judgement, of different grades the caller
chooses, on every face and engine.
"""

from pathlib import Path

import polars as pl
import pytest

import retrieval_report as rr
from commands import run
from retrieval_report.contracts.errors import DataError

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


def test_different_grades_are_refused_with_both_values_and_the_choice(tmp_path: Path):
    with pytest.raises(DataError) as error:
        rr.evaluate(RUN, judgements=DIFFERENT)
    assert str(error.value) == (
        "judgements: 1 item with different grades in one query, first item 'a' of query 'q': 1 and "
        "4; repeated_judgements='highest' or 'mean' decides"
    )
    qrels, file = tmp_path / "qrels.txt", tmp_path / "m.run"
    qrels.write_text("q 0 a 1\nq 0 b 2\nq 0 a 4\n")
    file.write_text("q Q0 a 1 3 m\nq Q0 b 2 2 m\nq Q0 c 3 1 m\n")
    words = f"evaluate {file} --qrels {qrels} --measures dcg@3 --truncated no"
    refused = run(words, code=2)
    assert "1 and 4; --repeated-judgements highest or mean decides" in refused.stderr
    scored = run(f"{words} --repeated-judgements mean")
    assert f"{DCG['mean']:.4f}" in scored.output


def test_grades_in_the_place_of_items_are_suspected_and_few_are_named():
    swapped = {"query": ["q"] * 9, "item": ["1"] * 5 + ["0"] * 4, "relevance": range(100, 109)}
    with pytest.raises(DataError) as error:
        rr.evaluate(RUN, judgements=pl.DataFrame(swapped))
    assert str(error.value) == (
        "judgements: 2 items with different grades in one query, first item '1' of query 'q': 100 and "
        "101 and 102 and 103 and 1 more; there are more grades than items: are the two columns swapped?"
    )
