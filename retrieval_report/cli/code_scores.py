"""Turn files of codes into counts, scores and means, for ``retrieval-report codes``."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.codes import count_codes, count_relevant
from retrieval_report.codes.files import load_codes
from retrieval_report.contracts.arguments import Named, repeated
from retrieval_report.contracts.errors import FileError, RetrievalReportError
from retrieval_report.contracts.options import OPTIONS, affordable_shuffles
from retrieval_report.engines.evaluate import evaluate
from retrieval_report.engines.summary import summarise
from retrieval_report.metrics.parsing import Cutoffs, Metrics, parse_metrics
from retrieval_report.scoring.radius import evaluate_radius

POLICIES = ("expected", "shuffled", "worst", "best")


def codes_command(
    query_path: str | PathLike[str],
    item_paths: Sequence[str | PathLike[str]],
    *,
    metrics: Metrics = None,
    cutoffs: Cutoffs = None,
    query_arrays: Mapping[str, str] | None = None,
    item_arrays: Mapping[str, str] | None = None,
    max_bytes: int | None = None,
    **options: Any,
) -> dict[str, pl.DataFrame]:
    """Count, score and average the codes in files, where each item file is a shard.

    Return the frames by the names of their files, with the number of random ``orders`` in rows of
    shuffled scores. There is no ``radius.csv`` with a depth, beyond which items are missing.

    Parameters
    ----------
    query_path, item_paths
        Files that :func:`load_codes` reads; one item file at a time is open.
    metrics, cutoffs
        The same as for :func:`evaluate`.
    query_arrays, item_arrays
        Names of the arrays in the file of queries and in those of items, as in :func:`load_codes`.
    max_bytes
        As in :func:`load_codes`.
    **options
        Options of :func:`count_codes`: ``relevance``, ``model``, ``bits``,
        ``exclude_self``, ``depth``, ``threads``, ``progress``.
    """
    depth = options.get("depth")
    files = [Path(path).resolve() for path in item_paths]
    if twice := repeated(files):
        raise FileError(f"'{twice[0]}': listed more than once")
    among_items = query_arrays == item_arrays and Path(query_path).resolve() in files
    if among_items and not options.get("exclude_self"):
        raise FileError(
            f"'{query_path}': every query is among the items, and its own nearest; --exclude-self "
            "leaves it out of its list"
        )
    queries = load_codes(query_path, query_arrays, max_bytes, "query_arrays")
    current: str | PathLike[str] = ""  # the file that is open

    def shards() -> Iterator[tuple[object, object, object]]:
        nonlocal current
        for current in item_paths:
            shard = load_codes(current, item_arrays, max_bytes, "item_arrays")
            if shard.bits not in (None, queries.bits):
                raise FileError(
                    f"'{current}': codes of {shard.bits} bits where the queries have {queries.bits}"
                )
            yield shard.codes, shard.labels, shard.ids

    query_arguments = {"query_labels": queries.labels, "query_ids": queries.ids}
    options["bits"] = options.get("bits") or queries.bits
    try:
        counts = count_codes(np.asarray(queries.codes), shards(), **query_arguments, **options)
    except FileError:
        raise
    except RetrievalReportError as error:
        source_names = f"'{query_path}'" + (f" and '{current}'" if current else "")
        raise type(error)(f"{error} (of {source_names})") from error
    relevant = None
    if depth is not None:  # R counts from the lowest level on; at the others, scores are estimates
        lowest = min(metric.level or 1 for metric, _ in parse_metrics(metrics, cutoffs))
        relevant = _relevant(shards(), query_arguments, options, ceil(lowest))
    orders = affordable_shuffles(OPTIONS["shuffles"].default, int(counts["count"].sum()))
    scores = evaluate(
        counts,
        queries=relevant,
        metrics=metrics,
        cutoffs=cutoffs,
        policies=POLICIES,
        shuffles=orders,
    )
    # Fewer orders than usual are drawn of many items, so the rows of drawn scores say how many.
    of_draws = pl.when(policy="shuffled").then(orders)
    means = summarise(scores).with_columns(orders=of_draws)
    scores = scores.with_columns(orders=of_draws)
    frames = {"counts.parquet": counts, "scores.csv": scores, "summary.csv": means}
    return frames if depth is not None else {**frames, "radius.csv": evaluate_radius(counts)}


def _relevant(
    shards: Iterator[Any], arguments: Named, options: Named, relevant_from: int
) -> pl.DataFrame:
    """Count R of every query, which counts of the nearest items do not contain."""
    labels, ids = zip(*((labels, ids) for _, labels, ids in shards), strict=True)
    exclude = options.get("exclude_self", False)
    return count_relevant(
        arguments["query_labels"],
        np.concatenate(labels),
        query_ids=arguments["query_ids"],
        item_ids=np.concatenate(ids) if exclude and ids[0] is not None else None,
        relevance=options.get("relevance", "any"),
        relevant_from=relevant_from,
        exclude_self=exclude,
    )
