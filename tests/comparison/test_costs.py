"""Scores against costs: the front, by definition, and in every and some tie order."""

from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import retrieval_report as rr
from made_scores import bounded_scores, scores_of


def table(values: dict[str, float], costs: object) -> pl.DataFrame:
    summary = rr.summarise(scores_of({model: [value, value] for model, value in values.items()}))
    return rr.stats.cost_table(summary, costs)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8))
def test_the_front_by_its_definition(points: list[tuple[int, int]]) -> None:
    values = {f"m{row}": score / 8 for row, (score, _) in enumerate(points)}
    costs = {f"m{row}": amount for row, (_, amount) in enumerate(points)}
    found = table(values, costs)
    for row in found.iter_rows(named=True):
        better = [
            other
            for other in values
            if values[other] >= values[row["model"]]
            and costs[other] <= costs[row["model"]]
            and (values[other], costs[other]) != (values[row["model"]], costs[row["model"]])
        ]
        assert row["front"] == (not better)
        assert (row["beaten_by"] is None) == (not better)
        if better:
            assert row["beaten_by"] in better
            assert values[row["beaten_by"]] == max(values[other] for other in better)
    assert found["amount"].to_list() == sorted(costs.values())


def test_large_scores_that_are_equal_but_for_rounding_are_equal() -> None:
    found = table({"cheap": 30000.3, "dear": 3 * 10000.1}, {"cheap": 1, "dear": 2})
    assert found.select("model", "front", "beaten_by").rows() == [
        ("cheap", True, None),
        ("dear", False, "cheap"),
    ]


def test_fronts_that_depend_on_tie_order() -> None:
    summary = rr.summarise(
        bounded_scores(
            {
                "cheap": ([0.5] * 2, [0.5] * 2, [0.4] * 2, [0.6] * 2),
                "dear": ([0.55] * 2, [0.55] * 2, [0.5] * 2, [0.58] * 2),
                "dearest": ([0.9] * 2, [0.9] * 2, [0.8] * 2, [0.95] * 2),
            }
        )
    )
    found = rr.stats.cost_table(summary, {"cheap": 1, "dear": 2, "dearest": 3}).filter(
        policy="expected"
    )
    assert found["front"].to_list() == [True] * 3
    assert found["front_in_every_order"].to_list() == [True, False, True]
    assert table({"a": 0.5}, {"a": 1})["front_in_every_order"].to_list() == [None]


def test_kinds_of_cost_and_models_without_one() -> None:
    costs = pl.DataFrame(
        {"model": ["a", "b"], "bytes": [100, 10], "cost": [0.5, None], "note": ["x", "y"]}
    )
    found = table({"a": 0.5, "b": 0.4, "c": 0.9}, costs)
    assert found.select("cost", "model", "amount").rows() == [
        ("bytes", "b", 10.0), ("bytes", "a", 100.0), ("cost", "a", 0.5)
    ]  # fmt: skip


def test_every_place_has_its_front() -> None:
    scores = pl.concat(
        [scores_of({"a": [0.5], "b": [0.4]}), scores_of({"a": [0.3], "b": [0.4]}, cutoff=None)]
    )
    found = rr.stats.cost_table(rr.summarise(scores), {"a": 2, "b": 1})
    assert found.select("cutoff", "model", "front").rows() == [
        (10, "b", True), (10, "a", True), (None, "b", True), (None, "a", False)
    ]  # fmt: skip
