"""Load reports again, and compare them with earlier ones."""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path

import polars as pl

from retrieval_report.comparison.verdicts import first_that_holds
from retrieval_report.contracts.arguments import Named, check_path
from retrieval_report.contracts.errors import FileError
from retrieval_report.study.contents import Report
from retrieval_report.study.export import ABOUT, WORDS, read_csv
from retrieval_report.study.questions import FRAMES

KEYS = ("model", "metric", "cutoff", "policy")


def read_report(path: str | os.PathLike[str]) -> Report:
    """Load a report from a folder written by `write_report`.

    Parameters
    ----------
    path
        The folder. If there are several formats, Parquet is preferred, then CSV, then JSON.

    Returns
    -------
    Report
        With the words and numbers of the one that was written.

    Raises
    ------
    FileError
        The folder holds no report with numbers (HTML alone cannot be loaded), or one of its files
        is missing or damaged.
    """
    folder = check_path("path", path)
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        words = {name: about[name] for name in WORDS} | {"verdict": tuple(about["verdict"])}
        return Report(**words, frames={name: _read_frame(folder, name, about) for name in FRAMES})
    except OSError as error:
        raise FileError(
            f"'{folder}': there is no report to load: {error.strerror}: '{error.filename}'"
        ) from error
    except (AttributeError, KeyError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
        raise FileError(
            f"'{folder}': the report is damaged: {type(error).__name__}: {error}"
        ) from error


def _read_frame(folder: Path, name: str, about: Named) -> pl.DataFrame:
    schema = {column: getattr(pl, dtype)() for column, dtype in about["columns"][name].items()}
    if not schema:
        return pl.DataFrame()
    kind = about["formats"][0]
    file = f"{name}.{kind}"
    data = (folder / file).read_bytes()
    if about["sha256"][file] != sha256(data).hexdigest():
        raise ValueError(
            f"{file} is not the file that {ABOUT} describes; was its writer stopped, or the file "
            "edited?"
        )
    if kind == "parquet":
        return pl.read_parquet(data)
    return (
        read_csv(data, schema, raw=about["raw"])
        if kind == "csv"
        else pl.read_json(data, schema=schema)
    )


def compare_reports(before: Report | str | Path, after: Report | str | Path) -> pl.DataFrame:
    """Show what changed in the summary from one report to another.

    Parameters
    ----------
    before, after
        Reports from `report_contents` or `read_report`, or folders of reports.

    Returns
    -------
    polars.DataFrame
        One row per ``model``, ``metric``, ``cutoff``, ``policy`` of either report, in the order of
        ``after``, with rows only in ``before`` at the end: ``before``, ``after`` (the means; null
        if there is none), ``difference`` (after − before), ``change``: "same" (every digit),
        "changed", "new" or "gone". Where to look for the reason is said by ``fingerprint`` and
        ``parameters`` of the reports.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report.report import report_contents
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 5],
    ...         "relevance": [0, 1, 0, 1],
    ...     }
    ... )
    >>> before = report_contents(rankings, metrics="rr@3")
    >>> after = report_contents(
    ...     rankings.with_columns(distance=pl.Series([0, 1, 2, 5])), metrics="rr@3"
    ... )
    >>> changes = compare_reports(before, after).filter(policy="expected")
    >>> changes.select(pl.col("difference").round(4), "change").row(0)
    (0.0833, 'changed')
    """
    before, after = (
        part if isinstance(part, Report) else read_report(part) for part in (before, after)
    )
    old = before.summary.select(*KEYS, before="value")
    joined = after.summary.select(*KEYS, after="value").join(
        old,
        on=KEYS,
        how="full",
        coalesce=True,
        nulls_equal=True,
        maintain_order="left_right",
    )
    same = pl.col("before").eq_missing(pl.col("after"))
    rules = {"same": same, "new": pl.col("before").is_null(), "gone": pl.col("after").is_null()}
    return joined.select(
        *KEYS,
        "before",
        "after",
        difference=pl.col("after") - pl.col("before"),
        change=first_that_holds(rules, "changed"),
    )
