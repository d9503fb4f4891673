"""Whether lists were cut: what `truncated` decides from and says, and whose relevant items R
counts.
"""

from typing import Any

import numpy as np
import polars as pl
import pytest

from made_cuts import ITEMS, marked, models, ranked, said, top
from retrieval_report import (
    DataError,
    count_ties,
    truncated_lists,
)
from retrieval_report.codes import count_codes

LACKING = "not every known relevant item is in its lists (query {}: {} of {})"
OUTDONE = "another model retrieved items for query {!r} that it lacks"


def reasons(rankings: object, **options: Any) -> dict[str, tuple[str, str]]:
    """Word and reason of every model."""
    found = truncated_lists(rankings, cutoffs=10, **options)
    return {
        model: (word, reason)
        for model, word, reason in found.select("model", "truncated", "reason").iter_rows()
    }


WHOLE, UNKNOWN = ("no", "every list holds the same items"), ("within_tie", "not known")


def judged(rankings: pl.DataFrame) -> pl.DataFrame:
    return rankings.select("query", "item", "relevance")


def test_lists_of_a_search_for_the_nearest_ten():
    scores, warned = said(top(ranked(1)))
    assert not warned
    expected = scores.filter(policy="expected").sort("cutoff", "query")
    assert expected.filter("truncated")["cutoff"].unique().to_list() == [10]
    assert expected.filter("truncated")["std"].is_null().all()
    assert expected.filter(~pl.col("truncated"))["std"].is_not_null().all()
    assert_bounds_hold(scores, ranked(1))


def assert_bounds_hold(scores: pl.DataFrame, whole: pl.DataFrame, **options: Any):
    """The scores of the whole lists lie within the bounds of the cut ones."""
    keys = ["model", "query", "metric", "cutoff"]
    truth = (
        said(whole, truncated="no", **options)[0]
        .filter(policy="expected")
        .select(*keys, truth="value")
    )
    for policy in ("worst", "best"):
        bounds = scores.filter(policy=policy).join(truth, on=keys, nulls_equal=True)
        assert bounds.height == truth.height
        inside = (
            pl.col("value") <= pl.col("truth")
            if policy == "worst"
            else pl.col("value") >= pl.col("truth")
        )
        assert bounds.select(inside.all()).item()


def itself(rankings: pl.DataFrame) -> pl.DataFrame:
    """The same rankings with queries that are items, each left out of its own list."""
    queries = rankings.with_columns(query=pl.format("i{}", pl.col("query").str.slice(1)))
    return queries.filter(pl.col("query") != pl.col("item"))


def numbered(rankings: pl.DataFrame) -> pl.DataFrame:
    """The same rankings with whole numbers for ids, of different types."""
    return rankings.with_columns(
        pl.col("query").str.slice(1).cast(pl.Int32), pl.col("item").str.slice(1).cast(pl.UInt64)
    )


@pytest.mark.parametrize(
    "rankings",
    [
        models(a=ranked(1), b=ranked(2)),
        models(a=itself(ranked(1)), b=itself(ranked(2))),
        numbered(models(a=itself(ranked(1)), b=itself(ranked(2)))),
        ranked(1).sample(fraction=1.0, shuffle=True, seed=1),
    ],
    ids=["all items", "all but the query", "numbers", "in any order of rows"],
)
def test_rankings_of_one_collection_are_whole(rankings: pl.DataFrame):
    scores, warned = said(rankings)
    assert not warned
    assert not marked(scores)
    assert scores.filter(policy="expected")["std"].is_not_null().all()
    assert set(reasons(rankings).values()) == {WHOLE}


def test_other_lists_refute_or_leave_open_that_lists_are_whole():
    same = top(ranked(1).sort("query", "item"))
    assert reasons(models(a=same)) == {"a": WHOLE}
    number = pl.col("query").rank("dense").cast(pl.String)
    more = same.with_columns(item=pl.concat_str("item", pl.lit(" of "), number))
    outdone = ("within_tie", OUTDONE.format("q0"))
    assert reasons(models(a=same, b=more)) == {"a": outdone, "b": outdone}


@pytest.mark.parametrize("depth", [ITEMS, ITEMS + 5, 7])
def test_ids_of_another_kind_do_not_cut_the_lists_of_other_models(depth: int):
    whole = ranked(1)
    other = top(
        pl.concat([ranked(2), ranked(3).with_columns(item="again " + pl.col("item"))]), depth
    )
    other = other.with_columns(item="doc-" + pl.col("item")).drop("relevance")
    rankings = models(a=whole.drop("relevance"), b=other)
    found = reasons(rankings, judgements=judged(whole))
    assert found == {"a": WHOLE, "b": ("within_tie", LACKING.format("'q0'", 0, 17))}
    # one item that is judged shows that the ids are of one kind, and the others are not in "a"
    first = rankings.with_row_index().filter(model="b", query="q3")["index"][0]
    items = rankings["item"].scatter(first, "i3")
    found = reasons(rankings.with_columns(items), judgements=judged(whole))
    assert found["a"] == ("within_tie", OUTDONE.format("q3"))


