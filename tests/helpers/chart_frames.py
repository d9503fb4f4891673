"""Frames for every chart, with plain and with hostile names."""

from collections.abc import Callable
from functools import cache
from typing import Any

import polars as pl

import retrieval_report as rr
from retrieval_report import charts
from retrieval_report.ties.distributions import score_distribution

Frames = dict[str, pl.DataFrame]


Names = tuple[str, ...]


PLAIN = ("coarse", "fine", "finer")


HOSTILE = (
    "</script><img src=x onerror=alert(1)>",
    "{{ 7 * 7 }} ${x} {0} %s",
    "it's \"quoted\" \\ `back` datum['model'] ]]> &amp;",
    "x" * 10_000,
    "x" * 5_000 + "y" + "x" * 4_999,
    "נמלה-אלף \u202e drow",
    "line\nbreak\u2028\u0000tab\t",
    "\u202d",
)


POLICIES = ("expected", "naive", "shuffled", "best", "worst")


PLACE: Any = {"metric": "precision", "cutoff": 2}


@cache
def frames(names: Names) -> Frames:
    """Real frames of a few queries; model after model ties a little less."""
    parts = [
        pl.DataFrame(
            {
                "model": [name] * 24,
                "query": [f"q{query}" for query in range(4) for _ in range(6)],
                "item": [f"i{item}" for _ in range(4) for item in range(6)],
                "distance": [
                    (item * (index % 5 + 1) + index // 5) % 6 // (1 + index % 3)
                    for _ in range(4)
                    for item in range(6)
                ],
                "relevance": [(query + item) % 3 == 0 for query in range(4) for item in range(6)],
            }
        )
        for index, name in enumerate(names)
    ]
    rankings = pl.concat(parts).with_columns(pl.col("relevance").cast(pl.Int64))
    kinds: Any = {"metrics": ("precision", "recall"), "cutoffs": (1, 2, None)}
    scores = rr.evaluate(rankings, **kinds, policies=POLICIES, shuffles=20)
    return {
        "summary": rr.summarise(scores),
        "means": rr.shuffled_means(rankings, **kinds, shuffles=20),
        "comparison": rr.compare(scores, policies="expected"),
        "deciding": rr.stats.deciding_queries(scores, names[0], names[1])
        if len(names) > 1
        else own_pair(scores),
        "history": rr.stats.history(scores, "(?s)(?P<version>.*)"),
        "costs": rr.stats.cost_table(
            rr.summarise(scores), {name: 10.0 * index + 1 for index, name in enumerate(names)}
        ),
        "profile": rr.tie_profile(rankings, cutoffs=(1, 2, None)),
        "queries": rr.lists.query_table(scores),
        "distribution": score_distribution(
            rankings, model=names[0], query="q0", metric="precision", cutoff=2
        ),
        "thresholds": rr.thresholds(rankings).table,
        "three_scores": rr.Study(rankings, "precision, recall", cutoffs=(1, 2, None)).three_scores,
        "curve": rr.Study(rankings, "precision@1").recall_curve,
    }


def own_pair(scores: pl.DataFrame) -> pl.DataFrame:
    """A model against a copy of itself, where there is one model."""
    both = pl.concat([scores, scores.with_columns(model=pl.lit("copy"))])
    return rr.stats.deciding_queries(both, scores["model"][0], "copy")


CHARTS: dict[str, Callable[[Frames], Any]] = {
    "scores_by_cutoff": lambda of: charts.scores_by_cutoff(of["summary"], metric="precision"),
    "scores": lambda of: charts.scores(of["three_scores"], of["means"], of["summary"], **PLACE),
    "along_cutoffs": lambda of: charts.along_cutoffs(of["three_scores"], **PLACE),
    "off_by": lambda of: charts.off_by(of["three_scores"], **PLACE),
    "policies": lambda of: charts.policies(of["summary"], **PLACE),
    "shuffled_distribution": lambda of: charts.shuffled_distribution(
        of["means"], of["summary"], **PLACE
    ),
    "comparison_matrix": lambda of: charts.comparison_matrix(of["comparison"], **PLACE),
    "deciding_queries": lambda of: charts.deciding_queries(of["deciding"], **PLACE),
    "costs": lambda of: charts.costs(of["costs"], **PLACE),
    "profile": lambda of: charts.profile(of["profile"]),
    "pair_scatter": lambda of: charts.pair_scatter(of["deciding"], **PLACE),
    "history": lambda of: charts.history(of["history"], **PLACE),
    "query_scatter": lambda of: charts.query_scatter(of["queries"], **PLACE),
    "score_distribution": lambda of: charts.score_distribution(
        of["distribution"], **PLACE, marks={"expected": 0.5, "<b>": 0.25, "left out": None}
    ),
    "recall_curve": lambda of: charts.recall_curve(of["curve"]),
    "thresholds": lambda of: charts.thresholds(of["thresholds"]),
}
