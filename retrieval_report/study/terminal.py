"""Lay out frames as text for a terminal, with one aligned block per metric and cutoff."""

import unicodedata
from collections.abc import Callable
from functools import partial
from operator import add

import polars as pl

from retrieval_report.contracts.arguments import Row, number_text
from retrieval_report.contracts.registry import FRAMES
from retrieval_report.engines.check_scores import IS_ESTIMATE, MEAN, MEASURE, board, join_left
from retrieval_report.writing.names import with_number
from retrieval_report.writing.numbers import (
    DECIMALS,
    amount,
    chance_text,
    column_decimals,
    decimals,
    number,
    size,
)

NAME_WIDTH = 40
CUT = "cut"  # shown instead of a standard deviation where items may be missing
UNKNOWN_R = "R?"  # and where R, by which a score is divided, may be larger
EMPTY_STATE = (
    "–"  # shown for a value that does not exist, such as a standard deviation without exact value
)
ESTIMATE = "≈"  # before a number that is not exact: ``estimates`` names these columns of a row
OF_FORMAT: dict[str, Callable[[float], str]] = {
    "chance": chance_text,  # 0 means impossible, so that a rounded 0 would be wrong
    "amount": amount,
    "exact": number_text,  # a threshold that is rounded may not accept its own item
    "tenth": partial(number, places=1, minus="-"),
}


def _texts(*frames: str) -> dict[str, Callable[[float], str]]:
    """Return how to write columns of some frames, by their names."""
    parts = [part for name in frames for part in FRAMES[name].columns]
    return {part.name: OF_FORMAT[part.format] for part in parts if part.format in OF_FORMAT}


TEXTS = _texts(*FRAMES)
SIGNED, UNSIGNED = (
    {part.name for frame in FRAMES.values() for part in frame.columns if part.format == format}
    for format in ("signed", "number")
)
COUNTS = ["no_relevant", "missing", "unjudged"]  # of queries that are subject to a rule
MEANS = ["value", "expected", "shuffled", "naive", "lowest", "highest"]
KEPT = [*MEAN, "value"]
MEAN_OF = {  # the columns of two models and of their means
    "model_a": "value_a",
    "model_b": "value_b",
    "model": "value",
    "baseline": "baseline_value",
}
# The columns of scores by policy, as far as there are values.
SUMMARY = (
    "model expected tie_std shuffled naive lowest highest "
    f"truncated_share queries {' '.join(COUNTS)}"
)


def summary_rows(summary: pl.DataFrame) -> pl.DataFrame:
    """Return one row per model and measure of a summary, best first, without columns that say
    nothing; ``estimates`` names the columns of a row that are estimates.
    """
    rows = board(summary, pl.max(*COUNTS))
    idle = [name for name in ("truncated_share", *COUNTS) if not rows[name].max()]
    idle += [values.name for values in rows if values.null_count() == len(values)]
    estimates = pl.when(IS_ESTIMATE).then(["value", "expected"]).otherwise([]).alias("estimates")
    return rows.select(*KEPT, pl.exclude(*KEPT, *idle), estimates)


def summary_table(summary: pl.DataFrame) -> str:
    """Lay out a summary as text: a block per metric and cutoff, with its models, best first.

    Examples
    --------
    >>> from retrieval_report import evaluate, summarise
    >>> rows = {"query": ["q"] * 2, "item": ["a", "b"], "distance": [1, 1], "relevance": [0, 1]}
    >>> print(summary_table(summarise(evaluate(rows, metrics="rr@2", truncated="no"))))
    rr@2
    model  expected  tie_std  shuffled   naive  queries
    model    0.7500   0.2500    0.7500  0.5000        1
    """
    parts = list(map(summary_rows, summary.partition_by("metric", "cutoff", maintain_order=True)))
    tables = [frame_table(rows, SUMMARY, by="metric cutoff") for rows in parts]
    return "\n\n".join([*tables, *{*map(marks_note, parts)} - {""}])


def with_marked_values(pairs: pl.DataFrame, summary: pl.DataFrame) -> pl.DataFrame:
    """Return pairs of models with ``estimates``, which names the means of a pair that are
    estimates: of rows by several policies, those that are expected.
    """
    marks = []
    keys = [name for name in ("policy", *MEASURE) if name in pairs.columns]
    means = summary.filter(IS_ESTIMATE, policy="expected").select("model", *keys)
    for model in (name for name in MEAN_OF if name in pairs.columns):
        mark = f"mark_{model}"
        of_side = means.rename({"model": model}).with_columns(pl.lit(MEAN_OF[model]).alias(mark))
        pairs = join_left(pairs, of_side, [*keys, model])
        marks.append(mark)
    return pairs.with_columns(estimates=pl.concat_list(marks).list.drop_nulls()).drop(marks)


def marks_note(rows: pl.DataFrame) -> str:
    """Return what the mark of estimates means, if one of these rows has it; else it is empty."""
    is_marked = rows["estimates"].list.len().max()
    return f"{ESTIMATE}: estimates, where lists may be cut." if is_marked else ""


