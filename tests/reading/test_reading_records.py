"""Dictionaries of ids, and the JSON that evaluators of RAG and search engines write."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import retrieval_report as rr
from retrieval_report.contracts.errors import ColumnError, RetrievalReportWarning

# What each of the tools writes, and the rows of it.
RECORDS = json.loads((Path(__file__).parents[1] / "data/records.json").read_text(encoding="utf-8"))
RANKED, JUDGED = RECORDS["rankings"], RECORDS["judgements"]
LIST = RANKED["hits of a query"]["given"]["q"]
HITS = RANKED["Elasticsearch"]["given"]["hits"]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("form", RANKED)
def test_rankings(form: str, indent: int | None, tmp_path: Path):
    given, rows = RANKED[form].values()
    (tmp_path / "run.json").write_text(json.dumps(given, indent=indent))
    found = rr.read_rankings(tmp_path / "run.json")
    assert [*map(list, found.select("query", "item", "score").rows())] == rows
    assert found["model"].unique().to_list() == ["run"]
    memory = rr.read_rankings(given).select("query", "item", "score").rows()
    assert [[*map(str, row)] for row in memory] == [[*map(str, row)] for row in rows]
    assert rr.read_rankings({"m": given}).height == len(rows)


@pytest.mark.parametrize("form", JUDGED)
def test_judgements(form: str, tmp_path: Path):
    given, rows = JUDGED[form].values()
    (tmp_path / "qrels.json").write_text(json.dumps(given))
    for source in (tmp_path / "qrels.json", given):
        assert [*map(list, rr.read_judgements(source).rows())] == rows


def test_records_one_per_line(tmp_path: Path):
    records = [{"query": {"qid": number}, "candidates": LIST} for number in (1, 2)]
    file = tmp_path / "run.jsonl"
    file.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    assert rr.read_rankings(file)["query"].to_list() == ["1", "1", "2", "2"]


def test_grades_that_come_with_the_hits_are_the_relevance():
    given = RANKED["DPR"]["given"]
    scores = rr.evaluate(given, measures="rr@2", policies="expected", truncated="no")
    assert scores["value"].to_list() == [0.5]


def test_sets_have_no_order_and_so_tie():
    scores = rr.evaluate(
        {"m": {"q": {"a", "b"}}}, judgements={"q": {"a"}}, measures="rr@2", truncated="no"
    )
    assert scores.filter(policy="expected")["value"].to_list() == [0.75]


@pytest.mark.parametrize("given", [{"q": {"a": "0.5"}}, {"m": {"q": {"a": "0.5"}}}])
def test_scores_that_are_text_are_no_paths(given: Any, tmp_path: Path):
    with pytest.raises(ColumnError, match=r"query 'q', item 'a': '0\.5' is text, not a number"):
        rr.read_rankings(given)
    (tmp_path / "run.json").write_text(json.dumps({"q": {"a": "0.5"}}))
    with pytest.raises(ColumnError, match=r"run\.json: query 'q', item 'a': '0\.5' is text"):
        rr.read_rankings(tmp_path / "run.json")


def test_a_reranker_that_keeps_the_old_scores_is_noticed():
    turned = [{"query": "q", "candidates": LIST[::-1]}]
    with pytest.warns(RetrievalReportWarning, match="1 of 1 list not in the order"):
        assert rr.read_rankings(turned)["item"].to_list() == ["b", "a"]


def test_a_search_that_failed_is_refused_and_a_part_of_one_is_warned_of():
    failed = {"responses": [{"hits": HITS}, {"error": {"type": "index_not_found"}, "status": 404}]}
    with pytest.raises(ColumnError, match=r"entry 1 is an error: .*index_not_found"):
        rr.read_rankings(failed)
    for sign in ({"timed_out": True}, {"_shards": {"total": 2, "successful": 1, "failed": 1}}):
        with pytest.warns(RetrievalReportWarning, match="only a part of the index was searched"):
            rr.read_rankings({"took": 1, **sign, "hits": HITS})
    rr.read_rankings({"timed_out": False, "_shards": {"total": 2, "failed": 0}, "hits": HITS})


@pytest.mark.parametrize("wrap", [list, tuple, np.array])
def test_arrays_and_lists_of_ids_without_names_are_lists_of_queries(wrap: Any):
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
):
    study = rr.Study(
        {"m": {"q": {"a": 2.0, "b": 1.0}}}, "rr", judgements={"q": "b"}, truncated="no"
    )
    assert (study.judge, study.table()["rr@all"].to_list()) == (None, [0.5])
    (tmp_path / "qrels").write_text("q 0 a 1\n")
    judged = rr.Study(
        {"m": {"q": {"a": 2.0, "b": 1.0}}}, "rr", judgements={"q": str(tmp_path / "qrels")}
    )
    assert judged.judge == "q"
