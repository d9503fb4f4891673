"""The engines of `evaluate --engine`: where scores are computed, and which files hold them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from retrieval_report.cli.files import Data, Output, no_rows, read_costs, read_judgements, read_queries
from retrieval_report.cli.settings import SETTINGS, check, settled
from retrieval_report.writing.files import csv_bytes, write_files
from retrieval_report.writing.temporary import scratch

if TYPE_CHECKING:
    import polars as pl

    from retrieval_report import Study


@dataclass(frozen=True)
class Task:
    """The arguments of `evaluate` on the command line."""

    data: Data
    output: Output
    average: str
    settings: dict[str, Any]
    master: str = "local[*]"  # these three are for Spark only
    plan: str = "auto"
    trust_items: bool = False
    resume: bool = False  # for one process and its disk alone

    def folder(self, *names: str) -> Path | None:
        """Return the folder for results of these names on this machine; see `Output.check`."""
        return self.output.check(self.data.paths, *names)


Engine = Callable[[Task], tuple["pl.DataFrame", Sequence[str | Path]]]  # the summary, and the files written


def in_memory(task: Task) -> tuple[pl.DataFrame, list[Path]]:
    """Read everything into memory, and write CSV."""
    task.folder("scores.csv", "summary.csv")
    check(**task.settings)
    scores, summary = score(task.data.read(), average=task.average, **task.settings)
    return summary, task.output.write({"scores.csv": scores, "summary.csv": summary})


def on_disk(task: Task) -> tuple[pl.DataFrame, list[Path]]:
    """Score Parquet or Arrow files part by part, into Parquet, because scores may also be larger than memory."""
    import polars as pl

    import retrieval_report as rr
    from retrieval_report.contracts.frames import SCORES

    folder = task.folder("scores.parquet", "summary.csv")
    kept = folder / "scores.parquet.parts" if folder is not None and task.resume else None
    check(**task.settings)
    queries, judgements = read_queries(task.data.queries), read_judgements(task.data.judgements)
    nothing = pl.DataFrame(schema={name: dtype or pl.Null for name, dtype in SCORES.items()})
    rr.summarise(nothing, queries=queries, average=task.average)  # reports early what the average needs
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
        if folder is None:
            return summary, []
        files: dict[Path, bytes | Path] = {
            folder / "scores.parquet": scores,
            folder / "summary.csv": csv_bytes(summary, raw=task.output.raw),
        }
        write_files(files)
    if kept is not None:
        shutil.rmtree(kept, ignore_errors=True)
    return summary, list(files)


def score(data: Mapping[str, Any], *, average: str = "micro", **settings: Any) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Evaluate and summarise the data, with progress if a person is watching."""
    import retrieval_report as rr

    if "like" in settings:
        scores = rr.systems.evaluate_like(**data, **settings)
    else:
        scores = rr.evaluate(**data, progress=watched(), **settings)
    return scores, rr.summarise(scores, queries=data["queries"], average=average)


def study_of(data: Data, settings: Mapping[str, Any]) -> Study:
    """Check the settings of a command, and read its files into a study."""
    import retrieval_report as rr

    chosen = settled(settings)
    check(**{name: value for name, value in chosen.items() if name in (*SETTINGS, "like")})
    measures, costs = chosen.pop("metrics"), chosen.pop("costs", None)
    return rr.Study(**data.read(), measures=measures, **chosen, costs=read_costs(costs), progress=watched())


def watched() -> bool:
    """Return whether a person is watching the terminal and should see progress."""
    return sys.stderr is not None and sys.stderr.isatty()


def _summarised(scores: Path, queries: object, average: str, settings: dict[str, Any]) -> pl.DataFrame:
    """Summarise scores in a file, holding one metric and cutoff at a time in memory."""
    import polars as pl

    import retrieval_report as rr
    from retrieval_report.analysis.inputs import at_measure
    from retrieval_report.analysis.summary import with_bounds
    from retrieval_report.metrics.parsing import parse_metrics

    rows = pl.scan_parquet(scores, glob=False)
    summaries = []
    for metric, cutoffs in parse_metrics(settings["metrics"], settings["cutoffs"]):
        for cutoff in cutoffs:
            own = rows.filter(at_measure(str(metric), cutoff)).collect(engine="streaming")
            for policy in dict.fromkeys(settings["policies"]):
                summaries.append(rr.summarise(own.filter(policy=policy), queries=queries, average=average))
    return with_bounds(pl.concat(summaries)).sort("model", maintain_order=True)
