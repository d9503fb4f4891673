"""What the audit says that mteb, BEIR, sentence-transformers, PyKEEN, OGB and TGB print: against
their own functions on 200 random runs full of ties, where they are installed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import embedding_evaluators as theirs
import retrieval_report as rr
from retrieval_report.systems.audit import audit

CUTOFFS = [1, 3, 10]
MEASURES = "ndcg, ap, recall, precision, rr, hit_rate"
SETS = range(20)  # of ten runs each
MODELS = [f"m{number}" for number in range(10)]
QUERIES = ["2", "10", "q3", "q4", "q5"]
ITEMS = [str(number) for number in range(25)]  # two of them have the id of a query
ROUNDED = 5.000001e-6


def needs(module: str, package: str) -> None:
    pytest.importorskip(module, reason=f"{package}, of the extra `peers`, is not installed")


def scores_of(random: np.random.Generator, near: bool, shape: tuple[int, ...]) -> Any:
    """Return scores of few values; ``near`` adds differences that float32 cannot hold."""
    return random.integers(1, 7, shape) / 8 + near * random.integers(0, 3, shape) * 1e-10


def tied_set(seed: int, near: bool) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return ten complete runs of five queries, rows in random order, and judgements of a part of
    the items. In every second set nothing is relevant to a query.
    """
    random = np.random.default_rng(seed)
    pairs = pl.DataFrame({"query": QUERIES}).join(pl.DataFrame({"item": ITEMS}), how="cross")
    runs = [
        pairs.with_columns(
            model=pl.lit(model), score=pl.Series(scores_of(random, near, (pairs.height,)))
        )
        for model in MODELS
    ]
    grades = pl.Series("relevance", random.choice([0, 0, 1, 2], pairs.height))
    judged = pairs.with_columns(grades).filter(pl.Series(random.random(pairs.height) < 0.5))
    one = pl.DataFrame({"query": QUERIES, "item": "elsewhere", "relevance": 1})
    judged = pl.concat([judged, one.cast(judged.schema)])
    if seed % 2:
        nothing = pl.when(pl.col("query") == "q4").then(0).otherwise("relevance")
        judged = judged.with_columns(relevance=nothing)
    return pl.concat(runs).sample(fraction=1, shuffle=True, seed=seed), judged


def said(rankings: pl.DataFrame, system: str, **asked: Any) -> dict[tuple[str, str], Any]:
    """Return the rows of the audit by model and call, as the functions beside name them."""
    rows = audit(rankings, systems=system, **asked).unique(["model", "call", "cutoff"])
    return {
        (row["model"], row["call"] + (f"@{row['cutoff']}" if row["cutoff"] else "")): row
        for row in rows.iter_rows(named=True)
    }


