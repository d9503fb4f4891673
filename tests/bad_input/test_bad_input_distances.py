"""Rows 1 to 22 of the table of bad input: distances and scores."""

from __future__ import annotations

import datetime as dt
import math
import warnings
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

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
    refused(
        rankings(distance=numbers([0.1, 0.2, 0.1, NAN], dtype)),
        DataError,
        "'distance'",
        "1 NaN",
        *LAST,
    )
    refused(
        rankings(**as_score(numbers([0.1, 0.2, 0.1, NAN], dtype))),
        DataError,
        "'score'",
        "1 NaN",
        *LAST,
    )
    refused(
        rankings(distance=numbers([0.1, NAN, NAN, NAN], dtype)),
        DataError,
        "3 NaN",
        "'q1'",
        "'b'",
        "'itq'",
    )


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
        frame, metrics=["recall", "precision", "ap", "rr", "ndcg", "ndcg(ideal=list)"], cutoffs=2, policies=policy,
        null_distance="not_retrieved", truncated="no", shuffles=3,
    )  # fmt: skip
    assert found["items"].unique().to_list() == [2]
    assert found["n_relevant"].unique().to_list() == [3]
    assert found["value"].to_list() == pytest.approx([2 / 3, 1, 2 / 3, 1, 1, 1], rel=1e-12)
    deep = value(
        frame,
        "ndcg",
        None,
        null_distance="not_retrieved",
        truncated="no",
        policies=policy,
        shuffles=3,
    )
    discounts = [1, 1 / math.log2(3), 0.5]
    assert deep == pytest.approx(sum(discounts[:2]) / sum(discounts), rel=1e-12)


