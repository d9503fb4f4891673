"""The probability that random tie order reverses a pair of models, with valid bounds."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Unpack

import numpy as np
import polars as pl

from retrieval_report.comparison.p_tie import DRAWS, Chance, ListOrders, Reversals, worth_lists
from retrieval_report.comparison.tie_bounds import (
    Ranges,
    normal_chances,
    over_pairs,
    ranges,
    tail_bounds,
)
from retrieval_report.comparison.verdicts import ROUNDING, equal_values
from retrieval_report.contracts.errors import KeyMismatchError, ParameterError
from retrieval_report.contracts.options import ListOptions, options_with
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.score_grid import Grid, Pairs, Scores, paired_mean, paired_queries
from retrieval_report.kernels.lists import Bools, Floats
from retrieval_report.metrics.parsing import Requests, measure_text, parse_metrics
from retrieval_report.scoring.convolution import Spread, merged
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.layout import lay_out
from retrieval_report.scoring.run import run_of
from retrieval_report.scoring.score_distribution import OrderScores, closed, score_orders
from retrieval_report.scoring.score_paths import walk_of_values

Orders = dict[tuple[int, int], ListOrders]  # by rows of model and query
CHANCES = schema("comparison", "p_tie_low", "p_tie", "p_tie_high", "p_equal", "p_tie_method")
UNKNOWN = Chance(np.nan, np.nan, np.nan, np.nan, None)


def tie_chances(
    scores: Scores, pairs: Pairs, columns: Mapping[str, Floats], lists: Orders
) -> dict[str, pl.Series]:
    """Find what is known about every pair by one measure: certainties first, then moments, then
    scores of lists.

    Nothing is known of policies other than expected.
    """
    size = pairs.first.size
    numbers = dict(zip(CHANCES, np.full((len(UNKNOWN) - 1, size), np.nan), strict=False))
    method = np.full(size, None, np.object_)
    if scores.measure[2] == "expected":
        known = ranges(scores)
        lead = columns["difference"] * columns["queries"]
        bounds = np.stack(tail_bounds(known, pairs, lead), axis=1)
        still, apart = over_pairs(known.loose, known.value, pairs) == 0, _apart(scores, pairs)
        paired, level, sure = columns["queries"] > 0, lead == 0, (apart > 0) & (lead != 0)
        cut = paired & (columns["truncated_queries"] > 0) & ~sure
        certain = paired & ~cut & ~level & (still | sure)
        method[cut], method[certain] = "truncated", "exact"
        for name in ("p_tie_low", "p_tie", "p_tie_high"):
            numbers[name][certain] = 0.0
        numbers["p_equal"][certain & (still | (apart > 1))] = 0.0
        numbers["p_equal"][paired & ~cut & level & still] = 1.0
        reversals = Reversals(known, lists)
        for pair in np.flatnonzero(paired & ~cut & ~certain & ~(level & still)).tolist():
            two = int(pairs.first[pair]), int(pairs.second[pair])
            deviation = columns["tie_std"][pair] * columns["queries"][pair]
            chance = _undecided_pair(reversals, two, lead[pair], deviation, bounds[pair])
            for column, number in zip(numbers.values(), chance, strict=False):
                column[pair] = number
            method[pair] = chance.method
    return pl.DataFrame({**numbers, "p_tie_method": method.tolist()}, schema=CHANCES).to_dict()


def _undecided_pair(
    reversals: Reversals, two: tuple[int, int], lead: float, deviation: float, bounds: Floats
) -> Chance:
    """Return what follows from moments, or from the scores of lists if they give more."""
    low, high = bounds.tolist()
    likely = float(normal_chances(np.array([lead]), np.array([deviation]))[0])
    method = "bounds" if np.isnan(likely) else "normal"
    moments = Chance(low, float(np.clip(likely, low, high)), high, np.nan, method)
    if not reversals.lists:
        return UNKNOWN if lead == 0 else moments
    sides = reversals.sides(*two)
    paired = ~np.isnan(reversals.known.value[list(two)]).any(axis=0)
    near = ROUNDING * max(float(reversals.known.value[row][paired].sum()) for row in two)
    if lead == 0:
        return UNKNOWN._replace(equal=reversals.equal(*sides, near))
    ahead, behind = sides if lead > 0 else sides[::-1]
    moved = len(ahead.lists) + len(behind.lists)
    worth = bool(worth_lists(low, high, moved)) or (ahead.counted and behind.counted)
    orders = reversals.of(ahead, behind, near, (low, high)) if worth else None
    if orders is None:
        return moments
    least, most = max(low, orders.low), min(high, orders.high)
    if least > most:  # bounds from draws fail once in 10 000 times
        least, most = low, high
    return Chance(least, min(max(orders.value, least), most), most, orders.equal, orders.method)


def undecided(scores: Scores) -> Bools:
    """Return which lists' distributions a pair needs because moments leave it open."""
    known = ranges(scores)
    every = Pairs.every(len(known.value))
    wanted = np.zeros(known.value.shape, np.bool_)
    for pairs in every.blocks(known.value.shape[1]):
        paired = paired_queries(known.value, pairs)
        first, second = (
            np.where(paired, known.value[side], 0.0).sum(axis=1)
            for side in (pairs.first, pairs.second)
        )
        lead = np.where(equal_values(first, second), 0.0, first - second)
        low, high = tail_bounds(known, pairs, lead)
        cut = over_pairs(scores.truncated & ~np.isnan(known.value), known.value, pairs) > 0
        worth = worth_lists(low, high, over_pairs(known.loose, known.value, pairs))
        needed = (worth & (_apart(scores, pairs) == 0) | (lead == 0)) & ~cut
        for pair in np.flatnonzero(needed):
            two = [pairs.first[pair], pairs.second[pair]]
            wanted[two] |= known.loose[two] & paired[pair]
    return wanted


