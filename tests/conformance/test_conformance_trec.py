"""trec_eval's own test runs: its data through our TREC reader, its printed results and
pytrec_eval's digits.

trec_eval breaks ties by item id, descending: ``naive_order="item_descending"``. The `long_*.csv`
files hold the rank it gave, so the same numbers must come out as the expectation over a list
without ties.
"""

import csv
import functools
import math
import os
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl
import pytest

import retrieval_report as rr
from conformance import FOLDER_VARIABLE, SKIP_REASON, folder

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.filterwarnings(
        "ignore:.*results.trunc.* more than 6 fields"
    ),  # trec_eval's test of just that
    pytest.mark.skipif(FOLDER_VARIABLE not in os.environ, reason=SKIP_REASON),
]

CUTOFFS = (1, 2, 3, 5, 7, 10, 15, 20, 23, 30, 100, 200, 500, 1000, 2000, None)
OWN_GAINS: dict[float, float] = {
    0: 0.0,
    1: 3.0,
}  # of ndcg.1=3,2=9,4=4.5: the grades that qrels.test has
METRICS = (
    "precision",
    "precision(denominator=retrieved)",
    "recall",
    "f1",
    "hit_rate",
    "r_precision",
    "ap",
    "rr",
    "ndcg",
    "rbp(p=0.9)",
)

# Rows of one query by (metric, cutoff), and the value that trec_eval prints, computed from them.
Rows = Mapping[tuple[str, int | None], Mapping[str, Any]]
PLAIN = {
    "map": "ap",
    "map_cut": "ap",
    "ndcg": "ndcg",
    "ndcg_cut": "ndcg",
    "P": "precision",
    "rbp": "rbp(p=0.9)",
    "recall": "recall",
    "recip_rank": "rr",
    "Rprec": "r_precision",
    "Rprec_mult_1.00": "r_precision",
    "set_F": "f1",
    "set_P": "precision(denominator=retrieved)",
    "set_recall": "recall",
    "success": "hit_rate",
}


def cut(measure: str) -> int | None:
    number = re.search(r"_(\d+)$", measure)
    return int(number[1]) if number else None


def plain(measure: str) -> tuple[str, int | None] | None:
    """Name the metric and cutoff that are the measure, as they stand."""
    if measure in PLAIN:
        return PLAIN[measure], None
    stem = re.sub(r"_\d+$", "", measure)
    return (PLAIN[stem], cut(measure)) if stem in PLAIN and cut(measure) else None


def is_compared(measure: str) -> bool:
    return bool(plain(measure)) or measure == "ndcg_1=3,2=9,4=4.5"


# ---- data
# --------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """One call of trec_eval: its files and options."""

    qrels: str
    results: str
    long: str
    relevant_from: int = 1
    missing_query: str = "skip"
    depth: int | None = None
    float32: bool = False


TEST = Run("qrels.test", "results.test", "test")
RUNS = {
    "out.test": TEST,
    "out.test.a": TEST,
    "out.test.aq": TEST,
    "out.test.meas_params": TEST,
    "out.comment.test": Run("qrels.comment.test", "results.comment.test", "rag24"),
    "out.test.aqc": Run("qrels.test", "results.trunc", "trunc", missing_query="zero"),
    "out.test.aqcM": Run("qrels.test", "results.trunc", "trunc", missing_query="zero", depth=100),
    "out.test.aql": Run("qrels.rel_level", "results.test", "rel_level", relevant_from=2),
}
PYTREC_EVAL_RUNS = {
    "test": TEST,
    "rag24": RUNS["out.comment.test"],
    "trunc": replace(RUNS["out.test.aqc"], missing_query="skip"),
    "rel_level": RUNS["out.test.aql"],
    "q302": Run("qrels-302.test", "results-302.test", "q302"),
}


