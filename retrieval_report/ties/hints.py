"""Find oddities of lists: items that all of them lack, rounded distances, near ties."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Unpack

import numpy as np
import polars as pl

from retrieval_report.contracts.frames import with_model
from retrieval_report.contracts.options import Options, ScoringOptions, options_with
from retrieval_report.contracts.registry import schema
from retrieval_report.contracts.wording import advice, setting, whole_percent
from retrieval_report.kernels.lists import Floats
from retrieval_report.scoring.judged import Judged
from retrieval_report.scoring.layout import rounded
from retrieval_report.ties.profile import TieTable, profile_of
from retrieval_report.writing.names import with_number

HINTS = schema("hints")
# Types of 16 bits, with the bits of their significand and the least and largest exponent.
KINDS = [("bfloat16", 8, -125, 128), ("float16", 11, -13, 16)]
LEAST_VALUES = 20  # fewer distances do not show how they were rounded
WORTH_SAYING = 0.01
Hint = tuple[str | None, str, float, str]  # model, hint, value and message


def tie_hints(
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    **options: Unpack[ScoringOptions],
) -> pl.DataFrame:
    """Say in words what may be wrong with the lists, as far as the data show it.

    Parameters
    ----------
    rankings, judgements, queries
        As for :func:`evaluate`.
    **options
        Options of :func:`evaluate` that decide which rows count and how.

    Returns
    -------
    polars.DataFrame
        ``model`` (null: all of them), ``hint``, ``value`` (the number it is based on), ``message``:

        - ``dangling``: some judged items are in no list, although the lists, of at least two
          queries, hold the same items, which may be all there are. ``value``: how many.
        - ``half_precision``: the distances are float16 or bfloat16, by type or by their bits.
          ``value``: share of items that are tied.
        - ``near_ties``: share of gaps within rounding errors (see :func:`tie_profile`).

        Empty if there is nothing to say. :func:`tie_profile` says how much the distances tie,
        :func:`truncated_lists` which lists may be cut, and ``Study(…).health`` what is wrong with
        the data, such as reversed lists.

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0.0, 0.3, 0.1 + 0.2, 0.5],
    ...         "relevance": [0, 1, 0, 1],
    ...     }
    ... )
    >>> tie_hints(rankings).drop("message").row(0)
    ('model', 'near_ties', 0.3333333333333333)
    """
    checked = options_with(options, policies="expected")
    table = TieTable(rankings, judgements, queries, checked)
    return hints_of(table.judged, checked, profile_of(table, (None,)))


def hints_of(judged: Judged, options: Options, profile: pl.DataFrame) -> pl.DataFrame:
    """Return what `tie_hints` does, of lists whose profile over the whole of them is known."""
    hints = [*_dangling(judged)]
    hints += [*_half_precision(rounded(judged.retrieved, options), judged.order, profile)]
    return pl.DataFrame([*hints, *_near_ties(profile)], schema=HINTS, orient="row")


def _dangling(judged: Judged) -> Iterator[Hint]:
    """Find judged items that are not in the collection, if lists show all of it."""
    whole = judged.part_of or judged
    length = whole.rows.end - whole.rows.begin
    queries = whole.lists["query"].filter(pl.Series(length > 0)).n_unique()
    if not whole.whole.judged or queries < 2:
        return
    most = int(length.max()) + 1  # a query that is itself an item is often left out
    items = whole.retrieved.select("item")
    if items.head(2 * most).n_unique() > most:  # said by two lists, of millions of them too
        return
    item_ids = items.unique()
    if item_ids.height <= most:
        judged_items = whole.known.select("item").unique()
        lost = judged_items.join(item_ids, on="item", how="anti")["item"].sort()
        if len(lost):
            message = (
                f"{len(lost)} of {judged_items.height} judged items, such as {lost[0]!r}, are in no "
                f"list. All lists together hold {with_number(item_ids.height, 'item')}: if there are "
                "no others, do ids differ, or name chunks?"
            )
            yield None, "dangling", float(len(lost)), message


def _half_precision(rows: pl.DataFrame, order: str, profile: pl.DataFrame) -> Iterator[Hint]:
    for model, share in profile.select("model", "tied_items").iter_rows():
        kind = _half_type(with_model(rows).filter(model=model)[order]) if share > 0 else None
        if kind:
            message = (
                f"the {order}s are {kind} numbers: over whole lists, {whole_percent(share)} of the "
                "items are tied, some of them only by rounding"
            )
            yield model, "half_precision", share, message


def _half_type(values: pl.Series) -> str | None:
    """Return the name of the 16-bit type to which the values were rounded, or None.

    >>> _half_type(pl.Series(np.linspace(0.1, 3, 40), dtype=pl.Float16).cast(pl.Float64))
    'float16'
    """
    if values.dtype == pl.Float16:
        return "float16"
    if not values.dtype.is_float():
        return None
    numbers = np.unique(values.to_numpy().astype(np.float64))
    numbers = numbers[numbers != 0]
    if numbers.size < LEAST_VALUES:
        return None
    exponent = np.frexp(numbers)[1]
    for name, bits, least, most in KINDS:
        inside = ((exponent >= least) & (exponent <= most)).all()
        # Multiples of the unit in the last place of their own size, but not all of the largest
        # one's, because those would be fixed-point numbers such as bits/64, which have few digits
        # for another reason.
        fine, coarse = (np.ldexp(numbers, bits - size) for size in (exponent, exponent.max()))
        if inside and _whole(fine) and not _whole(coarse):
            return name
    return None


def _whole(numbers: Floats) -> bool:
    return bool((numbers == np.rint(numbers)).all())


def _near_ties(profile: pl.DataFrame) -> Iterator[Hint]:
    for model, share in profile.select("model", "near_ties").iter_rows():
        if share >= WORTH_SAYING:
            message = (
                f"{whole_percent(share)} of the gaps between neighbours in a list are within "
                "rounding error: the same vectors computed in another order may swap them"
                + advice("; {} ties them", setting("decimals"))
            )
            yield model, "near_ties", share, message
