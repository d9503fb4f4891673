"""Runs that were submitted to TREC, and what trec_eval printed of them: none of the official
numbers may move.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from real_data import folder
from retrieval_report import evaluate, read_judgements, read_rankings, summarise

OPTIONS = {
    "policies": "naive",
    "naive_order": "item_descending",
    "unjudged_query": "skip",
    "truncated": "within_tie",
}


def printed(run: Path, judgements: pl.DataFrame, metrics: list[str]) -> list[float]:
    """The means that trec_eval prints: ties by document name, the last one first."""
    rankings = read_rankings(run, model="run")
    means = summarise(evaluate(rankings, judgements=judgements, metrics=metrics, **OPTIONS))  # type: ignore[arg-type]
    return means["value"].to_list()


@pytest.mark.filterwarnings("ignore:.*more than 6 fields")  # lines of JASS have a seventh
def test_core17_prints_what_trec_eval_printed() -> None:
    measure = folder("core17")
    judgements = read_judgements(measure / "qrels.txt")
    runs = sorted((measure / "runs").glob("*.gz"))
    assert len(runs) == 20
    names = {"map": "ap@all", "P_30": "precision@30", "ndcg_cut_20": "ndcg@20"}
    for run in runs:
        file = measure / "printed" / f"{run.name.removesuffix('.gz')}.trec_eval"
        told = {
            parts[0]: float(parts[2])
            for parts in map(str.split, file.read_text().splitlines())
            if len(parts) == 3
        }
        wanted = [told[name] for name in names]
        assert printed(run, judgements, list(names.values())) == pytest.approx(
            wanted, abs=5.1e-5
        ), run.name


def test_expressions_rank_label_sets_as_the_leaderboard_does() -> None:
    """Labels of 22 language models, taken as scores with large ties, lazily and in a stream."""
    data = folder("llmjudge")

    def labels(path: Path) -> pl.LazyFrame:
        names = ["query", "zero", "item", "grade"]
        return pl.scan_csv(path, separator=" ", has_header=False, new_columns=names)

    human = labels(data / "qrels.txt").select("query", "item", relevance="grade")
    runs = pl.concat(
        labels(path).select(pl.lit(path.stem).alias("model"), "query", "item", score="grade")
        for path in sorted((data / "labels").glob("*.txt"))
    )
    measures = [
        rr.expr.ndcg("relevance", score="score", k=10),
        rr.expr.ap("relevance", score="score", relevant_from=2),
        rr.expr.rr("relevance", score="score", relevant_from=2),
        rr.expr.recall("relevance", score="score", k=100, relevant_from=2),
    ]
    per_query = (
        runs.join(human, on=["query", "item"], how="left")
        .with_columns(pl.col("relevance").fill_null(0))
        .group_by("model", "query")
        .agg(measures)
        .sort("model", "query")
        .collect(engine="streaming")
    )
    first = per_query.group_by("model").agg(pl.col("ndcg@10").mean()).sort("ndcg@10").tail(3)
    assert first["model"].to_list() == ["Olz-gpt4o", "willia-umbrela2", "willia-umbrela1"]
    assert first["ndcg@10"].round(4).to_list() == [0.6636, 0.6661, 0.6701]
    for level, names in ((None, ["ndcg@10"]), (2, ["ap@all", "rr@all", "recall@100"])):
        scores = rr.evaluate(
            runs.collect(),
            judgements=human.collect(),
            metrics=[name.replace("@all", "") for name in names],
            relevant_from=level,
            policies="expected",
            truncated="no",
        )
        for name in names:
            metric, _, cutoff = name.partition("@")
            own = scores.filter(
                pl.col("metric") == metric,
                pl.col("cutoff").eq_missing(None if cutoff == "all" else int(cutoff)),
            ).sort("model", "query")
            np.testing.assert_allclose(per_query[name], own["value"], rtol=1e-12, atol=0)
