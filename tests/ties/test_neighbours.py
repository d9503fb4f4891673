"""Judgements from exact neighbours, against plain recounts, and on real vectors that tie."""

import numpy as np
import polars as pl

from retrieval_report.lists import neighbour_judgements


def test_items_that_tie_for_the_last_place_count_and_farther_ones_do_not():
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
