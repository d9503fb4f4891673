"""Scores like another system's: what it prints on the same data, query by query, and what the audit
says of it.
"""

from typing import Any

import numpy as np
import polars as pl
import pytest

from retrieval_report import audit, evaluate
from retrieval_report.contracts.warning import noticed
from retrieval_report.metrics.parsing import measure_text
from retrieval_report.systems import conventions, evaluate_like
from retrieval_report.systems.evaluate_like import measures_like

RNG = np.random.default_rng(5)
QUERIES, ITEMS = 5, 30
SCORES = (
    np.round(RNG.random((QUERIES, ITEMS)) * 5) / 4 + (RNG.random((QUERIES, ITEMS)) < 0.5) * 1e-9
)  # ties in float32
GRADES = RNG.integers(0, 4, (QUERIES, ITEMS)) * (RNG.random((QUERIES, ITEMS)) < 0.6)
ROWS = [(f"q{q}", f"d{i}", float(SCORES[q, i])) for q in range(QUERIES) for i in range(ITEMS)]
RANKINGS = pl.DataFrame(ROWS, schema=["query", "item", "score"], orient="row")
JUDGEMENTS = RANKINGS.select("query", "item", relevance=pl.Series(GRADES.ravel()))
BOTH = RANKINGS.join(JUDGEMENTS, on=["query", "item"], maintain_order="left")
ONE_RELEVANT = BOTH.with_columns(relevance=(pl.col("item") == "d7").cast(pl.Int64))


def naive(like: Any, metrics: str, **options: Any) -> list[float]:
    scores = evaluate_like(
        RANKINGS, like, judgements=JUDGEMENTS, metrics=metrics, cutoffs=None, **options
    )
    return scores.filter(policy="naive")["value"].to_list()


def test_trec_eval_10_compares_doubles_and_9_does_not():
    nine, ten = (naive(f"trec_eval {version}", "ndcg, ap") for version in (9, 10))
    assert nine == naive("pytrec_eval", "ndcg, ap")
    assert nine != ten == naive("trec_eval", "ndcg, ap")


@pytest.mark.parametrize("system", conventions()["system"].unique(maintain_order=True))
def test_every_system_prints_what_the_audit_says(system: str):
    alone = system in ("PyKEEN", "OGB", "TGB")  # rank one relevant item among the others
    rankings = ONE_RELEVANT if alone else BOTH
    asked = audit(
        rankings, metrics="ndcg, ap, precision, recall, rr", cutoffs=(5, None), systems=system
    )
    asked = asked.unique(["metric", "cutoff", "version"], keep="first", maintain_order=True)
    asked = asked.unique(
        ["metric", "cutoff"], keep="last", maintain_order=True
    )  # the newest version
    text = ", ".join(
        f"{metric}@{cutoff or 'all'}" for metric, cutoff in asked.select("metric", "cutoff").rows()
    )
    with noticed() as notes:
        scores = evaluate_like(
            rankings,
            system,
            metrics=text,
            policies=("expected", "naive", "best", "shuffled"),
            seed=3,
        )
    low = "score of 0 or less as not relevant: 2 of 80 relevant items of 'model'"
    assert [low in note for note in notes] == [True] * (system == "torchmetrics")
    keys = ["metric", "cutoff"]
    means = scores.group_by(*keys, "policy").agg(pl.mean("value"))
    for row in asked.iter_rows(named=True):
        here = (pl.col("metric") == row["definition"]) & pl.col("cutoff").eq_missing(
            pl.lit(row["cutoff"], pl.Int64)
        )
        of = dict(means.filter(here).select("policy", "value").rows())
        assert of["expected"] == pytest.approx(row["expected"], rel=1e-12)
        assert row["prints_low"] - 1e-12 <= of["naive"] <= row["prints_high"] + 1e-12
        assert row["prints"] is None or of["naive"] == pytest.approx(row["prints"], rel=1e-12)
        assert of["best"] == pytest.approx(row["highest"], rel=1e-12)
    listed = scores.filter(model="model", query="q0").select("policy").to_series().to_list()
    assert listed == ["expected", "naive", "best", "shuffled"] * (len(listed) // 4)
    assert scores.schema == evaluate(BOTH, metrics="rr").schema


def test_the_systems_rules_hold_and_the_rest_is_free():
    empty = BOTH.with_columns(
        relevance=pl.when(pl.col("query") == "q0").then(0).otherwise("relevance")
    )
    zero = evaluate_like(empty, "trec_eval", metrics="ap", cutoffs=None)
    skip = evaluate_like(empty, "Recommenders", metrics="ap", cutoffs=10)
    assert zero.filter(query="q0")["value"].to_list() == [0.0, 0.0]
    assert skip.filter(query="q0")["value"].to_list() == [None, None]
    strict = evaluate_like(BOTH, "ranx", metrics="p@5", relevant_from=3, threads=1)
    assert strict["value"].sum() < evaluate_like(BOTH, "ranx", metrics="p@5")["value"].sum()
    defined = evaluate_like(BOTH, "Recommenders", metrics="ap", cutoffs=5)["metric"].unique()
    assert defined.to_list() == ["ap(denominator=min)"]


@pytest.mark.parametrize(
    ("like", "theirs", "ours"),
    [
        ("mteb", "ndcg_at_10, map_at_100, recall_at_5, precision_at_5, mrr_at_10, hit_rate_at_1",
         "ndcg@10, ap@100, recall@5, precision@5, rr@10, hit_rate@1"),
        ("mteb", "R_cap_at_10", "recall(denominator=min)@10"),
        ("BEIR", "NDCG@10, MAP@100, Recall@5, P@5, MRR@10, Accuracy@1",
         "ndcg@10, ap@100, recall@5, precision@5, rr@10, hit_rate@1"),
        ("beir", "R_cap@10, recall_cap@5", "recall(denominator=min)@10, recall(denominator=min)@5"),
        ("InformationRetrievalEvaluator", "cosine_accuracy@1, dot_map@100, ndcg@10",
         "hit_rate@1, ap(denominator=min)@100, ndcg@10"),
        ("NanoBEIREvaluator", "NanoBEIR_mean_cosine_mrr@10", "rr@10"),
        ("nano-beir", "NanoMSMARCO_dot_map@100", "ap(denominator=min)@100"),
        ("sparse-reranking-evaluator", "map, mrr@10, ndcg@10",
         "ap@all, rr@10, ndcg(ideal=list)@10"),
        ("CrossEncoderNanoBEIREvaluator", "map, ndcg@10", "ap@all, ndcg(ideal=list)@10"),
        ("PyKEEN", "inverse_harmonic_mean_rank, hits_at_10", "rr@all, hit_rate@10"),
        ("ogb", "hits@3", "hit_rate@3"),
        ("py-tgb", "mrr", "rr@all"),
    ],
)  # fmt: skip
def test_measures_are_called_as_each_system_calls_them(like: str, theirs: str, ours: str):
    asked = measures_like(like, theirs, None)
    computed = [measure_text(record.definition, cutoff) for (_, cutoff), record in asked.items()]
    assert ", ".join(computed) == ours
