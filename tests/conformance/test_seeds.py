"""TF Similarity and KerasRS themselves, run beside the package (`make seeds`)."""

from collections import Counter
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr

# They warn of each other and of Python; what our own code warns of is an error elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore")

QUERIES, ITEMS, CLASSES = 60, 40, 4
GOAL = 0.317  # no rate of so few queries
ORDERS = 200
RATES = {
    "Precision": "precision",
    "Recall": "recall",
    "F1Score": "f1",
    "FalsePositiveRate": "fpr",
    "NegativePredictiveValue": "npv",
}
# KerasRS, and the same here; see docs/moving-from/keras-rs.md.
KERAS = {
    "PrecisionAtK": "precision(denominator=retrieved)",
    "RecallAtK": "recall",
    "MeanReciprocalRank": "rr",
    "MeanAveragePrecision": "ap",
    "DCG": "dcg(gain=exp2)",
    "NDCG": "ndcg(gain=exp2,ideal=list)",
}


@cache
def tf_similarity():
    reason = "tensorflow_similarity, of the extra `seeds`, is not installed"
    pytest.importorskip("tensorflow_similarity", reason=reason, exc_type=ImportError)
    from tensorflow_similarity import (  # type: ignore[import-not-found]
        classification_metrics,
        evaluators,
        matchers,
        retrieval_metrics,
        types,
    )

    return SimpleNamespace(
        classification=classification_metrics,
        evaluator=evaluators.MemoryEvaluator(),
        matchers=matchers,
        retrieval=retrieval_metrics,
        Lookup=types.Lookup,
    )


class Neighbours:
    """Neighbours of queries, nearest first, as both packages take them."""

    def __init__(self, seed: int, k: int, *, distances: int | None = None):
        rng = np.random.default_rng(seed)
        shape = (QUERIES, ITEMS)
        drawn = rng.permutation(QUERIES * ITEMS) if distances is None else None
        steps = rng.integers(distances or 1, size=shape) if drawn is None else drawn.reshape(shape)
        self.item_labels = rng.integers(CLASSES, size=ITEMS)
        self.truth = rng.integers(CLASSES, size=QUERIES)
        order = np.argsort(steps, axis=1, kind="stable")
        self.distances = np.take_along_axis(steps, order, 1) / 64
        self.items, self.k = order, k

    def shuffled(self, rng: np.random.Generator):
        """Labels of the k nearest when every tie is in a random order."""
        keys = rng.random(self.items.shape)
        order = np.lexsort((keys, self.distances), axis=1)
        return self.item_labels[np.take_along_axis(self.items, order, 1)[:, : self.k]]

    @property
    def labels(self):
        return self.item_labels[self.items[:, : self.k]]

    def lookups(self) -> list[list[Any]]:
        make = tf_similarity().Lookup
        near = self.distances[:, : self.k]
        return [
            [
                make(rank=rank, distance=float(distance), label=int(label))
                for rank, (distance, label) in enumerate(zip(*row, strict=True), 1)
            ]
            for row in zip(near, self.labels, strict=True)
        ]

    @property
    def rankings(self) -> pl.DataFrame:
        rows = np.repeat(np.arange(QUERIES), ITEMS)
        columns = {"query": rows, "item": self.items.ravel(), "distance": self.distances.ravel()}
        return pl.DataFrame(columns)

    @property
    def item_frame(self) -> pl.DataFrame:
        return pl.DataFrame({"item": np.arange(ITEMS), "label": self.item_labels})

    @property
    def queries(self) -> pl.DataFrame:
        return pl.DataFrame({"query": np.arange(QUERIES), "label": self.truth})

    @property
    def judged(self) -> pl.DataFrame:
        same = self.item_labels[self.items] == self.truth[:, None]
        return self.rankings.with_columns(relevance=same.astype(np.int64).ravel())

    def predicted(self, vote: str) -> pl.DataFrame:
        votes = {"vote": "nearest"} if vote == "match_nearest" else {"tied_votes": "nearest"}
        truth = self.queries
        return rr.knn(self.rankings, self.item_frame, queries=truth, k=self.k, **votes).chances

    def matched(self, vote: str, labels: Any) -> list[int]:
        """What TF Similarity predicts."""
        import tensorflow as tf  # type: ignore[import-untyped]

        matcher = tf_similarity().matchers.make_classification_matcher(vote)
        near = tf.constant(self.distances[:, : self.k], tf.float32)
        derived, _ = matcher.derive_match(tf.constant(labels), near)
        return [int(label) for label in derived.numpy().ravel()]


