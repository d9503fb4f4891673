"""Check scores frames for analyses, and lay them out as dense arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.contracts.arguments import is_number, listed, shown
from retrieval_report.contracts.checks import check_choice, refuse
from retrieval_report.contracts.errors import ColumnError, ParameterError
from retrieval_report.contracts.frames import SCORES
from retrieval_report.contracts.registry import in_contract
from retrieval_report.reading.frames import to_polars

SCORE = ["metric", "cutoff", "policy"]  # what is averaged, beside the model
GROUP = ["model", *SCORE]
MEAN = ["model", "metric", "cutoff"]
DIGITS = 12  # scores are exact to 1e-12, so smaller differences count as equal
FLAGS = ("truncated", "pooled")  # scores from elsewhere may lack these columns, which are then false
BOUNDS = ("best", "worst")  # policies that no evaluator follows
BLOCK = 1 << 22  # differences held at a time
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Bools = NDArray[np.bool_]


def check_scores(scores: object) -> pl.DataFrame:
    """Check a scores frame; NaN becomes null, and cutoffs that pandas made floats become whole again.

    Missing columns ``truncated`` and ``pooled`` are added as false.

    >>> check_scores({"model": ["a"]})
    Traceback (most recent call last):
    retrieval_report.ColumnError: scores: no column 'query', 'metric', 'cutoff', 'policy', 'value', 'std', \
