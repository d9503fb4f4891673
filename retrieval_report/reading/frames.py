"""Turn any object in memory into one Polars frame under our names."""

import glob
import itertools
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import ColumnNames, is_name, known_of
from retrieval_report.contracts.errors import ColumnError, DataError
from retrieval_report.contracts.forks import refuse_fork
from retrieval_report.contracts.frames import check_types, with_model
from retrieval_report.reading.combine import Part, combine, refuse_empty
from retrieval_report.reading.convert import convert, is_column, types_of
from retrieval_report.reading.dictionaries import (
    as_nested,
    is_listing,
    is_nested,
    is_pairs,
    name_of,
    nested_frame,
    record_columns,
    refuse_texts,
    unwrapped,
)
from retrieval_report.reading.files import frame_from, sources_of
from retrieval_report.reading.finding import is_path
from retrieval_report.reading.merged_lists import check_merged
from retrieval_report.reading.named_arrays import holds_results, results_of
from retrieval_report.reading.names import (
    JUDGEMENTS,
    KINDS,
    RANKINGS,
    Kind,
    known_columns,
    under_our_names,
    unknown,
)
from retrieval_report.reading.printed_ranks import RANK, without_agreeing_ranks
from retrieval_report.reading.records import holds_records, record_table
from retrieval_report.reading.search_results import is_search_result, results_frame
from retrieval_report.reading.sources import ending

# The meaning of numbers in a dictionary {query: {item: number}}.
VALUES = {"rankings": "score", "judgements": "relevance"}


def to_polars(value: object, what: str) -> pl.DataFrame:
    """Return one Polars frame of rankings, judgements, queries, or any other frame.

    Parameters
    ----------
    value : object
        A frame of any library that narwhals or Arrow's stream interface supports, or a dict of
        columns. For rankings, judgements and queries also the paths of files. For rankings and
        judgements also ``{query: {item: number}}``, a ``Run`` or ``Qrels`` of ranx, or an iterable
        of named tuples such as ir_measures'. For rankings also (distances, indices), or a dict of
        model → any of these.
    what : str
        "rankings", "judgements" or "queries", whose columns are recognised by the usual names of
        other tools; or any other name for messages.

    Returns
    -------
    pl.DataFrame
        Known columns have our names, where a column that already has such a name takes precedence;
        other columns are unchanged. For values, see `convert`.

    Raises
    ------
    ColumnError
        It is not a frame, two columns could be meant, or a column holds Python objects or mixed
        types.
    DataError
        A text that is not Unicode; a lazy frame that cannot be computed.

    Examples
    --------
    >>> to_polars({"qid": ["q1", "q1"], "docno": ["a", "b"], "score": [2, 1]}, "rankings").columns
    ['query', 'item', 'score']
    >>> to_polars({"bm25": {"q1": {"a": 2.5}}, "bits": {"q1": {"a": 7}}}, "rankings").rows()
    [('bm25', 'q1', 'a', 2.5), ('bits', 'q1', 'a', 7.0)]
    """
    refuse_fork()
    kind = KINDS.get(what)
    return convert(value, what) if kind is None else frame_of_kind(value, kind, what, None)


def frame_of_kind(
    value: object, kind: Kind, what: str, columns: ColumnNames, *, checked: bool = True
) -> pl.DataFrame:
    """Return the frame of `to_polars` for a kind, which may have more columns than usual. If it is
    ``checked``, rankings without a model are not those of several.
    """
    if is_path(value):
        return frame_from(sources_of(value, kind), kind, columns=columns)
    if isinstance(value, pl.DataFrame):
        name, frame = None, convert(value, what)
    else:
        name, content = name_of(value), unwrapped(value)
        if checked and isinstance(content, Mapping) and not content:
            raise DataError(f"{what}: the dictionary is empty")
        if kind.ranked and holds_results(content):
            choose = partial(known_columns, kind=kind, columns=columns, location=what)
            return results_of(known_of(content), choose, what)
        if kind.name in VALUES and not any(map(_names_files, _lists(content))):
            content = as_nested(content, kind.name, kind.knows, what)
        if kind.ranked and is_models(content):
            return _of_models(content, kind, columns)
        if kind is JUDGEMENTS and is_named(content, kind):
            raise ColumnError(
                f"{what}: only a Study takes those of several judges, by name; are "
                "rankings and judgements swapped?"
            )
        frame = _table(content, kind, what)
    matched = matched_columns(frame, kind, what, columns)
    if checked and kind.ranked and not {"model", "count"} & matched.keys():
        unused = unknown(frame.columns, matched, kind)
        if unused and name is None:
            check_merged(frame.select(under_our_names(matched)), lambda: frame.select(unused), what)
    check_types(frame.schema, matched, what, empty=frame.is_empty())
    frame = renamed(frame, matched, kind)
    if kind.ranked and RANK in frame.columns:
        frame = without_agreeing_ranks(frame)
    return frame if name is None else with_model(frame, name)


def has_distinct_rows(value: object, kind: Kind) -> bool:
    """Return whether these are the rows of one dictionary of dictionaries, whose keys
    do not repeat.

    >>> has_distinct_rows({"q1": {"a": 1.5}}, RANKINGS)
    True
    >>> has_distinct_rows({"query": {0: 1, 1: 1}, "item": {0: 7, 1: 7}}, RANKINGS)  # a table
    False
    """
    content = None if isinstance(value, pl.DataFrame) else unwrapped(value)
    if not isinstance(content, dict) or not is_nested(content):
        return False
    dictionaries = all(issubclass(each, dict) for each in types_of(content.values()))
    return dictionaries and as_nested(content, kind.name, kind.knows, kind.name) is content


