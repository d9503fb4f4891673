from typing import Any

import polars as pl
import pytest

from retrieval_report.study.table_columns import column_of
from retrieval_report.study.terminal import display_width, frame_table, summary_table, visible

Values = dict[str, tuple[float | None, float | None]]

ALL_POLICIES: Values = {
    "naive": (0.75, None),
    "expected": (0.7, 0.05),
    "shuffled": (0.69, 0.04),
    "worst": (0.5, None),
    "best": (1.0, None),
}


def summary(models: dict[str, Values], *, cutoff: int | None = 10, **counts: int) -> pl.DataFrame:
    rows: Any = [
        {
            "model": model,
            "metric": "ndcg",
            "cutoff": cutoff,
            "policy": policy,
            "value": value,
            "tie_std": std,
        }
        | {"queries": 20, "no_relevant": 0, "missing": 0, "unjudged": 0}
        | {"query_se": None, "ci_low": None, "ci_high": None}
        | {"truncated_share": None, "pooled": False, "lowest": None, "highest": None}
        | counts
        for model, values in models.items()
        for policy, (value, std) in values.items()
    ]
    return pl.DataFrame(
        rows, schema_overrides={"cutoff": pl.Int64, "tie_std": pl.Float64, "value": pl.Float64}
    )


def test_all_policies_in_one_line_per_model():
    lines = summary_table(summary({"lsh-16": ALL_POLICIES})).splitlines()
    assert lines == [
        "ndcg@10",
        "model   expected  tie_std  shuffled   naive  lowest  highest  queries",
        "lsh-16    0.7000   0.0500    0.6900  0.7500  0.5000   1.0000       20",
    ]


def test_models_are_ranked_by_expected_value_then_name_and_null_comes_last():
    values = {"none": None, "b": 0.5, "a": 0.5, "top": 0.9}
    frame = summary({model: {"expected": (value, 0.0)} for model, value in values.items()})
    names = [line.split()[0] for line in summary_table(frame).splitlines()[2:]]
    assert names == ["top", "a", "b", "none"]


def test_close_means_have_the_digits_that_tell_them_apart():
    frame = summary({"a": {"expected": (0.67894, 0.1)}, "b": {"expected": (0.67891, None)}})
    assert [line.split() for line in summary_table(frame).splitlines()[2:]] == [
        ["a", "0.67894", "0.1000", "20"],
        ["b", "0.67891", "–", "20"],
    ]


def test_counts_are_shown_where_there_is_something_to_count():
    table = summary_table(summary({"a": ALL_POLICIES}, missing=2, no_relevant=3))
    assert table.splitlines()[1].endswith("queries  no_relevant  missing")
    assert table.splitlines()[2].split()[-3:] == ["20", "3", "2"]


def test_row_105_names_cannot_act_on_the_terminal():
    assert (
        visible("\x1b[2J\x07\r\n\u202e\u200b\x9b\u2028\ud800")
        == r"\x1b[2J\x07\r\n\u202e\u200b\x9b\u2028\ud800"
    )
    table = summary_table(summary({"a\x1b[2J\n\u202eb": ALL_POLICIES}))
    assert r"a\x1b[2J\n\u202eb" in table
    assert len(table.splitlines()) == 3


@pytest.mark.parametrize(
    "name", ["x" * 1_000_000, "検索" * 1000, "e" + "\u0301" * 1000, "\x1b" * 1000]
)
def test_row_106_long_names_are_cut_for_display(name: str):
    shown = visible(name, 40)
    assert shown.count("…") == 1
    assert display_width(shown) <= 40
    assert len(shown) <= 6 * 40 + 1


def test_long_names_that_differ_at_their_end_stay_different():
    names = [f"{'sentence-transformers/' * 4}{end}" for end in ("itq-32", "itq-64")]
    frame = summary(dict.fromkeys(names, ALL_POLICIES))
    first, second = (line.split()[0] for line in summary_table(frame).splitlines()[2:])
    assert (first[:20], first[-6:], second[-6:]) == (names[0][:20], "itq-32", "itq-64")
    assert display_width(first) == display_width(second) == 40


@pytest.mark.parametrize("width", range(1, 12))
def test_a_shortened_name_is_never_wider_than_asked(width: int):
    for name in ("x" * 50, "検索" * 20, "e\u0301" * 30, "\x1b" * 20, "abc\u0301" * 9):
        shown = visible(name, width)
        assert display_width(shown) <= width
        assert not shown.split("…")[-1].startswith("\u0301")
    assert visible("x" * width, width) == "x" * width


def test_wide_and_combining_characters_stay_in_line():
    frame = summary({"検索": ALL_POLICIES, "e\u0301te\u0301": ALL_POLICIES, "plain": ALL_POLICIES})
    lines = summary_table(frame).splitlines()[1:]
    assert len({display_width(line) for line in lines}) == 1


def test_a_chance_of_zero_is_told_from_a_tiny_one():
    chances = [0.0, 1e-9, 0.00009, 0.0001, 0.5, None]
    frame = pl.DataFrame({"p_tie": chances, "difference": chances})
    cells = [
        line.rsplit(maxsplit=1) for line in frame_table(frame, "p_tie difference").splitlines()[1:]
    ]
    assert [chance.strip() for chance, _ in cells] == [
        "0",
        "< 0.0001",
        "< 0.0001",
        "0.0001",
        "0.5000",
        "–",
    ]
    assert [plain for _, plain in cells][:2] == ["0.0000", "+1e-9"]


def test_whole_costs_have_no_decimals_in_the_terminal_and_on_the_page():
    amounts = [1024.0, 0.35, 1e7]
    shown = frame_table(pl.DataFrame({"amount": amounts}), "amount").split()[1:]
    assert shown == ["1024", "0.3500", "10000000"]
    assert [
        column_of("costs", "amount").fill({"amount": amount}).text for amount in amounts
    ] == shown


def test_a_heading_counts_queries_and_those_left_out():
    frame = pl.DataFrame(
        {"metric": "rr", "cutoff": [1, 2], "queries": [1, 2], "unpaired": [0, 3], "model": "a"},
        schema_overrides={"metric": pl.String},
    )
    blocks = frame_table(frame, "model", by="metric cutoff queries unpaired").split("\n\n")
    assert [block.split("\n")[0] for block in blocks] == [
        "rr@1, 1 query",
        "rr@2, 2 queries, 3 more without a score for every model",
    ]