def cut(run: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Return lists of differing lengths; the first model has none of one query."""
    kept = pl.Series(np.random.default_rng(seed + 100).random(run.height) < 0.7)
    return run.filter(kept & ~((pl.col("model") == "m0") & (pl.col("query") == "q5")))


@pytest.mark.parametrize("system", ["mteb", "BEIR"])
@pytest.mark.parametrize("seed", SETS)
def test_mteb_and_beir_print_what_the_audit_says(system: str, seed: int) -> None:
    needs(
        *{
            "mteb": ("mteb._evaluators.retrieval_metrics", "mteb"),
            "BEIR": ("beir.retrieval.evaluation", "beir"),
        }[system]
    )
    run, judged = tied_set(seed, near=seed % 3 == 0)
    run = cut(run, seed)
    ours = said(run, system, judgements=judged, measures=MEASURES, cutoffs=CUTOFFS)
    qrels, function = theirs.as_dicts(judged, "relevance"), getattr(theirs, system.lower())
    compared = 0
    for model in MODELS:
        printed = function(theirs.as_dicts(run.filter(model=model), "score"), qrels, CUTOFFS)
        for call, value in printed.items():
            assert ours[model, call]["prints"] == pytest.approx(value, abs=ROUNDED), (model, call)
        compared += len(printed)
    failed = [row for row in ours.values() if row["prints"] is None]
    assert len(failed) == (30 if system == "BEIR" and seed % 2 else 0)  # capped recall
    assert compared + len(failed) == len(ours) == 210


@pytest.mark.parametrize("seed", SETS)
def test_sentence_transformers_prints_what_the_audit_says(seed: int) -> None:
    needs("sentence_transformers", "sentence-transformers")
    run, judged = tied_set(seed, near=seed % 3 == 0)
    asked: dict[str, Any] = {"judgements": judged, "measures": MEASURES, "cutoffs": CUTOFFS}
    ours = said(run, "sentence-transformers", **asked)
    qrels = theirs.as_dicts(judged, "relevance")
    for model in MODELS:
        wide = run.filter(model=model).pivot("item", index="query", values="score")
        scores, queries = wide.drop("query").to_numpy(), wide["query"].to_list()
        printed = theirs.information_retrieval(scores, queries, wide.columns[1:], qrels, CUTOFFS)
        assert len(printed) == 18
        for call, value in printed.items():
            assert ours[model, call]["prints"] == pytest.approx(value, rel=1e-12), (model, call)
    assert len(ours) == 180


@pytest.mark.parametrize("seed", SETS)
@pytest.mark.parametrize("cross_encoder", [False, True])
def test_rerankers_print_what_the_audit_says(cross_encoder: bool, seed: int) -> None:
    """The place of the first relevant item depends on a sort that is not stable; what remains of it
    lies between the bounds.
    """
    needs("sentence_transformers", "sentence-transformers")
    run, judged = tied_set(seed, near=False)
    run = cut(run, seed) if seed % 4 else run.filter(pl.col("item").str.len_chars() == 1)
    lists = run.join(judged, on=["query", "item"], how="left", maintain_order="left")
    lists = lists.with_columns(pl.col("relevance").fill_null(0))
    if seed % 5 == 0:  # a query of which everything is relevant
        everything = pl.when(pl.col("query") == "2").then(1).otherwise("relevance")
        lists = lists.with_columns(relevance=everything)
    system = f"{'CrossEncoder' * cross_encoder}RerankingEvaluator"
    asked: dict[str, Any] = {"measures": "rr@10, ndcg@10, ap"}
    ours = said(lists, system, **asked)
    assert len(ours) == 30
    for model in MODELS:
        printed = theirs.reranking(lists.filter(model=model), 10, cross_encoder)
        for call in ("ndcg@k@10", "map"):
            assert ours[model, call]["prints"] == pytest.approx(printed[call], rel=1e-9), call
        row = ours[model, "mrr@k@10"]
        low, high = row["prints_low"], row["prints_high"]
        assert low - 1e-12 <= printed["mrr@k@10"] <= high + 1e-12
        if not cross_encoder and not (lists.group_by("model", "query").len()["len"] > 16).any():
            assert row["prints"] == pytest.approx(printed["mrr@k@10"], rel=1e-12)
            assert low == high


@pytest.mark.parametrize("seed", SETS)
def test_knowledge_graphs_print_what_the_audit_says(seed: int) -> None:
    for module in ("pykeen", "ogb", "tgb"):
        needs(module, module)
    random = np.random.default_rng(seed)
    tables = {model: scores_of(random, False, (6, 20)) for model in MODELS}
    rows = [
        (model, str(query), str(item), table[query, item], int(item == 0))
        for model, table in tables.items()
        for query in range(6)
        for item in range(20)
    ]
    lists = pl.DataFrame(rows, ["model", "query", "item", "score", "relevance"], orient="row")
    measures = ["rr@all", *(f"hit_rate@{k}" for k in CUTOFFS)]
    ours = {system: said(lists, system, measures=measures) for system in ("PyKEEN", "OGB", "TGB")}
    for model, table in tables.items():
        for system, printed in theirs.graphs(table, CUTOFFS).items():
            for call, value in printed.items():
                assert ours[system][model, call]["prints"] == pytest.approx(value, rel=1e-6), call
    assert {len(rows) for rows in ours.values()} == {40}


# A run and judgements made by hand, and what the systems printed of them on 28 November 2026: mteb
# 2.26.24, BEIR 2.2.0, sentence-transformers 6.2.0 (torch 2.14.1), PyKEEN 1.11.1, OGB 1.3.6 and TGB
# 2.3.0. The first query ties a relevant item with two others, the second finds an item of its own
# id, and two scores of the third differ by less than float32 can hold.
PRINTED = Path(__file__).parents[1] / "data" / "printed_by_hand.json"
HAND_RUN = {
    "q1": {"b": 0.5, "a": 0.5, "c": 0.5, "d": 0.25, "e": 0.25},
    "q2": {"a": 0.75, "q2": 0.75, "c": 0.75, "b": 0.75, "e": 0.125},
    "q3": {"e": 0.5, "d": 0.5 + 1e-10, "a": 0.25, "b": 0.25, "c": 0.125},
}
HAND_QRELS = {
    "q1": {"a": 2, "d": 1, "e": 0},
    "q2": {"c": 1, "b": 2, "x": 1, "a": 0},
    "q3": {"d": 1, "a": 1, "b": 0},
}
RECORDED: dict[str, theirs.Printed] = json.loads(PRINTED.read_text(encoding="utf-8"))
OPEN = ("CrossEncoderRerankingEvaluator", "mrr@k@3")  # depends on the processor


def by_hand() -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the run and its judgements as frames."""
    names: dict[str, Any] = {"score": HAND_RUN, "relevance": HAND_QRELS}
    run, judged = (
        pl.DataFrame(
            [(query, item, one) for query, of in held.items() for item, one in of.items()],
            ["query", "item", name],
            orient="row",
        )
        for name, held in names.items()
    )
    return run, judged


def hand_lists() -> pl.DataFrame:
    run, judged = by_hand()
    joined = run.join(judged, on=["query", "item"], how="left", maintain_order="left")
    return joined.with_columns(pl.col("relevance").fill_null(0), pl.col("score").cast(pl.Float32))


def graph_table() -> Any:
    """Return the scores of the true item, then of the others, for each of three queries."""
    return np.array([[0.5, 0.5, 0.5, 0.25, 0.5], [0.75, 0.75, 1, 0.25, 1], [0.5, 0.25, 0.25, 0, 0]])


def graph_lists() -> pl.DataFrame:
    rows = [
        (f"q{query}", f"i{item}", score, int(item == 0))
        for query, scores in enumerate(graph_table())
        for item, score in enumerate(scores)
    ]
    return pl.DataFrame(rows, ["query", "item", "score", "relevance"], orient="row")


@pytest.mark.parametrize("system", RECORDED)
def test_the_audit_says_what_was_printed_of_a_run_made_by_hand(system: str) -> None:
    """So that a machine without these systems tests more than that nothing is installed."""
    run, judged = by_hand()
    graph = system in ("PyKEEN", "OGB", "TGB")
    reranks = system.endswith("RerankingEvaluator")
    asked: dict[str, Any] = {"measures": MEASURES, "cutoffs": [1, 3]}
    if graph:
        run, asked = graph_lists(), {"measures": "rr@all, hit_rate@1, hit_rate@3"}
    elif reranks:
        run, asked = hand_lists(), {"measures": "rr@3, ndcg@3, ap"}
    else:
        asked |= {"judgements": judged}
    ours = said(run, system, **asked)
    assert {call for _, call in ours} == {*RECORDED[system]}
    for (_, call), row in ours.items():
        value = RECORDED[system][call]
        close = ROUNDED if system in ("mteb", "BEIR") else 1e-6 if graph else 1e-12
        if row["prints"] is None:
            assert (system, call) == OPEN
            assert row["prints_low"] <= value <= row["prints_high"]
        else:
            assert row["prints"] == pytest.approx(value, abs=close), call
    assert any(abs(row["off"] or 0) > 0.01 for row in ours.values())


def test_what_they_save_is_read(tmp_path: Path) -> None:
    """Predictions of mteb, predictions per query of sentence-transformers, and runs of BEIR."""
    needs("mteb.abstasks.abstask", "mteb")
    needs("beir.util", "beir")
    run, judged = by_hand()
    folder = theirs.saved(HAND_RUN, tmp_path)
    wanted = sorted(run.rows())
    names = {"mteb": "org/model", "beir": "mine"}
    for system, path in folder.items():
        found = rr.read_rankings(path)
        found = found.filter(pl.col("score") > 0)  # sentence-transformers ranks every item
        assert sorted(found.select("query", "item", "score").rows()) == wanted, system
        model = names.get(system, "Information-Retrieval_evaluation_hand_predictions_table")
        assert found["model"].unique().to_list() == [model]
        value = rr.Study(found, "rr@10", judgements=judged, truncated="no").summary["value"][0]
        assert 0 < value < 1
