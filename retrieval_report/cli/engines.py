"""The engines of `evaluate --engine`: where scores are computed, and which files hold them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from retrieval_report.cli.files import (
    Data,
    Output,
    no_rows,
    read_costs,
    read_judgements,
    read_queries,
)
from retrieval_report.cli.settings import SETTINGS, check, settled
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import OutputError, ParameterError
from retrieval_report.contracts.steps import step
from retrieval_report.writing.files import check_writable_folder, csv_bytes, write_files
from retrieval_report.writing.temporary import scratch

if TYPE_CHECKING:
    import polars as pl

    from retrieval_report.study.study import Study


@dataclass(frozen=True)
class Task:
    """The arguments of `evaluate` on the command line."""

    data: Data
    output: Output
    average: str
    settings: Named
    master: str = "local[*]"  # for Spark only
    resume: bool = False  # for one process and its disk alone

    def folder(self, *names: str) -> Path | None:
        """Return the folder for results of these names on this machine; see `Output.check`."""
        return self.output.check(self.data.paths, *names)


FILES = (
    "scores.csv",
    "scores.parquet",
    "summary.csv",
)  # of which an engine writes two and removes the third


class Scored(NamedTuple):
    """What an engine returns."""

    summary: pl.DataFrame
    files: Sequence[str | Path]  # that were written
    notes: Sequence[str] = ()  # sentences on what the summary cannot show


Engine = Callable[[Task], Scored]


def in_memory(task: Task) -> Scored:
    """Read everything into memory, and write CSV."""
    task.folder(*FILES)
    check(**task.settings)
    scores, summary = score(task.data.read(), average=task.average, **task.settings)
    files = task.output.write(
        {"scores.csv": scores, "summary.csv": summary}, instead=["scores.parquet"]
    )
    return Scored(summary, files, _lengths(scores, summary))


def on_disk(task: Task) -> Scored:
    """Score Parquet or Arrow files part by part, into Parquet, because scores may also be larger
    than memory.
    """
    import polars as pl

    import retrieval_report as rr
    from retrieval_report.contracts.frames import SCORES

    folder = task.folder(*FILES)
    kept = folder / "scores.parquet.parts" if folder is not None and task.resume else None
    check(**task.settings)
    queries, judgements = read_queries(task.data.queries), read_judgements(task.data.judgements)
    nothing = pl.DataFrame(schema={name: dtype or pl.Null for name, dtype in SCORES.items()})
    rr.summarise(
        nothing, queries=queries, average=task.average
    )  # reports early what the average needs
    with scratch(folder if folder is None or folder.is_dir() else folder.parent) as room:
        scores = rr.evaluate_to(
            room() / "scores.parquet",
            list(task.data.rankings),
            judgements=judgements,
            queries=queries,
            columns=task.data.columns,
            progress=watched(),
            resume=kept,
            **task.settings,
        )
        summary = _summarised(scores, queries, task.average, task.settings)
        if summary.is_empty():
            raise no_rows(task.data.rankings)
        notes = _lengths(pl.scan_parquet(scores, glob=False), summary)
        if folder is None:
            return Scored(summary, [], notes)
        files: dict[Path, bytes | Path] = {
            folder / "scores.parquet": scores,
            folder / "summary.csv": csv_bytes(summary, raw=task.output.raw),
        }
        write_files(files, gone=[folder / "scores.csv"])
    if kept is not None:
        shutil.rmtree(kept, ignore_errors=True)
    return Scored(summary, list(files), notes)


def _lengths(scores: pl.DataFrame | pl.LazyFrame, summary: pl.DataFrame) -> list[str]:
    """Return a sentence if whole-list measures are means over lists of unequal length."""
    from retrieval_report.study.caveats import uneven_lengths

    return uneven_lengths(
        scores, summary.select("metric", "cutoff").unique(maintain_order=True).rows()
    )


def score(
    data: Named, *, average: str = "micro", **settings: Any
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Evaluate and summarise the data, with progress if a person is watching."""
    import retrieval_report as rr

    if "like" in settings:
        scores = rr.systems.evaluate_like(**data, **settings)
    else:
        scores = step("scored", lambda: rr.evaluate(**data, progress=watched(), **settings))
    return scores, rr.summarise(scores, queries=data["queries"], average=average)


def study_of(data: Data, settings: Named) -> Study:
    """Check the settings of a command, and read its files into a study."""
    import retrieval_report as rr

    chosen = settled(settings)
    check(**{name: value for name, value in chosen.items() if name in (*SETTINGS, "like")})
    measures, costs = chosen.pop("metrics"), chosen.pop("costs", None)
    return rr.Study(
        **data.read(), measures=measures, **chosen, costs=read_costs(costs), progress=watched()
    )


def watched() -> bool:
    """Return whether a person is watching the terminal and should see progress."""
    return sys.stderr is not None and sys.stderr.isatty()


def _summarised(scores: Path, queries: object, average: str, settings: Named) -> pl.DataFrame:
    """Summarise scores in a file, holding one metric and cutoff at a time in memory."""
    import polars as pl

    import retrieval_report as rr
    from retrieval_report.engines.check_scores import at_measure
    from retrieval_report.engines.summary import with_bounds
    from retrieval_report.metrics.parsing import parse_metrics

    rows = pl.scan_parquet(scores, glob=False)
    summaries = []
    for metric, cutoffs in parse_metrics(settings["metrics"], settings["cutoffs"]):
        for cutoff in cutoffs:
            own = rows.filter(at_measure(str(metric), cutoff)).collect(engine="streaming")
            for policy in dict.fromkeys(settings["policies"]):
                summaries.append(
                    rr.summarise(own.filter(policy=policy), queries=queries, average=average)
                )
    return with_bounds(pl.concat(summaries)).sort("model", maintain_order=True)


def on_spark(task: Task) -> Scored:
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
            return Scored(summary, [])
        return Scored(summary, [scores, _write_summary(spark, task, summary, here=here)])


def _run(spark: Any, task: Task, scores: str | None) -> pl.DataFrame:
    """Return the summary; scores are written first and read back, so that they are computed
    once.
    """
    import retrieval_report.spark as on
    from retrieval_report.reading.names import JUDGEMENTS, QUERIES
    from retrieval_report.spark.files import (
        frame_beside,
        rankings_frame,
        scores_frame,
        write_scores,
    )

    data = task.data
    queries = None if data.queries is None else frame_beside(spark, data.queries, QUERIES)
    frame = on.evaluate(
        rankings_frame(spark, data.rankings, data.columns),
        judgements=None
        if data.judgements is None
        else frame_beside(spark, data.judgements, JUDGEMENTS),
        queries=queries,
        **task.settings,
    )
    if scores is not None:
        write_scores(frame, scores)
        frame = scores_frame(spark, scores, frame)
    return _in_order(on.summarise(frame, queries=queries, average=task.average), task.settings)


def _in_order(summary: pl.DataFrame, settings: Named) -> pl.DataFrame:
    """Return the summary as other engines do, with metrics, cutoffs and policies in the requested
    order.
    """
    import polars as pl

    from retrieval_report.contracts.options import Options
    from retrieval_report.engines.check_scores import at_measure
    from retrieval_report.metrics.parsing import parse_metrics

    asked = [
        at_measure(str(metric), cutoff) & (pl.col("policy") == policy)
        for metric, cutoffs in parse_metrics(settings["metrics"], settings["cutoffs"])
        for cutoff in cutoffs
        for policy in Options(policies=settings["policies"]).policies
    ]
    return pl.concat([summary.filter(rows) for rows in asked]).sort("model", maintain_order=True)


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
