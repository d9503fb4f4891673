"""`evaluate --engine spark`: compute the same numbers on a cluster, or by Spark on this machine."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrieval_report.cli.engines import Task, watched
from retrieval_report.cli.settings import check
from retrieval_report.contracts.errors import OutputError, ParameterError
from retrieval_report.writing.files import check_writable_folder, csv_bytes, write_files

if TYPE_CHECKING:
    import polars as pl


def on_spark(task: Task) -> tuple[pl.DataFrame, list[str]]:
    """Score Parquet on Spark, into Parquet with one folder per model."""
    check(**task.settings)
    try:
        from retrieval_report.spark.sessions import is_local, session
    except ImportError as error:
        raise ParameterError(f"--engine spark: {error}; and Java 17 or 21") from error
    out = task.output.out
    here = out is not None and is_local(task.master) and "://" not in out
    with ExitStack() as stack:
        scores = None if out is None else f"{out.rstrip('/')}/scores"
        if here and out is not None:
            task.folder("summary.csv")
            scores = str(stack.enter_context(_new_folder(out)))
        spark = stack.enter_context(session(task.master, progress=watched()))
        summary = _run(spark, task, scores)
        if scores is None:
            return summary, []
        return summary, [scores, _write_summary(spark, task, summary, here=here)]


def _run(spark: Any, task: Task, scores: str | None) -> pl.DataFrame:
    """Return the summary; scores are written first and read back, so that they are computed once."""
    import retrieval_report.spark as on
    from retrieval_report.reading.names import JUDGEMENTS, QUERIES
    from retrieval_report.spark.files import frame_beside, rankings_frame, scores_frame, write_scores

    data = task.data
    queries = None if data.queries is None else frame_beside(spark, data.queries, QUERIES)
    rankings = rankings_frame(spark, data.rankings, data.columns)
    if not task.trust_items and "item" in rankings.columns:
        on.check_items(rankings)
    frame = on.evaluate(
        rankings,
        judgements=None if data.judgements is None else frame_beside(spark, data.judgements, JUDGEMENTS),
        queries=queries,
        plan=task.plan,
        **task.settings,
    )
    if scores is not None:
        write_scores(frame, scores)
        frame = scores_frame(spark, scores, frame)
    return _in_order(on.summarise(frame, queries=queries, average=task.average), task.settings)


def _in_order(summary: pl.DataFrame, settings: Mapping[str, Any]) -> pl.DataFrame:
    """Return the summary as other engines do, with metrics, cutoffs and policies in the requested order."""
    import polars as pl

    from retrieval_report.contracts.frames import SUMMARY
    from retrieval_report.contracts.options import Options
    from retrieval_report.metrics.parsing import parse_metrics

    asked = [
        (str(metric), cutoff, policy)
        for metric, cutoffs in parse_metrics(settings["metrics"], settings["cutoffs"])
        for cutoff in cutoffs
        for policy in Options(policies=settings["policies"]).policies
    ]
    keys = {name: SUMMARY[name] for name in ("metric", "cutoff", "policy")}
    locations = pl.DataFrame(asked, schema=keys, orient="row").with_row_index("location")
    return (
        summary.join(locations, on=list(keys), how="left", nulls_equal=True).sort("model", "location").drop("location")
    )


def _write_summary(spark: Any, task: Task, summary: pl.DataFrame, *, here: bool) -> str:
    from retrieval_report.spark.files import write_csv

    path = f"{str(task.output.out).rstrip('/')}/summary.csv"
    if here:
        write_files({Path(path): csv_bytes(summary, raw=task.output.raw)})
    else:
        write_csv(spark, summary, path)
    return path


@contextmanager
def _new_folder(out: str) -> Iterator[Path]:
    """Provide a new folder for scores on this machine, which is removed again after an error."""
    folder = check_writable_folder(out)
    scores = folder.absolute() / "scores"
    if scores.exists():
        raise OutputError(f"cannot write to '{scores}': it already exists, and nothing is replaced")
    new = not folder.exists()
    try:
        yield scores
    except BaseException:
        shutil.rmtree(folder if new else scores, ignore_errors=True)
        raise