def test_row_002_a_list_of_which_nothing_is_retrieved_counts_zero() -> None:
    frame = rankings(distance=[0.1, 0.2, None, None])
    found = evaluate(
        frame, metrics="recall", cutoffs=None, policies="expected", null_distance="not_retrieved"
    )
    assert found.select("query", "value", "items", "n_relevant").rows() == [
        ("q1", 1.0, 2, 1),
        ("q2", 0.0, 0, 1),
    ]
    nothing = rankings(distance=numbers([None] * 4, pl.Float64))
    assert (
        scores(nothing, ["recall", "ndcg"], null_distance="not_retrieved", policies=POLICIES)
        == [0.0] * 20
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_row_003_infinite_distance(dtype: Any) -> None:
    frame = rankings(distance=numbers([0.1, 0.2, 0.1, INFINITY], dtype))
    refused(frame, DataError, "'distance'", "1 infinite", *LAST, "FAISS")
    refused(
        rankings(**as_score(numbers([0.1, 0.2, 0.1, INFINITY], dtype))),
        DataError,
        "'score'",
        "1 infinite",
        *LAST,
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_row_004_minus_infinity(dtype: Any) -> None:
    frame = rankings(distance=numbers([0.1, 0.2, -INFINITY, -INFINITY], dtype))
    refused(frame, DataError, "'distance'", "2 infinite", "'itq'", "'q2'", "'a'")


@pytest.mark.parametrize("order", ["distance", "score"])
@pytest.mark.parametrize("dtype", FLOATS)
def test_row_005_minus_zero_ties_with_zero(dtype: Any, order: str) -> None:
    for zeros in ([-0.0, 0.0, 1.0], [0.0, -0.0, 1.0]):
        distance = numbers(zeros, dtype)
        assert ties(distance, order=order) == ([1, 1, 2] if order == "distance" else [2, 2, 1])
        frame = one_list(distance, [0, 1, 0], order=order)
        exact = {"distance": Fraction(3, 4), "score": Fraction(5, 12)}[order]
        assert value(frame, "rr") == pytest.approx(float(exact), rel=1e-12)
        assert value(frame, "rr", policies="best") == {"distance": 1.0, "score": 0.5}[order]
        assert value(count_ties(frame), "rr") == value(frame, "rr")


def test_row_005_rounding_makes_no_second_zero() -> None:
    assert value(one_list([-0.04, 0.04], [0, 1]), "rr", decimals=1) == 0.75


def test_row_006_denormals_are_not_flushed() -> None:
    assert ties([0.0, 5e-324, 1e-323]) == [1, 2, 3]
    assert scores(one_list([5e-324, 0.0], [1, 0]), "rr", policies=POLICIES) == [0.5] * 5
    single = numbers([1e-45, 0.0], pl.Float32)
    assert ties(single) == [2, 1]
    assert scores(one_list(single, [1, 0]), "rr", policies=POLICIES) == [0.5] * 5


def test_row_007_negative_distances_only_order() -> None:
    relevance, names = [1, 0, 0, 0, 1], ["ap", "ndcg", "rr"]
    frame = one_list([0.0, -4.8e-7, 1.0, -2.0, -4.8e-7], relevance)
    assert ties(frame["distance"]) == [3, 2, 4, 1, 2]
    assert value(frame, "rr") == pytest.approx(
        float(Fraction(1, 2) * (Fraction(1, 2) + Fraction(1, 3))), rel=1e-12
    )
    for same_order in (
        [2, 1, 3, 0, 1],
        [-3, -4, -1, -9, -4],
        [1e300, 1e-300, 2e300, -1e300, 1e-300],
    ):
        assert scores(one_list(same_order, relevance), names) == scores(frame, names)


def test_row_008_near_ties_differ_unless_rounded() -> None:
    frame = one_list([0.5 + 1e-12, 0.5], [1, 0])
    assert scores(frame, "rr", policies=POLICIES) == [0.5] * 5
    assert value(frame, "rr", decimals=9) == 0.75
    assert value(frame, "rr", decimals=13) == 0.5
    neighbours = one_list([math.nextafter(0.3, 1), 0.3], [1, 0])
    assert value(neighbours, "rr") == 0.5
    assert value(neighbours, "rr", decimals=15) == 0.75


def test_row_008_rounding_never_chains() -> None:
    distance = [
        measure / 10 for measure in range(10)
    ]  # each is within 0.1 of the next, the ends are not
    assert value(one_list(distance, [0] * 9 + [1]), "rr", decimals=1) == pytest.approx(0.1)


def test_row_009_float32_stays_float32() -> None:
    single = numbers([0.1, 0.1, 0.3], pl.Float32)
    frame = one_list(single, [0, 1, 0])
    assert (
        count_ties(frame).schema["distance"] == tie_groups(frame).schema["distance"] == pl.Float32
    )
    assert value(frame, "rr") == 0.75
    assert_frame_equal(
        evaluate(frame), evaluate(frame.with_columns(pl.col("distance").cast(pl.Float64)))
    )
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
    assert scores(one_list(close, [1, 0]), "rr", policies=POLICIES) == [0.5] * 5
    assert count_ties(one_list(close, [1, 1]))["count"].to_list() == [1, 1]


@pytest.mark.parametrize("order", ["distance"])
def test_row_012_half_precision_is_warned_of_with_its_ties(order: str) -> None:
    frame = one_list(numbers([1.0, 1.0, 2.0, 3.0], pl.Float16), [0, 1, 0, 0], order=order)
    with pytest.warns(
        RetrievalReportWarning, match=rf"'{order}' is Float16: 50% of its rows are tied"
    ):
        found = value(frame, "rr")
    assert found == pytest.approx(0.75 if order == "distance" else (1 / 3 + 1 / 4) / 2, rel=1e-12)


@pytest.mark.parametrize("order", ["distance", "score"])
@pytest.mark.parametrize("dtype", SIGNED)
def test_row_013_signed_integers_over_their_whole_range(dtype: Any, order: str) -> None:
    bits = {"Int8": 8, "Int16": 16, "Int32": 32, "Int64": 64, "Int128": 128}[str(dtype)] - 1
    extremes = numbers([-(2**bits), 2**bits - 1, 0, -1, 2**bits - 2], dtype)
    assert ties(extremes, order=order) == (
        [1, 5, 3, 2, 4] if order == "distance" else [5, 1, 3, 4, 2]
    )
    measure = 5 if order == "distance" else 1
    assert (
        scores(one_list(extremes, [0, 1, 0, 0, 0], order=order), "rr", policies=POLICIES)
        == [1 / measure] * 5
    )
    measure = 1 if order == "distance" else 5
    assert (
        scores(one_list(extremes, [1, 0, 0, 0, 0], order=order), "rr", policies=POLICIES)
        == [1 / measure] * 5
    )


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt64, pl.Int128, pl.UInt128])
def test_row_013_integers_beyond_2_to_the_53_do_not_merge(dtype: Any) -> None:
    neighbours = numbers([2**53 + 1, 2**53], dtype)
    assert ties(neighbours) == [2, 1]
    assert scores(one_list(neighbours, [1, 0]), "rr", policies=POLICIES) == [0.5] * 5
    assert value(one_list(neighbours, [1, 0]), "rr", decimals=0) == 0.5


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


@pytest.mark.parametrize("name", NAMES)
def test_row_013_large_numbers_of_float64_stay(tmp_path: Path, name: str) -> None:
    values = [2.0**80, 1.5e300, 2**70, f"{2.0**60:.3f}", 0.25]
    (tmp_path / name).write_text(text_of(name, values))
    assert read_rankings(tmp_path / name)["score"].to_list() == [float(v) for v in values]  # type: ignore[arg-type]


