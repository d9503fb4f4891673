"""TALR's tieAP and tieNDCG of Hamming codes: the whole list, integer distances, many ties.

TALR computes its ideal DCG in single precision: 1e-6. It prints NDCG 1 where the ideal is 0, leaves
the trailing queries without relevant items out of its mean of AP, and raises where there are no
others.
"""

import functools
import json
import math
import os
from typing import Any

import polars as pl
import pytest

import retrieval_report as rr
from conformance import FOLDER_VARIABLE, SKIP_REASON, folder

pytestmark = [
    pytest.mark.conformance,
    pytest.mark.skipif(FOLDER_VARIABLE not in os.environ, reason=SKIP_REASON),
]

NDCG = "ndcg(gain=exp2)"
BITS = (8, 16, 32)
# Every set, our model, has queries of its own, and lists of all its items.
OWN_QUERIES: dict[str, Any] = {"missing_query": "skip", "truncated": "no"}
POLICIES = ("naive", "best", "worst")  # in TALR: stable, optimistic, pessimistic


@functools.cache
def load_sets(bits: int) -> list[dict[str, Any]]:
    with (folder() / f"talr_{bits}.json").open(encoding="utf-8") as file:
        sets: list[dict[str, Any]] = json.load(file)["sets"]
    return sets


@functools.cache
def rankings_of(bits: int) -> pl.DataFrame:
    """One model per set; a query is named after its set, too."""
    lists = [
        pl.DataFrame({"distance": query["distance"], "relevance": query["relevance"]}).select(
            pl.lit(group["name"]).alias("model"),
            pl.lit(f"{group['name']}/{query['qid']}").alias("query"),
            pl.int_range(pl.len()).alias("item"),
            "distance",
            "relevance",
        )
        for group in load_sets(bits)
        for query in group["queries"]
    ]
    return pl.concat(lists)


def own_queries(scores: pl.DataFrame) -> pl.DataFrame:
    """Leave out the rows that say that a set does not have the queries of the others."""
    return scores.filter(pl.col("query").str.starts_with(pl.col("model") + "/"))


def values_of(scores: pl.DataFrame) -> dict[tuple[str, str], float]:
    rows = own_queries(scores).select("query", "metric", "value").iter_rows()
    return {(query, metric): value for query, metric, value in rows}


def queries_of(bits: int) -> list[tuple[str, dict[str, Any]]]:
    return [
        (f"{group['name']}/{query['qid']}", query)
        for group in load_sets(bits)
        for query in group["queries"]
    ]


def test_there_are_66_sets_of_354_queries():
    assert sum(len(load_sets(bits)) for bits in BITS) == 66
    assert sum(len(queries_of(bits)) for bits in BITS) == 354


@pytest.mark.parametrize("counted", [False, True], ids=["items", "counts"])
@pytest.mark.parametrize("bits", BITS)
def test_tie_ap_and_tie_ndcg(bits: int, counted: bool):
    frame = rr.count_ties(rankings_of(bits)) if counted else rankings_of(bits)
    asked: dict[str, Any] = {
        "metrics": ("ap", NDCG),
        "cutoffs": (None,),
        "policies": ("expected",),
        **OWN_QUERIES,
    }
    zero = values_of(rr.evaluate(frame, no_relevant="zero", **asked))
    one = values_of(rr.evaluate(frame, no_relevant="one", **asked))
    wrong = []
    for name, query in queries_of(bits):
        average_precision = 0.0 if query["tieAP"] is None else query["tieAP"]
        if not math.isclose(zero[name, "ap"], average_precision, rel_tol=1e-12):
            wrong.append(f"AP of {name}: {average_precision} there, {zero[name, 'ap']} here")
        if abs(one[name, NDCG] - query["tieNDCG"]) > 1e-6:
            wrong.append(f"NDCG of {name}: {query['tieNDCG']} there, {one[name, NDCG]} here")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("bits", BITS)
def test_ndcg_of_stable_optimistic_and_pessimistic_order(bits: int):
    cutoffs = sorted({group["cutoff_of_ndcg_cut"] for group in load_sets(bits)})
    scores = rr.evaluate(
        rankings_of(bits),
        metrics=(NDCG,),
        cutoffs=(*cutoffs, None),
        policies=POLICIES,
        no_relevant="one",
        **OWN_QUERIES,
    )
    scores = own_queries(scores)
    columns = scores.select("query", "cutoff", "policy", "value").iter_rows()
    values = {(query, cutoff, policy): value for query, cutoff, policy, value in columns}
    for group in load_sets(bits):
        for query in group["queries"]:
            name, cutoff = f"{group['name']}/{query['qid']}", group["cutoff_of_ndcg_cut"]
            whole = [values[name, None, policy] for policy in POLICIES]
            short = [values[name, cutoff, policy] for policy in POLICIES]
            assert whole == pytest.approx(query["ndcg_stable_optimistic_pessimistic"], abs=1e-6), (
                name
            )
            assert short == pytest.approx(
                query["ndcg_cut_stable_optimistic_pessimistic"], abs=1e-6
            ), name
