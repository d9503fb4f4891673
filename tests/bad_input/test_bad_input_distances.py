"""Rows 1 to 22 of the table of bad input: distances and scores."""

import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from bad_input import POLICIES, numbers, one_list, rankings, refused, scores, value
from catalogue_texts import TEXTS
from retrieval_report import RetrievalReportError, evaluate, read_rankings
from retrieval_report.contracts.errors import ColumnError, DataError, RetrievalReportWarning
from retrieval_report.lists import tie_groups

NAN, INFINITY = float("nan"), float("inf")


def ties(distance: Any, *, order: str = "distance") -> list[int]:
    """Number of the tie of every row, in the order of the rows."""
    frame = one_list(distance, [0] * len(distance), order=order)
    return tie_groups(frame).sort("row")["tie"].to_list()


@pytest.mark.parametrize("order", ["distance"])
def test_row_012_half_precision_is_warned_of_with_its_ties(order: str):
    frame = one_list(numbers([1.0, 1.0, 2.0, 3.0], pl.Float16), [0, 1, 0, 0], order=order)
    with pytest.warns(
        RetrievalReportWarning, match=rf"'{order}' is Float16: 50% of its rows are tied"
    ):
        found = value(frame, "rr")
    assert found == pytest.approx(0.75 if order == "distance" else (1 / 3 + 1 / 4) / 2, rel=1e-12)


def test_few_ties_of_half_precision_are_not_called_none():
    frame = one_list(numbers([*range(299), 298.0], pl.Float16), [1] * 300)
    with pytest.warns(RetrievalReportWarning, match="Float16: less than 1% of its rows are tied"):
        value(frame, "rr")


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.csv", "query,item,distance\nq,a,{}\nq,b,2\n"), ("a.json", '{{"q": {{"a": {}, "b": 2}}}}')],
)
def test_a_whole_number_longer_than_python_reads_is_refused(name: str, text: str, tmp_path: Path):
    """Python converts at most 4 300 digits, which ended in a traceback."""
    path = tmp_path / name
    path.write_text(text.format("1" * 4301))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RetrievalReportError, match=r"not among the numbers|JSON"):
            evaluate(read_rankings(path), judgements={"q": {"a": 1}}, metrics="rr")


def test_row_018_decimals_are_compared_exactly():
    digits = "0.12345678901234567890123456789"
    distance = numbers([Decimal(digits + end) for end in ("1", "", "0")], pl.Decimal(38, 30))
    assert float(distance[0]) == float(distance[1])
    assert ties(distance) == [2, 1, 1]
    assert scores(one_list(distance, [1, 0, 0]), "rr", policies=POLICIES) == [1 / 3] * 5
    assert value(one_list(distance, [1, 0, 0]), "rr", decimals=2) == pytest.approx(11 / 18)


def test_row_019_objects_and_bytes():
    frame = rankings(distance=numbers([object()] * 4, pl.Object))
    refused(frame, ColumnError, "'distance'", "Python objects")
    frame = rankings(distance=numbers([b"1"] * 4, pl.Binary))
    refused(frame, ColumnError, "'distance'", "Binary", "must be a number")


def test_row_019_decimals_that_are_no_numbers():
    frame = {
        "query": ["q", "q"],
        "item": ["a", "b"],
        "distance": [Decimal("NaN"), Decimal(1)],
        "relevance": [1, 0],
    }
    with pytest.raises((ColumnError, DataError), match="'distance'"):
        evaluate(frame)


def test_row_021_without_ties_every_policy_gives_the_same_bits():
    generator = np.random.default_rng(21)
    frame = pl.DataFrame(
        {
            "query": [f"q{row % 8}" for row in range(200)],
            "item": np.arange(200),
            "distance": generator.permutation(200) / 7,
            "relevance": generator.integers(0, 4, 200),
        }
    )
    found = evaluate(
        frame, metrics=TEXTS, cutoffs=[7, None], policies=POLICIES, shuffles=3, truncated="no"
    )
    wide = found.pivot("policy", index=["query", "metric", "cutoff"], values="value")
    for policy in ("naive", "shuffled"):
        assert (wide["expected"] == wide[policy]).all()
    for policy in ("best", "worst"):  # of a random denominator, by another sum
        np.testing.assert_allclose(wide[policy], wide["expected"], rtol=1e-15)
    assert (found.filter(pl.col("policy").is_in(["expected", "shuffled"]))["std"] == 0).all()


def test_row_022_distances_sorted_as_scores_are_warned_of():
    def lists(number: int, step: int, column: str = "distance"):
        rows = [
            (f"q{query}", item, step * (item // 2), int(item == 0))
            for query in range(number)
            for item in range(6)
        ]
        return pl.DataFrame(rows, schema=["query", "item", column, "relevance"], orient="row")

    asked: Any = {"metrics": "ap@5", "truncated": "no"}
    with pytest.warns(
        RetrievalReportWarning,
        match="fall .* all of the first 10 lists, .* name the column 'score'",
    ):
        evaluate(lists(10, -1), **asked)
    evaluate(lists(9, -1), **asked)  # too few to tell
    evaluate(lists(10, -1, "score"), **asked)


@pytest.mark.parametrize("narrow", [np.float16, np.float32])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("form", ["columns", "rows", "nested"])
def test_numbers_of_two_precisions_in_one_list_are_refused(narrow: type, first: bool, form: str):
    scores = [narrow(0.1), 0.5] if first else [0.5, narrow(0.1)]
    rankings: object = {"query": ["q", "q"], "item": ["a", "b"], "score": scores}
    if form == "rows":
        rankings = [
            {"query": "q", "item": i, "score": x} for i, x in zip("ab", scores, strict=True)
        ]
    elif form == "nested":
        rankings = {"q": dict(zip("ab", scores, strict=True))}
    with pytest.raises(ColumnError, match=r"'score' .*mixes float(16|32) and float64"):
        evaluate(rankings, judgements={"q": {"a": 1}})
