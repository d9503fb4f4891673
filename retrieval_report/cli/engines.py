"""The engines of `evaluate --engine`: where scores are computed, and which files hold them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

import retrieval_report as rr
from retrieval_report.cli.files import (
    InputFiles,
    Output,
    no_rows,
)
from retrieval_report.cli.settings import SETTINGS, check, settled
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.frames import merge_repeats
from retrieval_report.contracts.options import OPTIONS, Options
from retrieval_report.contracts.steps import step
from retrieval_report.contracts.warning import noticed
from retrieval_report.scoring.health import health_of, health_of_summary
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.writing.files import csv_bytes, write_files
from retrieval_report.writing.temporary import Scratch, scratch

if TYPE_CHECKING:
    from retrieval_report.study.study import Study


SAMPLED_ROWS, SAMPLED_QUERIES, FEWEST_SAMPLED = 1_000_000, 100, 3  # of files, for their health
FILES = (
    "scores.csv",
    "scores.parquet",
    "summary.csv",
    "health.csv",
)  # of which an engine writes one kind of scores and removes the other


# What an engine returns: the summary, the files that it wrote, what may be wrong with the data, and
# sentences on what the summary cannot show.
Scored = tuple[pl.DataFrame, Sequence[str | Path], pl.DataFrame, Sequence[str]]


def in_memory(
    data: InputFiles, output: Output, average: str, settings: Named, **_: object
) -> Scored:
    """Read everything into memory, and write CSV."""
    output.check(data.paths, *FILES)
    inputs = data.read()
    rules = _options(settings)
    judged = judge(**inputs, options=rules)
    # Before scoring: beside the arrays of scores it would be the peak of memory.
    health = health_of(judged, rules, columns=data.columns)
    if "like" in settings:
        scores = step("scored", lambda: rr.systems.evaluate_like(**inputs, **settings))
    else:
        scores = step("scored", lambda: rr.evaluate(judged, progress=watched(), **settings))
    summary = rr.summarise(scores, queries=inputs["queries"], average=average)
    tables = {"scores.csv": scores, "summary.csv": summary}
    tables |= {"health.csv": health} if health.height else {}
    files = output.write(tables, instead=["scores.parquet"])
    return summary, files, health, _lengths(scores, summary)


def on_disk(
    data: InputFiles, output: Output, average: str, settings: Named, *, resume: bool, **_: object
) -> Scored:
    """Score Parquet or Arrow files part by part, into
    Parquet, because scores may also be larger than memory.
    """
    from retrieval_report.contracts.frames import SCORES

    folder = output.check(data.paths, *FILES)
    parts_folder = folder / "scores.parquet.parts" if folder is not None and resume else None
    queries = data.read_queries()
    judgements = data.read_judgements()
    nothing = pl.DataFrame(schema={name: dtype or pl.Null for name, dtype in SCORES.items()})
    rr.summarise(nothing, queries=queries, average=average)  # reports early what the average needs
    with scratch(folder if folder is None or folder.is_dir() else folder.parent) as temporary:
        scores = step(
            "parts",
            lambda: rr.evaluate_to(
                temporary() / "scores.parquet",
                list(data.rankings),
                judgements=judgements,
                queries=queries,
                columns=data.columns,
                progress=watched(),
                resume=parts_folder,
                **settings,
            ),
        )
        summary = step("summary", lambda: _summarised(scores, queries, average, settings))
        if summary.is_empty():
            raise no_rows(data.rankings)
        notes = _lengths(pl.scan_parquet(scores, glob=False), summary)
        sources = {"judgements": judgements, "queries": queries}
        sample, note = step(
            "health", lambda: _sampled(data, scores, sources, _options(settings), temporary)
        )
        health = health_of_summary(summary, _options(settings), sample, note)
        if folder is None:
            return summary, [], health, notes
        files: dict[Path, bytes | Path] = {
            folder / "scores.parquet": scores,
            folder / "summary.csv": csv_bytes(summary, raw=output.raw),
        }
        if health.height:
            files[folder / "health.csv"] = csv_bytes(health, raw=output.raw)
        write_files(files, gone=[folder / "scores.csv"])
    if parts_folder is not None:
        shutil.rmtree(parts_folder, ignore_errors=True)
    return summary, list(files), health, notes


def _sampled(
    data: InputFiles, scores: Path, sources: Named, options: Options, folder: Scratch
) -> tuple[Judged, str]:
    """Return the judged lists of some queries of files that were scored part by part, and a note if
    these are not all queries.
    """
    from retrieval_report.engines.disk_tables import open_table

    table = open_table(list(data.rankings), folder, data.columns)
    query = pl.col("query").cast(pl.String)
    query_ids = pl.scan_parquet(scores, glob=False).select(query.unique().sort()).collect()["query"]
    most = max(FEWEST_SAMPLED, SAMPLED_ROWS * len(query_ids) // max(table.rows, 1))
    names = query_ids.gather_every(-(-len(query_ids) // min(most, SAMPLED_QUERIES))).implode()
    rows = table.collect(lambda rows: rows.filter(query.is_in(names)))
    repeated, judgements = (0, 0), sources["judgements"]
    if judgements is not None:
        merged = merge_repeats(judgements, options.repeated_judgements)
        repeated = judgements.height - merged.height, judgements.height
    frames: Named = {
        name: None if frame is None else frame.filter(query.is_in(names))
        for name, frame in sources.items()
    }
    with noticed():  # of all rows, warnings were given
        sample = judge(rows, **frames, options=options)
    number = len(names.item())
    note = (
        "" if number == len(query_ids) else f"; in a sample of {number} of {len(query_ids)} queries"
    )
    return replace(sample, repeated_judgements=repeated), note


def _options(settings: Named) -> Options:
    """Return the options of scoring among the settings of a command."""
    return Options(**{name: value for name, value in settings.items() if name in OPTIONS})


def _lengths(scores: pl.DataFrame | pl.LazyFrame, summary: pl.DataFrame) -> list[str]:
    """Return a sentence if whole-list measures are means over lists of unequal length."""
    from retrieval_report.study.caveats import uneven_lengths

    return uneven_lengths(
        scores, summary.select("metric", "cutoff").unique(maintain_order=True).rows()
    )


def study_of(data: InputFiles, settings: Named) -> Study:
    """Check the settings of a command, and read its files into a study."""
    from retrieval_report.reading.combine import columns_named
    from retrieval_report.reading.readers import read_costs

    study_settings = settled(settings, data.labels_as_rankings)
    check(**{name: value for name, value in study_settings.items() if name in (*SETTINGS, "like")})
    costs = study_settings.pop("costs", None)
    columns = columns_named(study_settings.get("replicate"), study_settings.get("dataset"))
    return rr.Study(
        **data.read(columns),
        **study_settings,
        costs=None if costs is None else read_costs(costs),
        progress=watched(),
    )


def watched() -> bool:
    """Return whether a person is watching the terminal and should see progress."""
    return sys.stderr is not None and sys.stderr.isatty()


def _summarised(scores: Path, queries: object, average: str, settings: Named) -> pl.DataFrame:
    """Summarise scores in a file, holding one metric and cutoff at a time in memory."""
    from retrieval_report.engines.check_scores import at_measure
    from retrieval_report.metrics.parsing import parse_metrics

    rows = pl.scan_parquet(scores, glob=False)
    summaries = []
    for metric, cutoffs in parse_metrics(settings["metrics"], settings["cutoffs"]):
        for cutoff in cutoffs:
            of_measure = rows.filter(at_measure(str(metric), cutoff)).collect(engine="streaming")
            summaries.append(rr.summarise(of_measure, queries=queries, average=average))
    return pl.concat(summaries).sort("model", maintain_order=True)


def on_spark(
    data: InputFiles, output: Output, average: str, settings: Named, *, master: str, **_: object
) -> Scored:
    """Score Parquet on Spark, into Parquet with one folder per model; scores are written first and
    read back, so that they are computed once.
    """
    try:
        import retrieval_report.spark as on
        from retrieval_report.spark import files
        from retrieval_report.spark.sessions import is_local, session
    except ImportError as error:
        raise ParameterError(f"--engine spark: {error}; and Java 17 or 21") from error
    out = None if output.out is None else output.out.rstrip("/")
    local = out is not None and is_local(master) and not files.is_address(out)
    if local:
        output.check(data.paths, "summary.csv")
    with session(master, progress=watched()) as spark:
        judgements, queries = (
            None if path is None else files.frame_beside(spark, path, kind)
            for path, kind in ((data.judgements, "judgements"), (data.queries, "queries"))
        )
        rankings = files.rankings_frame(spark, data.rankings, data.columns)
        scores = on.evaluate(rankings, judgements=judgements, queries=queries, **settings)
        if out is not None:
            files.write_scores(scores, f"{out}/scores")
            scores = files.scores_frame(spark, f"{out}/scores", scores)
        summary = on.summarise(scores, queries=queries, average=average)
        health = health_of_summary(summary, _options(settings))
        if out is None:
            return summary, [], health, []
        table = f"{out}/summary.csv"
        if local:
            write_files({Path(table): csv_bytes(summary, raw=output.raw)})
        else:
            files.write_csv(spark, summary, table)
    return summary, [f"{out}/scores", table], health, []
