"""The probability that random tie order reverses a pair of models, with valid bounds."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Unpack

import numpy as np

from retrieval_report.comparison.p_tie import DRAWS, WIDE, Chance, ListOrders, Reversals
from retrieval_report.comparison.tie_bounds import Ranges, normal_chances, ranges, tail_bounds
from retrieval_report.comparison.verdicts import ROUNDING, equal_values
from retrieval_report.contracts.errors import KeyMismatchError, ParameterError
from retrieval_report.contracts.options import ListOptions, options_with
from retrieval_report.engines.check_scores import BOUNDS
from retrieval_report.engines.paired import paired_mean
from retrieval_report.engines.score_grid import Floats, Grid, Pairs
from retrieval_report.metrics.parsing import Requests, measure_text, parse_metrics
from retrieval_report.scoring.convolution import Spread, merged
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.layout import lay_out
from retrieval_report.scoring.run import run_of
from retrieval_report.scoring.score_distribution import OrderScores, closed, score_orders

Orders = dict[tuple[str, int | None], dict[tuple[str, object], ListOrders]]

UNKNOWN = Chance(np.nan, np.nan, np.nan, np.nan, None)


def tie_chances(
    grid: Grid, measure: int, pairs: Pairs, columns: Mapping[str, Floats], known: Orders
) -> list[Chance]:
    """Find what is known about every pair by one measure: certainties first, then moments, then
    scores of lists.

    Nothing is known of policies other than expected.
    """
    metric, cutoff, policy = grid.measures[measure]
    if policy != "expected":
        return []
    found = [UNKNOWN] * pairs.first.size
    here = ranges(grid, measure)
    lead = columns["difference"] * columns["queries"]
    low, high = tail_bounds(here, pairs, lead)
    still = _loose_lists(here, pairs) == 0
    apart = _apart(grid, measure, pairs)
    rows = {name: row for row, name in enumerate(grid.models)}
    measures = {name: column for column, name in enumerate(grid.queries)}
    lists = {
        (rows[model], measures[query]): orders
        for (model, query), orders in known.get((metric, cutoff), {}).items()
        if model in rows and query in measures
    }
    reversals = Reversals(here, lists)
    for pair in np.flatnonzero(columns["queries"] > 0).tolist():
        level = columns["difference"][pair] == 0
        if columns["truncated_queries"][pair] and not (apart[pair] and not level):
            found[pair] = UNKNOWN._replace(method="truncated")
        elif level and still[pair]:
            found[pair] = UNKNOWN._replace(equal=1.0)
        elif still[pair] or (apart[pair] and not level):
            found[pair] = Chance(
                0.0, 0.0, 0.0, 0.0 if still[pair] or apart[pair] > 1 else np.nan, "exact"
            )
        else:
            two = int(pairs.first[pair]), int(pairs.second[pair])
            found[pair] = _undecided_pair(
                reversals, two, lead[pair], (low[pair], high[pair]), columns["tie_std"][pair]
            )
    return found


def _undecided_pair(
    reversals: Reversals,
    two: tuple[int, int],
    lead: float,
    bounds: tuple[float, float],
    tie_std: float,
) -> Chance:
    """Return what follows from moments, or from the scores of lists if they give more."""
    low, high = bounds
    worth = high - low > WIDE or lead == 0 or reversals.covers(*two)
    orders = reversals.of(*two, lead, bounds) if reversals.lists and worth else None
    if lead == 0:
        return UNKNOWN if orders is None else UNKNOWN._replace(equal=orders.equal)
    deviation = tie_std * (~np.isnan(reversals.known.value[list(two)]).any(axis=0)).sum()
    likely = float(normal_chances(np.array([lead]), np.array([deviation]))[0])
    moments = Chance(
        low,
        float(np.clip(likely, low, high)),
        high,
        np.nan,
        "normal" if likely == likely else "bounds",
    )
    if orders is None:
        return moments
    least, most = max(low, orders.low), min(high, orders.high)
    if least > most:  # bounds from draws fail once in 10 000 times
        least, most = low, high
    return Chance(least, min(max(orders.value, least), most), most, orders.equal, orders.method)


def undecided(grid: Grid, measure: int) -> list[tuple[str, object]]:
    """Return model and query of the lists whose distribution a pair needs because moments leave it
    open.
    """
    here = ranges(grid, measure)
    pairs = Pairs.every(len(grid.models))
    known = ~np.isnan(here.value)
    wanted = np.zeros_like(known)
    apart = _apart(grid, measure, pairs)
    for block in pairs.blocks(known.shape[1]):
        own = pairs.part(block)
        paired = known[own.first] & known[own.second]
        first, second = (
            np.where(paired, here.value[side], 0.0).sum(axis=1) for side in (own.first, own.second)
        )
        lead = np.where(equal_values(first, second), 0.0, first - second)
        low, high = tail_bounds(here, own, lead)
        cut = (
            (grid.truncated[measure][own.first] | grid.truncated[measure][own.second]) & paired
        ).any(axis=1)
        open_ones = ((high - low > WIDE) & (apart[block] == 0) | (lead == 0)) & ~cut
        for pair in np.flatnonzero(open_ones):
            two = [own.first[pair], own.second[pair]]
            wanted[two] |= here.loose[two] & paired[pair]
    return [(grid.models[model], grid.queries[query]) for model, query in np.argwhere(wanted)]


def _loose_lists(known: Ranges, pairs: Pairs) -> Floats:
    """Return how many lists of the paired queries tie order affects."""
    paired = (~np.isnan(known.value)).astype(np.float64)
    lists = known.loose.astype(np.float64) @ paired.T
    count: Floats = lists[pairs.first, pairs.second] + lists[pairs.second, pairs.first]
    return count


def _apart(grid: Grid, measure: int, pairs: Pairs) -> Floats:
    """Return whether no tie order reverses a pair.

    1 if the lowest mean of one model reaches the highest of the other, 2 if it is above it.
    """
    result = np.zeros(pairs.first.size)
    best, worst = (grid.under(measure, bound) for bound in BOUNDS)
    if np.isnan(best).all() or np.isnan(worst).all():
        return result
    known = ~np.isnan(grid.value[measure])
    for block in pairs.blocks(known.shape[1]):
        first, second = pairs.first[block], pairs.second[block]
        paired = known[first] & known[second]
        above = paired_mean(worst[first], paired) - paired_mean(best[second], paired)
        below = paired_mean(worst[second], paired) - paired_mean(best[first], paired)
        unit = ROUNDING * np.maximum(
            paired_mean(best[first], paired), paired_mean(best[second], paired)
        )
        distance = np.maximum(above, below)
        result[block] = np.where(distance > unit, 2.0, np.where(distance >= -unit, 1.0, 0.0))
    return result


def tie_orders(
    grid: Grid,
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    seed: int = 0,
    **options: Unpack[ListOptions],
) -> Orders:
    """Return the scores of each list on which a pair of models depends; raise an error if they
    contradict the scores.

    Metrics made from a caller's functions are left out, because their text does not identify the
    function.
    """
    # Lists that no pair needs are absent, which is not an error.
    checked = options_with(options, seed=seed, policies="expected", missing_query="zero")
    wanted = {
        (metric, cutoff): set(undecided(grid, index))
        for index, (metric, cutoff, policy) in enumerate(grid.measures)
        if policy == "expected"
    }
    found: Orders = {}
    if not any(wanted.values()):
        return found
    if hasattr(rankings, "sources"):  # rankings as another system receives them
        sources = rankings.sources(policies="expected", seed=seed)
    else:
        sources = iter([(judge(rankings, judgements, queries, checked), checked, list(wanted))])
    for judged, rules, measures in sources:
        prepared = lay_out(judged, rules)
        for requests in _alike(index for index in measures if wanted.get(index)):
            asked = [(str(metric), cutoff) for metric, own in requests for cutoff in own]
            lists = set().union(*(wanted[index] for index in asked))
            alone = requests[0][0].term.judged_only  # as are the others, which are alike
            laid_out = run_of(judged, requests, rules).prepared if alone else prepared
            for one in score_orders(laid_out.only(lists), requests, rules, DRAWS, walks=True):
                for column, index in enumerate(asked):
                    if (one.model, one.query) in wanted[index]:
                        found.setdefault(index, {})[one.model, one.query] = _orders(one, column)
    _check_moments(grid, found)
    return found


def _alike(measures: Iterable[tuple[str, int | None]]) -> list[Requests]:
    """Group metrics made of the same sums over the same ranks, which distinguish the same
    orders.
    """
    groups: defaultdict[tuple[object, bool, int | None], Requests] = defaultdict(list)
    for name, cutoff in measures:
        try:
            ((metric, own),) = parse_metrics(name, cutoff)
        except ParameterError:  # a function of the caller's
            continue
        # Metrics whose distributions have closed forms stand alone; all others share their orders.
        apart = metric.term if closed(metric.term) else None
        groups[apart, metric.own_depth, cutoff].append((metric, own))
    return list(groups.values())


def _orders(scores: OrderScores, column: int) -> ListOrders:
    """One list's orders by one metric."""
    value, walk = scores.value[:, column], scores.walks[column] if scores.walks else None
    seed = zlib.crc32(f"{scores.model}\0{scores.query}".encode())
    if scores.drawn is not None:
        return ListOrders(None, None, scores.drawn, column, seed)
    near = 1e-15 * float(np.abs(value).max(initial=0.0))
    spread = Spread(*merged(value, scores.chance, near)) if value.size else None
    return ListOrders(spread, walk, None, column, seed)


