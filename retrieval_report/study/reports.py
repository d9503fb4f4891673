"""Make a report of rankings: its contents, and the files that hold them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Unpack

from retrieval_report.contracts.arguments import Named, Names
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.metrics.parsing import Metrics
from retrieval_report.study.contents import Report
from retrieval_report.study.study import Study
from retrieval_report.study.study_data import StudyOptions
from retrieval_report.study.write import save_report


class ReportOptions(StudyOptions, total=False):
    """The options of ``report_contents``."""

    judgements: object
    queries: object
    judge: str | None
    replicate: object
    labels: object
    measures: Metrics
    metrics: Metrics
    like: str | None
    title: str | None
    command: str | None


def report_contents(rankings: object, **options: Unpack[ReportOptions]) -> Report:
    """Compute everything in a report; `write_report` turns it into files.

    Parameters
    ----------
    rankings, judgements, queries, measures, cutoffs, metrics
        The same as for :func:`evaluate`; the verdict and the charts are about the first measure.
        Judgements may be those of several judges by name, as for :class:`Study`.
    judge
        Of several judges, the one of the headline; by default the first.
    like
        A system whose definitions and tie order to use, such as "trec_eval"; see
        :func:`evaluate_like`.
    average
        The same as for :func:`summarise`.
    by
        A column of the queries, to find which of its values change the winner; see
        :func:`segment_winners`.
    replicate, dataset
        Replicates of models, and data sets of queries, as for :class:`Study`.
    baseline, margin
        The model that others are compared with, and the largest loss that does not matter; see
        :func:`no_worse`.
    costs
        A cost for every model, such as bytes per vector; see :func:`cost_table`.
    labels, k
        Labels of items, and how many of the nearest vote on those of the queries; see :func:`knn`.
    calibrate, at_least
        The metric by which a threshold of distance is chosen, and what it has to reach; see
        :func:`thresholds`.
    correction
        How p-values allow for the number of pairs: "max-t", "holm", "skewed" or "bh";
        see :func:`compare`.
    title
        The page's heading; by default how many models and queries there are.
    command
        The command that makes the same report; by default a call of `write_report`.
    **options
        Options of :func:`evaluate` such as ``shuffles``, ``seed``, ``no_relevant``, except
        ``policies``, since a report has all of them.

    Returns
    -------
    Report

    Raises
    ------
    RetrievalReportError
        As for :func:`evaluate`.

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "model": ["coarse"] * 4 + ["fine"] * 4,
    ...         "query": ["q"] * 8,
    ...         "item": list("abcd") * 2,
    ...         "distance": [1, 1, 1, 1, 2, 1, 3, 4],
    ...         "relevance": [1, 0, 0, 0] * 2,
    ...     }
    ... )
    >>> report = report_contents(rankings, measures="rr@2", truncated="no")
    >>> report.measure, report.status
    ('rr@2', 'depends on tie order')
    >>> print(report.verdict[0])
    fine has the highest expected rr@2: 0.5000, ahead of coarse (0.3750).
    """
    settings: Named = {**options}
    page = {name: settings.pop(name, None) for name in ("title", "command")}
    return Study(rankings, settings.pop("measures", None), **settings).contents(**page)


def write_report(
    path: str | os.PathLike[str],
    rankings: object,
    *,
    formats: Names = ("html", "csv"),
    timestamp: str | None = None,
    raw: bool = False,
    **contents: Unpack[ReportOptions],
) -> list[Path]:
    """Write a report into a folder: a page to open, and its numbers as files.

    Parameters
    ----------
    path
        The folder; it is created if its parent exists. The files of an existing report are
        replaced, all or none; those listed in its ``about.json`` in formats that are not requested
        are removed.
    rankings
        A rankings or counts frame, as for :func:`evaluate`, or a :class:`Report` from
        :func:`report_contents`.
    formats
        Any of

        - "html": ``report.html``, one file that needs neither network nor other files;
        - "csv": a file for each frame, and ``columns.csv``, which explains every column; text that
          a spreadsheet would run as a formula has a leading ``'``, which :func:`read_report`
          removes again;
        - "parquet", "json": the same frames;
        - "markdown", "latex": ``summary.md``, ``summary.tex``: the summary as a table to paste.

        ``about.json`` (parameters, versions, types) comes with csv, parquet and json.
    timestamp
        Text shown as the time of the report. Without it, the same input gives the same bytes.
    raw
        Whether to leave text in CSV unchanged.
    **contents
        Arguments of :func:`report_contents` such as ``judgements`` and ``metrics``; not with a
        :class:`Report`.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    OutputError
        The folder cannot be written to (found before anything is computed), or a file cannot.

    Examples
    --------
    >>> import tempfile
    >>> import polars as pl
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 5],
    ...         "relevance": [0, 1, 0, 1],
    ...     }
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = write_report(
    ...         folder, rankings, measures="ap@3", truncated="no", formats="markdown"
    ...     )
    ...     print(files[0].read_text(encoding="utf-8"))  # doctest: +ELLIPSIS
    | model | ap@3 |
    | --- | ---: |
    | **model** | **0.2083 ± 0.0417** |
    ...
    """

    def make() -> Report:
        if not isinstance(rankings, Report):
            return report_contents(rankings, **contents)
        if contents:
            raise ParameterError(
                f"write_report: a finished report takes no {', '.join(sorted(contents))}"
            )
        return rankings

    return save_report(path, make, formats, timestamp, raw)
