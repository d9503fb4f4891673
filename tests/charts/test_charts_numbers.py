"""The numbers that are drawn are those of the frames."""

import re
from typing import Any

import altair as alt
import polars as pl
import pytest

import retrieval_report as rr
from chart_frames import PLACE, PLAIN, frames
from made_scores import scores_of
from retrieval_report import charts, compare, evaluate, summarise
from retrieval_report.charts.theme import finish
from retrieval_report.comparison.flips import pair_verdicts
from retrieval_report.comparison.verdicts import CUT, DEPENDS
from retrieval_report.writing.names import LABEL, unique_labels


def rows_with(chart: Any, *columns: str) -> pl.DataFrame:
    """All rows of a chart's data sets that have these columns."""
    found = [
        row for rows in chart.to_dict()["datasets"].values() for row in rows if {*columns} <= {*row}
    ]
    return pl.DataFrame(found, infer_schema_length=None).select(columns).unique().sort(columns)


def title_of(chart: Any) -> str:
    return " ".join(chart.to_dict()["title"]["text"])


def subtitle_of(chart: Any) -> str:
    return " ".join(chart.to_dict()["title"]["subtitle"])


def at_measure(policy: str) -> pl.DataFrame:
    summary = frames(PLAIN)["summary"]
    return summary.filter(metric="precision", cutoff=2, policy=policy).sort("model")


def test_policies_draw_the_summary():
    chart = charts.policies(frames(PLAIN)["summary"], **PLACE)
    dots = rows_with(chart, "model", "expected", "ci_low", "ci_high")
    assert dots["expected"].to_list() == at_measure("expected")["value"].to_list()
    ticks = rows_with(chart, "model", "naive", "naive_error")
    assert ticks["naive"].to_list() == at_measure("naive")["value"].to_list()
    assert ticks["naive_error"].to_list() == (ticks["naive"] - dots["expected"]).to_list()
    ranges = rows_with(chart, "model", "lowest", "highest", "tie_std")
    assert ranges["lowest"].to_list() == at_measure("worst")["value"].to_list()
    assert ranges["highest"].to_list() == at_measure("best")["value"].to_list()
    assert ranges["tie_std"].to_list() == at_measure("expected")["tie_std"].to_list()


def test_lines_draw_every_cutoff_and_the_whole_list_last():
    summary = frames(PLAIN)["summary"]
    chart = charts.scores_by_cutoff(summary, metric="precision")
    drawn = rows_with(chart, "model", "k", "expected")
    own = summary.filter(metric="precision", policy="expected")
    for k, cutoff in (("1", 1), ("2", 2), ("all", None)):
        wanted = own.filter(pl.col("cutoff").eq_missing(cutoff)).sort("model")["value"]
        assert drawn.filter(k=k)["expected"].to_list() == wanted.to_list()
    assert chart.to_dict()["layer"][0]["encoding"]["x"]["scale"]["domain"] == ["1", "2", "all"]


def test_lines_that_cross_are_told_by_who_is_ahead():
    rows = [
        (model, f"{model}{rank}", rank, relevance)
        for model, grades in (("early", [1, 0, 0]), ("late", [0, 1, 1]))
        for rank, relevance in enumerate(grades)
    ]
    columns = ["model", "item", "distance", "relevance"]
    rankings = pl.DataFrame(rows, schema=columns, orient="row").with_columns(query=pl.lit("q"))
    summary = summarise(evaluate(rankings, metrics="precision", cutoffs=(1, 2, 3), truncated="no"))
    said = subtitle_of(charts.scores_by_cutoff(summary, metric="precision"))
    assert "highest as drawn, without a test: early at 1; early = late at 2; late at 3" in said


