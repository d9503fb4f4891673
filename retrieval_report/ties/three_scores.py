"""The three scores of every model, side by side: expected, shuffled and naive, with what one random
order would print and whether tie order can change the rank.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import polars as pl
import polars.selectors as cs

from retrieval_report.contracts.arguments import Named, grouped, known_of
from retrieval_report.contracts.options import Options
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.engines.check_scores import (
    BOUNDS,
    IS_ESTIMATE,
    MEAN,
    MEASURE,
    NAIVE_ERROR,
    at_measure,
    join_left,
    means_of_policies,
)
from retrieval_report.engines.score_grid import DIGITS
from retrieval_report.kernels.lists import Bools, Floats, running
from retrieval_report.metrics.parsing import Measure, Requests, named_requests
from retrieval_report.metrics.record import Metric
from retrieval_report.scoring.convolution import Spread, common_unit, every_sum, merged
from retrieval_report.scoring.judged import Judged
from retrieval_report.scoring.run import runs_of, score_judged
from retrieval_report.scoring.score_distribution import closed, score_orders
from retrieval_report.writing.names import EQUALS

THREE_SCORES = schema("three_scores")
WINNERS = schema("winners")
RANKS = ("expected_rank", "shuffled_rank", "naive_rank", "rank_can_change")
MAX_AFFECTED_LISTS = (
    20  # of more lists, whose mean is nearly normal, no exact distribution is formed
)
MAX_LISTS = 400  # of all models together, since each takes a third of a millisecond
MAX_CLOSED_LISTS = 1000  # the same where scores have a closed form, which takes a tenth of that
MOST_STEPS = 1 << 12  # in a standard deviation; of means still closer, hardly any are level
NORMAL_POINTS = (
    410  # equally probable values that stand for a normal distribution; 5% and 95% are two of them
)
DEVIATION = (pl.col("std") ** 2).sum().sqrt()  # of the sum of lists
LEVEL_WITHIN = 1e-12  # means that differ by less are level
BELOW_ONE = float(np.nextafter(1.0, 0.0))
TAIL = 0.05
EXACT, NORMAL, DRAWN = "exact", "normal", "drawn"
MAX_DEVIATIONS = 8  # from the mean within which the steps of a normal distribution are formed


class NormalMean(NamedTuple):
    """How a mean varies over many lists, of which no distribution is formed."""

    deviation: float
    step: float | None  # between the values that it may have, if it is known
    ends: tuple[float, float] | None = None  # over all orders, if some list may be cut


ExactMeans = dict[tuple[str, Measure], Spread | NormalMean]  # by model and measure
PairTests = Callable[[str, str], pl.DataFrame | None]


class MeanOverOrders(NamedTuple):
    """The distribution of a model's mean over the queries under one random tie order."""

    value: Floats  # ascending
    chance: Floats
    method: str
    is_smooth: bool = False  # the values stand for all around them

    def quantile(self, share: float) -> float:
        """Return the smallest value that the mean does not exceed with this probability."""
        index = int(np.searchsorted(np.cumsum(self.chance), share - LEVEL_WITHIN))
        return float(self.value[min(index, self.value.size - 1)])

    def reached(self, bounds: Floats, within: float = LEVEL_WITHIN) -> Floats:
        """Return the probability of a mean up to each bound."""
        return running(self.chance)[np.searchsorted(self.value, bounds + within, side="right")]

    def at_most(self, bounds: Floats) -> Floats:
        """Return the probability of a mean up to each bound; of a smooth one, half of what lies at
        the bound itself, which is the value of some others around it.
        """
        chances = self.reached(bounds)
        if self.is_smooth:
            chances = (chances + self.reached(bounds, -LEVEL_WITHIN)) / 2
        return np.minimum(chances, 1.0)


@cache
def _standard_values(freedom: int | None = None) -> Floats:
    """Return equally probable values of a standard normal variable, or of Student's t."""
    from scipy.special import ndtri, stdtrit

    shares = (np.arange(NORMAL_POINTS) + 0.5) / NORMAL_POINTS
    return np.asarray(ndtri(shares) if freedom is None else stdtrit(freedom, shares), np.float64)


