from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from made_scores import bounded_scores, scores_of
from retrieval_report import ColumnError, DataError, KeyMismatchError, ParameterError
from retrieval_report.comparison.flips import flips
from retrieval_report.comparison.pairs import compare
from retrieval_report.contracts.frames import SUMMARY
from retrieval_report.engines.summary import summarise

Row = dict[str, float | None]


def summary_of(
    models: dict[str, Row], *, metric: str = "ap", cutoff: int | None = 10
) -> pl.DataFrame:
    """A summary from the values of each policy, ``std`` and, with best and worst, the bounds."""
    rows = []
    for model, values in models.items():
        for policy, value in values.items():
            if policy == "std":
                continue
            row: dict[str, object] = dict.fromkeys(SUMMARY)
            row |= {
                "model": model,
                "metric": metric,
                "cutoff": cutoff,
                "policy": policy,
                "value": value,
            }
            row |= {"lowest": values.get("worst"), "highest": values.get("best")}
            rows.append(
                row | {"tie_std": values.get("std") if policy == "expected" else None, "queries": 5}
            )
    return pl.DataFrame(rows, schema=SUMMARY)


def verdict(models: dict[str, Row], **arguments: float) -> str:
    found = flips(summary_of(models), **arguments)["verdict"].item()
    assert isinstance(found, str)
    return found


@pytest.mark.parametrize(
    ("deviation", "word"),
    [(0.001, "safe from tie order"), (0.01, "safe from tie order"), (0.1, "depends on tie order")],
)
def test_the_word_follows_from_the_chance_whatever_the_naive_order_shows(
    deviation: float, word: str
) -> None:
    models: dict[str, Row] = {
        "a": {"expected": 0.5, "naive": 0.6, "shuffled": 0.6, "std": deviation},
        "b": {"expected": 0.6, "naive": 0.5, "shuffled": 0.5, "std": deviation},
    }
    found = flips(summary_of(models)).row(0, named=True)
    assert (found["disagree"], found["verdict"]) == ("shuffled, naive", word)
    assert (found["p_tie_high"] <= 0.05) == (word == "safe from tie order")
    assert verdict(models, tie_risk=found["p_tie_high"] / 2) == "depends on tie order"


def test_a_likely_reversal_depends_on_tie_order() -> None:
    models: dict[str, Row] = {
        "a": {"expected": 0.5, "std": 0.03},
        "b": {"expected": 0.56, "std": 0.04},
    }
    found = flips(summary_of(models)).row(0, named=True)
    assert found["tie_std"] == pytest.approx(0.05)
    assert found["p_tie"] == pytest.approx(stats.norm.sf(0.06 / 0.05))
    assert (found["p_tie_method"], found["disagree"], found["verdict"]) == (
        "normal",
        "",
        "depends on tie order",
    )
    # Mean and deviation alone allow more than the normal distribution has (Cantelli's inequality).
    assert found["p_tie_high"] == pytest.approx(0.05**2 / (0.05**2 + 0.06**2))
    assert verdict(models, tie_risk=0.4) == "depends on tie order"
    assert verdict(models, tie_risk=0.42) == "safe from tie order"


def test_equal_expected_means_depend_on_tie_order_where_it_moves_them() -> None:
    assert (
        verdict({"a": {"expected": 0.5, "std": 0.0}, "b": {"expected": 0.5, "std": 0.0}}) == "equal"
    )
    assert (
        verdict({"a": {"expected": 0.5, "std": 0.0}, "b": {"expected": 0.5, "std": 0.1}})
        == "depends on tie order"
    )
    assert (
        verdict({"a": {"expected": 0.1 + 0.2, "std": 0.0}, "b": {"expected": 0.3, "std": 0.0}})
        == "equal"
    )


def test_what_is_not_known_is_not_safe() -> None:
    unknown: dict[str, Row] = {
        "a": {"expected": 0.5, "std": None},
        "b": {"expected": 0.6, "std": 0.0},
    }
    found = flips(summary_of(unknown)).row(0, named=True)
    assert (found["p_tie"], found["p_tie_high"], found["verdict"]) == (
        None,
        1.0,
        "depends on tie order",
    )
    apart: dict[str, Row] = {name: {**row, "worst": row["expected"], "best": row["expected"]}
                             for name, row in unknown.items()}  # fmt: skip
    assert verdict(apart) == "safe from tie order"
    assert (
        verdict({"a": {"expected": None, "std": None}, "b": {"expected": 0.3, "std": 0.0}})
        == "nothing to compare"
    )


def test_cut_lists_are_said_so_unless_their_ranges_are_apart() -> None:
    for best, wanted in ((0.7, "lists are cut"), (0.55, "safe from tie order")):
        models: dict[str, Row] = {
            "a": {"expected": 0.5, "std": None, "worst": 0.4, "best": best},
            "b": {"expected": 0.6, "std": 0.0, "worst": 0.6, "best": 0.6},
        }
        cut = summary_of(models).with_columns(
            truncated_share=pl.when(model="a").then(0.5).otherwise(0.0)
        )
        assert flips(cut)["verdict"].item() == wanted


