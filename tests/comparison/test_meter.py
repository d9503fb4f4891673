"""Scores by batches, against one evaluation of all lists and, for weights, exact fractions."""

import pickle
import warnings
from fractions import Fraction
from itertools import pairwise
from typing import Any, Self
from unittest.mock import Mock

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import retrieval_report as rr
from catalogue_texts import TEXTS
from retrieval_report.comparison.meter import POLICIES
from retrieval_report.scoring import batches

METRICS = [*TEXTS, "ap(rel=2)"]
Rows = list[list[float]]


def frame_of(values: Rows, grades: Rows, order: str = "score") -> pl.DataFrame:
    """The rows of all lists."""
    rows = [
        (query, item, value, grade)
        for query, pairs in enumerate(zip(values, grades, strict=True))
        for item, (value, grade) in enumerate(zip(*pairs, strict=True))
    ]
    return pl.DataFrame(rows, schema=["query", "item", order, "relevance"], orient="row")


def evaluated(frame: pl.DataFrame, metrics: Any, **options: Any) -> pl.DataFrame:
    """One evaluation of all."""
    return rr.evaluate(frame, metrics=metrics, policies=POLICIES, truncated="no", **options)


def made(queries: int, items: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Scores that tie, and grades."""
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 6, (queries, items)).astype(np.float32) / 4
    return scores, rng.choice([0, 0, 0, 1, 2, 3], (queries, items))


LISTS = st.lists(
    st.lists(st.tuples(st.sampled_from([-0.5, 0.0, 1, 2.25]), st.integers(0, 3)), max_size=7),
    min_size=1,
    max_size=6,
)


@settings(max_examples=30)
@given(
    lists=LISTS.filter(lambda lists: any(lists)),
    cuts=st.sets(st.integers(1, 5)),
    order=st.sampled_from(["score", "distance"]),
    options=st.fixed_dictionaries(
        {},
        optional={
            "relevant_from": st.just(2),
            "no_relevant": st.sampled_from(["skip", "one"]),
            "decimals": st.just(0),
        },
    ),
    near=st.booleans(),
    metrics=st.lists(st.sampled_from(METRICS), min_size=1, max_size=9, unique=True),
)
def test_batches_are_one_evaluation_to_the_bit(
    lists: list[list[tuple[float, int]]],
    cuts: set[int],
    order: str,
    options: dict[str, Any],
    near: bool,
    metrics: list[str],
):
    lists = [rows for rows in lists if rows]  # evaluate does not know of lists without rows
    if order == "distance" and near:
        options = {**options, "distance_threshold": 1.0}
    values = [[value for value, _ in rows] for rows in lists]
    grades = [[float(grade) for _, grade in rows] for rows in lists]
    meter = rr.Meter(metrics, [3, None], **options)
    ends = sorted({0, *(cut for cut in cuts if cut < len(lists)), len(lists)})
    for first, last in pairwise(ends):
        batch: Any = {f"{order}s": values[first:last]}
        meter.update(relevance=grades[first:last], **batch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what a meter need not say in every batch
        whole = evaluated(frame_of(values, grades, order), metrics, cutoffs=[3, None], **options)
    assert meter.scores.equals(whole)
    assert meter.compute().equals(rr.summarise(whole).filter(policy="expected"))


@pytest.mark.parametrize(("items", "masked"), [(10, True), (300, False)])
def test_where_few_items_are_relevant_the_others_are_counted_to_the_same_bits(
    items: int, masked: bool, monkeypatch: pytest.MonkeyPatch
):
    rng = np.random.default_rng(items)
    scores: np.ndarray = rng.integers(-20, 20, (30, items)).astype(np.float32)
    grades = rng.choice([0, 1, 2, 3], scores.shape, p=[0.94, 0.03, 0.02, 0.01])
    masks = rng.random(scores.shape) < 0.8 if masked else None
    counted = Mock(wraps=batches._as_counts)
    monkeypatch.setattr(batches, "_as_counts", counted)
    meter = rr.Meter(METRICS, [1, 5, 40, None])
    for part in np.array_split(np.arange(30), 3):
        own = None if masks is None else masks[part]
        padded = scores[part] if own is None else np.where(own, scores[part], np.nan)
        meter.update(distances=padded, relevance=grades[part], masks=own)
    assert counted.call_count == 3
    rows = frame_of(scores.tolist(), grades.tolist(), "distance")
    rows = rows.filter(pl.Series(np.ones(scores.size, bool) if masks is None else masks.ravel()))
    assert meter.scores.equals(evaluated(rows, METRICS, cutoffs=[1, 5, 40, None]))


def test_a_gain_of_grade_0_needs_the_order_of_all_items():
    scores, grades = made(6, 50)
    metric = rr.NDCG(gain={0: 1, 1: 2, 2: 3, 3: 4})
    meter = rr.Meter(metric, 5)
    meter.update(scores, np.where(scores > 0.2, 0, grades))
    frame = frame_of(scores.tolist(), np.where(scores > 0.2, 0, grades).tolist())
    assert meter.scores.equals(evaluated(frame, metric, cutoffs=5))


class Tensor:
    """What a tensor looks like from outside: converted by NumPy's protocol after two calls."""

    def __init__(self, values: Any, here: bool = False):
        self.values, self.here = values, here

    def detach(self) -> Self:
        return self

    def cpu(self) -> Self:
        return type(self)(self.values, here=True)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        assert self.here
        return np.asarray(self.values, dtype)


def test_matrices_tensors_rows_and_frames_are_the_same():
    scores, grades = made(12, 30)
    whole = evaluated(frame_of(scores.tolist(), grades.tolist()), "ndcg@5, ap")
    inputs: Any = [
        {"scores": scores, "relevance": grades},
        {"scores": Tensor(scores), "relevance": Tensor(grades)},
        {"scores": scores.tolist(), "relevance": grades.tolist()},
        {"scores": [Tensor(row, here=True) for row in scores], "relevance": list(grades)},
        {"distances": -scores, "relevance": grades.astype(np.uint8)},
        {"rankings": frame_of(scores.tolist(), grades.tolist())},
    ]
    for batch in inputs:
        meter = rr.Meter("ndcg@5, ap")
        meter.update(**batch)
        assert meter.scores.equals(whole), batch.keys()


def test_weights_of_queries_are_those_of_the_mean():
    scores, grades = made(9, 11)
    weights = np.array([0, 1, 2, 3, 0.5, 1, 1, 0.25, 4])
    meter = rr.Meter("precision@4")
    meter.update(scores[:4], grades[:4], sample_weight=weights[:4, None])
    meter.update(scores[4:6], grades[4:6], sample_weight=weights[4:6])
    meter.update(scores[6:], grades[6:], sample_weight=weights[6:])
    values = meter.scores.filter(policy="expected")["value"]
    exact = [
        Fraction(value) * Fraction(weight) for value, weight in zip(values, weights, strict=True)
    ]
    wanted = float(sum(exact) / sum(map(Fraction, weights)))
    assert meter.compute()["value"].item() == pytest.approx(wanted, rel=1e-15)


@pytest.mark.parametrize(("no_relevant", "ids"), [("zero", None), ("skip", list("qwertzuiop"))])
def test_weights_of_items_are_those_of_query_weights_and_weigh_gains(no_relevant: str, ids: Any):
    scores, grades = made(10, 12)
    grades[[2, 7]] = 0
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 9, scores.shape) / 4
    masks = rng.random(scores.shape) < 0.8
    names = {} if ids is None else {"query_ids": np.array(ids)}
    metrics = ["precision@3", "rr", "ndcg(gain=exp2,ideal=list)@5", "dcg@4"]
    rows = frame_of(scores.tolist(), grades.tolist())
    if ids is not None:
        rows = rows.with_columns(query=pl.Series(ids).gather(rows["query"]))
    rows = rows.with_columns(weight=weights.ravel(), mask=masks.ravel())

    meters = [rr.Meter(metrics, no_relevant=no_relevant) for _ in range(2)]
    for meter, first, last in ((0, 0, 4), (1, 4, 5), (1, 5, 10)):
        part = slice(first, last)
        batch = {name: of[part] for name, of in names.items()}
        given = {"masks": masks[part], "sample_weight": weights[part], **batch}
        meters[meter].update(scores[part], grades[part], **given)
    ours = meters[0].merge(meters[1]).compute()

    for row, metric in zip(ours.iter_rows(named=True), metrics, strict=True):
        if "dcg" in metric:
            plain, alone, weighed = rr.lists.weigh_gains(rows, metric)
            metric = f"{alone}@{metric[-1]}"
        else:
            plain = rows.filter("mask", pl.col("weight") > 0)
            weighed = rr.lists.query_weights(rows, metrics=metric)
        whole = evaluated(plain, metric, no_relevant=no_relevant)
        means = rr.summarise(whole, queries=weighed, average="weighted")
        wanted = means.filter(policy="expected").row(0, named=True)
        assert row["tie_std"] > 0
        for name in ("value", "tie_std", "lowest", "highest", "query_se", "queries"):
            assert row[name] == wanted[name]


