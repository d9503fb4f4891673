"""Convert text to numbers strictly: every value of a column is examined before its type is
chosen.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from retrieval_report.contracts.errors import DataError
from retrieval_report.contracts.warning import warn

MOST_EXACT = 2.0**53
"""Above this, floats do not distinguish all whole numbers."""
NULL_TEXTS = ("", "NA", "N/A", "null", "NULL", "None")
"""Texts that mean "no value" in a column of numbers; in a column of ids they are ids."""
_LONG_INTEGER = r"^[+-]?\d{16,}$"
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*$")
_TRUTH = {"true": True, "false": False, "1": True, "0": False}
_NUMBERS = {
    "distance": pl.Float64,
    "score": pl.Float64,
    "weight": pl.Float64,
    "relevance": pl.Int64,
}
_SAMPLE = 1000
_INTEGERS = ("count", "row", "n_relevant")


@dataclass(frozen=True)
class TextTable:
    """A text file with sound structure: our column names, and values still as text, or floats that
    a reader parsed.

    Attributes
    ----------
    location : str
        The file, for messages.
    frame : pl.DataFrame
        One column per contract column the file has: String, or Float64 without nulls and below
        `MOST_EXACT`.
    line : Callable[[int], int]
        Row index → line number in the file; slow, for messages only.
    """

    location: str
    frame: pl.DataFrame
    line: Callable[[int], int]


def parse_values(table: TextTable) -> pl.DataFrame:
    """Turn the number columns of a text table into numbers; ids and labels stay text.

    Integers become Int64 (UInt64 where only that holds them), everything else Float64; ``count``,
    ``row`` and ``n_relevant`` must be integers; ``mask`` is true, false, 1 or 0.  ``nan`` and
    ``inf`` are numbers here: whether they are allowed is the evaluation's rule.

    Raises
    ------
    DataError
        A value is not a number (or truth value); the message names file, line, column and value.

    Examples
    --------
    >>> frame = pl.DataFrame(
    ...     {"query": ["007", "7"], "distance": ["3", "12"], "relevance": ["0.5", "NA"]}
    ... )
    >>> parse_values(TextTable("run.csv", frame, lambda row: row + 2)).rows()
    [('007', 3, 0.5), ('7', 12, None)]
    """
    parsed = []
    for series in table.frame:
        if series.dtype != pl.String:
            pass  # the reader knew what it is
        elif series.name in _NUMBERS:
            series = _parse_number(series, table)
        elif series.name in _INTEGERS:
            series = _checked(series, "a whole number of 64 bits", _integers, table)
        elif series.name == "mask":
            series = _checked(series, "true, false, 1 or 0", _truths, table)
        parsed.append(series)
    return pl.DataFrame(parsed, height=table.frame.height)


def _parse_number(text: pl.Series, table: TextTable) -> pl.Series:
    if text.null_count() == len(text):
        return text.cast(_NUMBERS[text.name])
    for dtype in (pl.Int64, pl.UInt64):
        if not fits_integers(text.head(_SAMPLE), dtype):
            continue  # one that does not fit is enough
        integers = text.cast(dtype, strict=False)
        if integers.null_count() == text.null_count():
            return integers
    floats = text.cast(pl.Float64, strict=False)
    if floats.null_count() == text.null_count():
        _warn_of_lost_digits(text, floats, table)
        return floats
    cleaned = _clean(text)
    if not cleaned.equals(text, null_equal=True):
        return _parse_number(cleaned, table)
    raise _not("a number", text, floats, table)


def fits_integers(text: pl.Series, dtype: type[pl.DataType] | None = None) -> bool:
    """Return whether all texts are whole numbers of a type, by default of one that numbers of a
    file may become.

    >>> fits_integers(pl.Series(["3", "-4"])), fits_integers(pl.Series(["3", "4.0"]))
    (True, False)
    """
    types = (pl.Int64, pl.UInt64) if dtype is None else (dtype,)
    return any(text.cast(kind, strict=False).null_count() == text.null_count() for kind in types)


def _checked(
    text: pl.Series, wanted: str, parse: Callable[[pl.Series], pl.Series], table: TextTable
) -> pl.Series:
    """Return what the texts mean, or raise an error if one of them is not what is wanted."""
    cleaned = _clean(text)
    parsed = parse(cleaned)
    if parsed.null_count() > cleaned.null_count():
        raise _not(wanted, cleaned, parsed, table)
    return parsed


def _integers(text: pl.Series) -> pl.Series:
    return text.cast(pl.Int64, strict=False)


def _truths(text: pl.Series) -> pl.Series:
    return text.str.to_lowercase().replace_strict(_TRUTH, default=None, return_dtype=pl.Boolean)


def _clean(text: pl.Series) -> pl.Series:
    """Strip blanks and turn the texts that mean "no value" into null."""
    stripped = text.str.strip_chars()
    return stripped.replace(list(NULL_TEXTS), [None] * len(NULL_TEXTS))


def _not(wanted: str, text: pl.Series, parsed: pl.Series, table: TextTable) -> DataError:
    """Describe the first value that could not be parsed."""
    bad = (parsed.is_null() & text.is_not_null()).arg_true()
    value = text[int(bad[0])]
    hint = "; a decimal comma? write a point" if _DECIMAL_COMMA.match(value) else ""
    return DataError(
        f"{table.location}, line {table.line(int(bad[0]))}: column {text.name!r}: {value[:80]!r} "
        f"is not {wanted}"
        f" ({len(bad)} such values){hint}"
    )


def _warn_of_lost_digits(text: pl.Series, floats: pl.Series, table: TextTable) -> None:
    """Warn about integers too long for a float in a column of floats: neighbours may merge."""
    if not (floats.abs() >= MOST_EXACT).any():
        return
    lost = text.str.contains(_LONG_INTEGER) & (floats.abs() >= MOST_EXACT)
    for row in lost.arg_true().head(1):
        warn(
            f"{table.location}, line {table.line(row)}: column {text.name!r}: {text[row][:80]!r} "
            "does not fit a float64 exactly, so neighbouring values may become ties"
        )
