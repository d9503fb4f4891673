"""Thresholds against scikit-learn on the same pairs, all orders of ties, and the definitions of TF
Similarity; the guarantee of abstaining against new queries.
"""

import itertools
import re
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
import scipy.stats
import sklearn.metrics

import oracles
import retrieval_report as rr

RATES = ("precision", "recall", "f1", "fpr", "npv", "accuracy")


def made(seed: int, queries: int = 12, items: int = 9, levels: int = 5) -> pl.DataFrame:
    """Lists with many ties, of which near items are relevant more often; some have none."""
    generator = np.random.default_rng(seed)
    distance = generator.integers(0, levels, queries * items)
    chance = np.where(np.repeat(np.arange(queries), items) % 4 == 0, 0.0, 0.8 - distance / levels)
    return pl.DataFrame(
        {
            "query": np.repeat([f"q{number:03}" for number in range(queries)], items),
            "item": np.tile([f"i{number}" for number in range(items)], queries),
            "distance": distance,
            "relevance": (generator.random(queries * items) < chance).astype(np.int64),
        }
    )


def two_models() -> pl.DataFrame:
    """Rankings of two models, which share no item."""
    return pl.concat(
        made(seed).select(
            pl.lit(model).alias("model"),
            "query",
            pl.lit(model).add(pl.col("item")).alias("item"),
            "distance",
            "relevance",
        )
        for seed, model in enumerate("ab")
    )


def test_a_notebook_shows_the_areas_in_words():
    found = rr.thresholds(two_models())
    first, a, b, rest = repr(found).splitlines()
    areas = found.areas.row(0, named=True)
    assert first == "Matches by distance"
    assert a == (
        f"a: ROC AUC {areas['roc_auc']:.4f}, average precision {areas['average_precision']:.4f}, "
        f"{areas['relevant_pairs']:g} of {areas['all_pairs']:g} pairs relevant"
    )
    assert b.startswith("b: ROC AUC ")
    assert {*re.findall(r"\.(\w+)", rest)} == {"table", "areas", "calibrate", "abstain"}
    assert all(hasattr(found, name) for name in re.findall(r"\.(\w+)", rest))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("order", ["distance", "score"])
def test_curves_and_areas_are_those_of_scikit_learn(seed: int, order: str):
    frame = made(seed)
    if order == "score":
        frame = frame.with_columns(score=10 - pl.col("distance")).drop("distance")
    found = rr.thresholds(frame)
    truth = frame["relevance"].to_numpy()
    score = (frame[order] * (1 if order == "score" else -1)).to_numpy()
    sign = 1 if order == "score" else -1
    fpr, tpr, at = sklearn.metrics.roc_curve(truth, score, drop_intermediate=False)
    assert found.table["threshold"].to_list() == (sign * at[1:]).tolist()
    np.testing.assert_allclose(found.table["recall"], tpr[1:], rtol=1e-14)
    np.testing.assert_allclose(found.table["fpr"], fpr[1:], rtol=1e-14)
    precision, recall, _ = sklearn.metrics.precision_recall_curve(truth, score)
    np.testing.assert_allclose(found.table["precision"], precision[-2::-1], rtol=1e-14)
    np.testing.assert_allclose(found.table["recall"], recall[-2::-1], rtol=1e-14)
    areas = found.areas.row(0, named=True)
    assert areas["roc_auc"] == pytest.approx(sklearn.metrics.roc_auc_score(truth, score), rel=1e-14)
    theirs = sklearn.metrics.average_precision_score(truth, score)
    assert areas["average_precision"] == pytest.approx(theirs, rel=1e-14)
    for row in found.table.rows(named=True):
        accepted = sign * frame[order].to_numpy() >= sign * row["threshold"]
        counts = sklearn.metrics.confusion_matrix(truth, accepted, labels=[0, 1])
        assert [row[name] for name in ("tn", "fp", "fn", "tp")] == counts.ravel().tolist()
        assert row["f1"] == pytest.approx(sklearn.metrics.f1_score(truth, accepted), rel=1e-14)
        own = sklearn.metrics.accuracy_score(truth, accepted)
        assert row["accuracy"] == pytest.approx(own, rel=1e-14)
        assert row["tie_std"] == 0.0
        rejected = counts[0, 0] + counts[1, 0]
        assert row["npv"] == (counts[0, 0] / rejected if rejected else None)


