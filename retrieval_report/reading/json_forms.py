"""Bring JSON of other shapes into rows or records: tables as pandas writes them, hits by query, and
what search engines wrap around their hits.
"""

from collections.abc import Callable, Mapping
from typing import Any

from retrieval_report.contracts.arguments import Named
from retrieval_report.reading.records import EXPECTED, FOUND, LISTS_OF_RECORDS, QUERY_NAMES

Knows = Callable[[object], bool]
MOST_COLUMNS = 100


def as_records(content: object, knows: Knows) -> Any:
    """Return rows or records of an object that holds
    them in another shape, and anything else unchanged.

    ``knows`` says what could be the name of a column.

    Examples
    --------
    >>> knows = ("query", "item", "score").__contains__
    >>> as_records({"query": {"0": "q"}, "item": {"0": "a"}, "score": {"0": 2.5}}, knows)
    [{'query': 'q', 'item': 'a', 'score': 2.5}]
    >>> as_records({"columns": ["query", "item"], "index": [0], "data": [["q", "a"]]}, knows)
    [{'query': 'q', 'item': 'a'}]
    >>> as_records({"q1": [{"id": "a", "score": 2}]}, knows)
    [{'query': 'q1', 'results': [{'id': 'a', 'score': 2}]}]
    >>> as_records({"q1": [["a", 2]]}, knows)
    [{'query': 'q1', 'results': [{'id': 'a', 'score': 2}]}]
    """
    if isinstance(content, list):
        lists = [_hits(entry) for entry in content]
        if any(lists) and None not in lists:  # of queries 0, 1, …
            return [{"query": number, "results": hits} for number, hits in enumerate(lists)]
    if not isinstance(content, Mapping) or not content:
        return content
    if isinstance(content.get("rank_eval"), Mapping):
        return content["rank_eval"]
    response = content.get("response")
    if isinstance(response, Mapping) and isinstance(response.get("docs"), list):
        return [{"results": response["docs"]}]
    rows = _rows(content, knows)
    return _by_query(content, knows) if rows is None else rows


def _rows(table: Mapping[Any, Any], knows: Knows) -> list[Named] | None:
    """Return the rows of a table that pandas wrote by columns, by rows, split, or with its schema;
    None of anything else.
    """
    columns, data = table.get("columns"), table.get("data")
    if isinstance(columns, list) and isinstance(data, list) and sum(map(knows, columns)) > 1:
        return [dict(zip(columns, row, strict=False)) for row in data]
    if isinstance(table.get("schema"), Mapping) and isinstance(data, list):
        return data
    first = next(iter(table.values()))
    if not isinstance(first, Mapping):
        return None
    by_columns = _names_columns(table, knows)
    if not (by_columns or _names_columns(first, knows)):
        return None
    if not all(isinstance(value, str) or not hasattr(value, "__len__") for value in first.values()):
        return None
    inner = list(table.values())
    if any(not isinstance(row, Mapping) or row.keys() != first.keys() for row in inner):
        return None
    return [{name: table[name][row] for name in table} for row in first] if by_columns else inner


def _names_columns(names: Mapping[object, object], knows: Knows) -> bool:
    """Return whether these may be the columns of a table, of which at least two are ours."""
    return len(names) <= MOST_COLUMNS and sum(map(knows, names)) > 1


def _by_query(hits_by_query: Mapping[object, object], knows: Knows) -> object:
    """Return ``{query: [hits]}`` as records."""
    if {*FOUND, *EXPECTED, *LISTS_OF_RECORDS} & hits_by_query.keys():
        return hits_by_query
    if not isinstance(next(iter(hits_by_query.values())), list):
        return hits_by_query
    lists = [_hits(values) for values in hits_by_query.values()]
    if None in lists or not any(lists) or any(map(knows, hits_by_query)):
        return hits_by_query
    return [
        {"query": query, "results": hits} for query, hits in zip(hits_by_query, lists, strict=True)
    ]


def _hits(values: object) -> list[object] | None:
    """Return a list of hits, objects without a query or
    pairs of an id and a score; None of anything else.
    """
    if not isinstance(values, list):
        return None
    pairs = [value for value in values if isinstance(value, list | tuple) and len(value) == 2]
    if pairs and len(pairs) == len(values):
        if all(isinstance(item, str | int) and _is_number(score) for item, score in pairs):
            return [{"id": item, "score": score} for item, score in pairs]
        return None
    if all(isinstance(value, Mapping) and not QUERY_NAMES & value.keys() for value in values):
        return values
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