def exact_means(
    sources: Iterable[tuple[Judged, Options, Sequence[Measure]]], scores: pl.DataFrame
) -> ExactMeans:
    """Return the exact distribution of the mean over the queries under random tie order, of
    the models of which a tie order can change few lists. Of precision, hit rate and others with a
    closed form these may be more: their means have few values, which models often share. Of still
    more lists, whose mean is nearly normal, only the deviation is returned, and the step between
    these values. What a list may have lost where it was cut changes nothing: a random order prints
    the mean of the items given.

    Parameters
    ----------
    sources
        What was scored, how, and by which measures: that of a system may differ from one to the
        next. Those made of a function of the caller's are left out.
    scores
        The result of :func:`evaluate` for it, with policy expected, or of :func:`weighed`.

    Returns
    -------
    dict
        (model, measure) → distinct means, ascending, with their probabilities, or the moments of
        means that are too many. A model without a deviation is left out.
    """
    expected = scores.filter(policy="expected").drop_nulls("value")
    means: ExactMeans = {}
    for judged, options, measures in sources:
        rules = replace(options, policies="expected", progress=False, truncated="no")
        rows = expected.filter(pl.col("model").is_in(judged.whole.models))
        for measure in measures:
            requests, of_measure = named_requests([measure]), rows.filter(at_measure(*measure))
            found = _exact_at(of_measure, judged, rules, requests) if requests else {}
            means |= {(model, measure): mean for model, mean in found.items()}
    return means


def _exact_at(
    rows: pl.DataFrame, judged: Judged, options: Options, requests: Requests
) -> dict[str, Spread | NormalMean]:
    """Return the distributions by one measure, from the scores of its lists."""
    is_weighed = "weight" in rows.columns
    if is_weighed and (rows["truncated"].any() or rows["left_out"].sum()):
        return {}
    ends: dict[str, tuple[float, float]] = {}
    if rows["truncated"].any():
        every = replace(options, policies=("expected", *BOUNDS))
        of_items = score_judged(judged, requests, every).frame().drop_nulls("value")
        rows = of_items.filter(policy="expected")
        of_policies = [pl.col("value").filter(policy=name).mean().alias(name) for name in BOUNDS]
        bounds = of_items.group_by("model").agg(of_policies)
        ends = {model: (low, high) for model, low, high in bounds.iter_rows()}
    std = pl.col("std")
    moves, is_whole = (std > 0).fill_null(False), std.is_not_null().all()
    sums = rows.group_by("model").agg(moves.sum(), whole=is_whole)
    most, most_lists = MAX_AFFECTED_LISTS, MAX_LISTS
    whole = rows.filter(is_whole.over("model"))
    means: dict[str, Spread | NormalMean] = {}
    steps: dict[str, float] = {}
    metric = requests[0][0]
    if closed(metric.term) and not metric.term.fades:
        if sums["std"].sum() <= MAX_CLOSED_LISTS:
            most = most_lists = MAX_CLOSED_LISTS
        steps = {} if is_weighed else _steps(metric, whole.filter(moves))
    for model, lists, deviation in whole.group_by("model").agg(pl.len(), DEVIATION).iter_rows():
        step = steps.get(model)
        means[model] = NormalMean(deviation / lists, step and step / lists, ends.get(model))
    few = sums.filter("whole", std <= most)["model"]
    moved = rows.filter(moves, pl.col("model").is_in(few.implode()))
    if 0 < moved.height <= most_lists:
        for model, spread in _exact_sums(judged, options, moved, requests).items():
            mine = rows.filter(model=model)
            still = mine.filter(~moves)["value"].to_numpy().sum()
            means[model] = Spread((spread.value + still) / mine.height, spread.chance)
    return means


def _steps(metric: Metric, moved: pl.DataFrame) -> dict[str, float]:
    """Return the step between the sums that scores of a closed form may have: the greatest common
    divisor of what one more relevant item brings to each list of a model.
    """
    steps: dict[str, float] = {}
    if metric.ideals:
        return steps
    for (model,), lists in moved.partition_by("model", as_dict=True).items():
        items, cutoff, relevant = (
            lists[name].cast(pl.Float64).fill_null(np.nan).to_numpy()[:, None]
            for name in ("items", "cutoff", "n_relevant")
        )
        facts = SimpleNamespace(
            cutoff=np.where(np.isnan(cutoff), items, cutoff), length=items, relevant=relevant
        )
        with np.errstate(divide="ignore"):
            bring = np.unique(np.reciprocal(np.asarray(metric.divisor(facts), np.float64)))
        deviation = float(np.linalg.norm(lists["std"].to_numpy()))
        step = common_unit(bring, deviation / MOST_STEPS) if np.isfinite(bring).all() else None
        if step is not None:
            steps[model] = step
    return steps


