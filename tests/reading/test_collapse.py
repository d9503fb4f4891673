"""Documents of chunks, against all orders of their rows."""

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr

PATTERN = r"(.+)#\d+"


def made(seed: int) -> pl.DataFrame:
    """Two lists of six chunks of three or four documents, with ties inside and between them."""
    generator = np.random.default_rng(seed)
    parts = []
    for query in "pq":
        items = [f"d{number}#{at}" for number in range(4) for at in range(3)]
        picked = generator.choice(items, 6, replace=False)
        distance = generator.integers(0, 3, 6)
        parts.append(pl.DataFrame({"query": query, "item": picked, "distance": distance}))
    return pl.concat(parts)


def first_of_each(documents: list[str]) -> list[str]:
    return list(dict.fromkeys(documents))


def orders_of_documents(part: pl.DataFrame) -> list[list[str]]:
    """All orders of the documents in which a nearer best chunk comes first, written anew: documents
    by their least distance, and every order of those that have the same.
    """
    best: dict[str, int] = {}
    for item, distance in part.select("item", "distance").rows():
        document = item.split("#")[0]
        best[document] = min(distance, best.get(document, distance))
    return [
        list(order)
        for order in itertools.permutations(best)
        if all(best[a] <= best[b] for a, b in itertools.pairwise(order))
    ]


@pytest.mark.parametrize("seed", range(6))
def test_scores_of_documents_are_means_over_all_their_orders(seed: int):
    frame, relevant = made(seed), {"d0", "d3"}
    judgements = {query: dict.fromkeys(relevant, 1) for query in "pq"}
    documents = rr.collapse(frame, PATTERN)
    scores = rr.evaluate(
        documents,
        judgements=judgements,
        metrics="rr, recall@1, recall@2",
        policies=("expected", "best", "worst"),
        truncated="no",
    )
    for (query,), part in frame.group_by("query", maintain_order=True):
        orders = orders_of_documents(part)
        ranks = [
            [rank for rank, item in enumerate(order, 1) if item in relevant] for order in orders
        ]
        wanted: dict[Any, list[Fraction]] = {
            ("rr", None): [Fraction(1, own[0]) if own else Fraction(0) for own in ranks],
            **{
                ("recall", k): [Fraction(sum(rank <= k for rank in own), 2) for own in ranks]
                for k in (1, 2)
            },
        }
        for (metric, cutoff), values in wanted.items():
            own = scores.filter(
                pl.col("query") == query,
                pl.col("metric") == metric,
                pl.col("cutoff").eq_missing(cutoff),
            )
            found = dict(own.select("policy", "value").iter_rows())
            assert found["expected"] == pytest.approx(float(sum(values) / len(values)), rel=1e-13)
            assert found["best"] == pytest.approx(float(max(values)))
            assert found["worst"] == pytest.approx(float(min(values)))


@pytest.mark.parametrize("seed", range(6))
def test_naive_scores_are_those_of_keeping_the_first_chunk_received(seed: int):
    frame = made(seed).sort("query", "distance", maintain_order=True)
    documents = rr.collapse(frame, PATTERN)
    for (query,), part in frame.group_by("query", maintain_order=True):
        wanted = first_of_each([item.split("#")[0] for item in part["item"]])
        own = documents.filter(query=query).sort("distance", "row")
        assert own["item"].to_list() == wanted
    assert documents["row"].is_sorted()


def test_scores_add_up_to_the_same_bits_in_any_order():
    values = [0.1, 0.2, 0.3, 0.7, 1e-9]
    for order in itertools.permutations(range(5)):
        frame = pl.DataFrame(
            {
                "query": "q",
                "item": [f"d1#{at}" for at in order] + [f"d2#{at}" for at in range(5)],
                "score": [values[at] for at in order] + values,
            }
        )
        found = rr.collapse(frame, PATTERN, how="sum")
        assert found["item"].to_list() == ["d1", "d2"]
        assert found["score"].n_unique() == 1
        assert found["score"][0] == pytest.approx(1.3)
    largest = rr.collapse(frame, PATTERN)
    assert largest["score"].to_list() == [0.7, 0.7]
