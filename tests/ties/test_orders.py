"""One list: its ties, drawn orders, and the distribution of its score over all orders."""

import itertools
from collections import defaultdict
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import oracles
from catalogue_texts import TEXTS
from oracles import Grade
from properties import OWN_DEPTH
from retrieval_report import shuffled_means
from retrieval_report.lists import tie_groups
from retrieval_report.ties.distributions import DRAWS, score_distribution
from retrieval_report.ties.orders import ranking_ties

ONE: Any = {"model": "m", "query": "q"}
METRICS = [text for text in TEXTS if text not in OWN_DEPTH]


def rankings_of(groups: list[list[Grade]], **names: str) -> pl.DataFrame:
    """A list with these grades, tie by tie, and another of the same model that must not matter."""
    rows = [(distance, grade) for distance, tie in enumerate(groups) for grade in tie]
    one = pl.DataFrame(
        {
            "item": [f"i{measure}" for measure in range(len(rows))],
            "distance": [distance for distance, _ in rows],
            "relevance": [float(grade) for _, grade in rows],
        }
    ).with_columns(model=pl.lit(names.get("model", "m")), query=pl.lit(names.get("query", "q")))
    other = one.with_columns(query=pl.lit("other"), distance=pl.lit(0, pl.Int64))
    return pl.concat([other, one.reverse()])


def distribution_of(
    groups: list[list[Grade]], metric: str, cutoff: int | None
) -> dict[float, Fraction]:
    """By trying every order, in whole fractions."""
    found: defaultdict[float, Fraction] = defaultdict(Fraction)
    for sequence, probability in oracles.orderings(groups):
        found[round(float(oracles.score(sequence, metric, cutoff)), 9)] += probability
    return dict(found)


@given(
    groups=st.lists(
        st.lists(st.integers(0, 3), min_size=1, max_size=4), min_size=1, max_size=4
    ).filter(lambda ties: sum(map(len, ties)) <= 6),
    metrics=st.lists(st.sampled_from(METRICS), min_size=4, max_size=4, unique=True),
)
@settings(max_examples=20)
def test_every_score_has_the_share_of_orders_that_give_it(
    groups: list[list[Grade]], metrics: list[str]
):
    for metric, cutoff in itertools.product(metrics, (2, None)):
        frame = score_distribution(rankings_of(groups), **ONE, metric=metric, cutoff=cutoff)
        values, shares = zip(*sorted(distribution_of(groups, metric, cutoff).items()), strict=True)
        found = frame.sort("value")
        assert found["value"].to_list() == pytest.approx(values, abs=1e-9)
        assert found["probability"].to_list() == pytest.approx([float(share) for share in shares])
        assert set(frame["method"]) == {"exact"}


def test_too_many_orders_are_drawn_as_shuffled_means_draws_them():
    rankings = rankings_of([[0, 1] * 12])
    frame = score_distribution(rankings, **ONE, metric="ap", cutoff=None, seed=5)
    means = shuffled_means(
        rankings.filter(query="q"), metrics="ap", cutoffs=None, seed=5, shuffles=DRAWS
    )["value"]
    assert set(frame["method"]) == {"draws"}
    assert set(frame["orders"]) == {DRAWS}
    assert frame["value"].to_list() == pytest.approx(
        sorted(set(means.round(12).to_list())), abs=1e-12
    )
    assert (frame["value"] * frame["probability"]).sum() == pytest.approx(means.mean())
    shallow = score_distribution(rankings, **ONE, metric="ap", cutoff=3)
    assert (set(shallow["method"]), set(shallow["orders"])) == ({"exact"}, {8})


def test_a_list_is_what_tie_groups_says_of_it():
    rankings = rankings_of([[0, 2], [1, 0, 0]])
    rows = ranking_ties(rankings, **ONE, relevant_from=2)
    everything = tie_groups(rankings, relevant_from=2).filter(query="q")
    assert_frame_equal(rows.drop("row"), everything.drop("row"))
    assert ranking_ties(rankings, model="m", query="nowhere").is_empty()
