"""Rows 1 to 22 of the table of bad input: distances and scores."""

from __future__ import annotations

import datetime as dt
import warnings
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from bad_input import LAST, POLICIES, numbers, one_list, rankings, refused, scores, value
from catalogue_texts import TEXTS
from retrieval_report import RetrievalReportError, count_ties, evaluate, read_rankings
from retrieval_report.contracts.errors import ColumnError, DataError, RetrievalReportWarning
from retrieval_report.lists import tie_groups

FLOATS = (pl.Float32, pl.Float64)
SIGNED = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128)
UNSIGNED = (pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64, pl.UInt128)
NAN, INFINITY = float("nan"), float("inf")


def as_score(distance: pl.Series) -> dict[str, Any]:
    return {"distance": None, "score": distance}


def ties(distance: Any, *, order: str = "distance") -> list[int]:
    """Number of the tie of every row, in the order of the rows."""
    frame = one_list(distance, [0] * len(distance), order=order)
    return tie_groups(frame).sort("row")["tie"].to_list()


@pytest.mark.parametrize("dtype", FLOATS)
def test_row_001_nan_distance(dtype: Any) -> None:
    bad = numbers([0.1, 0.2, 0.1, NAN], dtype)
    refused(rankings(distance=bad), DataError, "'distance'", "1 NaN", *LAST)


@pytest.mark.parametrize("dtype", [*FLOATS, pl.Int64, pl.UInt8])
def test_row_002_null_distance(dtype: Any) -> None:
    frame = rankings(distance=numbers([1, 2, 1, None], dtype))
    refused(frame, DataError, "'distance'", "1 null", *LAST, "null_distance='not_retrieved'")
    refused(
        rankings(**as_score(numbers([None, 2, 1, None], dtype))),
        DataError,
        "'score'",
        "2 null",
        "'q1'",
        "'a'",
    )


@pytest.mark.parametrize("policy", POLICIES)
def test_row_002_null_distance_as_not_retrieved(policy: str) -> None:
    frame = one_list([1.0, 1.0, None, None], [1, 1, 1, 0])
    found = evaluate(
        frame,
        metrics=["recall", "precision", "ap", "rr", "ndcg", "ndcg(ideal=list)"],
        cutoffs=2,
        policies=policy,
        null_distance="not_retrieved",
        truncated="no",
        shuffles=3,
    )
    assert found.select("items", "n_relevant").unique().rows() == [(2, 3)]
    assert found["value"].to_list() == pytest.approx([2 / 3, 1, 2 / 3, 1, 1, 1], rel=1e-12)


@pytest.mark.parametrize("dtype", FLOATS)
def test_row_003_infinite_distance(dtype: Any) -> None:
    bad = numbers([0.1, 0.2, 0.1, INFINITY], dtype)
    refused(rankings(distance=bad), DataError, "'distance'", "1 infinite", *LAST, "FAISS")


@pytest.mark.parametrize("dtype", FLOATS)
def test_row_004_minus_infinity(dtype: Any) -> None:
    frame = rankings(distance=numbers([0.1, 0.2, -INFINITY, -INFINITY], dtype))
    refused(frame, DataError, "'distance'", "2 infinite", "'itq'", "'q2'", "'a'")


@pytest.mark.parametrize("dtype", FLOATS)
def test_row_005_minus_zero_ties_with_zero(dtype: Any) -> None:
    for zeros in ([-0.0, 0.0, 1.0], [0.0, -0.0, 1.0]):
        distance = numbers(zeros, dtype)
        assert ties(distance) == [1, 1, 2]
        assert ties(distance, order="score") == [2, 2, 1]
        frame = one_list(distance, [0, 1, 0])
        assert value(count_ties(frame), "rr") == value(frame, "rr") == 0.75


def test_row_005_rounding_makes_no_second_zero() -> None:
    assert value(one_list([-0.04, 0.04], [0, 1]), "rr", decimals=1) == 0.75


def test_row_006_denormals_are_not_flushed() -> None:
    assert ties([0.0, 5e-324, 1e-323]) == [1, 2, 3]
    assert ties(numbers([1e-45, 0.0], pl.Float32)) == [2, 1]
    assert scores(one_list([5e-324, 0.0], [1, 0]), "rr", policies=POLICIES) == [0.5] * 5


def test_row_007_negative_distances_only_order() -> None:
    relevance, names = [1, 0, 0, 0, 1], ["ap", "ndcg", "rr"]
    frame = one_list([0.0, -4.8e-7, 1.0, -2.0, -4.8e-7], relevance)
    assert ties(frame["distance"]) == [3, 2, 4, 1, 2]
    assert scores(one_list([2, 1, 3, 0, 1], relevance), names) == scores(frame, names)


def test_row_008_near_ties_differ_unless_rounded() -> None:
    frame = one_list([0.5 + 1e-12, 0.5], [1, 0])
    assert scores(frame, "rr", policies=POLICIES) == [0.5] * 5
    assert (value(frame, "rr", decimals=9), value(frame, "rr", decimals=13)) == (0.75, 0.5)


