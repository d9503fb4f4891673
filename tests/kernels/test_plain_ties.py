"""Ties whose order changes nothing, of one item or of items that bring nothing, are passed without
the mathematics of ties: the bits are those of the general way.

A second cell of no items makes such a tie look like any other tie to the kernels, and
changes no number.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from retrieval_report.kernels import ap, ap_retrieved, err, rr, sums, tables
from retrieval_report.kernels.lists import Lists, Moments

GRADES = np.array([0.0, 1.0, 2.0, 3.5])
CUTOFFS = (0, 1, 3, 4, 10, 25, 60)
Outputs = list[NDArray[np.float64]]


def drawn_lists(generator: np.random.Generator, share_of_ties: float) -> list[list[list[int]]]:
    """Lists of ties of grades, ascending inside a tie."""
    lists = []
    for _ in range(40):
        sizes = np.where(generator.random(12) < share_of_ties, generator.integers(2, 9, 12), 1)
        lists.append(
            [
                [0] * size
                if generator.random() < 0.3
                else sorted(generator.choice(4, size, p=[0.5, 0.2, 0.2, 0.1]).tolist())
                for size in sizes.tolist()
            ]
        )
    return lists


def as_lists(drawn: list[list[list[int]]], *, disguised: bool) -> Lists:
    """The lists as the kernels see them; disguised: with a second cell of no items in every tie of
    one grade.
    """
    start, tie, grade, items = [0], [0], [], []
    for ties in drawn:
        for members in ties:
            kinds, counts = np.unique(members, return_counts=True)
            grade += kinds.tolist()
            items += counts.tolist()
            if disguised and len(kinds) == 1:
                grade.append(members[0])
                items.append(0)
            tie.append(len(grade))
        start.append(len(tie) - 1)
    return Lists(
        np.array(start), np.array(tie), np.array(grade, np.int32), np.array(items, np.int64)
    )


def moments(lists: Lists) -> Outputs:
    """What every kernel with a way of its own for plain ties writes."""
    size = lists.start.size - 1
    depths = np.minimum(np.array(CUTOFFS)[None], lists.length[:, None])
    relevant = (GRADES >= 1).astype(np.float64)
    wide = int(depths.max())
    log2, reciprocal = tables.log2_weights(wide), tables.reciprocal_weights(wide)
    outputs = [np.full(depths.shape, np.nan) for _ in range(16)]
    pairs = [Moments(*outputs[start : start + 2]) for start in range(0, 16, 2)]
    plain = sums.Summed(relevant, True, tables.given_weights(np.ones(1)))
    weighed = sums.Summed(np.exp2(GRADES) - 1, False, log2)
    given = (0, size, lists, depths)
    sums.additive_moments(*given, plain, pairs[0])
    sums.additive_moments(*given, weighed, pairs[1])
    ap.ap_moments(*given, ap_retrieved.Paired(relevant, reciprocal), pairs[2])
    ap.ap_moments(*given, ap_retrieved.Paired(GRADES, reciprocal), pairs[3])
    ap.retrieved_moments(*given, ap_retrieved.Paired(GRADES, reciprocal), pairs[4])
    rr.first_relevant_moments(*given, rr.First(GRADES >= 1, False), pairs[5])
    rr.first_relevant_moments(*given, rr.First(GRADES >= 1, True), pairs[6])
    err.err_moments(*given, err.StopChances((np.exp2(GRADES) - 1) / 16, True), pairs[7])
    return outputs


@pytest.mark.parametrize("share_of_ties", [0.0, 0.3, 0.8])
def test_the_bits_are_those_of_the_general_way(share_of_ties: float) -> None:
    drawn = drawn_lists(np.random.default_rng(7), share_of_ties)
    for quick, general in zip(
        moments(as_lists(drawn, disguised=False)),
        moments(as_lists(drawn, disguised=True)),
        strict=True,
    ):
        assert not np.isnan(quick).any()
        assert quick.tobytes() == general.tobytes()


def test_without_ties_every_variance_is_zero() -> None:
    outputs = moments(as_lists(drawn_lists(np.random.default_rng(3), 0.0), disguised=False))
    assert all((variance == 0.0).all() for variance in outputs[1::2])
    assert all((mean > 0.0).any() for mean in outputs[::2])


def test_a_list_may_be_longer_than_its_tables() -> None:
    """Only positions down to the deepest cutoff are looked up."""
    lists = as_lists([[[1]] * 50], disguised=False)
    weights, depths = tables.log2_weights(4), np.array([[2, 4]])
    mean, variance = np.empty((1, 2)), np.empty((1, 2))
    sums.additive_moments(
        0, 1, lists, depths, sums.Summed(GRADES, False, weights), Moments(mean, variance)
    )
    assert mean[0].tolist() == pytest.approx([weights.total[2], weights.total[4]])
