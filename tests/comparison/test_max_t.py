"""The test of all pairs as one family: max-T over studentised differences, stepped down; and what
is made of it.
"""

import math
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from made_scores import scores_of, within
from real_data import adhoc
from retrieval_report.comparison import max_t, significance
from retrieval_report.comparison.max_t import step_down
from retrieval_report.comparison.significance import sign_flips
from retrieval_report.engines.score_grid import Pairs

INFINITE = Fraction(10**9)  # larger than any other statistic of these tests


def t_squared(differences: list[Fraction]) -> Fraction:
    """Student's t, squared, without rounding."""
    total, squares, size = sum(differences), sum(one**2 for one in differences), len(differences)
    if total == 0:
        return Fraction(0)
    rest = size * squares - total**2
    return INFINITE if rest == 0 else (size - 1) * total**2 / rest


def closed_tests(scores: list[list[Fraction]]) -> list[Fraction]:
    """By the definition: a pair's p is the largest of the tests by the largest t of all sets of
    pairs that hold it.
    """
    pairs = list(combinations(range(len(scores)), 2))
    rows = [
        [one - other for one, other in zip(scores[a], scores[b], strict=True)] for a, b in pairs
    ]
    seen = [t_squared(row) for row in rows]
    drawn = [
        [t_squared([sign * one for sign, one in zip(signs, row, strict=True)]) for row in rows]
        for signs in product((1, -1), repeat=len(scores[0]))
    ]
    p = [Fraction(0)] * len(pairs)
    for size in range(1, len(pairs) + 1):
        for subset in combinations(range(len(pairs)), size):
            least = max(seen[pair] for pair in subset)
            reached = sum(max(pattern[pair] for pair in subset) >= least for pattern in drawn)
            for pair in subset:
                p[pair] = max(p[pair], Fraction(reached, len(drawn)))
    return p


@pytest.mark.parametrize("seed", range(6))
def test_few_queries_give_the_closed_tests_of_all_sets_of_pairs(seed: int):
    """Sixths are not exact in binary, and make many equal statistics: all of them count as
    reached.
    """
    sixths = np.random.default_rng(seed).integers(0, 5, (4, 5)) + np.array([[2], [1], [0], [0]])
    expected = closed_tests([[Fraction(int(one), 6) for one in row] for row in sixths])
    found = step_down(sixths / 6, Pairs.every(4), 9_999, 0)
    assert found.tolist() == [float(p) for p in expected]


def test_equal_differences_are_infinitely_significant_and_no_differences_not_at_all():
    values = np.array([[0.3, 0.4, 0.6, 0.7], [0.1, 0.2, 0.4, 0.5], [0.1, 0.2, 0.4, 0.5]])
    expected = closed_tests([[Fraction(round(10 * one), 10) for one in row] for row in values])
    found = step_down(values, Pairs.every(3), 9_999, 0)
    assert found.tolist() == [float(p) for p in expected] == [0.125, 0.125, 1.0]
    many = np.tile(values, 10)
    assert step_down(many, Pairs.every(3), 99, 0).tolist() == [0.01, 0.01, 1.0]


def test_thirteen_queries_that_differ_are_enumerated_and_fourteen_drawn():
    values = np.stack([np.full(40, 0.5), np.full(40, 0.5)])
    values[0, :13] += 0.25
    assert step_down(values, Pairs.every(2), 99, 0).item() == 2.0**-12
    values[0, 13] += 0.25
    assert step_down(values, Pairs.every(2), 99, 0).item() == 0.01


@pytest.mark.parametrize("queries", [40])
@pytest.mark.parametrize("correction", ["max-t", "holm", "bh"])
def test_two_models_need_no_correction(queries: int, correction: str):
    values = np.random.default_rng(queries).random((2, queries)) + np.array([[0.15], [0.0]])
    pair = rr.compare(scores_of({"a": values[0], "b": values[1]}), correction=correction)
    assert pair["family_p"].item() == pair["permutation_p"].item()
    assert pair.select("family", "family_method").row(0) == (1, correction)