@pytest.mark.parametrize("metric", RATES)
def test_tf_similarity_calibrates_alike(metric: str):
    tfs = tf_similarity()
    kinds = tfs.classification
    for seed in range(5):
        near = Neighbours(seed, 1)
        measured = getattr(kinds, metric)()
        others = [getattr(kinds, name)() for name in RATES if name != metric]
        theirs = tfs.evaluator.calibrate(
            near.truth.tolist(),
            near.lookups(),
            {"goal": GOAL},
            measured,
            "match_nearest",
            extra_metrics=others,
            verbose=0,
        )
        found = rr.thresholds(near.judged, truncated="no", k=1)
        table, curves = found.table, theirs.thresholds
        # Their float32 distances are rounded to eight decimals.
        np.testing.assert_allclose(table["threshold"], curves["distance"], rtol=1e-6)
        for known in (measured, *others):
            rates = table[RATES[type(known).__name__]].fill_null(0.0)
            np.testing.assert_allclose(curves[known.name], rates, atol=1e-6)
        if metric == "FalsePositiveRate":
            continue  # of which the lowest is best, that of no answer at all
        # Of thresholds that reach a goal in F1, theirs is the first, as if F1 only rose.
        goals = {"optimal": None} if metric == "F1Score" else {"optimal": None, "goal": GOAL}
        for name, goal in goals.items():
            ours = found.calibrate(RATES[metric], goal, resamples=10).row(0, named=True)
            point = theirs.cutpoints.get(name, {"distance": None, "value": None})
            for key, value in (("distance", ours["threshold"]), ("value", ours["value"])):
                assert value == (None if value is None else pytest.approx(point[key], rel=1e-6))


@pytest.mark.parametrize("vote", ["match_nearest", "match_majority_vote"])
@pytest.mark.parametrize("k", [1, 2, 5, 12])
def test_tf_similarity_predicts_alike_without_ties(vote: str, k: int):
    tf_similarity()
    for seed in range(5):
        near = Neighbours(seed, k)
        ours = near.predicted(vote)
        assert ours["chance"].to_list() == [1.0] * QUERIES
        assert ours["predicted"].to_list() == near.matched(vote, near.labels)


@pytest.mark.parametrize("vote", ["match_nearest", "match_majority_vote"])
@pytest.mark.parametrize("k", [1, 5])
def test_tf_similarity_predicts_over_orders_as_often_as_the_chances_say(vote: str, k: int):
    tf_similarity()
    near, rng = Neighbours(7, k, distances=6), np.random.default_rng(0)
    seen: Counter[tuple[int, int]] = Counter()
    for _ in range(ORDERS):
        seen.update(enumerate(near.matched(vote, near.shuffled(rng))))
    chances = {
        row[:2]: row[2]
        for row in near.predicted(vote).select("query", "predicted", "chance").rows()
    }
    assert {*seen} <= {*chances}
    assert sum(chance < 1 for chance in chances.values()) > QUERIES
    for key, chance in chances.items():
        spread = np.sqrt(chance * (1 - chance) / ORDERS)
        assert abs(seen[key] / ORDERS - chance) <= 5 * spread + 1e-9


@pytest.mark.parametrize("distances", [None, 6])
@pytest.mark.parametrize("k", [1, 5, 20])
def test_tf_similarity_scores_lists_as_naive_ones(distances: int | None, k: int):
    tfs = tf_similarity()
    near = Neighbours(3, k, distances=distances)
    sizes = Counter(near.item_labels.tolist())
    metrics = {
        "hit_rate": tfs.retrieval.RecallAtK(k=k),
        "precision": tfs.retrieval.PrecisionAtK(k=k),
        "ap": tfs.retrieval.MapAtK(r=sizes, k=k),
        "ndcg(ideal=cutoff)": tfs.retrieval.BNDCG(k=k),
    }
    theirs = tfs.evaluator.evaluate_retrieval(
        near.truth.tolist(), near.lookups(), [*metrics.values()]
    )
    names = [f"{name}@{k}" for name in metrics]
    scores = rr.evaluate(near.judged, metrics=names, policies="naive", truncated="no")
    ours = dict(rr.summarise(scores).select("metric", "value").rows())
    for name, metric in metrics.items():
        assert ours[name] == pytest.approx(float(theirs[metric.name]), abs=1e-6), name


