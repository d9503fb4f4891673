"""A call of every public function on small data, by the name of the function."""

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

import retrieval_report as rr

FRAME = pl.DataFrame(
    {
        "model": ["a"] * 4 + ["b"] * 4,
        "query": ["q", "q", "r", "r"] * 2,
        "item": list("cdcd") * 2,
        "distance": [1, 1, 2, 3, 1, 2, 2, 2],
        "relevance": [1, 0, 0, 1] * 2,
    }
)
SCORES = rr.evaluate(FRAME, metrics="ndcg@2, ap")
SUMMARY = rr.summarise(SCORES)
COMPARISON = rr.compare(SCORES)
QUERIES = pl.DataFrame({"query": ["q", "r"], "label": ["x", "y"], "weight": [1, 2]})
JUDGEMENTS = FRAME.filter(model="a").select("query", "item", "relevance")
STUDY = rr.Study(FRAME, "ndcg@2")


def of_model(name: str) -> pl.DataFrame:
    """The rankings of one model."""
    return FRAME.filter(model=name)


OUT: Any = object()  # stands for a folder of the test's own
CALLS: dict[str, tuple[Callable[..., object], tuple[Any, ...], dict[str, Any]]] = {
    "evaluate": (rr.evaluate, (FRAME,), {}),
    "evaluate_to": (rr.evaluate_to, (OUT, FRAME), {}),
    "count_ties": (rr.count_ties, (FRAME,), {}),
    "audit": (rr.audit, (FRAME,), {"metrics": "ndcg@2"}),
    "compare": (rr.compare, (SCORES,), {}),
    "leaderboard": (rr.leaderboard, (SCORES,), {}),
    "flips": (rr.flips, (SUMMARY,), {}),
    "gate": (rr.gate, (of_model("a"), of_model("b")), {"measure": "ndcg@2", "margin": 0.1}),
    "summarise": (rr.summarise, (SCORES,), {}),
    "knn": (rr.knn, (FRAME, {"c": "x", "d": "y"}), {"queries": QUERIES}),
    "tie_hints": (rr.tie_hints, (FRAME,), {}),
    "tie_profile": (rr.tie_profile, (FRAME,), {}),
    "estimate": (rr.stats.estimate, (SCORES, SCORES), {}),
    "thresholds": (rr.thresholds, (FRAME,), {}),
    "Thresholds.calibrate": (rr.thresholds(FRAME).calibrate, (), {"resamples": 3}),
    "Thresholds.abstain": (rr.thresholds(FRAME).abstain, (), {}),
    "collapse": (rr.collapse, (FRAME,), {}),
    "truncated_lists": (rr.truncated_lists, (FRAME,), {}),
    "shuffled_means": (rr.shuffled_means, (FRAME,), {"metrics": "ap"}),
    "read_rankings": (rr.read_rankings, (FRAME,), {}),
    "from_labels": (rr.from_labels, ({"a": JUDGEMENTS},), {}),
    "read_judgements": (rr.read_judgements, (JUDGEMENTS,), {}),
    "read_queries": (rr.read_queries, (QUERIES,), {}),
    "read_report": (rr.read_report, (OUT,), {}),
    "write_report": (rr.write_report, (OUT, FRAME), {"formats": "csv", "metrics": "rr@2"}),
    "from_search": (
        rr.from_search,
        ((np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([[0, 1], [1, 0]])),),
        {"query_labels": [0, 1], "item_labels": [0, 1]},
    ),
    "from_scores": (rr.from_scores, ((np.ones(2), np.array([[0.5, 1.0], [2.0, 1.0]])),), {}),
    "Study": (rr.Study, (FRAME,), {}),
    "Study.table": (STUDY.table, (), {}),
    "Study.pair": (STUDY.pair, ("a", "b"), {}),
    "Study.report": (STUDY.report, (OUT,), {"formats": "csv"}),
    "Study.to_latex": (STUDY.to_latex, (), {}),
    "Study.to_markdown": (STUDY.to_markdown, (), {}),
    "ranking_ties": (rr.lists.ranking_ties, (FRAME,), {"model": "a", "query": "q"}),
    "score_distribution": (
        rr.lists.score_distribution,
        (FRAME,),
        {"model": "a", "query": "q", "metric": "ap", "cutoff": 2},
    ),
    "side_by_side": (
        rr.lists.side_by_side,
        (rr.lists.tie_groups(of_model("a")), rr.lists.tie_groups(of_model("b"))),
        {},
    ),
    "query_table": (rr.lists.query_table, (SCORES,), {}),
    "ranking_similarity": (
        rr.lists.ranking_similarity,
        (of_model("a").drop("model"), of_model("b").drop("model")),
        {},
    ),
    "duplicates": (rr.lists.duplicates, (FRAME,), {}),
    "duplicates of an array": (rr.lists.duplicates, (np.eye(2),), {}),
    "collapse of judgements": (rr.collapse, (JUDGEMENTS,), {}),
    "recall_curve": (rr.lists.recall_curve, (FRAME,), {}),
    "ties_at_cutoff": (rr.lists.ties_at_cutoff, (FRAME,), {"cutoff": 2}),
    "tie_groups": (rr.lists.tie_groups, (FRAME,), {}),
    "judgement_coverage": (
        rr.lists.judgement_coverage,
        (FRAME.drop("relevance"), JUDGEMENTS),
        {},
    ),
    "compare_by": (rr.stats.compare_by, (SCORES, QUERIES, "label"), {}),
    "summarise_by": (rr.stats.summarise_by, (SCORES, QUERIES, "label"), {}),
    "segment_winners": (rr.stats.segment_winners, (SCORES, QUERIES, "label"), {}),
    "cost_table": (rr.stats.cost_table, (SUMMARY, {"a": 1.0, "b": 2.0}), {}),
    "deciding_queries": (rr.stats.deciding_queries, (SCORES, "a", "b"), {}),
    "dataset_scores": (rr.stats.dataset_scores, (SCORES, QUERIES, "label"), {}),
    "dataset_table": (
        rr.stats.dataset_table,
        (rr.stats.dataset_scores(SCORES, QUERIES, "label"),),
        {},
    ),
    "replicate_pairs": (rr.stats.replicate_pairs, (SCORES, "(?P<model>.)"), {}),
    "replicate_table": (rr.stats.replicate_table, (SCORES, "(?P<model>.)"), {}),
    "detectable_effect": (rr.stats.detectable_effect, (0.1, 10), {}),
    "queries_needed": (rr.stats.queries_needed, (0.1, 0.2), {}),
    "no_worse": (rr.stats.no_worse, (SCORES,), {"baseline": "a", "margin": 0.1}),
    "tie_ranks": (rr.stats.tie_ranks, (SCORES,), {}),
    "evaluate_with_draws": (rr.stats.evaluate_with_draws, (FRAME,), {}),
    **{
        name: (getattr(rr, name), (), {})
        for name in ("AP", "NDCG", "DCG", "ERR", "RBP", "Precision", "WAP")
    },
}
