"""Bounds of cut lists against the enumeration of everything that could follow them."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle_completions import completed_extremes
from oracles import Grade
from retrieval_report import RetrievalReportWarning, evaluate

METRICS = (
    "precision", "precision(denominator=retrieved)", "recall", "f1", "hit_rate", "rr", "r_precision", "ap_at_r",
    "ap", "ap(denominator=min)", "ap(denominator=retrieved)", "ap(denominator=k)",
    "wap", "wap(denominator=min)", "wap(denominator=retrieved)", "wap(denominator=k)",
    "acg", "dcg", "dcg(gain=linear)", "ndcg", "ndcg(ideal=list)", "ndcg(gain=linear,ideal=list)", "rbp(p=0.5)", "err",
)  # fmt: skip
BINARY = "ndcg(ideal=cutoff)"  # for relevances that are 0 or one grade
GRADES = (1, 2, 3)


def frame(ties: Sequence[Sequence[Grade]]) -> pl.DataFrame:
    rows = [(place, grade) for place, tie in enumerate(ties) for grade in tie]
    return pl.DataFrame(
        {
            "query": ["q"] * len(rows),
            "item": [f"i{number}" for number in range(len(rows))],
            "distance": [place for place, _ in rows],
            "relevance": [float(grade) for _, grade in rows],
        }
    )


def judgements(ties: Sequence[Sequence[Grade]], unseen: Sequence[Grade]) -> pl.DataFrame:
    shown = frame(ties).select("query", "item", "relevance")
    more = pl.DataFrame(
        {"query": ["q"] * len(unseen), "item": [f"u{n}" for n in range(len(unseen))], "relevance": list(unseen)},
        schema=shown.schema,
        strict=False,
    )
    return pl.concat([shown, more])


def bounds(rankings: pl.DataFrame, metrics: Sequence[str], cutoffs: Sequence[int], **options: Any) -> dict[Any, Any]:
    policies = ("worst", "expected", "best")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RetrievalReportWarning)  # nothing relevant; an ideal that is a guess
        scores = evaluate(rankings, metrics=list(metrics), cutoffs=list(cutoffs), policies=policies, **options)
    wide = scores.pivot("policy", index=["metric", "cutoff", "truncated"], values="value")
    return {
        (metric, cutoff): (truncated, worst, expected, best)
        for metric, cutoff, truncated, worst, expected, best in wide.iter_rows()
    }


@st.composite
def cut_lists(draw: st.DrawFn, grades: Sequence[int] = (0, 1, 2, 3)) -> tuple[list[list[int]], bool, list[int]]:
    """Ties of a short list, whether its last tie may be cut, and the cutoffs to look at: up to three behind."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    ties = [[draw(st.sampled_from(grades)) for _ in range(size)] for size in sizes]
    within = draw(st.booleans())
    before = sum(sizes[:-1]) if within else sum(sizes)
    return ties, within, sorted({draw(st.integers(1, before + 3)) for _ in range(2)})


def check(found: dict[Any, Any], ties: list[list[int]], exactly: bool, **oracle: Any) -> None:
    for (text, cutoff), (_, worst, expected, best) in found.items():
        deep = cutoff is None  # the first R positions, which may be more than three behind
        low, high = completed_extremes(ties, text, cutoff, zeros=5 if deep else 3, **oracle)
        about = f"{text}@{cutoff} of {ties} {oracle}: {worst}, {best} where {float(low)}, {float(high)}"
        assert worst <= low + 1e-12, about
        assert best >= high - 1e-12, about
        assert worst <= expected + 1e-12, about
        assert expected <= best + 1e-12, about
        if exactly:
            assert worst == pytest.approx(float(low), abs=1e-12), about
            assert best == pytest.approx(float(high), abs=1e-12), about


@settings(max_examples=60)
@given(cut_lists(), st.lists(st.sampled_from(GRADES), max_size=2))
def test_with_judgements_bounds_are_the_extremes_over_all_completions(
    case: tuple[list[list[int]], bool, list[int]], unseen: list[int]
) -> None:
    ties, within, cutoffs = case
    word = "within_tie" if within else "between_ties"
    found = bounds(frame(ties).drop("relevance"), METRICS, cutoffs, judgements=judgements(ties, unseen), truncated=word)
    check(found, ties, True, within=within, unseen=unseen)


@settings(max_examples=40)
@given(cut_lists((0, 1)), st.integers(0, 2))
def test_with_binary_relevance_and_n_relevant_they_are_too(
    case: tuple[list[list[int]], bool, list[int]], more: int
) -> None:
    ties, within, cutoffs = case
    total = sum(map(sum, ties)) + more
    queries = pl.DataFrame({"query": ["q"], "n_relevant": [total]})
    word = "within_tie" if within else "between_ties"
    found = bounds(frame(ties), (*METRICS, BINARY), cutoffs, queries=queries, truncated=word)
    check(found, ties, True, within=within, unseen=[1] * more)


@settings(max_examples=30)
@given(cut_lists((0, 1, 2)), st.integers(1, 2))
def test_with_grades_unknown_they_are_the_extremes_over_all_grades_seen(
    case: tuple[list[list[int]], bool, list[int]], more: int
) -> None:
    ties, within, cutoffs = case
    seen = sorted({grade for tie in ties for grade in tie if grade})
    unknown = list(itertools.combinations_with_replacement(seen or [1], more))
    total = sum(grade > 0 for tie in ties for grade in tie) + more
    queries = pl.DataFrame({"query": ["q"], "n_relevant": [total]})
    word = "within_tie" if within else "between_ties"
    found = bounds(frame(ties), METRICS, cutoffs, queries=queries, truncated=word)
    check(found, ties, True, within=within, unknown=unknown)


@settings(max_examples=25)
@given(cut_lists((0, 1, 2)))
def test_of_unknown_r_bounds_hold_whatever_follows(case: tuple[list[list[int]], bool, list[int]]) -> None:
    ties, within, cutoffs = case
    seen = sorted({grade for tie in ties for grade in tie if grade})
    unknown = [more for size in range(3) for more in itertools.combinations_with_replacement(seen or [1], size)]
    found = bounds(frame(ties), METRICS, cutoffs, truncated="within_tie" if within else "between_ties")
    check(found, ties, False, within=within, unknown=unknown)
