"""The test of all pairs as one family: max-T over studentised differences, stepped down; and what
is made of it.
"""

from __future__ import annotations

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
from retrieval_report.comparison.significance import METHODS, sign_flips
from retrieval_report.engines.score_grid import Pairs
from retrieval_report.kernels import reaching
from retrieval_report.study.samples import sample_folder

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
def test_few_queries_give_the_closed_tests_of_all_sets_of_pairs(seed: int) -> None:
    """Sixths are not exact in binary, and make many equal statistics: all of them count as
    reached.
    """
    sixths = np.random.default_rng(seed).integers(0, 5, (4, 5)) + np.array([[2], [1], [0], [0]])
    expected = closed_tests([[Fraction(int(one), 6) for one in row] for row in sixths])
    found = step_down(sixths / 6, Pairs.every(4), 9_999, 0)
    assert found.tolist() == [float(p) for p in expected]


def test_equal_differences_are_infinitely_significant_and_no_differences_not_at_all() -> None:
    values = np.array([[0.3, 0.4, 0.6, 0.7], [0.1, 0.2, 0.4, 0.5], [0.1, 0.2, 0.4, 0.5]])
    expected = closed_tests([[Fraction(round(10 * one), 10) for one in row] for row in values])
    found = step_down(values, Pairs.every(3), 9_999, 0)
    assert found.tolist() == [float(p) for p in expected] == [0.125, 0.125, 1.0]
    many = np.tile(values, 10)
    assert step_down(many, Pairs.every(3), 99, 0).tolist() == [0.01, 0.01, 1.0]


def test_thirteen_queries_that_differ_are_enumerated_and_fourteen_drawn() -> None:
    values = np.stack([np.full(40, 0.5), np.full(40, 0.5)])
    values[0, :13] += 0.25
    assert step_down(values, Pairs.every(2), 99, 0).item() == 2.0**-12
    values[0, 13] += 0.25
    assert step_down(values, Pairs.every(2), 99, 0).item() == 0.01


@pytest.mark.parametrize("queries", [9, 40])
@pytest.mark.parametrize("correction", ["max-t", "holm", "bh"])
def test_two_models_need_no_correction(queries: int, correction: str) -> None:
    values = np.random.default_rng(queries).random((2, queries)) + np.array([[0.15], [0.0]])
    pair = rr.compare(scores_of({"a": values[0], "b": values[1]}), correction=correction)
    assert pair["family_p"].item() == pair["permutation_p"].item()
    assert pair.select("family", "family_method").row(0) == (1, correction)


