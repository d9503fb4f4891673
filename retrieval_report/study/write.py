"""Write a report as files: everything is rendered first, then all files appear together."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from retrieval_report.contracts.arguments import some
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.warning import warn
from retrieval_report.study.contents import FRAMES, Report, ReportOptions, report_contents
from retrieval_report.study.export import ABOUT, FRAME_FORMATS, about_bytes, frame_files
from retrieval_report.study.latex_markdown import latex_table, markdown_table
from retrieval_report.writing.files import check_writable_folder, write_files

FORMATS = ("html", "csv", "parquet", "json", "markdown", "latex")


def write_report(
    path: str | os.PathLike[str],
    rankings: object,
    *,
    formats: str | Sequence[str] = ("html", "csv"),
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
    ...         folder, rankings, metrics="ap@3", truncated="no", formats="markdown"
    ...     )
    ...     print(files[0].read_text(encoding="utf-8"))  # doctest: +ELLIPSIS
    | model | ap@3 |
    | --- | ---: |
    | **model** | **0.2083 ± 0.0417** |
    ...
    """
    chosen = [formats] if isinstance(formats, str) else list(formats)
    for name in chosen:
        check_choice("formats", name, FORMATS)
    folder = check_writable_folder(path)
    if isinstance(rankings, Report):
        if contents:
            raise ParameterError(
                f"write_report: a finished report takes no {', '.join(sorted(contents))}"
            )
        report = rankings
    else:
        report = report_contents(rankings, **contents)
    files = {folder / name: data for name, data in _render(report, chosen, timestamp, raw).items()}
    gone = [folder / name for name in _earlier(folder) if folder / name not in files]
    write_files(files, gone=gone)
    _warn_left(folder, {path.name for path in files})
    return list(files)


def report_names() -> list[str]:
    """Return the names of all files of a report, in all formats."""
    frames = [f"{name}.{ending}" for name in (*FRAMES, "columns") for ending in FRAME_FORMATS]
    return ["report.html", "summary.md", "summary.tex", ABOUT, *frames]


def _warn_left(folder: Path, written: set[str]) -> None:
    """Warn about files that look like parts of this report but are not listed in an ``about.json``,
    and so stay.
    """
    left = [name for name in report_names() if name not in written and (folder / name).exists()]
    if left:
        warn(f"'{folder}': {some(left)} existed before and are not part of this report")


def _earlier(folder: Path) -> list[str]:
    """Return the files of an existing report, which would be mistaken for parts of the new one.

    Only files listed in its ``about.json`` count, because a file of the same name may be the user's
    own.
    """
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        return [name for name in about["files"] if Path(name).name == name]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _render(
    report: Report, formats: Sequence[str], timestamp: str | None, raw: bool
) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    if "html" in formats:
        # Jinja and Vega take time to load, which CSV alone does not need.
        from retrieval_report.study.html import render_html
        from retrieval_report.study.pictures import pictures

        files["report.html"] = render_html(report, pictures(report), timestamp=timestamp).encode()
    for kind in ("csv", "parquet", "json"):
        if kind in formats:
            files |= frame_files(report, kind, raw=raw)
    if "markdown" in formats:
        files["summary.md"] = markdown_table(report).encode()
    if "latex" in formats:
        files["summary.tex"] = latex_table(report).encode()
    if set(FRAME_FORMATS) & set(formats):
        files[ABOUT] = about_bytes(
            report, files=files, formats=formats, raw=raw, timestamp=timestamp
        )
    return files
