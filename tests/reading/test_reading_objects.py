"""Runs and judgements as other libraries hold them in memory: dictionaries, objects, iterables,
models of them.
"""

from collections import namedtuple
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from retrieval_report import (
    ColumnError,
    DataError,
    evaluate,
    read_judgements,
    read_queries,
    read_rankings,
)
from retrieval_report.reading.readers import read_costs

RUN = {"q1": {"d1": 0.5, "d2": 0.5, "d3": 0.25}, "q2": {"d9": 7.0, "d1": -1.0}, "q3": {}}
QRELS = {"q1": {"d2": 2, "d3": 1}, "q2": {"d1": 1, "d9": 0}}
ROWS = [(query, item, score) for query, items in RUN.items() for item, score in items.items()]
FRAME = pl.DataFrame(ROWS, schema=["query", "item", "score"], orient="row")
JUDGED = pl.DataFrame(
    [(query, item, grade) for query, items in QRELS.items() for item, grade in items.items()],
    schema=["query", "item", "relevance"],
    orient="row",
)
ASKED: Any = {"metrics": "ap, ndcg@2, rr", "policies": ("expected", "naive", "best")}
WANTED = evaluate(FRAME, judgements=JUDGED, **ASKED)


def test_dictionaries_of_pytrec_eval():
    assert_frame_equal(evaluate(RUN, judgements=QRELS, **ASKED), WANTED)
    assert read_rankings(RUN).rows() == [("model", *row, index) for index, row in enumerate(ROWS)]
    assert_frame_equal(read_judgements(QRELS), JUDGED)
    pytrec_eval = pytest.importorskip("pytrec_eval")
    run: dict[str, dict[str, float]] = {
        "q1": {"a": 3.0, "b": 2.5, "c": 1.0},
        "q2": {"b": 1.0, "a": 0.5},
    }
    qrels = {"q1": {"b": 2, "c": 1, "z": 1}, "q2": {"a": 1}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg"}).evaluate(run)
    ours = evaluate(
        run,
        judgements=qrels,
        metrics="ap, ndcg",
        cutoffs="all",
        policies="expected",
        truncated="no",
    )
    for query, metric, value in ours.select("query", "metric", "value").iter_rows():
        assert value == pytest.approx(theirs[query]["map" if metric == "ap" else "ndcg"], rel=1e-12)


class Run:
    """The shape of a run of ranx."""

    def __init__(self, run: Any, name: str | None = None):
        self.run, self.name = run, name

    def __len__(self) -> int:
        return len(self.run)


def test_the_shape_of_a_run_is_enough():
    assert read_rankings(Run(RUN, "lsh"))["model"].unique().to_list() == ["lsh"]
    assert read_rankings(Run(RUN))["model"].unique().to_list() == ["model"]
    assert read_rankings(Run(RUN, "lsh"), model="mine")["model"].unique().to_list() == ["mine"]
    assert_frame_equal(evaluate([Run(RUN, "model")], judgements=QRELS, **ASKED), WANTED)


def test_iterables_of_ir_measures():
    ir_measures = pytest.importorskip("ir_measures")
    run = [ir_measures.ScoredDoc(*row) for row in ROWS]
    qrels = [ir_measures.Qrel(*row) for row in JUDGED.iter_rows()]
    assert_frame_equal(evaluate(run, judgements=qrels, **ASKED), WANTED)
    assert_frame_equal(evaluate(iter(run), judgements=iter(qrels), **ASKED), WANTED)
    assert_frame_equal(evaluate({"model": tuple(run)}, judgements=qrels, **ASKED), WANTED)
    frame = FRAME.rename({"query": "query_id", "item": "doc_id"}).to_pandas()  # its data frames
    assert_frame_equal(evaluate(frame, judgements=qrels, **ASKED), WANTED)


def test_records_of_other_names_and_columns():
    record = namedtuple("record", ["topic", "docno", "sim", "note"])
    rows = [record(*row, None) for row in ROWS]
    assert_frame_equal(evaluate(rows, judgements=QRELS, **ASKED), WANTED)
    odd = namedtuple("odd", ["a", "b", "c"])
    with pytest.raises(ColumnError, match=r"holds no named tuples of one kind"):
        read_rankings([*rows, odd(1, 2, 3)])
    with pytest.raises(
        ColumnError, match=r"not a frame and holds no named tuples of one kind \(first 5\)"
    ):
        read_rankings(iter([5]))
    named = read_rankings(
        [odd(*row) for row in ROWS], columns={"query": "a", "item": "b", "distance": "c"}
    )
    assert named["distance"].to_list() == FRAME["score"].to_list()


def test_columns_choose_in_whatever_is_given():
    frame = FRAME.rename({"query": "Q", "score": "value"}).with_columns(score=0)
    for given in (
        frame,
        frame.to_dict(as_series=False),
        {"m": frame},
    ):
        found = read_rankings(given, columns={"query": "Q", "score": "value"})
        assert_frame_equal(found.select("query", "item", "score"), FRAME)
    assert "distance" in read_rankings(RUN, columns={"distance": "score"}).columns
    both = FRAME.with_columns(distance=1)
    assert "distance" not in read_rankings(both, columns={"score": "score"}).columns
    with pytest.raises(ColumnError, match=r"columns=\{'query': 'nothing'\}, but its columns are"):
        read_rankings(FRAME, columns={"query": "nothing"})
    assert read_queries({"qid": ["q1"], "label": ["x"], "more": [1]}).rows() == [("q1", "x", 1)]


def test_names_of_other_tools_in_frames_of_all_functions():
    frame = FRAME.rename({"query": "qid", "item": "docno"})
    judged = JUDGED.rename(
        {"query": "query-id", "item": "corpus-id", "relevance": "score"}
    )  # BEIR's qrels
    for rankings in (frame, frame.lazy(), frame.to_pandas()):
        assert_frame_equal(evaluate(rankings, judgements=judged, **ASKED), WANTED)
    labelled = FRAME.with_columns(label=pl.lit("a class"))  # words are no relevance
    assert_frame_equal(evaluate(labelled, judgements=QRELS, **ASKED), WANTED)


def test_a_dictionary_of_models_takes_anything(tmp_path: Path):
    FRAME.write_parquet(tmp_path / "x.parquet")
    (tmp_path / "a.run").write_text("".join(f"{q} Q0 {i} 1 {s} tag\n" for q, i, s in ROWS))
    models = {
        "dict": RUN,
        "frame": FRAME,
        "pandas": FRAME.rename({"query": "qid"}).to_pandas(),
        "run": Run(RUN, "other"),
        "parquet": tmp_path / "x.parquet",
        "trec": str(tmp_path / "a.run"),
    }
    found = evaluate(models, judgements=QRELS, **ASKED)
    for model in models:
        assert_frame_equal(found.filter(model=model).drop("model"), WANTED.drop("model"))
    assert read_rankings(models)["row"].to_list() == list(range(30))
    with pytest.raises(ColumnError, match="5 is not the name of a model"):
        read_rankings({5: FRAME})
    both = read_rankings({"a": FRAME, "b": FRAME.rename({"score": "distance"})})
    assert both["distance"].to_list() == [*(0.0 - FRAME["score"]), *FRAME["score"]]
    near = np.array([[0.5, 0.75]]), np.array([[4, 2]])
    assert read_rankings({"faiss": near}).rows() == [
        ("faiss", 0, 4, 0.5, 0),
        ("faiss", 0, 2, 0.75, 1),
    ]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"q": {"a": 1.0, 7: 2.0}}, "column 'item' cannot be used"),
        ({"q": {"a": 1.0}, "r": {"b": "2"}}, "query 'r', item 'b': '2' is text, not a number"),
        ({"q": {"a": 2**200}}, "column 'score' cannot be used"),
        ({"q": {"\ud800": 1}}, "half a surrogate pair"),
    ],
)
def test_dictionaries_that_are_no_runs(given: Any, message: str):
    with pytest.raises((ColumnError, DataError), match=message):
        read_rankings(given)


