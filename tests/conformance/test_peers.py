"""Other evaluators, run side by side on random lists: scikit-learn, pytrec_eval,
tie-aware-retrieval-metrics.

They are test dependencies (the extra `dev`), never needed to run the package.
"""

from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr

CUTOFFS = (1, 2, 3, 5, 10, 20, 50)


def random_lists(
    *, queries: int, items: int, distances: int, grades: int, seed: int
) -> pl.DataFrame:
    """Lists of up to `items` items at `distances` different distances; a few lack a relevant
    item.
    """
    random = np.random.default_rng(seed)
    frames = []
    for query in range(queries):
        length = int(random.integers(2, items + 1))
        share = random.choice([0.0, 0.1, 0.3, 0.8])
        relevance = random.integers(1, grades + 1, size=length) * (random.random(length) < share)
        frames.append(
            pl.DataFrame(
                {
                    "query": [f"q{query:03}"] * length,
                    "item": [f"d{item:03}" for item in random.permutation(length)],
                    "distance": random.choice(distances, size=length, replace=distances < length),
                    "relevance": relevance,
                }
            )
        )
    return pl.concat(frames)


def values_by_query(scores: pl.DataFrame, *keys: str) -> dict[tuple[Any, ...], float]:
    return {tuple(row[:-1]): row[-1] for row in scores.select("query", *keys, "value").iter_rows()}


def lists_by_query(rankings: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    return [
        (str(name[0]), group) for name, group in rankings.group_by("query", maintain_order=True)
    ]


@pytest.mark.parametrize("distances", [1, 3, 12])
@pytest.mark.parametrize("gain", ["linear", "exp2"])
def test_ndcg_averaged_over_ties_is_scikit_learns(distances: int, gain: str):
    reason = "scikit-learn, of the extra `dev`, is not installed"
    ranking = pytest.importorskip("sklearn.metrics", reason=reason)
    rankings = random_lists(queries=25, items=40, distances=distances, grades=4, seed=distances)
    metrics = (f"ndcg(gain={gain})", f"dcg(gain={gain})")
    scores = rr.evaluate(
        rankings, metrics=metrics, cutoffs=(*CUTOFFS, None), policies=("expected",)
    )
    values = values_by_query(scores, "metric", "cutoff")
    for query, group in lists_by_query(rankings):
        grades = group["relevance"].to_numpy().astype(float)
        gains = (grades if gain == "linear" else 2.0**grades - 1.0)[np.newaxis]
        nearness = -group["distance"].to_numpy().astype(float)[np.newaxis]
        for cutoff in (*CUTOFFS, None):
            for metric, theirs in zip(
                metrics, (ranking.ndcg_score, ranking.dcg_score), strict=True
            ):
                expected = theirs(gains, nearness, k=cutoff)
                assert values[query, metric_name(scores, metric), cutoff] == pytest.approx(
                    expected, rel=1e-9, abs=1e-12
                )


def metric_name(scores: pl.DataFrame, metric: str) -> str:
    """Find the text form that the scores use: defaults may have been dropped from the one asked."""
    names = scores["metric"].unique(maintain_order=True).to_list()
    return metric if metric in names else metric.split("(")[0]


def test_naive_order_by_item_descending_is_pytrec_evals_order_inside_ties():
    reason = "pytrec_eval-terrier, of the extra `dev`, is not installed"
    pytrec_eval = pytest.importorskip("pytrec_eval", reason=reason)
    rankings = random_lists(queries=40, items=60, distances=5, grades=3, seed=11)
    scores = rr.evaluate(
        rankings,
        metrics=("ap", "ndcg", "rr"),
        cutoffs=(None,),
        policies=("naive",),
        naive_order="item_descending",
    )
    values = values_by_query(scores, "metric")
    lists = lists_by_query(rankings)
    judgements = {
        query: dict(group.select("item", "relevance").iter_rows()) for query, group in lists
    }
    run = {
        query: {
            item: -float(distance)
            for item, distance in group.select("item", "distance").iter_rows()
        }
        for query, group in lists
    }
    theirs = pytrec_eval.RelevanceEvaluator(judgements, {"map", "ndcg", "recip_rank"}).evaluate(run)
    for query, row in theirs.items():
        for measure, metric in {"map": "ap", "ndcg": "ndcg", "recip_rank": "rr"}.items():
            assert values[query, metric] == pytest.approx(row[measure], rel=1e-12, abs=1e-15), (
                query,
                measure,
            )


@pytest.mark.parametrize("distances", [1, 4, 15])
def test_expectation_and_bounds_are_those_of_tie_aware_retrieval_metrics(distances: int):
    """Its bounds of precision and NDCG divide by the list's length where the list is shorter than
    k.
    """
    trm = pytest.importorskip(
        "trm", reason="tie-aware-retrieval-metrics, of the extra `dev`, is not installed"
    )
    rankings = random_lists(queries=60, items=40, distances=distances, grades=1, seed=distances)
    ours = {
        "precision": "precision",
        "recall": "recall",
        "f1": "f1",
        "ndcg": "ndcg",
        "mrr": "rr",
        "map": "ap",
    }
    scores = rr.evaluate(
        rankings,
        metrics=tuple(ours.values()),
        truncated="no",
        cutoffs=CUTOFFS,
        policies=("expected", "best", "worst", "naive"),
    )
    values = values_by_query(scores, "metric", "cutoff", "policy")
    lists = lists_by_query(rankings)
    theirs = trm.evaluate(
        [[-float(distance) for distance in group["distance"]] for _, group in lists],
        [[relevance > 0 for relevance in group["relevance"]] for _, group in lists],
        metrics=list(ours),
        k_list=list(CUTOFFS),
    )
    names = {"expected": "expected", "best": "maximum", "worst": "minimum", "naive": "oblivious"}
    for measure, metric in ours.items():
        for cutoff in CUTOFFS:
            for (query, group), result in zip(
                lists, theirs.per_query[measure][cutoff], strict=True
            ):
                short = cutoff > group.height
                for policy, name in names.items():
                    if short and policy != "expected" and measure in ("precision", "f1", "ndcg"):
                        continue
                    value = values[query, metric, cutoff, policy]
                    assert value == pytest.approx(getattr(result, name), rel=1e-12, abs=1e-15), (
                        query,
                        measure,
                        cutoff,
                        policy,
                    )
