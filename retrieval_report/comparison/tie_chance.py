"""The probability that random tie order reverses a pair of models, with valid bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Unpack

import numpy as np
import polars as pl

from retrieval_report.comparison.p_tie import Chance, Reversals, worth_lists
from retrieval_report.comparison.tie_bounds import (
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
from retrieval_report.metrics.parsing import Measure, Requests, measure_text, parse_metrics
from retrieval_report.metrics.record import Metric
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.run import Run, run_of
from retrieval_report.scoring.waves import TiedList, tied_lists

Lists = dict[tuple[int, int], TiedList]  # by rows of model and query
CHANCES = schema("comparison", "p_tie_low", "p_tie", "p_tie_high", "p_equal", "p_tie_method")
UNKNOWN = Chance(np.nan, np.nan, np.nan, np.nan, None)


def tie_chances(
    scores: Scores, pairs: Pairs, columns: Mapping[str, Floats], lists: Lists
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
        still, apart = over_pairs(known.loose, known, pairs) == 0, _apart(scores, pairs)
        paired, level, sure = columns["queries"] > 0, lead == 0, (apart > 0) & (lead != 0)
        cut = paired & (columns["truncated_queries"] > 0) & ~sure
        certain = paired & ~cut & ~level & (still | sure)
        method[cut], method[certain] = "truncated", "exact"
        for name in ("p_tie_low", "p_tie", "p_tie_high"):
            numbers[name][certain] = 0.0
        numbers["p_equal"][certain & (still | (apart > 1))] = 0.0
        numbers["p_equal"][paired & ~cut & level & still] = 1.0
        rest = np.flatnonzero(paired & ~cut & ~certain & ~(level & still))
        deviation = columns["tie_std"][rest] * columns["queries"][rest]
        chances = _by_moments(lead[rest], deviation, bounds[rest])
        if lists:
            chances = _by_lists(Reversals(known, lists), pairs.part(rest), lead[rest], chances)
        for pair, chance in zip(rest.tolist(), chances, strict=True):
            for column, number in zip(numbers.values(), chance, strict=False):
                column[pair] = number
            method[pair] = chance.method
    return pl.DataFrame({**numbers, "p_tie_method": method.tolist()}, schema=CHANCES).to_dict()


def _by_moments(lead: Floats, deviation: Floats, bounds: Floats) -> list[Chance]:
    """Return the normal distribution's chance of a reversal, within bounds from moments."""
    likely = normal_chances(lead, deviation)
    value, (low, high) = np.clip(likely, *bounds.T), bounds.T
    return [
        UNKNOWN
        if lead[at] == 0
        else Chance(
            low[at], value[at], high[at], np.nan, "bounds" if np.isnan(likely[at]) else "normal"
        )
        for at in range(lead.size)
    ]


def _by_lists(
    reversals: Reversals, pairs: Pairs, lead: Floats, chances: list[Chance]
) -> list[Chance]:
    """Return chances of a reversal from the scores of lists, where they tell more than moments."""
    value, result = reversals.known.value, []
    for at, moments in enumerate(chances):
        two = int(pairs.first[at]), int(pairs.second[at])
        paired = ~np.isnan(value[list(two)]).any(axis=0)
        near = ROUNDING * max(float(value[row][paired].sum()) for row in two)
        sides = reversals.sides(*(two if lead[at] >= 0 else two[::-1]))
        found = None if sides is None else reversals.of(*sides, near)
        if found is None:
            result.append(moments)
        elif lead[at] == 0:
            result.append(UNKNOWN._replace(equal=found.equal))
        else:
            low, high = max(moments.low, found.low), min(moments.high, found.high)
            likely = min(max(found.value, low), high)
            result.append(Chance(low, likely, high, found.equal, found.method))
    return result


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
        cut = over_pairs(scores.truncated & ~np.isnan(known.value), known, pairs) > 0
        worth = worth_lists(low, high, over_pairs(known.loose, known, pairs))
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
    **options: Unpack[ListOptions],
) -> dict[Measure, Lists]:
    """Return the lists on which a pair of models depends; raise an error if they contradict the
    scores.

    Metrics made from a caller's functions are left out, because their text does not identify the
    function.
    """
    # Lists that no pair needs are absent, which is not an error.
    checked = options_with(options, policies="expected", missing_query="zero")
    scores = {
        measure[:2]: grid.scores(measure) for measure in grid.measures if measure[2] == "expected"
    }
    wanted = {index: unsure for index, part in scores.items() if (unsure := undecided(part)).any()}
    found: dict[Measure, Lists] = {index: {} for index in scores}
    if not wanted:
        return found
    sources: Iterable[Any] = (
        rankings.sources(policies="expected")  # as another system receives them
        if hasattr(rankings, "sources")
        else [(judge(rankings, judgements, queries, checked), checked, list(wanted))]
    )
    for judged, rules, measures in sources:
        requests = _requests(index for index in measures if index in wanted)
        for part in run_of(judged, requests, rules).parts if requests else ():
            for metric, cutoff in part.measures:
                index = str(metric), cutoff
                lists = _lists_of(part, (metric, cutoff), grid, wanted[index])
                _check_means(grid, scores[index], lists)
                found[index] |= lists
    return found


def _requests(measures: Iterable[Measure]) -> Requests:
    """Return the metrics of measures, without those made of a caller's functions."""
    requests = []
    for name, cutoff in measures:
        try:
            requests += parse_metrics(name, cutoff)
        except ParameterError:
            continue
    return requests


def _lists_of(run: Run, measure: tuple[Metric, int | None], grid: Grid, wanted: Bools) -> Lists:
    """Return the lists of a run that pairs need by one measure."""
    places = {
        (grid.models[model], grid.queries[query]): (model, query)
        for model, query in np.argwhere(wanted).tolist()
    }
    names, kept = run.prepared.names.rows(), ~run.left_out()
    used = [number for number, name in enumerate(names) if kept[number] and name in places]
    prepared = run.prepared.take(np.array(used, np.int64))
    lists = tied_lists(Run(prepared, [(measure[0], (measure[1],))], run.options))
    return {places[names[number]]: one for number, one in zip(used, lists, strict=True)}


def _check_means(grid: Grid, scores: Scores, lists: Lists) -> None:
    """Refuse rankings of other scores, since a forgotten option changes the numbers without any
    other sign.
    """
    for (model, query), one in lists.items():
        score = float(scores.value[model, query])
        if abs(one.mean - score) > 1e-9 * max(score, 1e-3 * min(one.most - one.least, 1.0)):
            raise KeyMismatchError(
                f"rankings: they are not those of the scores: {measure_text(*scores.measure[:2])} "
                f"of model {grid.models[model]!r} and query {grid.queries[query]!r} is "
                f"{one.mean:.6g} on average over all tie orders, but {score:.6g} in the scores; "
                "pass compare the same frames and options as evaluate (judgements, queries, "
                "relevant_from, …)"
            )
