"""Dictionaries of ids, and the JSON that evaluators of RAG and search engines write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrieval_report as rr
from retrieval_report.contracts.errors import ColumnError, RetrievalReportWarning

LIST = [{"docid": "a", "score": 0.5, "doc": {"x": 1}}, {"docid": "b", "score": 0.25, "doc": {}}]
CONTEXTS = [
    {"id": "a", "title": "", "text": "", "score": "81.5", "has_answer": False},
    {"id": "b", "title": "", "text": "", "score": "81.25", "has_answer": True},
]
HITS = {"total": {"value": 2}, "hits": [{"_id": "a", "_score": 2.0}, {"_id": "b", "_score": 1.5}]}
RATED = [{"hit": hit, "rating": grade} for hit, grade in zip(HITS["hits"], (3, None), strict=True)]
ROWS = [{"query": "q", "item": "a", "score": 2}, {"query": "q", "item": "b", "score": 1}]
NODES = [
    {"node": {"id_": "a", "text": "…", "class_name": "TextNode"}, "score": 0.5},
    {"node": {"id_": "b", "text": "…", "class_name": "TextNode"}, "score": 0.25},
]
PAIRS = {"expected_ids": ["b"], "retrieved_ids": ["a", "b"], "mode": "text"}

RANKED: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "ids of a query": ({"q": ["a", "b"]}, [("q", "a", 2), ("q", "b", 1)]),
    "rows": (ROWS, [("q", "a", 2), ("q", "b", 1)]),
    "RankLLM": (
        [{"query": {"text": "?", "qid": 7}, "candidates": LIST}],
        [("7", "a", 0.5), ("7", "b", 0.25)],
    ),
    "DPR": (
        [{"question": "who", "answers": ["x"], "ctxs": CONTEXTS}],
        [("who", "a", 81.5), ("who", "b", 81.25)],
    ),
    "Rankify": (
        [{"question": "who?", "answers": [], "contexts": [{"score": 1.0, "id": 5}]}],
        [("who?", "5", 1.0)],
    ),
    "LlamaIndex": ([{"query": "who", **PAIRS}], [("who", "a", 2), ("who", "b", 1)]),
    "LlamaIndex, nodes": ({"q": NODES}, [("q", "a", 0.5), ("q", "b", 0.25)]),
    "LlamaIndex, response": (
        [{"query": "who", "response": "me", "source_nodes": NODES}],
        [("who", "a", 0.5), ("who", "b", 0.25)],
    ),
    "sentence-transformers, semantic_search": (
        [[{"corpus_id": 5, "score": 0.5}], [{"corpus_id": 7, "score": 0.25}]],
        [("0", "5", 0.5), ("1", "7", 0.25)],
    ),
    "hits of a query": ({"q": LIST}, [("q", "a", 0.5), ("q", "b", 0.25)]),
    "pairs of a query": ({"q": [["a", 0.5], ["b", 0.25]]}, [("q", "a", 0.5), ("q", "b", 0.25)]),
    "Solr": (
        {"responseHeader": {}, "response": {"numFound": 2, "docs": LIST}},
        [("0", "a", 0.5), ("0", "b", 0.25)],
    ),
    "Qdrant": ([{"query": "q", "points": [{"id": 3, "score": 0.5}]}], [("q", "3", 0.5)]),
    "Pinecone": ({"matches": [{"id": "a", "score": 0.5}], "namespace": ""}, [("0", "a", 0.5)]),
    "pandas, by columns": (
        {name: {"0": ROWS[0][name], "1": ROWS[1][name]} for name in ROWS[0]},
        [("q", "a", 2), ("q", "b", 1)],
    ),
    "pandas, by rows": ({"0": ROWS[0], "1": ROWS[1]}, [("q", "a", 2), ("q", "b", 1)]),
    "pandas, split": (
        {"columns": list(ROWS[0]), "index": [0, 1], "data": [list(row.values()) for row in ROWS]},
        [("q", "a", 2), ("q", "b", 1)],
    ),
    "pandas, table": ({"schema": {"fields": []}, "data": ROWS}, [("q", "a", 2), ("q", "b", 1)]),
    "Elasticsearch": ({"took": 3, "hits": HITS}, [("0", "a", 2.0), ("0", "b", 1.5)]),
    "Elasticsearch, by query": (
        {"q": {"took": 3, "hits": HITS}},
        [("q", "a", 2.0), ("q", "b", 1.5)],
    ),
    "Elasticsearch, many": (
        {"took": 3, "responses": [{"hits": HITS}, {"hits": {"hits": []}}]},
        [("0", "a", 2.0), ("0", "b", 1.5)],
    ),
    "Elasticsearch, rated": (
        {"metric_score": 0.4, "details": {"q": {"metric_score": 0.6, "hits": RATED}}},
        [("q", "a", 2.0), ("q", "b", 1.5)],
    ),
    "Elasticsearch, rated, as its manual prints it": (
        {"rank_eval": {"metric_score": 0.4, "details": {"q": {"hits": RATED}}, "failures": {}}},
        [("q", "a", 2.0), ("q", "b", 1.5)],
    ),
}
JUDGED: dict[str, tuple[Any, list[tuple[Any, ...]]]] = {
    "the id of a query": ({"q": "a", "r": "b"}, [("q", "a", 1), ("r", "b", 1)]),
    "ids of a query": ({"q": ["a", "b"]}, [("q", "a", 1), ("q", "b", 1)]),
    "rows": ([{"qid": "q", "docid": "a", "rel": 2}], [("q", "a", 2)]),
    "LlamaIndex": ([{"query": "who", **PAIRS}], [("who", "b", 1)]),
    "LlamaIndex, data set": (
        {
            "queries": {"q": "?"},
            "corpus": {"a": "."},
            "relevant_docs": {"q": ["a"]},
            "mode": "text",
        },
        [("q", "a", 1)],
    ),
    "DPR": (
        [{"question": "who", "answers": ["x"], "ctxs": CONTEXTS}],
        [("who", "a", 0), ("who", "b", 1)],
    ),
    "DPR, training": (
        [
            {
                "question": "who",
                "positive_ctxs": [{"psg_id": "1"}],
                "hard_negative_ctxs": [{"psg_id": "2"}],
            }
        ],
        [("who", "1", 1), ("who", "2", 0)],
    ),
    "Elasticsearch": (
        {"requests": [{"id": "q", "request": {}, "ratings": [{"_id": "a", "rating": 3}]}]},
        [("q", "a", 3)],
    ),
    "Elasticsearch, answers": ({"details": {"q": {"hits": RATED}}}, [("q", "a", 3)]),
    "pandas, by columns": (
        {"qid": {"0": "q"}, "docid": {"0": "a"}, "rel": {"0": 2}},
        [("q", "a", 2)],
    ),
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("form", RANKED)
def test_rankings(form: str, indent: int | None, tmp_path: Path) -> None:
    given, rows = RANKED[form]
    (tmp_path / "run.json").write_text(json.dumps(given, indent=indent))
    found = rr.read_rankings(tmp_path / "run.json")
    assert found.select("query", "item", "score").rows() == rows
    assert found["model"].unique().to_list() == ["run"]
    memory = rr.read_rankings(given).select("query", "item", "score").rows()
    assert [tuple(map(str, row)) for row in memory] == [tuple(map(str, row)) for row in rows]
    assert rr.read_rankings({"m": given}).height == len(rows)


@pytest.mark.parametrize("form", JUDGED)
def test_judgements(form: str, tmp_path: Path) -> None:
    given, rows = JUDGED[form]
    (tmp_path / "qrels.json").write_text(json.dumps(given))
    for source in (tmp_path / "qrels.json", given):
        assert rr.read_judgements(source).rows() == rows


def test_records_one_per_line(tmp_path: Path) -> None:
    records = [{"query": {"qid": number}, "candidates": LIST} for number in (1, 2)]
    file = tmp_path / "run.jsonl"
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    assert rr.read_rankings(file)["query"].to_list() == ["1", "1", "2", "2"]


def test_grades_that_come_with_the_hits_are_the_relevance(tmp_path: Path) -> None:
    given = [{"question": "who", "ctxs": CONTEXTS}]
    scores = rr.evaluate(given, measures="rr@2", policies="expected", truncated="no")
    assert scores["value"].to_list() == [0.5]


def test_sets_have_no_order_and_so_tie() -> None:
    scores = rr.evaluate(
        {"m": {"q": {"a", "b"}}}, judgements={"q": {"a"}}, measures="rr@2", truncated="no"
    )
    assert scores.filter(policy="expected")["value"].to_list() == [0.75]


@pytest.mark.parametrize("given", [{"q": {"a": "0.5"}}, {"m": {"q": {"a": "0.5"}}}])
def test_scores_that_are_text_are_no_paths(given: Any, tmp_path: Path) -> None:
    with pytest.raises(ColumnError, match=r"query 'q', item 'a': '0\.5' is text, not a number"):
        rr.read_rankings(given)
    (tmp_path / "run.json").write_text(json.dumps({"q": {"a": "0.5"}}))
    with pytest.raises(ColumnError, match=r"run\.json: query 'q', item 'a': '0\.5' is text"):
        rr.read_rankings(tmp_path / "run.json")


def test_judgements_are_not_taken_for_rankings(tmp_path: Path) -> None:
    (tmp_path / "qa.json").write_text(json.dumps(JUDGED["LlamaIndex, data set"][0]))
    with pytest.raises(ColumnError, match="these are judgements"):
        rr.read_rankings(tmp_path / "qa.json")


def test_a_reranker_that_keeps_the_old_scores_is_noticed() -> None:
    turned = [{"query": "q", "candidates": LIST[::-1]}]
    with pytest.warns(RetrievalReportWarning, match="1 of 1 list not in the order"):
        assert rr.read_rankings(turned)["item"].to_list() == ["b", "a"]


def test_a_search_that_failed_is_refused_and_a_part_of_one_is_warned_of() -> None:
    failed = {"responses": [{"hits": HITS}, {"error": {"type": "index_not_found"}, "status": 404}]}
    with pytest.raises(ColumnError, match=r"entry 1 is an error: .*index_not_found"):
        rr.read_rankings(failed)
    for sign in ({"timed_out": True}, {"_shards": {"total": 2, "successful": 1, "failed": 1}}):
        with pytest.warns(RetrievalReportWarning, match="only a part of the index was searched"):
            rr.read_rankings({"took": 1, **sign, "hits": HITS})
    rr.read_rankings({"timed_out": False, "_shards": {"total": 2, "failed": 0}, "hits": HITS})


@pytest.mark.parametrize("wrap", [list, tuple, np.array])
def test_arrays_and_lists_of_ids_without_names_are_lists_of_queries(wrap: Any) -> None:
    named = rr.evaluate(
        {"q": wrap(["a", "b"])},
        judgements={"q": wrap(["b"])},
        measures="rr",
        policies="expected",
        truncated="no",
    )
    assert named["value"].to_list() == [0.5]
    given: Any = [["a", "b"], ["c"]]
    found = rr.evaluate(
        given, judgements=[["b"], ["c"]], measures="rr", policies="expected", truncated="no"
    )
    assert found.select("query", "value").rows() == [(0, 0.5), (1, 1.0)]


def test_the_one_relevant_item_of_a_query_and_the_files_of_judges_are_told_apart(
    tmp_path: Path,
) -> None:
    study = rr.Study(
        {"m": {"q": {"a": 2.0, "b": 1.0}}}, "rr", judgements={"q": "b"}, truncated="no"
    )
    assert (study.judge, study.table()["rr@all"].to_list()) == (None, [0.5])
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    judged = rr.Study(
        {"m": {"q": {"a": 2.0, "b": 1.0}}}, "rr", judgements={"q": str(tmp_path / "qrels")}
    )
    assert judged.judge == "q"
