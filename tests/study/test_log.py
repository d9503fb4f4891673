"""What trackers log of a study and of a meter."""

import json
import math

import polars as pl
import pytest

import retrieval_report as rr
from made_reports import made_rankings

RANKINGS = made_rankings(("m0", "m1", "m2"), queries=12)


def test_every_number_is_that_of_the_three_scores():
    study = rr.Study(RANKINGS, "ndcg@5, ap", truncated="no")
    logged = study.log()
    for row in study.three_scores.iter_rows(named=True):
        name = f"{row['model']}/{'ndcg@5' if row['metric'] == 'ndcg' else 'ap@all'}"
        assert logged[name] == row["expected"]
        assert logged[f"{name}/tie_std"] == row["tie_std"]
        assert logged[f"{name}/naive"] == row["naive"]
        assert logged[f"{name}/shuffled_low"] == row["order_low"]
        assert logged[f"{name}/shuffled_high"] == row["order_high"]
    assert all(isinstance(number, float) and math.isfinite(number) for number in logged.values())
    assert json.loads(json.dumps(logged)) == logged


def test_one_model_has_the_names_of_the_measures():
    study = rr.Study(RANKINGS, "ndcg@5", truncated="no")
    alone = study.log("m1")
    assert alone == {
        name.removeprefix("m1/"): number
        for name, number in study.log().items()
        if name.startswith("m1/")
    }
    single = rr.Study(RANKINGS.filter(model="m0"), "ndcg@5", truncated="no").log()
    assert set(single) == {
        "ndcg@5",
        *(f"ndcg@5/{name}" for name in ("tie_std", "shuffled_low", "shuffled_high", "naive")),
    }
    with pytest.raises(rr.ParameterError, match="model: 'm9' is not one of 'm0', 'm1', 'm2'"):
        study.log("m9")


@pytest.mark.parametrize("baseline", [None, "m2"])
def test_the_chance_of_ties_is_against_the_baseline_or_the_best_other_model(
    baseline: str | None,
):
    study = rr.Study(RANKINGS, "ndcg@5", truncated="no")
    if baseline is not None:
        study = study.using(baseline=baseline, margin=0.01)
    logged = study.log()
    order = study.three_scores.sort("expected", descending=True)["model"].to_list()
    for model in study.model_names:
        reference = baseline or (order[1] if model == order[0] else order[0])
        pair = study.flips.filter(
            pl.all_horizontal(pl.col("model_a", "model_b").is_in([model, reference]))
        )
        if model == reference:
            assert f"{model}/ndcg@5/p_tie" not in logged
        else:
            assert logged[f"{model}/ndcg@5/p_tie"] == pair["p_tie"].item()


def test_a_meter_logs_its_means_and_what_changed():
    before, after = rr.Meter("ndcg@5"), rr.Meter("ndcg@5")
    for meter, model in ((before, "m1"), (after, "m0")):
        meter.update(rankings=RANKINGS.filter(model=model).drop("model"))
    [row] = after.compute().to_dicts()
    logged = after.log()
    assert logged == {
        "ndcg@5": row["value"],
        **{f"ndcg@5/{name}": row[name] for name in ("tie_std", "lowest", "highest")},
    }
    [change] = after.changed(before).to_dicts()
    assert after.log(before)["ndcg@5/difference"] == change["difference"]
    assert rr.Meter("ndcg@5").log() == {}
