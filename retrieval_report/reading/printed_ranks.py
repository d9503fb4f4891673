"""Compare the ranks that a source prints with the order of its distances or scores."""

import polars as pl

from retrieval_report.contracts.frames import order_column, with_model
from retrieval_report.contracts.warning import warn

RANK = "printed_rank"
# Ranks that contradict scores do so everywhere, so that some rows are enough.
SLICES, SLICE = 100, 500


def rank_conflicts(frame: pl.DataFrame) -> pl.DataFrame:
    """Return ``model``, its ``lists`` whose printed ranks show an order, how many of them run
    ``against`` the distances or scores in a quarter of the pairs of neighbouring rows, or more, and
    how many are ``turned``: Spearman's correlation is below half of the lowest that ties allow, as
    chance seldom has it.

    >>> run = {"query": ["q"] * 3, "score": [3.0, 2.0, 1.0], "printed_rank": [3, 2, 1]}
    >>> rank_conflicts(pl.DataFrame(run)).row(0)
    ('model', 1, 1, 1)
    """
    order = order_column(frame)
    keys = ["model", "query"]
    rank, value = (pl.col(name).cast(pl.Float64, strict=False) for name in (RANK, order))
    value = value if order == "distance" else -value
    rows = with_model(frame).select(*keys, rank=rank, value=value)
    step = (pl.col("rank").diff().sign() * pl.col("value").diff().sign()).over(keys)
    alike = pl.corr("rank", "value", method="spearman")
    most_alike = pl.corr(pl.col("rank").sort(), pl.col("value").sort(), method="spearman")
    lists = rows.with_columns(step=step).group_by(keys)
    shown = lists.agg(pl.col("step").filter(pl.col("step") != 0).mean(), alike=alike / most_alike)
    against, turned = (pl.col("step") <= 0.5).sum(), (pl.col("alike") < -0.5).sum()
    models = shown.drop_nulls("step").group_by("model")
    return models.agg(lists=pl.len(), against=against, turned=turned).sort("model")


def warn_of_late_ranks(frame: pl.DataFrame, path: str) -> None:
    """Warn of a run in which no list has a first rank, as where its first items were cut off."""
    if RANK in frame.columns and frame.schema[RANK].is_integer():
        first = frame.select(pl.min(RANK)).item()
        if first is not None and first > 1:
            warn(f"{path}: no rank is below {first}; do its lists lack their first items?")


def without_agreeing_ranks(frame: pl.DataFrame) -> pl.DataFrame:
    """Return rankings without printed ranks, unless these contradict the order of most lists, which
    readers of the scores then have to know.
    """
    if not {RANK, order_column(frame), "query"} <= {*frame.columns}:
        return frame.drop(RANK, strict=False)
    dtype = frame.schema[RANK]
    most = 2 * pl.col("against") > pl.col("lists")  # of the lists of some model
    if (
        not (dtype.is_numeric() or dtype == pl.String)
        or rank_conflicts(_sample(frame)).filter(most).is_empty()
    ):
        return frame.drop(RANK)
    return frame.with_columns(pl.col(RANK).cast(pl.Float64, strict=False))


def _sample(frame: pl.DataFrame) -> pl.DataFrame:
    """Return slices of consecutive rows at equal distances, or all rows if there are few."""
    step = frame.height // SLICES
    if step <= SLICE:
        return frame
    return pl.concat(frame.slice(number * step, SLICE) for number in range(SLICES))
