from itertools import combinations, pairwise

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from polars.testing import assert_frame_equal
from scipy import stats

from made_scores import scores_of
from retrieval_report.comparison.pairs import compare

generator = np.random.default_rng(77)
BASE = generator.beta(2, 2, size=30)
SHIFTS = {"a": 0.0, "b": 0.0, "c": 0.05, "d": 0.1}
MODELS = {
    name: np.clip(BASE + generator.normal(shift, 0.1, 30), 0, 1) for name, shift in SHIFTS.items()
}
STDS = {name: generator.random(30) / 10 for name in MODELS}
SCORES = pl.concat(
    scores_of(MODELS, stds=STDS, metric=metric, policy=policy)
    for metric in ("ap", "ndcg")
    for policy in ("naive", "expected")
)


def test_numbers_are_those_of_scipy():
    row = compare(SCORES, confidence=0.9).filter(
        metric="ap", policy="expected", model_a="a", model_b="d"
    )
    found = row.row(0, named=True)
    difference = MODELS["a"] - MODELS["d"]
    expected = stats.ttest_rel(MODELS["a"], MODELS["d"])
    interval = expected.confidence_interval(0.9)
    assert found["value_a"] == pytest.approx(MODELS["a"].mean())
    assert found["value_b"] == pytest.approx(MODELS["d"].mean())
    assert found["difference"] == pytest.approx(difference.mean())
    assert found["t_p"] == pytest.approx(expected.pvalue)
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((interval.low, interval.high))
    assert found["wilcoxon_p"] == pytest.approx(stats.wilcoxon(difference, correction=True).pvalue)
    assert found["effect_size"] == pytest.approx(difference.mean() / difference.std(ddof=1))
    assert found["wins"] == (difference > 0).sum()
    assert found["losses"] == (difference < 0).sum()
    assert found["permutation_method"] == "sampled"
    assert found["permutation_p"] == pytest.approx(expected.pvalue, abs=0.002)
    assert found["tie_std"] == pytest.approx(np.sqrt((STDS["a"] ** 2 + STDS["d"] ** 2).sum()) / 30)
    assert found["p_tie"] == pytest.approx(
        stats.norm.sf(abs(found["difference"]) / found["tie_std"])
    )
    assert (found["ties"], found["queries"], found["unpaired"], found["tied_queries"]) == (
        0,
        30,
        0,
        30,
    )


@pytest.mark.parametrize("adjust", ["permutation", "t", "wilcoxon"])
def test_corrections_are_over_the_pairs_of_a_metric_and_policy(adjust: str):
    for part in compare(SCORES, adjust=adjust, correction="holm").partition_by(
        "metric", "cutoff", "policy"
    ):
        p = part[f"{adjust}_p"].to_numpy()
        assert part["bh_p"].to_numpy() == pytest.approx(stats.false_discovery_control(p))
        holm = np.minimum(np.maximum.accumulate(np.sort(p) * np.arange(6, 0, -1)), 1)
        assert np.sort(part["family_p"]) == pytest.approx(holm)
    found = compare(SCORES, adjust=adjust, correction="bh")
    assert found["family_p"].to_list() == found["bh_p"].to_list()


def test_a_baseline_is_the_second_of_every_pair():
    comparison = compare(SCORES, baseline="b", policies="expected")
    assert comparison.filter(metric="ap").select("model_a", "model_b").rows() == [
        ("a", "b"),
        ("c", "b"),
        ("d", "b"),
    ]
    assert comparison["family"].unique().to_list() == [3]
    all_pairs = compare(SCORES, policies="expected")
    turned = all_pairs.filter(model_a="b", model_b="d")["difference"]
    assert comparison.filter(model_a="d")["difference"].to_list() == pytest.approx(
        (-turned).to_list()
    )


def test_p_tie_is_for_the_expected_policy_alone():
    comparison = compare(SCORES)
    naive = comparison.filter(policy="naive")
    for name in ("tie_std", "tied_queries", "p_tie", "p_tie_method"):
        assert naive[name].null_count() == naive.height
        assert comparison.filter(policy="expected")[name].null_count() == 0


