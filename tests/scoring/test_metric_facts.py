"""Facts on a metric's record, and what bounds and marks of cut lists make of them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import polars as pl
import pytest

from catalogue_texts import BINARY, OF_USERS
from cut_lists import CUTOFFS, METRICS, bounds, complete_rankings, frame
from retrieval_report import Metric, evaluate
from retrieval_report.kernels.lists import Floats
from retrieval_report.metrics import terms
from retrieval_report.metrics.parsing import parse_metric
from retrieval_report.metrics.record import Facts, Largest


def test_a_sum_without_limit_has_no_best_value_where_anything_may_follow():
    """Of three relevant items shown, a deeper list cannot show fewer."""
    found = bounds(frame([[1], [1], [1], [0]]), ["num_rel_ret"], [10, None], truncated="within_tie")
    assert found == {
        ("num_rel_ret", 10): (True, 3.0, 3.0, 10.0),
        ("num_rel_ret", None): (True, 3.0, 3.0, None),
    }


def test_a_metric_of_a_user_has_the_bounds_of_the_same_metric_in_the_catalogue():
    share, gain = OF_USERS[:2]
    for word in ("within_tie", "between_ties"):
        found = bounds(frame([[1], [0, 1]]), ["recall", share], [2, 4, None], truncated=word)
        for cutoff in (2, 4, None):
            assert found["recall", cutoff] == found["found_share", cutoff]
        assert found["recall", 2][1] == 0.0  # any number of relevant items may be missing
        assert bounds(frame([[1], [2]]), [gain], [None], truncated=word)["worth", None][3] is None


@pytest.mark.parametrize("text", [*METRICS, BINARY])
def test_no_score_is_above_the_largest_that_its_record_names(text: str):
    generator = np.random.default_rng(5)
    top = 1 if text == BINARY else 3
    rankings = complete_rankings(generator, 4, top)
    found = evaluate(rankings, metrics=text, cutoffs=CUTOFFS, policies="best", truncated="no")[
        "value"
    ].max()
    perfect = rankings.with_columns(distance=-pl.col("relevance"))
    best = evaluate(perfect, metrics=text, cutoffs=CUTOFFS, policies="best", truncated="no")[
        "value"
    ].max()
    largest = parse_metric(text)[0].largest
    assert isinstance(found, float)
    assert isinstance(best, float)
    if largest is None:
        assert best > top
    else:
        assert max(found, best) <= (top if largest == "grade" else largest) + 1e-12


@dataclass(frozen=True)
class RootPrecision(Metric):
    """Precision in which rank i counts 1/√i, as the how-to defines it: its divisor takes no
    infinite cutoff.
    """

    name: ClassVar[str] = "root_precision"
    largest: ClassVar[Largest] = 1.0

    @property
    def term(self) -> terms.Sum:
        return terms.Sum(terms.Relevant(), terms.Discount(lambda ranks: 1 / np.sqrt(ranks)))

    def divisor(self, facts: Facts) -> Floats:
        weights: Floats = np.vectorize(lambda k: (1 / np.sqrt(np.arange(1, k + 1))).sum())(
            facts.cutoff
        )
        return weights


@pytest.mark.parametrize("word", ["within_tie", "between_ties"])
def test_a_divisor_that_takes_no_infinite_length_is_bounded_all_the_same(word: str):
    found = bounds(frame([[1], [0, 1]]), [RootPrecision()], [1, 2, None], truncated=word)
    assert found["root_precision", 1] == (False, 1.0, 1.0, 1.0)
    truncated, worst, expected, best = found["root_precision", None]
    assert truncated
    assert 0.0 == worst < expected <= best == 1.0