def _apart(scores: Scores, pairs: Pairs) -> Floats:
    """Return whether no tie order reverses a pair.

    1 if the lowest mean of one model reaches the highest of the other, 2 if it is above it.
    """
    result = []
    for part in pairs.blocks(scores.value.shape[1]):
        paired = paired_queries(scores.value, part)
        worst, best = (
            [paired_mean(bound[side], paired) for side in (part.first, part.second)]
            for bound in (scores.lowest, scores.highest)
        )
        distance = np.maximum(worst[0] - best[1], worst[1] - best[0])
        unit = ROUNDING * np.maximum(*best)
        result.append(np.where(distance > unit, 2.0, np.where(distance >= -unit, 1.0, 0.0)))
    return np.concatenate(result)


def tie_orders(
    grid: Grid,
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    seed: int = 0,
    **options: Unpack[ListOptions],
) -> dict[tuple[str, int | None], Orders]:
    """Return the scores of each list on which a pair of models depends; raise an error if they
    contradict the scores.

    Metrics made from a caller's functions are left out, because their text does not identify the
    function.
    """
    # Lists that no pair needs are absent, which is not an error.
    checked = options_with(options, seed=seed, policies="expected", missing_query="zero")
    scores = {
        measure[:2]: grid.scores(measure) for measure in grid.measures if measure[2] == "expected"
    }
    wanted = {index: unsure for index, part in scores.items() if (unsure := undecided(part)).any()}
    found: dict[tuple[str, int | None], Orders] = defaultdict(dict)
    if not wanted:
        return found
    models, queries_ = (
        {name: row for row, name in enumerate(names)} for names in (grid.models, grid.queries)
    )
    sources: Iterable[Any] = (
        rankings.sources(policies="expected", seed=seed)  # as another system receives them
        if hasattr(rankings, "sources")
        else [(judge(rankings, judgements, queries, checked), checked, list(wanted))]
    )
    for judged, rules, measures in sources:
        prepared = lay_out(judged, rules)
        for requests in _alike(index for index in measures if index in wanted):
            asked = [(str(metric), cutoff) for metric, own in requests for cutoff in own]
            needed = np.argwhere(np.logical_or.reduce([wanted[index] for index in asked]))
            lists = {(grid.models[model], grid.queries[query]) for model, query in needed}
            metric = requests[0][0]  # the others are like it
            apart = metric.condensed or metric.level is not None
            laid_out = run_of(judged, requests, rules).prepared if apart else prepared
            for one in score_orders(laid_out.only(lists), requests, rules, DRAWS, walks=True):
                where = models[one.model], queries_[one.query]
                for column, index in enumerate(asked):
                    if wanted[index][where]:
                        found[index][where] = _orders(one, column)
    for index, part in scores.items():
        _check_means(grid, part, found.get(index, {}))
    return found


def _alike(measures: Iterable[tuple[str, int | None]]) -> list[Requests]:
    """Group metrics made of the same sums over the same ranks, which distinguish the same
    orders.
    """
    groups: defaultdict[tuple[object, ...], Requests] = defaultdict(list)
    for name, cutoff in measures:
        try:
            ((metric, own),) = parse_metrics(name, cutoff)
        except ParameterError:  # a function of the caller's
            continue
        # Metrics whose distributions have closed forms stand alone; all others share their orders.
        apart = metric.term if closed(metric.term) else None
        groups[apart, metric.own_depth, cutoff, metric.level, metric.condensed].append(
            (metric, own)
        )
    return list(groups.values())


def _orders(scores: OrderScores, column: int) -> ListOrders:
    """One list's orders by one metric."""
    value, walk = scores.value[:, column], scores.walks[column] if scores.walks else None
    seed = zlib.crc32(f"{scores.model}\0{scores.query}".encode())
    if scores.drawn is not None:
        return ListOrders(None, None, scores.drawn, column, seed)
    if not value.size:
        return ListOrders(None, walk, None, column, seed)
    spread = Spread(*merged(value, scores.chance, 1e-15 * float(np.abs(value).max())))
    if walk is None or spread.value.size <= walk.size:
        walk = walk_of_values(*spread)
    return ListOrders(spread, walk, None, column, seed)


def _check_means(grid: Grid, scores: Scores, lists: Orders) -> None:
    """Refuse orders of other scores, since a forgotten option changes the numbers without any other
    sign.
    """
    known = ranges(scores)
    for (model, query), orders in lists.items():
        score = known.value[model, query]
        if abs(orders.mean - score) > _margin(orders, known, (model, query)):
            raise KeyMismatchError(
                f"rankings: they are not those of the scores: {measure_text(*scores.measure[:2])} "
                f"of model {grid.models[model]!r} and query {grid.queries[query]!r} is "
                f"{orders.mean:.6g} on average over all tie orders, but {score:.6g} in the scores; "
                "pass compare the same frames and options as evaluate (judgements, queries, "
                "relevant_from, …)"
            )


def _margin(orders: ListOrders, known: Ranges, where: tuple[int, int]) -> float:
    """How far the mean may be from the score: by rounding, or as far as draws stray once in 10¹⁰
    lists (Bernstein).
    """
    value, variance = float(known.value[where]), float(known.variance[where])
    reach = float(max(known.fall[where], known.rise[where]))
    if orders.drawn is None:
        return 1e-9 * max(abs(value), 1e-3 * min(reach, 1.0))
    if not np.isfinite(reach):
        return float("inf")
    deviation = min(variance, reach**2) ** 0.5
    return float(7 * deviation / DRAWS**0.5 + 9 * reach / DRAWS + 1e-9 * value)
