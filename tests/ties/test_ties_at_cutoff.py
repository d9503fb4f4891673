from __future__ import annotations

import polars as pl
import pytest

from retrieval_report import ParameterError, tie_profile
from retrieval_report.ties.profile import ties_at_cutoff

RANKINGS = pl.DataFrame(
    {
        "model": ["a"] * 10 + ["b"] * 5,
        "query": ["p"] * 5 + ["q"] * 5 + ["p"] * 5,
        "item": [*range(5)] * 3,
        "score": [9.0, 8.0, 8.0, 8.0, 7.0, 5.0, 4.0, 4.0, 1.0, 1.0, 3.0, 3.0, 3.0, 3.0, 3.0],
        "relevance": [0, 2, 0, 1, 1, 0, 0, 0, 0, 1, 0, 2, 0, 1, 1],
    }
)


def test_a_row_for_every_tie_that_the_cutoff_cuts() -> None:
    assert ties_at_cutoff(RANKINGS, cutoff=2).rows() == [
        ("b", "p", 1, 5, 5, 2, 3, True),
        ("a", "p", 2, 4, 3, 1, 2, True),
        ("a", "q", 2, 3, 2, 1, 0, False),
    ]
    assert ties_at_cutoff(RANKINGS, cutoff=4).rows() == [
        ("b", "p", 1, 5, 5, 4, 3, True),
        ("a", "q", 4, 5, 2, 1, 1, True),
    ]
    assert ties_at_cutoff(RANKINGS, cutoff=2, relevant_from=2)["relevant"].to_list() == [1, 1, 0]


@pytest.mark.parametrize("cutoff", [1, 2, 4, 9])
def test_they_are_as_many_as_the_profile_says(cutoff: int) -> None:
    found = ties_at_cutoff(RANKINGS, cutoff=cutoff)
    profile = tie_profile(RANKINGS, cutoffs=cutoff)
    told = {
        row["model"]: round(row["cut_share"] * row["queries"])
        for row in profile.iter_rows(named=True)
    }
    assert {model: found.filter(model=model).height for model in told} == told
    mixed = {row["model"]: row["mixed_share"] for row in profile.iter_rows(named=True)}
    shares = {model: found.filter(model=model)["mixed"].mean() for model in told}
    assert shares == mixed


def test_without_relevance_it_is_unknown_whether_the_cut_matters() -> None:
    found = ties_at_cutoff(RANKINGS.drop("relevance"), cutoff=2)
    assert found["size"].to_list() == [5, 3, 2]
    assert found["relevant"].null_count() == found["mixed"].null_count() == 3


@pytest.mark.parametrize("cutoff", [0, -1, 2.5, None, "all", True])
def test_a_cutoff_is_a_whole_number(cutoff: object) -> None:
    with pytest.raises(ParameterError, match="cutoff"):
        ties_at_cutoff(RANKINGS, cutoff=cutoff)  # type: ignore[arg-type]
