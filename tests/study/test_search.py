"""Search results, in every form of every library, score the same as rows written by hand."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from polars.testing import assert_frame_equal

from retrieval_report import (
    ColumnError,
    DataError,
    KeyMismatchError,
    RetrievalReportWarning,
    Study,
    evaluate,
    from_embeddings,
    from_search,
)
from retrieval_report.codes.search import Inputs

RNG = np.random.default_rng(7)
ITEMS = RNG.integers(0, 3, (40, 4)).astype(np.float32)  # few values, so that many distances tie
QUERIES = RNG.integers(0, 3, (6, 4)).astype(np.float32)
LABELS = RNG.integers(0, 4, 40)
QUERY_LABELS = RNG.integers(0, 4, 6)
DISTANCES = ((QUERIES[:, None] - ITEMS[None]) ** 2).sum(axis=2)
FLAT: Any = {"query_labels": QUERY_LABELS, "item_labels": LABELS}
ASKED: Any = {
    "metrics": "recall@5, ap, ndcg@5",
    "policies": ("expected", "naive", "worst"),
    "truncated": "no",
}


def nearest(k: int = 10) -> tuple[NDArray[Any], NDArray[Any]]:
    indices = np.argsort(DISTANCES, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(DISTANCES, indices, axis=1), indices


def by_hand(distances: Any, indices: Any, model: str = "model") -> pl.DataFrame:
    """Scores of the rows of (distances, indices), with every relevant item judged one by one."""
    rows = [
        (model, query, int(item), float(distance))
        for query, (near, found) in enumerate(zip(distances, indices, strict=True))
        for distance, item in zip(near, found, strict=True)
        if item != -1
    ]
    judged = [
        (q, i, int(QUERY_LABELS[q] == LABELS[i]))
        for q in range(len(QUERIES))
        for i in range(len(ITEMS))
    ]
    return evaluate(
        pl.DataFrame(rows, schema=["model", "query", "item", "distance"], orient="row"),
        judgements=pl.DataFrame(judged, schema=["query", "item", "relevance"], orient="row"),
        **ASKED,
    )


def test_minus_one_is_no_result():
    distances, indices = nearest()
    distances, indices = distances.copy(), indices.copy()
    distances[1, 6:], indices[1, 6:] = np.inf, -1  # as FAISS fills up
    distances[4], indices[4] = np.inf, -1
    inputs = from_search((distances, indices), **FLAT)
    assert inputs.rankings.height == 6 * 10 - 4 - 10
    assert_frame_equal(evaluate(**inputs, **ASKED), by_hand(distances, indices))


def test_ids_of_queries_and_items():
    found = from_search(
        nearest(),
        **FLAT,
        query_ids=[f"q{n}" for n in range(6)],
        item_ids=[f"{n:03}" for n in range(40)],
    )
    assert found.rankings["item"][0] == f"{nearest()[1][0, 0]:03}"
    assert found.queries is not None
    assert found.queries["query"].to_list() == [f"q{n}" for n in range(6)]
    assert_frame_equal(evaluate(**found, **ASKED).drop("query"), by_hand(*nearest()).drop("query"))


def test_labels_by_key():
    """What usearch and hnswlib return are keys, which need not count from 0."""
    keys = np.arange(40)[::-1] * 100 + 7
    distances, indices = nearest()
    labels = dict(zip(keys.tolist(), LABELS.tolist(), strict=True))
    inputs = from_search(
        (distances, keys[indices].astype(np.uint64)), query_labels=QUERY_LABELS, item_labels=labels
    )
    assert set(inputs.rankings["item"]) <= set(keys.tolist())
    assert_frame_equal(evaluate(**inputs, **ASKED), by_hand(distances, indices))
    with pytest.raises(
        DataError, match=r"model 'model': index 9 is not among the 40 items \(1 such results\)"
    ):
        from_search((np.array([[0.0]]), np.array([[9]])), query_labels=[1], item_labels=labels)


def test_multi_hot_labels_share_classes():
    hot = np.eye(4, dtype=int)
    inputs = from_search(nearest(), query_labels=hot[QUERY_LABELS], item_labels=hot[LABELS])
    assert_frame_equal(evaluate(**inputs, **ASKED), by_hand(*nearest()))
    both = from_search(
        nearest(),
        query_labels=np.ones((6, 4), int),
        item_labels=np.ones((40, 4), int),
        relevance="shared",
    )
    assert set(both.rankings["relevance"]) == {4}


@pytest.mark.filterwarnings("ignore:.*nearest items are relevant")  # labels are drawn
def test_a_query_is_not_its_own_result():
    square = ((ITEMS[:, None] - ITEMS[None]) ** 2).sum(axis=2)
    inputs = from_search({"m": square}, query_labels=LABELS, item_labels=LABELS, exclude_self=True)
    assert inputs.rankings.height == 40 * 39
    assert inputs.queries is not None
    assert inputs.queries["n_relevant"].to_list() == [
        int((label == LABELS).sum()) - 1 for label in LABELS
    ]
    with pytest.raises(
        KeyMismatchError, match="exclude_self: model 'm' has Int64 query ids and String item ids"
    ):
        from_search({"m": square}, item_ids=[f"d{n}" for n in range(40)], exclude_self=True)


def test_a_matrix_of_relevance_beside_indices_is_judgements():
    relevance = (QUERY_LABELS[:, None] == LABELS[None]).astype(int)
    relevance[2] = 0
    inputs = from_search(nearest(), relevance=relevance)
    assert inputs.judgements is not None
    assert inputs.judgements.filter(query=2)["relevance"].to_list() == [0]
    wanted = by_hand(*nearest()).filter(pl.col("query") != 2)
    assert_frame_equal(evaluate(**inputs, **ASKED).filter(pl.col("query") != 2), wanted)


def test_models_of_different_number_types_are_united():
    distances, indices = nearest()
    models = {
        "float32": (distances.astype(np.float32) / 3, indices),
        "bits": (distances.astype(np.int32), indices.astype(np.int32)),
        "float64": (distances / 3, indices),
    }
    inputs = from_search(models, **FLAT)
    assert inputs.rankings.schema["distance"] == pl.Float64
    for model, (values, _) in models.items():
        wanted = from_search({model: (values, indices)}, **FLAT)
        assert_frame_equal(
            evaluate(**inputs, **ASKED).filter(model=model), evaluate(**wanted, **ASKED)
        )


def test_one_query_rows_of_unequal_length_and_nested_lists():
    distances, indices = nearest()
    one = from_search((distances[0], indices[0]), query_labels=QUERY_LABELS[:1], item_labels=LABELS)
    assert one.rankings.height == 10
    cut = [distances[q][: q + 1] for q in range(6)], [indices[q][: q + 1] for q in range(6)]
    wanted = by_hand(*cut)
    assert_frame_equal(evaluate(**from_search(cut, **FLAT), **ASKED), wanted)
    listed: Any = tuple([row.tolist() for row in part] for part in cut)
    assert_frame_equal(evaluate(**from_search(listed, **FLAT), **ASKED), wanted)
    limits = np.cumsum([0, *(len(row) for row in cut[0])])
    ranged = (limits, np.concatenate(cut[0]), np.concatenate(cut[1]))
    assert_frame_equal(evaluate(**from_search(ranged, **FLAT), **ASKED), wanted)


def test_results_of_faiss():
    faiss = pytest.importorskip("faiss", reason="faiss-cpu, of the extra `dev`, is not installed")
    index = faiss.IndexFlatL2(4)
    index.add(ITEMS)
    found = index.search(QUERIES, 50)  # more than there are
    assert (found[1] == -1).any()
    assert_frame_equal(evaluate(**from_search(found, **FLAT), **ASKED), by_hand(*found))
    limits, distances, indices = index.range_search(QUERIES, 4.0)
    rows: Any = [np.split(part, limits[1:-1].astype(int)) for part in (distances, indices)]
    assert_frame_equal(
        evaluate(**from_search((limits, distances, indices), **FLAT), **ASKED),
        by_hand(*rows),
        check_exact=True,
    )


def test_results_of_usearch():
    usearch = pytest.importorskip(
        "usearch.index", reason="usearch, of the extra `dev`, is not installed"
    )
    index = usearch.Index(ndim=4, metric="l2sq", dtype="f32")
    index.add(np.arange(40), ITEMS)
    found = index.search(QUERIES, 10)
    assert_frame_equal(
        evaluate(**from_search(found, **FLAT), **ASKED), by_hand(found.distances, found.keys)
    )
    one = index.search(QUERIES[0], 10)
    assert from_search(one, query_labels=QUERY_LABELS[:1], item_labels=LABELS).rankings.height == 10


def test_inputs_hold_together():
    inputs = from_search(nearest(), judgements={0: {3: 1}, 1: {4: 2}}, scores=False)
    assert inputs.judgements is not None
    assert inputs.judgements.rows() == [(0, 3, 1), (1, 4, 2)]
    with pytest.raises(KeyError):
        inputs["scores"]
    with pytest.raises(
        ColumnError, match=r": Inputs holds more than rankings; pass its rankings alone"
    ):
        evaluate(inputs)


def labelled(rank_labels: Any, exclude_self: bool) -> Inputs:
    """A search that finds the class of the query, for labels that are perhaps in another order."""
    draw = np.random.default_rng(3)
    classes = np.repeat(np.arange(5), 30)
    vectors = np.eye(5)[classes] + draw.normal(0, 0.25, (150, 5))
    distances = ((vectors[:, None] - vectors[None]) ** 2).sum(axis=2).round(2)
    indices = np.argsort(distances, axis=1, kind="stable")[:, :20]
    found = np.take_along_axis(distances, indices, axis=1), indices
    labels = rank_labels(classes)
    return from_search(
        {"found": found, "matrix": distances},
        query_labels=classes,
        item_labels=labels,
        exclude_self=exclude_self,
    )


@pytest.mark.parametrize("exclude_self", [False, True])
def test_labels_in_the_order_of_other_items_are_pointed_out(exclude_self: bool):
    found = labelled(lambda labels: labels, exclude_self)  # no warning
    assert found.rankings.filter(model="found")["relevance"].to_numpy().mean() > 0.8
    shuffle = np.random.default_rng(4).permutation
    with pytest.warns(RetrievalReportWarning, match="chance alone would give") as caught:
        labelled(shuffle, exclude_self)
    first, second = (str(warning.message) for warning in caught)
    assert first.startswith("model 'found': ")
    assert second.startswith("model 'matrix': ")
    assert first.endswith(
        "are item_labels in the order that the indices count, and query_labels in that of the "
        "queries?"
    )
    if not exclude_self:  # 20 of 150 items for each of 150 queries, to which 30 are relevant
        assert "of its 3000 nearest items are relevant, and chance alone would give 600;" in first


def test_labels_of_more_items_than_were_searched_are_no_fault():
    """Every list holds all items of an index of the first 60: only their order tells."""
    classes = np.arange(300) % 10
    noise = np.random.default_rng(3).uniform(0, 0.5, (300, 60))
    distances = (classes[:, None] != classes[:60]) + noise
    indices = np.argsort(distances, axis=1)
    results = np.take_along_axis(distances, indices, axis=1), indices
    found = from_search(results, query_labels=classes, item_labels=classes)  # no warning
    assert not found.by_chance


def test_similarities_among_distances_are_asked_about():
    """The labels are right, and the nearest items by similarity are the farthest by distance."""
    classes = np.arange(300) % 10
    similarity = (classes[:, None] == classes).astype(float) + np.eye(300)[::-1] / 2
    with pytest.warns(
        RetrievalReportWarning, match="are its distances really distances, item_labels"
    ):
        from_search(similarity, query_labels=classes, item_labels=classes)


@pytest.mark.filterwarnings("ignore:.*chance alone would give")
@pytest.mark.parametrize("others", [0, 1])
def test_short_lists_by_other_labels_are_praised_by_nothing(others: int):
    """Every index of one model is that of the next item."""
    draw = np.random.default_rng(3)
    classes = np.repeat(np.arange(5), 30)
    vectors = np.eye(5)[classes] + draw.normal(0, 0.25, (150, 5))
    items = draw.permutation(150)  # so that the next one is of any class
    distances = ((vectors[:, None] - vectors[items][None]) ** 2).sum(axis=2)
    indices = np.argsort(distances, axis=1)[:, :10]
    nearest = np.take_along_axis(distances, indices, axis=1)
    searches = {"shifted": (nearest, (indices + 1) % 150), "found": (nearest, indices)}
    searches = dict([*searches.items()][: 1 + others])
    inputs = from_search(searches, query_labels=classes, item_labels=classes[items])
    study = Study(inputs, "ndcg@10")
    [fault] = study.health.select("model", "finding", "serious", "total").rows()
    assert fault == ("shifted", "unrelated", not others, 1500)
    assert study.chip == ("at random" if others else "check your data")
    assert study.models("shifted").health.height == 1


@pytest.mark.filterwarnings("ignore:.*chance alone would give")
def test_formats_of_vectors_by_other_labels_are_praised_by_nothing():
    draw = np.random.default_rng(3)
    classes = np.repeat(np.arange(5), 30)
    queries, items = np.eye(8)[classes] + draw.normal(0, 0.25, (2, 150, 8))
    inputs = from_embeddings(
        queries,
        items,
        ["float32", "int8"],
        query_labels=draw.permutation(classes),
        item_labels=classes,
    )
    study = Study(inputs, "ndcg@10", baseline="float32", margin=0.5)
    assert [*inputs.by_chance] == ["float32", "int8"]
    assert study.chip == "check your data"


def test_rows_of_other_queries_are_pointed_out_by_labels_as_by_judgements():
    """Every row of one model is that of the next query, and a few of these are of its class by
    chance: more than a fifth above chance, and yet no more than lists dealt in another order hold.
    """
    draw = np.random.default_rng(3)
    classes, items = draw.integers(0, 10, 100), np.repeat(np.arange(10), 20)
    following = np.roll(classes, 1)
    is_same = (classes == following).mean()
    assert 1.2 < 10 * is_same < 1.7
    distances = (following[:, None] != items[None]) + draw.uniform(0, 0.5, (100, 200))
    distances = {"rolled": distances, "found": np.roll(distances, -1, axis=0)}
    searches = {}
    for model, rows in distances.items():
        indices = np.argsort(rows, axis=1)[:, :15]
        searches[model] = np.take_along_axis(rows, indices, axis=1), indices
    with pytest.warns(RetrievalReportWarning, match=r"^model 'rolled': .* give 1\d\d ± \d\d;"):
        inputs = from_search(searches, query_labels=classes, item_labels=items)
    assert inputs.rankings.columns == ["model", "query", "item", "distance", "relevance"]
    study = Study(inputs, "ndcg@10")
    faults = study.health.select("model", "finding", "serious", "total").rows()
    assert faults == [("rolled", "unrelated", False, 1500)]
    assert study.chip == "at random"
    weak = classes.copy()  # as many relevant items, evenly in all lists: that is skill
    indices = np.stack([draw.permutation(np.flatnonzero(items != each))[:15] for each in weak])
    indices[:, 3:6] = [
        draw.choice(np.flatnonzero(items == each), 3, replace=False) for each in weak
    ]
    from_search((np.tile(np.arange(15.0), (100, 1)), indices), query_labels=weak, item_labels=items)