def read_expected(name: str) -> list[dict[str, str]]:
    with (folder() / "trec_eval_data" / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def judged(judgements: pl.DataFrame) -> pl.DataFrame:
    return judgements.filter(pl.col("relevance") >= 0)  # below zero: in the pool, but not judged


def read_files(run: Run) -> tuple[pl.DataFrame, pl.DataFrame]:
    data = folder() / "trec_eval_data"
    rankings = rr.read_rankings(data / run.results)
    if run.float32:
        rankings = rankings.with_columns(pl.col("score").cast(pl.Float32))
    if run.depth:
        order = [pl.col("score"), pl.col("item")]
        rankings = (
            rankings.sort(order, descending=True)
            .group_by("query", maintain_order=True)
            .head(run.depth)
        )
    return rankings, judged(rr.read_judgements(data / run.qrels))


def read_long(run: Run) -> tuple[pl.DataFrame, pl.DataFrame]:
    types = {"query": pl.String, "item": pl.String, "trec_rank": pl.Int64, "qrels_label": pl.Int64}
    frame = pl.read_csv(
        folder() / "trec_eval_data" / f"long_{run.long}.csv", schema_overrides=types
    )
    rankings = frame.filter(retrieved=1).select("query", "item", distance="trec_rank")
    if run.depth:
        rankings = rankings.filter(pl.col("distance") <= run.depth)
    judgements = frame.filter(pl.col("qrels_label").is_not_null())
    return rankings, judged(judgements.select("query", "item", relevance="qrels_label"))


@functools.cache
def scores_of(run: Run, policy: str) -> tuple[dict[str, Rows], dict[tuple[str, int | None], float]]:
    """Give the rows of each query, and the means, of one run."""
    rankings, judgements = read_files(run) if policy == "naive" else read_long(run)
    scores = rr.evaluate(
        rankings,
        judgements=judgements,
        metrics=(*METRICS, *([rr.NDCG(gain=OWN_GAINS)] if run.qrels == "qrels.test" else [])),
        cutoffs=CUTOFFS,
        policies=(policy,),
        relevant_from=run.relevant_from,
        naive_order="item_descending",
        missing_query=run.missing_query,
        unjudged="non_relevant",
        unjudged_query="skip",
        truncated="within_tie",  # as the runs were; what trec_eval prints is the same
    )
    by_query: dict[str, dict[tuple[str, int | None], Any]] = defaultdict(dict)
    for row in scores.drop_nulls("value").iter_rows(named=True):  # null: a query that was left out
        by_query[row["query"]][row["metric"], row["cutoff"]] = row
    summary = rr.summarise(scores).select("metric", "cutoff", "value").iter_rows()
    return dict(by_query), {(metric, cutoff): value for metric, cutoff, value in summary}


def value_of(measure: str, query: str, run: Run, policy: str) -> float:
    """Give the number that stands for one line of trec_eval's output."""
    by_query, means = scores_of(run, policy)
    key = plain(measure) or (next(metric for metric, _ in means if metric not in METRICS), None)
    return float(means[key] if query == "all" else by_query[query][key]["value"])


# With grades, trec_eval's rbp divides them by the largest grade of the query: see the test below.
OTHER_DEFINITION = {("out.test.aql", "rbp")}


# ---- tests
# -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["naive", "expected"])
@pytest.mark.parametrize("name", RUNS)
def test_results_that_trec_eval_prints(name: str, policy: str):
    """Four decimals, per query and over all, of every option that the measures here know."""
    lines = [line for line in read_expected("expected_all.csv") if line["expected_file"] == name]
    lines = [line for line in lines if is_compared(line["measure"])]
    lines = [line for line in lines if (name, line["measure"]) not in OTHER_DEFINITION]
    assert len(lines) > 10
    wrong = []
    for line in lines:
        value = value_of(line["measure"], line["query"], RUNS[name], policy)
        if abs(value - float(line["value"])) > 0.5000001e-4:
            wrong.append(
                f"{line['measure']} of {line['query']}: {line['value']} there, {value} here"
            )
    assert not wrong, f"{len(wrong)} of {len(lines)}:\n" + "\n".join(wrong)


@pytest.mark.parametrize("dataset", PYTREC_EVAL_RUNS)
def test_full_precision_of_pytrec_eval(dataset: str):
    """pytrec_eval casts the scores to float32 first, which we do here before we evaluate."""
    run = replace(PYTREC_EVAL_RUNS[dataset], float32=True)
    lines = [
        line
        for line in read_expected("pytrec_eval_full_precision.csv")
        if line["dataset"] == dataset
    ]
    lines = [line for line in lines if is_compared(line["measure"])]
    wrong = []
    for line in lines:
        value = value_of(line["measure"], line["query"], run, "naive")
        if not math.isclose(value, float(line["value"]), rel_tol=1e-12, abs_tol=1e-15):
            wrong.append(
                f"{line['measure']} of {line['query']}: {line['value']} there, {value} here"
            )
    assert not wrong, f"{len(wrong)} of {len(lines)}:\n" + "\n".join(wrong)


def test_rbp_with_grades():
    """In qrels.rel_level the grades of query 301 go up to 4, so RBP's grades are fractions of 4."""
    rankings, judgements = read_files(RUNS["out.test.aql"])
    scores = rr.evaluate(
        rankings.filter(query="301"),
        judgements=judgements.filter(query="301"),
        metrics=("rbp(p=0.9,max_grade=4)",),
        cutoffs=(None,),
        policies=("naive",),
        naive_order="item_descending",
        unjudged="non_relevant",
        truncated="within_tie",
    )
    lines = read_expected("expected_all.csv")
    printed = [
        line["value"]
        for line in lines
        if (line["expected_file"], line["measure"], line["query"]) == ("out.test.aql", "rbp", "301")
    ]
    assert [f"{value:.4f}" for value in scores["value"]] == printed == ["0.0465"]