def test_rings_are_where_the_naive_order_says_another_score_whatever_the_colour():
    names = [f"model {number}" for number in range(8)]
    scores = [
        scores_of(
            {name: [0.9 - number / 10] * 3 for number, name in enumerate(names)},
            metric="rr",
            cutoff=cutoff,
            policy=policy,
        )
        for cutoff in (1, 2)
        for policy in ("expected", "naive")
    ]
    off = (pl.col("model") == names[7]) & (pl.col("policy") == "naive") & (pl.col("cutoff") == 2)
    value = pl.when(off).then(0.9).otherwise("value")
    summary = summarise(pl.concat(scores).with_columns(value=value))
    spec: Any = charts.scores_by_cutoff(summary, metric="rr").to_dict()
    *_, rings = spec["layer"]
    assert rings["mark"]["shape"] == "circle"
    (ring,) = spec["datasets"][rings["data"]["name"]]
    assert (ring["model"], ring["k"], ring["naive"]) == (names[7], "2", pytest.approx(0.9))
    said = " ".join(spec["title"]["subtitle"])
    assert "; ring: naive order, where it differs" in said


def test_the_deciding_queries_say_how_many_differ_and_what_their_ranges_are_over():
    values = {"a": [0.9, 0.5, 0.4], "b": [0.2, 0.5, 0.5]}
    table = rr.stats.deciding_queries(scores_of(values, metric="rr", cutoff=2), "a", "b")
    for std, over in ((0.0, "tie orders"), (None, "tie orders and missing items")):
        rows = table.with_columns(tie_std=pl.lit(std, pl.Float64))
        said = subtitle_of(charts.deciding_queries(rows, metric="rr", cutoff=2))
        assert said.endswith(
            f"line: its range over {over}; 2 largest differences, of 2 queries that "
            "can tell the two apart; 3 queries in all"
        )


def test_lines_break_in_no_name():
    for words in range(30, 60):
        given = f"{'x ' * words}bm25-rm3-axiomatic"
        chart = finish(alt.Chart().mark_point(), given, given, pl.DataFrame())
        assert " ".join(chart.title.text) == " ".join(chart.title.subtitle) == given


def test_all_draws_are_counted_and_the_largest_exact_deviation_comes_first():
    means, summary = (frames(PLAIN)[name].filter(model="finer") for name in ("means", "summary"))
    bars = rows_with(
        charts.shuffled_distribution(means, summary, **PLACE), "value", "probability"
    ).rows()
    draws = means.filter(metric="precision", cutoff=2)["value"].round(12)
    assert bars == draws.value_counts(name="share", normalize=True).sort("value").rows()
    wider = {"model": pl.lit("wider")}
    means = pl.concat([means, means.with_columns(pl.col("value") / 2, **wider)])
    summary = pl.concat([summary, summary.with_columns(pl.col("tie_std") * 2, **wider)])
    panels = charts.shuffled_distribution(means, summary, **PLACE).to_dict()["concat"]
    assert [panel["title"]["text"] for panel in panels] == ["wider", "finer"]
    assert "share of 20 draws" in str(panels)
    alike = charts.shuffled_distribution(means.with_columns(value=0.5), summary, **PLACE).to_dict()
    assert alike["description"].startswith("All random tie orders give the same precision@2")


def test_every_pair_is_drawn_once_each_way():
    comparison = frames(PLAIN)["comparison"]
    chart = charts.comparison_matrix(comparison, **PLACE)
    cells = rows_with(chart, "model_a", "model_b", "difference", "ahead")
    chances = rows_with(chart, "model_a", "model_b", "difference", "p_tie")
    pairs = comparison.filter(metric="precision", cutoff=2)
    assert cells.height == chances.height == pairs.height
    for a, b, difference, chance in pairs.select(
        "model_a", "model_b", "difference", "p_tie"
    ).rows():
        better, worse = (a, b) if difference >= 0 else (b, a)
        tile = cells.filter(model_a=worse, model_b=better)
        assert tile.select("difference", "ahead").row(0) == (-abs(difference), abs(difference))
        tile = chances.filter(model_a=better, model_b=worse)
        assert tile.select("difference", "p_tie").row(0) == (abs(difference), chance)


