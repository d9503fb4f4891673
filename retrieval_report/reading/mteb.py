"""Read predictions that MTEB, BEIR and sentence-transformers save as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import polars as pl

from retrieval_report.contracts.arguments import repeated
from retrieval_report.contracts.errors import DataError, FileError
from retrieval_report.reading.csv_files import undecodable
from retrieval_report.reading.dictionaries import is_nested, nested_frame
from retrieval_report.reading.formats import BOM
from retrieval_report.reading.names import Choose, under_our_names
from retrieval_report.reading.sources import Source

META = "mteb_model_meta"
_NESTED = re.compile(r'\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')
_RESULTS = re.compile(r'"results"\s*:\s*\[\s*(?:\]|\{[^{}]*"corpus_id")')


def prediction_format(head: bytes) -> str | None:
    """Return the format of predictions in JSON, or None, by the first bytes of a file that begins
    with a brace.

    >>> (
    ...     prediction_format(b'{"q1": {"d1": 0.5}}'),
    ...     prediction_format(b'{"query": "q1", "item": "d1", "score": 1}'),
    ... )
    ('json', None)
    >>> prediction_format(
    ...     b'{"query_id": "q1", "query": "who?", "results": [{"corpus_id": "d1", "score": 0.5}]}'
    ... )
    'json lines'
    """
    text = head.removeprefix(BOM).decode("utf-8", "replace").lstrip()
    if _NESTED.match(text):
        return "json"
    first = text.split("\n", 1)[0]
    return "json lines" if '"query_id"' in first and _RESULTS.search(first) else None


def read_predictions(source: Source, form: str, choose: Choose) -> pl.DataFrame:
    """Read columns under our names; the file's are ``query``, ``item``, ``score`` and, for MTEB,
    ``model``.

    ``json`` is ``{query: {item: score}}``, as BEIR saves it, or what MTEB wraps around it: the
    model, and ``{subset: {split: …}}`` with one of each. ``json lines`` has the results of one
    query per line, as the InformationRetrievalEvaluator of sentence-transformers writes them.

    Raises
    ------
    FileError
        The bytes are not UTF-8 or not JSON, the shape is different, an id is repeated, or there are
        several subsets or splits.
    DataError
        Values are not numbers.
    """
    try:
        text = source.read().removeprefix(BOM).decode("utf-8")
    except UnicodeDecodeError:
        raise FileError(undecodable(source) or f"{source.path}: is not UTF-8") from None
    model, runs = _of_lines(text, source) if form == "json lines" else _of_whole(text, source)
    try:
        frame = nested_frame(runs, "score", str(source.path)).with_columns(
            pl.col("query", "item").cast(pl.String)
        )
    except AttributeError:
        raise FileError(
            f"{source.path}: JSON, but not {{query: {{item: number}}}} everywhere"
        ) from None
    if model is not None:
        frame = frame.select(pl.lit(model).alias("model"), pl.all())
    return frame.select(under_our_names(choose(frame.columns)))


def _parse(text: str, location: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except DataError as error:
        raise FileError(f"{location}: {error}") from None
    except (ValueError, RecursionError) as error:
        raise FileError(f"{location}: no JSON: {error}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = repeated(name for name, _ in pairs)
        raise DataError(f"{twice[0]!r} occurs twice in one object")
    return found


def _of_whole(text: str, source: Source) -> tuple[str | None, Mapping[str, Any]]:
    held = _parse(text, str(source.path))
    if META not in held:
        return None, _nested(held, source)
    meta = held.pop(META)
    name = meta.get("model_name") if isinstance(meta, dict) else None
    subsets = {subset: splits for subset, splits in held.items() if isinstance(splits, dict)}
    runs = [
        (subset, split, run) for subset, splits in subsets.items() for split, run in splits.items()
    ]
    if len(runs) != 1:
        found = ", ".join(f"{subset}/{split}" for subset, split, _ in runs)
        raise FileError(
            f"{source.path}: predictions of {len(runs)} subsets and splits ({found}); keep one in "
            "a file"
        )
    return name if isinstance(name, str) else None, _nested(runs[0][2], source)


def _nested(held: Any, source: Source) -> Mapping[str, Any]:
    if not is_nested(held):
        raise FileError(
            f"{source.path}: JSON, but neither {{query: {{item: number}}}} nor predictions of MTEB"
        )
    return held  # type: ignore[no-any-return]


def _of_lines(text: str, source: Source) -> tuple[None, Mapping[str, Any]]:
    runs: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        location = f"{source.path}, line {number}"
        row = _parse(line, location)
        try:
            query, results = (
                str(row["query_id"]),
                [(str(one["corpus_id"]), one["score"]) for one in row["results"]],
            )
        except (KeyError, TypeError):
            raise FileError(
                f"{location}: no object with query_id and results of corpus_id and score"
            ) from None
        if query in runs or len(dict(results)) < len(results):
            raise FileError(f"{location}: query {query!r}, or one of its results, occurs twice")
        runs[query] = dict(results)
    return None, runs
