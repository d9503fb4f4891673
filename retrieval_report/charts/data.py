"""Select, arrange and check the rows of analysis frames that charts draw."""

import polars as pl

from retrieval_report.charts.theme import filled
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.registry import FRAMES, schema
from retrieval_report.engines.check_scores import at_cutoff, board, check_result_frame
from retrieval_report.metrics.parsing import parse_measure
from retrieval_report.reading.frames import to_polars
from retrieval_report.writing.names import LABEL, clean, measure_name, unique_labels

SAME = 1e-12  # scores are exact to twelve digits


def checked_frame(frame: object, name: str, contract: Named | None = None) -> pl.DataFrame:
    """Return the frame of a name as its contract says; without rows the chart says so."""
    maker = next(iter(FRAMES[name].returned_by), name)
    rows = filled(to_polars(frame, name), f"the result of {maker} has no rows")
    return check_result_frame(rows, contract or schema(name), name, maker)


def of_metric(frame: pl.DataFrame, metric: object) -> pl.DataFrame:
    """Return the rows of one metric, given as text or as a record."""
    check_choice("metric", str(metric), list(dict.fromkeys(frame["metric"])))
    return frame.filter(metric=str(metric))


def at_measure(
    frame: object,
    name: str,
    metric: object,
    cutoff: object,
    *needed: str,
    expected: bool = False,
) -> tuple[pl.DataFrame, str]:
    """Return those rows of the frame of a name that are of one metric at one cutoff (None is the
    whole list), of expected scores alone if asked, and have the columns needed; and the name of the
    measure. If there are none, the chart says so.
    """
    rows = checked_frame(frame, name)
    if expected:
        check_choice("policy", "expected", list(dict.fromkeys(rows["policy"])))
        rows = rows.filter(policy="expected")
    measure = parse_measure(metric, cutoff)
    rows = of_metric(rows, measure[0])
    cutoffs = rows["cutoff"].unique(maintain_order=True).to_list()
    if measure[1] not in cutoffs:
        raise ParameterError(
            f"cutoff: {measure[1]!r} is not one of {', '.join(map(repr, cutoffs))}"
        )
    where = measure_name(*measure)
    rows = rows.filter(at_cutoff(measure[1]), *(pl.col(column).is_not_null() for column in needed))
    return filled(rows, f"there is no score for {where}"), where


def models_at(summary: object, metric: object, cutoff: object) -> tuple[pl.DataFrame, str]:
    """Return one row per model of a summary, as from `board`, by one measure, and its name."""
    rows, where = at_measure(summary, "summary", metric, cutoff)
    return board(rows), where


def with_labels(
    frame: pl.DataFrame, column: str = "model", *names: str, limit: int = LABEL
) -> pl.DataFrame:
    """Add ``label``, short and unique; the full name stays
    for the tooltip, harmless, as do other ``names``.
    """
    labels = unique_labels(frame[column], limit)
    name = pl.col(column)
    return frame.with_columns(
        name.replace_strict({text: clean(text) for text in labels}, return_dtype=pl.String),
        pl.col(names).map_elements(clean, return_dtype=pl.String),
        label=name.replace_strict(labels, return_dtype=pl.String),
    )
