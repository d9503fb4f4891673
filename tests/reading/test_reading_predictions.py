"""Predictions as MTEB, BEIR and sentence-transformers save them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from retrieval_report import (
    ColumnError,
    FileError,
    read_judgements,
    read_rankings,
)
from retrieval_report.reading.files import column_names
from retrieval_report.reading.sources import open_source

RUN: dict[str, dict[str, float]] = {"q1": {"d1": 0.5, "d2": 0.25}, "q2": {"07": 3}}
ROWS = [("q1", "d1", 0.5), ("q1", "d2", 0.25), ("q2", "07", 3.0)]


def saved(path: Path, held: Any, **options: Any) -> Path:
    path.write_text(json.dumps(held, **options))
    return path


@pytest.mark.parametrize("options", [{}, {"indent": 2}])
def test_a_run_in_one_object(tmp_path: Path, options: dict[str, Any]) -> None:
    found = read_rankings(saved(tmp_path / "bge.json", RUN, **options))
    assert found.select("query", "item", "score").rows() == ROWS
    assert found["model"].unique().to_list() == ["bge"]
    qrels = read_judgements(saved(tmp_path / "qrels.json", {"q1": {"d1": 1, "d2": 0}}, **options))
    assert qrels.rows() == [("q1", "d1", 1), ("q1", "d2", 0)]
    assert column_names(open_source(tmp_path / "bge.json")) == ["query", "item", "score"]


def test_predictions_of_mteb_carry_their_model(tmp_path: Path) -> None:
    meta = {"mteb_model_meta": {"model_name": "intfloat/e5", "revision": "1"}}
    path = saved(tmp_path / "NFCorpus_predictions.json", {**meta, "default": {"test": RUN}})
    assert read_rankings(path).select("model", "query", "item", "score").rows() == [
        ("intfloat/e5", *row) for row in ROWS
    ]
    assert read_rankings(path, model="e5", columns={"distance": "score"})["distance"].to_list() == [
        0.5,
        0.25,
        3.0,
    ]
    saved(path, {**meta, "default": {"test": RUN, "dev": RUN}})
    with pytest.raises(
        FileError, match=r"2 subsets and splits \(default/test, default/dev\); keep one in a file"
    ):
        read_rankings(path)


def test_predictions_of_sentence_transformers(tmp_path: Path) -> None:
    lines = [
        {
            "query_id": query,
            "query": "what is this?",
            "results": [{"corpus_id": d, "score": s} for d, s in items.items()],
        }
        for query, items in {**RUN, "q3": {}}.items()
    ]
    path = tmp_path / "Information-Retrieval_evaluation_predictions_cosine.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_rankings(path).select("query", "item", "score").rows() == ROWS
    path.write_text('{"query_id": 1, "results": [{"item": "d1"}]}\n')
    with pytest.raises(ColumnError, match=r"the rankings lack distance\|score"):
        read_rankings(path)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ('{"q": {"a": 1, "a": 2}}', FileError, "'a' occurs twice in one object"),
        ('{"q": {"a": 1}', FileError, "m.json: not JSON"),
        ('{"q": {"a": "near"}}', ColumnError, "query 'q', item 'a': 'near' is text, not a number"),
        (
            '{"mteb_model_meta": {}, "default": {"test": {"q": [1.5]}}}',
            FileError,
            "JSON, but neither",
        ),
        ('{"mteb_model_meta": {}, "default": 3}', FileError, "predictions of 0 subsets and splits"),
        ('{"q": ' + '{"a": ' * 100_000, FileError, "not JSON"),
    ],
)
def test_other_shapes_are_named(
    tmp_path: Path, text: str, error: type[Exception], message: str
) -> None:
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(error, match=message):
        read_rankings(tmp_path / "m.json")
