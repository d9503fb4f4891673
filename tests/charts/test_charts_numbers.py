"""The numbers that are drawn are those of the frames."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from chart_frames import HOSTILE, PLACE, PLAIN, frames
from made_reports import ACCIDENT, made_rankings
from retrieval_report import charts, compare, evaluate, flips, summarise
from retrieval_report.charts.lines import spread
from retrieval_report.contracts.errors import (
    ColumnError,
    DataError,
    ParameterError,
    RetrievalReportError,
)


def rows_with(chart: Any, *columns: str) -> pl.DataFrame:
    """All rows of a chart's data sets that have these columns."""
    found = [
        row for rows in chart.to_dict()["datasets"].values() for row in rows if {*columns} <= {*row}
    ]
    return pl.DataFrame(found, infer_schema_length=None).select(columns).unique().sort(columns)


def at_measure(policy: str) -> pl.DataFrame:
    summary = frames(PLAIN)["summary"]
    return summary.filter(metric="precision", cutoff=2, policy=policy).sort("model")


def test_policies_draw_the_summary() -> None:
    points = rows_with(
        charts.policies(frames(PLAIN)["summary"], **PLACE), "mark", "model", "at", "off"
    )
    assert points["at"].to_list() == at_measure("naive")["value"].to_list()
    assert (
        points["off"].to_list()
        == (at_measure("naive")["value"] - at_measure("expected")["value"]).to_list()
    )
    dots = rows_with(
        charts.policies(frames(PLAIN)["summary"], **PLACE), "model", "expected", "ci_low", "ci_high"
    )
    assert dots["expected"].to_list() == at_measure("expected")["value"].to_list()
    ranges = rows_with(
        charts.policies(frames(PLAIN)["summary"], **PLACE), "model", "lowest", "highest", "tie_std"
    )
    assert ranges["lowest"].to_list() == at_measure("worst")["value"].to_list()
    assert ranges["highest"].to_list() == at_measure("best")["value"].to_list()
    assert ranges["tie_std"].to_list() == at_measure("expected")["tie_std"].to_list()


def test_policies_draw_the_audit() -> None:
    audit = frames(PLAIN)["audit"].filter(cutoff=2)
    drawn = rows_with(
        charts.policies(frames(PLAIN)["summary"], **PLACE, audit=audit), "model", "system", "prints"
    )
    kept = audit.filter(pl.col("prints").is_not_null()).select("model", "system", "prints").unique()
    assert drawn.equals(kept.sort("model", "system", "prints"))


def test_policies_explain_the_ticks_that_are_there() -> None:
    summary, audit = frames(PLAIN)["summary"], frames(PLAIN)["audit"].filter(cutoff=2)
    alone, both, none = (
        " ".join(charts.policies(frame, **PLACE, audit=others).to_dict()["title"]["subtitle"])
        for frame, others in (
            (summary, None),
            (summary, audit),
            (summary.filter(pl.col("policy") != "naive"), None),
        )
    )
    assert "ticks: printed scores, above the line in the naive order;" in f"{alone};"
    assert "above the line in the naive order, below it by other systems" in both
    assert "ticks" not in none


def test_lines_draw_every_cutoff_and_the_whole_list_last() -> None:
    summary = frames(PLAIN)["summary"]
    drawn = rows_with(
        charts.scores_by_cutoff(summary, metric="precision"), "model", "at", "k", "expected"
    )
    own = summary.filter(metric="precision", policy="expected")
    for k, cutoff in (("1", 1), ("2", 2), ("all", None)):
        wanted = own.filter(pl.col("cutoff").eq_missing(cutoff)).sort("model")["value"]
        assert drawn.filter(k=k)["expected"].to_list() == wanted.to_list()
    assert drawn.sort("at")["k"].to_list()[-1] == "all"


