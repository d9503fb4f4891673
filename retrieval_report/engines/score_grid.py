"""Scores as dense arrays, the pairs of models that are compared in them, and their means and
differences, exact to 12 digits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.contracts.arguments import Array, Named, Names, as_list
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.engines.check_scores import BOUNDS, GROUP, SCORE, join_left
from retrieval_report.kernels.lists import Bools, Floats, Integers
from retrieval_report.scoring.arrays import locate

BLOCK = 1 << 18  # differences held at a time
TABLE = 2_000_000  # pairs of rows, or rows × depths, that are looked at together
MOST_MODELS = 2_000  # whose pairs are tested in less than a minute
DIGITS = 12  # scores are exact to 1e-12, so smaller differences count as equal
Indices = NDArray[np.intp]
Measure = tuple[str, int | None, str]  # metric, cutoff and policy
MEANS = {
    **schema("summary", *GROUP, "value", "tie_std"),
    "shortest": pl.Int64,
}


@dataclass(frozen=True)
class Scores:
    """The scores by one measure as arrays (models, queries), NaN if there is none."""

    measure: Measure
    value: Floats
    std: Floats
    truncated: Bools  # whether the score reaches into a tie that the list's end may have cut
    pooled: Bools  # whether R counts only what some model retrieved
    lowest: Floats  # under the policies worst and best; NaN if they were not evaluated
    highest: Floats
    weight: Floats | None = None  # by which values are multiplied; None: by 1


@dataclass(frozen=True)
class Grid:
    """Scores as dense arrays. Sorted names make results independent of row order."""

    models: list[str]  # sorted
    queries: list[object]  # sorted
    measures: list[Measure]  # in the order of the frame
    arrays: Mapping[str, Array]  # (measures, models, queries)
    alone: bool = False  # whether one query stands for others that nothing is known of

    @classmethod
    def of(cls, frame: pl.DataFrame) -> Grid:
        """Lay out a checked scores frame.

        >>> from retrieval_report.engines.check_scores import SCORES, check_scores
        >>> frame = pl.DataFrame(
        ...     [
        ...         ("b", "q", "ap", 1, "naive", 0.5, None, 3, 1),
        ...         ("a", "r", "ap", 1, "naive", 1.0, None, 3, 1),
        ...     ],
        ...     schema=list(SCORES)[:9],
        ...     orient="row",
        ... )
        >>> grid = Grid.of(check_scores(frame))
        >>> grid.models, grid.arrays["value"].tolist()
        (['a', 'b'], [[[nan, 1.0], [0.5, nan]]])
        """
        measures = frame.select(SCORE).unique(maintain_order=True)
        frame, lists, rows = locate(frame)
        models, queries = (lists.select(name).unique().sort(name) for name in lists.columns)
        measure, *of_lists = (
            join_left(part, name.with_row_index("row"), name.columns)["row"].to_numpy()
            for part, name in ((frame, measures), (lists, models), (lists, queries))
        )
        where = measure, *map(rows.spread, of_lists)
        arrays = {}
        for name, nothing in (
            ("value", np.nan),
            ("std", np.nan),
            ("truncated", False),
            ("pooled", False),
            *[("weight", np.nan)] * ("weight" in frame.columns),
        ):
            arrays[name] = np.full([part.height for part in (measures, models, queries)], nothing)
            arrays[name][where] = frame[name].to_numpy()
        names = models["model"].to_list(), queries["query"].to_list()
        alone = "alone" in frame.columns and frame["alone"].first() is not None
        return cls(*names, measures.rows(), arrays, alone)

    def pairs(self, baseline: str | None = None) -> Pairs:
        """Return all pairs of models, or those of the others with a baseline."""
        if baseline is None:
            models = len(self.models)
            if models > MOST_MODELS:
                raise ParameterError(
                    f"scores: {models} models have {models * (models - 1) // 2} pairs, too many to "
                    f"test; choose up to {MOST_MODELS}, or compare all with a baseline"
                )
            return Pairs.every(models)
        check_choice("baseline", baseline, self.models)
        fixed = self.models.index(baseline)
        remaining = np.delete(np.arange(len(self.models), dtype=np.intp), fixed)
        return Pairs(remaining, np.full_like(remaining, fixed))

    def names(self, pairs: Pairs) -> Named:
        """Return the names of both models of each pair, as columns."""
        models = pl.Series(self.models, dtype=pl.String)
        return {"model_a": models[pairs.first], "model_b": models[pairs.second]}

    def under(self, measure: Measure, policy: str) -> Floats:
        """Return the scores by the metric and cutoff of
        a measure under a policy; NaN if there are none.
        """
        same_measure, values = (*measure[:2], policy), self.arrays["value"]
        if same_measure not in self.measures:
            return np.full(values.shape[1:], np.nan)
        return np.asarray(values[self.measures.index(same_measure)])

    def scores(self, measure: Measure) -> Scores:
        """Return the scores by one measure."""
        arrays = {name: array[self.measures.index(measure)] for name, array in self.arrays.items()}
        lowest, highest = (self.under(measure, policy) for policy in ("worst", "best"))
        return Scores(measure, lowest=lowest, highest=highest, **arrays)

    def asked(self, policies: Names | None) -> list[Scores]:
        """Return the scores by every metric and cutoff under the policies that are requested; by
        default all except the bounds.
        """
        policies_known = list(dict.fromkeys(policy for _, _, policy in self.measures))
        usual = [policy for policy in policies_known if policy not in BOUNDS] or policies_known
        policy_names = usual if policies is None else as_list(policies)
        if policies is not None and not policy_names:
            raise ParameterError("policies: none given")
        for policy in policy_names:
            check_choice("policies", policy, policies_known)
        return [self.scores(measure) for measure in self.measures if measure[2] in policy_names]


@dataclass(frozen=True)
class Pairs:
    """Pairs of models that are compared, as rows of the grid."""

    first: Indices
    second: Indices
    cluster: Indices | None = None  # of every query of the grid; None: each is its own

    @classmethod
    def every(cls, models: int) -> Pairs:
        """Return all pairs, the earlier model first."""
        return cls(*np.triu_indices(models, 1))

    def blocks(self, queries: int) -> list[Pairs]:
        """Return these pairs in parts, at least one, with at most so many differences each."""
        step = max(1, BLOCK // max(queries, 1))
        starts = range(0, max(self.first.size, 1), step)
        return [self.part(slice(start, start + step)) for start in starts]

    def in_blocks(self, queries: int, of: Callable[[Pairs], Iterable[Array]]) -> list[Array]:
        """Return the arrays that a function returns of parts of these pairs, put together."""
        columns = zip(*map(of, self.blocks(queries)), strict=True)
        return [np.concatenate(column) for column in columns]

    def part(self, rows: slice | Indices | Bools) -> Pairs:
        """Return some of the pairs."""
        return replace(self, first=self.first[rows], second=self.second[rows])


def measured(columns: Mapping[str, object], measure: Measure, contract: Named) -> pl.DataFrame:
    """Return columns about one measure as a frame in its contract; NaN becomes null, and a single
    word or number stands in every row.
    """
    cells = {**columns, **dict(zip(SCORE, measure, strict=True))}
    # Polars takes a third of a millisecond to repeat a word or number of a dictionary.
    constants = [name for name, value in cells.items() if isinstance(value, str | int | None)]
    single = {name: pl.lit(cells.pop(name)) for name in constants}
    frame = pl.DataFrame(cells).with_columns(pl.selectors.float().fill_nan(None), **single)
    return in_contract(frame, contract)


def paired_columns(value: Floats, std: Floats, pairs: Pairs) -> dict[str, Floats]:
    """Return the means of both models of each pair over the
    queries that both have, and what else describes these.

    ``tie_std`` is the standard deviation of the difference under random tie order, drawn for each
    model on its own.
    """
    first = pairs.first
    second = pairs.second
    has_value, square = ~np.isnan(value), std**2
    paired = has_value[first] & has_value[second]
    size = paired.sum(axis=1)
    variance = np.where(paired, square[first] + square[second], 0.0).sum(axis=1)
    return {
        "value_a": paired_mean(value[first], paired),
        "value_b": paired_mean(value[second], paired),
        "tie_std": divided(np.sqrt(variance), size, np.nan),
        "queries": size,
        "unpaired": (has_value[first] != has_value[second]).sum(axis=1),
    }


def divided(over: Floats, under: Floats, otherwise: Floats | float) -> Floats:
    """Return a quotient where the divisor is above 0, and something else elsewhere."""
    quotient = np.full(under.shape, otherwise)
    np.divide(over, under, out=quotient, where=under > 0)
    return quotient


def paired_mean(values: Floats, paired: Bools) -> Floats:
    """Return the mean over the queries that both models of a pair have, one row per pair; NaN if
    there is none.
    """
    return divided(np.where(paired, values, 0.0).sum(axis=1), paired.sum(axis=1), np.nan)


def differences(values: Floats, pairs: Pairs) -> Floats:
    """Return the score of the first model minus that of the second, rounded to 12 digits of the
    pair's largest score.

    >>> differences(np.array([[0.3, 1.0], [0.1 + 0.2, np.nan]]), Pairs.every(2)).tolist()
    [[0.0, nan]]
    """
    unit = largest(values, pairs)[:, None]
    return (
        np.round((values[pairs.first] - values[pairs.second]) / unit, DIGITS) * unit + 0.0
    )  # no −0.0


def rounding(values: Floats, pairs: Pairs) -> Floats:
    """Return how far sums of differences that are equal may be apart."""
    margin: Floats = 10.0**-DIGITS * values.shape[1] * largest(values, pairs)
    return margin


def largest(values: Floats, pairs: Pairs) -> Floats:
    """Return a power of two above the largest score of each pair, division by which does not round."""
    magnitude = np.fmax.reduce(np.abs(values), axis=1, initial=0.0)
    return _power_above(np.maximum(magnitude[pairs.first], magnitude[pairs.second]))


def settled_means(means: Floats) -> Floats:
    """Round means to 12 digits of 1 or of the largest, so
    that equal ones are equal however they were summed.

    >>> means = np.array([3 * 10000.1, 30000.3])
    >>> np.diff(means).item() == 0, np.diff(settled_means(means)).item() == 0
    (False, True)
    """
    unit = _power_above(np.abs(np.nan_to_num(means)).max(initial=1.0))
    return np.round(means / unit, DIGITS) * unit


def _power_above(most: Floats) -> Floats:
    """Return a power of two that is not below each number; 1 for 0."""
    digits, exponent = np.frexp(np.where(most > 0, most, 1.0))
    unit: Floats = np.ldexp(1.0, np.minimum(exponent - (digits == 0.5), 1023))
    return unit


def complete_queries(value: Floats) -> Bools:
    """Whether every model has a score for a query; (models, queries) → (queries)."""
    return np.asarray(~np.isnan(value).any(axis=0))


def best_first(means: Floats) -> Indices:
    """Rows of the models from the highest mean on; what
    is equal to 12 digits stays in the order of names.

    >>> best_first(np.array([0.1, 0.3, 0.1 + 1e-17, np.nan])).tolist()
    [1, 0, 2, 3]
    """
    return np.argsort(-settled_means(means), kind="stable")


def ranked(means: pl.DataFrame, within: Sequence[str]) -> pl.DataFrame:
    """Return means with their ``rank`` among those that share some columns, the best of each first;
    means equal to 12 digits share the better rank, and a missing one has none.

    >>> means = pl.DataFrame({"model": list("abcd"), "value": [0.5, None, 0.3, 0.1 + 0.2]})
    >>> ranked(means.with_columns(metric=pl.lit("ap")), ["metric"]).select("model", "rank").rows()
    [('a', 1), ('c', 2), ('d', 2), ('b', None)]
    """
    rank = pl.col("value").round_sig_figs(DIGITS).rank("min", descending=True)
    rows = means.with_row_index("group").with_columns(
        pl.min("group").over(within), rank=rank.over(within).cast(pl.Int64)
    )
    return rows.sort("group", "rank", "model", nulls_last=True).drop("group")


def tau_b(column_a: Integers, column_b: Integers) -> float | None:
    """Return Kendall's τ_b of two columns of ranks; none if all tie in one of them.

    >>> tau_b(np.array([1, 2, 3]), np.array([1, 3, 2]))
    0.3333333333333333
    """
    n = column_a.size
    a, b = column_a.astype(np.int32), column_b.astype(np.int32)
    forward = level = 0  # ordered pairs that both have this way round, that tie in both
    for rows in blocks(np.arange(n), 4 * n):
        first, second = a[rows, None], b[rows, None]
        forward += int(np.count_nonzero((first > a) & (second > b)))
        level += int(np.count_nonzero((first == a) & (second == b)))
    tied_one, tied_other = (int((np.bincount(ranks) ** 2).sum()) for ranks in (a, b))
    agree = 4 * forward - (n * n - tied_one - tied_other + level)
    untied = (n * n - tied_one) * (n * n - tied_other)
    return None if untied == 0 else float(agree / np.sqrt(untied))


def blocks(rows: Integers, width: int) -> Iterator[Integers]:
    """Yield rows in parts for tables of this width."""
    step = max(TABLE // max(width, 1), 1)
    return (rows[first : first + step] for first in range(0, rows.size, step))


def row_ranks(values: Floats) -> tuple[Floats, Floats]:
    """Return the first and the last rank, from 1 for
    the smallest, of what equals each value of a row.

    >>> [ranks.tolist() for ranks in row_ranks(np.array([[0.5, 0.1, 0.5]]))]
    [[[2.0, 1.0, 2.0]], [[3.0, 1.0, 3.0]]]
    """
    order = np.argsort(values, axis=1)
    ranked = np.take_along_axis(values, order, axis=1)
    begins = np.ones(values.shape, np.bool_)  # where a run of equal values begins
    begins[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    starts = np.flatnonzero(begins)
    size = np.diff(starts, append=values.size)
    lowest = starts % values.shape[1] + 1.0
    first, last = np.empty((2, *values.shape))
    for ranks, of_run in ((first, lowest), (last, lowest + size - 1)):
        np.put_along_axis(ranks, order, np.repeat(of_run, size).reshape(values.shape), axis=1)
    return first, last


def tie_means(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the plain mean over queries of every model, metric, cutoff and policy, summed in the
    order of the queries.

    The columns are ``MEANS``: ``tie_std`` is that of the mean under random tie order (null if a
    score has none) and ``shortest`` the items of the model's shortest list; values are null if no
    query has one, or if a score in the mean has no bound. ``summarise`` adds intervals, which cost
    more.

    >>> from retrieval_report.engines.evaluate import evaluate
    >>> rankings = {
    ...     "query": ["q", "q"],
    ...     "item": ["a", "b"],
    ...     "distance": [1, 1],
    ...     "relevance": [0, 1],
    ... }
    >>> tie_means(
    ...     evaluate(rankings, metrics="rr", cutoffs=1, policies="expected", truncated="no")
    ... ).row(0)
    ('model', 'rr', 1, 'expected', 0.5, 0.5, 2)
    """
    if scores.is_empty():
        return pl.DataFrame(schema=MEANS)
    labels = scores.select(SCORE).unique(maintain_order=True)
    lists = scores.select("model", "items").gather_every(labels.height)
    values, spreads = (
        scores[name].to_numpy().reshape(-1, labels.height) for name in ("value", "std")
    )
    starts = np.flatnonzero((lists["model"] != lists["model"].shift()).fill_null(True).to_numpy())
    has_value = ~np.isnan(values)
    # one that nothing bounds leaves the mean without a bound
    has_value |= scores["truncated"].to_numpy().reshape(-1, labels.height)
    size = np.add.reduceat(has_value.astype(np.float64), starts, axis=0)
    size[size == 0] = np.nan
    value = np.add.reduceat(np.where(has_value, values, 0.0), starts, axis=0) / size
    spread = np.sqrt(np.add.reduceat(np.where(has_value, spreads, 0.0) ** 2, starts, axis=0)) / size
    shortest = np.minimum.reduceat(lists["items"].to_numpy(), starts)
    models = lists[starts].select("model", shortest=shortest)
    means = models.join(labels, how="cross", maintain_order="left_right").with_columns(
        value=value.ravel(), tie_std=spread.ravel()
    )
    return in_contract(means.fill_nan(None), MEANS)
