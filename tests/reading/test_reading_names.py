"""Which column of a file is which of ours."""

import pytest

import retrieval_report as rr
from retrieval_report.contracts.errors import ColumnError
from retrieval_report.reading.names import JUDGEMENTS, QUERIES, RANKINGS, match_columns


def test_names_of_other_tools_are_recognised():
    assert match_columns(
        ["system", "topic", "docid", "similarity", "grade"], RANKINGS, None, "f"
    ) == {
        "model": "system",
        "query": "topic",
        "item": "docid",
        "score": "similarity",
        "relevance": "grade",
    }
    assert match_columns(["query-id", "corpus-id", "rel"], JUDGEMENTS, None, "f") == {
        "query": "query-id",
        "item": "corpus-id",
        "relevance": "rel",
    }


def test_label_is_relevance_in_judgements_and_the_class_of_a_query_in_queries():
    assert match_columns(["qid", "doc", "label"], JUDGEMENTS, None, "f")["relevance"] == "label"
    assert match_columns(["qid", "label"], QUERIES, None, "f")["label"] == "label"


@pytest.mark.parametrize(
    ("found", "mapping"),
    [
        (["query", "item", "score"], {"distance": "score"}),
        (["query", "item", "dist"], {"score": "dist"}),
        (["query", "item", "dist", "score"], {"score": "score"}),
        (["query", "qid", "item", "dist"], {"query": "qid"}),
        (["a", "b", "c"], {"query": "a", "item": "b", "score": "c"}),
    ],
)
def test_a_mapping_decides(found: list[str], mapping: dict[str, str]):
    matched = match_columns(found, RANKINGS, mapping, "f")
    assert {name: matched[name] for name in mapping} == mapping
    assert len({"distance", "score"} & set(matched)) == 1


@pytest.mark.parametrize(
    ("found", "mapping", "message"),
    [
        (["query", "item", "dist"], {"querry": "query"}, "the rankings have"),
        (
            ["query", "item", "dist"],
            {"query": "q"},
            r"but its columns are \['query', 'item', 'dist'\]",
        ),
        (
            ["query", "item", "a", "b"],
            {"distance": "a", "score": "b"},
            "both 'a' .smaller is nearer. and 'b'",
        ),
    ],
)
def test_doubtful_columns_are_refused(found: list[str], mapping: dict[str, str], message: str):
    with pytest.raises(ColumnError, match=message):
        match_columns(found, RANKINGS, mapping, "f")


def test_a_rating_is_the_relevance_unless_another_column_is():
    rated = {"user_id": ["u"], "item_id": ["i"], "rating": [3]}
    assert rr.read_judgements(rated)["relevance"].to_list() == [3]
    assert rr.read_judgements({**rated, "relevance": [1]})["relevance"].to_list() == [1]