@pytest.mark.parametrize(("fine", "coarse", "title"), [
    ((0.5, 0.6, 0.7), (0.4, 0.5, 0.6), "fine leads in rr at every cutoff"),
    ((0.5, 0.6, 0.7), (0.5, 0.5, 0.6), ("fine leads in rr at every cutoff (level with others at k = "
                                       "1)")),
    ((0.5, 0.6, 0.7), (0.5, 0.6, 0.7), "coarse and fine lead in rr at every cutoff"),
    ((0.5, 0.6, 0.7), (0.4, 0.7, 0.8), "fine leads in rr up to k = 1, coarse from k = 5"),
    ((0.5, 0.6, 0.7), (0.4, 0.7, 0.6), "Two models take turns leading in rr"),
])  # fmt: skip
def test_lines_name_the_leader_and_an_equal_is_no_change_of_lead(
    fine: tuple[float, ...], coarse: tuple[float, ...], title: str
) -> None:
    alone = {"query": "q", "std": 0.0, "items": 9, "n_relevant": 2}
    rows = [
        {"model": model, "metric": "rr", "cutoff": cutoff, "policy": "expected", "value": value}
        | alone
        for model, values in (("fine", fine), ("coarse", coarse))
        for cutoff, value in zip((1, 5, 10), values, strict=True)
    ]
    drawn = charts.scores_by_cutoff(summarise(pl.DataFrame(rows)), metric="rr").to_dict()
    assert " ".join(drawn["title"]["text"]) == title


def test_bands_are_for_the_models_asked_only() -> None:
    chart = charts.scores_by_cutoff(frames(PLAIN)["summary"], metric="precision", bands=["coarse"])
    areas = [layer for layer in chart.to_dict()["layer"] if layer["mark"]["type"] == "area"]
    data = chart.to_dict()["datasets"]
    assert {row["label"] for area in areas for row in data[area["data"]["name"]]} == {"coarse"}


def test_flips_are_found_and_equal_ranks_stand_apart() -> None:
    chart = charts.rank_flips(frames(PLAIN)["summary"], **PLACE)
    measures = rows_with(chart, "column", "model", "rank", "score", "row")
    for column, policy in (("expected", "expected"), ("naive order", "naive")):
        mine = measures.filter(column=column).sort("model")
        assert mine["score"].to_list() == at_measure(policy)["value"].to_list()
        assert sorted(mine["row"].to_list()) == [0, 1, 2]
        assert mine["rank"].to_list() == mine["score"].rank("min", descending=True).to_list()


def test_all_draws_are_counted() -> None:
    own = frames(PLAIN)
    bars = rows_with(
        charts.shuffled_distribution(own["means"], own["summary"], **PLACE), "model", "low", "draws"
    )
    assert set(bars.group_by("model").agg(pl.col("draws").sum())["draws"]) == {20}


def test_draws_that_agree_are_a_sentence() -> None:
    own = frames(PLAIN)
    means = own["means"].with_columns(value=pl.lit(0.5))
    chart = charts.shuffled_distribution(means, own["summary"], **PLACE)
    assert chart.to_dict()["description"].startswith(
        "All 20 random tie orders give the same precision@2"
    )


def test_every_pair_is_drawn_once_each_way() -> None:
    comparison = frames(PLAIN)["comparison"]
    cells = rows_with(
        charts.comparison_matrix(comparison, **PLACE), "model", "model_b", "difference", "p_tie"
    )
    pairs = comparison.filter(metric="precision", cutoff=2)
    assert cells.height == 2 * pairs.height
    for a, b, difference, chance in pairs.select(
        "model_a", "model_b", "difference", "p_tie"
    ).rows():
        assert cells.filter(model=a, model_b=b).select("difference", "p_tie").row(0) == (
            difference,
            chance,
        )
        assert cells.filter(model=b, model_b=a)["difference"][0] == -difference