def test_the_matrix_of_many_models_holds_those_whose_order_depends_on_ties():
    names = [f"model {number:02}" for number in range(20)]
    values = {name: [0.9 - number / 40] * 3 for number, name in enumerate(names)}
    comparison = pair_verdicts(compare(scores_of(values, metric="rr", cutoff=2)))
    both = pl.col("model_a").is_in(names[17:19]) & pl.col("model_b").is_in(names[17:19])
    depends = pl.when(both).then(pl.lit(DEPENDS)).otherwise(pl.lit("safe"))
    judged = comparison.with_columns(verdict=depends)
    matrix = charts.comparison_matrix(judged, metric="rr", cutoff=2)
    drawn = rows_with(matrix, "model_a", "model_b", "p_tie")
    assert {*drawn["model_a"], *drawn["model_b"]} == {*names[:14], *names[17:19]}
    assert subtitle_of(matrix).endswith("; not drawn: 4 other models")
    assert title_of(matrix) == "Every pair of 16 of the 20 models at rr@2"


def test_no_star_stands_on_a_pair_that_missing_items_could_reverse():
    values = {"high": [0.9, 0.8, 0.9], "cut": [0.5, 0.4, 0.5], "low": [0.1, 0.2, 0.1]}
    judged = pair_verdicts(compare(scores_of(values, metric="rr", cutoff=2)))
    both = pl.col("model_a").eq("cut") & pl.col("model_b").eq("high")
    cut = judged.with_columns(
        significant=True,
        verdict=pl.when(both).then(pl.lit(CUT)).otherwise(pl.lit("safe")),
        **{name: pl.when(~both).then(name) for name in ("p_tie", "p_tie_low", "p_tie_high")},
    )
    matrix = charts.comparison_matrix(cut, metric="rr", cutoff=2)
    below = dict(rows_with(matrix, "ahead", "text").select("ahead", "text").rows())
    cells = rows_with(matrix, "label", "column", "text")
    assert [below[ahead][-1] for ahead in sorted(below)] == [*"*?*"]
    assert cells.filter(label="high", column="cut")["text"].to_list() == ["?"]
    assert "(?: missing items could, too)" in subtitle_of(matrix)  # of the marks, those drawn
    unknown = pl.lit(None, pl.Float64)
    equal = judged.with_columns(p_tie=unknown, p_tie_low=unknown, p_tie_high=unknown)
    matrix = charts.comparison_matrix(equal, metric="rr", cutoff=2)
    assert "(none: not known)" in subtitle_of(matrix)
    assert "none" in rows_with(matrix, "text")["text"].to_list()
    level = pair_verdicts(compare(scores_of({"a": [0.5], "b": [0.5]}, metric="rr", cutoff=2)))
    matrix = charts.comparison_matrix(level, metric="rr", cutoff=2)
    assert sorted(rows_with(matrix, "text")["text"]) == ["0", "level"]  # as in the table of pairs
    assert subtitle_of(matrix).endswith("reverses the pair")


def test_models_whose_lines_lie_on_each_other_are_named():
    values = {"a": [0.1, 0.2], "copy of a": [0.1, 0.2], "b": [0.4, 0.2]}
    parts = [scores_of(values, metric="rr", cutoff=cutoff) for cutoff in (1, 2)]
    parts[1] = parts[1].with_columns(pl.col("value") + 0.1)
    lines = charts.scores_by_cutoff(summarise(pl.concat(parts)), metric="rr")
    assert "; on one line: a = copy of a" in subtitle_of(lines)
    curve = {"model": [*"aabb"], "recall": [0.0, 1.0] * 2, "value": [1.0, 0.5, 1.0, 0.25]}
    assert "on one line" not in subtitle_of(charts.recall_curve(curve))


def test_of_many_models_those_whose_naive_scores_are_off_by_0_are_only_counted():
    one = {"query": ["q"] * 2, "item": ["y", "x"]}
    for models, drawn, said in (
        (12, 12, ""),
        (15, 3, "; not drawn: 12 other models, whose tiles round to 0"),
    ):
        parts = [
            pl.DataFrame(
                {**one, "distance": [1, 1 if model < 3 else 2], "relevance": [1, 0]}
            ).with_columns(model=pl.lit(f"m{model:02}"))
            for model in range(models)
        ]
        three = rr.Study(pl.concat(parts), "rr@1, rr@2", truncated="no").three_scores
        written_as_0 = pl.when(pl.col("model") == "m05").then(1e-6).otherwise("off_by")
        copies = pl.when(pl.col("model") == "m14").then(pl.lit("m13"))  # of one panel
        three = three.with_columns(off_by=written_as_0, copy_of=copies)
        along = charts.along_cutoffs(three, metric="rr")
        parts_of_lines = rows_with(along, "label", "dashed").group_by("label").agg(pl.max("dashed"))
        assert not parts_of_lines["dashed"].has_nulls()  # browsers warn of what has no extent
        panels = subtitle_of(along)
        assert panels.endswith("; not drawn: 3 other models" if said else "next model")
        chart = charts.off_by(three, metric="rr")
        assert rows_with(chart, "model", "off_by")["model"].n_unique() == drawn
        assert subtitle_of(chart).endswith(said or "the naive order gives another rank")
        in_place = charts.off_by(three.with_columns(naive_rank="expected_rank"), metric="rr")
        assert "another rank" not in subtitle_of(in_place)


