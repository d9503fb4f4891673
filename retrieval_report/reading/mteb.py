"""Read predictions that MTEB and BEIR save as JSON."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from retrieval_report.contracts.arguments import Named, repeated
from retrieval_report.contracts.errors import FileError
from retrieval_report.contracts.frames import with_model
from retrieval_report.reading.csv_files import undecodable
from retrieval_report.reading.dictionaries import is_nested, nested_frame
from retrieval_report.reading.names import Choose, under_our_names
from retrieval_report.reading.sources import BOM, Source

META = "mteb_model_meta"


def read_json(source: Source, choose: Choose) -> pl.DataFrame:
    """Read ``{query: {item: score}}``, as BEIR saves it, or what MTEB wraps around it: the model,
    and ``{subset: {split: …}}`` with one of each.

    The columns are ``query``, ``item``, ``score`` and, for MTEB, ``model``.

    Raises
    ------
    FileError
        The bytes are not UTF-8 or not JSON, the shape is different, an id is repeated, or there are
        several subsets or splits.
    ColumnError
        Values are not numbers.
    """
    held = _parsed(source)
    meta = held.pop(META, None)
    if meta is None:
        return _frame(held, None, source, choose)
    subsets = {subset: splits for subset, splits in held.items() if isinstance(splits, dict)}
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
    return _frame(run, name if isinstance(name, str) else None, source, choose)


def _parsed(source: Source) -> Any:
    try:
        text = source.read().removeprefix(BOM).decode("utf-8")
        return json.loads(text, object_pairs_hook=_unique)
    except UnicodeDecodeError:
        raise FileError(undecodable(source) or f"{source.path}: is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        reason = str(error).partition(";")[0]  # after it, advice for those who write Python
        raise FileError(f"{source.path}: no JSON: {reason}") from None


def _unique(pairs: list[tuple[str, Any]]) -> Named:
    held = dict(pairs)
    if len(held) < len(pairs):
        twice = repeated(name for name, _ in pairs)
        raise ValueError(f"{twice[0]!r} occurs twice in one object")
    return held


def _frame(runs: Any, model: str | None, source: Source, choose: Choose) -> pl.DataFrame:
    if not is_nested(runs):
        raise FileError(
            f"{source.path}: JSON, but neither {{query: {{item: number}}}} nor predictions of MTEB"
        )
    frame = nested_frame(runs, "score", str(source.path)).with_columns(
        pl.col("query", "item").cast(pl.String)
    )
    frame = frame if model is None else with_model(frame, model)
    return frame.select(under_our_names(choose(frame.columns)))
