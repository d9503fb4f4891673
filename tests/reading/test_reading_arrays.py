"""Arrays with names: archives of NumPy and dictionaries of vector stores, as rankings and tables."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from retrieval_report.contracts.errors import ColumnError, DataError, FileError, ParameterError

D = np.array([[0.1, 0.2, 0.2], [0.3, 0.4, 9.0]], np.float32)
INDICES = np.array([[2, 0, 1], [1, 0, -1]])
ROWS = [(0, 2, 0.1), (0, 0, 0.2), (0, 1, 0.2), (1, 1, 0.3), (1, 0, 0.4)]
QUERY_IDS, ITEM_IDS = np.array(["q1", "q2"]), np.array(["a", "b", "c"])
NAMED = [("q1", "c", 0.1), ("q1", "a", 0.2), ("q1", "b", 0.2), ("q2", "b", 0.3), ("q2", "a", 0.4)]
OTHERS = {"queries": np.ones((2, 8)), "label": np.array([3, 4]), "time": np.array(0.2)}

ARCHIVES: dict[str, tuple[dict[str, Any], str, list[tuple[Any, ...]]]] = {
    "faiss": ({"D": D, "I": INDICES}, "distance", ROWS),
    "words": ({"distances": D, "indices": INDICES, **OTHERS}, "distance", ROWS),
    "ann-benchmarks": ({"neighbors": INDICES, "distances": D}, "distance", ROWS),
    "hnswlib": (
        {"labels": INDICES.astype(np.uint64)[:1], "distances": D[:1]},
        "distance",
        ROWS[:3],
    ),
    "similarities": (
        {"scores": -D, "indices": INDICES},
        "score",
        [(query, item, -value) for query, item, value in ROWS],
    ),
    "ids": (
        {"distances": D, "indices": INDICES, "query_ids": QUERY_IDS, "doc_ids": ITEM_IDS},
        "distance",
        NAMED,
    ),
    "a matrix": (
        {"distances": D, "item_ids": ITEM_IDS},
        "distance",
        [(row, item, D[row, column]) for row in (0, 1) for column, item in enumerate("abc")],
    ),
    "columns": (
        {"qid": QUERY_IDS, "docno": ITEM_IDS[:2], "dist": np.array([1, 2])},
        "distance",
        [("q1", "a", 1), ("q2", "b", 2)],
    ),
}


def rows(frame: pl.DataFrame, order: str) -> list[tuple[Any, ...]]:
    if frame.schema[order] == pl.Float32:
        frame = frame.with_columns(pl.col(order).cast(pl.Float64).round(6))
    return frame.select("query", "item", order).rows()


@pytest.mark.parametrize("name", ARCHIVES)
@pytest.mark.parametrize("form", ["file", "loaded", "model"])
def test_named_arrays_are_rankings(tmp_path: Path, name: str, form: str):
    arrays, order, expected = ARCHIVES[name]
    path = tmp_path / "lsh-16.npz"
    np.savez_compressed(path, **arrays)
    with np.load(path) as loaded:
        given = {"file": path, "loaded": loaded, "model": {"lsh-16": loaded}}[form]
        frame = rr.read_rankings(given)
    assert rows(frame, order) == [(*ids, pytest.approx(value)) for *ids, value in expected]
    assert frame["model"].unique().to_list() == ["model" if form == "loaded" else "lsh-16"]
    if name != "columns":
        assert frame.schema[order] == pl.Float32


def test_relevance_and_the_model_may_be_arrays_too(tmp_path: Path):
    grades = np.array([[1, 0, 0], [0, 2, 7]])
    np.savez(tmp_path / "a.npz", distances=D, indices=INDICES, relevance=grades, model="bits")
    frame = rr.read_rankings(tmp_path / "a.npz")
    assert frame["relevance"].to_list() == [1, 0, 0, 0, 2]
    assert frame["model"].to_list() == ["bits"] * 5


def test_judgements_may_be_arrays(tmp_path: Path):
    np.savez(tmp_path / "j.npz", query=[0, 1], item=[2, 0], relevance=[1, 2])
    frame = rr.read_judgements(tmp_path / "j.npz")
    assert frame.rows() == [(0, 2, 1), (1, 0, 2)]


def test_a_dictionary_of_a_vector_store_is_rankings():
    found = {
        "ids": [["a", "b"], ["c"]],
        "distances": [[0.1, 0.2], [0.3]],
        "documents": None,
        "metadatas": [[{}, {}], [{}]],
        "included": ["distances"],
    }
    frame = rr.read_rankings({"store": found})
    expected = [("store", 0, "a", 0.1), ("store", 0, "b", 0.2), ("store", 1, "c", 0.3)]
    assert frame.drop("row").rows() == expected


@pytest.mark.parametrize(
    ("arrays", "error", "message"),
    [
        (
            {"D": D, "I": INDICES[:1]},
            DataError,
            r"distances have shape \(2, 3\), the indices \(1, 3\)",
        ),
        (
            {"D": -D, "I": INDICES},
            DataError,
            "not distances but similarities; name the array scores, or",
        ),
        (
            {"D": D, "I": INDICES, "query_ids": ITEM_IDS},
            DataError,
            r"query has shape \(3,\), where the",
        ),
        (
            {"D": D, "I": INDICES, "item_ids": QUERY_IDS},
            DataError,
            "index 2 where item_ids has 2 ids",
        ),
        ({"embeddings": D}, ColumnError, "A search has arrays 'distances' or 'scores' with"),
        ({"D": np.array([[None]])}, FileError, "holds Python objects, which are not read"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(
    tmp_path: Path, arrays: dict[str, Any], error: type[Exception], message: str
):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(error, match=rf"a\.npz: .*{message}"):
        rr.read_rankings(tmp_path / "a.npz")


def test_row_094_archives_of_rankings_have_the_bound_of_gzip(tmp_path: Path):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, D=np.zeros((1000, 1000)), I=np.zeros((1000, 1000), int))
    with pytest.raises(FileError, match="unpacks to 16000256 bytes, more than 1000000; if that is"):
        rr.read_rankings(path, max_bytes=10**6)


def test_columns_that_are_ranks_are_not_the_same_items_for_every_query():
    """As the lookups of TF Similarity with their match_mask; a matrix by item keeps its items."""
    generator = np.random.default_rng(0)
    distances = np.sort(generator.random((40, 30)), axis=1)
    matches = generator.random((40, 30)) < np.linspace(0.9, 0.1, 30)
    by_rank = rr.from_search({"model": distances}, relevance=matches)
    assert by_rank.rankings["item"].n_unique() == distances.size
    assert rr.Study(by_rank, "precision@10").health.is_empty()
    turned = rr.from_search({"model": -distances}, relevance=matches, scores=True)
    assert turned.rankings["item"].equals(by_rank.rankings["item"])
    with pytest.raises(ParameterError, match="columns of model 'model' are ranks"):
        rr.from_search({"model": distances}, relevance=matches, exclude_self=True)
    flat = {"relevance": matches.ravel(), "indexes": np.repeat(range(40), 30)}
    with pytest.raises(ParameterError, match="flat results do not say"):
        rr.from_search({"model": distances.ravel()}, **flat, exclude_self=True)
    names = [f"item {number}" for number in range(30)]
    named = rr.from_search({"model": distances}, relevance=matches, item_ids=names)
    assert named.rankings["item"].head(30).to_list() == names
    popular = np.tile(distances[:1], (40, 1))
    unsorted = generator.permuted(distances, axis=1)
    for matrix in (popular, unsorted, distances[:, :1]):
        by_item = rr.from_search({"model": matrix}, relevance=matches[:, : matrix.shape[1]])
        assert by_item.rankings["item"].n_unique() == matrix.shape[1]


def test_rows_of_unequal_length_are_a_result_of_a_model():
    ragged = [[1.0, 2.0], [3.0]]
    assert rr.read_rankings({"mine": [[1, 2], [3]]}).height == 3
    assert rr.read_rankings({"mine": (ragged, [[4, 5], [4]])})["item"].to_list() == [4, 5, 4]
