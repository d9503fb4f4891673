"""AP by the trapezoidal rule: the code of Oxford Buildings under every order, and ties far down."""

import itertools

import pytest

import retrieval_report as rr


def oxford(hits: tuple[int, ...], relevant: int) -> float:
    """What compute_ap of the Oxford Buildings data set sums up, in its own words."""
    ap, old_recall, old_precision, found = 0.0, 0.0, 1.0, 0
    for rank, hit in enumerate(hits, start=1):
        found += hit
        recall, precision = found / relevant, found / rank
        ap += (recall - old_recall) * ((old_precision + precision) / 2.0)
        old_recall, old_precision = recall, precision
    return ap


@pytest.mark.parametrize("hits", list(itertools.product((0, 1), repeat=6))[1:])
def test_a_list_without_ties_has_the_value_of_oxford(hits: tuple[int, ...]):
    rows = {"query": ["q"] * 6, "item": range(6), "distance": range(6), "relevance": hits}
    scores = rr.evaluate(rows, measures="ap(interpolation=trapezoid)", truncated="no")
    wanted = oxford(hits, sum(hits))
    assert scores["value"].to_list() == pytest.approx([wanted] * scores.height, rel=1e-14)
