"""Write a report as files: everything is rendered first, then all files appear together."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from retrieval_report.contracts.arguments import Names, check_flag, check_text, listed, some
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.warning import warn
from retrieval_report.study.contents import Report
from retrieval_report.study.export import ABOUT, FRAME_FORMATS, about_bytes, frame_files
from retrieval_report.study.latex_markdown import latex_table, markdown_table
from retrieval_report.study.questions import FRAMES
from retrieval_report.writing.files import check_writable_folder, write_files

FORMATS = ("html", "csv", "parquet", "json", "markdown", "latex")


def save_report(
    folder: Path, report: Report, *, formats: Names, timestamp: str | None, raw: bool
) -> list[Path]:
    """Write a finished report into a folder that can be written to; see `write_report`."""
    chosen = formats_of(formats)
    files = {folder / name: data for name, data in _render(report, chosen, timestamp, raw).items()}
    write_files(files, gone={folder / name for name in _earlier(folder)} - files.keys())
    # Files that are not listed in an ``about.json`` may be the user's own, and stay.
    others = {folder / name: name for name in report_names()}
    left = [name for path, name in others.items() if path not in files and path.exists()]
    if left:
        warn(f"'{folder}': {some(left)} existed before and are not part of this report")
    return list(files)


def check_output(
    folder: str | os.PathLike[str], formats: object, timestamp: object, raw: object
) -> Path:
    """Return the folder as a path; refuse what cannot be written, before anything is computed."""
    formats_of(formats)
    check_flag("raw", raw)
    if timestamp is not None:
        check_text("timestamp", timestamp)
    return check_writable_folder(folder)


def formats_of(formats: object) -> list[str]:
    """Return the formats as a list, of which each is known."""
    chosen = listed(formats)
    for name in chosen:
        check_choice("formats", name, FORMATS)
    return list(map(str, chosen))


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