def test_row_008_rounding_never_chains() -> None:
    distance = [
        measure / 10 for measure in range(10)
    ]  # each is within 0.1 of the next, the ends are not
    assert value(one_list(distance, [0] * 9 + [1]), "rr", decimals=1) == pytest.approx(0.1)


def test_row_009_float32_stays_float32() -> None:
    frame = one_list(numbers([0.1, 0.1, 0.3], pl.Float32), [0, 1, 0])
    assert count_ties(frame).schema["distance"] == tie_groups(frame).schema["distance"]
    assert value(frame, "rr") == 0.75
    next_one = np.nextafter(np.float32(0.1), np.float32(1))
    assert ties(numbers([next_one, np.float32(0.1)], pl.Float32)) == [2, 1]


def test_row_009_a_threshold_is_compared_in_float32() -> None:
    frame = one_list(numbers([0.1, 0.2], pl.Float32), [1, 1])  # float32's 0.1 is above float64's
    assert value(frame, "precision", distance_threshold=0.1) == 0.5
    assert value(frame, "precision", distance_threshold=0.2) == 1.0


def test_row_011_float64_is_never_downcast() -> None:
    close = [0.1 + 1e-12, 0.1]
    assert np.float32(close[0]) == np.float32(close[1])
    assert ties(close) == [2, 1]
    assert count_ties(one_list(close, [1, 1]))["count"].to_list() == [1, 1]


@pytest.mark.parametrize("order", ["distance"])
def test_row_012_half_precision_is_warned_of_with_its_ties(order: str) -> None:
    frame = one_list(numbers([1.0, 1.0, 2.0, 3.0], pl.Float16), [0, 1, 0, 0], order=order)
    with pytest.warns(
        RetrievalReportWarning, match=rf"'{order}' is Float16: 50% of its rows are tied"
    ):
        found = value(frame, "rr")
    assert found == pytest.approx(0.75 if order == "distance" else (1 / 3 + 1 / 4) / 2, rel=1e-12)


@pytest.mark.parametrize("dtype", SIGNED)
def test_row_013_signed_integers_over_their_whole_range(dtype: Any) -> None:
    top = 2 ** (int(str(dtype).removeprefix("Int")) - 1)
    extremes = numbers([-top, top - 1, 0, -1, top - 2], dtype)
    assert ties(extremes) == [1, 5, 3, 2, 4]
    assert ties(extremes, order="score") == [5, 1, 3, 4, 2]
    nearest = one_list(extremes, [1, 0, 0, 0, 0])
    assert scores(nearest, "rr", policies=POLICIES) == [1.0] * 5
    assert scores(nearest.rename({"distance": "score"}), "rr", policies=POLICIES) == [0.2] * 5


NAMES = ("a.csv", "a.run", "a.jsonl")


def text_of(name: str, values: Sequence[object]) -> str:
    """A list of one query whose first item alone is relevant, and whose order is ``values``."""
    rows = list(enumerate(values))
    if name == "a.csv":
        lines = [f"q,i{item},{value}," for item, value in rows]
        return "\n".join(["query,item,score,note", *lines, ""])
    if name == "a.run":
        return "".join(f"q Q0 i{item} 1 {value} t\n" for item, value in rows)
    if name == "a.jsonl":
        return "".join(f'{{"query": "q", "item": "i{i}", "score": {v}}}\n' for i, v in rows)
    found = ", ".join(f'{{"corpus_id": "i{item}", "score": {value}}}' for item, value in rows)
    return f'{{"query_id": "q", "results": [{found}]}}\n'


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "values",
    [
        [2**63 + 4, 2**63 + 3, 2**63 + 2, 2**63 + 1],
        [2**53 + 2, 2**53 + 1, 2**53],
        [2**100 + 1, 2**100, -1],
    ],
)
def test_row_013_large_integers_of_text_files_do_not_merge(
    tmp_path: Path, name: str, values: list[int]
) -> None:
    (tmp_path / name).write_text(text_of(name, values))
    judgements = {"q": {f"i{item}": int(item == 0) for item in range(len(values))}}
    rows = read_rankings(tmp_path / name)
    assert rows["score"].to_list() == values
    assert scores(rows, "rr", judgements=judgements) == [1.0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "values", [[2**63 + 1, 0.5], [2**53 + 1, "1.0"], [f"{2**53 + 1}.0", 1], [2**63 + 1, 1e3]]
)
def test_row_013_large_integers_among_fractions_are_refused(
    tmp_path: Path, name: str, values: list[object]
) -> None:
    (tmp_path / name).write_text(text_of(name, values))
    with pytest.raises(DataError, match=f"line [12]: .*'{values[0]}' is not among the numbers of"):
        read_rankings(tmp_path / name)


