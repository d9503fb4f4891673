"""bpref: against the enumeration of all orders, pytrec_eval, and what a track printed."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracles
from oracle_completions import completions
from real_data import folder
from retrieval_report import (
    evaluate,
    read_judgements,
    read_rankings,
    summarise,
)

POLICIES = ("expected", "best", "worst", "naive")
# 0: judged and not relevant, None: not judged
ties_of_a_list = st.lists(
    st.lists(st.sampled_from([None, 0, 0, 1, 2]), min_size=1, max_size=5), min_size=1, max_size=4
).filter(lambda ties: sum(map(len, ties)) <= 8)


def frames(ties: Sequence[Sequence[int | None]], unretrieved: list[int]) -> dict[str, Any]:
    rows = [
        (f"i{tie}{index}", tie, grade)
        for tie, part in enumerate(ties)
        for index, grade in enumerate(part)
    ]
    schema = {"item": pl.String, "distance": pl.Int64, "relevance": pl.Int64}
    items = pl.DataFrame(rows, schema=schema, orient="row").with_columns(query=pl.lit("q"))
    judged = [
        *items.drop_nulls().select("item", "relevance").rows(),
        *((f"u{n}", g) for n, g in enumerate(unretrieved)),
    ]
    judgements = pl.DataFrame(
        judged, schema={"item": pl.String, "relevance": pl.Int64}, orient="row"
    )
    return {
        "rankings": items.drop("relevance"),
        "judgements": judgements.with_columns(query=pl.lit("q")),
    }


@pytest.mark.filterwarnings("ignore:judgements. none of the")
@given(
    ties=ties_of_a_list,
    unretrieved=st.lists(st.integers(0, 2), max_size=3),
    level=st.sampled_from([None, 2]),
)
def test_every_policy_is_that_of_the_enumeration(
    ties: list[list[int | None]], unretrieved: list[int], level: int | None
):
    condensed = [[grade for grade in tie if grade is not None] for tie in ties]
    everything = [*(grade for tie in condensed for grade in tie), *unretrieved]
    if not oracles.count_relevant(everything, level):
        return
    asked: Any = {
        "metrics": "bpref",
        "policies": POLICIES,
        "unjudged": "drop",
        "truncated": "no",
    }
    scores = evaluate(**frames(ties, unretrieved), **asked, relevant_from=level)
    truth = oracles.moments(
        [tie for tie in condensed if tie], "bpref", judged=everything, relevant_from=level
    )
    received = oracles.bpref(
        [grade for tie in condensed for grade in tie], judged=everything, relevant_from=level
    )
    wanted = {
        "expected": truth.mean,
        "best": truth.maximum,
        "worst": truth.minimum,
        "naive": received,
    }
    for policy, value, std in scores.select("policy", "value", "std").iter_rows():
        assert value == pytest.approx(float(wanted[policy]), rel=1e-12, abs=1e-15), policy
        if policy == "expected":
            assert std == pytest.approx(truth.std, rel=1e-9, abs=1e-14)


def extremes(
    ties: list[list[int]], unretrieved: list[int], level: int | None, *, within: bool
) -> list[Fraction]:
    """The least and the most of bpref over everything that may follow a cut list."""
    everything = [*(grade for tie in ties for grade in tie), *unretrieved]
    every = completions(
        ties,
        within=within,
        unseen=[g for g in unretrieved if g],
        unknown=[()],
        zeros=unretrieved.count(0),
    )
    found = []
    for whole in every:
        own = oracles.moments(whole.ties, "bpref", judged=everything, relevant_from=level)
        found += [own.minimum, own.maximum]
    return [min(found), max(found)]


@given(
    ties=st.lists(
        st.lists(st.sampled_from([0, 0, 1, 2]), min_size=1, max_size=3), min_size=1, max_size=2
    ),
    unretrieved=st.lists(st.integers(0, 2), max_size=3),
    level=st.sampled_from([None, 2]),
    within=st.booleans(),
)
def test_bounds_of_cut_lists_are_those_of_all_that_may_follow(
    ties: list[list[int]], unretrieved: list[int], level: int | None, within: bool
):
    if not oracles.count_relevant([*(grade for tie in ties for grade in tie), *unretrieved], level):
        return
    asked: Any = {
        **frames([[*tie] for tie in ties], unretrieved),
        "metrics": "bpref",
        "unjudged": "drop",
    }
    cut = evaluate(
        **asked,
        policies=("worst", "best"),
        truncated="within_tie" if within else "between_ties",
        relevant_from=level,
    )
    wanted = [float(value) for value in extremes(ties, unretrieved, level, within=within)]
    assert cut["value"].to_list() == pytest.approx(wanted, rel=1e-12, abs=1e-15)


def test_a_track_of_trec_covid_is_printed_again_by_one_plain_call():
    """38 submitted runs: all five measures of the leaderboard, to the digit.

    trec_eval 9 compares scores as float32; RBP counts a document of grade 1 half.
    """
    measure = folder("trec-covid-round1")
    judgements = read_judgements(measure / "qrels.txt", negative="unjudged")
    board = {
        row["run"]: row for row in pl.read_csv(measure / "leaderboard.csv").iter_rows(named=True)
    }
    paths = sorted((measure / "runs").glob("*.gz"))
    assert len(paths) == 38
    columns = ["ndcg@10", "p@5", "RBP(p=.5)", "bpref", "MAP"]
    for path in paths:
        name = path.name.removesuffix(".gz")
        run = read_rankings(path).with_columns(pl.col("score").cast(pl.Float32), model=pl.lit(name))
        scores = evaluate(
            run, judgements=judgements, metrics="ndcg@10, p@5, rbp(p=0.5,max_grade=2), bpref, map",
            policies="naive", naive_order="item_descending", truncated="no",
        )  # fmt: skip
        means = summarise(scores)["value"].to_list()
        for column, mean in zip(columns, means, strict=True):
            assert f"{mean:.4f}" == f"{board[name][column]:.4f}", (name, column)