def test_intervals_keep_their_ends_when_a_pair_is_turned() -> None:
    comparison = frames(PLAIN)["comparison"]
    drawn = rows_with(
        charts.intervals(comparison, **PLACE, model="finer"),
        "model_a",
        "difference",
        "ci_low",
        "ci_high",
    )
    assert set(drawn["model_a"]) == {"finer"}
    assert drawn.filter(~pl.col("difference").is_between("ci_low", "ci_high")).height == 0


def test_many_pairs_are_those_of_the_leader() -> None:
    names = tuple(f"model-{measure:02}" for measure in range(50))
    drawn = rows_with(charts.intervals(frames(names)["comparison"], **PLACE), "pair", "model_a")
    assert drawn.height == 49
    assert drawn["model_a"].n_unique() == 1


def test_pairs_have_the_verdicts_of_flips() -> None:
    """A chart says of a pair what the report beside it says, disagreeing naive scores included."""
    cases = {
        "accident": ACCIDENT,
        "made": made_rankings(("coarse", "fine", "middle", "other"), queries=20),
    }
    for name, rankings in cases.items():
        scores = evaluate(
            rankings, metrics="rr@2", policies=("expected", "naive", "shuffled", "best", "worst")
        )
        comparison = compare(scores)
        found = flips(summarise(scores), comparison=comparison)
        spec = charts.comparison_matrix(comparison, metric="rr", cutoff=2)
        drawn = rows_with(spec, "model", "model_b", "verdict", "p_tie")
        both = drawn.join(found, left_on=["model", "model_b"], right_on=["model_a", "model_b"])
        assert both.height >= found.height
        assert both["verdict"].to_list() == both["verdict_right"].to_list(), name
        depend = found.filter(verdict="depends on tie order").height
        assert f"{depend or 'none'} depend" in " ".join(spec.to_dict()["title"]["text"])
    assert found.height == 6


def test_profile_draws_the_profile() -> None:
    profile = frames(PLAIN)["profile"]
    drawn = rows_with(charts.profile(profile), "model", "cutoff", "cut_share", "text").filter(
        pl.col("cutoff").is_not_null()
    )
    wanted = profile.filter(pl.col("cutoff").is_not_null()).sort("model", "cutoff")
    assert drawn["cut_share"].to_list() == wanted["cut_share"].to_list()


def big_table(queries: int, distinct: int) -> pl.DataFrame:
    measure = pl.int_range(queries, eager=True)
    naive, expected = (
        (measure * 7919 % distinct) / distinct,
        (measure * 104729 % distinct) / distinct,
    )
    table = pl.DataFrame({"query": measure, "naive": naive, "expected": expected})
    return table.with_columns(
        model=pl.lit("m"),
        metric=pl.lit("precision"),
        cutoff=pl.lit(2),
        lowest=0.0,
        highest=1.0,
        std=0.1,
        spread=1.0,
        naive_error=pl.col("naive") - pl.col("expected"),
    )


@pytest.mark.parametrize("distinct", [50, 100_000])
def test_a_hundred_thousand_queries_are_counted_first(distinct: int) -> None:
    table = big_table(100_000, distinct)
    chart = charts.query_scatter(table, **PLACE)
    points = rows_with(chart, "query", "naive", "expected", "lists")
    assert points.height <= 5000
    assert points["lists"].sum() == 100_000
    assert (points["naive"] * points["lists"]).sum() == pytest.approx(table["naive"].sum())
    assert charts.query_scatter(table.reverse(), **PLACE).to_dict() == chart.to_dict()


def test_one_list_shows_its_ties() -> None:
    rows = frames(PLAIN)["list"]
    drawn = rows_with(charts.ranked_list(rows), "item", "rank", "tie", "grade")
    assert drawn.height == rows.height
    assert drawn.sort("rank")["tie"].to_list() == rows["tie"].to_list()


