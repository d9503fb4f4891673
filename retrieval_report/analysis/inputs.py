"""What every analysis starts from: a scores frame held to its contract, as a frame or as dense arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.errors import ColumnError, ParameterError
from retrieval_report.reading.frames import to_polars
from retrieval_report.schema import SCORES, refuse

__all__ = [
    "DIGITS",
    "PLACE",
    "Bools",
    "Floats",
    "Grid",
    "Indices",
    "check_fraction",
    "check_scores",
    "check_whole",
    "differences",
    "hold",
    "largest",
]

PLACE = ["metric", "cutoff", "policy"]
DIGITS = 12  # scores are exact to 1e-12, so what differs by less is equal
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Bools = NDArray[np.bool_]


def check_scores(scores: object, what: str = "scores") -> pl.DataFrame:
    """Hold a scores frame to its contract; NaN becomes null, and a cutoff that pandas made a float whole again.

    >>> check_scores({"model": ["a"]})
    Traceback (most recent call last):
    retrieval_report.errors.ColumnError: scores: no column 'query', 'metric', 'cutoff', 'policy', 'value', 'std', \
'items', 'n_relevant'; expected what evaluate returns
    """
    frame = hold(to_polars(scores, what), SCORES, what, "evaluate")
    keys = ["model", "query", *PLACE]
    for name in ("model", "query", "metric", "policy"):
        refuse(frame, pl.col(name).is_null(), name, f"null in the {what}")
    refuse(frame, pl.col("value").is_infinite(), "value", "infinite")
    if frame.select(keys).n_unique() < frame.height:
        repeated = pl.struct(keys).is_duplicated()
        refuse(frame, repeated, "value", "scores of the same model, query, metric, cutoff and policy")
    return frame


def hold(frame: pl.DataFrame, contract: Mapping[str, type[pl.DataType] | None], what: str, maker: str) -> pl.DataFrame:
    """Keep the columns of a contract, in its types; numbers of another type are cast, NaN is null."""
    missing = [name for name in contract if name not in frame.columns]
    if missing:
        raise ColumnError(f"{what}: no column {', '.join(map(repr, missing))}; expected what {maker} returns")
    frame = frame.select(list(contract))
    for name, dtype in contract.items():
        found = frame.schema[name]
        if dtype is None or (found == dtype and not found.is_float()):
            continue
        nothing = frame[name].null_count() == frame.height  # such a column comes out of a CSV file as text
        if not nothing and (dtype() == pl.String) != (found == pl.String):
            raise ColumnError(f"{what}: column {name!r} is {found}; {maker} gives {dtype()}")
        column = pl.col(name).fill_nan(None) if found.is_float() else pl.col(name)
        frame = frame.with_columns(column.cast(dtype))
    return frame


def check_fraction(name: str, value: object) -> None:
    """Raise a ParameterError unless ``value`` lies between 0 and 1.

    >>> check_fraction("confidence", 95)
    Traceback (most recent call last):
    retrieval_report.errors.ParameterError: confidence: 95 is not a number between 0 and 1
    """
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not (number and 0 < float(value) < 1):  # type: ignore[arg-type]
        raise ParameterError(f"{name}: {value!r} is not a number between 0 and 1")


def check_whole(name: str, value: object, least: int) -> None:
    """Raise a ParameterError unless ``value`` is a whole number from ``least`` on.

    >>> check_whole("seed", -1, 0)
    Traceback (most recent call last):
    retrieval_report.errors.ParameterError: seed: -1 is not a whole number from 0 on
    """
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        raise ParameterError(f"{name}: {value!r} is not a whole number from {least} on")


@dataclass(frozen=True)
class Grid:
    """Scores as dense arrays; NaN where there is no score. Sorted names make results independent of row order."""

    models: list[str]  # sorted
    places: list[tuple[str, int | None, str]]  # metric, cutoff, policy, in the order of the frame
    value: Floats  # (places, models, queries), queries sorted
    std: Floats

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Grid:
        """Lay out a checked scores frame.

        >>> frame = pl.DataFrame(
        ...     [("b", "q", "ap", 1, "naive", 0.5, None, 3, 1), ("a", "r", "ap", 1, "naive", 1.0, None, 3, 1)],
        ...     schema=list(SCORES), orient="row")
        >>> grid = Grid.of(check_scores(frame))
        >>> grid.models, grid.value.tolist()
        (['a', 'b'], [[[nan, 1.0], [0.5, nan]]])
        """
        models = frame.select("model").unique().sort("model").with_row_index("row")
        queries = frame.select("query").unique().sort("query").with_row_index("column")
        places = frame.select(PLACE).unique(maintain_order=True).with_row_index("place")
        coded = (
            frame.join(places, on=PLACE, how="left", nulls_equal=True, maintain_order="left")
            .join(models, on="model", how="left", maintain_order="left")
            .join(queries, on="query", how="left", maintain_order="left")
        )
        where = tuple(coded[name].to_numpy() for name in ("place", "row", "column"))
        shape = (places.height, models.height, queries.height)
        value, std = np.full(shape, np.nan), np.full(shape, np.nan)
        value[where], std[where] = coded["value"].to_numpy(), coded["std"].to_numpy()
        return cls(models["model"].to_list(), places.select(PLACE).rows(), value, std)


def differences(values: Floats, first: Indices, second: Indices) -> Floats:
    """Score of the first model less that of the second, rounded to 12 digits of the pair's largest score.

    >>> differences(np.array([[0.3, 1.0], [0.1 + 0.2, np.nan]]), np.array([0]), np.array([1])).tolist()
    [[0.0, nan]]
    """
    unit = largest(values, first, second)[:, None]
    settled: Floats = np.round((values[first] - values[second]) / unit, DIGITS) * unit + 0.0  # no −0.0
    return settled


def largest(values: Floats, first: Indices, second: Indices) -> Floats:
    """Power of two from the largest score of each pair on, so that dividing by it rounds nothing."""
    known = np.abs(np.nan_to_num(values)).max(axis=1, initial=0.0)
    most = np.maximum(known[first], known[second])
    unit: Floats = np.exp2(np.ceil(np.log2(np.where(most > 0, most, 1.0))))
    return unit
