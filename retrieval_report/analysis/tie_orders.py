"""Score lists under all tie orders, for pairs of models whose order depends on them."""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Unpack

import numpy as np

from retrieval_report.analysis.convolution import Spread, merged
from retrieval_report.analysis.grid import Grid
from retrieval_report.analysis.reversal import ListOrders
from retrieval_report.analysis.tie_bounds import Ranges, ranges
from retrieval_report.analysis.tie_chance import Orders, undecided
from retrieval_report.contracts.errors import KeyMismatchError, ParameterError
from retrieval_report.contracts.options import ListOptions, options_with
from retrieval_report.metrics.parsing import Requests, measure_text, parse_metrics
from retrieval_report.metrics.terms import Term
from retrieval_report.scoring.closed_orders import closed
from retrieval_report.scoring.every_order import OrderScores, score_orders
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.layout import lay_out

DRAWS = 1_000
Measure = tuple[str, int | None]


def tie_orders(
    grid: Grid,
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    seed: int = 0,
    draws: int = DRAWS,
    **options: Unpack[ListOptions],
) -> Orders:
    """Return the scores of each list on which a pair of models depends; raise an error if they contradict the scores.

    Metrics made from a caller's functions are left out, because their text does not identify the function.
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
    prepared = lay_out(judge(rankings, judgements, queries, checked), checked)
    for requests in _alike(index for index, lists in wanted.items() if lists):
        asked = [(str(metric), cutoff) for metric, own in requests for cutoff in own]
        lists = set().union(*(wanted[index] for index in asked))
        scored = score_orders(prepared.only(lists), requests, checked, draws, walks=True)
        for one in scored:
            for column, index in enumerate(asked):
                if (one.model, one.query) in wanted[index]:
                    found.setdefault(index, {})[one.model, one.query] = _orders(one, column)
    _check_moments(grid, found)
    return found


def _alike(measures: Iterable[Measure]) -> list[Requests]:
    """Group metrics made of the same sums over the same ranks, which distinguish the same orders."""
    groups: defaultdict[tuple[object, bool, int | None], Requests] = defaultdict(list)
    for name, cutoff in measures:
        try:
            ((metric, own),) = parse_metrics(name, cutoff)
        except ParameterError:  # a function of the caller's
            continue
        groups[_kind(metric.term), metric.own_depth, cutoff].append((metric, own))
    return list(groups.values())


def _kind(term: Term) -> object:
    """What sets metrics apart whose distributions have closed forms; all others share their orders."""
    return term if closed(term) else None


def _orders(scores: OrderScores, column: int) -> ListOrders:
    """One list's orders by one metric."""
    value, walk = scores.value[:, column], scores.walks[column] if scores.walks else None
    near = 1e-15 * float(np.abs(value).max(initial=0.0))
    spread = Spread(*merged(value, scores.chance, near)) if value.size else None
    draws = None if scores.exact else scores.chance.size
    return ListOrders(spread, walk, draws, zlib.crc32(f"{scores.model}\0{scores.query}".encode()))


def _check_moments(grid: Grid, found: Orders) -> None:
    """Refuse orders of other scores, since a forgotten option changes the numbers without any other sign."""
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
                    f"rankings: they are not those of the scores: {measure_text(metric, cutoff)} of "
                    f"model {model!r} and query {query!r} is {mean:.6g} on average over all tie orders, but "
                    f"{known.value[where]:.6g} in the scores; pass compare the same frames and options as "
                    "evaluate (judgements, queries, relevant_from, …)"
                )


def _mean(orders: ListOrders) -> float:
    if orders.spread is not None:
        return float(orders.spread.chance @ orders.spread.value)
    assert orders.walk is not None
    return float(orders.walk.mean)


def _margin(orders: ListOrders, known: Ranges, where: tuple[int, int]) -> float:
    """How far the mean may be from the score: by rounding, or as far as draws stray once in 10¹⁰ lists (Bernstein)."""
    value, variance = float(known.value[where]), float(known.variance[where])
    reach = float(max(known.fall[where], known.rise[where]))
    if orders.draws is None:
        return 1e-9 * max(abs(value), 1e-3 * min(reach, 1.0))
    if not np.isfinite(reach):
        return float("inf")
    deviation = min(variance, reach**2) ** 0.5
    return float(7 * deviation / orders.draws**0.5 + 9 * reach / orders.draws + 1e-9 * value)
