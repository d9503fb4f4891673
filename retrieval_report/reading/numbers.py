"""Convert text to numbers strictly: every value of a column is examined before its type is chosen."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import polars as pl

from retrieval_report.contracts.errors import DataError
from retrieval_report.contracts.wording import with_number
from retrieval_report.reading.printed_ranks import RANK

# Texts that mean "no value" in a column of numbers; in a column of ids they are ids.
NULL_TEXTS = ("", "NA", "N/A", "null", "NULL", "None")
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*$")
_THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}(,\d{3})+(\.\d*)?\s*$")
_TRUTH = {"true": True, "false": False, "1": True, "0": False}
_NUMBER = ("a number", (pl.Int64, pl.Float64))
_WHOLE = ("a whole number of 64 bits", (pl.Int64,))
_RANK = ("a number", (pl.Int32, pl.Float64))
# What a column holds, in words, and the types that it may get; the first that fits is taken.
_WANTED: dict[str, tuple[str, tuple[type[pl.DataType], ...]]] = {
    **dict.fromkeys(("distance", "score", "weight"), _NUMBER),
    "relevance": ("a number or a truth value", (pl.Int64, pl.Float64, pl.Boolean)),
    **dict.fromkeys(("count", "row", "n_relevant", "n_relevant_from"), _WHOLE),
    "mask": ("true, false, 1 or 0", (pl.Boolean,)),
}


@dataclass(frozen=True)
class TextTable:
    """A text file with sound structure: our column names, and values still as text, or as numbers
    that need no look.

    Attributes
    ----------
    location : str
        The file, for messages.
    frame : pl.DataFrame
        One column per contract column the file has.
    line : Callable[[int], int]
        Row index → line number in the file; slow, for messages only.
    theirs : Mapping[str, str]
        Our column name → the file's, if it is another; for messages only.
    """

    location: str
    frame: pl.DataFrame
    line: Callable[[int], int]
    theirs: Mapping[str, str] = field(default_factory=dict)

    def place(self, name: str, row: int) -> str:
        """Return the line of a row and the file's name of a column."""
        return f"{self.location}, line {self.line(row)}: column {self.theirs.get(name, name)!r}"


def parse_values(table: TextTable) -> pl.DataFrame:
    """Turn the number columns of a text table into numbers; ids and labels stay text.

    Integers become Int64, or Int128 if one needs it, everything else Float64; ``count``,
    ``row`` and ``n_relevant`` must be integers; ``mask`` is true, false, 1 or 0.  ``nan`` and
    ``inf`` are numbers here: whether they are allowed is the evaluation's rule.

    Raises
    ------
    DataError
        A value is not a number (or truth value), or is a whole number that Float64, which other
        values of its column need, cannot hold; the message names file, line, column and value.

    Examples
    --------
    >>> frame = pl.DataFrame(
    ...     {"query": ["007", "7"], "distance": ["3", "12"], "relevance": ["0.5", "NA"]}
    ... )
    >>> parse_values(TextTable("run.csv", frame, lambda row: row + 2)).rows()
    [('007', 3, 0.5), ('7', 12, None)]
    """
    texts = (name for name in table.frame.columns if table.frame.schema[name] == pl.String)
    return table.frame.with_columns(
        _parsed(table.frame[name], *_WANTED[name], table) for name in texts if name in _WANTED
    )


def number_types(texts: pl.DataFrame) -> dict[str, type[pl.DataType]]:
    """Return the types of the columns that hold numbers in every row.

    >>> number_types(pl.DataFrame({"query": ["7"], "score": ["0.5"], "relevance": ["1"]}))
    {'score': Float64, 'relevance': Int64}
    """
    return {
        name: dtype
        for name, (_, types) in {**_WANTED, RANK: _RANK}.items()
        if name in texts.columns
        for dtype in reversed(types)  # the first that fits stays
        if dtype.is_numeric() and not _cast(texts[name], dtype).null_count()
    }


def as_number(text: pl.Series, table: TextTable) -> pl.Series:
    """Return a column of numbers as Float64."""
    return _parsed(text, "a number", (pl.Float64,), table)


def _parsed(
    texts: pl.Series, form: str, types: Sequence[type[pl.DataType]], table: TextTable
) -> pl.Series:
    """Return what the texts mean, as they are or without blanks and texts for "no value"."""
    for clean in (False, True):
        text = _clean(texts) if clean else texts
        if text.null_count() == len(text):
            return text.cast(pl.Int64 if text.name == "relevance" else types[-1])
        for dtype in types:
            parsed = _cast(text, dtype)
            if parsed.null_count() == text.null_count():
                if text.name == "relevance" and dtype == pl.Boolean:
                    return parsed.cast(pl.Int64)
                return parsed if len(types) == 1 else exact(parsed, text, table)
    parsed = min((_cast(text, dtype) for dtype in types), key=pl.Series.null_count)
    raise _not(form, text, parsed, table)


def is_large(values: pl.Series) -> pl.Series:
    """Return which values are so large that Float64 lacks whole numbers near them."""
    return values.abs().is_between(2**53, math.inf)


def exact(parsed: pl.Series, text: pl.Series, table: TextTable) -> pl.Series:
    """Return numbers as they are spelt, since Float64 would merge large whole numbers into ties.

    Raises
    ------
    DataError
        A number without an exponent is not among those of Float64, and not all are integers.

    Examples
    --------
    >>> text = pl.Series("distance", ["9007199254740993", "9223372036854775808"])
    >>> table = TextTable("run.csv", text.to_frame(), lambda row: row + 2)
    >>> exact(text.cast(pl.Float64), text, table).to_list()
    [9007199254740993, 9223372036854775808]
    """
    large = is_large(parsed).arg_true() if parsed.dtype == pl.Float64 else ()
    if not len(large):
        return parsed
    whole = text.cast(pl.Int128, strict=False)
    if whole.null_count() == text.null_count():
        return whole
    for row in large:
        if "e" not in text[row].lower() and Decimal(text[row]) != parsed[row]:
            raise DataError(
                f"{table.place(text.name, row)}: {text[row][:80]!r} is not among the numbers of "
                "Float64, which the column needs because not all of its values are whole numbers "
                "of 128 bits; it would tie with its neighbours"
            )
    return parsed


def _cast(text: pl.Series, dtype: type[pl.DataType]) -> pl.Series:
    """Convert texts; null where that is not possible."""
    if dtype == pl.Boolean:
        return text.str.to_lowercase().replace_strict(_TRUTH, default=None, return_dtype=pl.Boolean)
    return text.cast(dtype, strict=False)


def _clean(text: pl.Series) -> pl.Series:
    """Strip blanks and turn the texts that mean "no value" into null."""
    stripped = text.str.strip_chars()
    return stripped.set(stripped.is_in(NULL_TEXTS), None)


def _not(form: str, text: pl.Series, parsed: pl.Series, table: TextTable) -> DataError:
    """Describe the first value that could not be parsed."""
    bad = (parsed.is_null() & text.is_not_null()).arg_true()
    value = text[int(bad[0])]
    hint = "; a decimal comma? write a point" if _DECIMAL_COMMA.match(value) else ""
    if _THOUSANDS.match(value):
        hint = "; commas between thousands? leave them out"
    return DataError(
        f"{table.place(text.name, int(bad[0]))}: {value[:80]!r} is not {form} "
        f"({with_number(len(bad), 'such value')}){hint}"
    )
