"""Exact metrics as Polars expressions, for ``group_by(…).agg(…)``, ``select`` and ``.over(…)``.

Every function is a metric of the catalogue: the mean over all orders of ties, computed by Polars
alone, lazily and in streams, without Numba and without Python callbacks. ``evaluate`` stays the
complete tool: it reads judgements, answers for missing lists and cut ones, and has the deviation of
every metric.

- metrics by their names, such as ``precision``; ``dir(rr.expr)`` lists them;
- ties, for ``.over("query")``: :func:`tie`, :func:`tie_start`, :func:`tie_size`,
  :func:`tie_relevant`;
- the rank of the first relevant item of a list: :func:`first_rank`.

>>> import polars as pl
>>> import retrieval_report as rr
>>> rankings = pl.LazyFrame(
...     {"query": ["q", "q", "r"], "distance": [1, 1, 0], "relevance": [1, 0, 1]}
... )
>>> rankings.group_by("query").agg(
...     rr.expr.ndcg("relevance", distance="distance", k=10),
...     rr.expr.rr("relevance", distance="distance"),
... ).sort("query").collect().rows()
[('q', 0.8154648767857287, 0.75), ('r', 1.0, 1.0)]
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import polars as pl

from retrieval_report.contracts.checks import did_you_mean
from retrieval_report.metrics.expressions import Column, has_expression
from retrieval_report.metrics.expressions import first_rank as first_rank
from retrieval_report.metrics.expressions import tie as tie
from retrieval_report.metrics.expressions import tie_relevant as tie_relevant
from retrieval_report.metrics.expressions import tie_size as tie_size
from retrieval_report.metrics.expressions import tie_start as tie_start
from retrieval_report.metrics.parsing import CATALOGUE
from retrieval_report.metrics.record import Metric

Measure = Callable[..., pl.Expr]  # a metric that is called with the columns of a list


def _measure(record: type[Metric]) -> Measure:
    """Return the function of a metric, whose parameters stand behind those of the expression."""
    expression, signature = inspect.signature(Metric.expr), inspect.signature(record)

    def measure(relevance: Column, **how: Any) -> pl.Expr:
        made = {name: how.pop(name) for name in signature.parameters if name in how}
        return record(**made).expr(relevance, **how)

    keyword = inspect.Parameter.KEYWORD_ONLY
    more = [parameter.replace(kind=keyword) for parameter in signature.parameters.values()]
    measure.__signature__ = expression.replace(  # type: ignore[attr-defined]
        parameters=[*list(expression.parameters.values())[1:], *more]
    )
    measure.__name__ = measure.__qualname__ = record.name
    measure.__module__ = __name__
    about = (inspect.getdoc(record) or "").partition("\n\n")[0]
    measure.__doc__ = f"{about}\n\nParameters are those of `Metric.expr` and of the metric.\n"
    return measure


MEASURES: Mapping[str, Measure] = {
    name: _measure(record) for name, record in CATALOGUE.items() if has_expression(record())
}
__all__ = sorted([*MEASURES, "first_rank", "tie", "tie_relevant", "tie_size", "tie_start"])


def __getattr__(name: str) -> Measure:
    """Return a metric of the catalogue."""
    if name not in MEASURES:
        hint = did_you_mean(name, MEASURES)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{hint}")
    return MEASURES[name]


def __dir__() -> list[str]:
    return __all__
