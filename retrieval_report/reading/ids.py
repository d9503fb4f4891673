"""Match ids that are text with ids that are numbers:
'7' of a text file is 7 of a frame, but '007' is not.

A text file cannot say that an id is a number, so its ids are text. They are treated as the numbers
of another frame only if every one of them is spelt as its number, because then no two ids can
merge.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import polars as pl

from retrieval_report.contracts.errors import KeyMismatchError

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)
SPELT_AS_NUMBER = r"^(0|-?[1-9][0-9]{0,37})$"
"""Pattern of whole numbers as they are written; 128 bits hold 38 digits."""


def as_text(frame: Frame, names: Iterable[str]) -> Frame:
    """Convert categories among some columns to text,
    because codes of two frames are not comparable.
    """
    dtypes = frame.collect_schema()
    coded = [name for name in names if dtypes.get(name) in (pl.Categorical, pl.Enum)]
    return frame.with_columns(pl.col(coded).cast(pl.String)) if coded else frame


def spelt_otherwise(ids: pl.Series) -> str | None:
    """Return the first text that is not a whole number in its usual spelling, or None.

    >>> spelt_otherwise(pl.Series(["7", "-12", "0"])), spelt_otherwise(pl.Series(["7", "007"]))
    (None, '007')
    """
    odd = ids.filter(~ids.str.contains(SPELT_AS_NUMBER))
    return None if odd.is_empty() else str(odd[0])


def in_kind_of(reference: pl.Series, ids: pl.Series, what: str, other_name: str) -> pl.Series:
    """Return the ids ``ids`` as text or as whole numbers, whichever ``reference`` are; nulls stay.

    ``what`` and ``other_name`` are the frames of ``reference`` and ``ids``.
    """
    numbers = reference.dtype.is_integer()
    if numbers == ids.dtype.is_integer():
        return ids
    odd = spelt_otherwise(ids if numbers else reference)
    if odd is not None:
        location = "" if numbers else f" of the {what}"
        raise KeyMismatchError(
            f"column {reference.name!r} is {reference.dtype} in the {what} and {ids.dtype} in the "
            f"{other_name}, where {odd!r}{location} is not spelt as a number; such ids are never cast "
            "('007' and '7' would merge): make both text or both whole numbers"
        )
    if not numbers:
        return ids.cast(pl.String)
    return ids.cast(pl.Int128)