def test_missing_scores_leave_each_pair_its_own_queries(monkeypatch: pytest.MonkeyPatch):
    """By the definition: every pair by |Σ d| / √Σ d² over the queries that both have."""
    values = np.random.default_rng(1).random((3, 8)) + np.array([[0.3], [0.1], [0.0]])
    values[0, :2] = values[1, 6] = np.nan
    pairs = Pairs.every(3)
    rows = np.nan_to_num(values[pairs.first] - values[pairs.second])
    rows /= np.sqrt((rows**2).sum(axis=1, keepdims=True))
    drawn = np.abs(rows @ np.array(list(product((-1, 1), repeat=8))).T)
    seen = np.abs(rows.sum(axis=1))
    order = np.argsort(-seen)
    raw = [
        (drawn[order[rank:]].max(axis=0) >= seen[pair] - 1e-12).mean()
        for rank, pair in enumerate(order)
    ]
    found = step_down(values, pairs, 9_999, 0)
    assert found[order].tolist() == np.maximum.accumulate(raw).tolist()
    monkeypatch.setattr(max_t, "EXACT", 5)
    drawn_p = step_down(values, pairs, 20_000, 0)
    assert all(within(one, other, 20_000) for one, other in zip(drawn_p, found, strict=True))


def test_runs_125_and_126_of_ad_hoc_8_give_the_published_p_value():
    """Urbano, Lima and Hanjalic (SIGIR 2019) print it for average precision, two-sided, 10⁶
    draws.
    """
    values = adhoc(8)[124:126]
    assert within(float(step_down(values, Pairs.every(2), 1_000_000, 1).item()), 0.001188, 500_000)


def ranks_of(board: pl.DataFrame) -> list[tuple[int, int]]:
    return board.select("query_rank_low", "query_rank_high").rows()


def test_ranks_by_queries_are_those_that_the_pairs_leave_open():
    generator = np.random.default_rng(7)
    values: dict[str, list[float | None]] = {
        f"m{row}": [*column]
        for row, column in enumerate(generator.random((8, 30)) + np.linspace(0.6, 0, 8)[:, None])
    }
    values["m2"][0] = values["m5"][1] = None
    scores = scores_of(values)
    for correction in ("max-t", "holm", "skewed", "bh"):
        pairs = rr.compare(scores, correction=correction)
        worse: dict[str, int] = dict.fromkeys(values, 0)
        better: dict[str, int] = dict.fromkeys(values, 0)
        for row in pairs.filter(pl.col("family_p") < 0.05).iter_rows(named=True):
            ahead, behind = (
                (row["model_a"], row["model_b"])
                if row["difference"] > 0
                else (row["model_b"], row["model_a"])
            )
            worse[ahead] += 1
            better[behind] += 1
        board = rr.leaderboard(scores, correction=correction)
        assert ranks_of(board) == [
            (1 + better[model], 8 - worse[model]) for model in board["model"]
        ]


def test_thousands_of_queries_are_tested_as_patterns_of_signs_would(
    monkeypatch: pytest.MonkeyPatch,
):
    generator = np.random.default_rng(8)
    values = generator.random((4, 4_000)) + np.array([0.0, 0.006, 0.012, 0.02])[:, None]
    pairs = Pairs.every(4)
    normal, (single, method) = step_down(values, pairs, 9_999, 0), sign_flips(values, pairs, 99, 0)
    assert method.to_list() == ["normal"] * 6
    monkeypatch.setattr(significance, "NORMAL_FROM", math.inf)
    np.testing.assert_allclose(normal, step_down(values, pairs, 9_999, 0), atol=0.02)
    drawn, method = sign_flips(values, pairs, 9_999, 0)
    assert method.to_list() == ["sampled"] * 6
    np.testing.assert_allclose(single, drawn, atol=0.02)


@pytest.mark.slow  # it compares one of them with 2 499
def test_too_many_models_are_refused_in_one_sentence_at_once():
    scores = scores_of({f"m{row}": [row / 2_500] for row in range(2_500)})
    for test in (rr.compare, rr.leaderboard):
        with pytest.raises(rr.ParameterError, match=r"^scores: 2500 models have 3123750 pairs"):
            test(scores)
    assert rr.compare(scores, baseline="m0").height == 2_499
