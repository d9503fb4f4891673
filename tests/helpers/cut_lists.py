"""Lists that may be cut, their scores with bounds, and complete rankings to cut anywhere."""

import re
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from catalogue_texts import TEXTS
from oracles import Grade
from retrieval_report import Metric, RetrievalReportWarning, evaluate

METRICS = tuple(text for text in TEXTS if text != "bpref")  # whose lists hold judged items alone
UNGRADED = tuple(text for text in METRICS if not re.match("n?dcg|acg|wap|rbp.*max_grade|err", text))
CUTOFFS = (1, 3, 5, 10, 17, None)


def frame(ties: Sequence[Sequence[Grade]]) -> pl.DataFrame:
    rows = [(at, grade) for at, tie in enumerate(ties) for grade in tie]
    return pl.DataFrame(
        {
            "query": ["q"] * len(rows),
            "item": [f"i{number}" for number in range(len(rows))],
            "distance": [at for at, _ in rows],
            "relevance": [float(grade) for _, grade in rows],
        }
    )


def judgements(ties: Sequence[Sequence[Grade]], unseen: Sequence[Grade]) -> pl.DataFrame:
    shown = frame(ties).select("query", "item", "relevance")
    more = pl.DataFrame(
        {
            "query": ["q"] * len(unseen),
            "item": [f"u{n}" for n in range(len(unseen))],
            "relevance": list(unseen),
        },
        schema=shown.schema,
        strict=False,
    )
    return pl.concat([shown, more])


def bounds(
    rankings: pl.DataFrame,
    metrics: Sequence[str | Metric],
    cutoffs: Sequence[int | None],
    **options: Any,
) -> dict[Any, Any]:
    policies = ("worst", "expected", "best")
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RetrievalReportWarning
        )  # nothing relevant; an ideal that is a guess
        scores = evaluate(
            rankings, metrics=list(metrics), cutoffs=list(cutoffs), policies=policies, **options
        )
    first = scores.filter(pl.col("model") == scores["model"].min())
    wide = first.pivot("policy", index=["metric", "cutoff", "truncated"], values="value")
    return {
        (metric, cutoff): (truncated, worst, expected, best)
        for metric, cutoff, truncated, worst, expected, best in wide.iter_rows()
    }


def complete_rankings(generator: np.random.Generator, distances: int, largest: int) -> pl.DataFrame:
    """Rankings of some queries over all items of a collection, with so many distances and
    grades.
    """
    items, queries = int(generator.integers(20, 120)), 4
    relevant = (generator.random((queries, items)) < 0.2) * generator.integers(
        1, largest + 1, (queries, items)
    )
    return pl.DataFrame(
        {
            "query": np.repeat([f"q{number}" for number in range(queries)], items),
            "item": [f"i{number}" for number in range(items)] * queries,
            "distance": generator.integers(0, distances, queries * items),
            "relevance": relevant.ravel(),
        }
    ).sort("query", "distance", maintain_order=True)


def cut(rankings: pl.DataFrame, depth: int, word: str) -> pl.DataFrame:
    """The first so many items of every list, with all of the last tie unless it may be cut."""
    if word == "within_tie":
        return rankings.group_by("query", maintain_order=True).head(depth)
    return rankings.filter(pl.col("distance") <= pl.col("distance").get(depth - 1).over("query"))