@pytest.mark.parametrize("ids", [None, list("qwertzuiop")])
def test_meters_of_workers_merge_and_travel(ids: Any):
    scores, grades = made(10, 8)
    named = [{}] * 3 if ids is None else [{"query_ids": ids[a:b]} for a, b in ((0, 3), (3, 10))]
    one, other, whole = (rr.Meter("ap, ndcg@3", relevant_from=2) for _ in range(3))
    one.update(scores[:3], grades[:3], **named[0])
    other.update(scores[3:], grades[3:], **named[1])
    whole.update(scores, grades, **({} if ids is None else {"query_ids": ids}))
    sent = pickle.loads(pickle.dumps(other))
    assert sent.scores.equals(other.scores)
    assert one.merge(sent) is one
    assert one.scores.equals(whole.scores)
    assert one.compute().equals(whole.compute())
    one.reset()
    assert one.compute().is_empty()
    assert one.compute().schema == whole.compute().schema
    one.merge(whole)
    assert one.scores.equals(whole.scores)


def test_memory_grows_with_queries_alone():
    sizes = []
    for items in (10, 1000):
        meter = rr.Meter("ap")
        meter.update(*made(16, items))
        sizes.append(len(pickle.dumps(meter)))
    assert sizes[0] == pytest.approx(sizes[1], rel=0.01)


