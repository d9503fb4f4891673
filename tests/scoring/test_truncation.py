"""Whether lists were cut: what `truncated` decides from and says, and whose relevant items R counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl
import pytest

from made_cuts import marked, models, ranked, said, top
from retrieval_report import ParameterError, RetrievalReportWarning, evaluate
from retrieval_report.codes import count_codes
from retrieval_report.scoring.truncation import Decision, decide, gather

DIFFERENT = "models retrieved different items for one query ('q0')"


# What is decided from ----------------------------------------------------------------------------------


def facts(model: str = "m", *, items: list[int], before: list[int] | int = 3, **columns: Any) -> pl.DataFrame:
    lists = len(items)
    row: dict[str, Any] = {
        "model": [model] * lists,
        "query": [f"q{n:02}" for n in range(lists)],
        "items": items,
        "before": [before] * lists if isinstance(before, int) else before,
        "found": [2] * lists,
        "known": [None] * lists,
        "fingerprint": list(range(lists)),
    }
    types = {"known": pl.Int64, "fingerprint": pl.UInt64}
    return pl.DataFrame(row | columns, schema_overrides=types)


def decided(frame: pl.DataFrame, truncated: str | Mapping[str, str] = "auto", *, recur: bool = True) -> Decision:
    return decide(truncated, ["m", "n"], lambda: gather(frame), lambda model: recur)["m"]


FILLED: dict[str, Any] = {
    "items": [10] * 12 + [7] * 8
}  # most lists have the length that was asked for, others had fewer to show
BETWEEN: dict[str, Any] = {"items": [10, 11, 12, 13, 14] * 2, "before": 9}


@pytest.mark.parametrize(
    ("frame", "word", "reason"),
    [
        (facts(items=[10, 10]), "within_tie", "its lists hold 10 items, and not the same ones"),
        (facts(**FILLED), "within_tie", "most of its lists hold 10 items, and not the same ones"),
        (facts(**BETWEEN), "between_ties", "its lists end where a tie ends, at about one depth"),
        (
            facts(items=[9, 4], known=[None, 5]),
            "within_tie",
            "not every known relevant item is in its lists (query 'q01': 2 of 5)",
        ),
        (
            facts(**BETWEEN, known=[3] * 10),
            "between_ties",
            "not every known relevant item is in its lists (query 'q00': 2 of 3)",
        ),
        (
            pl.concat([facts(items=[9, 4]), facts("n", items=[9, 4], fingerprint=[0, 7])]),
            "within_tie",
            "models retrieved different items for one query ('q01')",
        ),
        (
            facts(**BETWEEN, fingerprint=[None] * 10),
            "between_ties",
            "its lists end where a tie ends, at about one depth",
        ),
    ],
    ids=["one length", "most of one length", "between ties", "lacking", "lacking, between", "different", "counts"],
)
def test_evidence_that_lists_were_cut(frame: pl.DataFrame, word: str, reason: str) -> None:
    found = decided(frame)
    assert (found.truncated, found.reason) == (word, reason)
    assert found.cut
    assert found.before == frame.filter(model="m")["before"].min()


@pytest.mark.parametrize(
    ("frame", "recur", "reason"),
    [
        (facts(items=[10, 10], fingerprint=[5, 5]), True, "every list holds the same items"),
        (
            pl.concat([facts(items=[10, 10], known=[9, 9]), facts("n", items=[10, 10])]),
            True,
            "every model ranks the same items of a query",
        ),
        (facts(items=[10, 10]), False, "no two queries share an item"),
        (facts(items=[10]), True, "nothing shows that items are missing"),
        (facts(items=[10, 7, 3]), True, "nothing shows that items are missing"),
        (facts(items=[10] * 12 + [7] * 7), True, "nothing shows that items are missing"),  # too few to tell
        (facts(items=[10, 7], known=[2, 2]), True, "nothing shows that items are missing"),
        (facts(items=[9] * 10, fingerprint=[None] * 10), True, "nothing shows that items are missing"),
        (facts(items=[0, 0], known=[1, 1]), True, "its lists are empty"),
    ],
    ids=["same", "reranked", "own ids", "one list", "any length", "few lists", "all found", "counts", "empty"],
)
def test_all_clear(frame: pl.DataFrame, recur: bool, reason: str) -> None:
    found = decided(frame, recur=recur)
    assert (found.truncated, found.reason, found.cut) == ("no", reason, False)


def test_the_same_items_in_every_list_are_no_collection_where_other_lists_are_longer() -> None:
    frame = pl.concat([facts(items=[5, 5], fingerprint=[1, 1]), facts("n", items=[9, 9], fingerprint=[2, 2])])
    assert decided(frame).truncated == "within_tie"
    assert decide("auto", ["n"], lambda: gather(frame), lambda model: True)["n"].truncated == "no"  # all there are


def test_what_is_given_is_not_asked_of_the_lists() -> None:
    frame = facts(items=[10, 10])
    for word in ("no", "between_ties", "within_tie"):
        assert decided(frame, word)[:2] == (word, "as given")
        assert decided(frame, {"m": word})[:2] == (word, "as given")
    assert decided(frame, {"n": "no"}).truncated == "within_tie"


# Frames ------------------------------------------------------------------------------------------------


def test_lists_of_a_search_for_the_nearest_ten() -> None:
    scores, warned = said(top(ranked(1)))
    (warning,) = warned
    assert warning == (
        "the lists of model 'model' seem cut: its lists hold 10 items, and not the same ones. Scores that reach into "
        "their last tie have no standard deviation, and their lowest and highest values allow for what a deeper "
        "retrieval could show; set truncated='no' (lists hold all items), 'between_ties' or 'within_tie' to decide "
        "this yourself"
    )
    expected = scores.filter(policy="expected").sort("cutoff", "query")
    assert expected.filter("truncated")["cutoff"].unique().to_list() == [10]
    assert expected.filter("truncated")["std"].is_null().all()
    assert expected.filter(~pl.col("truncated"))["std"].is_not_null().all()
    whole, silent = said(ranked(1), truncated="no")
    assert not silent
    truth = whole.filter(policy="expected").sort("cutoff", "query")["value"]
    assert (scores.filter(policy="worst").sort("cutoff", "query")["value"] <= truth).all()
    assert (scores.filter(policy="best").sort("cutoff", "query")["value"] >= truth).all()


def test_whole_rankings_are_complete() -> None:
    scores, warned = said(models(a=ranked(1), b=ranked(2)))
    assert not warned
    assert not marked(scores)
    assert scores.filter(policy="expected")["std"].is_not_null().all()


def test_candidates_that_every_model_ranks_anew_are_complete() -> None:
    candidates = top(ranked(1, 90))
    again = candidates.with_columns(distance=pl.col("distance") % 3)
    scores, warned = said(models(a=candidates, b=again))
    assert not warned
    assert not marked(scores)
    judged = ranked(1).select("query", "item", "relevance")  # of all items: most are not among the candidates
    scores, warned = said(models(a=candidates, b=again).drop("relevance"), judgements=judged)
    assert not warned
    assert not marked(scores)


def test_candidates_with_ids_of_their_query_are_complete() -> None:
    candidates = top(ranked(1)).with_columns(item=pl.format("{} of {}", "item", "query"))
    scores, warned = said(candidates)
    assert not warned
    assert not marked(scores)


@pytest.mark.parametrize("several", [False, True])
def test_runs_with_judgements_that_name_more_relevant_items(several: bool) -> None:
    run = top(ranked(1)).drop("relevance")
    run = run.filter(pl.int_range(pl.len()).over("query") < 10 - pl.col("query").str.slice(1).cast(pl.Int64) % 4)
    rankings = models(a=run, b=top(ranked(2), 8).drop("relevance")) if several else run
    scores, warned = said(rankings, judgements=ranked(1).select("query", "item", "relevance"))
    reason = DIFFERENT if several else "not every known relevant item is in its lists (query 'q0': 1 of 17)"
    assert len(warned) == 1
    assert reason in warned[0]
    assert marked(scores) == ({"a", "b"} if several else {"model"})


def codes(seed: int, number: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.random.default_rng(seed).random((number, 8)) < 0.5


def counted(depth: int | None) -> pl.DataFrame:
    labels: dict[str, Any] = {"query_labels": np.arange(30) % 3, "item_labels": np.arange(400) % 3}
    return count_codes(codes(1, 30), codes(2, 400), depth=depth, **labels)


def test_counts_of_the_nearest_end_between_ties() -> None:
    scores, warned = said(counted(20), cutoffs=(20, 150))
    assert len(warned) == 1
    assert "its lists end where a tie ends, at about one depth" in warned[0]
    assert scores.filter("truncated")["cutoff"].unique().to_list() == [150]  # nothing follows within the depth
    whole, _ = said(counted(None), cutoffs=20)
    alike = ["query", "metric", "cutoff", "policy", "value", "std"]
    assert scores.filter(cutoff=20).select(alike).equals(whole.select(alike))


def test_counts_of_all_items_are_complete() -> None:
    scores, warned = said(counted(None))
    assert not warned
    assert not marked(scores)


# What is given -----------------------------------------------------------------------------------------


def test_every_model_has_a_word_of_its_own() -> None:
    lists = {name: top(ranked(number)) for number, name in enumerate("abcd")}
    scores, warned = said(models(**lists), truncated={"a": "no", "b": "within_tie", "c": "between_ties"})
    assert len(warned) == 1
    assert warned[0].startswith(f"the lists of model 'd' seem cut: {DIFFERENT}. ")
    assert marked(scores) == {"b", "d"}  # the last tie of c is whole, and no score reaches behind it
    deeper, _ = said(models(**lists), truncated={"a": "no", "b": "within_tie", "c": "between_ties"}, cutoffs=11)
    assert marked(deeper) == {"b", "c", "d"}


@pytest.mark.parametrize(
    ("truncated", "message"),
    [
        ({"a": "no", "z": "no"}, "truncated: the rankings have no model 'z'; they have a, b"),
        ({"a": "cut"}, "truncated of model 'a': 'cut' is not one of 'auto', 'no', 'between_ties', 'within_tie'"),
        ("yes", "truncated: 'yes' is not one of 'auto', 'no', 'between_ties', 'within_tie'"),
        (True, "truncated: True is not one of 'auto'"),
        (None, "truncated: None is not one of 'auto'"),
    ],
)
def test_what_is_refused(truncated: Any, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        said(models(a=top(ranked(1)), b=top(ranked(2))), truncated=truncated)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(("number", "others"), [(1, ""), (2, " and of another one"), (3, " and of 2 others")])
def test_the_warning_counts_models(number: int, others: str) -> None:
    lists = {name: top(ranked(index), 10 + index) for index, name in enumerate("abc"[:number])}
    _, warned = said(models(**lists))
    assert len(warned) == 1
    assert warned[0].startswith(f"the lists of model 'a'{others} seem cut: ")


def test_nothing_is_said_where_no_score_reaches_what_is_open_or_the_user_knows() -> None:
    rankings = top(ranked(1))
    scores, warned = said(rankings, cutoffs=1)
    assert not warned
    assert not marked(scores)
    assert scores.equals(said(rankings, cutoffs=1, truncated="within_tie")[0])
    for word in ("no", "between_ties", "within_tie"):
        assert said(rankings, truncated=word)[1] == []


def test_the_warning_points_at_the_caller() -> None:
    with pytest.warns(RetrievalReportWarning, match="seem cut") as caught:
        evaluate(top(ranked(1)))
    assert caught[0].filename == __file__