'items', 'n_relevant'; expected what evaluate returns
    """
    frame = to_polars(scores, "scores")
    frame = frame.with_columns(pl.lit(False).alias(flag) for flag in FLAGS if flag not in frame.columns)
    frame = hold(frame, SCORES, "scores", "evaluate").with_columns(pl.col(FLAGS).fill_null(False))
    keys = ["model", "query", *SCORE]
    for name in ("model", "query", "metric", "policy"):
        refuse(frame, pl.col(name).is_null(), name, "null in the scores")
    refuse(frame, pl.col("value").is_infinite(), "value", "infinite")
    refuse(frame, pl.col("std").is_infinite() | (pl.col("std") < 0), "std", "negative or infinite")
    if frame.select(keys).n_unique() < frame.height:
        repeated = pl.struct(keys).is_duplicated()
        refuse(frame, repeated, "value", "scores of the same model, query, metric, cutoff and policy")
    return frame


def hold(frame: pl.DataFrame, contract: Mapping[str, type[pl.DataType] | None], what: str, maker: str) -> pl.DataFrame:
    """Return the columns of a contract in its types; numbers of another type are cast, NaN becomes null.

    The type None stands for ids, which keep theirs.

    >>> hold(pl.DataFrame({"cutoff": [1.0, 2.5]}), {"cutoff": pl.Int64}, "scores", "evaluate")
    Traceback (most recent call last):
    retrieval_report.DataError: column 'cutoff': 1 not a whole number of 64 bits, first in row 1 (row 1)
    """
    missing = [name for name in contract if name not in frame.columns]
    if missing:
        raise ColumnError(f"{what}: no column {', '.join(map(repr, missing))}; expected what {maker} returns")
    frame = frame.select(list(contract))
    for name, dtype in contract.items():
        found = frame.schema[name]
        nothing = frame[name].null_count() == frame.height  # such a column is read from CSV as text
        if dtype is None:
            if not (nothing or found == pl.String or found.is_integer()):
                raise ColumnError(f"{what}: column {name!r} is {found}; an id must be text or a whole number")
        elif nothing:
            frame = frame.with_columns(pl.lit(None, dtype).alias(name))
        else:
            _check_kind(name, found, dtype(), what, maker)
            frame = _cast(frame, name, dtype())
    return frame


def _check_kind(name: str, found: pl.DataType, wanted: pl.DataType, what: str, maker: str) -> None:
    fits = found.is_numeric() if wanted.is_numeric() else (found == pl.String) == (wanted == pl.String)
    if not fits:
        raise ColumnError(f"{what}: column {name!r} is {found}; {maker} gives {wanted}")


def _cast(frame: pl.DataFrame, name: str, wanted: pl.DataType) -> pl.DataFrame:
    """Cast a column; NaN becomes null, and a number that the type cannot hold is an error."""
    column = pl.col(name)
    if frame.schema[name].is_float():
        frame = frame.with_columns(column.fill_nan(None))
    if frame.schema[name] == wanted:
        return frame
    if wanted.is_integer():
        whole = column.cast(wanted, strict=False)
        refuse(
            frame, column.is_not_null() & (whole.is_null() | (whole != column)), name, "not a whole number of 64 bits"
        )
    return frame.with_columns(column.cast(wanted))


def at_cutoff(cutoff: int | None) -> pl.Expr:
    """Return where a frame is about this cutoff; None is the whole list."""
    return pl.col("cutoff").eq_missing(pl.lit(cutoff, pl.Int64))


def at_measure(metric: str, cutoff: int | None) -> pl.Expr:
    """Return where a frame is about this metric at this cutoff."""
    return (pl.col("metric") == metric) & at_cutoff(cutoff)


def check_fraction(name: str, value: object) -> float:
    """Return the value as a Python float; raise a ParameterError unless it lies between 0 and 1.

    >>> check_fraction("confidence", 95)
    Traceback (most recent call last):
    retrieval_report.ParameterError: confidence: 95 is not a number between 0 and 1
    """
    if not is_number(value) or not 0 < value < 1:  # type: ignore[operator]
        raise ParameterError(f"{name}: {shown(value)} is not a number between 0 and 1")
    return float(value)  # type: ignore[arg-type]


def side_by_side(frame: pl.DataFrame, keys: Sequence[str], names: Mapping[str, str], *others: pl.Expr) -> pl.DataFrame:
    """Return one row for these keys, with a column for the value of some policies, given by their names."""
    values = [pl.col("value").filter(policy=policy).first().alias(name) for name, policy in names.items()]
    return frame.group_by(keys, maintain_order=True).agg(*values, *others)


@dataclass(frozen=True)
class Grid:
    """Scores as dense arrays, NaN if there is no score. Sorted names make results independent of row order."""

    models: list[str]  # sorted
    queries: list[object]  # sorted
    measures: list[tuple[str, int | None, str]]  # metric, cutoff, policy, in the order of the frame
    value: Floats  # (measures, models, queries)
    std: Floats
    truncated: Bools  # whether the score reaches into a tie that the list's end may have cut
    pooled: Bools  # whether R counts only what some model retrieved

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Grid:
        """Lay out a checked scores frame.

        >>> frame = pl.DataFrame(
        ...     [("b", "q", "ap", 1, "naive", 0.5, None, 3, 1), ("a", "r", "ap", 1, "naive", 1.0, None, 3, 1)],
        ...     schema=list(SCORES)[:9], orient="row")
        >>> grid = Grid.of(check_scores(frame))
        >>> grid.models, grid.value.tolist()
        (['a', 'b'], [[[nan, 1.0], [0.5, nan]]])
        """
        models = frame.select("model").unique().sort("model").with_row_index("row")
        queries = frame.select("query").unique().sort("query").with_row_index("column")
        measures = frame.select(SCORE).unique(maintain_order=True).with_row_index("measure")
        coded = (
            frame.join(measures, on=SCORE, how="left", nulls_equal=True, maintain_order="left")
            .join(models, on="model", how="left", maintain_order="left")
            .join(queries, on="query", how="left", maintain_order="left")
        )
        where = tuple(coded[name].to_numpy() for name in ("measure", "row", "column"))
        shape = (measures.height, models.height, queries.height)
        value, std = np.full(shape, np.nan), np.full(shape, np.nan)
        value[where], std[where] = coded["value"].to_numpy(), coded["std"].to_numpy()
        named = models["model"].to_list(), queries["query"].to_list(), measures.select(SCORE).rows()
        flags = []
        for name in FLAGS:
            flag = np.zeros(shape, np.bool_)
            flag[where] = coded[name].to_numpy()
            flags.append(flag)
        return cls(*named, value, std, *flags)


@dataclass(frozen=True)
class Pairs:
    """Pairs of models that are compared, as rows of the grid."""

    first: Indices
    second: Indices

    @classmethod
    def every(cls, models: int) -> Pairs:
        """Return all pairs, the earlier model first."""
        both = np.array(list(combinations(range(models), 2)), dtype=np.intp).reshape(-1, 2)
        return cls(both[:, 0], both[:, 1])

    @classmethod
    def against(cls, models: int, fixed: int) -> Pairs:
        """Return every other model with one that is fixed."""
        others = np.delete(np.arange(models, dtype=np.intp), fixed)
        return cls(others, np.full_like(others, fixed))

    def blocks(self, queries: int) -> list[slice]:
        """Return slices of pairs whose differences fit in memory."""
        step = max(1, BLOCK // max(queries, 1))
        return [slice(start, start + step) for start in range(0, self.first.size, step)]

    def part(self, block: slice) -> Pairs:
        """Return some of the pairs."""
        return Pairs(self.first[block], self.second[block])


def paired_columns(value: Floats, std: Floats, pairs: Pairs) -> dict[str, Floats]:
    """Return the means of both models of each pair over the queries that both have, and what else describes these.

    ``tie_std`` is the standard deviation of the difference under random tie order, drawn for each model on its own.
    """
    first, second = pairs.first, pairs.second
    paired = ~np.isnan(value[first]) & ~np.isnan(value[second])
    size = paired.sum(axis=1)
    variance = np.where(paired, std[first] ** 2 + std[second] ** 2, 0.0).sum(axis=1)
    return {
        "value_a": paired_mean(value[first], paired),
        "value_b": paired_mean(value[second], paired),
        "tie_std": np.sqrt(variance) / np.where(size > 0, size, np.nan),
        "queries": size,
        "unpaired": (np.isnan(value[first]) != np.isnan(value[second])).sum(axis=1),
    }


def measured(
    columns: Mapping[str, object], measure: tuple[str, int | None, str], contract: Mapping[str, Any], **words: str | int
) -> pl.DataFrame:
    """Return columns about one metric, cutoff and policy as a frame in its contract; NaN becomes null."""
    same = {"metric": measure[0], "policy": measure[2], **words}
    frame = pl.DataFrame(columns).with_columns(pl.lit(measure[1], pl.Int64).alias("cutoff"))
    frame = frame.with_columns(pl.lit(word).alias(name) for name, word in same.items())
    return in_contract(frame.with_columns(pl.selectors.float().fill_nan(None)), contract)


def paired_mean(values: Floats, paired: Bools) -> Floats:
    """Return the mean over the queries that both models of a pair have, one row per pair; NaN if there is none."""
    size = paired.sum(axis=1)
    mean: Floats = np.where(paired, values, 0.0).sum(axis=1) / np.where(size > 0, size, np.nan)
    return mean


def differences(values: Floats, first: Indices, second: Indices) -> Floats:
    """Return the score of the first model minus that of the second, rounded to 12 digits of the pair's largest score.

    >>> differences(np.array([[0.3, 1.0], [0.1 + 0.2, np.nan]]), np.array([0]), np.array([1])).tolist()
    [[0.0, nan]]
    """
    unit = largest(values, first, second)[:, None]
    settled: Floats = np.round((values[first] - values[second]) / unit, DIGITS) * unit + 0.0  # no −0.0
    return settled


def settled_means(means: Floats) -> Floats:
    """Round means to 12 digits of 1 or of the largest, so that equal ones are equal however they were summed.

    >>> means = np.array([3 * 10000.1, 30000.3])
    >>> np.diff(means).item() == 0, np.diff(settled_means(means)).item() == 0
    (False, True)
    """
    most = float(np.abs(np.nan_to_num(means)).max(initial=1.0))
    unit = 2.0 ** np.ceil(np.log2(most))
    settled: Floats = np.round(means / unit, DIGITS) * unit
    return settled


def largest(values: Floats, first: Indices, second: Indices) -> Floats:
    """Return a power of two above the largest score of each pair, division by which does not round."""
    known = np.abs(np.nan_to_num(values)).max(axis=1, initial=0.0)
    most = np.maximum(known[first], known[second])
    digits, exponent = np.frexp(np.where(most > 0, most, 1.0))
    unit: Floats = np.ldexp(1.0, np.minimum(exponent - (digits == 0.5), 1023))
    return unit


def asked_measures(grid: Grid, policies: str | Sequence[str] | None) -> list[int]:
    """Return which metrics, cutoffs and policies of the grid are requested; by default all except the bounds."""
    found = list(dict.fromkeys(policy for _, _, policy in grid.measures))
    usual = [policy for policy in found if policy not in BOUNDS] or found
    chosen = usual if policies is None else listed(policies)
    if policies is not None and not chosen:
        raise ParameterError("policies: none given")
    for policy in chosen:
        check_choice("policies", policy, found)
    return [number for number, (_, _, policy) in enumerate(grid.measures) if policy in chosen]
