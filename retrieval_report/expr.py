"""Exact metrics as Polars expressions, for ``group_by(…).agg(…)``, ``select`` and ``.over(…)``.

Every function is a metric of the catalogue: the mean over all orders of ties, computed by Polars
alone, lazily and in streams, without Numba and without Python callbacks. ``evaluate`` stays the
complete tool: it reads judgements, answers for missing lists and cut ones, and has the deviation of
every metric.

- metrics: :func:`precision`, :func:`recall`, :func:`f1`, :func:`hit_rate`, :func:`r_precision`,
  :func:`rr`, :func:`ap`, :func:`wap`, :func:`ap_at_r`, :func:`acg`, :func:`dcg`, :func:`ndcg`,
  :func:`rbp`, :func:`num_rel_ret`;
- ties, for ``.over("query")``: :func:`tie`, :func:`tie_start`, :func:`tie_size`,
  :func:`tie_relevant`.

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
from typing import Any, Protocol

import polars as pl

from retrieval_report.metrics import catalogue
from retrieval_report.metrics.expressions import Column, tie, tie_relevant, tie_size, tie_start
from retrieval_report.metrics.record import Metric


class Measure(Protocol):
    """A metric that is called with the columns of a list."""

    def __call__(
        self,
        relevance: Column,
        *,
        distance: Column | None = None,
        score: Column | None = None,
        k: int | None = None,
        order: str = "expected",
        std: bool = False,
        n_relevant: Column | float | None = None,
        relevant_from: float | None = None,
        no_relevant: str = "zero",
        **parameters: Any,
    ) -> pl.Expr:
        """Return the expression; see `Metric.expr`."""


def _measure(record: type[Metric]) -> Measure:
    """Return the function of a metric, whose parameters stand behind those of the expression."""
    expression, own = inspect.signature(Metric.expr), inspect.signature(record)

    def measure(relevance: Column, **how: Any) -> pl.Expr:
        made = {name: how.pop(name) for name in own.parameters if name in how}
        return record(**made).expr(relevance, **how)

    keyword = inspect.Parameter.KEYWORD_ONLY
    more = [parameter.replace(kind=keyword) for parameter in own.parameters.values()]
    measure.__signature__ = expression.replace(  # type: ignore[attr-defined]
        parameters=[*list(expression.parameters.values())[1:], *more]
    )
    measure.__name__ = measure.__qualname__ = record.name
    measure.__module__ = __name__
    about = (inspect.getdoc(record) or "").partition("\n\n")[0]
    measure.__doc__ = f"{about}\n\nParameters are those of `Metric.expr` and of the metric.\n"
    return measure


acg = _measure(catalogue.ACG)
ap = _measure(catalogue.AP)
ap_at_r = _measure(catalogue.APAtR)
dcg = _measure(catalogue.DCG)
f1 = _measure(catalogue.F1)
hit_rate = _measure(catalogue.HitRate)
ndcg = _measure(catalogue.NDCG)
num_rel_ret = _measure(catalogue.NumRelRet)
precision = _measure(catalogue.Precision)
r_precision = _measure(catalogue.RPrecision)
rbp = _measure(catalogue.RBP)
recall = _measure(catalogue.Recall)
rr = _measure(catalogue.RR)
wap = _measure(catalogue.WAP)

__all__ = [
    "acg",
    "ap",
    "ap_at_r",
    "dcg",
    "f1",
    "hit_rate",
    "ndcg",
    "num_rel_ret",
    "precision",
    "r_precision",
    "rbp",
    "recall",
    "rr",
    "tie",
    "tie_relevant",
    "tie_size",
    "tie_start",
    "wap",
]
