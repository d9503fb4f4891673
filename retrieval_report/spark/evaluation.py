"""Score rankings and count ties on a cluster: `score_part` over groups of queries."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial, reduce
from typing import Unpack

import polars as pl
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from retrieval_report.contracts.errors import ParameterError, RetrievalReportError
from retrieval_report.contracts.frames import check_counts, check_rankings
from retrieval_report.contracts.options import (
    NO,
    EvaluateOptions,
    Options,
    options_with,
)
from retrieval_report.contracts.warning import warn
from retrieval_report.contracts.wording import Reader, portable_reader, speaking_to
from retrieval_report.engines.score_parts import (
    TELLING,
    facts_of,
    known_of,
    score_part,
    with_ends,
)
from retrieval_report.metrics.parsing import Cutoffs, Metrics, parse_metrics
from retrieval_report.scoring.judged import KnownOfWhole, frames_beside, judge
from retrieval_report.scoring.layout import evidence_of
from retrieval_report.spark.failures import our_errors
from retrieval_report.spark.frames import (
    PATH,
    arrow_schema,
    collected,
    empty_of,
    frames_of,
    rankings_of,
)

PART_ROWS = 1 << 17  # rows scored together, so that no Python code runs for every query
BATCH_ROWS = 1 << 16  # scores per output batch
FRAMES = ("rankings", "judgements", "queries")

Frame = pl.DataFrame | None
Work = Callable[..., Iterable[pl.DataFrame]]  # on rankings, judgements and queries of a part


def evaluate(
    rankings: DataFrame,
    *,
    judgements: object = None,
    queries: object = None,
    measures: Metrics = None,
    cutoffs: Cutoffs = None,
    clustered: bool = False,
    partitions: int | None = None,
    metrics: Metrics = None,
    **options: Unpack[EvaluateOptions],
) -> DataFrame:
    """Score rankings on a cluster; return what
    :func:`retrieval_report.evaluate` returns, as a Spark frame.

    Rankings, judgements and queries are divided by query, and each group of queries is scored by
    the same function as on one machine, so every score is equal to the last bit. A pass over two
    columns finds the models and the grades immediately, and with ``truncated="auto"`` a second one
    looks at all lists; everything else is computed by actions on the returned frame. Executors need
    this package, pandas and PyArrow. Wrap actions in :func:`our_errors`, which turns errors of
    executors into this package's errors.

    Parameters
    ----------
    rankings
        Rankings or counts, with the columns of :func:`retrieval_report.evaluate`, or those that
        :func:`retrieval_report.read_rankings` knows; a column with our own name takes precedence,
        whatever the value of ``spark.sql.caseSensitive``. Where ties are long and whole queries lie
        together in files, ``count_ties(rankings)`` is less to send.
    judgements, queries
        As for :func:`retrieval_report.evaluate`; Spark frames, or local ones, which are sent to the
        cluster.
    measures, cutoffs, metrics
        As for :func:`retrieval_report.evaluate`.
    clustered
        Whether the rows of every query, of all models, are already in one partition of the frame
        (buckets, or files of whole queries that ``spark.sql.files.maxPartitionBytes`` does not
        split), so that nothing is sent. :func:`summarise` checks this afterwards: it refuses a list
        that occurs twice.
    partitions
        Number of partitions over which queries are spread; by default
        ``spark.sql.shuffle.partitions`` and adaptive execution decide.
    **options
        All other options of :func:`retrieval_report.evaluate`; ``threads`` and ``progress`` have no
        effect. Naive scores take rows in the order of ``row``, or in the order of file
        paths and rows if the frame was just read from Parquet; otherwise they are refused.

    Returns
    -------
    pyspark.sql.DataFrame
        The columns of :func:`retrieval_report.evaluate`, in no particular order.

    Raises
    ------
    RetrievalReportError
        Immediately for arguments, columns and grades; during actions for values in the data.
    """
    checked = replace(options_with(options), threads=1, progress=False)  # Spark has its own
    requests = parse_metrics(measures, cutoffs, metrics)
    frames = frames_of(rankings, judgements, queries, checked)
    empty = [empty_of(frames[name]) if name in frames else None for name in FRAMES]

    def mapped(work: Work) -> DataFrame:
        schema = arrow_schema(pl.concat(work(*empty)))
        of_parts = partial(_of_parts, work=work, schema=schema, reader=portable_reader())
        return rows.mapInArrow(of_parts, from_arrow_schema(schema))

    # No rows are scored first, so that wrong arguments and columns are refused.
    score_part(
        *_checked(checked, *empty),
        requests,
        replace(checked, truncated=NO),
        KnownOfWhole(part=True),
    )
    rows = _divided(frames, clustered, partitions)
    with our_errors():
        facts = _facts(frames, checked)
        whole = known_of(facts)
        if whole.models and not whole.relevant:
            warn("no query has a relevant item")
        evidence = partial(_evidence, options=checked, whole=whole)
        decided = with_ends(checked, whole, facts, lambda: collected(mapped(evidence)))
    return mapped(
        lambda *given: score_part(*_checked(checked, *given), requests, decided, whole).frames(
            BATCH_ROWS
        )
    )


def _facts(frames: Mapping[str, DataFrame], options: Options) -> pl.DataFrame:
    """Return what all rows tell of the whole."""
    if options.exclude_self:
        finds_itself = F.col("item").cast("string") == F.col("query").cast("string")
        frames = {
            name: frame.withColumn("relevance", F.when(~finds_itself, F.col("relevance")))
            if {"item", "relevance"} <= {*frame.columns}
            else frame
            for name, frame in frames.items()
        }
    facts = {
        name: collected(frame.select(*(c for c in TELLING if c in frame.columns)).distinct())
        for name, frame in frames.items()
    }
    judgements, queries = facts.get("judgements"), facts.get("queries")
    near = replace(options, distance_threshold=None)  # as if no row were too far
    return facts_of(facts["rankings"], judgements, queries, near).collect()


def _evidence(*frame: Frame, options: Options, whole: KnownOfWhole) -> Iterable[pl.DataFrame]:
    lists = evidence_of(judge(*_checked(options, *frame), options, whole), options)
    # Spark has no unsigned numbers; keys of 64 bits are only compared.
    keys = pl.col(pl.UInt64).reinterpret(signed=True)
    return [lists.with_columns(keys, pl.col(pl.UInt32).cast(pl.Int64))]


def _divided(frames: Mapping[str, DataFrame], clustered: bool, partitions: int | None) -> DataFrame:
    """Return the rows of all frames, each as a record in the column of its frame, where those of a
    query stand together.
    """
    if clustered and len(frames) > 1:
        raise ParameterError(
            "clustered=True: judgements and queries frames have to be brought to the lists, which "
            "is the exchange that it should avoid; leave clustered out, or join the relevance to "
            "the rankings first"
        )
    query = F.col("query").cast("string").alias("key")  # '7' and 7 may be the same query
    records = [
        frame.select(query, F.struct(*frame.columns).alias(name)) for name, frame in frames.items()
    ]
    rows = reduce(partial(DataFrame.unionByName, allowMissingColumns=True), records)
    if not clustered:
        rows = rows.repartition(*([] if partitions is None else [partitions]), "key")
    return rows.sortWithinPartitions("key")


def _of_parts(
    batches: Iterable[pa.RecordBatch], work: Work, schema: pa.Schema, reader: Reader | None
) -> Iterator[pa.RecordBatch]:
    """Yield what ``work`` returns of every part, on an executor; errors are for a reader."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nobody would see them
        for part in _parts(batches):
            part_frames = [
                part[name].drop_nulls().struct.unnest() if name in part.columns else None
                for name in FRAMES
            ]
            try:
                with speaking_to(reader):
                    frames = work(*part_frames)
                for frame in frames:
                    table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
                    yield from table.cast(schema).combine_chunks().to_batches()
            except RetrievalReportError as error:
                message = re.sub(r" \(row \d+\)", "", str(error))  # rows have no numbers here
                error.args = (message,)
                error.add_note(f"Counted in {part.height} rows scored together, not in the whole.")
                raise