def test_a_list_that_lacks_another_item_than_its_query_is_not_known_to_be_whole():
    rankings = itself(ranked(1)).filter((pl.col("query") != "i3") | (pl.col("item") != "i7"))
    assert reasons(rankings) == {"model": UNKNOWN}
    assert reasons(ranked(1).filter(query="q3")) == {"model": UNKNOWN}  # one list may hold any part


def test_a_whole_model_stays_whole_beside_one_of_top_lists():
    found = reasons(models(a=ranked(1), b=top(ranked(2))))
    assert found == {"a": WHOLE, "b": ("within_tie", OUTDONE.format("q0"))}
    nearest = top(ranked(2))
    other = nearest.with_columns(item=pl.col("item").replace(nearest["item"][-1], "new"))
    first = other.filter(item="new")["query"].min()
    assert reasons(models(a=ranked(1), b=other))["a"] == ("within_tie", OUTDONE.format(first))


# What was called whole in silence
# ------------------------------------------------------------------------


def assert_not_known(rankings: pl.DataFrame, whole: pl.DataFrame, **options: Any):
    """All models' scores that reach into a last tie are marked, and their bounds hold what the
    whole lists score.
    """
    scores, warned = said(rankings, **options)
    assert not warned
    marks = scores.filter("truncated", policy="expected")
    assert marks["std"].is_null().all()
    assert set(marks["model"]) == set(scores["model"])
    assert_bounds_hold(scores, whole, **options)


def test_runs_that_retrieve_the_same_items_while_others_are_known_to_be_relevant():
    nearest = top(ranked(1))
    coarse = nearest.with_columns(distance=pl.lit(1, pl.Int64))
    rankings, judgements = models(coarse=coarse, fine=nearest).drop("relevance"), judged(ranked(1))
    reason = ("within_tie", LACKING.format("'q0'", 1, 17))
    assert reasons(rankings, judgements=judgements) == {"coarse": reason, "fine": reason}
    whole = models(
        coarse=ranked(1).with_columns(distance=pl.lit(1, pl.Int64)), fine=ranked(1)
    ).drop("relevance")
    assert_not_known(rankings, whole, judgements=judgements)


# Counts say how their lists end
# ----------------------------------------------------------------------------


def codes(seed: int, number: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.random.default_rng(seed).random((number, 8)) < 0.5


def counted(depth: int | None) -> pl.DataFrame:
    labels: Any = {"query_labels": np.arange(30) % 3, "item_labels": np.arange(400) % 3}
    return count_codes(codes(1, 30), codes(2, 400), depth=depth, **labels)


@pytest.mark.parametrize(("depth", "word"), [(None, "no"), (20, "between_ties"), (401, "no")])
def test_counts_of_codes_say_how_their_lists_end(depth: int | None, word: str):
    counts = counted(depth)
    assert counts["truncated"].unique().to_list() == [word]
    assert reasons(counts) == {"model": (word, "as the counts say")}
    assert reasons(counts, truncated="within_tie") == {"model": ("within_tie", "as given")}
    assert reasons(counts.drop("truncated")) == {"model": UNKNOWN}
    assert reasons(count_ties(pl.concat([counts, counts]))) == {
        "model": (word, "as the counts say")
    }


def test_counts_of_one_model_end_in_one_way():
    both = pl.concat([counted(None), counted(20)])
    for use in (said, count_ties):
        with pytest.raises(
            DataError,
            match="model 'model' has both 'between_ties' and 'no'; all its lists must end in the same way",
        ):
            use(both)
    with pytest.raises(
        DataError, match=r"column 'truncated': .* not one of 'no', 'between_ties', 'within_tie'"
    ):
        said(counted(None).with_columns(truncated=pl.lit("auto")))


# What is given
# -----------------------------------------------------------------------------------------


def test_every_model_has_a_word_of_its_own():
    lists = {name: top(ranked(number)) for number, name in enumerate("abcd")}
    words = {"a": "no", "b": "within_tie", "c": "between_ties"}
    scores, _ = said(models(**lists), truncated=words)
    assert reasons(models(**lists), truncated=words)["d"] == ("within_tie", OUTDONE.format("q0"))
    assert marked(scores) == {
        "b",
        "d",
    }  # the last tie of c is whole, and no score reaches behind it
