"""No word of a study contradicts a number: random studies with ties, judges, runs, data sets and
clusters.
"""

import warnings

import pytest

import retrieval_report as rr
from random_studies import contradictions, random_study

FEW, MANY = 8, 16


def found_in(seed: int) -> list[str]:
    with warnings.catch_warnings():  # a judge may find nothing relevant
        warnings.simplefilter("ignore", rr.RetrievalReportWarning)
        return contradictions(random_study(seed))


def test_no_word_contradicts_a_number():
    assert {seed: found for seed in range(FEW) if (found := found_in(seed))} == {}


@pytest.mark.slow
def test_no_word_of_many_studies_contradicts_a_number():
    assert {seed: found for seed in range(FEW, MANY) if (found := found_in(seed))} == {}
