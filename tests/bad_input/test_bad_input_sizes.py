"""Rows 63 to 69 of the table of bad input: sizes, accuracy, order of rows and threads."""

import math
import os
import subprocess
import sys
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from bad_input import numbers, one_list, scores, value
from catalogue_texts import TEXTS
from retrieval_report import count_ties, evaluate
from retrieval_report.contracts.errors import RetrievalReportError


def refused_counts(counts: pl.DataFrame):
    with pytest.raises(RetrievalReportError, match="'count'"):
        evaluate(counts, policies="expected")
    with pytest.raises(RetrievalReportError, match="'count'"):
        count_ties(counts)


def test_row_063_counts_beyond_64_bits():
    """Run apart: wrong totals send kernels beyond their arrays."""
    code = (
        "import polars as pl; from retrieval_report import evaluate; from retrieval_report import "
        "DataError\n"
        "for counts in ([2**62] * 2, [2**62] * 3, [2**63 - 1, 1]):\n"
        " rows = pl.DataFrame({'query': 'q', 'distance': range(len(counts)), 'relevance': 1, "
        "'count': counts})\n"
        " try: evaluate(rows, metrics='recall', cutoffs=1, policies='expected')\n"
        " except DataError as error: print('count' in str(error))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=100, check=False
    )
    assert (done.returncode, done.stdout.split()) == (0, ["True"] * 3), done.stderr[-300:]


@pytest.mark.parametrize(
    "count",
    [numbers([2**64 - 1, 1], pl.UInt64), numbers([2**100, 1], pl.Int128)],
)
def test_row_063_a_count_that_is_no_64_bit_number(count: pl.Series):
    counts = pl.DataFrame(
        {"query": ["q"] * 2, "distance": [1, 2], "relevance": [1, 0], "count": count}
    )
    refused_counts(counts)


def test_row_064_many_short_lists():
    queries = 200_000
    frame = pl.DataFrame(
        {
            "query": np.random.default_rng(64).permutation(queries),
            "item": np.zeros(queries, np.int64),
            "distance": np.ones(queries),
            "relevance": np.arange(queries) % 4 == 0,
        }
    )
    found = evaluate(frame, metrics="precision", cutoffs=2, policies=("expected", "naive", "best"))
    assert found.group_by("policy").agg(pl.mean("value"))["value"].to_list() == [0.125] * 3


@pytest.mark.slow
def test_row_065_one_long_list_and_many_short_ones():
    generator = np.random.default_rng(65)
    sizes = [30_000, *[2] * 3_000]
    frame = pl.DataFrame(
        {
            "query": np.repeat(np.arange(len(sizes)), sizes),
            "item": np.concatenate([np.arange(size) for size in sizes]),
            "distance": generator.integers(0, 50, sum(sizes)),
            "relevance": generator.integers(0, 3, sum(sizes)),
        }
    )
    names = ["ap", "ndcg", "ap(denominator=retrieved)", "err", "rr"]
    whole = evaluate(
        frame, metrics=names, cutoffs=[1, 100], policies=("expected", "best"), threads=1
    )
    for threads in (2, 3, 7):
        other = evaluate(
            frame, metrics=names, cutoffs=[1, 100], policies=("expected", "best"), threads=threads
        )
        assert_frame_equal(other, whole, check_exact=True)


def test_row_066_ties_of_one_item():
    frame = one_list([1, 2, 2, 3], [1, 0, 2, 1])
    found = evaluate(
        frame, metrics=TEXTS, cutoffs=[1, 2, 3, 4, None], policies="expected", truncated="no"
    )
    assert found["value"].is_finite().all()
    assert found["std"].is_finite().all()
    alone = evaluate(
        frame[:1], metrics=TEXTS, cutoffs=[1, None], policies="expected", truncated="no"
    )
    assert set(alone["std"]) == {0.0}


def test_row_067_far_down_a_long_list():
    n = 300_000
    relevance = np.zeros(n, np.int64)
    relevance[-3:] = [1, 0, 1]
    distance = np.arange(n)
    distance[-3:] = n  # the last three tie, behind all others
    frame = one_list(distance, relevance)
    measures = [n - 2, n - 1, n]
    inverse = [Fraction(1, measure) for measure in measures]
    pairs = [(0, 1), (0, 2), (1, 2)]
    mean_rr = sum((inverse[first] for first, _ in pairs), Fraction(0)) / 3
    mean_ap = (
        sum((inverse[first] + 2 * inverse[second] for first, second in pairs), Fraction(0)) / 6
    )
    assert value(frame, "rr") == pytest.approx(float(mean_rr), rel=1e-12, abs=0)
    assert value(frame, "ap") == pytest.approx(float(mean_ap), rel=1e-12, abs=0)
    gain = 2 / 3 * math.fsum(1 / math.log2(1 + measure) for measure in measures)
    assert value(frame, "dcg") == pytest.approx(gain, rel=1e-12, abs=0)
    asked: Any = {
        "metrics": "rr",
        "cutoffs": None,
        "truncated": "no",
    }
    spread = evaluate(frame, policies="expected", **asked)["std"]
    variance = sum((inverse[first] ** 2 for first, _ in pairs), Fraction(0)) / 3 - mean_rr**2
    assert spread[0] == pytest.approx(math.sqrt(float(variance)), rel=1e-9, abs=0)


def test_row_068_the_order_of_the_rows_of_a_lazy_frame_is_the_naive_one():
    frame = one_list([1, 1, 1], [0, 0, 1])
    assert scores(frame[::-1].lazy(), "rr", policies="naive") == [1.0]


def test_row_069_threads_of_polars_give_the_same_bytes():
    code = (
        "import numpy as np, polars as pl; from retrieval_report import evaluate, summarise\n"
        "g = np.random.default_rng(3); n = 400; query = g.integers(0, 9, n)\n"
        "frame = pl.DataFrame({'query': query, 'item': np.arange(n), 'distance': g.integers(0, 9, "
        "n), "
        "'relevance': g.integers(0, 3, n)})\n"
        "found = evaluate(frame, shuffles=2, truncated='no', metrics=['ap', 'ndcg', 'rr'], "
        "cutoffs=(1, 5, 10, None))\n"
        "print(found.rows(), summarise(found).rows())"
    )
    printed = []
    for threads in ("1", "3"):
        environment = os.environ | {"POLARS_MAX_THREADS": threads}
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        printed.append(done.stdout)
    assert printed[0] == printed[1]
    assert printed[0].count("expected") == 9 * 12 + 12