def skewed_p(difference: NDArray[np.float64]) -> float:
    """The two-sided p of Student's t with one degree less than the values that are not 0, and of
    Hall's t (1992): the larger.
    """
    size, spread = difference.size, difference.std(ddof=1)
    freedom = np.count_nonzero(difference) - 1
    student = stats.t.sf(abs(difference.mean()) / spread * size**0.5, freedom)
    sides = []
    for turned in (difference, -difference):
        skew = stats.skew(turned, bias=False)
        ratio = turned.mean() / spread
        hall = ratio + skew * ratio**2 / 3 + skew**2 * ratio**3 / 27 + skew / (6 * size)
        sides.append(stats.t.sf(size**0.5 * hall, size - 1))
    return float(min(1.0, 2 * max(student, min(sides))))


def test_skewed_differences_are_tested_by_both_t_with_holm():
    generator = np.random.default_rng(4)
    values = generator.exponential(0.1, (5, 25)) * np.linspace(1, 2, 5)[:, None]
    values[1, :20] = values[0, :20]  # two models that differ in five queries
    values[2, 3] = np.nan
    scores = scores_of({f"m{row}": column.tolist() for row, column in enumerate(values)})
    p = {}
    for one, other in combinations(range(5), 2):
        difference = values[one] - values[other]
        p[f"m{one}", f"m{other}"] = skewed_p(difference[~np.isnan(difference)])
    order = sorted(p, key=lambda pair: p[pair])
    holm = np.maximum.accumulate([p[pair] * (10 - at) for at, pair in enumerate(order)])
    found = compare(scores, correction="skewed")
    for row in found.iter_rows(named=True):
        wanted = min(1.0, holm[order.index((row["model_a"], row["model_b"]))])
        assert row["family_p"] == pytest.approx(wanted, rel=1e-9)
    assert found["family_method"].unique().to_list() == ["skewed"]
    alone = pl.DataFrame({"query": scores["query"].unique(), "topic": scores["query"].unique()})
    assert_frame_equal(
        compare(scores, correction="skewed", queries=alone, cluster="topic").select("family_p"),
        found.select("family_p"),
    )


@pytest.mark.parametrize("queries", [1, 2, 30])
def test_skewed_differences_need_two_queries_and_a_difference(queries: int):
    values = np.random.default_rng(0).random(queries)
    scores = scores_of({"a": values.tolist(), "b": values.tolist()})
    p = compare(scores, correction="skewed")["family_p"].to_list()
    assert p == [None if queries < 2 else 1.0]


@pytest.mark.parametrize("correction", ["holm", "bh", "max-t", "skewed"])
def test_neighbours_and_the_best_alone_have_the_p_values_of_all_pairs(correction: str):
    generator = np.random.default_rng(2)
    scores = scores_of({f"m{number:02}": generator.random(30) + number / 9 for number in range(5)})
    every, near = (compare(scores, correction=correction, most_apart=most) for most in (None, 1))
    ranked = ["m04", "m03", "m01", "m02", "m00"]
    wanted = {
        frozenset(pair)
        for pair in [*pairwise(ranked), *((ranked[0], other) for other in ranked[1:])]
    }
    assert {frozenset(pair) for pair in near.select("model_a", "model_b").rows()} == wanted
    keys = ["model_a", "model_b", "metric", "cutoff", "policy"]
    same = every.join(near.select(keys), on=keys, how="semi", nulls_equal=True)
    own = [] if correction in ("holm", "bh") else ["bh_p"]  # of the pairs looked at
    by_name = (frame.drop(own).sort(keys) for frame in (same, near))
    assert_frame_equal(*by_name)


@pytest.mark.parametrize("queries", [2, 6])
def test_differences_of_one_size_are_no_more_certain_than_their_signs(queries: int):
    row = compare(scores_of({"a": [0.75] * queries, "b": [0.25] * queries})).row(0, named=True)
    more = np.array([0.5] * queries + [-1, -1, 1, 1])
    reach = stats.t.ppf(0.975, more.size - 1) * stats.sem(more)
    assert row["t_p"] == row["permutation_p"] == 2 * 0.5**queries
    assert (row["ci_low"], row["ci_high"]) == pytest.approx(
        (more.mean() - reach, more.mean() + reach), rel=1e-12
    )
