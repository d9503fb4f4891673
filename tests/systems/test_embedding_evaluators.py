"""What the audit says that mteb, BEIR, sentence-transformers, PyKEEN, OGB and TGB print: against
what they printed, and where they are installed, that against what they print.

tests/data/printed_by_others.json holds runs full of ties, and what was printed of them on 28 and 29
November 2026: mteb 2.26.24, BEIR 2.2.0, sentence-transformers 6.2.0 (torch 2.14.1), PyKEEN 1.11.1,
OGB 1.3.6 and TGB 2.3.0. One run was made by hand: the first query ties a relevant item with two
others, the second finds an item of its own id, and two scores of the third differ by less than
float32 can hold.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import embedding_evaluators as theirs
import retrieval_report as rr
from retrieval_report.systems.audit import audit

FILE = Path(__file__).parents[1] / "data" / "printed_by_others.json"
CASES: Any = json.loads(FILE.read_text(encoding="utf-8"))
PRINTED = pytest.mark.parametrize(
    ("name", "system"), [(name, system) for name in CASES for system in CASES[name]["printed"]]
)
GRAPHS = ("PyKEEN", "OGB", "TGB")
MEASURES = "ndcg, ap, recall, precision, rr, hit_rate"


def rows_of(held: dict[str, dict[str, Any]], name: str) -> pl.DataFrame:
    rows = [(query, item, one) for query, of in held.items() for item, one in of.items()]
    return pl.DataFrame(rows, ["query", "item", name], orient="row")


def lists_of(case: dict[str, Any]) -> pl.DataFrame:
    """Return the lists as rerankers see them."""
    judged = rows_of(case["judged"], "relevance")
    run = rows_of(case["run"], "score").with_columns(pl.col("score").cast(pl.Float32))
    joined = run.join(judged, on=["query", "item"], how="left", maintain_order="left")
    return joined.with_columns(pl.col("relevance").fill_null(0))


def said(case: dict[str, Any], system: str) -> dict[str, dict[str, Any]]:
    """Return the rows of the audit by call."""
    cutoffs = case["cutoffs"]
    if system in GRAPHS:
        scores = np.array(case["graph"])
        query, item = (axis.ravel() for axis in np.indices(scores.shape))
        columns = {"query": query, "item": item, "score": scores.ravel(), "relevance": item == 0}
        asked: Any = {"rankings": pl.DataFrame(columns)}
        asked["measures"] = ["rr@all", *(f"hit_rate@{k}" for k in cutoffs)]
    elif system.endswith("RerankingEvaluator"):
        last = cutoffs[-1]
        asked = {"rankings": lists_of(case), "measures": f"rr@{last}, ndcg@{last}, ap"}
    else:
        asked = {"rankings": rows_of(case["run"], "score"), "measures": MEASURES}
        asked |= {"judgements": rows_of(case["judged"], "relevance"), "cutoffs": cutoffs}
    rows = audit(systems=system, **asked).unique(["call", "cutoff"])
    return {
        row["call"] + (f"@{row['cutoff']}" if row["cutoff"] else ""): row
        for row in rows.iter_rows(named=True)
    }


@PRINTED
def test_the_audit_says_what_was_printed(name: str, system: str):
    ours, printed = said(CASES[name], system), CASES[name]["printed"][system]
    close = 5.000001e-6 if system in ("mteb", "BEIR") else 1e-6 if system in GRAPHS else 1e-9
    for call, row in ours.items():
        if row["prints"] is None and row["prints_low"] is not None:
            assert (system, call[:3]) in (
                ("CrossEncoderRerankingEvaluator", "mrr"),  # depends on the processor
                ("RerankingEvaluator", "mrr"),  # of lists beyond 16 items
            )
            assert row["prints_low"] - 1e-12 <= printed[call] <= row["prints_high"] + 1e-12
        else:  # it prints no capped recall where nothing is relevant to a query
            assert row["prints"] == pytest.approx(printed.get(call), abs=close), call
    assert {*printed} <= {*ours}


@PRINTED
def test_it_is_what_they_print(name: str, system: str):
    needed = [system.lower().replace("-", "_")]
    if system in GRAPHS:  # one function asks all three
        needed = ["pykeen", "ogb", "tgb"]
    elif system.endswith("RerankingEvaluator"):
        needed = ["sentence_transformers"]
    for module in needed:
        pytest.importorskip(module, reason=f"{module}, of the extra `peers`, is not installed")
    case = CASES[name]
    run, judged, cutoffs = (case[part] for part in ("run", "judged", "cutoffs"))
    if system in GRAPHS:
        printed = theirs.graphs(np.array(case["graph"]), cutoffs)[system]
    elif system.endswith("RerankingEvaluator"):
        printed = theirs.reranking(lists_of(case), cutoffs[-1], system.startswith("Cross"))
    elif system == "sentence-transformers":
        wide = rows_of(run, "score").pivot("item", index="query", values="score")
        wide = wide.fill_null(-1.0)
        scores, queries = wide.drop("query").to_numpy(), wide["query"].to_list()
        printed = theirs.information_retrieval(scores, queries, wide.columns[1:], judged, cutoffs)
    else:
        printed = getattr(theirs, system.lower())(run, judged, cutoffs)
    assert printed == pytest.approx(case["printed"][system], rel=1e-9)


def test_what_they_save_is_read(tmp_path: Path):
    """Predictions of mteb, predictions per query of sentence-transformers, and runs of BEIR."""
    for module in ("mteb.abstasks.abstask", "beir.util"):
        package = module.partition(".")[0]
        pytest.importorskip(module, reason=f"{package}, of the extra `peers`, is not installed")
    run = CASES["by hand"]["run"]
    judged = rows_of(CASES["by hand"]["judged"], "relevance")
    names = {"mteb": "org/model", "beir": "mine"}
    for system, path in theirs.saved(run, tmp_path).items():
        found = rr.read_rankings(path)
        found = found.filter(pl.col("score") > 0)  # sentence-transformers ranks every item
        rows = found.select("query", "item", "score").rows()
        assert sorted(rows) == sorted(rows_of(run, "score").rows()), system
        model = names.get(system, "Information-Retrieval_evaluation_hand_predictions_table")
        assert found["model"].unique().to_list() == [model]
        value = rr.Study(found, "rr@10", judgements=judged, truncated="no").summary["value"][0]
        assert 0 < value < 1
