"""The distribution of a mean, held against every tie order of every list, one by one."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from typing import Any

import polars as pl
import pytest

from retrieval_report import evaluate, summarise
from retrieval_report.contracts.options import Options
from retrieval_report.metrics.parsing import parse_measure
from retrieval_report.scoring.judged import judge
from retrieval_report.ties.distributions import MEAN_DISTRIBUTION, mean_distribution

LISTS = {  # relevances of the items of each tie, nearest tie first
    "p": [[1, 0, 0], [0, 1]],
    "q": [[0], [1, 1, 0, 0]],
    "r": [[0, 1]],
}
RANKINGS = pl.DataFrame(
    [
        {"query": query, "item": f"{tie}-{item}", "distance": tie, "relevance": relevance}
        for query, ties in LISTS.items()
        for tie, relevances in enumerate(ties)
        for item, relevance in enumerate(relevances)
    ]
)


def distribution(
    rankings: pl.DataFrame, summary: pl.DataFrame, measure: str, **options: Any
) -> pl.DataFrame:
    asked = Options(**options)
    judged = judge(rankings, None, None, asked)
    return mean_distribution(judged, asked, summary, *parse_measure(measure, None))


def precision(order: list[int]) -> Fraction:
    return Fraction(sum(order[:2]), 2)


def first_relevant(order: list[int]) -> Fraction:
    return next(
        (Fraction(1, rank) for rank, relevant in enumerate(order[:3], 1) if relevant), Fraction(0)
    )


def recall(order: list[int]) -> Fraction:
    return Fraction(sum(order[:2]), sum(order))


def every_mean(score: Any) -> dict[Fraction, Fraction]:
    """Each mean with its probability, from all orders of all lists."""
    scores = []
    for ties in LISTS.values():
        orders = product(*(permutations(tie) for tie in ties))
        scores.append(
            [score([relevance for tie in order for relevance in tie]) for order in orders]
        )
    weights = Counter(sum(chosen, Fraction(0)) / len(LISTS) for chosen in product(*scores))
    return {mean: Fraction(count, weights.total()) for mean, count in sorted(weights.items())}


@pytest.mark.parametrize(
    ("measure", "score"),
    [("precision@2", precision), ("rr@3", first_relevant), ("recall@2", recall)],
)
def test_every_mean_has_the_share_of_the_orders_that_give_it(measure: str, score: Any):
    summary = summarise(evaluate(RANKINGS, metrics=measure, truncated="no"))
    found = distribution(RANKINGS, summary, measure)
    wanted = every_mean(score)
    assert found["value"].to_list() == pytest.approx([float(mean) for mean in wanted], abs=1e-12)
    assert found["probability"].to_list() == pytest.approx(
        [float(share) for share in wanted.values()], abs=1e-12
    )
    assert dict(found.schema) == MEAN_DISTRIBUTION


def test_what_is_not_known_exactly_has_no_rows():
    fixed = RANKINGS.with_columns(distance=pl.int_range(pl.len()).over("query"))
    cases: list[tuple[pl.DataFrame, str, dict[str, Any]]] = [
        (RANKINGS, "ndcg@2", {"truncated": "no"}),  # no closed form
        (fixed, "precision@2", {"truncated": "no"}),  # tie order moves nothing
        (RANKINGS, "precision@9", {"truncated": "within_tie"}),  # nobody knows what follows
    ]
    for rankings, measure, options in cases:
        summary = summarise(evaluate(rankings, metrics=measure, **options))
        assert distribution(rankings, summary, measure, **options).is_empty(), measure
