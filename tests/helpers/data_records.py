"""Calls of public functions as tests/data/refused.json and answers.json write them."""

import json
from collections.abc import Callable
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import retrieval_report as rr
from made_reports import lettered, lists_that_lose
from made_scores import bounded_scores, scores_of
from retrieval_report.contracts.frames import SUMMARY
from text_files import write

MADE: dict[str, Callable[[Any], Any]] = {  # how the files write what JSON has no form for
    "a frame": pl.DataFrame,
    "a scores": scores_of,
    "scores by": lambda given: scores_of(**given),
    "bounded scores": bounded_scores,
    "lists of letters": lettered,
    "lists that lose": lambda given: lists_that_lose(*given),
    "parts": pl.concat,
    "a tuple": tuple,
    "a mapping": dict,
    "an iterator": iter,
    "a meter": rr.Meter,
    "a study": lambda given: rr.Study(**given),
    "counts of": rr.count_ties,
    "scores of": lambda given: rr.evaluate(**given),
    "data sets of": lambda given: rr.stats.dataset_scores(**given),
    "thresholds of": rr.thresholds,
    "a summary": lambda models: rr.summarise(scores_of(models)),
    "a summary of": rr.summarise,
    "means": lambda columns: pl.concat(
        [pl.DataFrame(schema=SUMMARY), pl.DataFrame(columns)], how="diagonal_relaxed"
    ),
    "a comparison": lambda models: rr.compare(scores_of(models)),
    "a comparison of": rr.compare,
    "changed": lambda given: _changed(*given),
    **{
        name: partial(np.array, dtype=name)
        for name in ("str", "bool", "uint8", "uint64", "int64", "float32", "float64", "complex128")
    },
}


def _changed(frame: pl.DataFrame, columns: dict[str, Any]) -> pl.DataFrame:
    """The frame with other columns; null takes one away."""
    lists = {
        name: pl.Series(one) if isinstance(one, list) else one for name, one in columns.items()
    }
    return frame.with_columns(**lists).drop(name for name, one in lists.items() if one is None)


def _made(given: dict[str, Any]) -> Any:
    """Return what is written as {"a frame": …}, and dictionaries as they are."""
    if len(given) != 1 or (name := next(iter(given))) not in MADE:
        return given
    return MADE[name](given[name])


def read(name: str) -> dict[str, Any]:
    """A file of such calls, by public function."""
    file = Path(__file__).parents[1] / "data" / name
    calls: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return calls


def call(function: str, given: dict[str, Any]) -> Any:
    """Call a public function with arguments as they are written, after "files" by name."""
    given = dict(given)
    for name, text in given.pop("files", {}).items():
        file = Path(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        write(file, text)
    return attrgetter(function)(rr)(**json.loads(json.dumps(given), object_hook=_made))