@pytest.mark.parametrize(("lowest", "is_cut"), [(0.0, True), (0.295, False)])
def test_the_range_of_all_orders_is_cut_where_the_axis_ends(lowest: float, is_cut: bool):
    """Axes are rounded by Vega, unless they have a domain: a line would seem to end in the open."""
    rows = frames(PLAIN)["three_scores"].with_columns(lowest=lowest, highest=0.5, order_low=0.3)
    rows = rows.with_columns(expected=0.5, naive=0.4, order_high=0.5)
    chart = charts.scores(rows, **PLACE)
    spec: Any = chart.to_dict()
    (start,) = rows_with(chart, "floor")["floor"].unique()
    assert start == pytest.approx(max(lowest, 0.29))
    for layer in spec["layer"]:
        domain = layer["encoding"]["x"]["scale"].get("domain", [lowest])
        assert domain[0] == start if is_cut else domain == [lowest]
    assert ("cut at the frame" in subtitle_of(chart)) == is_cut


@pytest.mark.parametrize(("off_by", "strongest"), [(5e-6, 0.001), (0.25, 0.25)])
def test_an_error_that_is_written_as_0_is_pale(off_by: float, strongest: float):
    tied = {"query": ["q"] * 2, "item": ["a", "b"], "distance": [1, 1], "relevance": [1, 0]}
    rows = rr.Study(tied, "rr@1, rr@2", truncated="no").three_scores
    spec: Any = charts.off_by(rows.with_columns(off_by=off_by), metric="rr").to_dict()
    scales = [layer["encoding"]["color"].get("scale", {}) for layer in spec["layer"]]
    assert [scale["domain"] for scale in scales if "domain" in scale] == [[0, strongest]]


def test_policies_have_three_looks_and_a_legend_of_all():
    spec: Any = charts.policies(frames(PLAIN)["summary"], **PLACE).to_dict()
    colours = [layer["encoding"]["color"] for layer in spec["layer"]]
    known = ["expected score", "range over tie orders", "printed in the naive order"]
    assert {tuple(colour["scale"]["domain"]) for colour in colours} == {tuple(known)}
    rows = [row for data in spec["datasets"].values() for row in data]
    assert {row["shown"] for row in rows} == {*known}


def test_names_on_a_phone_keep_what_differs():
    names = [
        *(
            f"anserini-2019-06-{day}-{run}"
            for day in (18, 28)
            for run in ("bm25", "bm25.rm3", "ql")
        ),
        *(f"atire-2019-06-{day}-ANT_c17_100_percent" for day in (18, 28)),
    ]
    labels = list(unique_labels(names).values())
    assert labels[:3] == [
        "anserini…06-18-bm25",
        "anserini…18-bm25.rm3",
        "anserini-2019-06-18-ql",
    ]
    assert len({*labels}) == len(names)
    assert max(map(len, labels)) <= LABEL
    words = {word for name in names for word in re.split(r"[-_.]", name)}
    assert {word for label in labels for word in re.split(r"[-_.…]", label)} - {""} <= words


def test_a_cutoff_beyond_the_end_of_the_lists_has_no_number():
    rankings = {"query": ["q"] * 3, "item": [*"abc"], "distance": [0, 2, 2], "relevance": [0, 1, 0]}
    spec: Any = charts.profile(rr.tie_profile(rankings, cutoffs=(1, 2, 3, 9))).to_dict()
    tiles = {
        row["k"]: row["text"] for part in spec["datasets"].values() for row in part if "text" in row
    }
    assert tiles == {"1": "0", "2": "100", "3": "end", "9": "end"}


