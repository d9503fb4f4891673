"""Lists from arrays without ids, as batches of a
training loop have them: no frame is joined or sorted.
"""

from typing import NamedTuple

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import Array
from retrieval_report.contracts.errors import DataError
from retrieval_report.contracts.options import Options
from retrieval_report.kernels.grouping import count_smaller
from retrieval_report.kernels.lists import Floats, Integers, Rows, frozen
from retrieval_report.metrics.parsing import Requests
from retrieval_report.reading.search_results import as_array, flat_rows, labels_and_mask, within
from retrieval_report.scoring import arrays
from retrieval_report.scoring.judged import Judged, KnownOfWhole, judge

MODEL = "model"  # the only one
MAX_GRADED_ITEMS = (
    32  # graded items of a list, up to which counting the others is faster than sorting all
)
PART = KnownOfWhole(part=True, models=(MODEL,))


class Batch(NamedTuple):
    """Rows of scores or distances (``order``) one after the other, without masked items and those
    of weight 0.
    """

    order: str
    key: Array
    grade: Array
    lengths: Integers
    weight: Floats | None = None  # of items

    @property
    def query(self) -> Integers:
        """Return the number of each item's list."""
        return np.repeat(np.arange(self.lengths.size), self.lengths)

    def named(self) -> pl.DataFrame:
        """Return the rows with their query and position."""
        columns = {"query": self.query, "item": within(self.lengths), self.order: self.key}
        return pl.DataFrame({**columns, "relevance": self.grade})


def flat_batch(
    order: str, values: object, relevance: object, masks: object, weights: object
) -> Batch:
    """Return the lists of a batch; weights are taken where there is one per item.

    Items with a label below 0 are left out, as KerasRS documents it.
    """
    relevance, masks = labels_and_mask(relevance, masks, "masks")
    key, lengths = _rows(values, f"{order}s")
    if key.dtype.kind == "b":
        raise DataError(f"{order}s: truth values; distances and scores are numbers")
    grade, weight = _like(relevance, "relevance", lengths), None
    taken = [] if masks is None else [_like(masks, "masks", lengths) != 0]
    if grade.dtype.kind in "if" and grade.min(initial=0) < 0:
        taken.append(grade >= 0)
    weights_array = np.empty(0) if weights is None else as_array(weights, "sample_weight")
    of_items = weights_array.dtype == object or (
        weights_array.ndim > 1 and weights_array.size != lengths.size
    )
    if of_items:  # not of queries
        weight = checked_weights(_like(weights, "sample_weight", lengths))
        taken.append(weight > 0)
    if not taken:
        return Batch(order, key, grade, lengths)
    unmasked = np.logical_and.reduce(taken)
    items_left = arrays.sums(unmasked.astype(np.int64), np.append(0, np.cumsum(lengths)))
    return Batch(
        order,
        key[unmasked],
        grade[unmasked],
        items_left,
        None if weight is None else weight[unmasked],
    )


def checked_weights(weights: Array) -> Floats:
    """Return weights as floats; raise where one is no weight."""
    float_weights = weights.astype(np.float64)
    if not (np.isfinite(float_weights) & (float_weights >= 0)).all():
        raise DataError("sample_weight: a weight is not a finite number of at least 0")
    return float_weights


