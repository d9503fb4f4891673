"""Write numbers with four decimals, or with more if four would hide what they should show.

One rule serves tables, charts, LaTeX and the terminal: a number that is not 0 is never shown as 0,
nor one that is not 1 as 1, which would say "never" or "the same", and numbers that are compared
have as many decimals as their difference needs.
"""

import math
from collections.abc import Iterable
from itertools import pairwise

DECIMALS = 4
MAX_DIGITS = 8
OF_COLUMN = 6  # the most decimals that a whole column gets to distinguish two close numbers
LEAST = 1e-4  # a smaller probability is written as less than this
EXACT_DIGITS = 12  # of means; smaller differences are 0
ROUNDING = 10.0**-EXACT_DIGITS


def decimals(*sizes: float | None, least: int = DECIMALS) -> int:
    """Return the decimals needed to show the smallest of some sizes or differences, eight at most.

    Parameters
    ----------
    *sizes
        Numbers whose first digit must be visible; None, 0 and rounding errors need no decimals.
    least
        Smallest number of decimals.

    Examples
    --------
    >>> decimals(0.02), decimals(0.00003), decimals(0.5, -0.00003), decimals(None, 0.0, 1e-17)
    (4, 5, 5, 4)
    """
    needed = [
        -math.floor(math.log10(abs(size)))
        for size in sizes
        if size and math.isfinite(size) and _is_visible(size)
    ]
    return min(max([least, *needed]), max(least, MAX_DIGITS))


def _is_visible(size: float) -> bool:
    return abs(size) > ROUNDING


def agreeing_decimals(*pairs: tuple[float, float]) -> int:
    """Return the decimals at which the two numbers of each pair and their difference agree as they
    are written; if two more than the differences need do not suffice, as of 7/9 − 4/9, one more, at
    which they nearly do.

    >>> agreeing_decimals((0.25, 0.5)), agreeing_decimals((0.25, 0.5), (0.14154, 0.14138))
    (4, 5)
    >>> agreeing_decimals((7 / 9, 4 / 9))
    5
    """
    fewest = decimals(*(first - second for first, second in pairs))
    for places in range(fewest, fewest + 3):
        if all(
            round(round(first, places) - round(second, places), places)
            == round(first - second, places)
            for first, second in pairs
        ):
            return places
    return fewest + 1


def column_decimals(values: Iterable[float | None]) -> int:
    """Return the decimals needed to distinguish the closest two different numbers of a column, and
    its numbers from 1, six at most.

    >>> (
    ...     column_decimals([0.95, 0.97, None]),
    ...     column_decimals([0.96231, 0.96234, 0.5]),
    ...     column_decimals([0.5, 0.5]),
    ...     column_decimals([0.5, 0.99998]),
    ... )
    (4, 5, 4, 5)
    """
    finite = sorted(
        [1.0, *(value for value in values if value is not None and math.isfinite(value))]
    )
    gaps = (second - first for first, second in pairwise(finite))
    return min(decimals(*gaps), OF_COLUMN)


def number(value: float | None, places: int = DECIMALS, sign: str = "", minus: str = "−") -> str:
    """Return a number with a given number of decimals; one that rounds to 0 has no sign.

    Parameters
    ----------
    value
        The number; None is written as "–".
    places
        Number of decimals.
    sign
        "+" to show the sign of positive numbers too.
    minus
        The character for minus; for a terminal the hyphen, so that numbers can be copied.

    Examples
    --------
    >>> number(-0.25, 2), number(0.25, 2, "+"), number(-1e-9, 4, "+"), number(3.0, 0), number(None)
    ('−0.25', '+0.25', '0.0000', '3', '–')

    Rounding errors decide nothing:

    >>> number(0.81375), number(0.81375 + 2e-16), number(-0.00375), number(0.00375 + 2e-16)
    ('0.8137', '0.8137', '−0.0037', '0.0037')
    """
    if value is None:
        return "–"
    text = f"{round(value, EXACT_DIGITS):{sign}.{places}f}"
    return (text.lstrip("+-") if float(text) == 0 else text).replace("-", minus)


def amount(value: float) -> str:
    """Return an amount in the caller's unit, such as bytes, without decimals if it is whole.

    >>> amount(1024.0), amount(0.35)
    ('1024', '0.3500')
    """
    return size(value, 0 if value == round(value) else DECIMALS)


def size(value: float | None, places: int = DECIMALS, sign: str = "", minus: str = "−") -> str:
    """Return a number that stands alone, such as a difference or a standard deviation; only 0 is
    shown as 0, and only 1 as 1.

    >>> size(0.02), size(0.00003), size(-0.00003, sign="+"), size(0.0), size(1e-17)
    ('0.0200', '0.00003', '−0.00003', '0.0000', '0.0000')
    >>> size(2.4e-10), size(-0.00000005), size(0.999981), size(1.0)
    ('2e−10', '−5e−8', '0.99998', '1.0000')
    """
    if value is None or not _is_visible(value) or abs(value) >= 10.0**-OF_COLUMN:
        from_one = None if value is None else 1 - abs(value)
        return number(value, decimals(value, from_one, least=places), sign, minus)
    digit, exponent = f"{value:{sign}.0e}".split("e")
    return f"{digit}e{int(exponent)}".replace("-", minus)


