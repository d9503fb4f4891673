"""Read JSON: runs and judgements as dictionaries, and what evaluators and search engines write."""

import json
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import polars as pl
import polars.selectors as cs

from retrieval_report.contracts.arguments import Named, repeated
from retrieval_report.contracts.errors import FileError
from retrieval_report.contracts.frames import with_model
from retrieval_report.reading.convert import convert_columns
from retrieval_report.reading.csv_files import undecodable
from retrieval_report.reading.dictionaries import Nested, as_nested, is_nested, nested_frame
from retrieval_report.reading.names import ID_COLUMNS, Choose, Kind, under_our_names
from retrieval_report.reading.records import Columns, record_table
from retrieval_report.reading.sources import BOM, Source

META = "mteb_model_meta"


def read_json(source: Source, choose: Choose, kind: Kind) -> pl.DataFrame:
    """Read ``{query: {item: score}}``, as BEIR saves it; ``{query: [ids]}``; what MTEB wraps around
    it: the model, and ``{subset: {split: …}}`` with one of each; rows as objects; and the records
    of `record_table`, also one per line.

    Raises
    ------
    FileError
        The bytes are not UTF-8 or not JSON, the shape is different, an id is repeated, or there are
        several subsets or splits.
    ColumnError
        Values are not numbers.
    """
    content = _parsed(source)
    meta = content.pop(META, None) if isinstance(content, dict) else None
    if meta is None:
        return _frame(content, None, source, choose, kind)
    subsets = {subset: splits for subset, splits in content.items() if isinstance(splits, dict)}
    runs = {
        f"{subset}/{split}": run
        for subset, splits in subsets.items()
        for split, run in splits.items()
    }
    if len(runs) != 1:
        raise FileError(
            f"{source.path}: predictions of {len(runs)} subsets and splits ({', '.join(runs)}); "
            "keep one in a file"
        )
    name = meta.get("model_name") if isinstance(meta, dict) else None
    (run,) = runs.values()
    return _frame(run, name if isinstance(name, str) else None, source, choose, kind)


def _parsed(source: Source) -> Any:
    try:
        text = source.read().removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError:
        raise FileError(undecodable(source)) from None
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except (ValueError, RecursionError) as error:
        if str(error).startswith("Extra data"):  # one object per line
            with suppress(ValueError, RecursionError):
                lines = filter(str.strip, text.splitlines())
                return [json.loads(line, object_pairs_hook=_unique) for line in lines]
        reason = str(error).partition(";")[0]  # after it, advice for those who write Python
        raise FileError(f"{source.path}: not JSON: {reason}") from None


def _unique(pairs: list[tuple[str, object]]) -> Named:
    pairs_by_key = dict(pairs)
    if len(pairs_by_key) < len(pairs):
        twice = repeated(name for name, _ in pairs)
        raise ValueError(f"{twice[0]!r} occurs twice in one object")
    return pairs_by_key


def _frame(
    runs: Any, model: str | None, source: Source, choose: Choose, kind: Kind
) -> pl.DataFrame:
    what = str(source.path)
    runs = as_nested(runs, kind.name, kind.knows, what)
    by_model = isinstance(runs, Mapping) and runs and all(map(is_nested, runs.values()))
    if kind.ranked and by_model:
        runs = _rows_of_models(runs, kind)
    records = None if is_nested(runs) else record_table(runs, kind.name, what)
    if records is None and not is_nested(runs):
        raise FileError(
            f"{source.path}: JSON, but neither {{query: {{item: number}}}} nor predictions of "
            "MTEB, rows as objects, or another form that the documentation lists"
        )
    frame = nested_frame(runs, "score", what) if records is None else table(records, what)
    frame = frame.with_columns(cs.by_name(ID_COLUMNS, require_all=False).cast(pl.String))
    frame = frame if model is None else with_model(frame, model)
    return frame.select(under_our_names(choose(frame.columns)))


def _rows_of_models(lists: Mapping[str, Nested], kind: Kind) -> object:
    """Return the rows of ``{model: {query: {item: number}}}``; unchanged if a model has none, or if
    hits have fields.
    """
    rows = [
        {"model": model, "query": query, "item": item, "score": score}
        for model, items_by_query in lists.items()
        for query, items in items_by_query.items()
        for item, score in items.items()
    ]
    whole = {row["model"] for row in rows} == {*lists}
    return rows if whole and not any(kind.knows(str(row["item"])) for row in rows) else lists


def table(columns: Columns, what: str) -> pl.DataFrame:
    """Return columns of JSON as a frame; ids are text."""
    return pl.DataFrame(convert_columns(columns.items(), what))