def judged_batch(batch: Batch, options: Options, requests: Requests) -> Judged:
    """Return the lists of a batch as judged ones, numbered from 0."""
    order, key, grade, lengths, *_ = batch
    if not (_finite(key) and _finite(grade) and (not grade.size or grade.min() >= 0)):
        return judge(batch.named(), None, None, options)  # which refuses them
    which = np.flatnonzero(grade != 0)  # in a fifth of the time without the comparison
    few = which.size <= min(MAX_GRADED_ITEMS * lengths.size, grade.size // 8)
    if few and _only_relevant(options, requests):
        frame, lengths = _as_counts(batch, which)
    else:
        frame = pl.DataFrame({order: key, "relevance": grade})
    end = np.cumsum(lengths)
    grades, index = arrays.grade_indices(frame["relevance"], np.zeros(0))
    model = pl.Series([MODEL]).new_from_index(0, lengths.size)
    lists = pl.DataFrame(
        {"model": model, "query": np.arange(lengths.size), "missing": np.zeros(lengths.size, bool)}
    )
    no_judgements = pl.DataFrame(schema={"query": pl.Int64, "relevance": pl.Int64})
    return Judged(frame, no_judgements, lists, Rows(end - lengths, end), grades, index, PART)


def _only_relevant(options: Options, requests: Requests) -> bool:
    """Return whether items of grade 0 count by their number alone: they bring nothing, and neither
    distances nor grades change later.
    """
    nothing = np.zeros(1), np.zeros(1, np.bool_)
    same = options.decimals is None and options.distance_threshold is None
    return same and not any(metric.term.values.of(*nothing).any() for metric, _ in requests)


def _as_counts(batch: Batch, which: Integers) -> tuple[pl.DataFrame, Integers]:
    """Return the rows of a grade above 0 (``which``) and, as counts, the others between two of
    their ties as one tie; and the number of rows that each list now has. In the place of scores or
    distances are whole numbers in the same order.
    """
    order, key, grade, lengths, *_ = batch
    if key.dtype not in (np.float32, np.float64):
        key = arrays.order_keys(pl.Series(key), falling=False)
    end = np.cumsum(lengths)
    smaller, equal = np.empty((2, which.size), np.int64)
    count_smaller(frozen(key), Rows(end - lengths, end), which, smaller, equal)
    # One place for each item, and one for the end of each list; the lists follow each other.
    last = end + np.arange(end.size)
    query = np.searchsorted(end, which, side="right")
    tied_above = last[query] - lengths[query] + smaller
    place = np.concatenate([tied_above, last])
    nearest = np.argsort(place)
    first = np.flatnonzero(np.diff(place[nearest], prepend=-1))
    relevant = np.diff(first, append=place.size)
    tie = place[nearest[first]]
    beyond = tie + np.append(equal, np.ones_like(last))[nearest[first]]
    irrelevant = beyond - tie - relevant
    between = np.diff(beyond, prepend=0) - (beyond - tie)
    rows = {
        order: np.concatenate([2 * tied_above + 1, 2 * tie + 1, 2 * tie]),
        "relevance": np.append(grade[which], np.zeros(2 * tie.size, np.int8)),
        "count": np.concatenate([np.ones_like(tied_above), irrelevant, between]),
    }
    nearest = np.argsort(rows[order])
    nearest = nearest[rows["count"][nearest] > 0]
    frame = pl.DataFrame({name: column[nearest] for name, column in rows.items()})
    ends = np.searchsorted(rows[order][nearest], 2 * last, side="right")
    return frame, np.diff(ends, prepend=0)


def _numbers(values: object, what: str) -> Array:
    array = as_array(values, what)
    rows = array if array.dtype == object and array.ndim else [array]
    if not {np.asarray(row).dtype.kind for row in rows if np.size(row)} <= set("biuf"):
        raise DataError(f"{what}: {np.asarray(rows[0]).dtype} values; they must be numbers")
    return array


def _rows(values: object, what: str) -> tuple[Array, Integers]:
    """Return the values of all lists, and the length of each; nothing at all holds no list."""
    array = _numbers(values, what)
    return flat_rows(array if array.shape != (0,) else array.reshape(0, 0), what)


def _like(values: object, what: str, lengths: Integers) -> Array:
    """Return the values of an array whose rows are as long as those of the scores."""
    flat, widths = _rows(values, what)
    if not np.array_equal(widths, lengths):
        raise DataError(
            f"{what}: {widths.size} rows of {widths.sum()} values in all, for {lengths.size} rows "
            f"of {lengths.sum()}; rows must be equally long"
        )
    return flat


def _finite(values: Array) -> bool:
    return values.dtype.kind != "f" or bool(np.isfinite(values).all())
