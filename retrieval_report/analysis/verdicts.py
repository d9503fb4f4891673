"""What is said of a pair of models: the words, the rule that chooses among them, and how chances are written."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

import polars as pl

__all__ = [
    "ALPHA",
    "CUT",
    "DEPENDS",
    "EQUAL",
    "NOTHING",
    "NOT_SIGNIFICANT",
    "ROUNDING",
    "SAFE",
    "SHOWN",
    "TIE_RISK",
    "UNTESTED",
    "VERDICTS",
    "chance_of",
    "chance_percent",
    "chance_text",
    "disagreeing",
    "order_of",
    "verdict_rule",
]

CUT = "lists are cut"
DEPENDS = "depends on tie order"
NOT_SIGNIFICANT = "not significant"
NOTHING = "nothing to compare"
EQUAL = "equal"
UNTESTED = "safe from tie order"
SAFE = "safe"
VERDICTS = (CUT, DEPENDS, NOT_SIGNIFICANT, EQUAL, UNTESTED, SAFE, NOTHING)  # the least certain first
TIE_RISK, ALPHA = 0.05, 0.05
SHOWN = ("expected", "shuffled", "naive")  # the first of them that there is is the reference
ROUNDING = 1e-12  # means this close, relative to the larger, are equal
TOLERANCE = 1e-9  # of thresholds: 1/20 is 0.05
LEAST = 1e-4
NONE = "–"


def verdict_rule(
    *,
    order: pl.Expr,
    cut: pl.Expr,
    disagree: pl.Expr,
    moved: pl.Expr,
    risk: pl.Expr,
    family_p: pl.Expr,
    tie_risk: float = TIE_RISK,
    alpha: float = ALPHA,
) -> pl.Expr:
    """The verdict on each pair.

    Parameters
    ----------
    order
        Of the means of the same queries, as `order_of` has it; null where one is missing.
    cut
        Whether items beyond the end of a list could turn the order.
    disagree
        Whether other scores that are shown name the other model.
    moved
        Whether tie order moves the mean of one of the two.
    risk
        The most that the chance of a reversal by random tie order can be.
    family_p
        Of the difference, over the queries; null where it was not tested.
    tie_risk, alpha
        The largest risk that is borne; the p-value from which on a difference is not significant.

    Examples
    --------
    >>> frame = pl.DataFrame({"order": [1, 1, 0, 0], "risk": [1 / 20, 0.06, None, None],
    ...                       "moved": [True, True, False, True], "p": [0.01] * 4})
    >>> no, column = pl.lit(False), pl.col
    >>> frame.select(verdict_rule(order=column("order"), cut=no, disagree=no, moved=column("moved"),
    ...                           risk=column("risk"), family_p=column("p"))).to_series().to_list()
    ['safe', 'depends on tie order', 'equal', 'depends on tie order']
    """
    level = order == 0
    by_ties = disagree | (risk > tie_risk * (1 + TOLERANCE)).fill_null(False) | (level & moved)
    return (
        pl.when(order.is_null())
        .then(pl.lit(NOTHING))
        .when(cut)
        .then(pl.lit(CUT))
        .when(by_ties)
        .then(pl.lit(DEPENDS))
        .when(level)
        .then(pl.lit(EQUAL))
        .when(family_p >= alpha * (1 - TOLERANCE))
        .then(pl.lit(NOT_SIGNIFICANT))
        .when(family_p.is_null())
        .then(pl.lit(UNTESTED))
        .otherwise(pl.lit(SAFE))
    )


def order_of(one: str, other: str) -> pl.Expr:
    """Which of two columns is larger, as 1, 0 or −1; what differs by rounding alone is equal."""
    difference = pl.col(one) - pl.col(other)
    margin = ROUNDING * pl.max_horizontal(pl.col(one).abs(), pl.col(other).abs())
    return pl.when(difference.abs() <= margin).then(0.0).otherwise(difference.sign())


def disagreeing(orders: Mapping[str, pl.Expr], reference: pl.Expr) -> pl.Expr:
    """Names of the policies that name another model than the reference; one that shows a draw names none."""
    names = [pl.when((order != 0) & (order != reference)).then(pl.lit(name)) for name, order in orders.items()]
    return pl.concat_str(names, separator=", ", ignore_nulls=True) if names else pl.lit("")


def chance_text(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """A chance with as many digits as its bounds allow; without bounds it is taken as it is.

    >>> chance_text(0.0), chance_text(1.96e-49, 0.0, 1e-5), chance_text(0.33333333, 0.33333333, 0.33333333)
    ('0', '< 0.0001', '0.3333')
    >>> chance_text(0.27123, 0.2693, 0.2731), chance_text(7e-5, 0.0, 0.0031), chance_text(0.1, 0.0, 0.29)
    ('0.271 ± 0.002', '< 0.004', '0.00 to 0.29')
    >>> chance_text(None), chance_text(None, 0.0, 0.25)
    ('–', '0.00 to 0.25')
    """
    if low is None or high is None:
        low = high = value
    if low is None or high is None:
        return NONE
    if high == 0:
        return "0"
    if high < LEAST:
        return f"< {LEAST:.4f}"
    if value is None or high - low > 0.02:
        return f"{low:.2f} to {ceil(high * 100 - 1e-9) / 100:.2f}"
    if high - low <= LEAST:
        return f"{value:.4f}"
    if value - low >= value / 2:
        return f"< {ceil(high * 1000 + 1e-9) / 1000:.3f}"
    reach = ceil(max(high - value, value - low) * 1000 - 1e-9) / 1000
    return f"{value:.3f} ± {reach:.3f}"


def chance_percent(value: float | None, high: float | None) -> str:
    """A chance where there is room for a few letters only.

    >>> chance_percent(0.0, 0.0), chance_percent(1e-30, 1e-4), chance_percent(0.271, 0.275), chance_percent(None, None)
    ('0', '<1%', '27%', '–')
    """
    if value is None or high is None:
        return NONE
    return "0" if high == 0 else "<1%" if value < 0.005 else f"{value:.0%}"


def chance_of(row: Mapping[str, Any]) -> str:
    """The chance of a reversal of one pair with the way it was found; of a row of `compare` or `flips`.

    >>> chance_of({"p_tie": 1e-30, "p_tie_low": 0.0, "p_tie_high": 1e-9, "p_tie_method": "normal"})
    '< 0.0001 (normal)'
    """
    text = chance_text(row["p_tie"], row.get("p_tie_low"), row.get("p_tie_high"))
    return f"{text} ({row['p_tie_method']})" if row["p_tie_method"] is not None else text
