"""Describe how the numbers were computed: formula and denominator of every metric in a report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from retrieval_report.contracts.errors import ParameterError
from retrieval_report.metrics.formulas import FORMULAS
from retrieval_report.metrics.parsing import parse_metric


@dataclass(frozen=True)
class Method:
    """One metric in words."""

    metric: str
    formula: str
    divisor: str
    parameters: str


def describe_metrics(measures: Iterable[str]) -> list[Method]:
    """Describe each metric of measures such as ``ap(denominator=min)@10`` once.

    >>> describe_metrics(["ap(denominator=min)@10"])[0].divisor
    'min(k, R)'
    """
    return [_describe(name) for name in dict.fromkeys(measure.rpartition("@")[0] for measure in measures)]


def _describe(text: str) -> Method:
    try:
        metric, _ = parse_metric(text)
    except ParameterError:
        # A gain or discount that is a function has no text form that could be parsed.
        name = text.partition("(")[0]
        return Method(text, FORMULAS[name].total if name in FORMULAS else "", "as its parameters say", "")
    formula = FORMULAS[metric.name]
    values = {part.name: getattr(metric, part.name) for part in fields(metric)}
    shown = ", ".join(f"{name} = {value}" for name, value in values.items())
    return Method(str(metric), formula.total, formula.divided_by(values.get(formula.parameter)), shown or "–")
