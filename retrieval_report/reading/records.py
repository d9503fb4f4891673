"""Read what evaluators of RAG and search engines write: for every query, a record with the list of
what was found or expected.

The shapes are recognised by their keys: RankLLM (``query``, ``candidates``), DPR and Rankify
(``question``, ``ctxs`` or ``contexts``), LlamaIndex (``retrieved_ids``, ``expected_ids``,
``relevant_docs``, ``source_nodes``), sentence-transformers (``query_id``, ``results``) and
Elasticsearch (``hits``, ``responses``, ``details``, ``ratings``). Rows as objects, such as those of
a table, are its columns.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from retrieval_report.contracts.errors import ColumnError
from retrieval_report.contracts.warning import warn
from retrieval_report.contracts.wording import with_number

Columns = dict[str, list[object]]
Record = Mapping[object, object]
# Keys of what was found for a query, best first.
FOUND = (
    "candidates", "ctxs", "contexts", "results", "retrieved_ids", "hits", "source_nodes", "points",
    "matches",
)  # fmt: skip
# Keys of what was judged for a query, and its relevance; None: every item has its own.
EXPECTED = {
    "expected_ids": 1,
    "positive_ctxs": 1,
    "negative_ctxs": 0,
    "hard_negative_ctxs": 0,
    "ratings": None,
}
LISTS_OF_RECORDS = ("responses", "requests", "details")
QUERY_NAMES = {"qid", "q_id", "query_id", "question_id", "query", "question"}
QUERY = ("qid", "q_id", "query_id", "question_id", "id", "_id", "query", "question", "text")
ITEM = (
    "docid", "doc_id", "_id", "id", "passage_id", "psg_id", "corpus_id", "document_id", "docno",
    "item",
)  # fmt: skip
NODE_ID = ("id_", "node_id", "id")
SCORE = ("score", "_score", "similarity")
GRADE = ("rating", "relevance", "has_answer", "grade")


class Hit(NamedTuple):
    """An item that was found or judged; None for what is not said of it."""

    query: object
    item: object
    score: object = None
    relevance: object = None


def record_table(value: object, kind: str, what: str) -> Columns | None:
    """Return records as columns of rankings or judgements; None of anything else.

    Where no item has a score, items are scored by their rank, best first.

    Parameters
    ----------
    value
        A list of dictionaries, or a dictionary that holds one.
    kind
        "rankings", "judgements", or another kind, which has rows as objects only.
    what
        The name of the data in messages.

    Raises
    ------
    ColumnError
        An entry is not a record like the others, or an item has no id.

    Examples
    --------
    >>> found = [{"query": {"qid": "q1", "text": "…"}, "candidates": [{"docid": 7, "score": 0.5}]}]
    >>> record_table(found, "rankings", "run.json")
    {'query': ['q1'], 'item': [7], 'score': [0.5]}
    >>> record_table([{"query": "q1", "item": "a", "score": 1}], "rankings", "run.json")
    {'query': ['q1'], 'item': ['a'], 'score': [1]}
    """
    records = dict(_records(value))
    if not records:
        return None
    for number, record in records.items():
        if not isinstance(record, Mapping):
            raise ColumnError(f"{what}: entry {number!r} is {record!r:.60}, not an object")
        if record.get("error") and not _list_key(record):
            raise ColumnError(f"{what}: entry {number!r} is an error: {record['error']!r:.80}")
    rows = list(records.values())
    _warn_of_parts(rows, what)
    if kind == "judgements" and any(map(_expected, rows)):
        hits = [hit for pair in records.items() for hit in _judged(*pair, what)]
        return _columns(hits, ("query", "item", "relevance"))
    if not any(map(_list_key, rows)):
        return _flat(rows) or None
    hits = [hit for pair in records.items() for hit in _ranked(*pair, what)]
    if kind == "judgements":
        judged = [hit for hit in hits if hit.relevance is not None]
        return _columns(judged or hits, ("query", "item", "relevance"))
    if all(hit.score is None for hit in hits):
        hits = _scored_by_rank(hits)
    else:
        _warn_of_order(hits, what)
    graded = any(hit.relevance is not None for hit in hits)
    return _columns(hits, ("query", "item", "score", *(["relevance"] if graded else [])))


def holds_records(value: object) -> bool:
    """Return whether these are records, or rows as objects."""
    return next(_records(value), None) is not None


def _records(content: object) -> Iterator[tuple[object, Any]]:
    """Yield the records of an object, each with what names it: a key, or its number."""
    if isinstance(content, list | tuple):
        if content and isinstance(content[0], Mapping):
            yield from enumerate(content)
        return
    if not isinstance(content, Mapping):
        return
    for records in map(content.get, LISTS_OF_RECORDS):
        if isinstance(records, list):
            yield from enumerate(records)
        elif isinstance(records, Mapping):
            yield from records.items()
    if _list_key(content) or _expected(content):
        yield 0, content
    elif all(isinstance(value, Mapping) and _list_key(value) for value in content.values()):
        yield from content.items()


def _list_key(record: Record) -> str | None:
    """Return the key of the list that a record holds, if any."""
    for key in FOUND:
        if isinstance(_list(record.get(key)), list):
            return key
    return None


def _list(value: object) -> Any:
    """Return a list, also that of Elasticsearch's ``{"hits": {"hits": […]}}``."""
    return value.get("hits") if isinstance(value, Mapping) else value