def span(low: float, high: float, joint: str = " to ", places: int = DECIMALS) -> str:
    """Return two numbers with as many decimals as their
    difference needs, or one if they are the same.

    >>> span(0.962, 0.971), span(0.96231, 0.96234), span(0.5, 0.5)
    ('0.9620 to 0.9710', '0.96231 to 0.96234', '0.5000')
    """
    places = decimals(high - low, least=places)
    if not _is_visible(high - low):
        return number(low, places)
    return f"{number(low, places)}{joint}{number(high, places)}"


def interval(low: float | None, high: float | None, places: int = 3, minus: str = "−") -> str:
    """Return the ends of an interval in brackets.

    >>> (
    ...     interval(-0.042, -0.013),
    ...     interval(0.96231, 0.96234),
    ...     interval(0.5, 0.5),
    ...     interval(None, 1.0),
    ... )
    ('[−0.042, −0.013]', '[0.96231, 0.96234]', '[0.500, 0.500]', '–')
    """
    if low is None or high is None:
        return "–"
    places = decimals(high - low, least=places)
    return f"[{number(low, places, minus=minus)}, {number(high, places, minus=minus)}]"


def share(value: float | None) -> str:
    """Return a share as a percentage with one decimal, and never as none or all if it is not.

    >>> share(1 / 3), share(0.0), share(0.0004), share(0.9997), share(None)
    ('33.3%', '0.0%', '< 0.1%', '> 99.9%', '–')
    """
    if value is None:
        return number(value)
    if 0 < value < 0.0005:
        return "< 0.1%"
    return "> 99.9%" if 0.9995 <= value < 1 else f"{number(100 * value, 1)}%"


def about(count: int | None) -> str:
    """Return an estimated count, such as of queries that a test would need; None if it is beyond
    any limit.

    >>> about(1198), about(742781013), about(None)
    ('about 1198', 'more than a million', 'more than a million')
    """
    return "more than a million" if count is None or count > 10**6 else f"about {count}"


def chance_text(value: float | None, low: float | None = None, high: float | None = None) -> str:
    """A chance with as many digits as its bounds allow; without bounds it is taken as it is.

    >>> (
    ...     chance_text(0.0),
    ...     chance_text(1.96e-49, 0.0, 1e-5),
    ...     chance_text(0.33333333, 0.33333333, 0.33333333),
    ...     chance_text(0.99998),
    ... )
    ('0', '< 0.0001', '0.3333', '> 0.9999')
    >>> (
    ...     chance_text(0.27123, 0.2693, 0.2731),
    ...     chance_text(7e-5, 0.0, 0.0031),
    ...     chance_text(0.1, 0.0, 0.29),
    ... )
    ('0.271 ± 0.002', '< 0.004', '0.00 to 0.29')
    >>> chance_text(None), chance_text(None, 0.0, 0.25)
    ('–', '0.00 to 0.25')
    """
    if low is None or high is None:
        low = high = value
    if low is None or high is None:
        return number(None)
    if high == 0:
        return "0"
    if high < LEAST:
        return f"< {LEAST:.4f}"
    if value is None or high - low > 0.02:
        return f"{low:.2f} to {math.ceil(high * 100 - 1e-9) / 100:.2f}"
    if high - low <= LEAST:
        return f"> {1 - LEAST:.4f}" if 1 - LEAST / 2 <= value < 1 else f"{value:.4f}"
    if value - low >= value / 2:
        return f"< {math.ceil(high * 1000 + 1e-9) / 1000:.3f}"
    reach = math.ceil(max(high - value, value - low) * 1000 - 1e-9) / 1000
    return f"{value:.3f} ± {reach:.3f}"


def chance_percent(value: float | None, high: float | None) -> str:
    """A chance where there is room for a few letters only.

    >>> (
    ...     chance_percent(0.0, 0.0),
    ...     chance_percent(1e-30, 1e-4),
    ...     chance_percent(0.271, 0.275),
    ...     chance_percent(0.997, 0.998),
    ...     chance_percent(None, None),
    ...     chance_percent(None, 0.031),
    ... )
    ('0', '<1%', '27%', '>99%', 'none', '≤4%')
    """
    if high is None:
        return "none"  # a dash would be upright on a phone, which turns these texts
    if high == 0:
        return "0"
    if value is None:
        return f"≤{math.ceil(100 * high)}%"
    if value <= 0.005:
        return "<1%"
    return ">99%" if 0.995 <= value < 1 else f"{value:.0%}"


def p_value(p: float) -> str:
    """Return a p-value with its sign.

    >>> p_value(0.5201), p_value(1e-30), p_value(0.99998)
    ('p = 0.5201', 'p < 0.0001', 'p > 0.9999')
    """
    return f"p = {chance_text(p)}".replace("= <", "<").replace("= >", ">")
