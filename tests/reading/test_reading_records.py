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


def test_grades_that_come_with_the_hits_are_the_relevance():
    given = RANKED["DPR"]["given"]
    scores = rr.evaluate(given, measures="rr@2", policies="expected", truncated="no")
    assert scores["value"].to_list() == [0.5]


def test_sets_have_no_order_and_so_tie():
    scores = rr.evaluate(
        {"m": {"q": {"a", "b"}}}, judgements={"q": {"a"}}, measures="rr@2", truncated="no"
    )
    assert scores.filter(policy="expected")["value"].to_list() == [0.75]


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