@cache
def keras_rs():
    reason = "keras_rs, of the extra `seeds`, is not installed"
    return pytest.importorskip("keras_rs", reason=reason, exc_type=ImportError)


def keras_value(name: str, batches: Any, **how: Any) -> float:
    metric = getattr(keras_rs().metrics, name)(k=10, **how)
    for relevance, scores, mask, weight in batches:
        metric.update_state({"labels": relevance, "mask": mask}, scores, sample_weight=weight)
    return float(metric.result())


def lists(seed: int, *, levels: int | None, batches: int) -> list[tuple[Any, ...]]:
    """Batches of lists; those of one batch have weights, which KerasRS averages over a batch."""
    rng = np.random.default_rng(seed)
    shape = (QUERIES, ITEMS)
    drawn = rng.random(shape) if levels is None else rng.integers(levels, size=shape)
    relevance = rng.integers(3, size=shape) * (rng.random(shape) < 0.3)
    relevance[:3] = 0  # lists without a relevant item
    mask = rng.random(shape) < 0.9
    weights = rng.integers(1, 4, size=QUERIES) if batches == 1 else np.ones(QUERIES)
    parts = relevance.astype("float32"), drawn.astype("float32"), mask, weights.astype("float32")
    return [*zip(*(np.split(part, batches) for part in parts), strict=True)]


def metered(measure: str, batches: Any) -> dict[str, Any]:
    meter = rr.Meter(f"{measure}@10", relevant_from=1)
    for relevance, scores, mask, given in batches:
        able = (relevance * mask).sum(1) > 0
        weight = np.where(able, given, given[able].mean())  # as KerasRS weighs the others
        meter.update(scores, relevance, masks=mask, sample_weight=weight)
    return meter.compute().row(0, named=True)


@pytest.mark.parametrize("name", KERAS)
@pytest.mark.parametrize("batches", [1, 3])
def test_keras_rs_computes_what_a_meter_does(name: str, batches: int):
    keras_rs()
    for seed in range(3):
        given = lists(seed, levels=None, batches=batches)
        ours = metered(KERAS[name], given)
        assert ours["value"] == pytest.approx(keras_value(name, given), rel=2e-6)


def weighed(measure: str, batch: tuple[Any, ...]) -> dict[str, Any]:
    meter = rr.Meter(f"{measure}@10", relevant_from=1)
    relevance, scores, mask, weights = batch
    meter.update(scores, relevance, masks=mask, sample_weight=weights)
    return meter.compute().row(0, named=True)


@pytest.mark.parametrize("name", KERAS)
def test_keras_rs_computes_what_a_meter_does_with_weights_of_items(name: str):
    keras_rs()
    for seed in range(3):
        [(relevance, scores, mask, _)] = lists(seed, levels=None, batches=1)
        rng = np.random.default_rng(seed)
        weights = rng.integers(0, 5, mask.shape).astype("float32") / 2
        weights[5] = 0
        batch = relevance, scores, mask, weights
        value = keras_value(name, [batch])
        assert weighed(KERAS[name], batch)["value"] == pytest.approx(value, rel=2e-6)


@pytest.mark.parametrize("name", ["DCG", "NDCG", "MeanAveragePrecision"])
def test_keras_rs_strays_about_weighed_gains_where_scores_tie(name: str):
    keras_rs()
    [(relevance, scores, mask, _)] = lists(12, levels=4, batches=1)
    weights = np.random.default_rng(0).integers(1, 5, mask.shape).astype("float32")
    batch = relevance, scores, mask, weights
    ours = weighed(KERAS[name], batch)
    values = np.array([keras_value(name, [batch], seed=seed) for seed in range(ORDERS)])
    assert abs(values.mean() - ours["value"]) <= 4 * ours["tie_std"] / np.sqrt(ORDERS)
    assert values.std(ddof=1) == pytest.approx(ours["tie_std"], rel=0.2)


@pytest.mark.parametrize("name", KERAS)
def test_keras_rs_strays_about_the_meter_where_scores_tie(name: str):
    keras_rs()
    given = lists(11, levels=4, batches=3)
    ours = metered(KERAS[name], given)
    values = np.array([keras_value(name, given, seed=seed) for seed in range(ORDERS)])
    assert abs(values.mean() - ours["value"]) <= 4 * ours["tie_std"] / np.sqrt(ORDERS)
    assert values.std(ddof=1) == pytest.approx(ours["tie_std"], rel=0.2)
    assert ours["lowest"] - 1e-6 <= values.min() < values.max() <= ours["highest"] + 1e-6
