"""Bounds of cut lists against the enumeration of everything that could follow them."""

import itertools
import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from catalogue_texts import BINARY, OF_USERS
from cut_lists import CUTOFFS, METRICS, UNGRADED, bounds, complete_rankings, cut, frame, judgements
from oracle_completions import OWN_DEPTH, completed_extremes, completions
from oracles import moments
from retrieval_report import RetrievalReportWarning, evaluate

Case = tuple[list[list[int]], bool, list[int]]  # ties, whether the last is cut, cutoffs
GRADES = (1, 2, 3)
SOME = st.lists(st.sampled_from(METRICS), min_size=12, max_size=12, unique=True)
NDCG = [text for text in METRICS if text.startswith("ndcg")]
OF_LIST = [text for text in NDCG if "ideal=list" in text]  # what follows is in the ideal


@st.composite
def cut_lists(draw: st.DrawFn, grades: Sequence[int] = (0, 1, 2, 3)) -> Case:
    """A short list, whether its last tie may be cut, and cutoffs to look at: up to three behind."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    ties = [[draw(st.sampled_from(grades)) for _ in range(size)] for size in sizes]
    within = draw(st.booleans())
    before = sum(sizes[:-1]) if within else sum(sizes)
    return ties, within, sorted({draw(st.integers(1, before + 3)) for _ in range(2)})


def check(
    found: dict[Any, Any],
    ties: list[list[int]],
    exactly: bool,
    bounded: Sequence[str] = (),
    **oracle: Any,
):
    """Compare with the oracle; the highest scores of metrics ``bounded`` need only be bounds.

    The oracle gives missing items the grades that were seen. Where there are none, a missing item
    may have any grade: scores that depend on it have no highest value, or that of the metric.
    """
    nothing_seen = not any(map(any, ties))
    for (text, cutoff), (_, worst, expected, best) in found.items():
        any_grade = nothing_seen and text not in UNGRADED
        if best is None:
            assert any_grade, text
            best = math.inf
        deep = cutoff is None  # the first R positions, which may be more than three behind
        low, high = completed_extremes(ties, text, cutoff, zeros=5 if deep else 3, **oracle)
        about = (
            f"{text}@{cutoff} of {ties} {oracle}: {worst}, {best} where {float(low)}, {float(high)}"
        )
        assert worst <= low + 1e-12, about
        assert best >= high - 1e-12, about
        assert worst <= expected + 1e-12, about
        assert expected <= best + 1e-12, about
        if exactly and not any_grade:
            assert worst == pytest.approx(float(low), abs=1e-12), about
            assert text in bounded or best == pytest.approx(float(high), abs=1e-12), about
            assert text not in bounded or best <= 1 + 1e-12, about


@given(cut_lists(), st.lists(st.sampled_from(GRADES), max_size=2), SOME)
def test_with_judgements_bounds_are_the_extremes_over_all_completions(
    case: Case, unseen: list[int], metrics: list[str]
):
    ties, within, cutoffs = case
    word = "within_tie" if within else "between_ties"
    found = bounds(
        frame(ties).drop("relevance"),
        metrics,
        cutoffs,
        judgements=judgements(ties, unseen),
        truncated=word,
    )
    check(found, ties, True, OF_LIST, within=within, unseen=unseen)


@given(cut_lists((0, 1)), st.integers(0, 2), SOME)
def test_with_binary_relevance_and_n_relevant_they_are_too(
    case: Case, more: int, metrics: list[str]
):
    ties, within, cutoffs = case
    total = sum(map(sum, ties)) + more
    queries = pl.DataFrame({"query": ["q"], "n_relevant": [total]})
    word = "within_tie" if within else "between_ties"
    found = bounds(frame(ties), (*metrics, BINARY), cutoffs, queries=queries, truncated=word)
    check(found, ties, True, OF_LIST, within=within, unseen=[1] * more)


@settings(max_examples=22)
@given(cut_lists((0, 1, 2)), st.integers(1, 2), SOME)
def test_with_grades_unknown_they_are_the_extremes_over_all_grades_seen(
    case: Case, more: int, metrics: list[str]
):
    ties, within, cutoffs = case
    seen = sorted({grade for tie in ties for grade in tie if grade})
    unknown = list(itertools.combinations_with_replacement(seen or [1], more))
    total = sum(grade > 0 for tie in ties for grade in tie) + more
    queries = pl.DataFrame({"query": ["q"], "n_relevant": [total]})
    word = "within_tie" if within else "between_ties"
    found = bounds(frame(ties), metrics, cutoffs, queries=queries, truncated=word)
    check(found, ties, True, NDCG, within=within, unknown=unknown)


@pytest.mark.parametrize(("zeros", "more"), [(4, 1), (6, 1), (6, 2)])
def test_no_more_items_enter_the_best_ideal_than_are_missing(zeros: int, more: int):
    """Of a list that begins in vain, the ratio would rise with every item that follows."""
    ties = [[0]] * zeros + [[1], [2]]
    queries = pl.DataFrame({"query": ["q"], "n_relevant": [2 + more]})
    cutoffs = [zeros + 2 + ahead for ahead in range(3)]
    found = bounds(frame(ties), ["ndcg"], cutoffs, queries=queries, truncated="between_ties")
    unknown = list(itertools.combinations_with_replacement([1, 2], more))
    check(found, ties, True, ["ndcg"], within=False, unknown=unknown)
    assert all(best < 0.8 for *_, best in found.values())


@settings(max_examples=16)
@given(cut_lists((0, 1, 2)), SOME)
def test_of_unknown_r_bounds_hold_whatever_follows(case: Case, metrics: list[str]):
    ties, within, cutoffs = case
    seen = sorted({grade for tie in ties for grade in tie if grade})
    unknown = [
        more
        for size in range(3)
        for more in itertools.combinations_with_replacement(seen or [1], size)
    ]
    found = bounds(
        frame(ties), metrics, cutoffs, truncated="within_tie" if within else "between_ties"
    )
    check(found, ties, False, within=within, unknown=unknown)


@settings(max_examples=10)
@given(
    cut_lists((0, 1, 2)),
    st.lists(st.sampled_from(GRADES), max_size=1),
    st.sampled_from((*METRICS, BINARY)),
)
def test_the_oracle_leaves_out_only_orders_that_score_alike(
    case: Case, unseen: list[int], text: str
):
    ties, within, cutoffs = case
    cutoff = None if text in OWN_DEPTH else cutoffs[0]
    every = [
        moments(whole.ties, text, cutoff, judged=whole.judged)
        for whole in completions(ties[-2:], within=within, unseen=unseen, unknown=((),), zeros=1)
    ]
    extremes = min(one.minimum for one in every), max(one.maximum for one in every)
    assert (
        completed_extremes(ties[-2:], text, cutoff, within=within, unseen=unseen, zeros=1)
        == extremes
    )


GRADE_BOUNDS = {  # of one list of two irrelevant items with one relevant item that is missing
    "dcg@3": (0.0, None),
    "acg@3": (0.0, None),
    "wap@3": (0.0, None),
    "ndcg@3": (0.0, 1.0),
    "ndcg(gain=exp2)@3": (0.0, 1.0),
    "precision@3": (0.0, 1 / 3),
    "rr@3": (0.0, 1 / 3),
    "rbp(p=0.5)@3": (0.0, 1 / 8),
    "rbp(p=0.5,max_grade=4)@3": (0.0, 1 / 8),
    "err@3": (0.0, 15 / 16 / 3),
    "dcg(gain=0:0;3:7)@3": (0.0, 7 / 2),
}


@pytest.mark.parametrize("relevant_from", [None, 2.0, 3.0])
def test_a_missing_item_has_any_grade_where_no_relevant_one_was_seen(
    relevant_from: float | None,
):
    queries = pl.DataFrame({"query": ["q"], "n_relevant": [1]})
    rankings = frame([[0], [0]])
    found = bounds(
        rankings,
        [text.partition("@")[0] for text in GRADE_BOUNDS],
        [3],
        queries=queries,
        truncated="between_ties",
        relevant_from=relevant_from,
    )
    for text, (low, high) in GRADE_BOUNDS.items():
        _, worst, _, best = found[text.partition("@")[0], 3]
        assert worst == low
        assert best == (None if high is None else pytest.approx(high, rel=1e-15)), text


JUDGED_ONLY = ["precision", "recall", "ap", "rr", "hit_rate", "f1", "ap_at_r", "r_precision"]


def judged_completions(
    ties: list[list[int]], unseen: list[int], within: bool
) -> list[tuple[tuple[int, ...], ...]]:
    """Every way a list of judged items may go on: with some of the judged ones that it lacks."""
    closed = [tuple(tie) for tie in (ties[:-1] if within else ties)]
    last = tuple(ties[-1]) if within else ()
    parts = {
        tuple(sorted(some))
        for size in range(len(unseen) + 1)
        for some in itertools.combinations(unseen, size)
    }
    return [tuple(tie for tie in (*closed, last + part) if tie) for part in sorted(parts)]


@settings(max_examples=14)
@given(
    cut_lists((0, 1, 2)),
    st.lists(st.sampled_from((0, 1, 2)), max_size=3),
    st.sampled_from([None, 2]),
    st.sampled_from([-1, 99]),
)
def test_bounds_of_judged_items_alone_are_attained(
    case: Case, unseen: list[int], relevant_from: int | None, place: int
):
    """No more irrelevant items can follow than were judged, and none before an unjudged one."""
    ties, within, cutoffs = case
    unjudged = frame([[0]]).with_columns(item=pl.lit("x"), distance=place)
    rankings = pl.concat([unjudged, frame(ties).with_columns(pl.col("distance").cast(pl.Int32))])
    binary = relevant_from is None and 2 not in (*unseen, *itertools.chain(*ties))
    names = [*JUDGED_ONLY, *(["ndcg", "dcg"] if binary else [])]
    rules: dict[str, Any] = {
        "judgements": judgements(ties, unseen),
        "truncated": "within_tie" if within else "between_ties",
        "relevant_from": relevant_from,
    }
    rankings = rankings.drop("relevance")
    found = bounds(
        rankings, [f"{name}(judged_only=True)" for name in names], [*cutoffs, None], **rules
    )
    dropped = bounds(rankings, names, [*cutoffs, None], unjudged="drop", **rules)
    assert [*dropped.values()] == [*found.values()]
    within &= place < 0
    judged = [grade for tie in ties for grade in tie] + unseen
    for (text, cutoff), (_, worst, _, best) in found.items():
        name = text.partition("(")[0]
        every = [
            moments(whole, name, cutoff, judged=judged, relevant_from=relevant_from)
            for whole in judged_completions(ties, unseen, within)
        ]
        about = f"{text}@{cutoff} of {ties}, {unseen}, {within}"
        lowest = float(min(one.minimum for one in every))
        highest = float(max(one.maximum for one in every))
        assert worst == pytest.approx(lowest, abs=1e-12), about
        assert best == pytest.approx(highest, abs=1e-12), about


# Cut a complete ranking anywhere
# -----------------------------------------------------------------------

KEYS = ["query", "metric", "cutoff"]


def all_scores(rankings: pl.DataFrame, **options: Any) -> pl.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RetrievalReportWarning
        )  # seem cut; grades of the ideal unknown
        return evaluate(
            rankings,
            metrics=[*METRICS, *OF_USERS],
            cutoffs=CUTOFFS,
            policies=("naive", "expected", "worst", "best"),
            **options,
        )


def check_bounds(truth: pl.DataFrame, found: pl.DataFrame, about: str):
    """Every true value, whatever the order, lies within the bounds of the cut lists."""
    bounds = found.pivot("policy", index=KEYS, values="value").select(*KEYS, "worst", "best")
    together = truth.join(bounds, on=KEYS, nulls_equal=True)
    assert together.height == truth.height
    outside = together.filter(
        (pl.col("value") < pl.col("worst") - 1e-12) | (pl.col("value") > pl.col("best") + 1e-12)
    )
    assert outside.is_empty(), f"{about}: {outside.row(0, named=True)}"


def check_order(found: pl.DataFrame, about: str):
    """The expected value of the rows received lies within the bounds too."""
    wide = found.pivot("policy", index=KEYS, values="value")
    wrong = wide.filter(
        (pl.col("worst") > pl.col("expected") + 1e-12)
        | (pl.col("expected") > pl.col("best") + 1e-12)
    )
    assert wrong.is_empty(), f"{about}: {wrong.row(0, named=True)}"


def check_unmarked(truth: pl.DataFrame, found: pl.DataFrame, about: str):
    """Expected scores that are not marked are those of the whole ranking to the last bit (but for
    the rounding of ideals of more items); the others have no spread.
    """
    same = found.join(truth, on=[*KEYS, "policy"], nulls_equal=True, suffix="_true").filter(
        policy="expected"
    )
    differs = same.filter(
        ~pl.col("truncated"),
        ~pl.col("metric").is_in(OF_LIST) | ((pl.col("value") - pl.col("value_true")).abs() > 1e-15),
        pl.col("value").ne_missing(pl.col("value_true"))
        | pl.col("std").ne_missing(pl.col("std_true")),
    )
    assert differs.is_empty(), f"{about}: {differs.row(0, named=True)}"
    assert same.filter("truncated")["std"].is_null().all(), about


@pytest.mark.parametrize(("distances", "largest"), [(3, 1), (3, 3), (40, 3)])
def test_a_complete_ranking_cut_anywhere_scores_within_the_bounds(distances: int, largest: int):
    generator = np.random.default_rng([distances, largest])
    whole = complete_rankings(generator, distances, largest)
    judged = whole.select("query", "item", "relevance")
    relevant = whole.group_by("query").agg(n_relevant=(pl.col("relevance") > 0).sum())
    truth = all_scores(whole, truncated="no")
    check_order(truth, "whole lists")
    longest = whole.height // 4
    middle = int(generator.integers(2, min(longest, 25)))
    told: tuple[dict[str, Any], dict[str, Any]] = {"judgements": judged}, {"queries": relevant}
    for depth, word, known, said in (  # every two of them together
        *((depth, "within_tie", told[0], "within_tie") for depth in (1, middle, longest)),
        *((depth, "between_ties", told[1], "between_ties") for depth in (1, middle, longest)),
        *((middle, "within_tie", told[1], "auto"), (1, "between_ties", told[0], "auto")),
    ):
        lists = cut(whole, depth, word)
        if "queries" in known and set(lists["relevance"]) != set(whole["relevance"]):
            known = told[0]  # of items that follow, the grades are those seen
        if said == "auto" and lists["relevance"].sum() == whole["relevance"].sum():
            continue  # it is then known that nothing follows
        shown = lists.drop("relevance") if "judgements" in known else lists
        about = f"cut {word} at {depth}, {list(known)} known, {said} said"
        found = all_scores(shown, truncated=said, **known)
        check_bounds(truth, found, about)
        check_order(found, about)
        check_unmarked(truth, found, about)


@pytest.mark.filterwarnings("ignore::retrieval_report.RetrievalReportWarning")
def test_bounds_are_the_same_whatever_else_is_asked():
    whole = complete_rankings(np.random.default_rng(5), 99, 2)
    depth = pl.when(query="q0").then(1).otherwise(11)  # few are open at rank 2, all at rank 12
    lists = whole.filter(pl.int_range(pl.len()).over("query") < depth)
    texts = ["ap@2", "ndcg@2", "ap@12", "ndcg@12", "r_precision"]
    policies = ("expected", "worst", "best")
    together = evaluate(lists, measures=texts, policies=policies)
    open_at = together.filter("truncated", metric="ap", policy="best")["cutoff"]
    assert sorted(open_at) == [2, 12, 12, 12, 12]
    for text in texts:
        name, _, cutoff = text.partition("@")
        same = pl.col("cutoff").eq_missing(int(cutoff) if cutoff else None)
        alone = evaluate(lists, measures=text, policies=policies)
        assert_frame_equal(alone, together.filter(same, metric=name), check_exact=True)
