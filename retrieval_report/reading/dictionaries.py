"""Turn runs and judgements that are not frames into columns: nested dictionaries, ranx runs,
iterables of records.

pytrec_eval, ranx and ir_measures are not imported: their objects are recognised by their shape.
"""

from collections.abc import Iterable, Mapping
from glob import has_magic
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import polars.selectors as cs

from retrieval_report.contracts.arguments import is_name
from retrieval_report.contracts.errors import ColumnError
from retrieval_report.reading.convert import FLOATS, convert_columns, include, types_of
from retrieval_report.reading.json_forms import Knows, as_records
from retrieval_report.reading.sources import ending

Nested = Mapping[object, Mapping[object, object]]


def unwrapped(value: object) -> object:
    """Return the content of a run or qrels object of ranx as a dictionary; other objects unchanged.

    >>> class Run:
    ...     run, name = {"q1": {"a": 1.5}}, "bm25"
    >>> unwrapped(Run()), unwrapped("bm25")
    ({'q1': {'a': 1.5}}, 'bm25')
    """
    for attribute in ("run", "qrels"):
        content = getattr(value, attribute, None)
        if isinstance(content, Mapping):
            return {query: dict(items) for query, items in content.items()}
    return value


def name_of(value: object) -> str | None:
    """Return the name of a ranx run, or None."""
    name = (
        getattr(value, "name", None) if isinstance(getattr(value, "run", None), Mapping) else None
    )
    return name if is_name(name) else None


def is_nested(content: object) -> bool:
    """Return whether this is ``{query: {item: number}}``, the form of runs and judgements in
    pytrec_eval and ranx.

    >>> (
    ...     is_nested({"q1": {}, "q2": {"a": 1.5}}),
    ...     is_nested({"query": ["q1"]}),
    ...     is_nested({"bm25": {"q1": {"a": 1.5}}}),
    ... )
    (True, False, False)
    """
    if not isinstance(content, Mapping) or not content:
        return False
    if not all(issubclass(each, Mapping) for each in types_of(content.values())):
        return False
    values = next((list(items.values()) for items in content.values() if items), [])
    numbers = int | float | np.number | np.bool_ | None
    return all(isinstance(value, numbers) for value in values)


def is_listing(value: object, knows: Knows) -> bool:
    """Return whether this is ``{query: [ids]}`` or ``{query: {ids}}``, best first or in no order.

    ``knows`` says what could be the name of a column, since a table may be a dictionary of lists,
    too. Columns differ in type or repeat an id, and lists of results do not.

    >>> is_listing({"q1": ["a", "b"], "q2": []}, lambda name: name == "query")
    True
    >>> is_listing({"query": ["q1"], "item": ["a"]}, lambda name: name == "query")
    False
    """
    if not isinstance(value, Mapping) or not value:
        return False
    lists = [_plain(items) for items in value.values()]
    if not all(isinstance(items, list | tuple | set | frozenset) for items in lists):
        return False
    if any(map(knows, value)):
        return False
    kinds = {type(item) for items in lists for item in items}
    return kinds in ({str}, {int}) and all(len(set(items)) == len(items) for items in lists)


def listing_as_nested(lists: Mapping[object, object], kind: str) -> dict[object, dict[object, int]]:
    """Return ``{query: [ids]}`` with numbers: 1 for judgements and for all items of a set, else a
    score that falls from rank to rank. Items of a set are in the order of their ids.

    >>> (
    ...     listing_as_nested({"q1": ["a", "b"]}, "rankings"),
    ...     listing_as_nested({"q1": ["a"]}, "judgements"),
    ... )
    ({'q1': {'a': 2, 'b': 1}}, {'q1': {'a': 1}})
    """
    nested = {}
    for query, ids in lists.items():
        items = _plain(ids)
        if isinstance(items, set | frozenset):
            nested[query] = dict.fromkeys(sorted(items), 1)
        elif kind == "rankings":
            nested[query] = {item: len(items) - rank for rank, item in enumerate(items)}
        else:
            nested[query] = dict.fromkeys(items, 1)
    return nested


def _plain(items: object) -> Any:
    """Return an array of ids as a list."""
    return items.tolist() if isinstance(items, np.ndarray) and items.ndim == 1 else items


def refuse_texts(content: object, knows: Knows, what: str) -> None:
    """Refuse ``{query: {item: text}}``, whose texts would be taken for paths.

    >>> refuse_texts({"q1": {"a": "0.5"}}, lambda name: False, "rankings")
    Traceback (most recent call last):
    retrieval_report.ColumnError: rankings: query 'q1', item 'a': '0.5' is text, not a number
    """
    if not isinstance(content, Mapping) or not all(
        isinstance(v, Mapping) for v in content.values()
    ):
        return
    if not include(
        types_of(chain.from_iterable(items.values() for items in content.values())), str
    ):
        return
    for query, items in content.items():
        for item, value in items.items():
            if knows(item):
                return
            if isinstance(value, str) and not Path(value).exists():
                raise ColumnError(
                    f"{what}: query {query!r}, item {item!r}: {value[:80]!r} is text, not a number"
                )


