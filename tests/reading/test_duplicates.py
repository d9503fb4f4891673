"""Items that are the same: finding them, and scoring as if any of them counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import retrieval_report as rr
from retrieval_report import ColumnError, DataError, KeyMismatchError, ParameterError
from retrieval_report.lists import duplicates

MEASURES = {"ndcg": 3, "recall": 2, "rr": None, "ap": None, "precision": 3}
COUNTS = pl.DataFrame({"query": ["q"], "distance": [0], "relevance": [1], "count": [2]})
TEXT = ", ".join(name if k is None else f"{name}@{k}" for name, k in MEASURES.items())


@st.composite
def searches(draw: st.DrawFn) -> tuple[dict[str, int], dict[str, int], dict[str, str]]:
    """A list of items with few distances, grades of some of them and of items elsewhere, and the
    content of each; items of one content tie, as in every search that compares nothing else.
    """
    contents = [f"content {number}" for number in range(draw(st.integers(2, 6)))]
    distance = {content: draw(st.integers(0, 2)) for content in contents}
    content_of: dict[str, str] = {}
    grades: dict[str, int] = {}
    for content in contents:
        for _ in range(draw(st.integers(1, 3))):
            item = f"d{len(content_of)}"
            content_of[item] = content
            if draw(st.booleans()):
                grades[item] = draw(st.integers(0, 2))
    if not any(grades.values()):
        grades["d0"] = 1
    order = draw(st.permutations([*content_of]))
    return {item: distance[content_of[item]] for item in order}, grades, content_of


def evaluated(lists: pl.DataFrame, judged: pl.DataFrame) -> pl.DataFrame:
    return rr.evaluate(
        lists,
        judgements=judged,
        measures=TEXT,
        policies=("expected", "worst", "best"),
        truncated="no",
    )


def frames_of(
    search: tuple[dict[str, int], dict[str, int], dict[str, str]],
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    distances, grades, content_of = search
    lists = pl.DataFrame({"query": "q", "item": [*distances], "distance": [*distances.values()]})
    judged = pl.DataFrame({"query": "q", "item": [*grades], "relevance": [*grades.values()]})
    return lists, judged, duplicates(content_of)


@given(searches())
def test_scores_are_those_of_all_orders_of_the_different_contents(
    search: tuple[dict[str, int], dict[str, int], dict[str, str]],
) -> None:
    distances, grades, content_of = search
    lists, judged, twins = frames_of(search)
    scores = evaluated(rr.collapse(lists, twins), rr.collapse(judged, twins))
    ties: dict[int, dict[str, int]] = {}
    for item, distance in distances.items():
        grade = ties.setdefault(distance, {})
        content = content_of[item]
        grade[content] = max(grade.get(content, 0), grades.get(item, 0))
    wanted = [list(ties[distance].values()) for distance in sorted(ties)]
    for name, k in MEASURES.items():
        truth = oracles.moments(wanted, name, k)
        rows = scores.filter(pl.col("metric") == name)
        found = dict(rows.select("policy", "value").iter_rows())
        assert found["expected"] == pytest.approx(float(truth.mean), abs=1e-12)
        assert found["worst"] == pytest.approx(float(truth.minimum), abs=1e-12)
        assert found["best"] == pytest.approx(float(truth.maximum), abs=1e-12)
        spread = rows.filter(policy="expected")["std"].item()
        assert spread == pytest.approx(float(truth.variance) ** 0.5, abs=1e-9)


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "int8", "uint8", "bool"])
def test_rows_of_an_array_are_compared_exactly(kind: str) -> None:
    generator = np.random.default_rng(3)
    rows = (generator.integers(0, 2, (40, 5)) * 0.1 if "float" in kind else
            generator.integers(0, 2, (40, 5))).astype(kind)  # fmt: skip
    wanted: dict[bytes, list[int]] = {}
    for number, row in enumerate(rows):
        wanted.setdefault(row.tobytes(), []).append(number)
    groups = [group for group in wanted.values() if len(group) > 1]
    found = duplicates(rows)
    assert found.rows() == [(item, group[0], len(group)) for group in groups for item in group]
    assert found.schema == {"item": pl.Int64, "group": pl.Int64, "copies": pl.Int64}


def test_neighbours_in_floating_point_differ_and_both_zeros_are_one() -> None:
    near = np.array([0.1, np.nextafter(0.1, 1), 0.0, -0.0])
    assert duplicates(near.reshape(4, 1)).rows() == [(2, 2, 2), (3, 2, 2)]
    assert duplicates(near[:2]).is_empty()


def test_every_form_of_content_gives_the_same_groups() -> None:
    texts = {"a": "x", "b": "y", "c": "x", "d": "z", "e": "y", "f": "x"}
    wanted = [("a", "a", 3), ("c", "a", 3), ("f", "a", 3), ("b", "b", 2), ("e", "b", 2)]
    frame = pl.DataFrame({"item": [*texts], "text": [*texts.values()]})
    forms: list[tuple[Any, ...]] = [
        (texts,),
        (frame,),
        (np.array([*texts.values()]), [*texts]),
        (np.array([[ord(text), 7] for text in texts.values()]), np.array([*texts])),
        (frame["text"], frame["item"]),
    ]
    for form in forms:
        assert duplicates(*form).rows() == wanted
    assert duplicates(frame.with_columns(other=pl.int_range(6) // 3)).rows() == [
        ("a", "a", 2),
        ("c", "a", 2),
    ]


def test_items_without_content_are_the_same_as_no_other() -> None:
    frame = pl.DataFrame({"item": [1, 2, 3, 4], "text": [None, None, "x", "x"]})
    assert duplicates(frame).rows() == [(3, 3, 2), (4, 3, 2)]


def test_rankings_name_as_suspects_what_ties_in_every_list() -> None:
    rows = [
        *(("m", "q1", item, 1) for item in ("a", "b", "c")),
        *(("m", "q1", item, 2) for item in ("d", "e")),  # the last tie: perhaps cut
        *(("m", "q2", item, 1) for item in ("a", "b")),
        *(("m", "q2", "c", 2), ("m", "q2", "z", 3)),
        *(("other", "q1", item, 5) for item in ("c", "a", "b")),
        ("other", "q1", "z", 7),
    ]
    found = duplicates(pl.DataFrame(rows, ["model", "query", "item", "distance"], orient="row"))
    assert found.rows() == [("a", "a", 2, 3), ("b", "a", 2, 3)]


@given(searches(), st.integers(1, 6))
def test_twins_are_suspected_wherever_a_list_is_cut(
    search: tuple[dict[str, int], dict[str, int], dict[str, str]], depth: int
) -> None:
    """A cut may part twins in its last tie; that must not clear them."""
    distances, _, content_of = search
    ordered = sorted(distances, key=distances.__getitem__)
    cut = {item: -distances[item] for item in ordered[:depth]}
    whole = {item: -distances[item] for item in ordered} | {"far": -9}
    lists = pl.concat(
        pl.DataFrame({"query": query, "item": [*part], "score": [*part.values()]})
        for query, part in {"cut": cut, "whole": whole}.items()
    )
    same = dict(duplicates(lists).select("item", "group").iter_rows())
    for item in distances:
        for other in distances:
            if content_of[item] == content_of[other] and item != other:
                assert same[item] == same[other]


@pytest.mark.parametrize(
    ("given", "error", "message"),
    [
        ((np.zeros((2, 0)),), DataError, r"shape \(2, 0\)"),
        ((np.array([1j]),), DataError, "complex128"),
        ((np.array([[1.0], [np.nan]]),), DataError, "row 1 holds NaN"),
        ((np.zeros((2, 1)), ["a"]), ParameterError, r"ids: .* shape \(1,\).*2 rows"),
        ((np.zeros((2, 1)), [0.5, 1.5]), ParameterError, "ids: float64"),
        (({"a": "x"}, ["a"]), ParameterError, "ids: only for an array"),
        ((pl.DataFrame({"item": ["a"]}),), ColumnError, "nothing to compare"),
        ((pl.DataFrame({"item": ["a", None], "text": ["x", "y"]}),), DataError, "null"),
        ((COUNTS,), ColumnError, "counts"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    given: tuple[Any, ...], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        duplicates(*given)


def test_a_table_of_groups_is_checked() -> None:
    lists = {"q": {"a": 1, "b": 1}}
    for group, error, message in (
        ({"item": ["a", "a"], "group": ["x", "y"]}, DataError, "group: "),
        ({"item": ["a"], "label": ["x"]}, ColumnError, "no column 'group'"),
        ({"item": ["a"], "group": [None]}, DataError, "null"),
        ({"item": [1], "group": [2]}, KeyMismatchError, "spelt as a number"),
        (5, ParameterError, "group: 5 is not text"),
    ):
        with pytest.raises(error, match=message):
            rr.collapse(lists, group)
    with pytest.warns(rr.RetrievalReportWarning, match="none of its 1 items, such as 'z'"):
        assert rr.collapse(lists, {"z": "a"})["item"].to_list() == ["a", "b"]