def test_the_average_precision_of_all_pairs_is_the_mean_over_their_orders():
    frame = pl.DataFrame(
        {
            "query": list("pppqqq"),
            "item": list("abcabc"),
            "distance": [1, 2, 2, 1, 1, 2],
            "relevance": [0, 1, 0, 1, 0, 1],
        }
    )
    ties = [frame.filter(distance=value)["relevance"].to_list() for value in (1, 2)]
    every = oracles.moments(ties, "ap")
    areas = rr.thresholds(frame).areas.row(0, named=True)
    assert areas["ap"] == pytest.approx(float(every.mean), rel=1e-14)
    assert areas["tie_std"] == pytest.approx(every.std, rel=1e-12)
    assert areas["ap"] != pytest.approx(areas["average_precision"], abs=1e-3)
    assert (areas["relevant_pairs"], areas["all_pairs"]) == (3, 6)


def orders_of(part: pl.DataFrame) -> list[list[tuple[int, int]]]:
    """All orders of a list, as (distance, relevance)."""
    rows = part.select("distance", "relevance").rows()
    return [
        list(order)
        for order in itertools.permutations(rows)
        if all(a[0] <= b[0] for a, b in itertools.pairwise(order))
    ]


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_counts_of_the_k_nearest_are_means_over_all_orders(k: int):
    frame = made(3, queries=4, items=5, levels=3).filter(pl.int_range(pl.len()) != 6)
    lists = [orders_of(part) for _, part in frame.group_by("query", maintain_order=True)]
    table = rr.thresholds(frame, k=k).table
    for row in table.rows(named=True):
        # Lists are independent: means and variances of their counts add up.
        totals, variance = dict.fromkeys(("tp", "fp", "tn", "fn"), Fraction(0)), Fraction(0)
        for orders in lists:
            hits = []
            for order in orders:
                top = order[:k]
                near = [flag for distance, flag in top if distance <= row["threshold"]]
                far = [flag for distance, flag in top if distance > row["threshold"]]
                hits.append(sum(near))
                for name, number in (
                    ("tp", sum(near)),
                    ("fp", len(near) - sum(near)),
                    ("fn", sum(far)),
                    ("tn", len(far) - sum(far)),
                ):
                    totals[name] += Fraction(number, len(orders))
            mean = Fraction(sum(hits), len(hits))
            variance += sum(((hit - mean) ** 2 for hit in hits), Fraction(0)) / len(hits)
        for name, total in totals.items():
            assert row[name] == pytest.approx(float(total), abs=1e-12)
        accepted = totals["tp"] + totals["fp"]
        assert row["precision"] == pytest.approx(float(totals["tp"] / accepted), rel=1e-12)
        assert row["tie_std"] == pytest.approx(float(variance) ** 0.5 / float(accepted), abs=1e-12)
    assert rr.thresholds(frame, k=k).areas["ap"].to_list() == [None]
    assert table["threshold"].to_list() == sorted(table["threshold"])


@pytest.mark.parametrize("metric", ["precision", "recall", "f1", "npv", "accuracy"])
@pytest.mark.parametrize("target", [None, 0.5, 0.9])
def test_the_chosen_threshold_is_the_one_that_the_table_says(metric: str, target: float | None):
    found = rr.thresholds(two_models())
    chosen = found.calibrate(metric, target, resamples=5)
    assert chosen["model"].to_list() == ["a", "b"]
    for row in chosen.rows(named=True):
        table = found.table.filter(model=row["model"]).drop_nulls(metric)
        values = table[metric]
        good = table.filter(values >= (values.max() if target is None else target))
        if good.is_empty():
            assert row["threshold"] is None
            continue
        first = target is not None and metric in ("recall", "npv")
        wanted = good.row(0 if first else -1, named=True)
        assert row["threshold"] == wanted["threshold"]
        assert row["value"] == wanted[metric]
        assert [row[name] for name in RATES[:3]] == [wanted[name] for name in RATES[:3]]
        if target is not None and not first:
            assert wanted["recall"] == good["recall"].max()


