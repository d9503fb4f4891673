"""The probability that random tie order alone shows a pair of models in the other order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.analysis.convolution import Spread, chance_below
from retrieval_report.analysis.inputs import Bools, Floats, Grid, Pairs, hold, paired_mean
from retrieval_report.reading.frames import to_polars

__all__ = ["BOUNDS", "DISTRIBUTIONS", "Spreads", "normal_chance", "spreads", "tie_chances", "undecided"]

BOUNDS = ("best", "worst")
FEW = 30  # tied queries below which a mean over them may be far from normal
ROUNDING = 1e-12  # means this close, relative to the larger, are equal

DISTRIBUTIONS = {
    "model": pl.String,
    "query": None,
    "metric": pl.String,
    "cutoff": pl.Int64,
    "value": pl.Float64,
    "probability": pl.Float64,
    "method": pl.String,
}
Spreads = dict[tuple[str, int | None], dict[tuple[str, object], tuple[Spread, bool]]]


def normal_chance(difference: NDArray[np.float64], tie_std: NDArray[np.float64]) -> Floats:
    """Φ(−|difference| / tie_std): 0 without spread, NaN without difference (there is no order to reverse).

    >>> normal_chance(np.array([0.02, -0.02, 0.02, 0.0]), np.array([0.01, 0.01, 0.0, 0.01])).round(4).tolist()
    [0.0228, 0.0228, 0.0, nan]
    """
    from scipy.special import ndtr

    far = np.full(difference.shape, np.inf)
    np.divide(np.abs(difference), tie_std, out=far, where=~(tie_std <= 0))
    chance: Floats = np.where(difference == 0, np.nan, ndtr(-far))
    return chance


def spreads(distributions: object) -> Spreads:
    """The scores of each list under tie order and whether all orders are among them, by metric and cutoff."""
    frame = hold(to_polars(distributions, "distributions"), DISTRIBUTIONS, "distributions", "tie_distributions")
    found: Spreads = {}
    keys = ["metric", "cutoff", "model", "query", "method"]
    for (metric, cutoff, model, query, method), rows in frame.group_by(keys, maintain_order=True):
        spread = Spread(rows["value"].to_numpy(), rows["probability"].to_numpy())
        found.setdefault((str(metric), cutoff), {})[str(model), query] = spread, method == "exact"
    return found


def tie_chances(
    grid: Grid, place: int, pairs: Pairs, columns: Mapping[str, Floats], known: Spreads
) -> tuple[Floats, list[str | None]]:
    """``p_tie`` of all pairs and its method: the normal approximation, then what is known better."""
    metric, cutoff, policy = grid.places[place]
    none: list[str | None] = [None] * pairs.first.size
    if policy != "expected":
        return np.full(pairs.first.size, np.nan), none
    chance = normal_chance(columns["difference"], columns["tie_std"])
    method: list[str | None] = [None if np.isnan(p) else "normal" for p in chance]
    lists = known.get((metric, cutoff), {})
    certain = (columns["tie_std"] == 0) | _apart(grid, place, pairs)
    for pair in np.flatnonzero(~np.isnan(chance) & (certain | (columns["tied_queries"] < FEW))):
        if certain[pair]:
            chance[pair], method[pair] = 0.0, "exact"
        elif (found := _reversal(grid, place, (pairs.first[pair], pairs.second[pair]), lists)) is not None:
            chance[pair], method[pair] = found
    return chance, method


def undecided(grid: Grid, place: int) -> list[tuple[str, object]]:
    """Model and query of the lists whose distribution decides a pair: few queries are tied, and orders disagree."""
    value, depends = grid.value[place], grid.std[place] > 0
    known = ~np.isnan(value)
    pairs = Pairs.every(len(grid.models))
    wanted = np.zeros_like(depends)
    apart = _apart(grid, place, pairs)
    for block in pairs.blocks(value.shape[1]):
        first, second = pairs.first[block], pairs.second[block]
        tied = known[first] & known[second] & (depends[first] | depends[second])
        few = (tied.sum(axis=1) < FEW) & ~apart[block]
        for one, other, queries in zip(first[few], second[few], tied[few], strict=True):
            wanted[[one, other]] |= queries & depends[[one, other]]
    return [(grid.models[model], grid.queries[query]) for model, query in np.argwhere(wanted)]


def _reversal(
    grid: Grid, place: int, pair: tuple[int, int], lists: Mapping[tuple[str, object], tuple[Spread, bool]]
) -> tuple[float, str] | None:
    """Probability that the sum over the queries changes its sign; None where the distribution of a list is missing."""
    value, std = grid.value[place][list(pair)], grid.std[place][list(pair)]
    paired = ~np.isnan(value).any(axis=0)
    total = value[:, paired].sum(axis=1)
    leader = int(total[1] > total[0])
    lead, parts, exact = abs(total[0] - total[1]), [], True
    for side, query in np.argwhere((std > 0) & paired):
        found = lists.get((grid.models[pair[side]], grid.queries[query]))
        if found is None:
            return None
        spread, all_orders = found
        # The lead is that of the means; what each order adds to it is the list's distance from its own.
        away = spread.value - value[side, query]
        parts.append(Spread(away if side == leader else -away, spread.chance))
        exact &= all_orders
    near = ROUNDING * total.max()
    chance, formed = chance_below(parts, -lead - near, near / (2 * len(parts)))
    return chance, "shuffles" if not exact else "exact" if formed else "convolved"


def _apart(grid: Grid, place: int, pairs: Pairs) -> Bools:
    """Whether the lowest mean of one model reaches the highest of the other: no tie order reverses the pair."""
    metric, cutoff, _ = grid.places[place]
    result = np.zeros(pairs.first.size, np.bool_)
    if not {(metric, cutoff, bound) for bound in BOUNDS} <= set(grid.places):
        return result
    best, worst = (grid.value[grid.places.index((metric, cutoff, bound))] for bound in BOUNDS)
    known = ~np.isnan(grid.value[place])
    for block in pairs.blocks(known.shape[1]):
        first, second = pairs.first[block], pairs.second[block]
        paired = known[first] & known[second]
        above = paired_mean(worst[first], paired) - paired_mean(best[second], paired)
        below = paired_mean(worst[second], paired) - paired_mean(best[first], paired)
        unit = np.maximum(paired_mean(best[first], paired), paired_mean(best[second], paired))
        result[block] = np.maximum(above, below) >= -ROUNDING * unit
    return result