def test_values_of_dictionaries_keep_their_kind():
    values = read_rankings({"q": {"a": np.float32(0.1), "b": np.int64(3), "c": 2}})["score"]
    assert values.to_list() == [float(np.float32(0.1)), 3.0, 2.0]
    assert read_rankings({1: {7: 3}}).schema["item"] == pl.Int64
    missing = read_rankings({"q": {"a": None, "b": 0.5}})
    assert missing["score"].to_list() == [None, 0.5]


def test_costs_are_a_model_and_numbers(tmp_path: Path):
    file = tmp_path / "costs.csv"
    file.write_text("system,bytes,ms\na,96,1.5\nb,12,NA\n")
    assert read_costs(str(file)).rows() == [("a", 96.0, 1.5), ("b", 12.0, None)]
    file.write_text("system,bytes\na,cheap\n")
    with pytest.raises(
        DataError, match=r"costs\.csv, line 2: column 'bytes': 'cheap' is not a number"
    ):
        read_costs(str(file))
    for text, message in (
        ("model\na\n", r"costs\.csv: no column of numbers"),
        ("model,bytes,ms\na,1,\na,2,\n", r"costs\.csv: 1 row repeats another's model"),
        ("model,bytes,ms\na,1,2\nb,1,-2\n", r"costs\.csv: column 'ms': 1 negative .* of model 'b'"),
        ("model,bytes\na,inf\n", r"costs\.csv: column 'bytes': 1 negative or not a finite number"),
    ):
        file.write_text(text)
        with pytest.raises((ColumnError, DataError), match=message):
            read_costs(str(file))
