"""Tables of a report and their columns: what a cell shows, sorts by and shows as a tool tip."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import polars as pl

from retrieval_report.comparison.verdicts import chance_of
from retrieval_report.contracts.arguments import Row, number_text
from retrieval_report.contracts.registry import column
from retrieval_report.study.questions import Question
from retrieval_report.study.terminal import ESTIMATE, deviation, visible
from retrieval_report.ties.three_scores import DRAWN
from retrieval_report.writing.names import EQUALS
from retrieval_report.writing.numbers import (
    DECIMALS,
    agreeing_decimals,
    amount,
    chance_text,
    column_decimals,
    decimals,
    interval,
    number,
    share,
    size,
    span,
)

KINDS = {
    "measure": "measure-name",
    "model": "name",
    "model_a": "name",
    "model_b": "name",
    "order": "long-prose",
    "system": "prose",
    "call": "prose",
    "reason": "prose",
    "against": "prose",
    "level": "prose",
    "sha256": "prose",
}  # kinds of text columns
MODEL_WIDTH = 48  # of a model with its copies
WIDTHS = {
    "model": MODEL_WIDTH,
    "varied": 80,
    "against": 80,
    "level": 80,
    "order": 80,
    "reason": 80,
    "sha256": 64,
}  # of text columns wider than others
NAME_WIDTH = 36
FULL_NAME = 300  # characters of a long name that its tool tip shows; the files have all
DASH = "–"
# What writes a value, by format; numbers take digits too.
TEXTS: Mapping[str, Callable[..., str]] = {
    "number": number,
    "signed": partial(size, sign="+"),
    "share": share,
    "chance": chance_text,
    "amount": amount,
    "exact": number_text,
    "flag": lambda value: "yes" if value else "no",
    "count": partial(number, places=0),
    "tenth": partial(number, places=1),
}


class Cell(NamedTuple):
    """The text shown, the key it sorts by (empty: last),
    and the full text if the shown one is shortened.
    """

    text: str
    sort: str = ""
    title: str = ""


Fill = Callable[[Row], Cell]  # a row for a cell


class PageColumn(NamedTuple):
    """A heading, its meaning, the function that fills the column's cells, and the class by which
    the page's style and script know the column: "n" is one of numbers.
    """

    header: str
    fill: Fill
    help: str = ""
    kind: str = "n"


NEGLIGIBLE = 5e-6  # between the ends of a range that four or five decimals do not show


def _joined(names: Sequence[str], text: Callable[..., str], row: Row) -> Cell:
    """Return several values of a row as one text, which sorts by the first of them."""
    values: list[Any] = [row.get(name) for name in names]
    return Cell(DASH) if None in values else Cell(text(*values), sort_key(values[0]))


def _interval(row: Row) -> Cell:
    """Return an interval; that of a difference with the decimals of the difference."""
    difference = row.get("difference")
    text = interval if difference is None else partial(interval, places=decimals(difference))
    return _joined(("ci_low", "ci_high"), text, row)


def with_audit_digits(audit: pl.DataFrame) -> pl.DataFrame:
    """Return rows of an audit with the ``digits`` at which what is printed, what is expected and
    how far it is off agree as they are written.
    """
    numbers = audit.select("prints", "expected").iter_rows()
    digits = [DECIMALS if None in pair else agreeing_decimals(pair) for pair in numbers]
    return audit.with_columns(digits=pl.Series(digits, dtype=pl.Int64))


def _prints(row: Row) -> Cell:
    """Return what an evaluator prints, or from where to where it may be."""
    low, high, digits = row["prints_low"], row["prints_high"], row.get("digits", DECIMALS)
    if low is None or high is None:
        return Cell(DASH)
    return Cell(span(low, high, " – ", digits), sort_key(low))


def _ranks(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}–{high}"


def _printed(low: float, high: float) -> str:
    """Return what most random orders print, as one number where they differ by nearly nothing.

    >>> _printed(0.28, 0.29), _printed(0.2846190, 0.2846194)
    ('0.2800 – 0.2900', '0.2846')
    """
    return number(low) if high - low < NEGLIGIBLE else span(low, high, " – ")


def _shuffled_range(row: Row) -> Cell:
    """Return what most random orders print; it is an estimate if only the drawn ones are known."""
    cell = _joined(("order_low", "order_high"), _printed, row)
    is_estimate = row.get("order_method") == DRAWN and f" {DASH} " in cell.text
    return cell._replace(text=f"{ESTIMATE}{cell.text}") if is_estimate else cell


def _counts(*counts: int) -> str:
    return " – ".join(map(str, counts))


def sort_key(value: float) -> str:
    """Return enough digits to sort by, since the text shown may round neighbours to the same value."""
    return f"{value:.7g}"


JOINED: Mapping[str, Fill] = {
    "interval": _interval,
    "tie_ranks": partial(_joined, ("tie_rank_low", "tie_rank_high"), _ranks),
    "query_ranks": partial(_joined, ("query_rank_low", "query_rank_high"), _ranks),
    "counts": partial(_joined, ("wins", "ties", "losses"), _counts),
    "shuffled_range": _shuffled_range,
    "prints": _prints,
}


def joined_texts(rows: pl.DataFrame, *names: str) -> list[pl.Series]:
    """Return some of these columns as text for a terminal, where numbers can be copied."""
    records = rows.to_dicts()
    texts = [[JOINED[name](row).text.replace("−", "-") for row in records] for name in names]
    return list(map(partial(pl.Series, dtype=pl.String), names, texts))


def column_of(
    frame: str, name: str, *, title: str = "", models: Sequence[str] = ("model A", "model B")
) -> PageColumn:
    """Return a column with its declared title, meaning and format.

    ``title`` replaces the declared title; ``models`` stand for the columns of the two models.

    >>> share = column_of("profile", "cut_share")
    >>> share.header, share.fill({"cut_share": 0.25}).text
    ('Cut a tie', '25.0%')
    """
    declared = column(frame, name)
    fill = JOINED.get(name) or SPECIAL.get(name) or partial(_cell, name, declared.format)
    text = declared.format in ("text", "flag") and name not in JOINED
    meaning = declared.help
    for column_name, model in zip(("model_a", "model_b"), models, strict=True):
        meaning = meaning.replace(column_name, model)
    return PageColumn(title or declared.title, fill, meaning, KINDS.get(name, "") if text else "n")


def measure_column(values: pl.Series) -> PageColumn:
    """Return the column of another measure, named so, beside the headline."""
    digits = column_decimals(values)
    return PageColumn(
        values.name, lambda row: _cell(values.name, "number", {**row, "digits": digits})
    )


def _cell(name: str, format: str, row: Row) -> Cell:
    """Return a value of a row as a number (in the row's ``digits``), a share, yes/no, or a text
    that is shortened if it is long.
    """
    value = row.get(name)
    if value is None or value != value or value == "":
        return Cell("all" if name == "cutoff" else DASH)
    if format == "text" or isinstance(value, str):
        parts = str(value).split(EQUALS) if name.endswith("winner") else [str(value)]
        text = EQUALS.join(visible(part, WIDTHS.get(name, NAME_WIDTH)) for part in parts)
        full = visible(str(value)[:FULL_NAME])
        return Cell(text, text, "" if text == full else full)
    digits = row.get(f"{name}_digits", row.get("digits", DECIMALS))
    digits = [digits] if format in ("number", "signed") else []
    text = TEXTS[format](value, *digits)
    text = f"{ESTIMATE}{text}" if name in (row.get("estimates") or ()) else text
    return Cell(text, text if format == "flag" else sort_key(value))


def _deviation(name: str, row: Row) -> Cell:
    """Return a standard deviation, or the reason why there is none."""
    value = row.get(name)
    truncated = row.get("truncated_share") or row.get("truncated")
    text = deviation({**row, "tie_std": value, "truncated_share": truncated})
    return Cell(text, "" if value is None else sort_key(value))


def _reversal(row: Row) -> Cell:
    """Return the probability that tie order reverses a pair, sorted by its upper bound."""
    most = row["p_tie_high"]
    return Cell(chance_of(row), "" if most is None else sort_key(row["p_tie"] or most))


SPECIAL: Mapping[str, Fill] = {  # cells that need more of the row than one value
    "tie_std": partial(_deviation, "tie_std"),
    "std": partial(_deviation, "std"),
    "p_tie": _reversal,
    "reversal": lambda row: (  # as text if it is written as in the verdict
        Cell(row["reversal"])
        if isinstance(row["reversal"], str)
        else _cell("reversal", "chance", row)
    ),
}


class PageTable(NamedTuple):
    """One table of the page; ``measures`` holds each
    row's metric@cutoff if rows can be filtered by it.
    """

    question: Question
    columns: Sequence[PageColumn]
    rows: Sequence[Sequence[Cell]]
    measures: Sequence[str]
