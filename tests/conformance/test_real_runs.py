"""Runs that were submitted to TREC, and what trec_eval printed of them: none of the official
numbers may move.
"""

from pathlib import Path

import polars as pl
import pytest

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
def test_core17_prints_what_trec_eval_printed():
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