def _check_moments(grid: Grid, found: Orders) -> None:
    """Refuse orders of other scores, since a forgotten option changes the numbers without any other
    sign.
    """
    for index, (metric, cutoff, policy) in enumerate(grid.measures):
        lists = found.get((metric, cutoff), {}) if policy == "expected" else {}
        known = ranges(grid, index) if lists else None
        rows = {name: row for row, name in enumerate(grid.models)}
        columns = {name: column for column, name in enumerate(grid.queries)}
        for (model, query), orders in lists.items():
            assert known is not None
            where = rows[model], columns[query]
            mean = _mean(orders)
            if abs(mean - known.value[where]) > _margin(orders, known, where):
                raise KeyMismatchError(
                    f"rankings: they are not those of the scores: {measure_text(metric, cutoff)} "
                    "of "
                    f"model {model!r} and query {query!r} is {mean:.6g} on average over all tie "
                    "orders, but "
                    f"{known.value[where]:.6g} in the scores; pass compare the same frames and "
                    "options as "
                    "evaluate (judgements, queries, relevant_from, …)"
                )


def _mean(orders: ListOrders) -> float:
    if orders.drawn is not None:
        return float(orders.drawn.first(DRAWS, orders.column).mean())
    if orders.spread is not None:
        return float(orders.spread.chance @ orders.spread.value)
    assert orders.walk is not None
    return float(orders.walk.mean)


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
