"""Interpolated precision along levels of recall."""

from __future__ import annotations

import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import texts
from retrieval_report.charts.codes import CURVE, curves
from retrieval_report.charts.data import by_mean, held
from retrieval_report.charts.lines import lighted, unlit
from retrieval_report.charts.theme import empty_chart, finish, layered
from retrieval_report.writing.names import joined, listed
from retrieval_report.writing.numbers import number


def recall_curve(curve: object) -> ChartType:
    """Draw interpolated precision along recall, a line for every model.

    Parameters
    ----------
    curve
        ``recall_curve`` of a study.

    Returns
    -------
    altair.Chart

    Examples
    --------
    >>> curve = {"model": ["a", "a"], "recall": [0.0, 1.0], "value": [1.0, 0.5]}
    >>> recall_curve(curve).to_dict()["title"]["text"]
    ['a: mean precision 0.750 along 2 levels of recall']
    """
    wanted: dict[str, type[pl.DataType] | None] = {"model": pl.String, "recall": pl.Float64, "value": pl.Float64}
    frame = held(curve, wanted, "curve", "recall_curve of a study")
    if frame is None:
        return empty_chart("the curve has no rows")
    rows = frame.select("model", "recall", precision="value").drop_nulls().sort("model", "recall")
    if rows.is_empty():
        return empty_chart("no model has an expected precision")
    models = by_mean(rows, "precision")
    shown, lit = lighted(rows, models)
    layers = curves(shown, lit, texts("model"), ("recall", "interpolated precision"))
    means = dict(rows.group_by("model").agg(pl.col("precision").mean()).iter_rows())
    best, levels = number(means[models[0]], 3), rows["recall"].n_unique()
    title = f"{listed(models[:1])}: mean precision {best} along {levels} levels of recall"
    note = "the best precision at any rank at which at least this recall is reached, exact means over tie orders"
    spoken = "Precision along recall: " + joined(
        [f"{label}: mean precision {number(means[model])}" for label, model in zip(lit, models, strict=False)]
    )
    chart = layered(*layers).properties(width=CURVE, height=CURVE)
    return finish(chart, title, [note + unlit(len(models) - len(lit))], spoken)
