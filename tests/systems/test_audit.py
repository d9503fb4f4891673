"""What the audit says others print: against the others where they are installed, else against plain
recounts.
"""

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
    chosen = frame.filter(system=system, call=call)
    for name, value in where.items():
        chosen = chosen.filter(pl.col(name).eq_missing(pl.lit(value)))
    return chosen["prints"].item()  # type: ignore[no-any-return]


def as_dicts(frame: pl.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    return {
        str(query): dict(group.select("item", value).iter_rows())
        for (query,), group in frame.group_by("query", maintain_order=True)
    }


@pytest.mark.parametrize("near", [False, True])
def test_pytrec_eval_prints_what_the_audit_says(near: bool):
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


def test_scikit_learn_prints_what_the_audit_says():
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


def test_prints_are_the_exact_value_plus_definition_plus_tie_order():
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
    assert frame.filter(order="mean over all orders")["off"].abs().max() == 0.0
    z = known.filter(pl.col("tie_std") > 0)
    assert z["z"].to_list() == pytest.approx((z["off"] / z["tie_std"]).to_list())


def test_a_metric_is_compared_with_all_of_its_name():
    run = make_run(queries=9)
    judgements = make_judgements(run)
    metrics = ("ndcg(gain=exp2)@5", "ndcg@5")
    frame = audit(run, judgements=judgements, metrics=metrics, systems=["ranx"])
    shifts = frame.filter(model="a").select("metric", "definition", "definition_shift").rows()
    assert [(metric, definition, shift == 0) for metric, definition, shift in shifts] == [
        ("ndcg(gain=exp2)", "ndcg", False),
        ("ndcg(gain=exp2)", "ndcg(gain=exp2)", True),
        ("ndcg", "ndcg", True),
        ("ndcg", "ndcg(gain=exp2)", False),
    ]


def test_every_convention_is_audited():
    run = make_run(queries=9)
    frame = audit(
        run,
        judgements=make_judgements(run),
        metrics=[*METRICS, "bpref", "num_rel_ret"],
        cutoffs=(1, None),
    )
    shown = frame.select("system", "version", "call").unique().height
    assert shown == len({(record.system, record.version, record.call) for record in CONVENTIONS})


def test_a_warning_is_given_once():
    rankings = pl.DataFrame({"query": ["q"], "item": ["a"], "distance": [1], "relevance": [0]})
    with pytest.warns(RetrievalReportWarning, match="no query has a relevant item") as caught:
        audit(rankings, metrics="ap", cutoffs=1)
    assert len(caught) == 1