def _names_files(texts: Collection[object]) -> bool:
    """Return whether some of the texts names a file, so that a dictionary has files by name."""
    return any(
        isinstance(text, str)
        and (glob.has_magic(text) or ending(Path(text)) or Path(text).exists())
        for text in texts
    )


def _table(content: Any, kind: Kind, what: str) -> pl.DataFrame:
    """Return one object as a frame with its own names."""
    value = VALUES.get(kind.name)
    if value is not None and is_nested(content):
        return nested_frame(content, value, what)
    if kind.ranked and is_search_result(content):
        return results_frame(content, what)
    records = record_table(content, kind.name, what)
    if records is not None:
        return convert(records, what)
    if value is not None and _holds_records(content):
        return convert(record_columns(content, what), what)
    return convert(content, what)


def _holds_records(content: object) -> bool:
    """Return whether this may be an iterable of named tuples; an iterator is not inspected, which
    would consume it.
    """
    if isinstance(content, list | tuple):
        return bool(content) and hasattr(content[0], "_fields")
    return (
        isinstance(content, Iterable)
        and hasattr(content, "__next__")
        and not hasattr(content, "__arrow_c_stream__")
    )


def is_models(content: object) -> bool:
    """Return whether this is a dict of model → rankings, or a list of named runs.

    >>> (
    ...     is_models({"query": ["q"], "item": ["a"]}),
    ...     is_models({"bm25": pl.DataFrame()}),
    ...     is_models({"q": {"a": 1}}),
    ... )
    (False, True, False)
    """
    if isinstance(content, list | tuple):
        return bool(content) and all(name_of(run) is not None for run in content)
    return is_named(content, RANKINGS)


def is_named(content: object, kind: Kind) -> bool:
    """Return whether this is a dict of name → frames, files or dictionaries of a kind.

    >>> from retrieval_report.reading.names import JUDGEMENTS
    >>> qrels = {"q1": {"a": 1}}
    >>> is_named({"human": "qrels.txt", "gpt": qrels}, JUDGEMENTS), is_named(qrels, JUDGEMENTS)
    (True, False)
    """
    if (
        not isinstance(content, Mapping)
        or not content
        or is_nested(content)
        or is_listing(content, kind.knows)
    ):
        return any(map(_names_files, _lists(content)))
    if holds_records(content) or (not kind.ranked and is_pairs(content, kind.knows)):
        return False
    if any(kind.knows(name) and _is_columnar(value) for name, value in content.items()):
        return False
    refuse_texts(content, kind.knows, kind.name)
    return all(map(is_path, content.values())) or not all(map(_is_flat, content.values()))


def _lists(content: object) -> list[Collection[object]]:
    """Return the lists in a dictionary."""
    values = content.values() if isinstance(content, Mapping) else ()
    return [value for value in values if isinstance(value, list | tuple)]


def _is_plain(value: object) -> bool:
    """Return whether this is one number or text."""
    return isinstance(value, str | int | float | np.generic) or getattr(value, "shape", None) == ()


def _is_columnar(values: object) -> bool:
    """Return whether this is a column, or a plain value passed as one."""
    return _is_plain(values) or (is_column(unwrapped(values)) and not _holds_records(values))


def _is_flat(values: Any) -> bool:
    """Return whether this is a column of plain values."""
    if not _is_columnar(values):
        return False
    first = [values] if _is_plain(values) else itertools.islice(values, 1)
    return all(_is_plain(value) or value is None for value in first)


def _of_models(content: Any, kind: Kind, columns: ColumnNames) -> pl.DataFrame:
    """Return the rows of all models, one after the other, in the order given."""
    entries = (
        content.items()
        if isinstance(content, Mapping)
        else [(name_of(run), run) for run in content]
    )
    parts = []
    for model, rankings in entries:
        if not is_name(model):
            raise ColumnError(
                f"rankings: {model!r} is not the name of a model, in a dict of model → rankings"
            )
        if is_path(rankings):
            frame = frame_from(sources_of(rankings, kind), kind, columns=columns, model=model)
        else:
            frame = frame_of_kind(rankings, kind, f"model {model!r}", columns, checked=False)
        our_columns = [
            name for name in kind.columns if name in frame.columns and name not in ("model", "row")
        ]
        frame = frame.sort("row", maintain_order=True) if "row" in frame.columns else frame
        parts.append(Part(f"model {model!r}", frame.select(our_columns)))
    refuse_empty(parts)
    return combine(
        [
            replace(part, frame=with_model(part.frame, str(model)))
            for part, (model, _) in zip(parts, entries, strict=True)
        ]
    )


def renamed(frame: pl.DataFrame, matched: Mapping[str, str], kind: Kind) -> pl.DataFrame:
    """Return our columns under our names and others
    unchanged, without columns that only look like ours.
    """
    extra_columns = [
        name for name in frame.columns if name not in matched.values() and name not in kind.columns
    ]
    if frame.columns == [*matched, *extra_columns] == [*matched.values(), *extra_columns]:
        return frame
    return frame.select(*under_our_names(matched), *extra_columns)


def matched_columns(
    frame: pl.DataFrame, kind: Kind, what: str, columns: ColumnNames = None
) -> dict[str, str]:
    """Map our columns to the columns of a frame that stand for them."""
    matched = known_columns(frame.columns, kind, columns, what)
    theirs = matched.get("relevance")
    if kind.ranked and theirs not in (None, "relevance") and "relevance" not in (columns or {}):
        dtype = frame.schema[theirs]  # a label in words is the class of the row, not a relevance
        if not (dtype.is_numeric() or dtype == pl.Boolean):
            del matched["relevance"]
    if not matched.keys() & {"distance", "score"}:
        matched.pop(RANK, None)  # errors name the columns that were found
    return matched
