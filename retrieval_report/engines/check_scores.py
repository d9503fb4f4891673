"""Check the frames that analyses take, and select from them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import polars as pl

from retrieval_report.contracts.arguments import Named, Names, check_number, quoted
from retrieval_report.contracts.checks import refuse
from retrieval_report.contracts.errors import ColumnError
from retrieval_report.contracts.frames import SCORES
from retrieval_report.contracts.registry import in_contract
from retrieval_report.contracts.wording import in_python
from retrieval_report.reading.frames import to_polars

MEASURE = ["metric", "cutoff"]
CUTOFF_TEXT = pl.col("cutoff").cast(pl.String).fill_null("all")
MEASURE_NAME = pl.format("{}@{}", "metric", CUTOFF_TEXT)
SCORE = [*MEASURE, "policy"]  # what is averaged, beside the model
GROUP = ["model", *SCORE]
MEAN = ["model", *MEASURE]
FLAGS = (
    "truncated",
    "pooled",
)  # scores from elsewhere may lack these columns, which are then false
LIMITS = {"lowest": "worst", "highest": "best"}  # column and policy
COUNTED = (
    "expected",
    "shuffled",
)  # policies whose scores have a standard deviation under tie order
RANKING = (*COUNTED, "naive")  # the first that was evaluated ranks models
BOUNDS = ("worst", "best")  # policies that no evaluator follows


class Checked(NamedTuple):
    """A scores frame that was made here, which `check_scores` returns as it is."""

    frame: pl.DataFrame


def check_scores(scores: object) -> pl.DataFrame:
    """Check a scores frame; NaN becomes null, and
    cutoffs that pandas made floats become whole again.

    Missing columns ``truncated`` and ``pooled`` are added as false.

    >>> check_scores({"model": ["a"]})
    Traceback (most recent call last):
    retrieval_report.ColumnError: scores: no column 'query', 'metric', 'cutoff', 'policy', 'value',
    'std', 'items', 'n_relevant'; expected what evaluate returns
    """
    if isinstance(scores, Checked):
        return scores.frame
    if isinstance(scores, Mapping) and any(isinstance(part, Mapping) for part in scores.values()):
        remedy = in_python(
            "; for rankings use a Study, as in Study(rankings, judgements=…).comparison"
        )
        raise ColumnError(f"scores: expected what evaluate returns, not dictionaries{remedy}")
    frame = to_polars(scores, "scores")
    frame = frame.with_columns(**dict.fromkeys({*FLAGS} - {*frame.columns}, False))
    frame = check_result_frame(frame, SCORES, "scores", "evaluate").with_columns(
        pl.col(FLAGS).fill_null(False)
    )
    keys = ["model", "query", *SCORE]
    for name in ("model", "query", "metric", "policy"):
        refuse(frame, pl.col(name).is_null(), name, "null in the scores")
    refuse(frame, pl.col("value").is_infinite(), "value", "infinite")
    refuse(frame, pl.col("std").is_infinite() | (pl.col("std") < 0), "std", "negative or infinite")
    if frame.select(keys).n_unique() < frame.height:
        repeated = pl.struct(keys).is_duplicated()
        refuse(
            frame, repeated, "value", "scores of the same model, query, metric, cutoff and policy"
        )
    return frame


def check_result_frame(result: object, contract: Named, what: str, maker: str) -> pl.DataFrame:
    """Return the columns of a contract in its types;
    numbers of another type are cast, NaN becomes null.

    The type None stands for ids, which keep theirs.

    >>> check_result_frame(
    ...     pl.DataFrame({"cutoff": [1.0, 2.5]}), {"cutoff": pl.Int64}, "scores", "evaluate"
    ... )
    Traceback (most recent call last):
    retrieval_report.DataError: column 'cutoff': 1 not a whole number of 64 bits, first in row 1
    """
    frame = to_polars(result, what)
    missing = [name for name in contract if name not in frame.columns]
    if missing:
        raise ColumnError(f"{what}: no column {quoted(missing)}; expected what {maker} returns")
    frame = frame.select(contract.keys()).with_columns(pl.selectors.float().fill_nan(None))
    for name, dtype in contract.items():
        given_type, column = frame.schema[name], pl.col(name)
        if frame[name].null_count() == frame.height:  # such a column is read from CSV as text
            frame = frame.with_columns(pl.lit(None, dtype or given_type).alias(name))
            continue
        text = given_type == pl.String
        if dtype is None:
            fits = text or given_type.is_integer()
        else:
            fits = given_type.is_numeric() if dtype().is_numeric() else text == (dtype == pl.String)
        if not fits:
            expected_type = "text or whole numbers" if dtype is None else dtype()
            raise ColumnError(
                f"{what}: column {name!r} is {given_type}; {maker} gives {expected_type}"
            )
        if dtype not in (None, given_type) and dtype().is_integer():
            whole = column.cast(dtype, strict=False)
            odd = column.is_not_null() & (whole.is_null() | (whole != column))
            refuse(frame, odd, name, "not a whole number of 64 bits")
    return in_contract(frame, contract)


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
    return check_number(name, value, lambda part: 0 < part < 1, "number between 0 and 1")


def in_both_directions(pairs: pl.DataFrame) -> pl.DataFrame:
    """Return every pair of ``model_a`` and ``model_b``, and then every pair the other way round."""
    swapped = pairs.rename({"model_a": "model_b", "model_b": "model_a"})
    return pl.concat([pairs, swapped.select(pairs.columns)])


def join_left(frame: pl.DataFrame, other: pl.DataFrame, on: Names) -> pl.DataFrame:
    """Return the rows of a frame, in their order, with what another one has of the same keys, such
    as a measure of whole lists, whose cutoff is null.

    >>> key = pl.Series("cutoff", [None, 1], pl.Int64)
    >>> join_left(
    ...     pl.DataFrame(key), pl.DataFrame({"value": [2, 3]}).with_columns(key), "cutoff"
    ... ).rows()
    [(None, 2), (1, 3)]
    """
    return frame.join(other, on=on, how="left", nulls_equal=True, maintain_order="left")


def side_by_side(
    frame: pl.DataFrame, keys: Sequence[str], policies: Sequence[str], *more_columns: pl.Expr
) -> pl.DataFrame:
    """Return one row for these keys, with a column for the value of some policies; those of the
    bounds are ``lowest`` and ``highest``.
    """
    names = {policy: name for name, policy in LIMITS.items()}
    values = [
        pl.col("value").filter(policy=policy).first().alias(names.get(policy, policy))
        for policy in policies
    ]
    return frame.group_by(keys, maintain_order=True).agg(*values, *more_columns)


def board(summary: pl.DataFrame, *more_columns: pl.Expr) -> pl.DataFrame:
    """Return the rows of `means_of_policies`, the best first. ``value`` is the mean that ranks: the
    expected one, else that of shuffles, else the naive one.
    """
    wide = means_of_policies(summary, *more_columns).with_columns(value=pl.coalesce(RANKING))
    return wide.sort(
        "value", "model", descending=[True, False], nulls_last=True, maintain_order=True
    )


NAIVE_ERROR = pl.col("naive") - pl.col("expected")
# Whether a mean is not exact, because lists may be cut or R is not known.
IS_ESTIMATE = ((pl.col("truncated_share") > 0) | pl.col("pooled")).fill_null(False)


def means_of_policies(summary: pl.DataFrame, *more_columns: pl.Expr) -> pl.DataFrame:
    """Return one row per model, metric and cutoff with the means of all policies and
    ``more_columns``.

    ``tie_std`` and intervals are those of the expected mean; ``truncated_share`` is above 0 if the
    bounds allow for what cut lists leave out, and ``pooled`` is true if R may be larger.
    """
    ends = [
        pl.coalesce(
            pl.col("value").filter(policy=policy).first(), pl.col(name).drop_nulls().first()
        ).alias(name)
        for name, policy in LIMITS.items()
    ]
    expected = pl.col("tie_std", "query_se", "ci_low", "ci_high").filter(policy="expected").first()
    most = pl.col("queries", "truncated_share", "pooled").max()
    return side_by_side(summary, MEAN, RANKING, *ends, expected, most, *more_columns)