def _exact_sums(
    judged: Judged, options: Options, moved: pl.DataFrame, requests: Requests
) -> dict[str, Spread]:
    """Return the distribution of the sum of some scores of
    each model by one measure, where it is known exactly.
    """
    (run,) = runs_of(judged, requests, replace(options, policies="expected", progress=False))
    names = run.prepared.names.with_row_index("list")
    lists = moved.join(names, on=["model", "query"], how="inner", maintain_order="left")["list"]
    orders = score_orders(run.repeated(lists.to_numpy().astype(np.int64)))
    if "weight" not in moved.columns:
        moved = moved.with_columns(weight=1.0)
    weights = {(model, query): w for model, query, w in moved["model", "query", "weight"].rows()}
    parts = grouped(
        (model, merged(value * weights[model, query], chance, LEVEL_WITHIN))
        for model, query, value, chance, _ in orders
    )
    lists_moved = dict(moved.group_by("model").len().iter_rows())
    sums = {
        model: every_sum(spreads, LEVEL_WITHIN)
        for model, spreads in parts.items()
        if len(spreads) == lists_moved[model]
    }
    return known_of(sums)


def three_scores(
    summary: pl.DataFrame,
    shuffled: pl.DataFrame,
    exact: ExactMeans,
    identical: Sequence[Sequence[str]] = (),
    suspects: Sequence[str] = (),
) -> pl.DataFrame:
    """Set the three scores of every model side by side, at every metric and cutoff.

    Parameters
    ----------
    summary
        The result of :func:`summarise` with the policies expected, shuffled, naive, best and worst,
        as far as there are any.
    shuffled
        The mean of every model under every drawn order, as from :func:`shuffled_means`; without
        columns if the summary averages otherwise. Then ``shuffled`` is that of the summary, which
        also ranks, there is no ``first_order``, and ``orders`` is 0.
    exact
        The result of :func:`exact_means`; of other models the distribution is taken for normal.
    identical
        Groups of models whose lists are the same.
    suspects
        Models without a rank, among which others are not ranked either; no model has a rank if
        fewer than two are no suspects.

    Returns
    -------
    polars.DataFrame
        One row per ``metric``, ``cutoff`` (in the order of the summary) and ``model`` (best
        expected mean first, suspects last): ``expected``; ``tie_std``, its exact standard deviation
        under random tie order, null if the mean is an estimate; ``order_low`` and ``order_high``,
        the 5th and 95th percentile of the mean under one random order of the items given, found by
        ``order_method``: "exact" (its distribution), "normal" (exact moments, within the bounds) or
        "drawn" (Student's t for the deviation of the drawn orders, where nothing else is known of
        lists that may be cut); ``lowest`` and ``highest``; ``shuffled`` and ``shuffled_std``, mean
        and standard deviation over the drawn ``orders``, and ``first_order``, the mean under the
        first of them; ``naive`` and ``off_by`` (naive − expected); ``expected_rank``,
        ``shuffled_rank`` (by ``first_order``) and ``naive_rank``, which level models share;
        ``rank_can_change`` (whether some tie orders, of cut lists those of the items given, give
        the model another rank among those that are no copies of it; null if that is not known, as
        where items that may be missing could make it level with another model, and no known order
        does so); and ``copy_of``, the first model by name with the same lists and, by this measure,
        the same naive score; null if there is none. Such copies share their drawn orders.
    """
    if summary.is_empty():
        return pl.DataFrame(schema=THREE_SCORES)
    of_shuffles = pl.col("tie_std").filter(policy="shuffled").first().alias("std_shuffled")
    wide = join_left(means_of_policies(summary, of_shuffles), _order_means(shuffled), MEAN)
    sound = ~pl.col("model").is_in(suspects)
    few = bool(suspects) and wide.filter(sound)["model"].n_unique() < 2
    copies = {name: min(group) for group in identical for name in group if name != min(group)}
    names = pl.col("model").replace_strict(copies, default=None, return_dtype=pl.String)
    # The same lists may come in another order inside their ties, which the naive score shows.
    same_lists, same_score = pl.coalesce(names, "model"), pl.col("naive").round_sig_figs(DIGITS)
    first = pl.min("model").over(*MEASURE, same_lists, same_score)
    copy_of = pl.when(pl.col("model") != first).then(first)
    wide = wide.with_columns(sound=sound, compared=sound & (not few), copy_of=copy_of)
    parts = [_of_measure(part, exact) for part in wide.partition_by(MEASURE, maintain_order=True)]
    return in_contract(pl.concat(parts), THREE_SCORES)


