"""Intervals of rates at thresholds, of the choice of a threshold, and of areas below curves, where
queries are drawn with all their pairs.

Influences are by how much every query moves a number, to first order; their squares add up to its
variance.
"""

import numpy as np

from retrieval_report.kernels.lists import Bools, Floats, Integers
from retrieval_report.ties.threshold_curves import Curve, parts_of, rate

ENDS = (0.025, 0.975)  # of a 95% interval
ROOM = 1e-12  # rates that differ by less are the same


def rate_influence(curve: Curve, name: str) -> tuple[Floats, Integers]:
    """Return by how much every query moves a rate at every threshold, (queries, thresholds), to
    first order, which adds up to 0; and how many queries have a part in the rate.
    """
    shape = curve.queries, len(curve.values)
    cells = np.ravel_multi_index((curve.query, curve.step), shape)
    tp, fp = (
        np.cumsum(np.bincount(cells, counts, shape[0] * shape[1]).reshape(shape), axis=1)
        for counts in (curve.hits, curve.misses)
    )
    counts = {"tp": tp, "fp": fp, "tn": fp[:, -1:] - fp, "fn": tp[:, -1:] - tp}
    share, whole = parts_of(name, counts)
    total = np.asarray(whole).sum(axis=0)
    rates = rate(name, {part: of_query.sum(axis=0) for part, of_query in counts.items()})
    with np.errstate(invalid="ignore"):
        return np.asarray((share - rates * whole) / total), np.count_nonzero(whole, axis=0)


def as_good(values: Floats, influence: Floats, index: int) -> Bools:
    """Return the thresholds whose value is not below that of one by a 95% interval."""
    from scipy.special import stdtrit

    queries = len(influence)
    square = ((influence[:, index, None] - influence) ** 2).sum(axis=0) * queries / (queries - 1)
    alike: Bools = values[index] - values <= stdtrit(queries - 1, ENDS[1]) * np.sqrt(square) + ROOM
    return alike


def rate_interval(
    value: float, influence: Floats, taking_part: int, flattered: Floats
) -> tuple[float, float]:
    """Return the interval of a rate that was chosen; see `Thresholds.calibrate`.

    Two hits of two queries of 60 say little, whatever the choice gained where queries were drawn.

    >>> low, high = rate_interval(1.0, np.zeros(60), 2, flattered=np.array([0.05, 0.1]))
    >>> round(low, 4), high
    (0.1581, 1.0)
    """
    from scipy.special import stdtrit

    queries = influence.size
    widen = queries / (queries - 1)
    square = (influence**2).sum()
    error = np.sqrt(max(square, flattered.var() if flattered.size else 0.0) * widen)
    reach = stdtrit(queries - 1, ENDS[1]) * error
    fair = value - flattered.mean() if flattered.size else value
    low, high = min(value, fair) - reach, max(value, fair) + reach
    if np.sqrt(square * widen) <= ROOM:  # the draws do not show what two hits of two leave open
        ends = _without_spread(value, taking_part)
        low, high = (min(ends[0], low), max(ends[1], high)) if error > ROOM else ends
    return max(0.0, low), min(1.0, high)


def _without_spread(value: float, queries: int) -> tuple[float, float]:
    """Return the interval of a share that is the same in all queries: others could be 0 or 1 in so
    many that none would be seen in only 2.5% of cases.

    >>> [round(end, 4) for end in _without_spread(1.0, 10)]
    [0.6915, 1.0]
    """
    unseen = ENDS[0] ** (1 / queries)
    return value * unseen, 1 - (1 - value) * unseen


def roc_influence(curve: Curve, area: float) -> Floats:
    """Return by how much every query moves the area below the ROC curve, to first order."""
    counts = curve.outcomes()
    tp, fp = counts["tp"], counts["fp"]
    with np.errstate(invalid="ignore"):
        # of a pair at each threshold: the share of those of the other kind that lie behind or ahead
        of_hit = 1 - (fp + np.append(0.0, fp[:-1])) / 2 / fp[-1]
        of_miss = (tp + np.append(0.0, tp[:-1])) / 2 / tp[-1]
        moves = curve.hits * (of_hit - area)[curve.step] / tp[-1]
        moves += curve.misses * (of_miss - area)[curve.step] / fp[-1]
    return np.asarray(np.bincount(curve.query, moves, curve.queries), np.float64)


def precision_influence(curve: Curve, area: float) -> Floats:
    """Return by how much every query moves the average precision by thresholds, to first order: by
    its own relevant pairs, and by the precision at all looser thresholds.
    """
    counts = curve.outcomes()
    precision, accepted = rate("precision", counts), counts["tp"] + counts["fp"]
    with np.errstate(invalid="ignore"):
        gain = np.diff(counts["tp"], prepend=0.0) / counts["tp"][-1] / accepted
        of_hit, of_miss = (
            np.cumsum((gain * share)[::-1])[::-1] for share in (1 - precision, precision)
        )
        moves = curve.hits * (of_hit + (precision - area) / counts["tp"][-1])[curve.step]
    moves -= curve.misses * of_miss[curve.step]
    return np.asarray(np.bincount(curve.query, moves, curve.queries), np.float64)


def area_interval(area: float, influence: Floats) -> tuple[float, float]:
    """Return the 95% interval of an area between 0 and 1, by Student's t on the scale of log odds;
    NaN below two queries.
    """
    from scipy.special import expit, logit, stdtrit

    queries = influence.size
    if queries < 2 or np.isnan(area):
        return np.nan, np.nan
    error = np.sqrt((influence**2).sum() * queries / (queries - 1))
    if error <= ROOM or not ROOM < area < 1 - ROOM:
        return _without_spread(float(np.clip(area, 0, 1)), queries)
    reach = stdtrit(queries - 1, ENDS[1]) * error / (area * (1 - area))
    low, high = expit(logit(area) - reach), expit(logit(area) + reach)
    return float(low), float(high)
