"""Queries in clusters: signs, intervals and draws are by cluster, and nothing changes where each
query is one.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from made_scores import scores_of
from retrieval_report.comparison.new_draws import enough_queries, new_queries

MISSING = "statsmodels, of the extra `dev`, is not installed"
SIZES = (5, 1, 3, 2, 7, 4)


def made(seed: int, sizes: tuple[int, ...] = SIZES, models: int = 3, holes: int = 0):
    """Scores whose queries share most of their noise with their topic, and the frame of queries."""
    generator = np.random.default_rng(seed)
    topic = np.repeat(np.arange(len(sizes)), sizes)
    shared = generator.normal(0, 0.2, (models, len(sizes)))[:, topic]
    lead = np.linspace(0, 0.1, models)[:, None]
    value = 0.5 + lead + shared + generator.normal(0, 0.05, (models, topic.size))
    order = generator.permutation(topic.size)  # clusters are not contiguous
    value, topic = value[:, order], topic[order]
    for hole in generator.choice(value.size, holes, replace=False):
        value.ravel()[hole] = np.nan
    known = [[None if np.isnan(one) else one for one in row] for row in value.tolist()]
    scores = scores_of({f"m{row}": values for row, values in enumerate(known)})
    queries = scores["query"].unique().sort()
    return scores, pl.DataFrame({"query": queries, "topic": topic}), value, topic


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("holes", [0, 6])
def test_t_and_its_interval_are_those_of_statsmodels(seed: int, holes: int):
    api = pytest.importorskip("statsmodels.api", reason=MISSING)
    scores, queries, value, topic = made(seed, holes=holes)
    rows = rr.compare(scores, cluster="topic", queries=queries, confidence=0.9)
    for row, (a, b) in zip(rows.rows(named=True), [(0, 1), (0, 2), (1, 2)], strict=True):
        difference = value[a] - value[b]
        known = ~np.isnan(difference)
        fit = api.OLS(difference[known], np.ones(known.sum())).fit(
            cov_type="cluster", cov_kwds={"groups": topic[known]}, use_t=True
        )
        assert row["t_p"] == pytest.approx(fit.pvalues[0], rel=1e-9)
        assert [row["ci_low"], row["ci_high"]] == pytest.approx(fit.conf_int(0.1)[0], rel=1e-9)
        assert row["wilcoxon_p"] is None
        assert row["effect_size"] == pytest.approx(
            difference[known].mean() / difference[known].std(ddof=1), rel=1e-9
        )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("holes", [0, 6])
def test_all_patterns_of_signs_of_clusters_are_tried(seed: int, holes: int):
    scores, queries, value, topic = made(seed, holes=holes)
    rows = rr.compare(scores, cluster="topic", queries=queries)
    pairs = [(0, 1), (0, 2), (1, 2)]
    sums = np.array(
        [
            [np.nansum((value[a] - value[b])[topic == c]) for c in range(len(SIZES))]
            for a, b in pairs
        ]
    )
    patterns = np.array(list(product([-1, 1], repeat=len(SIZES))))
    flipped = np.abs(sums @ patterns.T)
    seen = np.abs(sums.sum(axis=1))
    single = (flipped >= seen[:, None] - 1e-9).mean(axis=1)
    assert rows["permutation_p"].to_list() == pytest.approx(single, abs=1e-12)
    assert set(rows["permutation_method"]) == {"exact"}
    scale = np.sqrt((sums**2).sum(axis=1))
    statistics, least_first = seen / scale, np.argsort(seen / scale)
    adjusted = np.empty(3)
    for count, row in enumerate(least_first, 1):
        rivals = (flipped / scale[:, None])[least_first[:count]].max(axis=0)
        adjusted[row] = (rivals >= statistics[row] - 1e-9).mean()
    adjusted[least_first] = np.maximum.accumulate(adjusted[least_first][::-1])[::-1]
    assert rows["family_p"].to_list() == pytest.approx(adjusted, abs=1e-12)


ANSWERS: dict[str, Callable[..., pl.DataFrame]] = {
    "compare": rr.compare,
    "leaderboard": rr.leaderboard,
    "no_worse": lambda scores, **over: rr.stats.no_worse(scores, baseline="m0", margin=0.1, **over),
    "summarise": rr.summarise,
    "holm": lambda scores, **over: rr.leaderboard(scores, correction="holm", **over),
}


@pytest.mark.parametrize("answer", ANSWERS.values(), ids=ANSWERS)
def test_where_every_query_is_a_cluster_nothing_changes(
    answer: Callable[..., pl.DataFrame],
):
    scores, queries, _, _ = made(1, holes=6)
    alone = queries.with_columns(topic=pl.col("query").str.reverse())
    found = answer(scores, cluster="topic", queries=alone)
    assert_frame_equal(found, answer(scores), check_exact=True)


def test_one_cluster_has_no_p():
    scores, queries, _, _ = made(0)
    over: Any = {
        "cluster": "topic",
        "queries": queries.with_columns(topic=pl.lit("one")),
    }
    for correction in ("max-t", "holm", "bh"):
        found = rr.compare(scores, correction=correction, **over)
        for name in ("t_p", "permutation_p", "family_p", "bh_p", "ci_low"):
            assert found[name].null_count() == found.height
    assert rr.summarise(scores, **over)["query_se"].null_count() == 3
    verdicts = rr.stats.no_worse(scores, baseline="m0", margin=0.1, **over)["verdict"]
    assert set(verdicts) == {"not decided"}


def test_a_mean_over_clusters_is_weighted_as_statsmodels_does():
    api = pytest.importorskip("statsmodels.api", reason=MISSING)
    scores, queries, value, topic = made(4, models=1)
    weight = np.random.default_rng(4).integers(1, 5, topic.size)
    given = queries.with_columns(weight=pl.Series(weight))
    row = rr.summarise(scores, queries=given, average="weighted", cluster="topic").row(
        0, named=True
    )
    fit = api.WLS(value[0], np.ones(topic.size), weights=weight).fit(
        cov_type="cluster", cov_kwds={"groups": topic}, use_t=True
    )
    assert row["value"] == pytest.approx(fit.params[0], rel=1e-12)
    assert row["query_se"] == pytest.approx(fit.bse[0], rel=1e-9)
    assert [row["ci_low"], row["ci_high"]] == pytest.approx(fit.conf_int()[0], rel=1e-9)


def test_new_clusters_are_new_queries_of_the_means_of_equal_clusters():
    _, _, value, topic = made(5, sizes=(4,) * 25, models=2)
    difference = value[0] - value[1]
    means = np.bincount(topic, difference) / 4
    assert new_queries(difference, topic) == pytest.approx(new_queries(means), rel=1e-9)
    assert new_queries(difference, np.zeros(100, np.intp)) is None
    assert new_queries(difference) != pytest.approx(new_queries(means), rel=0.01)
    assert not enough_queries(difference, topic % 5)
    assert enough_queries(difference, topic % 6)