def test_thresholds_are_held_with_a_tolerance() -> None:
    comparison = compare(scores())
    for name, value, wanted in (("p_tie_high", 1 / 20 + 1e-17, "safe"), ("p_tie_high", 0.0501, "depends on tie order"),
                                ("family_p", 0.05 - 1e-17, "not significant"),
                                ("family_p", 0.0499, "safe")):  # fmt: skip
        sure = comparison.with_columns(p_tie_high=pl.lit(0.0), family_p=pl.lit(0.001)).with_columns(
            pl.lit(value).alias(name)
        )
        assert flips(summarise(scores()), comparison=sure)["verdict"].unique().to_list() == [wanted]


def test_the_verdict_speaks_of_the_paired_queries() -> None:
    """b is ahead by the means of all, a by those of the queries that both have."""
    values: dict[str, list[float | None]] = {
        "a": [0.9, 0.3, 0.1, 0.2],
        "b": [0.6, None, None, None],
    }
    both = pl.concat([scores_of(values), scores_of(values, policy="naive")])
    found = flips(summarise(both), comparison=compare(both)).row(0, named=True)
    assert (found["expected_a"], found["expected_b"]) == (pytest.approx(0.375), 0.6)
    assert (found["value_a"], found["value_b"], found["unpaired"]) == (0.9, 0.6, 3)
    assert found["disagree"] == ""
    alone = compare(both, policies="expected")  # naive means of other queries say nothing of these
    assert flips(summarise(both), comparison=alone)["disagree"].item() == ""


@pytest.mark.parametrize(("lowest", "overlap"), [(0.4, True), (0.7, False), (0.75, False)])
def test_ranges_overlap_unless_they_touch_or_part_which_alone_is_safe(
    lowest: float, overlap: bool
) -> None:
    models: dict[str, Row] = {
        "a": {"expected": 0.5, "std": 0.001, "worst": 0.3, "best": 0.7},
        "b": {"expected": 0.77, "std": 0.001, "worst": lowest, "best": 0.8},
    }
    found = flips(summary_of(models)).row(0, named=True)
    assert (found["overlap"], found["verdict"]) == (overlap, "safe from tie order")


def test_without_the_expected_policy_shuffled_is_the_reference() -> None:
    models: dict[str, Row] = {
        "a": {"shuffled": 0.5, "naive": 0.6},
        "b": {"shuffled": 0.55, "naive": 0.5},
    }
    found = flips(summary_of(models)).row(0, named=True)
    assert (found["disagree"], found["verdict"], found["p_tie"]) == (
        "naive",
        "depends on tie order",
        None,
    )


def scores() -> pl.DataFrame:
    draw = np.random.default_rng(3)
    near, far = draw.random(40), draw.random(40) / 4
    values = {"close": near, "closer": near + 0.001 * draw.normal(size=40), "far": far}
    return bounded_scores(
        {name: (value, value, value - 0.001, value + 0.001) for name, value in values.items()}
    )


def test_a_comparison_tells_what_the_sample_leaves_undecided() -> None:
    given = scores().with_columns(pl.col("std") / 1e4)
    summary = summarise(given)
    found = flips(summary, comparison=compare(given, resamples=999))
    assert found["verdict"].to_list() == ["not significant", "safe", "safe"]
    assert flips(summary)["verdict"].to_list() == ["safe from tie order"] * 3
    assert found["p_tie_method"].to_list() == ["normal", "exact", "exact"]
    assert (
        found["family_p"].to_list()
        == compare(given, resamples=999, policies="expected")["family_p"].to_list()
    )


def test_a_comparison_of_other_scores_is_refused() -> None:
    given = scores()
    other = given.with_columns(pl.when(model="far").then(0.0).otherwise("value").alias("value"))
    with pytest.raises(
        KeyMismatchError, match="comparison: 2 differences are not those of the summary, first 'ap'"
    ):
        flips(summarise(given), comparison=compare(other, resamples=99))
    with pytest.raises(
        KeyMismatchError,
        match="comparison: no row has policy 'expected' and a measure of the summary",
    ):
        flips(
            summarise(given),
            comparison=compare(given.with_columns(cutoff=pl.lit(7, pl.Int64)), resamples=99),
        )


def test_summaries_that_cannot_answer_are_refused() -> None:
    summary = summary_of({"a": {"naive": 0.5}, "b": {"naive": 0.6}})
    with pytest.raises(
        ParameterError, match="summary: policies 'naive' do not show what depends on tie order"
    ):
        flips(summary)
    with pytest.raises(
        ColumnError, match="summary: no column 'value'; expected what summarise returns"
    ):
        flips(summary.drop("value"))
    with pytest.raises(
        DataError,
        match="summary: column 'value': 4 means of the same model, metric, cutoff and policy",
    ):
        flips(pl.concat([summary, summary]))
