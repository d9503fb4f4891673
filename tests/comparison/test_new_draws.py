"""The chance that a new draw reverses two models, checked by the experiment it describes: real
topics split in halves.
"""

import numpy as np
import pytest

from retrieval_report.comparison.new_draws import enough_runs, new_queries, new_runs, new_vote


def test_ties_are_one_more_source_of_variance():
    difference = np.random.default_rng(0).normal(0.05, 0.1, 30)
    alone = new_queries(difference)
    assert alone is not None
    with_ties = [new_queries(difference, tie_std=std) or 0.0 for std in (0.0, 0.01, 0.1, 10.0)]
    assert with_ties[0] == alone
    assert with_ties == sorted(with_ties)
    assert with_ties[-1] == pytest.approx(0.5, abs=0.01)


def test_runs_that_do_not_differ_cannot_reverse_and_one_run_tells_nothing():
    assert new_runs(np.full(4, 0.5), np.full(4, 0.25)) == 0.0
    assert new_runs(np.array([0.5]), np.array([0.2, 0.3])) is None
    assert not enough_runs(1, 99)


def test_votes_are_those_of_a_fair_start():
    assert new_vote(0, 0, 1) == 0.25
    assert new_vote(0, 1, 1) == 0.5
    assert new_vote(9, 0, 9) == 0.95
    assert new_vote(0, 0, 0) is None
