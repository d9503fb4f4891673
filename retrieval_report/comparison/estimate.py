"""Estimate means by a few queries that people judged and many that a machine judged:
prediction-powered inference.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from retrieval_report.comparison.significance import paired_t
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import DataError, KeyMismatchError
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.check_scores import SCORE, check_fraction, check_scores
from retrieval_report.engines.score_grid import (
    Grid,
    Measure,
    Pairs,
    differences,
    divided,
    measured,
    paired_mean,
)
from retrieval_report.kernels.lists import Bools, Floats
from retrieval_report.metrics.parsing import is_share

ESTIMATES = schema("estimates")
LIST = ["model", "query", *SCORE]
HUMAN = "human"  # the policy of human scores


def estimate(
    machine_scores: object, human_scores: object, *, confidence: float = 0.95
) -> pl.DataFrame:
    r"""Estimate what people would say of all queries, of which they judged some and a machine all.

    The mean of the human scores alone has few queries, that of a machine's may be biased.
    Prediction-powered inference takes the bias from the queries that have both, and the queries
    that only the machine judged to reduce the error: its intervals hold however wrong the machine
    is.

    Parameters
    ----------
    machine_scores
        The result of :func:`evaluate` by the machine's judgements of all queries. Of these and the
        human ones, expected scores are taken, which hold no noise of tie order.
    human_scores
        The same by human judgements of some of the queries, drawn at random. A query nobody judged
        has no score, or is left out.
    confidence
        Confidence level of the intervals.

    Returns
    -------
    polars.DataFrame
        For every metric and cutoff (in the order of the scores) a row for each model and one for
        each pair of models, by name:

        ``model_a``, ``model_b`` (null: the row is about the mean of ``model_a``; else about its
        mean minus that of ``model_b``), ``metric``, ``cutoff``, ``policy``;
        ``value`` (the estimate), ``std_error``, ``ci_low``, ``ci_high`` (null below three human
        queries);
        ``human_only``, ``human_low``, ``human_high`` (mean of the queries that people judged, with
        its ordinary interval), ``machine_only`` (mean of all queries by the machine);
        ``lambda`` (how far the machine is trusted, from 0 to 1), ``gain`` (as many times more human
        queries would be needed for this error without the machine), ``queries`` (that the machine
        judged) and ``judged`` (those of them that people judged too).

    Raises
    ------
    RetrievalReportError
        The scores break their contract or have no query in common, or lack the policy expected.

    Notes
    -----
    With human scores y and machine scores f of n queries, and f alone of N others,

    .. math:: \hat\theta = \bar y + \lambda\,(\bar f_N - \bar f_n),\qquad
       \lambda = \frac{\mathrm{cov}_n(y, f)}{(1 + n/N)\,\mathrm{var}(f)}\ \text{within}\ [0, 1]

    (PPI++: Angelopoulos, Duchi and Zrnic, *PPI++: Efficient Prediction-Powered Inference*, 2023;
    for rankings Oosterhuis et al., *Reliable Confidence Intervals for Information Retrieval
    Evaluation Using Generative A.I.*, KDD 2024), as the package ppi_py computes it. That
    package takes the error as normal, for which few queries are too few: its intervals hold the
    true mean too rarely. Here λ is an estimate too, which costs a degree of freedom and adds the
    last term of the squared error,

    .. math:: \frac{s^2}{n} + \frac{\lambda^2\,\mathrm{var}(f)}{N} + s^2(\bar f_N - \bar f_n)^2
       \frac{\sum(f - \bar f_n)^2}{(n(1 + n/N)\,\mathrm{var}(f))^2},\qquad
       s^2 = \frac{\sum(y - \lambda f - \overline{y - \lambda f})^2}{n - 2},

    with Student's t of n − 2 degrees, or fewer: one less than the human scores that are not 0.
    (With n − 2 degrees, intervals of differences that are mostly 0 hold the true one in 87 to 93%
    of cases instead of 95%.) Where people judged every query, it is the ordinary mean with the
    ordinary interval. Intervals of means of shares are cut at 0 and 1, as in :func:`summarise`.

    Examples
    --------
    A machine judges 200 queries too kindly; people judge 20 of them.

    >>> import numpy as np
    >>> import polars as pl
    >>> generator = np.random.default_rng(5)
    >>> truth = generator.beta(2, 3, 200)
    >>> kind = np.clip(truth + 0.1 + generator.normal(0, 0.05, 200), 0, 1)
    >>> scores = pl.DataFrame(
    ...     {
    ...         "model": "bm25",
    ...         "query": [f"q{number}" for number in range(200)],
    ...         "metric": "ndcg",
    ...         "cutoff": 10,
    ...         "policy": "expected",
    ...         "value": kind,
    ...         "std": 0.0,
    ...         "items": 100,
    ...         "n_relevant": 5,
    ...     }
    ... )
    >>> human = scores.with_columns(value=pl.Series(truth)).head(20)
    >>> estimate(scores, human).select(
    ...     pl.col("value", "std_error", "human_only", "machine_only").round(3),
    ...     pl.col("gain").round(1),
    ... ).row(0)
    (0.4, 0.018, 0.385, 0.523, 5.3)
    """
    confidence = check_fraction("confidence", confidence)
    grid = _beside(check_scores(machine_scores), check_scores(human_scores))
    rows = np.arange(len(grid.models))
    frames = [pl.DataFrame(schema=ESTIMATES)]
    for scores in grid.asked("expected"):
        f, y = scores.value, grid.under(scores.measure, HUMAN)
        frames.append(_rows(f, y, Pairs(rows, rows), grid, scores.measure, confidence))
        for part in grid.pairs().blocks(f.shape[1]):
            both = differences(f, part), differences(y, part)
            frames.append(_rows(*both, part, grid, scores.measure, confidence))
    return pl.concat(frames)


def _beside(machine: pl.DataFrame, human: pl.DataFrame) -> Grid:
    """Return the machine's scores, and the human ones of the same lists as a policy of their own."""
    ids, others = machine.schema["query"], human.schema["query"]
    if ids != others:
        raise KeyMismatchError(
            f"column 'query' is {ids} in the machine's scores and {others} in the human ones"
        )
    machine = machine.filter(policy="expected")
    known = human.filter(pl.col("n_relevant").is_not_null())
    known = known.join(machine, on=LIST, how="semi", nulls_equal=True)
    if not known["value"].count():
        raise DataError("human scores: no query has a score by people and one by the machine")
    return Grid.of(pl.concat([machine, known.with_columns(policy=pl.lit(HUMAN))]))


