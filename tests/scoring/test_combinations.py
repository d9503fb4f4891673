"""Random frames under random combinations of options, each list against the enumeration of its
orders.
"""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import pytest

import oracles
from catalogue_texts import TEXTS
from retrieval_report import evaluate

METRICS = [text for text in TEXTS if text != "bpref"]  # whose lists hold judged items alone
OF_RELEVANT = {
    "precision",
    "num_rel_ret",
    "recall",
    "f1",
    "hit_rate",
    "rr",
    "r_precision",
    "ap_at_r",
    "ap",
    "wap",
}
ONE = {"recall", "hit_rate", "rr", "r_precision", "ap_at_r", "ap", "wap", "ndcg"}
POLICIES = ("expected", "best", "worst", "naive")
ITEMS = 8


@dataclass
class Case:
    """Rankings, what evaluate is told beside them, and what every list should come to by a plain
    reading of it.
    """

    rows: list[dict[str, Any]]  # as evaluate sees them, with the true relevance
    truth: dict[tuple[str, str], int]  # judgements, if there are any
    options: dict[str, Any] = field(default_factory=dict)
    judged: bool = False

    def frame(self) -> pl.DataFrame:
        frame = pl.DataFrame(
            self.rows, schema_overrides={"distance": pl.Int64, "relevance": pl.Int64}
        )
        return frame.drop("relevance") if self.judged else frame

    def arguments(self) -> dict[str, Any]:
        told = [(query, item, grade) for (query, item), grade in self.truth.items()]
        judgements = pl.DataFrame(told, schema=["query", "item", "relevance"], orient="row")
        return {
            **self.options,
            "judgements": judgements if self.judged else None,
            "unjudged_query": "skip",
        }

    def list_of(self, model: str, query: str) -> tuple[list[list[int]], list[int]]:
        """Grades tie by tie, and of all judged items."""
        ties: dict[int, list[int]] = {}
        known: dict[str, int] = {}
        if self.options["relevant_items"] == "pooled":
            known = {
                row["item"]: row["relevance"] or 0
                for row in self.rows
                if row["query"] == query and row["mask"]
            }
        for row in self.rows:
            if (row["model"], row["query"]) != (model, query) or not row["mask"]:
                continue
            grade = self.truth.get((query, row["item"])) if self.judged else row["relevance"]
            if grade is None and self.options["unjudged"] == "drop":
                continue
            grade, distance = grade or 0, row["distance"]
            if distance is None:
                known[row["item"]] = grade
                continue
            known.pop(row["item"], None)
            if distance > self.options.get("distance_threshold", math.inf):
                grade = 0
            ties.setdefault(distance, []).append(grade)
        in_order = [ties[distance] for distance in sorted(ties)]
        if self.judged:
            return in_order, [grade for (other, _), grade in self.truth.items() if other == query]
        return in_order, [*(grade for tie in in_order for grade in tie), *known.values()]


def case(seed: int) -> Case:
    generator = np.random.default_rng(seed)

    def chance(share: float) -> bool:
        return bool(generator.random() < share)

    models = ["a", "b", "c"][: generator.integers(1, 4)]
    queries = [f"q{number}" for number in range(generator.integers(1, 5))]
    truth = {
        (q, f"i{i}"): int(generator.integers(0, 4) * generator.integers(0, 2))
        for q in queries
        for i in range(ITEMS)
    }
    judged, masked, absent, unknown = chance(0.5), chance(0.4), chance(0.3), chance(0.3)
    threshold = chance(0.3) and (judged or len(models) == 1)
    rows = [
        {
            "model": model,
            "query": query,
            "item": f"i{item}",
            "distance": None if absent and chance(0.2) else int(generator.integers(0, 4)),
            "relevance": None
            if unknown and len(models) == 1 and chance(0.2)
            else truth[query, f"i{item}"],
            "mask": not (masked and chance(0.2)),
        }
        for model in models
        for query in queries
        if chance(0.85)
        for item in generator.permutation(ITEMS)[: generator.integers(1, 6)]
    ]
    rows = [rows[measure] for measure in generator.permutation(len(rows))]
    options: Any = {
        "null_distance": "not_retrieved",
        "unjudged": str(generator.choice(["non_relevant", "drop"])),
        "no_relevant": str(generator.choice(["zero", "skip", "one"])),
        "relevant_items": "own" if seed % 2 or threshold else "pooled",
        "truncated": "no",
    }
    if threshold:
        options["distance_threshold"] = int(generator.integers(0, 4))
    if chance(0.4):
        options["relevant_from"] = int(generator.integers(1, 4))
    return Case(
        rows, {pair: grade for pair, grade in truth.items() if chance(0.7)}, options, judged
    )


def wanted(
    scored: dict[str, Any],
    ties: list[list[int]],
    judged: list[int],
    options: dict[str, Any],
    nothing: bool,
):
    """Value and spread of one row of scores; None where the metric has another meaning of "nothing
    relevant".
    """
    metric, k, policy = scored["metric"], scored["cutoff"], scored["policy"]
    name, least = metric.partition("(")[0], options.get("relevant_from")
    relevant = oracles.count_relevant(judged, least)
    if relevant == 0:
        if name not in OF_RELEVANT and any(judged):
            return None
        return float(options["no_relevant"] == "one" and name in ONE and nothing), 0.0
    if options["no_relevant"] == "one" and metric == "ndcg(ideal=list)" and not any(map(any, ties)):
        return None
    given: Any = {"judged": judged, "relevant_from": least, "n_relevant": relevant}
    if policy == "naive":
        return float(
            oracles.score([grade for tie in ties for grade in tie], metric, k, **given)
        ), None
    moments = oracles.moments(ties, metric, k, **given)
    return float(
        {"expected": moments.mean, "best": moments.maximum, "worst": moments.minimum}[policy]
    ), moments.std


@pytest.mark.filterwarnings("ignore:no query has a relevant item")
@pytest.mark.parametrize("seed", range(24))
def test_combinations_equal_a_plain_reading_of_the_options(seed: int):
    given = case(seed)
    if not given.rows:
        return
    found = evaluate(
        given.frame(),
        metrics=METRICS[seed % 3 :: 3],
        cutoffs=[1, 3, None],
        policies=POLICIES,
        **given.arguments(),
    )
    told = {query for query, _ in given.truth} if given.judged else set()
    queries = {row["query"] for row in given.rows} | told
    models = {row["model"] for row in given.rows}
    assert set(found.select("model", "query").rows()) == {
        (model, query) for model in models for query in queries
    }
    for row in found.iter_rows(named=True):
        ties, judged = given.list_of(row["model"], row["query"])
        relevant = oracles.count_relevant(judged, given.options.get("relevant_from"))
        is_told = not given.judged or row["query"] in told
        assert row["items"] == sum(map(len, ties))
        assert row["n_relevant"] == (relevant if is_told else None)
        present = any(
            row["query"] == one["query"] and row["model"] == one["model"] for one in given.rows
        )
        nothing = relevant == 0 and (
            present or given.judged
        )  # no rows of a model say nothing of what is relevant
        if not is_told or (nothing and given.options["no_relevant"] == "skip"):
            assert row["value"] is None
            continue
        exact = wanted(row, ties, judged, given.options, nothing)
        if exact is not None:
            assert row["value"] == pytest.approx(exact[0], rel=1e-12, abs=1e-15), (
                row,
                ties,
                judged,
            )
            if row["policy"] == "expected":
                assert row["std"] == pytest.approx(exact[1], rel=1e-9, abs=1e-9), (
                    row,
                    ties,
                    judged,
                )
