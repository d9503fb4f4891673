"""Select, arrange and check the rows of analysis frames that charts draw."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from retrieval_report.comparison.verdicts import SHOWN
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.frames import SUMMARY
from retrieval_report.engines.check_scores import MEAN, at_cutoff, hold
from retrieval_report.engines.check_scores import side_by_side as means_side_by_side
from retrieval_report.metrics.parsing import parse_measure
from retrieval_report.reading.frames import to_polars
from retrieval_report.writing.names import clean, measure_name, unique_labels

SAME = 1e-12  # scores are exact to twelve digits


def held(
    frame: object, contract: Mapping[str, type[pl.DataType] | None], what: str, maker: str
) -> pl.DataFrame | None:
    """Return the frame checked against its contract, or None if it is empty, whatever its
    columns.
    """
    found = to_polars(frame, what)
    return hold(found, contract, what, maker) if found.height else None


def summary_frame(summary: object) -> pl.DataFrame | None:
    """Return the summary checked against its contract, or None if it is empty."""
    return held(summary, SUMMARY, "summary", "summarise")


def of_metric(frame: pl.DataFrame, metric: object) -> pl.DataFrame:
    """Return the rows of one metric, given as text or as a record."""
    check_choice("metric", str(metric), list(dict.fromkeys(frame["metric"])))
    return frame.filter(pl.col("metric") == str(metric))


def at_measure(frame: pl.DataFrame, metric: object, cutoff: object) -> tuple[pl.DataFrame, str]:
    """Return the rows of one metric at one cutoff (None is the whole list), and the name of the
    measure.
    """
    name, depth = parse_measure(metric, cutoff)
    here = of_metric(frame, name)
    there = here["cutoff"].unique(maintain_order=True).to_list()
    if depth not in there:
        raise ParameterError(f"cutoff: {depth!r} is not one of {', '.join(map(repr, there))}")
    return here.filter(at_cutoff(depth)), measure_name(name, depth)


def of_policy(
    frame: pl.DataFrame, metric: object, cutoff: object, policy: str
) -> tuple[pl.DataFrame, str]:
    """Return the rows of one policy by one measure, and the name of the measure."""
    here, where = at_measure(frame, metric, cutoff)
    check_choice("policy", policy, list(dict.fromkeys(here["policy"])))
    return here.filter(policy=policy), where


def check_models(
    name: str, models: Iterable[object], known: Iterable[object], lacking: str
) -> None:
    """Raise a ParameterError for the first of the models that is not known; ``lacking`` says what
    that means.
    """
    unknown = [model for model in models if model not in set(known)]
    if unknown:
        raise ParameterError(f"{name}: {clean(str(unknown[0]), 80)!r} {lacking}")


def models_at(frame: pl.DataFrame, metric: object, cutoff: object) -> tuple[pl.DataFrame, str]:
    """Return one row per model of a summary, as from `side_by_side`, by one measure, and the
    measure's name.
    """
    here, where = at_measure(frame, metric, cutoff)
    return side_by_side(here), where


def side_by_side(summary: pl.DataFrame) -> pl.DataFrame:
    """Return one row per model and cutoff with the means of all policies, best model first at each
    cutoff.

    ``order`` is the value of the first policy of SHOWN; ``tie_std`` is that of the expected mean;
    ``truncated_share`` is above 0 if the bounds allow for what cut lists leave out.
    """
    lowest, highest = (
        pl.coalesce(
            pl.col("value").filter(policy=policy).first(), pl.col(name).drop_nulls().first()
        ).alias(name)
        for name, policy in (("lowest", "worst"), ("highest", "best"))
    )
    expected = pl.col("tie_std", "query_se", "ci_low", "ci_high").filter(policy="expected").first()
    most = pl.col("queries", "truncated_share").max()
    wide = means_side_by_side(
        summary, MEAN, {name: name for name in SHOWN}, lowest, highest, expected, most
    )
    ordered = wide.with_columns(order=pl.coalesce(*SHOWN))
    return ordered.sort(
        "order", "model", descending=[True, False], nulls_last=True, maintain_order=True
    )


def with_labels(
    frame: pl.DataFrame, labels: Mapping[str, str] | None = None, column: str = "model"
) -> pl.DataFrame:
    """Add ``label``, short and unique; the full name stays for the tooltip."""
    labels = unique_labels(frame[column]) if labels is None else labels
    full = {name: clean(name) for name in labels}
    label, name = (
        pl.col(column).replace_strict(texts, return_dtype=pl.String) for texts in (labels, full)
    )
    return frame.with_columns(name, label=label)


def by_mean(frame: pl.DataFrame, column: str) -> list[str]:
    """Models by the mean of a column, the highest first."""
    means = (
        frame.group_by("model")
        .agg(pl.col(column).mean())
        .sort(column, "model", descending=[True, False])
    )
    return means["model"].to_list()


def with_tie_range(rows: pl.DataFrame) -> pl.DataFrame:
    """Add ``tie_low`` and ``tie_high``: what tie order can give, or ±2 standard deviations where
    that is not known.
    """
    two = 2 * pl.col("tie_std")
    return rows.with_columns(
        tie_low=pl.coalesce("lowest", pl.col("value") - two),
        tie_high=pl.coalesce("highest", pl.col("value") + two),
    )


def best_of(frame: pl.DataFrame, column: str) -> list[str]:
    """Return the models that share the highest value of a column; none if it has no values."""
    best = frame[column].max()
    if not isinstance(best, float):
        return []
    margin = SAME * max(1.0, abs(best))
    return frame.filter(pl.col(column) >= best - margin).sort("model")["model"].to_list()


def inline(frame: pl.DataFrame) -> dict[str, tuple[dict[str, Any], ...]]:
    """Return rows to embed in the chart, without a data transformer; NaN and infinities become
    null.

    They form a tuple, because Altair copies lists row by row whenever it combines charts.
    """
    floats = [name for name, dtype in frame.schema.items() if dtype.is_float()]
    finite = [pl.when(pl.col(name).is_finite()).then(name).alias(name) for name in floats]
    return {"values": tuple(frame.with_columns(finite).to_dicts())}


def bounds(numbers: pl.Series) -> tuple[float, float]:
    """Return the smallest and largest of the numbers that are not null."""
    values = numbers.drop_nulls().to_list()
    return float(min(values)), float(max(values))


def nice_domain(*columns: pl.Series) -> tuple[float, float]:
    """Return round numbers around all values of some columns, for an axis, but within 0 and 1 for
    shares.
    """
    values = [
        value for column in columns for value in (column.min(), column.max()) if value is not None
    ]
    numbers = [
        float(value) for value in values if isinstance(value, int | float) and math.isfinite(value)
    ]
    if not numbers:
        return 0.0, 1.0
    low, high = min(numbers), max(numbers)
    if high - low < SAME:
        low, high = low - 0.05, high + 0.05
    step = 10 ** math.floor(math.log10(high - low)) / 5
    ends = round(math.floor(low / step) * step, 12), round(math.ceil(high / step) * step, 12)
    share = min(numbers) >= 0 and max(numbers) <= 1 + SAME
    return (max(ends[0], 0.0), min(ends[1], 1.0)) if share else ends