def _order_means(shuffled: pl.DataFrame) -> pl.DataFrame:
    """Return the mean, deviation, first and number of the drawn orders of every model."""
    if not shuffled.width:
        shuffled = pl.DataFrame(schema=schema("shuffled"))
    value = pl.col("value")
    return shuffled.group_by(MEAN, maintain_order=True).agg(
        drawn_mean=value.mean(),
        drawn_std=value.std(),
        first_order=value.filter(draw=0).first(),
        orders=pl.len(),
        drawn_lowest=value.min(),
        drawn_highest=value.max(),
    )


def _of_measure(rows: pl.DataFrame, exact: ExactMeans) -> pl.DataFrame:
    """Return the rows of one measure with ranks and quantiles, best expected mean first,
    suspects last.
    """
    drawn = cs.starts_with("drawn_") | cs.by_name("first_order", "shuffled", "std_shuffled")
    of_copies = drawn.sort_by("model").first().over(pl.coalesce("copy_of", "model"))
    rows = rows.with_columns(of_copies).with_columns(
        pl.col("orders").fill_null(0),
        shuffled=pl.coalesce("drawn_mean", "shuffled"),
        shuffled_std=pl.coalesce("drawn_std", "std_shuffled"),
        cut=(pl.col("truncated_share") > 0).fill_null(False),
        off_by=NAIVE_ERROR,
    )
    ranked = {
        "expected": pl.col("expected"),
        "shuffled": pl.coalesce("first_order", "shuffled"),
        "naive": pl.col("naive"),
    }
    rows = rows.with_columns(
        _rank(pl.col("expected")).alias("place"),
        *(_rank(pl.when("compared").then(of)).alias(f"{name}_rank") for name, of in ranked.items()),
        rank_can_change=pl.Series(_can_change(rows, exact), dtype=pl.Boolean),
    )
    means = [mean_over_orders(row, exact) for row in rows.iter_rows(named=True)]
    return rows.with_columns(
        tie_std=pl.when(~IS_ESTIMATE).then("tie_std"),
        order_low=_quantiles(means, TAIL),
        order_high=_quantiles(means, 1 - TAIL),
        order_method=pl.Series([mean and mean.method for mean in means], dtype=pl.String),
    ).sort(~pl.col("sound"), "place", "model", nulls_last=True, maintain_order=True)


def _rank(score: pl.Expr) -> pl.Expr:
    return score.round_sig_figs(DIGITS).rank("min", descending=True)


def _quantiles(means: Sequence[MeanOverOrders | None], share: float) -> pl.Series:
    values = [None if mean is None else mean.quantile(share) for mean in means]
    return pl.Series(values, dtype=pl.Float64)


def mean_over_orders(row: Named, exact: ExactMeans) -> MeanOverOrders | None:
    """Return how a model's mean varies over random orders: exactly, or as a normal distribution of
    the exact moments within the bounds, in steps if these are known, or, where lists may be cut,
    by Student's t for the deviation of the few drawn orders; None if nothing is known.
    """
    known = exact.get((row["model"], (row["metric"], row["cutoff"])))
    if isinstance(known, Spread):
        return MeanOverOrders(*known, EXACT)
    mean, std, method, freedom = row["expected"], row["tie_std"], NORMAL, None
    step = None
    if known is not None:
        std, step, _ = known
    if mean is None or std is None:
        mean = row["shuffled"] if mean is None else mean
        std, method = row["shuffled_std"], DRAWN
        freedom = row["orders"] - 1 if row["orders"] > 1 else None
    if mean is None or std is None:
        return None
    if std == 0:
        return MeanOverOrders(np.array([mean]), np.ones(1), method if method == DRAWN else EXACT)
    low, high = (
        end if row[name] is None else row[name]
        for name, end in (("lowest", -np.inf), ("highest", np.inf))
    )
    if step is not None and row["lowest"] is not None:
        return MeanOverOrders(*_in_steps(mean, std, low, high, step), NORMAL)
    value = np.clip(mean + std * _standard_values(freedom), low, high)
    return MeanOverOrders(value, np.full(value.size, 1 / value.size), method, is_smooth=True)