def _expected(record: Record) -> bool:
    return any(isinstance(record.get(key), list) for key in EXPECTED)


def _query(record: Record, number: object) -> object:
    """Return the id of the query of a record, or its text, or what names the record."""
    for key in QUERY:
        value = record.get(key)
        if isinstance(value, Mapping):
            return _query(value, number)
        if isinstance(value, str | int):
            return value
    return number


def _ranked(number: object, record: Record, what: str) -> Iterator[Hit]:
    """Yield what a record found."""
    query = _query(record, number)
    items = _list(record.get(_list_key(record))) or []
    scores = record.get("retrieved_scores")
    parallel = scores if isinstance(scores, list) and len(scores) == len(items) else []
    for rank, item in enumerate(items):
        hit = hit_of(query, item, what)
        yield hit._replace(score=parallel[rank]) if parallel and hit.score is None else hit


def _judged(number: object, record: Mapping[object, Any], what: str) -> Iterator[Hit]:
    """Yield what a record expects."""
    for key, relevance in EXPECTED.items():
        for item in record.get(key) or []:
            hit = hit_of(_query(record, number), item, what)
            yield hit if relevance is None else hit._replace(relevance=relevance)


def hit_of(query: object, entry: object, what: str) -> Hit:
    """Return an entry of a list: an id, or an object with one."""
    rating = None
    if isinstance(entry, Mapping) and isinstance(entry.get("hit"), Mapping):
        rating, entry = entry.get("rating"), entry["hit"]
    if isinstance(entry, Mapping) and isinstance(entry.get("node"), Mapping):  # LlamaIndex
        entry = {"id": _first(entry["node"], NODE_ID), "score": entry.get("score")}
    if not isinstance(entry, Mapping):
        if isinstance(entry, str | int) and not isinstance(entry, bool):
            return Hit(query, entry)
        raise ColumnError(f"{what}: query {query!r}: {entry!r:.60} is neither an id nor an object")
    item = _first(entry, ITEM)
    if item is None:
        raise ColumnError(
            f"{what}: query {query!r}: an item has none of the keys {', '.join(ITEM)}: "
            f"{dict(entry)!r:.80}"
        )
    grade = _first(entry, GRADE) if rating is None else rating
    relevance = int(grade) if isinstance(grade, bool) else grade
    return Hit(query, item, _number(_first(entry, SCORE)), relevance)


def _number(value: object) -> object:
    """Return a score that is written as text, as DPR writes them, as a number."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _first(entry: Record, keys: Sequence[str]) -> object:
    return next((entry[key] for key in keys if entry.get(key) is not None), None)


def _scored_by_rank(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits with scores that fall by 1 from rank to rank, down to 1."""
    ranks_left = Counter(hit.query for hit in hits)
    scored = []
    for hit in hits:
        scored.append(hit._replace(score=ranks_left[hit.query]))
        ranks_left[hit.query] -= 1
    return scored


def _warn_of_parts(rows: Sequence[Record], what: str) -> None:
    """Warn where a search engine says that it did not search everything."""
    parts = 0
    for row in rows:
        shards = row.get("_shards")
        failed = shards.get("failed") if isinstance(shards, Mapping) else 0
        parts += row.get("timed_out") is True or bool(failed)
    if parts:
        warn(
            f"{what}: only a part of the index was searched for {parts} of "
            f"{with_number(len(rows), 'response')}: the search timed out, or shards failed; "
            "items may be missing"
        )


def _warn_of_order(hits: Sequence[Hit], what: str) -> None:
    """Warn where a list is not in the order of its scores, as after a reranker that keeps them."""
    numbers = (int, float)
    queries = {
        hit.query
        for before, hit in pairwise(hits)
        if before.query == hit.query
        and isinstance(before.score, numbers)
        and isinstance(hit.score, numbers)
        and before.score < hit.score
    }
    if queries:
        query_count = len({hit.query for hit in hits})
        warn(
            f"{what}: {len(queries)} of {with_number(query_count, 'list')} not in the "
            "order of their scores; the scores count. If a reranker ordered them, leave "
            "out the retriever's scores"
        )


def _columns(hits: Sequence[Hit], names: Sequence[str]) -> Columns:
    return {name: [getattr(hit, name) for hit in hits] for name in names}


def _flat(rows: Sequence[Record]) -> Columns:
    """Return rows as objects as columns; what holds objects or lists is left out."""
    names = dict.fromkeys(str(name) for row in rows for name in row)
    columns = {name: [row.get(name) for row in rows] for name in names}
    return {
        name: values
        for name, values in columns.items()
        if not any(isinstance(value, list | Mapping) for value in values)
    }
