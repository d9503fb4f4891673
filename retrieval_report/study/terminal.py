"""Lay out frames as text for a terminal, with one aligned block per metric and cutoff."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from retrieval_report.contracts.registry import FRAMES
from retrieval_report.metrics.parsing import divided_by_relevant, measure_text
from retrieval_report.writing.numbers import (
    DECIMALS,
    amount,
    chance_text,
    column_decimals,
    decimals,
    number,
    size,
)

Row = Mapping[str, Any]  # one line of the summary frame
ByPolicy = Mapping[str, Row]  # the lines of one model

NAME_WIDTH = 40
CUT = "cut"  # shown instead of a standard deviation where items may be missing
UNKNOWN_R = "R?"  # and where R, by which a score is divided, may be larger
NOTHING = (
    "–"  # shown for a value that does not exist, such as a standard deviation without exact value
)
# In a chance 0 means impossible, so that a rounded 0 would be wrong.
TEXTS = {
    part.name: chance_text if part.format == "chance" else amount
    for frame in FRAMES.values()
    for part in frame.columns
    if part.format in ("chance", "amount")
}
# Counts are shown only if any is above 0.
COUNTS = {"no_relevant": "no relevant", "missing": "missing", "unjudged": "unjudged"}


def summary_table(summary: pl.DataFrame) -> str:
    """Lay out a summary as text, with models by expected value, highest first.

    Parameters
    ----------
    summary
        The result of `summarise`: one row per model, metric, cutoff and policy.

    Returns
    -------
    str
        Blocks separated by an empty line. ``±`` is the standard deviation of the mean over random
        tie orders, or "cut" if scores depend on items that may be missing, or "R?" if R may be
        larger; ``lowest – highest`` are the means under the worst and the best tie order; and
        ``cut`` is the share of the queries affected, if there are any. Names are made harmless by
        `visible` and shortened to 40 columns.

    Examples
    --------
    >>> values = {
    ...     "naive": (0.75, None),
    ...     "expected": (0.7, 0.05),
    ...     "worst": (0.5, None),
    ...     "best": (1.0, None),
    ... }
    >>> summary = pl.DataFrame(
    ...     [
    ...         {
    ...             "model": "lsh-16",
    ...             "metric": "precision",
    ...             "cutoff": 10,
    ...             "policy": policy,
    ...             "value": value,
    ...             "tie_std": std,
    ...             "queries": 200,
    ...             "no_relevant": 0,
    ...             "missing": 1,
    ...             "unjudged": 0,
    ...         }
    ...         for policy, (value, std) in values.items()
    ...     ]
    ... )
    >>> print(summary_table(summary))
    precision@10
    model    naive  expected ± tie std  lowest – highest  queries  missing
    lsh-16  0.7500     0.7000 ± 0.0500   0.5000 – 1.0000      200        1
    """
    parts = summary.partition_by("metric", "cutoff", maintain_order=True)
    return "\n\n".join(map(_block, parts))


def frame_table(frame: pl.DataFrame, columns: str, *, by: str = "") -> str:
    """Lay out a frame as text, with one block per metric and cutoff (or the columns in ``by``);
    columns are named in one text.

    Examples
    --------
    >>> frame = pl.DataFrame(
    ...     {"metric": ["rr"] * 2, "cutoff": [1, None], "model": ["a", "b"], "value": [0.5, None]}
    ... )
    >>> print(frame_table(frame, "model value", by="metric cutoff"))
    rr@1
    model   value
    a      0.5000
    <BLANKLINE>
    rr@all
    model  value
    b          –
    """
    names = columns.split()
    blocks = []
    for part in frame.partition_by(by.split(), maintain_order=True) if by else [frame]:
        shown = part.select(names)
        rows = shown.iter_rows(named=True)
        table = [names, *([_cell(*pair) for pair in row.items()] for row in rows)]
        texts = [index for index, dtype in enumerate(shown.dtypes) if dtype == pl.String]
        heading = [_heading(part.row(0, named=True), by)] if by else []
        blocks.append("\n".join([*heading, *_align(table, texts)]))
    return "\n\n".join(blocks)


def _heading(row: Row, by: str) -> str:
    cutoff = "all" if row["cutoff"] is None else row["cutoff"]
    parts = [visible(f"{row['metric']}@{cutoff}" if "metric" in by else f"cutoff {cutoff}")]
    if "queries" in by:
        parts.append("1 query" if row["queries"] == 1 else f"{row['queries']} queries")
        if row["unpaired"]:
            parts.append(f"{row['unpaired']} left out, without a score of every model")
    return ", ".join(parts)


def _cell(name: str, value: Any) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and name in TEXTS:
        return TEXTS[name](value)
    if isinstance(value, float):
        return size(value, minus="-")
    return visible(str(value), None if " " in str(value) else NAME_WIDTH, middle=True)


def visible(text: str, width: int | None = None, *, middle: bool = False) -> str:
    r"""Return text with control, direction-changing and unpaired characters as escapes, so that it is safe to show.

    Parameters
    ----------
    text
        Any string, such as a model name from a file.
    width
        If given, text wider than this many terminal columns is shortened and ends in ``…``.
    middle
        Leave out the middle instead, so that names that differ at their end remain different.

    Examples
    --------
    >>> print(visible("red\x1b[31m"))
    red\x1b[31m
    >>> (
    ...     visible("a name of many letters", width=10),
    ...     visible("a name of many letters", width=10, middle=True),
    ... )
    ('a name of…', 'a name…ers')
    """
    if width is None:
        return _escaped(text)
    shown = _escaped(text[: 4 * width])  # text of combining marks only has no width
    if display_width(shown) <= width and len(text) <= 4 * width:
        return shown
    while display_width(shown) > (2 * width // 3 if middle else width - 1):
        shown = shown[:-1]
    tail = _escaped(text[-2 * width :]) if middle else ""
    # A combining mark that lost its letter would attach to the dots.
    while tail and (display_width(shown + tail) >= width or display_width(tail[0]) == 0):
        tail = tail[1:]
    return f"{shown}…{tail}"


def _escaped(text: str) -> str:
    # Controls, direction marks and zero-width, unpaired surrogates, private use, line and paragraph
    # breaks.
    return "".join(
        character
        if unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
        else character.encode("unicode_escape").decode()
        for character in text
    )


def display_width(text: str) -> int:
    """Return the number of terminal columns a text takes: two for wide characters, none for
    combining marks.

    >>> display_width("abc"), display_width("検索")
    (3, 4)
    """
    return sum(
        0
        if unicodedata.category(character) in ("Mn", "Me")
        else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )


def _block(part: pl.DataFrame) -> str:
    models: dict[str, dict[str, Row]] = {}
    for row in part.iter_rows(named=True):
        models.setdefault(row["model"], {})[row["policy"]] = row
    means = [(by.get("expected", next(iter(by.values()))), by) for by in models.values()]
    means.sort(key=lambda mean: mean[0]["model"])
    means.sort(key=lambda mean: (mean[0]["value"] is None, -(mean[0]["value"] or 0)))
    digits = column_decimals(part.filter(policy="expected")["value"])
    columns = _columns(part, means, digits)
    title = measure_text(part["metric"][0], part["cutoff"][0])
    return "\n".join(
        [visible(title), *_align([list(columns), *zip(*columns.values(), strict=True)])]
    )


def _columns(
    part: pl.DataFrame, models: Sequence[tuple[Row, ByPolicy]], digits: int
) -> dict[str, list[str]]:
    """Return headers and cells for the policies and counts in the summary, with a cell for every
    model.
    """

    def means(policy: str) -> list[str]:
        return [_number(by_policy.get(policy, {}).get("value"), digits) for _, by_policy in models]

    policies = set(part["policy"])
    columns = {"model": [visible(row["model"], NAME_WIDTH, middle=True) for row, _ in models]}
    if "naive" in policies:
        columns["naive"] = means("naive")
    for policy in ("expected", "shuffled"):
        if policy in policies:
            # Mean and deviation are padded, so that neighbouring rows align.
            columns[f"{policy} ± tie std"] = [
                f"{_number(row.get('value'), decimals(row.get('tie_std'), least=digits))} ± "
                f"{deviation(row, digits).rjust(digits + 2)}"
                for row in (by_policy.get(policy, {}) for _, by_policy in models)
            ]
    if {"best", "worst"} <= policies:
        columns["lowest – highest"] = [
            " – ".join(ends) for ends in zip(means("worst"), means("best"), strict=True)
        ]
    else:
        columns |= {policy: means(policy) for policy in ("worst", "best") if policy in policies}
    if "truncated_share" in part.columns and (part["truncated_share"] > 0).any():
        columns[CUT] = [f"{row['truncated_share'] or 0:.0%}" for row, _ in models]
    columns["queries"] = [str(row["queries"]) for row, _ in models]
    for name, title in COUNTS.items():
        if part[name].sum():
            columns[title] = [str(row[name]) for row, _ in models]
    return columns


def deviation(row: Row, digits: int = DECIMALS) -> str:
    """Return the standard deviation of the mean in a summary row under random tie order, if it has
    one.

    >>> (
    ...     deviation({"tie_std": 0.002}),
    ...     deviation({"tie_std": None}),
    ...     deviation({"tie_std": None, "truncated_share": 1}),
    ... )
    ('0.0020', '–', 'cut')
    >>> deviation({"tie_std": 0.002, "metric": "recall", "pooled": True})
    'R?'
    """
    if row.get("truncated_share"):
        return CUT
    if row.get("pooled") and divided_by_relevant(row["metric"]):
        return UNKNOWN_R
    return size(row.get("tie_std"), digits)


def mean_text(row: Row, digits: int = DECIMALS) -> str:
    """Return the mean in a summary row with its standard deviation, or with its bounds if it is an
    estimate.

    >>> mean_text({"value": 0.5, "tie_std": 0.02}), mean_text({"value": 0.5, "tie_std": None})
    ('0.5000 ± 0.0200', '0.5000')
    >>> mean_text({"value": 0.5, "tie_std": 0.00003})
    '0.50000 ± 0.00003'
    >>> mean_text(
    ...     {"value": 0.5, "tie_std": None, "truncated_share": 0.1, "lowest": 0.25, "highest": 0.75}
    ... )
    '0.5000 [0.2500, 0.7500]'
    """
    if row["value"] is None:
        return NOTHING
    spread = deviation(row, digits)
    if spread in (CUT, UNKNOWN_R):
        return (
            f"{number(row['value'], digits)} [{number(row['lowest'], digits)}, "
            f"{number(row['highest'], digits)}]"
        )
    mean = number(row["value"], decimals(row.get("tie_std"), least=digits))
    return mean if spread == NOTHING else f"{mean} ± {spread}"


def _number(value: float | None, digits: int) -> str:
    # The blank keeps the digits of neighbouring rows aligned with a missing value.
    return number(value, digits, minus="-").rjust(digits + 2)


def _align(table: Sequence[Sequence[str]], texts: Collection[int] = (0,)) -> list[str]:
    """Pad cells to columns, with text aligned left and numbers right."""
    widths = [max(display_width(cell) for cell in column) for column in zip(*table, strict=True)]
    lines = []
    for row in table:
        pads = [
            " " * (width - display_width(cell)) for cell, width in zip(row, widths, strict=True)
        ]
        cells = [
            cell + pad if index in texts else pad + cell
            for index, (cell, pad) in enumerate(zip(row, pads, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return lines


def html_page(sentences: Iterable[str], board: pl.DataFrame) -> str:
    """Return sentences and a table as HTML for a notebook, without scripts and without network."""
    head = "".join(f"<th>{html.escape(visible(name))}</th>" for name in board.columns)
    shown = board.head(50).with_columns(pl.col(pl.Float64).map_elements("{:.4f}".format, pl.String))
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td>{NOTHING if text is None else html.escape(visible(text, 60))}</td>"
            for text in row
        )
        + "</tr>"
        for row in shown.iter_rows()
    )
    lines = "".join(f"<p>{html.escape(line)}</p>" for line in sentences)
    return f"<div>{lines}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