def test_profile_draws_the_profile():
    profile = frames(PLAIN)["profile"]
    drawn = rows_with(charts.profile(profile), "model", "k", "cut_share").filter(
        pl.col("k") != "all"
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
        cutoff=2,
        lowest=0.0,
        highest=1.0,
        std=0.1,
        spread=1.0,
        truncated=False,
        naive_error=pl.col("naive") - pl.col("expected"),
    )


@pytest.mark.parametrize("distinct", [50, 20_000])
def test_twenty_thousand_queries_are_counted_first(distinct: int):
    table = big_table(20_000, distinct)
    chart = charts.query_scatter(table, **PLACE)
    points = rows_with(chart, "query", "naive", "expected", "lists").with_columns(
        pl.col("query").cast(pl.Int64)
    )
    assert points.height <= 5000
    assert points["lists"].sum() == 20_000
    shown = table.join(points, on=["query", "naive", "expected"], how="semi")
    assert shown.height == points.height
    assert charts.query_scatter(table.reverse(), **PLACE).to_dict() == chart.to_dict()


def test_points_have_a_legend_of_sizes_only_where_they_differ_in_size():
    for queries, legends in ((120, 1), (100, 0), (3, 0)):
        chart = charts.query_scatter(big_table(queries, 50), **PLACE).to_dict()
        sizes = [layer["encoding"].get("size", {}) for layer in chart["layer"]]
        scales = [size["scale"] for size in sizes if "legend" in size]
        assert len(scales) == legends
        assert all(scale["range"][0] >= 16 for scale in scales)  # a single list is seen


def test_lists_whose_missing_items_could_change_the_score_are_not_printed_right():
    almost = 0.5 + pl.col("query") * 1e-15  # scores that differ in the last bits are level
    table = big_table(4, 50).with_columns(naive=almost, expected=0.5, naive_error=0.0)
    cut = table.with_columns(truncated=pl.col("query") < 1)
    points = rows_with(charts.query_scatter(cut, **PLACE), "side", "lists")
    assert dict(points.rows()) == {"not known: items may be missing": 1, "printed right": 3}


def test_names_of_models_that_score_nearly_the_same_do_not_lie_on_each_other():
    """One over the other by a line of text, however close their scores are, on any width."""
    names = {"a": 0.5, "b": 0.5001, "c": 0.5002, "d": 0.9}
    summary = summarise(scores_of({name: [score] * 2 for name, score in names.items()}))
    table = rr.stats.cost_table(summary, {name: index + 1 for index, name in enumerate(names)})
    rows = rows_with(charts.costs(table, metric="ap", cutoff=10), "named_at", "label")
    line = (0.9 - 0.5) * 15 / 340
    assert rows["label"].to_list() == list("abcd")
    assert (rows["named_at"].diff().drop_nulls() > line * 0.999).all()
    assert (rows["named_at"][0], rows["named_at"][-1]) == (0.5, 0.9)


def test_the_steps_of_the_front_lie_above_the_intervals_and_below_the_dots():
    """A small step to the best model would be lost under its interval."""
    summary = summarise(scores_of({"a": [0.2, 0.8], "b": [0.21, 0.8]}))
    chart = charts.costs(rr.stats.cost_table(summary, {"a": 1, "b": 2}), metric="ap", cutoff=10)
    marks = [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]
    assert marks.index("rule") < marks.index("line") < marks.index("point")


@pytest.mark.parametrize("least", [0, 1])
def test_no_cost_below_0_is_on_the_axis(least: int):
    """A nice axis that is padded beyond 0, as on a page, would begin at the number before it."""
    summary = summarise(scores_of({"a": [0.2, 0.8], "b": [0.21, 0.8]}))
    table = rr.stats.cost_table(summary, {"a": least, "b": 20})
    layers = charts.costs(table, metric="ap", cutoff=10).to_dict()["layer"]
    scales = [layer["encoding"]["x"]["scale"] for layer in layers]
    assert all(scale.get("nice", True) == bool(least) for scale in scales)
