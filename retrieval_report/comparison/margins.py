"""Margins: losses that do not matter, one for all measures or one for each, in points or relative
to the baseline.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from typing import NamedTuple

from retrieval_report.contracts.arguments import check_number, is_number, quoted
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.metrics.parsing import (
    measure_text,
    measure_texts,
    parse_measure,
    parse_metrics,
)
from retrieval_report.writing.numbers import number

PERCENT = re.compile(r"\s*([0-9.]+)\s*%\s*")


class Margin(NamedTuple):
    """A loss that does not matter: points, or a share of the baseline's mean."""

    amount: float
    relative: bool = False

    def of(self, baseline: float) -> float:
        """Return the margin in points, given the mean of the baseline."""
        return self.amount * abs(baseline) if self.relative else self.amount

    def __str__(self) -> str:
        return f"{100 * self.amount:g} %" if self.relative else f"{self.amount:g}"


class Margins(NamedTuple):
    """The margin of every measure, or one for all (the measure None)."""

    by_measure: tuple[tuple[str | None, Margin], ...]

    def of(self, metric: str, cutoff: int | None) -> Margin | None:
        """Return the margin of a measure, None if it has none."""
        margin_by_measure = dict(self.by_measure)
        return margin_by_measure.get(measure_text(metric, cutoff), margin_by_measure.get(None))

    def among(self, measures: Iterable[tuple[str, int | None]]) -> Margins | None:
        """Return the margins of some measures alone, None if none of them has one."""
        names = measure_texts(measures)
        matching = tuple(part for part in self.by_measure if part[0] is None or part[0] in names)
        return Margins(matching) if matching else None

    def __str__(self) -> str:
        return ", ".join(
            str(margin) if measure is None else f"{measure}={margin}"
            for measure, margin in self.by_measure
        )


def parse_margin(margin: object) -> Margins:
    """Return margins from a number, a share such as ``"1 %"``, or either by measure.

    >>> str(parse_margin(0.005)), str(parse_margin("1 %"))
    ('0.005', '1 %')
    >>> str(parse_margin({"ndcg@10": 0.005, "R@10": "2%"}))
    'ndcg@10=0.005, recall@10=2 %'
    >>> parse_margin("ndcg@10=0.005, recall@10=1 %").of("recall", 10)
    Margin(amount=0.01, relative=True)
    >>> parse_margin(0)
    Traceback (most recent call last):
    retrieval_report.ParameterError: margin: 0 is not a number above 0, nor a share such as '1 %'
    """
    if isinstance(margin, Margins):
        return margin
    if isinstance(margin, str) and "=" in margin:
        pairs = [part.rpartition("=") for part in re.split(r"[,;](?![^(]*\))", margin)]
        margin = {measure.strip(): amount for measure, _, amount in pairs}
    if not isinstance(margin, Mapping):
        return Margins(((None, _margin(margin)),))
    if not margin:
        raise ParameterError("margin: none given")
    by_measure = {}
    for measure, amount in margin.items():
        parse_metrics(measure, [None])  # or an error that names what is known
        by_measure[measure_text(*parse_measure(measure))] = _margin(amount)
    return Margins(tuple(by_measure.items()))


def margin_text(margin: float) -> str:
    """Return a margin in points; one that is a share of a mean has digits without end.

    >>> margin_text(0.00434744), margin_text(0.02), margin_text(0.00000434744)
    ('0.00435', '0.02', '0.00000435')
    """
    return f"{Decimal(f'{margin:.3g}'):f}"


def nothing_could_fail(margin: float | None, value: float | None, baseline: str) -> str:
    """Say that a margin is no less than what the baseline scores; nothing where it is less.

    >>> nothing_could_fail(0.02, 0.0091, "float32")
    'margin 0.02 is no less than what float32 scores (0.0091), so nothing could fail: choose a
    smaller margin'
    >>> nothing_could_fail(0.02, 0.5, "float32")
    ''
    """
    if margin is None or value is None or not margin >= value >= 0:
        return ""
    return (
        f"margin {margin_text(margin)} is no less than what {baseline} scores ({number(value)}), "
        "so nothing could fail: choose a smaller margin"
    )


def check_measures(margins: Margins, measures: list[tuple[str, int | None]]) -> None:
    """Refuse margins of measures that are not scored.

    >>> check_measures(parse_margin({"ap": 0.1}), [("ndcg", 10)])
    Traceback (most recent call last):
    retrieval_report.ParameterError: margin: 'ap@all' is not scored; the measures are 'ndcg@10'
    """
    names = measure_texts(measures)
    for measure, _ in margins.by_measure:
        if measure is not None and measure not in names:
            raise ParameterError(
                f"margin: {measure!r} is not scored; the measures are {quoted(names)}"
            )


def _margin(amount: object) -> Margin:
    rule = "number above 0, nor a share such as '1 %'"
    share = PERCENT.fullmatch(amount) if isinstance(amount, str) else None
    value = amount
    if isinstance(amount, str):
        with suppress(ValueError):  # text that is no number is refused below
            value = float(share[1]) / 100 if share else float(amount)
    if not is_number(value):
        raise ParameterError(f"margin: {amount!r} is not a {rule}")
    return Margin(check_number("margin", value, lambda loss: loss > 0, rule), share is not None)
