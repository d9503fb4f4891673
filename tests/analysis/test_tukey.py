"""Many models at once: Tukey's test by permutation, and the max-T test against a baseline."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import polars as pl
import pytest
from scipy import stats

import retrieval_report as rr
from made_scores import scores_of, within
from real_data import adhoc
from retrieval_report.analysis import tukey
from retrieval_report.analysis.grid import Pairs
from retrieval_report.analysis.significance import paired_t, sampled_sign_flips, wilcoxon
from retrieval_report.analysis.tukey import max_t_draws, range_draws, share_beyond


def some(models: int, queries: int, seed: int = 0, spread: float = 0.0) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    values = generator.random((models, queries)) * 0.5 + np.linspace(spread, 0, models)[:, None]
    return {f"m{row:03}": values[row] for row in range(models)}


def test_permutations_are_those_of_models_within_queries() -> None:
    """All 3!³ permutations by hand: the draws come from this set, each about as often as it should."""
    values = np.array([[0.9, 0.1, 0.5], [0.3, 0.2, 0.0], [0.4, 0.8, 0.7]])
    ranges = [
        np.ptp(np.mean([values[list(order), query] for query, order in enumerate(orders)], axis=0))
        for orders in product(permutations(range(3)), repeat=3)
    ]
    draws = range_draws(values, 20_000, 1)
    assert np.isin(np.round(draws, 12), np.round(ranges, 12)).all()
    for seen in (0.1, 0.2, 0.3, 0.4):
        assert within(
            float((draws >= seen - 1e-12).mean()), float((np.array(ranges) >= seen - 1e-12).mean()), draws.size
        )


def test_two_models_are_those_of_the_sign_flip_test() -> None:
    values = some(2, 40, spread=0.1)
    pair = rr.stats.compare_many(scores_of(values), resamples=20_000)
    flips = rr.compare(scores_of(values), resamples=20_000)
    assert pair["family_p"][0] == pytest.approx(flips["permutation_p"][0], abs=0.015)
    column = rr.stats.compare_many(scores_of(values), baseline="m001", resamples=20_000)
    assert column["family_p"][0] == pytest.approx(flips["permutation_p"][0], abs=0.015)


def test_normal_scores_give_tukeys_studentised_range() -> None:
    """With normal scores and many queries the permutations approach Tukey's distribution (scipy's)."""
    generator = np.random.default_rng(3)
    values = generator.normal(size=(5, 400)) + np.array([0.12, 0.1, 0.06, 0.0, 0.0])[:, None]
    pairs = rr.stats.compare_many(scores_of({f"m{row}": values[row] + 5 for row in range(5)}), resamples=20_000)
    interaction = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    freedom = 4 * 399
    error = np.sqrt((interaction**2).sum() / freedom / 400)
    expected = stats.studentized_range.sf(np.abs(pairs["difference"].to_numpy()) / error, 5, freedom)
    np.testing.assert_allclose(pairs["family_p"].to_numpy(), expected, atol=0.02)


def test_max_t_is_the_largest_t_of_each_sign_pattern() -> None:
    difference = np.random.default_rng(5).normal(0.1, 1, (4, 12))
    difference[2, 7:] = np.nan
    values = np.concatenate([difference, np.zeros((1, 12))])
    pairs = Pairs(np.arange(4), np.full(4, 4))
    seen, draws = max_t_draws(values, pairs, 2_000, 0)
    signs = 1.0 - 2.0 * np.random.default_rng(0).integers(0, 2, (512, 12))
    for pattern in signs[:20]:
        largest = np.nanmax(np.abs(stats.ttest_1samp(difference * pattern, 0, axis=1, nan_policy="omit").statistic))
        # |t| and |Σd|/√Σd² rise together for each pair, so that p-values by either are the same for pairs as long.
        sums = np.abs(np.nansum(difference * pattern, axis=1)) / np.sqrt(np.nansum(difference**2, axis=1))
        size = (~np.isnan(difference)).sum(axis=1)
        t = sums * np.sqrt((size - 1) / (size - sums**2))
        assert t.max() == pytest.approx(largest, rel=1e-9)
        assert np.isclose(draws, sums.max(), rtol=1e-12).any()
    t = paired_t(difference, 0.95)
    assert np.argsort(seen[[0, 1, 3]]).tolist() == np.argsort(-t.p[[0, 1, 3]]).tolist()


def test_p_values_count_what_is_as_far_rounding_aside() -> None:
    draws = np.array([0.1, 0.2, 0.3 - 1e-16])
    np.testing.assert_allclose(share_beyond(draws, np.array([0.3, 0.05, 0.31])), [0.5, 1.0, 0.25])


def test_neighbours_come_first_and_alone_where_asked() -> None:
    scores = scores_of(some(6, 30, spread=0.3))
    pairs = rr.stats.compare_many(scores)
    assert pairs["apart"].to_list() == sorted(pairs["apart"].to_list())
    assert pairs.height == 15
    assert (pairs["difference"] >= 0).all()
    first = pairs.filter(apart=1)
    assert first["value_a"].to_list() == sorted(first["value_a"].to_list(), reverse=True)
    near = rr.stats.compare_many(scores, most_apart=1)
    assert near.equals(first)
    assert set(near["family"]) == {15}


def test_a_family_p_is_no_smaller_than_that_of_the_pair_alone() -> None:
    scores = scores_of(some(12, 40, spread=0.15))
    single = rr.compare(scores, resamples=9_999).select("model_a", "model_b", "t_p")
    pairs = rr.stats.compare_many(scores)
    turned = pairs.with_columns(
        model_a=pl.min_horizontal("model_a", "model_b"), model_b=pl.max_horizontal("model_a", "model_b")
    ).join(single, on=["model_a", "model_b"])
    assert turned.height == 66
    assert turned.filter(pl.col("family_p") <= pl.col("t_p")).height < 4


def test_row_order_and_seed() -> None:
    scores = scores_of(some(4, 20))
    assert rr.stats.compare_many(scores).equals(rr.stats.compare_many(scores.sample(fraction=1, shuffle=True, seed=2)))
    assert not rr.stats.compare_many(scores).equals(rr.stats.compare_many(scores, seed=1))


def test_queries_that_not_all_models_have() -> None:
    values = {name: list(column) for name, column in some(3, 20).items()}
    whole = rr.stats.compare_many(scores_of({name: column[2:] for name, column in values.items()}))
    values["m001"][0] = values["m002"][1] = None
    holes = rr.stats.compare_many(scores_of(values))
    assert holes.drop("unpaired").equals(whole.drop("unpaired"))
    assert set(holes["unpaired"]) == {2}
    column = rr.stats.compare_many(scores_of(values), baseline="m000")
    assert column.sort("model_a").select("queries", "unpaired").rows() == [(19, 1), (19, 1)]


def test_nothing_in_common() -> None:
    pairs = rr.stats.compare_many(scores_of({"a": [0.5, None], "b": [None, 0.5], "c": [0.1, 0.1]}))
    assert pairs["family_p"].to_list() == [None] * 3
    assert pairs["family"].to_list() == [0] * 3
    column = rr.stats.compare_many(scores_of({"a": [0.5, None], "b": [None, 0.5]}), baseline="b")
    assert column.select("difference", "family_p", "queries").row(0) == (None, None, 0)


def test_a_baseline_has_no_range() -> None:
    with pytest.raises(rr.ParameterError, match="test: 'tukey' is not one of 'max-t'"):
        rr.stats.compare_many(scores_of(some(3, 5)), baseline="m000", test="tukey")


def test_max_t_of_all_pairs_judges_each_by_its_own_spread() -> None:
    """Two good models that differ little but steadily, and three that are far away and noisy."""
    generator = np.random.default_rng(0)
    base, noise = 0.5 + 0.1 * generator.random(40), generator.random((3, 40)) * 0.4
    values = {"a": base + 0.03, "b": base + 0.005 * generator.random(40), "c": noise[0], "d": noise[1], "e": noise[2]}
    scores = scores_of(values)
    by_range, by_t = (
        rr.stats.compare_many(scores, test=test).filter(model_a="a", model_b="b")["family_p"][0]
        for test in ("tukey", "max-t")
    )
    assert by_range > 0.5
    assert by_t < 0.001


def test_pairs_of_max_t_come_in_blocks_that_leave_no_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    values = np.stack(list(some(9, 15).values()))
    whole = max_t_draws(values, Pairs.every(9), 1_000, 3)
    monkeypatch.setattr(tukey, "BLOCK", 5 * tukey.CHUNK)
    for one, other in zip(whole, max_t_draws(values, Pairs.every(9), 1_000, 3), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_equal_models_are_not_told_apart() -> None:
    values = list(some(1, 30)["m000"])
    pairs = rr.stats.compare_many(scores_of({"a": values, "b": values, "c": values}))
    assert pairs["family_p"].to_list() == [1.0] * 3
    assert rr.stats.compare_many(scores_of({"a": values, "b": values}), baseline="a")["family_p"].to_list() == [1.0]


def test_one_model_has_no_pairs() -> None:
    assert rr.stats.compare_many(scores_of(some(1, 5))).height == 0
    assert rr.stats.compare_many(scores_of(some(1, 5)), baseline="m000").height == 0


@pytest.mark.parametrize(
    "wrong",
    [{"baseline": "x"}, {"policies": "naive"}, {"policies": []}, {"most_apart": 0}, {"resamples": 0}, {"test": "t"}],
)
def test_wrong_arguments(wrong: dict[str, object]) -> None:
    with pytest.raises(rr.ParameterError, match=next(iter(wrong))):
        rr.stats.compare_many(scores_of(some(3, 5)), **wrong)  # type: ignore[arg-type]


def test_tie_spread_of_the_difference() -> None:
    stds = {"a": [0.1, 0.2], "b": [0.0, 0.2]}
    pairs = rr.stats.compare_many(scores_of({"a": [0.5, 0.6], "b": [0.1, 0.2]}, stds=stds))
    assert pairs["tie_std"][0] == pytest.approx(np.sqrt(0.01 + 0.04 + 0.04) / 2)
    assert pairs["tie_std"][0] == pytest.approx(
        rr.compare(scores_of({"a": [0.5, 0.6], "b": [0.1, 0.2]}, stds=stds))["tie_std"][0]
    )


def test_a_thousand_models_do_not_fail() -> None:
    values = some(1_000, 10)
    pairs = rr.stats.compare_many(scores_of(values), most_apart=1, resamples=199)
    assert pairs.height == 999
    assert set(pairs["family"]) == {499_500}
    board = rr.leaderboard(scores_of(values), resamples=199)
    assert board.filter(pl.col("letters") == "").height == 0


def test_runs_125_and_126_of_ad_hoc_8_give_the_published_p_values() -> None:
    """Urbano, Lima and Hanjalic (SIGIR 2019) print these for average precision, two-sided, 10⁶ draws."""
    values = adhoc(8)[124:126]
    difference = (values[0] - values[1])[None]
    assert paired_t(difference, 0.95).p[0] == pytest.approx(0.0013193972, rel=1e-7)
    assert wilcoxon(difference)[0] == pytest.approx(0.003445188, rel=1e-6)  # of R
    one, other = np.array([0]), np.array([1])
    p = sampled_sign_flips(values[None], np.array([[True]]), one, other, 1_000_000, 0)
    assert within(float(p[0, 0]), 0.001188, 500_000)
    seen, draws = max_t_draws(values, Pairs.every(2), 1_000_000, 1)
    assert within(float(share_beyond(draws, seen)[0]), 0.001188, 500_000)