def _rows(
    f: Floats, y: Floats, pairs: Pairs, grid: Grid, measure: Measure, confidence: float
) -> pl.DataFrame:
    """Return the estimates of some models or pairs by one measure."""
    columns = powered(f, y, confidence)
    names = pl.Series(grid.models, dtype=pl.String)
    single = (pairs.first == pairs.second).all()
    columns |= {"model_a": names[pairs.first], "model_b": None if single else names[pairs.second]}
    if single and is_share(measure[0]):
        columns |= {name: np.clip(columns[name], 0, 1) for name in ENDS}
    return measured(columns, measure, ESTIMATES)


ENDS = ("ci_low", "ci_high", "human_low", "human_high")


def powered(machine: Floats, human: Floats, confidence: float) -> Named:
    """Return the estimate of every row, of scores (rows, queries) that are NaN where there is none;
    see `estimate`.

    >>> scores = np.array([[0.2, 0.6, 0.4, 0.8]])
    >>> found = powered(scores, np.where([True, True, True, False], scores, np.nan), 0.95)
    >>> [round(found[name].item(), 4) for name in ("value", "human_only", "machine_only", "lambda")]
    [0.44, 0.4, 0.5, 0.1]
    """
    from scipy.special import stdtrit

    known = ~np.isnan(machine)
    judged = known & ~np.isnan(human)
    other = known & ~judged
    n, rest = judged.sum(axis=1), other.sum(axis=1)
    f_n, f_rest, f_all, y_n = (
        paired_mean(values, which)
        for values, which in (
            (machine, judged),
            (machine, other),
            (machine, known),
            (human, judged),
        )
    )
    f, y = _apart(machine, f_n, judged), _apart(human, y_n, judged)
    spread = (_apart(machine, f_all, known) ** 2).sum(axis=1) / np.maximum(n + rest - 1, 1)
    tuned = (rest > 0) & (spread > 0)
    share = divided(rest, spread * n * (rest + n), 0.0)  # of a product in λ
    trust = np.clip((f * y).sum(axis=1) * share, 0.0, 1.0)
    freedom = n - 1 - tuned
    residual = ((y - trust[:, None] * f) ** 2).sum(axis=1) / np.maximum(freedom, 1)
    gap = np.where(tuned, f_rest - f_n, 0.0)
    slope = (gap * share) ** 2 * (f**2).sum(axis=1)  # what λ adds, which is estimated itself
    far = trust**2 * spread / np.maximum(rest, 1)
    error = np.sqrt(residual * (1 / np.maximum(n, 1) + slope) + far)
    error[freedom < 1] = np.nan
    value = y_n + trust * gap
    # Queries without a score or a difference tell little of the spread that others would have.
    scored = np.where(tuned, np.count_nonzero(np.where(judged, human, 0.0), axis=1) - 1, freedom)
    degrees = np.maximum(np.minimum(freedom, scored), 1)
    reach = stdtrit(degrees, 0.5 + confidence / 2) * error
    alone = paired_t(np.where(judged, human, np.nan), confidence)
    ordinary = alone.std**2 / np.maximum(n, 1)
    gain = divided(ordinary, error**2, np.nan)
    return {
        "value": value,
        "std_error": error,
        "ci_low": value - reach,
        "ci_high": value + reach,
        "human_only": alone.mean,
        "human_low": alone.low,
        "human_high": alone.high,
        "machine_only": f_all,
        "lambda": trust,
        "gain": gain,
        "queries": n + rest,
        "judged": n,
    }


def _apart(values: Floats, mean: Floats, which: Bools) -> Floats:
    """Return how far values are from a mean, 0 where they do not count."""
    return np.where(which, values - mean[:, None], 0.0)