def test_a_change_is_what_compare_says_of_the_queries():
    scores, grades = made(40, 12)
    before, after = rr.Meter("ap"), rr.Meter("ap")
    before.update(scores, grades)
    better = scores + 0.5 * (grades > 0) * (np.arange(40) % 3 > 0)[:, None]
    for rows in np.split(np.arange(40), [13, 25]):
        after.update(better[rows], grades[rows])
    row = after.changed(before).row(0, named=True)
    named = {"after": after.scores, "before": before.scores}
    both = pl.concat(frame.with_columns(model=pl.lit(name)) for name, frame in named.items())
    known = rr.compare(both).row(0, named=True)
    for name in ("model_a", "difference", "tie_std", "t_p"):
        assert row[name] == known[name]
    assert row["verdict"] == "safe"
    same = before.changed(before.scores).row(0, named=True)
    assert (same["difference"], same["verdict"]) == (0.0, "depends on tie order")


def test_labels_below_0_and_the_mask_of_keras_rs_leave_items_out():
    scores, grades = made(8, 9)
    rng = np.random.default_rng(4)
    ignored, masks = rng.random((2, *scores.shape)) < 0.2
    plain, keras = rr.Meter("ndcg@3, ap, rr"), rr.Meter("ndcg@3, ap, rr")
    plain.update(scores, grades, masks=~masks & ~ignored)
    labels = np.where(ignored, rng.choice([-1, -100], scores.shape), grades)
    keras.update(scores, {"labels": labels, "mask": ~masks})
    assert keras.scores.equals(plain.scores)
    with pytest.raises(rr.RetrievalReportError, match="masks: given together with a mask in"):
        keras.update(scores, {"labels": labels, "mask": ~masks}, masks=~masks)


@pytest.mark.parametrize("shape", [(0, 5), (3, 0), (0, 0)])
def test_a_batch_of_nothing_has_no_scores_or_those_of_empty_lists(shape: tuple[int, int]):
    meter = rr.Meter("ndcg@2, ap, rr, err")
    meter.update(np.empty(shape), np.empty(shape))
    assert meter.scores["query"].n_unique() == shape[0]
    assert meter.scores["value"].to_list() == [0.0] * meter.scores.height
    assert meter.compute()["queries"].to_list() == [shape[0]] * (4 if shape[0] else 0)
    meter.update([], [])  # no list
    meter.update([[1.0]], [[1]])
    assert meter.compute()["queries"].to_list() == [shape[0] + 1] * 4


SCORES, GRADES = made(2, 3)


@pytest.mark.parametrize("name", ["relevance", "sample_weight"])
def test_a_refused_batch_is_left_out(name: str):
    meter = rr.Meter("ap")
    meter.update(SCORES, GRADES, query_ids=["x", "y"])
    before = meter.scores
    batch: Any = {"scores": SCORES, "relevance": GRADES, "query_ids": ["v", "w"]}
    with pytest.raises(rr.RetrievalReportError, match=name):
        meter.update(**batch | {name: -np.ones(2)})
    assert meter.scores.equals(before)


def test_queries_have_one_kind_of_names_and_come_once():
    meter = rr.Meter("ap")
    meter.update(SCORES, GRADES, query_ids=["x", "y"])
    for ids, message in (
        (None, "given for some batches, and not for others"),
        ([1, 2], "text in some, and whole numbers in others"),
        (["z", "y"], "query 'y' is given twice"),
    ):
        with pytest.raises(rr.RetrievalReportError, match=message):
            meter.update(SCORES, GRADES, query_ids=ids)
    assert meter.compute()["queries"].item() == 2
    for other in (rr.Meter("rr"), rr.Meter("ap", relevant_from=2)):
        with pytest.raises(rr.ParameterError, match="other measures or options"):
            meter.merge(other)


def test_options_are_those_of_single_lists():
    with pytest.raises(TypeError, match="'shuffles'; a Meter takes relevant_from"):
        rr.Meter("ap", shuffles=3)  # type: ignore[call-arg]
    with pytest.raises(rr.ParameterError, match="distance_threshold"):
        rr.Meter("ap", distance_threshold=1).update(SCORES, GRADES)
    with pytest.raises(rr.DataError, match="no relevant item"):
        rr.Meter("ap", no_relevant="error").update(SCORES, GRADES * 0)


def test_a_meter_says_in_words_what_it_measures_and_on_how_much():
    meter = rr.Meter("ndcg@2, ap")
    meter.update(scores=[[3, 2], [1, 2]], relevance=[[0, 1], [1, 0]])
    text = "Meter of ndcg@2 and ap@all: 2 queries so far; .compute() and .log() return the means"
    assert repr(meter) == text
