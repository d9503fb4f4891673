"""Write a report as files: everything is rendered first, then all files appear together."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from retrieval_report.contracts.arguments import as_list, check_flag, check_text, some
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.warning import warn
from retrieval_report.study.contents import Report
from retrieval_report.study.export import ABOUT, FRAME_FORMATS, about_bytes, frame_files
from retrieval_report.study.latex_markdown import latex_table, markdown_table
from retrieval_report.study.questions import FRAMES
from retrieval_report.writing.files import check_writable_folder, write_files

FORMATS = ("html", "csv", "parquet", "json", "markdown", "latex")


def save_report(
    folder_name: str | os.PathLike[str],
    make: Callable[[], Report],
    formats: object,
    timestamp: str | None,
    raw: bool,
) -> list[Path]:
    """Write the report that is made into a folder, after
    refusing what cannot be written; see `write_report`.
    """
    format_names: list[Any] = as_list(formats)
    for name in format_names:
        check_choice("formats", name, FORMATS)
    check_flag("raw", raw)
    if timestamp is not None:
        check_text("timestamp", timestamp)
    folder = check_writable_folder(folder_name)
    files = _render(make(), format_names, timestamp, raw)
    earlier = {name for name in _earlier(folder) if name not in files}
    write_files(
        {folder / name: data for name, data in files.items()},
        gone=[folder / name for name in earlier],
    )
    # Files that are not listed in an ``about.json`` may be the user's own, and stay.
    stale_files = [
        name for name in report_names() if name not in files and (folder / name).exists()
    ]
    if stale_files:
        warn(f"'{folder}': {some(stale_files)} existed before and are not part of this report")
    return [folder / name for name in files]


def report_names() -> list[str]:
    """Return the names of all files of a report, in all formats."""
    frames = [f"{name}.{ending}" for name in (*FRAMES, "columns") for ending in FRAME_FORMATS]
    return ["report.html", "summary.md", "summary.tex", ABOUT, *frames]


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
    files = {}
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