def _parts(batches: Iterable[pa.RecordBatch]) -> Iterator[pl.DataFrame]:
    """Yield the rows of whole queries, in frames of little more than PART_ROWS rows unless a single
    query has more.
    """
    parts = pl.DataFrame()
    enough = PART_ROWS
    for batch in batches:
        parts = pl.concat([parts, pl.DataFrame(pl.from_arrow(batch))], how="diagonal")
        if parts.height >= enough:
            done = parts["key"].ne_missing(parts["key"][-1])  # the last query may continue
            if done.any():
                yield parts.filter(done)
            parts = parts.filter(~done)
            enough = max(PART_ROWS, 2 * parts.height)
    if parts.height:
        yield parts


def _checked(
    options: Options, rankings: Frame, judgements: Frame, queries: Frame
) -> tuple[pl.DataFrame, Frame, Frame]:
    """Return rankings in the order received, and the others checked."""
    assert rankings is not None
    if PATH in rankings.columns:
        rankings = rankings.sort(PATH, "row").drop(PATH, "row")
    return rankings, *frames_beside(judgements, queries, options.repeated_judgements)


def count_ties(rankings: DataFrame) -> DataFrame:
    """Count items by model, query, distance and relevance, as :func:`retrieval_report.count_ties`
    does, on a cluster.

    Parameters
    ----------
    rankings
        Rankings with a column ``relevance``, or counts whose matching rows are to be added up.

    Returns
    -------
    pyspark.sql.DataFrame
        ``model``, ``query``, ``distance`` or ``score``, ``relevance``, ``count``, in no particular
        order, but not, as on one machine, what other models retrieved: such counts do not tell R of
        several models. Nothing is computed yet, and values are not checked: :func:`evaluate`
        refuses bad ones, but not items that occurred twice in a list.
    """
    rows = rankings_of(rankings, Options(policies="expected"))
    empty = empty_of(rows)
    has_counts = "count" in rows.columns
    _ = check_counts(empty) if has_counts else check_rankings(empty)
    for mark in {"mask", "retrieved"} & set(rows.columns):
        rows = rows.filter(mark)
    names = ("model", "query", "distance", "score", "relevance", "truncated")
    # A count below 1 makes the sum null, which is refused later.
    number = F.when(F.min("count") > 0, F.sum("count")) if has_counts else F.count("*")
    return rows.groupBy(*(name for name in names if name in rows.columns)).agg(
        number.cast("long").alias("count")
    )