def _in_steps(mean: float, std: float, low: float, high: float, step: float) -> Spread:
    """Return a normal distribution that has only the lowest value and steps above it.

    >>> spread = _in_steps(0.5, 0.25, 0.0, 1.0, 0.5)
    >>> spread.value.tolist(), spread.chance.round(4).tolist()
    ([0.0, 0.5, 1.0], [0.1587, 0.6827, 0.1587])
    """
    from scipy.special import ndtr

    reach = MAX_DEVIATIONS * std
    ends = np.array([max(low, mean - reach), min(high, mean + reach)])
    first, last = np.rint((ends - low) / step).astype(np.int64)
    value = low + step * np.arange(first, last + 1)
    below = ndtr((value[1:] - step / 2 - mean) / std)
    return Spread(value, np.diff(below, prepend=0.0, append=1.0))


def _can_change(rows: pl.DataFrame, exact: ExactMeans) -> list[bool | None]:
    """Return whether tie order can change each model's rank, by all orders of its ties or, where
    its lists may be cut, of the items given: whether some put it ahead of another model and some do
    not. None if none is known to do so and items that may be missing from its lists, or from those
    of another, may make them level, if no bounds are known, or for a model that is not compared.
    """
    cut, compared = rows["cut"].to_numpy(), rows["compared"].to_numpy()
    bounds = rows.select("lowest", "highest").to_numpy()
    of_items = np.array([_ends(row, exact) for row in rows.iter_rows(named=True)])
    (least, most), (low, high) = (
        np.where(compared, ends.T, np.nan)
        for ends in (bounds, np.where(cut[:, None], of_items, bounds))
    )
    may_pass = high > low[:, None] + LEVEL_WITHIN  # whether the other can be ahead
    group = rows.select(pl.coalesce("copy_of", "model").rank("dense")).to_series().to_numpy()
    others = group[:, None] != group  # models with the same lists share their orders
    changes = np.logical_or.reduce(_overlap(low, high) & may_pass & others, axis=1)
    is_open = np.logical_or.reduce(_overlap(least, most) & (cut | cut[:, None]) & others, axis=1)
    is_known = changes | ~(is_open | np.isnan(low + high + least + most))
    return [bool(can) if known else None for can, known in zip(changes, is_known, strict=True)]


def _ends(row: Named, exact: ExactMeans) -> tuple[float, float]:
    """Return a model's lowest and highest mean over the orders of the items given: over all or, if
    they are not known, over those drawn and the naive one; NaN if there are none.
    """
    known = exact.get((row["model"], (row["metric"], row["cutoff"])))
    if isinstance(known, NormalMean) and known.ends:
        return known.ends
    orders = [row[name] for name in ("drawn_lowest", "drawn_highest", "naive")]
    means = known.value if isinstance(known, Spread) else np.array(orders, np.float64)
    return float(np.fmin.reduce(means)), float(np.fmax.reduce(means))


def _overlap(low: Floats, high: Floats) -> Bools:
    """Return which ranges have a value in common with each other one; with NaN, none has."""
    overlap = (low[:, None] <= high + LEVEL_WITHIN) & (high[:, None] >= low - LEVEL_WITHIN)
    return overlap & ~np.eye(low.size, dtype=np.bool_)


def winners(
    scores: pl.DataFrame,
    shuffled: pl.DataFrame,
    exact: ExactMeans,
    pair_tests: PairTests,
) -> pl.DataFrame:
    """Return who wins by every measure: exactly, by the
    naive order, and in how many of the drawn orders.

    Parameters
    ----------
    scores
        The result of :func:`three_scores`.
    shuffled, exact
        As for :func:`three_scores`.
    pair_tests
        Returns the result of :func:`compare` for two models, if there is one: where no others can
        come first, what does not reverse them agrees.

    Returns
    -------
    polars.DataFrame
        One row per ``metric`` and ``cutoff``: ``winner`` and ``naive_winner`` (all that are level,
        as in ``"a = b"``), ``orders`` drawn, ``agreeing`` (in how many of them an exact winner is
        among the first), ``agreeing_chance`` (the probability that a random order agrees, drawn for
        each model on its own; null where lists may be cut) and ``agreeing_method`` ("exact",
        "normal" or "drawn", as for :func:`three_scores`).
    """
    ranked = scores.filter(pl.any_horizontal(pl.col(RANKS).is_not_null()))
    compared = scores if ranked.is_empty() else ranked
    tests = cache(pair_tests)
    rows = [
        _winner(part, shuffled, exact, tests)
        for part in compared.partition_by(MEASURE, maintain_order=True)
    ]
    return pl.DataFrame(rows, schema=WINNERS)


