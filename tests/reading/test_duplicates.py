"""Items that are the same: finding them, and scoring as if any of them counted."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
import retrieval_report as rr
from retrieval_report.lists import duplicates

# Distance, grade and content of items.
Search = tuple[dict[str, int], dict[str, int], dict[str, str]]
MEASURES = {"ndcg": 3, "recall": 2, "rr": None, "ap": None, "precision": 3}
TEXT = ", ".join(name if k is None else f"{name}@{k}" for name, k in MEASURES.items())


@st.composite
def searches(draw: st.DrawFn) -> Search:
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
    search: Search,
) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    distances, grades, content_of = search
    lists = pl.DataFrame({"query": "q", "item": [*distances], "distance": [*distances.values()]})
    judged = pl.DataFrame({"query": "q", "item": [*grades], "relevance": [*grades.values()]})
    return lists, judged, duplicates(content_of)


@given(searches())
def test_scores_are_those_of_all_orders_of_the_different_contents(
    search: Search,
):
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
        rows = scores.filter(metric=name)
        found = dict(rows.select("policy", "value").iter_rows())
        assert found["expected"] == pytest.approx(float(truth.mean), abs=1e-12)
        assert found["worst"] == pytest.approx(float(truth.minimum), abs=1e-12)
        assert found["best"] == pytest.approx(float(truth.maximum), abs=1e-12)
        spread = rows.filter(policy="expected")["std"].item()
        assert spread == pytest.approx(float(truth.variance) ** 0.5, abs=1e-9)


@pytest.mark.parametrize("kind", ["float32", "float64", "float16", "int8", "uint8", "bool"])
def test_rows_of_an_array_are_compared_exactly(kind: str):
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


def test_neighbours_in_floating_point_differ_and_both_zeros_are_one():
    near = np.array([0.1, np.nextafter(0.1, 1), 0.0, -0.0])
    assert duplicates(near.reshape(4, 1)).rows() == [(2, 2, 2), (3, 2, 2)]
    assert duplicates(near[:2]).is_empty()


def test_every_form_of_content_gives_the_same_groups():
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


@given(searches(), st.integers(1, 6))
def test_twins_are_suspected_wherever_a_list_is_cut(search: Search, depth: int):
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
