"""Other systems' test cases, asked of `evaluate`: load, build frames, run, compare.

The data stays where it is: the folder named by the environment variable
``RETRIEVAL_REPORT_CONFORMANCE``. Cases with equal plans (conformance_plans.py) are scored in one
call, each case as a model of its own, so that `summarise` gives one mean per case.
"""

import functools
import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import retrieval_report as rr
from conformance_plans import (
    COMBINATIONS,
    Case,
    Plan,
    has_no_list,
    judged_places,
    own_gains,
    plan_of,
)

FOLDER_VARIABLE = "RETRIEVAL_REPORT_CONFORMANCE"
SKIP_REASON = f"{FOLDER_VARIABLE} is not set: it names the folder with other systems' test cases"
SYSTEMS = (
    "ir_measures",
    "keras_rs",
    "pytrec_eval",
    "ranx",
    "rax",
    "sklearn",
    "tfr",
    "tfsim",
    "torchmetrics",
)

# A masked row must not count at all, so it gets the place and the grade that would change most.
MASKED_SCORE, MASKED_GRADE = 1e6, 3.0


def folder() -> Path:
    return Path(os.environ[FOLDER_VARIABLE])


@functools.cache
def load_cases(system: str) -> tuple[Case, ...]:
    with (folder() / f"vectors_{system}.json").open(encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    return tuple(Case(f"{system}-{number}", data) for number, data in enumerate(cases))


# ---- frames
# ------------------------------------------------------------------------------------------------


def grade(query: Mapping[str, Any], measure: int, plan: Plan) -> float:
    relevance = float(query["relevance"][measure])
    if plan.relevance == "weighted gain":
        return float(query.get("weights", [1.0] * (measure + 1))[measure] * (2.0**relevance - 1.0))
    if plan.relevance == "complement":
        return 1.0 - relevance
    return float(relevance > 0) if plan.relevance == "binary" else relevance


def ranking_rows(case: Case, plan: Plan) -> Iterator[dict[str, Any]]:
    column = "distance" if plan.distances else "score"
    for position, query in enumerate(case.queries):
        row = {"model": case.key, "query": case.query_id(position), "mask": True, "weight": 1.0}
        weights = query.get("weights", [1.0] * len(query["items"]))
        measures = range(len(query["items"]))
        for measure in reversed(measures) if plan.reversed_rows else measures:
            yield row | {
                "item": query["items"][measure],
                column: float(query[column][measure]),
                "relevance": grade(query, measure, plan),
                "weight": float(weights[measure]),
            }
        if has_no_list(query):
            for number, relevance in enumerate(query["unretrieved_relevance"]):
                yield row | {
                    "item": f"unretrieved {number}",
                    column: None,
                    "relevance": float(relevance),
                }
        for number in range(masked_items(query)):
            mask = {"mask": False, "item": f"masked {number}", "relevance": MASKED_GRADE}
            yield row | mask | {column: -MASKED_SCORE if plan.distances else MASKED_SCORE}


def masked_items(query: Mapping[str, Any]) -> int:
    """Count the masked items; rax does not record them, so an empty list without judgements gets
    one.
    """
    return int(query.get("n_masked_out", 0)) or int(not query["items"] and not has_no_list(query))


def judgement_rows(case: Case, plan: Plan) -> Iterator[dict[str, Any]]:
    for position, query in enumerate(case.queries):
        row = {"query": case.query_id(position)}
        if plan.relevance == "own gain":
            for item, label in query["raw_qrels"].items():
                yield row | {"item": item, "relevance": own_gains(case)[label]}
            continue
        judged = judged_places(query)
        for index, item in enumerate(query["items"]):
            if judged[index]:
                yield row | {"item": item, "relevance": grade(query, index, plan)}
        for number, relevance in enumerate(query.get("unretrieved_relevance", [])):
            yield row | {"item": f"unretrieved {number}", "relevance": float(relevance)}


def query_frame(cases: Sequence[Case], plan: Plan) -> pl.DataFrame | None:
    if not plan.n_relevant and plan.average != "macro":
        return None
    rows = [
        {"query": case.query_id(position), "label": str(query["query_label"])}
        | ({"n_relevant": query["R_total"]} if plan.n_relevant else {})
        for case in cases
        for position, query in enumerate(case.queries)
    ]
    return pl.DataFrame(rows)


def ranking_frame(cases: Sequence[Case], plan: Plan) -> pl.DataFrame:
    column = "distance" if plan.distances else "score"
    schema: Any = {
        "model": pl.String,
        "query": pl.String,
        "item": pl.String,
        column: pl.Float64,
    }
    schema |= {"relevance": pl.Float64, "mask": pl.Boolean, "weight": pl.Float64}
    frame = pl.DataFrame([row for case in cases for row in ranking_rows(case, plan)], schema=schema)
    unused = (
        ["relevance"] * plan.judgements
        + ["weight"] * (not plan.weights)
        + ["mask"] * frame["mask"].all()
    )
    return frame.drop(unused)


# ---- running and comparing
# ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class Outcome:
    """What we print for one case, by policy: a value per query, and the mean."""

    per_query: Mapping[str, Sequence[float | None]]
    mean: Mapping[str, float | None]


def run(cases: Sequence[Case]) -> dict[str, Outcome]:
    """Score all cases, one `evaluate` per plan; by case key."""
    groups: dict[str, list[Case]] = defaultdict(list)
    plans: dict[str, Plan] = {}
    for case in cases:
        plan = plan_of(case)
        groups[repr(plan)].append(case)
        plans[repr(plan)] = plan
    outcomes: dict[str, Outcome] = {}
    for key, group in groups.items():
        outcomes |= run_group(group, plans[key])
    return outcomes


def run_group(cases: Sequence[Case], plan: Plan) -> dict[str, Outcome]:
    rankings, metrics, queries = weighed(cases, plan)
    judgements = None
    if plan.judgements:
        judgements = pl.DataFrame([row for case in cases for row in judgement_rows(case, plan)])
    scores = rr.evaluate(
        rankings,
        judgements=judgements,
        queries=queries,
        metrics=metrics,
        cutoffs=(plan.cutoff,),
        policies=("expected", "naive"),
        truncated="no",  # the others take the rows for the whole list
        **dict(plan.arguments),
    )
    # Where queries are missing, the scores still have a row for each: those of the other cases.
    scores = scores.filter(pl.col("query").str.starts_with(pl.col("model") + "/"))
    values = values_by_query(scores, plan)
    means = means_by_case(scores, values, queries, plan)
    return {
        case.key: Outcome(
            per_query={
                policy: [
                    values.get((case.query_id(position), policy))
                    for position in range(len(case.queries))
                ]
                for policy in ("expected", "naive")
            },
            mean={policy: means.get((case.key, policy)) for policy in ("expected", "naive")},
        )
        for case in cases
    }


def weighed(cases: Sequence[Case], plan: Plan) -> tuple[pl.DataFrame, Any, pl.DataFrame | None]:
    """Give rankings, metrics and queries; where lists have weights, those, and gains that carry
    what items weigh.
    """
    if plan.average != "weighted":
        return ranking_frame(cases, plan), plan.metrics, query_frame(cases, plan)
    if plan.relevance != "weighted gain":
        rankings = ranking_frame(cases, plan)
        return rankings, plan.metrics, rr.lists.query_weights(rankings, metrics=plan.metrics)
    found = rr.lists.weigh_gains(
        ranking_frame(cases, replace(plan, relevance="as given")), plan.metrics[0]
    )
    return found.rankings, found.metric, found.weights


def values_by_query(scores: pl.DataFrame, plan: Plan) -> dict[tuple[str, str], float | None]:
    if not plan.combination:
        rows = scores.select("query", "policy", "value").iter_rows()
        return {(query, policy): value for query, policy, value in rows}
    parts: dict[tuple[str, str], dict[str, Any]] = defaultdict(dict)
    for row in scores.iter_rows(named=True):
        parts[row["query"], row["policy"]][row["metric"]] = row
    metrics, combine = COMBINATIONS[plan.combination]
    return {
        key: combine(*(by_metric[metric] for metric in metrics)) for key, by_metric in parts.items()
    }


def means_by_case(
    scores: pl.DataFrame,
    values: Mapping[tuple[str, str], float | None],
    queries: pl.DataFrame | None,
    plan: Plan,
) -> dict[tuple[str, str], float | None]:
    if plan.combination:
        collected: dict[tuple[str, str], list[Any]] = defaultdict(list)
        for (query, policy), value in values.items():
            collected[query.split("/")[0], policy].append(value)
        return {key: float(np.mean(parts)) for key, parts in collected.items()}
    average = "micro" if plan.average == "sum" else plan.average
    summary = rr.summarise(scores, queries=queries, average=average)
    means = {}
    for row in summary.iter_rows(named=True):
        value = row[plan.summary_column]
        means[row["model"], row["policy"]] = (
            value * row["queries"] if plan.average == "sum" else value
        )
    return means


def disagreements(case: Case, outcome: Outcome) -> list[str]:
    """Describe each value of a case that is outside the case's own tolerance."""
    wanted = (
        case.data["expected"]
        if isinstance(case.data["expected"], list)
        else [case.data["expected"]]
    )
    found = []
    for policy in policies_to_compare(case):
        single = case.data["expected_kind"] == "aggregate" or case.metric == "num_q"
        values = [outcome.mean[policy]] if single else outcome.per_query[policy]
        for position, (value, expected) in enumerate(zip(values, wanted, strict=True)):
            if not agrees(value, expected, case.data["tolerance"]):
                found.append(
                    f"{case.name} ({case.key}, {policy}, query {position}): {expected} there, "
                    f"{value} here"
                )
    return found


def agrees(value: float | None, expected: float, tolerance: Mapping[str, float]) -> bool:
    allowed = tolerance["atol"] + tolerance["rtol"] * abs(expected)
    return value is not None and abs(value - expected) <= allowed


def policies_to_compare(case: Case) -> tuple[str, ...]:
    """Name the policies that have to give the other system's value."""
    if "LAST" in case.option("ties"):
        return ("naive",)
    return ("expected",) if case.ties_matter else ("expected", "naive")