def test_missing_scores_leave_each_pair_its_own_queries(monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_blocks_of_pairs_leave_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.random.default_rng(3).random((9, 15))
    values[4, 3] = np.nan
    whole = step_down(values, Pairs.every(9), 1_000, 3)
    monkeypatch.setattr(reaching, "ROWS", 5)
    np.testing.assert_array_equal(step_down(values, Pairs.every(9), 1_000, 3), whole)


def test_p_depends_on_neither_row_order_nor_other_measures() -> None:
    generator = np.random.default_rng(4)
    names = [f"m{row}" for row in range(7)]
    one, other = (
        scores_of(dict(zip(names, generator.random((7, 30)), strict=True)), metric=metric)
        for metric in ("ap", "rr")
    )
    both = rr.compare(pl.concat([other, one]).sample(fraction=1, shuffle=True, seed=3))
    assert both.filter(metric="ap").equals(rr.compare(one))
    assert not rr.compare(one).equals(rr.compare(one, seed=1))


def test_a_baseline_leaves_fewer_pairs_to_correct_for() -> None:
    values = np.random.default_rng(6).random((6, 10)) + np.linspace(0.3, 0, 6)[:, None]
    scores = scores_of({f"m{row}": column for row, column in enumerate(values)})
    all_pairs = rr.compare(scores).filter((pl.col("model_a") == "m0") | (pl.col("model_b") == "m0"))
    column = rr.compare(scores, baseline="m0").sort("model_a")
    assert set(column["family"]) == {5}
    assert (column["family_p"] <= all_pairs.sort("model_b")["family_p"]).all()
    expected = step_down(values, Pairs(np.arange(1, 6), np.zeros(5, np.intp)), 9_999, 0)
    assert column["family_p"].to_list() == expected.tolist()


def test_each_pair_is_judged_by_its_own_spread() -> None:
    """Two good models that differ little but steadily, and three that are far away and noisy."""
    generator = np.random.default_rng(0)
    base, noise = 0.5 + 0.1 * generator.random(40), generator.random((3, 40)) * 0.4
    values = {
        "a": base + 0.03,
        "b": base + 0.005 * generator.random(40),
        "c": noise[0],
        "d": noise[1],
        "e": noise[2],
    }
    scores = scores_of(values)
    pair = rr.compare(scores).filter(model_a="a", model_b="b")
    assert pair["family_p"].item() < 0.001


def test_runs_125_and_126_of_ad_hoc_8_give_the_published_p_value() -> None:
    """Urbano, Lima and Hanjalic (SIGIR 2019) print it for average precision, two-sided, 10⁶
    draws.
    """
    values = adhoc(8)[124:126]
    assert within(float(step_down(values, Pairs.every(2), 1_000_000, 1).item()), 0.001188, 500_000)


@pytest.mark.slow
def test_a_thousand_models() -> None:
    values = np.random.default_rng(0).random((1_000, 10)) * 0.5
    scores = scores_of({f"m{row:03}": column for row, column in enumerate(values)})
    pairs = rr.compare(scores, most_apart=1, resamples=199)
    assert set(pairs["family"]) == {499_500}
    assert pairs.height == 999 + 998
    board = rr.leaderboard(scores, resamples=199)
    assert board.select("query_rank_low", "query_rank_high").unique().rows() == [(1, 1_000)]


def digits() -> pl.DataFrame:
    folder = sample_folder() / "digits"
    rankings = rr.read_rankings(folder / "rankings.parquet")
    queries = rr.read_queries(folder / "queries.parquet")
    return rr.evaluate(
        rankings, queries=queries, metrics="precision@10", policies="expected", truncated="no"
    )


def ranks_of(board: pl.DataFrame) -> list[tuple[int, int]]:
    return board.select("query_rank_low", "query_rank_high").rows()


def test_four_bad_models_do_not_make_two_good_ones_look_alike() -> None:
    """The digits sample: cosine-float32 wins 59 queries against itq-32 and loses 6."""
    scores = digits()
    pairs = rr.compare(scores)
    pair = pairs.filter(model_a="cosine-float32", model_b="itq-32")
    assert pair.select("wins", "losses", "family", "family_method").row(0) == (59, 6, 78, "max-t")
    assert pair["family_p"].item() == 0.0001
    assert pairs.filter(pl.col("family_p") < 0.05).height == 61
    expected = [
        *[(1, 5)] * 4,
        (1, 6),
        (5, 8),
        (6, 9),
        (6, 9),
        (7, 9),
        (10, 10),
        (11, 12),
        (11, 12),
        (13, 13),
    ]
    assert ranks_of(rr.leaderboard(scores)) == expected


def test_ranks_by_queries_are_those_that_the_pairs_leave_open() -> None:
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


@pytest.mark.slow
@pytest.mark.parametrize("correction", ["max-t", "holm", "skewed"])
def test_verdict_ranks_and_marks_say_the_same_of_many_models(correction: str) -> None:
    """Of more than 1 000 pairs only some are compared, among them all with the best model."""
    generator = np.random.default_rng(8)
    distance = generator.random((46, 16, 9))
    distance[:, :, :4] -= np.linspace(0.5, 0.0, 46)[:, None, None]  # of the relevant items
    names, cells = ["model", "query", "item"], np.indices(distance.shape).reshape(3, -1)
    rankings = pl.DataFrame(dict(zip(names, cells, strict=True))).with_columns(
        model=pl.format("m{}", pl.col("model")),
        distance=distance.ravel(),
        relevance=(pl.col("item") < 4).cast(pl.Int64),
    )
    study = rr.Study(rankings, "ndcg@9", correction=correction, shuffles=2, truncated="no")
    best = study.leaderboard.row(0, named=True)
    pairs = study.flips.filter(
        (pl.col("model_a") == best["model"]) | (pl.col("model_b") == best["model"])
    )
    assert (pairs.height, pairs["family_p"].null_count()) == (45, 0)
    assert set(pairs["family_method"]) == {correction}
    worse = pairs.filter(pl.col("family_p") < 0.05).height
    assert best["query_rank_high"] == 46 - worse
    assert 0 < worse < 45
    starred = [
        line
        for line in study.to_markdown().splitlines()
        if line.endswith("* |") and not line.endswith("** |")
    ]
    assert len(starred) == worse


def test_thousands_of_queries_are_tested_as_patterns_of_signs_would(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generator = np.random.default_rng(8)
    values = generator.random((4, 4_000)) + np.array([0.0, 0.006, 0.012, 0.02])[:, None]
    pairs = Pairs.every(4)
    normal, (single, method) = step_down(values, pairs, 9_999, 0), sign_flips(values, pairs, 99, 0)
    assert [METHODS[found] for found in method] == ["normal"] * 6
    for module in (max_t, significance):
        monkeypatch.setattr(module, "NORMAL_FROM", math.inf)
    np.testing.assert_allclose(normal, step_down(values, pairs, 9_999, 0), atol=0.02)
    drawn, method = sign_flips(values, pairs, 9_999, 0)
    assert [METHODS[found] for found in method] == ["sampled"] * 6
    np.testing.assert_allclose(single, drawn, atol=0.02)


def test_wins_of_one_size_are_as_far_as_half_a_step_nearer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of 1 024 signs is binomial: that 560 or more agree is known exactly."""
    values = np.zeros((2, 1_024))
    values[0, :560], values[1, 560:] = 1.0, 1.0
    exact = 2 * sum(math.comb(1_024, n) for n in range(560, 1_025)) / 2**1_024
    p, _ = sign_flips(values, Pairs.every(2), 99, 0)
    assert p.item() == pytest.approx(exact, rel=0.01)


@pytest.mark.slow  # it compares one of them with 2 499
def test_too_many_models_are_refused_in_one_sentence_at_once() -> None:
    scores = scores_of({f"m{row}": [row / 2_500] for row in range(2_500)})
    for test in (rr.compare, rr.leaderboard):
        with pytest.raises(rr.ParameterError, match=r"^scores: 2500 models have 3123750 pairs"):
            test(scores)
    assert rr.compare(scores, baseline="m0").height == 2_499