def frame_table(frame: pl.DataFrame, columns: str, *, by: str = "", of: str = "") -> str:
    """Lay out a frame as text, with one block per metric and cutoff (or the columns in ``by``);
    columns are named in one text, and left out if there are none. ``of`` names the frame where
    columns of others have the same names.

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
    >>> frame = pl.DataFrame({"expected": [0.12341, 0.12344], "naive": [0.469412, 0.469416]})
    >>> print(frame_table(frame, "expected naive"))
    expected     naive
     0.12341  0.469412
     0.12344  0.469416
    """
    blocks = []
    for part in frame.partition_by(by.split(), maintain_order=True) if by else [frame]:
        padded = []
        for name, texts in table_cells(part, columns, of).items():
            cells = [name, *texts]
            widths = [display_width(cell) for cell in cells]
            pads = [" " * (max(widths) - width) for width in widths]
            is_text = part[name].dtype == pl.String  # aligned left, and numbers right
            padded.append(map(add, cells, pads) if is_text else map(add, pads, cells))
        heading = [_heading(part.row(0, named=True), by)] if by else []
        lines = ["  ".join(row).rstrip() for row in zip(*padded, strict=True)]
        blocks.append("\n".join([*heading, *lines]))
    return "\n\n".join(blocks)


def _heading(row: Row, by: str) -> str:
    cutoff = "all" if row["cutoff"] is None else row["cutoff"]
    parts = [visible(f"{row['metric']}@{cutoff}" if "metric" in by else f"cutoff {cutoff}")]
    if "queries" in by:
        parts.append(with_number(row["queries"], "query"))
        left_out = row["unpaired"] or 0
        unjudged = min(left_out, row.get("unjudged") or 0)
        if unjudged:
            parts.append(f"{unjudged} left out, which nobody judged")
        if left_out > unjudged:
            parts.append(f"{left_out - unjudged} more without a score for every model")
    return ", ".join(parts)


def table_cells(frame: pl.DataFrame, columns: str, of: str = "") -> dict[str, list[str]]:
    """Write those of some columns that a frame has; all means have the decimals that tell the first
    column of them apart, naive ones and other measures also those that tell themselves apart.
    """
    marked = "estimates" in frame.columns
    estimates = frame["estimates"].to_list() if marked else [[]] * frame.height
    shown = frame.select(name for name in columns.split() if name in frame.columns)
    means = [part for part in shown if part.name in MEANS and part.dtype.is_numeric()]
    exact = column_decimals(means[0]) if means else DECIMALS
    texts = _texts(of) if of else TEXTS
    cells = {}
    for values in shown:
        places = exact if values.name in MEANS else DECIMALS
        if "@" in values.name or values.name == "naive":  # which have an order of their own
            places = max(places, column_decimals(values))
        sign = "+" if values.name in SIGNED - UNSIGNED else ""
        write = texts.get(values.name) or partial(size, places=places, sign=sign, minus="-")
        cells[values.name] = [
            f"{ESTIMATE if values.name in names else ''}{_cell(value, write)}"
            for value, names in zip(values, estimates, strict=True)
        ]
    return cells


def _cell(value: object, write: Callable[[float], str]) -> str:
    if value is None:
        return EMPTY_STATE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return write(value)
    return visible(str(value), None if " " in str(value) else NAME_WIDTH)


def visible(text: str, width: int | None = None) -> str:
    r"""Return text with control, direction-changing and unpaired characters as escapes, so that it
    is safe to show.

    Parameters
    ----------
    text
        Any string, such as a model name from a file.
    width
        If given, text wider than this many terminal columns is shortened in the middle, so that
        names that differ at their end remain different.

    Examples
    --------
    >>> print(visible("red\x1b[31m"))
    red\x1b[31m
    >>> visible("a name of many letters", width=10)
    'a name…ers'
    """
    if width is None:
        return _escaped(text)
    escaped = _escaped(text[: 4 * width])  # text of combining marks only has no width
    if display_width(escaped) <= width and len(text) <= 4 * width:
        return escaped
    while display_width(escaped) > 2 * width // 3:
        escaped = escaped[:-1]
    tail = _escaped(text[-2 * width :])
    # A combining mark that lost its letter would attach to the dots.
    while tail and (display_width(escaped + tail) >= width or display_width(tail[0]) == 0):
        tail = tail[1:]
    return f"{escaped}…{tail}"


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
    """Return the number of terminal columns a text takes:
    two for wide characters, none for combining marks.

    >>> display_width("abc"), display_width("検索")
    (3, 4)
    """
    return sum(
        0
        if unicodedata.category(character) in ("Mn", "Me")
        else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )


def deviation(row: Row, digits: int = DECIMALS) -> str:
    """Return the standard deviation of the mean in a
    summary row under random tie order, if it has one.

    >>> (
    ...     deviation({"tie_std": 0.002}),
    ...     deviation({"tie_std": None}),
    ...     deviation({"tie_std": None, "truncated_share": 1}),
    ... )
    ('0.0020', '–', 'cut')
    >>> deviation({"tie_std": 0.002, "pooled": True})
    'R?'
    """
    if row.get("truncated_share"):
        return CUT
    if row.get("pooled"):
        return UNKNOWN_R
    return size(row.get("tie_std"), digits)


def mean_text(row: Row, digits: int = DECIMALS) -> str:
    """Return the mean in a summary row with its standard
    deviation, or with its bounds if it is an estimate.

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
        return EMPTY_STATE
    spread = deviation(row, digits)
    if spread in (CUT, UNKNOWN_R):
        return (
            f"{number(row['value'], digits)} [{number(row['lowest'], digits)}, "
            f"{number(row['highest'], digits)}]"
        )
    mean = number(row["value"], decimals(row.get("tie_std"), least=digits))
    return mean if spread == EMPTY_STATE else f"{mean} ± {spread}"
