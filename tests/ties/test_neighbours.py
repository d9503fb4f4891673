"""Judgements from exact neighbours, against plain recounts, and on real vectors that tie."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from retrieval_report import DataError, ParameterError, RetrievalReportWarning
from retrieval_report.lists import neighbour_judgements


def test_items_that_tie_for_the_last_place_count_and_farther_ones_do_not() -> None:
    generator = np.random.default_rng(3)
    for epsilon in (0.0, 0.25):
        distances = np.sort(generator.integers(1, 9, (50, 30)), axis=1)
        distances[:, -1] = 100
        indices = np.argsort(generator.random((50, 200)), axis=1)[:, :30]
        found = neighbour_judgements(distances, indices, 5, epsilon)
        for query in range(50):
            limit = sorted(distances[query])[4] * (1 + epsilon)
            wanted = {
                int(item)
                for item, far in zip(indices[query], distances[query], strict=True)
                if far <= limit
            }
            assert set(found.filter(query=query)["item"]) == wanted
    assert found.schema == {"query": pl.Int64, "item": pl.Int64, "relevance": pl.Int64}


def test_order_does_not_matter_and_an_item_twice_counts_once_at_its_smallest_distance() -> None:
    found = neighbour_judgements([[3.0, 1.0, 1.0, 2.0, 1.5]], [[8, 4, 4, 5, 5]], 2)
    assert found["item"].to_list() == [4, 5]
    with pytest.raises(
        DataError, match="1 of 1 queries has fewer than k=4 different items, first query 0 with 3"
    ):
        neighbour_judgements([[3.0, 1.0, 1.0, 2.0, 1.5]], [[8, 4, 4, 5, 5]], 4)


def test_a_truth_that_ends_inside_the_tie_says_so_unless_there_are_no_more_items() -> None:
    with pytest.warns(
        RetrievalReportWarning,
        match="for 1 queries, first query 1, even the last item is near enough to",
    ):
        neighbour_judgements([[1, 2, 3], [1, 2, 2]], [[0, 1, 2], [0, 1, 2]], 2)
    padded = neighbour_judgements([[1.0, 2.0, 2.0, np.inf]], [[0, 1, 2, -1]], 2)
    assert padded["item"].to_list() == [0, 1, 2]


@pytest.mark.parametrize(
    ("changed", "kind", "message"),
    [
        ({"truth_indices": [[1, 2]]}, DataError, r"shape \(1, 3\), the indices \(1, 2\)"),
        ({"truth_distances": [[1, 2], [1]]}, DataError, "2 rows of unequal length"),
        ({"truth_indices": [[1.5, 2, 3]]}, DataError, "they are whole numbers or text"),
        (
            {"truth_distances": [[1.0, np.nan, 2.0]]},
            DataError,
            "column 'distance': 1 not a finite number, first in query 0, item 2",
        ),
        (
            {"truth_distances": [[-3.0, -2.0, -1.0]], "epsilon": 0.1},
            ParameterError,
            "negative distances",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    changed: dict[str, Any], kind: type[Exception], message: str
) -> None:
    given: dict[str, Any] = {
        "truth_distances": [[1.0, 2.0, 3.0]],
        "truth_indices": [[1, 2, 3]],
        "k": 2,
    }
    with pytest.raises(kind, match=message):
        neighbour_judgements(**given | changed)


def test_a_query_with_fewer_items_than_k_has_all_of_them_as_neighbours() -> None:
    distances = [[0.5, 0.25, 9.0, 9.0], [0.1, 0.2, 0.3, 0.4]]
    items = [[4, 7, -1, -1], [1, 2, 3, 4]]
    with pytest.warns(RetrievalReportWarning, match="1 of 2 queries has fewer than k=3.*min"):
        found = neighbour_judgements(distances, items, 3)
    assert sorted(found.filter(query=0)["item"]) == [4, 7]
    with pytest.raises(DataError, match="search deeper"):
        neighbour_judgements([[0.1, 0.2], [0.1, 0.2]], [[1, 2], [1, 2]], 3)
