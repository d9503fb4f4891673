"""Scores against costs: the front, by definition, and in every and some tie order."""

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import retrieval_report as rr
from made_scores import scores_of


def table(values: dict[str, float], costs: object) -> pl.DataFrame:
    summary = rr.summarise(scores_of({model: [value, value] for model, value in values.items()}))
    return rr.stats.cost_table(summary, costs)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=8))
def test_the_front_by_its_definition(points: list[tuple[int, int]]):
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