@pytest.mark.parametrize("resamples", [30, 300])
def test_intervals_are_those_of_queries_drawn_anew(resamples: int):
    frame = made(7, queries=15)
    found = rr.thresholds(frame).calibrate("f1", resamples=resamples, seed=5).row(0, named=True)
    generator = np.random.default_rng(5)
    # Relevant pairs that a level accepts, and the pairs that it accepts or that are relevant.
    accepted = frame["distance"].to_numpy() <= np.arange(5)[:, None]
    relevant = frame["relevance"].to_numpy()
    starts = np.unique(frame["query"], return_index=True)[1]
    hits = np.add.reduceat(accepted * relevant, starts, axis=1)
    pairs = np.add.reduceat(accepted + relevant, starts, axis=1)
    whole = 2 * hits.sum(axis=1) / pairs.sum(axis=1)
    thresholds, flattered = [], []
    for _ in range(resamples):
        drawn = generator.integers(15, size=15)
        scores = 2 * hits[:, drawn].sum(axis=1) / pairs[:, drawn].sum(axis=1)
        value, best = max((round(score, 12), level) for level, score in enumerate(scores))
        thresholds.append(best)
        flattered.append(value - whole[best])
    # By how much the 15 queries move F1 at every level, and its difference from the best.
    chosen = found["threshold"]
    moves = (2 * hits - whole[:, None] * pairs) / pairs.sum(axis=1)[:, None]
    reach = scipy.stats.t.ppf(0.975, 14)
    apart = reach * np.sqrt(15 / 14 * ((moves[chosen] - moves) ** 2).sum(axis=1))
    alike = np.flatnonzero(whole[chosen] - whole <= apart + 1e-12)
    ends = np.quantile(thresholds, (0.025, 0.975), method="inverted_cdf")
    assert found["strictest"] == min(ends[0], alike[0])
    assert found["loosest"] == max(ends[1], alike[-1])
    error = np.sqrt(15 / 14 * max((moves[chosen] ** 2).sum(), np.var(flattered)))
    fair = whole[chosen] - np.mean(flattered)
    wanted = [min(fair, whole[chosen]) - reach * error, max(fair, whole[chosen]) + reach * error]
    assert [found["ci_low"], found["ci_high"]] == pytest.approx(wanted, rel=1e-9)
    assert found["queries"] == 15
    assert found["ci_low"] < found["value"] < found["ci_high"]


def test_a_target_that_is_not_always_reached_ends_with_nothing_accepted():
    frame = made(2, queries=6)
    found = rr.thresholds(frame).calibrate("precision", 0.75, resamples=200).row(0, named=True)
    assert found["threshold"] is None or found["precision"] >= 0.75
    assert found["strictest"] is None
    nothing = rr.thresholds(frame.with_columns(relevance=0))
    for never in (nothing.calibrate("precision", 0.5, resamples=9), nothing.calibrate("f1")):
        row = never.row(0, named=True)
        empty = "threshold", "value", "loosest", "ci_low", "recall"
        assert all(row[name] is None for name in empty)


@pytest.mark.parametrize("k", [None, 3])
def test_counts_and_scores_say_the_same_as_rankings(k: int | None):
    frame = two_models()
    one, counts = (rr.thresholds(rows, k=k) for rows in (frame, rr.count_ties(frame)))
    assert one.table.equals(counts.table.cast({"threshold": pl.Int64}))
    assert one.areas.equals(counts.areas)
    scores = rr.thresholds(frame.with_columns(score=-pl.col("distance")).drop("distance"), k=k)
    assert one.table.drop("threshold").equals(scores.table.drop("threshold"))


def drawn_areas(seed: int, queries: int) -> tuple[pl.DataFrame, dict[str, float]]:
    """Lists, and areas with each query taken once more, by scikit-learn."""
    frame = made(seed, queries=queries)
    names = frame["query"].unique().sort()
    truth, score = frame["relevance"].to_numpy(), -frame["distance"].to_numpy()
    steps: dict[str, list[float]] = {"roc_auc": [], "average_precision": []}
    for name in names:
        weight = 1.0 + 1e-6 * (frame["query"] == name).to_numpy()
        steps["roc_auc"].append(sklearn.metrics.roc_auc_score(truth, score, sample_weight=weight))
        steps["average_precision"].append(
            sklearn.metrics.average_precision_score(truth, score, sample_weight=weight)
        )
    errors = {}
    for name, moved in steps.items():
        of = getattr(sklearn.metrics, f"{name}_score")
        moves = (np.array(moved) - of(truth, score)) / 1e-6
        errors[name] = float(np.sqrt((moves**2).sum() * queries / (queries - 1)))
    return frame, errors


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("queries", [2, 12])
def test_intervals_of_areas_are_those_of_queries_weighted_by_scikit_learn(seed: int, queries: int):
    frame, errors = drawn_areas(seed + 10, queries)
    row = rr.thresholds(frame).areas.row(0, named=True)
    for name, error in errors.items():
        area = row[name]
        reach = scipy.stats.t.ppf(0.975, queries - 1) * error / (area * (1 - area))
        wanted = [scipy.special.expit(scipy.special.logit(area) + way * reach) for way in (-1, 1)]
        assert [row[f"{name}_low"], row[f"{name}_high"]] == pytest.approx(wanted, rel=1e-4)