def _winner(
    part: pl.DataFrame, shuffled: pl.DataFrame, exact: ExactMeans, tests: PairTests
) -> Named:
    """Return the row of one measure; models with the same lists share their orders."""
    first = part.filter(expected_rank=1)["model"].to_list()
    naive = part.filter(naive_rank=1)["model"].to_list()
    measure = part.row(0, named=True)
    part = part.filter(pl.coalesce("copy_of", "model").is_first_distinct())
    row = {
        "metric": measure["metric"],
        "cutoff": measure["cutoff"],
        "winner": EQUALS.join(first) or None,
        "naive_winner": EQUALS.join(naive) or None,
        "orders": 0,
        "agreeing": 0,
        **_chance(part, first, exact, tests),
    }
    if shuffled.width and first:
        at_all = at_measure(measure["metric"], measure["cutoff"])
        draw_rows = shuffled.filter(at_all).join(part, on="model", how="semi")
        draw_rows = draw_rows.with_columns(most=pl.max("value").over("draw"))
        leads = pl.col("value") >= pl.col("most") - LEVEL_WITHIN
        agree = draw_rows.filter(pl.col("model").is_in(first), leads)
        row |= {"orders": draw_rows["draw"].n_unique(), "agreeing": agree["draw"].n_unique()}
    return row


def _chance(part: pl.DataFrame, first: Sequence[str], exact: ExactMeans, tests: PairTests) -> Named:
    """Return the probability that one of these models is ahead of all others, or level, in a random
    order of each; nothing but the method where lists may be cut, whose items are not all there are.
    """
    rows = part.to_dicts()
    leading = [row for row in rows if row["model"] in first]
    bounds = [row["lowest"] for row in leading if row["lowest"] is not None]
    if not bounds:
        return {"agreeing_chance": None, "agreeing_method": None}
    rivals = [
        row
        for row in rows
        if row["model"] not in first
        and (row["highest"] is None or row["highest"] > max(bounds) + LEVEL_WITHIN)
    ]
    compared = leading + rivals
    are_estimates = any(row["tie_std"] is None for row in leading)
    if not rivals and not (len(first) > 1 and are_estimates):  # which missing items may set apart
        return {"agreeing_chance": 1.0, "agreeing_method": EXACT}
    means = [mean_over_orders(row, exact) for row in compared]
    all_means = [mean for mean in means if mean is not None]
    if len(all_means) < len(means):
        return {"agreeing_chance": None, "agreeing_method": None}
    methods = {mean.method for mean in all_means}
    if DRAWN in methods or any(row["tie_std"] is None for row in compared):
        return {"agreeing_chance": None, "agreeing_method": DRAWN}
    leaders = all_means[: len(leading)]
    grid = np.unique(np.concatenate([mean.value for mean in leaders]))
    reached = np.prod([mean.reached(grid) for mean in leaders], axis=0)
    ahead = np.prod([mean.at_most(grid) for mean in all_means[len(leading) :]], axis=0)
    chance = float(np.diff(reached, prepend=0.0) @ ahead)
    method = NORMAL if NORMAL in methods else EXACT
    pair = tests(*(row["model"] for row in compared)) if len(compared) == 2 else None
    if pair is not None:
        where = at_measure(rows[0]["metric"], rows[0]["cutoff"])
        # Means of other queries than those of both differ in another way.
        reversal = pair.filter(where, policy="expected", unpaired=0).drop_nulls("p_tie")
        for p_tie, how in reversal.select("p_tie", "p_tie_method").iter_rows():
            chance, method = 1 - p_tie, EXACT if how == EXACT else NORMAL
    return {
        # A rival is ahead in some order of all.
        "agreeing_chance": BELOW_ONE if chance > 1 - LEVEL_WITHIN else chance,
        "agreeing_method": method,
    }