def test_radius_and_curve_draw_their_frames() -> None:
    own = frames(PLAIN)
    drawn = rows_with(charts.radius(own["radius"]), "model", "radius", "precision")
    assert drawn.equals(
        own["radius"]
        .select("model", pl.col("radius").cast(float), "precision")
        .sort("model", "radius")
    )
    curve = rows_with(
        charts.precision_recall(own["summary"]), "model", "cutoff", "precision", "recall"
    )
    for metric in ("precision", "recall"):
        wanted = own["summary"].filter(metric=metric, policy="expected").sort("model", "cutoff")
        assert curve.sort("model", "cutoff")[metric].to_list() == wanted["value"].to_list()


def test_titles_state_the_finding() -> None:
    summary = pl.concat(
        [
            frames(PLAIN)["summary"].filter(policy="expected"),
            frames(PLAIN)["summary"].filter(policy="naive").with_columns(value=1 - pl.col("value")),
        ]
    )
    title = " ".join(charts.policies(summary, **PLACE).to_dict()["title"]["text"])
    leader = at_measure("expected").sort("value", descending=True)
    if leader["value"][0] > leader["value"][1]:
        assert title.startswith(
            f"{leader['model'][0]} leads at precision@2 in expectation; the naive order shows "
        )
    else:
        assert "share the lead at precision@2" in title


def test_full_names_are_in_the_tooltip() -> None:
    points = rows_with(charts.policies(frames(HOSTILE)["summary"], **PLACE), "model", "label")
    assert HOSTILE[0] in points["model"].to_list()
    assert all(len(label) <= 32 for label in points["label"])


def test_what_cannot_be_drawn_is_named() -> None:
    own = frames(PLAIN)
    summary = own["summary"]
    bad: list[tuple[type[RetrievalReportError], str, Any]] = [
        (
            ParameterError,
            "did you mean 'precision'",
            lambda: charts.policies(summary, metric="precison", cutoff=2),
        ),
        (
            ParameterError,
            "cutoff: 7 is not one of 1, 2, None",
            lambda: charts.policies(summary, metric="precision", cutoff=7),
        ),
        (
            ParameterError,
            "bands: 'who'",
            lambda: charts.scores_by_cutoff(summary, metric="recall", bands=["who"]),
        ),
        (
            ParameterError,
            "models: 'who'",
            lambda: charts.shuffled_distribution(own["means"], summary, **PLACE, models=["who"]),
        ),
        (
            ParameterError,
            "models: 'who'",
            lambda: charts.query_scatter(own["queries"], **PLACE, models=["who"]),
        ),
        (
            ParameterError,
            "model: 'who'",
            lambda: charts.intervals(own["comparison"], **PLACE, model="who"),
        ),
        (
            ColumnError,
            "expected what summarise returns",
            lambda: charts.rank_flips(summary.drop("value"), **PLACE),
        ),
        (
            ColumnError,
            "expected what tie_groups returns",
            lambda: charts.ranked_list(own["list"].drop("tie")),
        ),
        (
            DataError,
            "2 lists",
            lambda: charts.ranked_list(
                pl.concat([own["list"], own["list"].with_columns(query=pl.lit("other"))])
            ),
        ),
    ]
    for error, words, call in bad:
        with pytest.raises(error, match=words):
            call()


def test_policies_that_are_missing_are_not_drawn() -> None:
    summary = frames(PLAIN)["summary"]
    bounds = summary.filter(pl.col("policy").is_in(["best", "worst"]))
    assert charts.policies(bounds, **PLACE).to_dict()["title"]["text"] == ["precision@2"]
    nothing = charts.scores_by_cutoff(bounds, metric="precision").to_dict()["description"]
    assert nothing == "Nothing to show: no policy of this summary is expected, shuffled or naive."
    one = charts.rank_flips(summary.filter(policy="naive"), **PLACE).to_dict()["description"]
    assert one.startswith("Nothing to show: ranks at precision@2 need two of the policies")


def test_labels_move_apart_within_their_bounds() -> None:
    placed = spread([0.9, 0.9, 0.9, 0.1], 0.1, 0.0, 1.0)
    assert placed == pytest.approx([0.8, 0.9, 1.0, 0.1])
