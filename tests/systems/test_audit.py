"""What the audit says others print: against the others where they are installed, else against plain
recounts.
"""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

import retrieval_report as rr
from audit_data import METRICS, make_judgements, make_run
from retrieval_report.contracts.errors import (
    RetrievalReportWarning,
)
from retrieval_report.systems.audit import AUDIT, audit
from retrieval_report.systems.conventions import CONVENTIONS

CUTOFFS = (1, 3, 5, 10, 100, None)


def lists_only(run: pl.DataFrame, judgements: pl.DataFrame) -> pl.DataFrame:
    joined = run.join(judgements, on=["query", "item"], how="left", maintain_order="left")
    return joined.with_columns(pl.col("relevance").fill_null(0))


def printed(frame: pl.DataFrame, system: str, call: str, **where: Any) -> float | None:
    chosen = frame.filter(pl.col("system") == system, pl.col("call") == call)
    for name, value in where.items():
        chosen = chosen.filter(pl.col(name).eq_missing(pl.lit(value)))
    return chosen["prints"].item()  # type: ignore[no-any-return]


def as_dicts(frame: pl.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    return {
        str(query): dict(group.select("item", value).iter_rows())
        for (query,), group in frame.group_by("query", maintain_order=True)
    }


@pytest.mark.parametrize("near", [False, True])
def test_pytrec_eval_prints_what_the_audit_says(near: bool) -> None:
    reason = "pytrec_eval-terrier, of the extra `dev`, is not installed"
    pytrec_eval = pytest.importorskip("pytrec_eval", reason=reason)
    run = make_run(near=near)
    judgements = make_judgements(run)
    frame = audit(
        run, judgements=judgements, metrics=METRICS, cutoffs=CUTOFFS, systems="pytrec_eval"
    )
    calls = {
        "P": "P, set_P",
        "recall": "recall, set_recall",
        "map_cut": "map, map_cut",
        "success": "success",
    }
    calls |= {"ndcg_cut": "ndcg, ndcg_cut"}
    whole = {
        "set_P": "P, set_P",
        "set_recall": "recall, set_recall",
        "set_F": "set_F",
        "map": "map, map_cut",
    }
    whole |= {"recip_rank": "recip_rank", "ndcg": "ndcg, ndcg_cut", "Rprec": "Rprec"}
    shown: list[tuple[str, str, int | None]] = [
        (f"{stem}_{k}", call, k) for stem, call in calls.items() for k in CUTOFFS if k
    ]
    shown += [(measure, call, None) for measure, call in whole.items()]
    measures = {f"{stem}.{','.join(str(k) for k in CUTOFFS if k)}" for stem in calls} | set(whole)
    evaluator = pytrec_eval.RelevanceEvaluator(as_dicts(judgements, "relevance"), measures)
    for model in ("a", "b"):
        theirs = evaluator.evaluate(as_dicts(run.filter(model=model), "score"))
        assert len(theirs) == {"a": 25, "b": 24}[model]
        for measure, call, cutoff in shown:
            mean = math.fsum(row[measure] for row in theirs.values()) / len(theirs)
            ours = printed(frame, "pytrec_eval", call, cutoff=cutoff, model=model)
            assert ours == pytest.approx(mean, rel=1e-12, abs=1e-15), (measure, model)
    assert frame.height == 2 * len(shown)


def test_scikit_learn_prints_what_the_audit_says() -> None:
    reason = "scikit-learn, of the extra `dev`, is not installed"
    theirs = pytest.importorskip("sklearn.metrics", reason=reason)
    run = make_run()
    rankings = lists_only(run, make_judgements(run))
    frame = audit(rankings, metrics="ap", cutoffs=None, systems="scikit-learn")
    for model in ("a", "b"):
        values = [  # of a list without a relevant item it prints 0, with a warning
            theirs.average_precision_score(group["relevance"] > 0, group["score"])
            if (group["relevance"] > 0).any()
            else 0.0
            for _, group in rankings.filter(model=model).group_by("query", maintain_order=True)
        ]
        ours = printed(frame, "scikit-learn", "average_precision_score", model=model)
        assert ours == pytest.approx(math.fsum(values) / len(values), rel=1e-9)


def test_a_threshold_at_the_end_of_a_tie_may_lie_above_every_order() -> None:
    rankings = pl.DataFrame(
        {
            "query": ["q"] * 8,
            "item": list("abcdefgh"),
            "distance": [0] * 4 + [1] * 4,
            "relevance": [0] * 4 + [1] * 4,
        }
    )
    [row] = audit(rankings, metrics="ap", cutoffs=None, systems="scikit-learn").rows(named=True)
    assert row["prints"] == 0.5
    assert row["highest"] == pytest.approx((1 / 5 + 2 / 6 + 3 / 7 + 4 / 8) / 4)
    assert (row["tie_std"], row["z"], row["order"]) == (0.0, None, "a tie is one threshold")


def test_thresholds_count_what_is_relevant_from_a_grade_on() -> None:
    ties = {"distance": [0, 0, 1, 1], "relevance": [1, 2, 0, 2]}
    rankings = pl.DataFrame({"query": ["q"] * 4, "item": list("abcd"), **ties})
    frame = audit(rankings, metrics="ap", cutoffs=None, systems="scikit-learn", relevant_from=2)
    assert frame["prints"].to_list() == [(1 / 2 + 2 / 4) / 2]


def test_prints_are_the_exact_value_plus_definition_plus_tie_order() -> None:
    run = make_run()
    judgements = make_judgements(run)
    frame = audit(run, judgements=judgements, metrics=METRICS, cutoffs=(1, 5, None))
    assert frame.schema == pl.Schema(AUDIT)
    known = frame.drop_nulls("prints")
    total = known.select(pl.sum_horizontal("exact", "definition_shift", "off")).to_series()
    assert total.to_list() == pytest.approx(known["prints"].to_list(), abs=1e-11)
    exact = rr.summarise(
        rr.evaluate(run, judgements=judgements, metrics=METRICS, cutoffs=(1, 5, None))
    )
    exact = exact.filter(policy="expected").select("model", "metric", "cutoff", "value")
    joined = frame.join(exact, on=["model", "metric", "cutoff"], nulls_equal=True)
    assert joined.height == frame.height
    assert joined["exact"].to_list() == pytest.approx(joined["value"].to_list(), rel=1e-12)
    inside = known.filter(~pl.col("order").str.contains("float32|threshold"))
    assert inside.select(
        pl.col("prints").is_between(pl.col("lowest") - 1e-12, pl.col("highest") + 1e-12).all()
    ).item()
    assert frame.filter(pl.col("order") == "mean over all orders")["off"].abs().max() == 0.0
    z = known.filter(pl.col("tie_std") > 0)
    assert z["z"].to_list() == pytest.approx((z["off"] / z["tie_std"]).to_list())


def test_tie_order_and_definition_are_told_apart() -> None:
    """One relevant item of the list in a tie of two for the first place; one more relevant item
    further down.
    """
    rankings = pl.DataFrame(
        {"query": ["q"] * 3, "item": list("abc"), "distance": [1, 1, 2], "relevance": [1, 0, 1]}
    )
    frame = audit(rankings, metrics="ap@1")
    columns = ("definition_shift", "off", "prints")
    values = {
        (row["system"], row["call"]): tuple(row[name] for name in columns)
        for row in frame.rows(named=True)
    }
    assert values["pytrec_eval", "map, map_cut"] == (0.0, -0.25, 0.0)
    assert values["Recommenders", "map"] == (0.0, 0.25, 0.5)
    assert values["Recommenders", "map_at_k"] == (0.25, 0.5, 1.0)
    assert values["rax", "ap_metric"] == (0.0, 0.25, 0.5)
    assert values["tie-aware-retrieval-metrics", "map"] == (0.0, 0.0, 0.25)


def test_ids_are_ordered_as_text() -> None:
    rankings = pl.DataFrame(
        {"query": [1, 1], "item": [9, 10], "distance": [1, 1], "relevance": [1, 0]}
    )
    frame = audit(rankings, metrics="rr", cutoffs=None, systems=["trec_eval", "ir_measures"])
    assert frame["prints"].to_list() == [
        1.0,
        1.0,
        1.0,
    ]  # "9" comes after "10", so first in descending order
    assert (
        audit(rankings, metrics="rr", cutoffs=1, systems="ir_measures")["prints"].item() == 0.0
    )  # ascending


def test_lists_only_systems_do_not_see_relevant_items_elsewhere() -> None:
    rankings = pl.DataFrame(
        {"query": ["q"] * 2, "item": ["a", "b"], "distance": [1, 2], "relevance": [1, 0]}
    )
    queries = pl.DataFrame({"query": ["q"], "n_relevant": [4]})
    frame = audit(
        rankings, queries=queries, metrics="recall", cutoffs=2, systems=["ranx", "torchmetrics"]
    )
    assert frame["prints"].to_list() == [0.25, 1.0]
    assert frame["definition_shift"].to_list() == [0.0, 0.75]
    frame = audit(rankings.head(1), queries=queries, metrics="recall", cutoffs=2, systems="KerasRS")
    assert frame["note"].item() == "only relevant items of the list count; relevant from 1"


def test_torchmetrics_takes_items_scored_zero_or_less_as_not_relevant() -> None:
    rankings = pl.DataFrame(
        {
            "model": ["m"] * 3 + ["n"] * 3,
            "query": ["q"] * 6,
            "item": list("abc") * 2,
            "score": [3.0, 0.0, -1.0, 1.0, 2.0, 3.0],
            "relevance": [0, 1, 1] * 2,
        }
    )
    frame = audit(
        rankings,
        metrics=("precision", "recall", "ap", "rr", "hit_rate"),
        cutoffs=3,
        systems="torchmetrics",
    )
    values = {row["call"]: row["prints"] for row in frame.filter(model="m").rows(named=True)}
    assert values["RetrievalHitRate"] == 1.0
    assert set(values.values()) == {0.0, 1.0}
    assert sum(values.values()) == 1.0
    distances = rankings.select(pl.exclude("score"), distance=-pl.col("score"))
    assert audit(distances, metrics="rr", cutoffs=3, systems="torchmetrics")[
        "prints"
    ].to_list() == [0.5, 1.0]


def test_labels_below_one_are_not_relevant_to_keras_rs_and_grades_are_labels_to_tf_similarity() -> (
    None
):
    rankings = pl.DataFrame(
        {"query": ["q"] * 3, "item": list("abc"), "distance": [1, 2, 3], "relevance": [0.5, 0, 3]}
    )
    frame = audit(
        rankings,
        metrics=("rr", "ndcg"),
        cutoffs=3,
        systems=["KerasRS", "TF Similarity", "trec_eval"],
    )
    assert printed(frame, "KerasRS", "MeanReciprocalRank") == pytest.approx(1 / 3)
    assert printed(frame, "TF Similarity", "BNDCG") == pytest.approx(
        (1 + 1 / 2) / (1 + 1 / math.log2(3))
    )
    above = audit(rankings, metrics="rr", cutoffs=3, systems="KerasRS", relevant_from=2)
    assert above["exact"].item() == pytest.approx(1 / 3)
    binary = audit(rankings, metrics="ndcg", cutoffs=3, systems="TF Similarity", relevant_from=2)
    assert binary["prints"].item() == pytest.approx(1 / 2)


def test_lists_too_short_for_k_print_nothing_where_the_system_refuses_them() -> None:
    rankings = pl.DataFrame(
        {"query": ["q"] * 3, "item": list("abc"), "distance": [1, 2, 3], "relevance": [1, 0, 1]}
    )
    frame = audit(rankings, metrics="precision", cutoffs=(3, 5), systems=["TF Similarity", "rax"])
    values = frame.select("system", "cutoff", "prints", "winner", "same_winner").rows()
    refused = [row for row in values if row[:2] == ("TF Similarity", 5)]
    assert refused == [("TF Similarity", 5, None, None, None)]
    assert [row[2] for row in values if row[2] is not None] == pytest.approx([2 / 3] * 3)


def test_queries_without_relevant_item_follow_the_systems_rule() -> None:
    rankings = pl.DataFrame(
        {"query": ["q", "r"], "item": ["a", "a"], "distance": [1, 1], "relevance": [1, 0]}
    )
    frame = audit(
        rankings, metrics="ndcg", cutoffs=None, systems=["TALR", "scikit-learn"], no_relevant="skip"
    )
    assert printed(frame, "TALR", "tieNDCG") == 1.0
    assert printed(frame, "scikit-learn", "ndcg_score") == 0.5
    assert frame["exact"].to_list() == [1.0] * 3
    recommenders = audit(rankings, metrics="ap", cutoffs=1, systems="Recommenders")
    assert recommenders["prints"].to_list() == [1.0, 1.0]


def test_a_metric_is_compared_with_all_of_its_name() -> None:
    run = make_run(queries=9)
    judgements = make_judgements(run)
    metrics = ("ndcg(gain=exp2)@5", "ndcg@5")
    frame = audit(run, judgements=judgements, metrics=metrics, systems=["ranx"])
    shifts = frame.filter(model="a").select("metric", "definition", "definition_shift").rows()
    assert [(metric, definition, shift == 0) for metric, definition, shift in shifts] == [
        ("ndcg(gain=exp2)", "ndcg", False),
        ("ndcg", "ndcg", True),
        ("ndcg(gain=exp2)", "ndcg(gain=exp2)", True),
        ("ndcg", "ndcg(gain=exp2)", False),
    ]


def test_every_convention_is_audited() -> None:
    run = make_run(queries=9)
    frame = audit(
        run,
        judgements=make_judgements(run),
        metrics=[*METRICS, "bpref", "num_rel_ret"],
        cutoffs=(1, None),
    )
    shown = frame.select("system", "version", "call").unique().height
    assert shown == len({(record.system, record.version, record.call) for record in CONVENTIONS})


def test_a_warning_is_given_once() -> None:
    rankings = pl.DataFrame({"query": ["q"], "item": ["a"], "distance": [1], "relevance": [0]})
    with pytest.warns(RetrievalReportWarning, match="no query has a relevant item") as caught:
        audit(rankings, metrics="ap", cutoffs=1)
    assert len(caught) == 1