def as_nested(value: Any, kind: str, knows: Knows, what: str) -> Any:
    """Return ``{query: [ids]}`` and the data set of LlamaIndex as ``{query: {item: number}}``,
    tables and hits as `as_records` does, and anything else as it is.

    Raises
    ------
    ColumnError
        A number is text, or rankings are wanted of what holds judgements.
    """
    if isinstance(value, Mapping) and isinstance(value.get("relevant_docs"), Mapping):
        if kind == "rankings":
            raise ColumnError(f"{what}: these are judgements ('relevant_docs'), not rankings")
        value = value["relevant_docs"]
    value = as_records(value, knows)
    if isinstance(value, list) and value and all(isinstance(items, list) for items in value):
        lists = dict(enumerate(value))  # of queries 0, 1, …
        value = lists if is_listing(lists, knows) else value
    if is_nested(value):
        return value
    if kind == "judgements" and is_pairs(value, knows):
        value = {query: [item] for query, item in value.items()}
    refuse_texts(value, knows, what)
    return listing_as_nested(value, kind) if is_listing(value, knows) else value


def is_pairs(value: object, knows: Knows) -> bool:
    """Return whether this is ``{query: id}``, with the one relevant item of every query, not the
    files of judges; whole numbers might be grades, too.

    >>> knows = ("query",).__contains__
    >>> (
    ...     is_pairs({"q1": "a"}, knows),
    ...     is_pairs({"q1": 5}, knows),
    ...     is_pairs({"gpt": "a.txt"}, knows),
    ... )
    (True, False, False)
    """
    if not isinstance(value, Mapping) or not value or any(map(knows, value)):
        return False
    return all(isinstance(item, str) and not _names_file(item) for item in value.values())


def _names_file(text: str) -> bool:
    return bool(has_magic(text) or ending(Path(text)) or "/" in text or Path(text).exists())


def nested_frame(nested: Nested, value: str, what: str) -> pl.DataFrame:
    """Return the rows of ``{query: {item: number}}`` in
    order, as ``query``, ``item`` and the column ``value``.

    Raises
    ------
    ColumnError
        Ids are partly text and partly numbers, or values are not numbers that one type holds.
    DataError
        A text that is not Unicode (half of a surrogate pair).

    Examples
    --------
    >>> nested_frame({"q1": {"a": 1.5, "b": 2}}, "score", "rankings").rows()
    [('q1', 'a', 1.5), ('q1', 'b', 2.0)]
    """
    lists = nested.values()
    number_list = list(chain.from_iterable(items.values() for items in lists))
    first = next((number for number in number_list if number is not None), None)
    if not isinstance(first, FLOATS) and include(types_of(number_list), np.generic):
        # The precision of all would be that of the first.
        number_list = [
            number.item() if isinstance(number, np.generic) else number for number in number_list
        ]
    columns = {"query": list(nested), "item": list(chain.from_iterable(lists)), value: number_list}
    try:
        queries, items, values = convert_columns(columns.items(), what)
    except ColumnError:
        refuse_texts(nested, lambda _: False, what)
        raise
    if values.dtype == pl.String:
        refuse_texts(nested, lambda _: False, what)
    numbers = np.repeat(np.arange(len(lists), dtype=np.uint32), list(map(len, lists)))
    frame = pl.DataFrame([queries.gather(pl.Series(numbers)), items, values])
    return frame.with_columns((cs.by_name("query", "item") & cs.by_dtype(pl.Null)).cast(pl.String))


def record_columns(records: Iterable[object], what: str) -> dict[str, list[object]]:
    """Return the columns of an iterable of named tuples,
    such as ir_measures' ``ScoredDoc`` and ``Qrel``.

    >>> from typing import NamedTuple
    >>> class ScoredDoc(NamedTuple):
    ...     query_id: str
    ...     doc_id: str
    ...     score: float
    >>> record_columns(iter([ScoredDoc("q1", "a", 0.5), ScoredDoc("q1", "b", 0.5)]), "rankings")
    {'query_id': ['q1', 'q1'], 'doc_id': ['a', 'b'], 'score': [0.5, 0.5]}
    """
    rows = list(records)
    kinds = {getattr(row, "_fields", None) for row in rows}
    names = next(iter(kinds), None)
    if names is None or len(kinds) > 1:
        first = f"first {rows[0]!r:.60}" if rows else "nothing in it"
        raise ColumnError(
            f"{what}: a {type(records).__name__} is not a frame and holds no named tuples of one "
            f"kind ({first})"
        )
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
