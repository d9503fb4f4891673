"""From whatever a search returned to the answer in three lines: the same data in every form give
the same study.
"""

import re
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr

QUERIES, ITEMS = ["q1", "q2", "q3"], list("abcdef")
DISTANCES = {  # whole numbers with ties, of every query to every item
    "coarse": np.array([[1, 1, 2, 2, 3, 3], [2, 2, 2, 1, 1, 1], [0, 1, 1, 1, 4, 4]]),
    "fine": np.array([[1, 2, 3, 4, 5, 6], [6, 2, 5, 1, 4, 3], [3, 1, 2, 2, 5, 6]]),
}
RELEVANCE = np.array([[1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 1], [0, 0, 1, 0, 0, 0]])
MEASURES = "ap, ndcg@3, rr@2"
RUNS = {
    model: {
        query: dict(zip(ITEMS, (0.0 - row).tolist(), strict=True))
        for query, row in zip(QUERIES, rows, strict=True)
    }
    for model, rows in DISTANCES.items()
}
QRELS = {
    query: dict(zip(ITEMS, row.tolist(), strict=True))
    for query, row in zip(QUERIES, RELEVANCE, strict=True)
}
LONG = pl.DataFrame(
    [
        {"model": model, "query": query, "item": item, "distance": int(distances[row, column])}
        for model, distances in DISTANCES.items()
        for row, query in enumerate(QUERIES)
        for column, item in enumerate(ITEMS)
    ]
)


def nearest() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """(distances, indices), as FAISS, usearch, hnswlib and scikit-learn's neighbours return
    them.
    """
    order = {
        model: np.argsort(distances, axis=1, kind="stable")
        for model, distances in DISTANCES.items()
    }
    return {
        model: (np.take_along_axis(distances, order[model], 1).astype(np.float32), order[model])
        for model, distances in DISTANCES.items()
    }


FORMS: dict[str, Callable[[], object]] = {
    "polars": lambda: LONG,
    "pandas": LONG.to_pandas,
    "by model": lambda: {model[0]: part.drop("model") for model, part in LONG.group_by("model")},
    "other names": lambda: LONG.rename({"query": "qid", "item": "docno", "distance": "dist"}),
    "distances and indices": lambda: rr.from_search(nearest(), relevance=RELEVANCE),
    "distances beside scores": lambda: {
        "coarse": LONG.filter(model="coarse").drop("model"),
        "fine": RUNS["fine"],
    },
}


def wanted() -> pl.DataFrame:
    return rr.Study(LONG, MEASURES, judgements=QRELS).table()


@pytest.mark.parametrize("form", FORMS)
def test_three_lines_from_any_form_give_the_same_table(form: str):
    judgements = None if form == "distances and indices" else QRELS
    study = rr.Study(FORMS[form](), MEASURES, judgements=judgements)
    assert_frame_equal(study.table(), wanted())
    assert study.verdict
    assert "<table " in study._repr_html_()


def test_columns_are_named_where_a_study_reads():
    odd = LONG.rename({"distance": "far"})
    study = rr.Study(odd, MEASURES, judgements=QRELS, columns={"distance": "far"})
    assert_frame_equal(study.table(), wanted())


def test_a_study_of_no_rows_is_refused_at_once(tmp_path: Path):
    frame = pl.DataFrame({"query": ["q"], "item": ["a"], "distance": [1], "relevance": [1]})
    for nothing in (frame.clear(), {"model": frame.clear()}):
        with pytest.raises(rr.RetrievalReportError, match="no rows"):
            rr.Study(nothing, "rr@2")
    frame.clear().write_parquet(path := tmp_path / "lists.parquet")
    for paths in (path, [str(path)]):
        with pytest.raises(rr.DataError, match=re.escape(f"{path}: no rows")):
            rr.Study(paths, "rr@2")
    labels = {"query": ["q"], "label": ["cat"]}
    study = rr.Study(frame, "rr@2", queries=labels)
    with pytest.raises(rr.RetrievalReportError, match="where: no query has label='dog'"):
        study.where(label="dog")
    with pytest.raises(rr.ParameterError, match="where: a function is not a value of the column"):
        study.where(label=lambda label: label == "cat")


def test_queries_are_chosen_whether_ids_are_text_or_numbers():
    """As where rankings are Parquet, and the tables of queries and judgements are CSV."""
    lists = pl.DataFrame({"query": [7, 7, 8, 8], "item": [1, 2, 1, 2], "distance": [1, 1, 2, 1]})
    qrels = pl.DataFrame({"query": [7, 8], "item": [1, 2], "relevance": 1})
    labels = pl.DataFrame({"query": [7, 8], "label": ["cat", "dog"]})
    for of_lists, of_tables in product((pl.Int64, pl.String), repeat=2):
        judges = {name: qrels.cast({"query": of_tables}) for name in ("human", "model")}
        study = rr.Study(
            lists.cast({"query": of_lists}),
            "rr@2",
            judgements=judges,
            queries=labels.cast({"query": of_tables}),
        )
        part = study.where(label="dog")
        assert [*map(str, part.scores["query"].unique())] == ["8"]
        assert [*map(str, part.judged.retrieved["query"].unique())] == ["8"]
        assert part.judges["value"].count() == 2