def test_row_013_integers_too_long_for_128_bits_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text_of("a.csv", [10**40 + 1, 10**40]))
    with pytest.raises(DataError, match="not all of its values are whole numbers of 128 bits"):
        read_rankings(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text(text_of("a.csv", ["1" * 5000, 1]))
    with pytest.raises(DataError, match="would tie with its neighbours"):
        read_rankings(tmp_path / "a.csv")


@pytest.mark.parametrize("order", ["distance", "score"])
@pytest.mark.parametrize("dtype", UNSIGNED)
def test_row_014_unsigned_integers_are_not_negated(dtype: Any, order: str) -> None:
    bits = {"UInt8": 8, "UInt16": 16, "UInt32": 32, "UInt64": 64, "UInt128": 128}[str(dtype)]
    extremes = numbers([0, 2**bits - 1, 1, 2 ** (bits - 1)], dtype)
    assert ties(extremes, order=order) == ([1, 4, 2, 3] if order == "distance" else [4, 1, 3, 2])
    measure = 1 if order == "distance" else 4
    assert (
        scores(one_list(extremes, [1, 0, 0, 0], order=order), "rr", policies=POLICIES)
        == [1 / measure] * 5
    )


def test_row_015_int8_minus_128() -> None:
    frame = one_list(numbers([-128, 127, -128], pl.Int8), [1, 0, 0])
    assert value(frame, "rr") == 0.75
    assert value(frame.rename({"distance": "score"}), "rr") == pytest.approx(
        (1 / 2 + 1 / 3) / 2, rel=1e-12
    )
    assert count_ties(frame).schema["distance"] == pl.Int8


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
    close = [Decimal(digits + "1"), Decimal(digits), Decimal(digits + "0")]
    assert float(close[0]) == float(close[1])
    distance = numbers(close, pl.Decimal(38, 30))
    assert ties(distance) == [2, 1, 1]
    assert ties(distance, order="score") == [1, 2, 2]
    assert scores(one_list(distance, [1, 0, 0]), "rr", policies=POLICIES) == [1 / 3] * 5
    assert value(one_list(distance, [1, 0, 0]), "rr", decimals=2) == pytest.approx(
        11 / 18, rel=1e-12
    )


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


@pytest.mark.parametrize(("n", "relevant"), [(5, 2), (40, 9)])
def test_row_020_all_tied(n: int, relevant: int) -> None:
    frame = one_list([3] * n, [1] * relevant + [0] * (n - relevant))
    found = scores(frame, ["precision", "recall"], 2)  # of others, see property 4
    assert found == pytest.approx([relevant / n, 2 / n], rel=1e-12)
    grouped = tie_groups(frame)
    assert grouped["tie_size"].unique().to_list() == [n]
    assert grouped["tie_relevant"].unique().to_list() == [relevant]
    assert count_ties(frame)["count"].sum() == n


@pytest.mark.slow
def test_row_021_without_ties_every_policy_gives_the_same_bits() -> None:
    generator = np.random.default_rng(21)
    rows = 400
    frame = pl.DataFrame(
        {
            "query": [f"q{measure % 8}" for measure in range(rows)],
            "item": np.arange(rows),
            "distance": generator.permutation(rows) / 7,
            "relevance": generator.integers(0, 4, rows),
        }
    )
    found = evaluate(
        frame, metrics=TEXTS, cutoffs=[1, 7, None], policies=POLICIES, shuffles=3, truncated="no"
    )
    wide = found.pivot("policy", index=["query", "metric", "cutoff"], values="value")
    assert (wide["expected"] == wide["naive"]).all()
    assert (wide["expected"] == wide["shuffled"]).all()
    # The extremes of a random denominator are searched for, by another sum.
    elsewhere = wide.filter(~pl.col("metric").str.contains("retrieved"))
    for policy in ("best", "worst"):
        assert (elsewhere["expected"] == elsewhere[policy]).all()
        np.testing.assert_allclose(wide[policy], wide["expected"], rtol=1e-15)
    assert (found.filter(pl.col("policy").is_in(["expected", "shuffled"]))["std"] == 0).all()
    assert tie_groups(frame)["tie_size"].max() == 1


def test_row_022_scores_are_larger_is_nearer() -> None:
    score = [0.9, 0.5, 0.5, 0.1]
    near_first = one_list(score, [1, 0, 1, 0], order="score")
    negated = one_list([-number for number in score], [1, 0, 1, 0])
    names = ["ap", "ndcg", "rr", "err"]
    assert scores(near_first, names) == scores(negated, names)
    taken_for_distances = near_first.rename({"score": "distance"})
    assert value(taken_for_distances, "rr") == pytest.approx((1 / 2 + 1 / 3) / 2, rel=1e-12)
    assert value(near_first, "rr") == 1.0


def test_row_022_both_a_score_and_a_distance() -> None:
    refused(
        rankings(score=[1, 2, 3, 4]), ColumnError, "'distance'", "'score'", "choose with columns="
    )