def test_row_013_integers_too_long_for_128_bits_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text_of("a.csv", [10**40 + 1, 10**40]))
    with pytest.raises(DataError, match="not all of its values are whole numbers of 128 bits"):
        read_rankings(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text(text_of("a.csv", ["1" * 5000, 1]))
    with pytest.raises(DataError, match="would tie with its neighbours"):
        read_rankings(tmp_path / "a.csv")


@pytest.mark.parametrize("dtype", UNSIGNED)
def test_row_014_unsigned_integers_are_not_negated(dtype: Any) -> None:
    bits = int(str(dtype).removeprefix("UInt"))
    extremes = numbers([0, 2**bits - 1, 1, 2 ** (bits - 1)], dtype)
    assert ties(extremes) == [1, 4, 2, 3]
    assert ties(extremes, order="score") == [4, 1, 3, 2]
    farthest = one_list(extremes, [1, 0, 0, 0], order="score")
    assert scores(farthest, "rr", policies=POLICIES) == [0.25] * 5


def test_row_015_int8_minus_128() -> None:
    frame = one_list(numbers([-128, 127, -128], pl.Int8), [1, 0, 0])
    assert value(frame, "rr") == 0.75
    assert value(frame.rename({"distance": "score"}), "rr") == pytest.approx(5 / 12)


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.csv", "query,item,distance\nq,a,{}\nq,b,2\n"), ("a.json", '{{"q": {{"a": {}, "b": 2}}}}')],
)
def test_a_whole_number_longer_than_python_reads_is_refused(
    name: str, text: str, tmp_path: Path
) -> None:
    """Python converts at most 4 300 digits, which ended in a traceback."""
    path = tmp_path / name
    path.write_text(text.format("1" * 4301))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RetrievalReportError, match=r"not among the numbers|JSON"):
            evaluate(read_rankings(path), judgements={"q": {"a": 1}}, metrics="rr")


def test_row_016_boolean_distance() -> None:
    frame = rankings(distance=[True, False, True, False])
    refused(frame, ColumnError, "'distance'", "Boolean", "must be a number", "swapped")


def test_row_017_text_distance() -> None:
    frame = rankings(distance=["10", "9", "1e1", "9"])
    refused(frame, ColumnError, "'distance'", "String", "must be a number", "never cast")
    refused(
        rankings(distance=None, score=["10", "9", "1e1", "9"]), ColumnError, "'score'", "String"
    )


def test_row_018_decimals_are_compared_exactly() -> None:
    digits = "0.12345678901234567890123456789"
    distance = numbers([Decimal(digits + end) for end in ("1", "", "0")], pl.Decimal(38, 30))
    assert float(distance[0]) == float(distance[1])
    assert ties(distance) == [2, 1, 1]
    assert scores(one_list(distance, [1, 0, 0]), "rr", policies=POLICIES) == [1 / 3] * 5
    assert value(one_list(distance, [1, 0, 0]), "rr", decimals=2) == pytest.approx(11 / 18)


@pytest.mark.parametrize(
    "distance",
    [
        numbers([dt.date(2020, 1, 1)] * 4, pl.Date),
        numbers([[1.0]] * 4, pl.List(pl.Float64)),
        numbers([{"a": 1.0}] * 4, pl.Struct({"a": pl.Float64})),
        numbers(["1"] * 4, pl.Categorical),
        numbers([b"1"] * 4, pl.Binary),
        numbers([None] * 4, pl.Null),
    ],
    ids=lambda series: str(series.dtype),
)
def test_row_019_distances_of_other_types(distance: pl.Series) -> None:
    refused(
        rankings(distance=distance),
        ColumnError,
        "'distance'",
        type(distance.dtype).__name__,
        "must be a number",
    )


def test_row_019_objects() -> None:
    frame = rankings(distance=numbers([object()] * 4, pl.Object))
    refused(frame, ColumnError, "'distance'", "Python objects")


def test_row_019_decimals_that_are_no_numbers() -> None:
    frame = {
        "query": ["q", "q"],
        "item": ["a", "b"],
        "distance": [Decimal("NaN"), Decimal(1)],
        "relevance": [1, 0],
    }
    with pytest.raises((ColumnError, DataError), match="'distance'"):
        evaluate(frame)


def test_row_020_all_tied() -> None:
    frame = one_list([3] * 40, [1] * 9 + [0] * 31)
    found = scores(frame, ["precision", "recall"], 2)  # of others, see property 4
    assert found == pytest.approx([9 / 40, 2 / 40], rel=1e-12)
    assert tie_groups(frame).select("tie_size", "tie_relevant").unique().rows() == [(40, 9)]


def test_row_021_without_ties_every_policy_gives_the_same_bits() -> None:
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


def test_row_022_scores_are_larger_is_nearer() -> None:
    near_first = one_list([0.9, 0.5, 0.5, 0.1], [1, 0, 1, 0], order="score")
    taken_for_distances = near_first.rename({"score": "distance"})
    assert value(taken_for_distances, "rr") == pytest.approx((1 / 2 + 1 / 3) / 2, rel=1e-12)
    assert value(near_first, "rr") == 1.0


def test_row_022_both_a_score_and_a_distance() -> None:
    refused(
        rankings(score=[1, 2, 3, 4]), ColumnError, "'distance'", "'score'", "choose with columns="
    )
