"""Estimate means by a few queries that people judged and
many that a machine judged: prediction-powered inference.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from retrieval_report.comparison.significance import paired_t
from retrieval_report.contracts.arguments import Named, quoted
from retrieval_report.contracts.errors import DataError, KeyMismatchError
from retrieval_report.contracts.registry import schema
from retrieval_report.contracts.warning import warn
from retrieval_report.engines.check_scores import SCORE, check_fraction, check_scores
from retrieval_report.engines.score_grid import (
    BLOCK,
    Grid,
    Measure,
    Pairs,
    differences,
    divided,
    measured,
    paired_mean,
)
from retrieval_report.kernels.lists import Bools, Floats
from retrieval_report.metrics.parsing import is_share, measure_text
from retrieval_report.writing.numbers import EXACT_DIGITS, number

ESTIMATES = schema("estimates")
LIST = ["model", "query", *SCORE]
HUMAN = "human"  # the policy of human scores
ENDS = ("ci_low", "ci_high", "human_low", "human_high")
# What the machine and people find in four imaginary queries, of one model and of a difference
OF_MEANS = (0.0, 1.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)
OF_PAIRS = (0.0, 0.0, 1.0, -1.0), (1.0, -1.0, 0.0, 0.0)
ALARM = 0.01  # the chance that queries drawn at random are warned of
DRAWS = 9_999
LEAST_FREEDOM = 3  # of a gain: with fewer degrees of freedom, a ratio of 100 is chance


def estimate(
    machine_scores: object, human_scores: object, *, confidence: float = 0.95
) -> pl.DataFrame:
    r"""Estimate the scores if people had judged all queries, not some, from a machine's of all.

    The mean of the human scores alone has few queries, that of a machine's may be biased.
    Prediction-powered inference takes the bias from the queries that have both, and the queries
    that only the machine judged to reduce the error. Its intervals do not need the machine to be
    right, as long as the queries that people judged are a random draw from all; they are Student's
    t, which misses more often where few scores are strongly skewed.

    Parameters
    ----------
    machine_scores
        The result of :func:`evaluate` by the machine's judgements of all queries. Only expected
        scores are used, here and of people: they hold no noise of tie order.
    human_scores
        The same by human judgements of some of the queries, drawn at random. A query nobody judged
        has no score, or is left out. Where the machine's own scores of these queries are so far
        from its scores of the others that hardly any random draw is (below 1 of 100, all models and
        measures together), there is a warning.
    confidence
        Confidence level of the intervals.

    Returns
    -------
    polars.DataFrame
        For every metric and cutoff (in the order of the scores) a row for each model and one for
        each pair of models, by name:

        ``model_a``, ``model_b`` (null: the row is about the mean of ``model_a``; else about its
        mean minus that of ``model_b``), ``metric``, ``cutoff``, ``policy``; ``value`` (the
        estimate), ``std_error``, ``ci_low``, ``ci_high`` (null below three human queries; never of
        width 0); ``human_only``, ``human_low``, ``human_high`` (mean of the queries that people
        judged, with its interval), ``machine_only`` (mean of all queries by the machine);
        ``lambda`` (how far the machine is trusted, from 0 to 1), ``gain`` (as many times more human
        queries would be needed for this error without the machine, ``queries``/``judged`` at the
        most; null where two or fewer degrees of freedom are left, as of four human queries),
        ``queries`` (that the machine judged) and ``judged`` (those of them that people judged too).

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

    Where most human scores are 0 or 1, as hits are, or all are equal, few queries show too little
    of the spread: of 25 queries of which nine in ten are hits, the intervals above hold the true
    share in 89% of cases, and where all 25 are hits they have no width. Errors and both intervals
    are then computed with four imaginary queries more (Agresti and Coull, *Approximate Is Better
    than "Exact" for Interval Estimation of Binomial Proportions*, The American Statistician 52,
    1998). Of a mean, these are one for each way in which people and the machine can find 0 or 1; of
    a difference, people find 1 and −1 in one each where the machine finds 0, and the other way
    round. Intervals then hold the true value in 94 to 100% of cases
    (``benchmarks/calibration.py``). The estimate itself stays as it is.

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
    grid = _machine_and_people(check_scores(machine_scores), check_scores(human_scores))
    rows = np.arange(len(grid.models))
    frames = [pl.DataFrame(schema=ESTIMATES)]
    requested = grid.asked("expected")
    _warn_of_chosen_queries(grid, [scores.measure for scores in requested])
    for scores in requested:
        f, y = scores.value, grid.under(scores.measure, HUMAN)
        frames.append(_rows(f, y, Pairs(rows, rows), grid, scores.measure, confidence))
        for part in grid.pairs().blocks(f.shape[1]):
            paired = differences(f, part), differences(y, part)
            frames.append(_rows(*paired, part, grid, scores.measure, confidence))
    return pl.concat(frames)


def _machine_and_people(machine: pl.DataFrame, human: pl.DataFrame) -> Grid:
    """Return the machine's scores, and the human ones of the same lists as a policy of their own."""
    ids = machine.schema["query"]
    human_type = human.schema["query"]
    if ids != human_type:
        raise KeyMismatchError(
            f"column 'query' is {ids} in the machine's scores and {human_type} in the human ones"
        )
    machine = machine.filter(policy="expected")
    judged_queries = human.drop_nulls("n_relevant")
    judged_queries = judged_queries.join(machine, on=LIST, how="semi", nulls_equal=True)
    if not judged_queries["value"].count():
        raise DataError("human scores: no query has a score by people and one by the machine")
    return Grid.of(pl.concat([machine, judged_queries.with_columns(policy=pl.lit(HUMAN))]))


def _warn_of_chosen_queries(grid: Grid, measures: list[Measure]) -> None:
    """Warn if the machine scores a model so differently on the queries that people judged and on
    the others that these are hardly a random draw.

    Student's t of both groups, with one variance, finds the model and the measure; since it errs
    where scores are few or skewed, random draws confirm it.
    """
    candidates = [
        (*candidate, measure)
        for measure in measures
        if (candidate := _most_apart(grid.under(measure, "expected"), grid.under(measure, HUMAN)))
    ]
    if not candidates:
        return
    tests = sum(tested for _, _, tested, _ in candidates)
    p, row, _, measure = min(candidates, key=lambda candidate: candidate[0])
    p *= tests
    if p >= ALARM:
        return
    machine = grid.under(measure, "expected")[row]
    judged, unjudged = _two_groups(machine, grid.under(measure, HUMAN)[row])
    if _p_of_random_draw(judged, unjudged) <= max(ALARM / tests, 2 / DRAWS):
        warn(
            f"estimate: the {judged.size} queries that people judged can hardly be a random draw: "
            f"by the machine, model {quoted([grid.models[row]])} has a mean "
            f"{measure_text(*measure[:2])} of {number(judged.mean())} on them and of "
            f"{number(unjudged.mean())} on the {unjudged.size} others (t-test, p = {p:.1g}); "
            "estimates and intervals hold only for a random draw"
        )


def _two_groups(machine: Floats, human: Floats) -> tuple[Floats, Floats]:
    """Return a machine's scores of the queries that people judged, and of the others."""
    judged = ~np.isnan(human)
    return machine[judged & ~np.isnan(machine)], machine[~judged & ~np.isnan(machine)]


def _most_apart(machine: Floats, human: Floats) -> tuple[float, int, int] | None:
    """Return the smallest p of the models, whose it is, and how many of them were tested."""
    from scipy.special import stdtr

    p = np.ones(len(machine))
    tested = 0
    for row, (of_machine, of_people) in enumerate(zip(machine, human, strict=True)):
        judged, unjudged = _two_groups(of_machine, of_people)
        freedom = judged.size + unjudged.size - 2
        if min(judged.size, unjudged.size) < 2:
            continue
        tested += 1
        square = judged.size * judged.var() + unjudged.size * unjudged.var()
        error = np.sqrt(square / freedom * (1 / judged.size + 1 / unjudged.size))
        gap = abs(judged.mean() - unjudged.mean())
        far = gap / error if error > 0 else np.inf if gap > 0 else 0.0
        p[row] = 2 * stdtr(freedom, -far)
    row = int(p.argmin())
    return (float(p[row]), row, tested) if tested else None


def _p_of_random_draw(judged: Floats, unjudged: Floats) -> float:
    """Return how often the means of groups of these sizes, drawn at random, are as far apart."""
    from scipy.stats import permutation_test  # takes half a second to import, seldom needed

    size = judged.size + unjudged.size
    test_result = permutation_test(
        (judged, unjudged),
        lambda one, other, axis: one.mean(axis=axis) - other.mean(axis=axis),
        n_resamples=DRAWS,
        batch=max(1, BLOCK // size),
        rng=np.random.default_rng(0),
    )
    return float(test_result.pvalue)


def _rows(
    f: Floats, y: Floats, pairs: Pairs, grid: Grid, measure: Measure, confidence: float
) -> pl.DataFrame:
    """Return the estimates of some models or pairs by one measure."""
    single = bool((pairs.first == pairs.second).all())
    columns = powered(f, y, confidence, of_pairs=not single)
    columns |= grid.names(pairs)
    if single:
        columns["model_b"] = None
        if is_share(measure[0]):
            columns |= {name: np.clip(columns[name], 0, 1) for name in ENDS}
    return measured(columns, measure, ESTIMATES)


def powered(machine: Floats, human: Floats, confidence: float, *, of_pairs: bool = False) -> Named:
    """Return the estimate of every row, of scores (rows, queries) that are NaN where there is none;
    see `estimate`. With ``of_pairs``, rows hold differences of two models.

    >>> scores = np.array([[0.2, 0.6, 0.4, 0.8]])
    >>> found = powered(scores, np.where([True, True, True, False], scores, np.nan), 0.95)
    >>> [round(found[name].item(), 4) for name in ("value", "human_only", "machine_only", "lambda")]
    [0.44, 0.4, 0.5, 0.1]

    Four hits of four queries do not show that there are no misses.

    >>> hits = powered(np.ones((1, 40)), np.where(np.arange(40) < 4, 1.0, np.nan)[None], 0.95)
    >>> [round(hits[name].item(), 4) for name in ("value", "ci_low")]
    [1.0, 0.363]
    """
    columns = _tuned(machine, human, confidence, sparse=True)
    coarse = _are_coarse(machine, human, of_pairs)
    if coarse.any():
        more = _with_imaginary(machine[coarse], human[coarse], of_pairs)
        wide = _tuned(*more, confidence, sparse=False)
        for low, high, mean in ((*ENDS[:2], "value"), (*ENDS[2:], "human_only")):
            for end, outer in ((low, np.minimum), (high, np.maximum)):
                wide[end] = outer(wide[end], columns[mean][coarse])
        for name in (*ENDS, "std_error", "gain"):
            unknown = "std_error" if name == "gain" else name
            columns[name][coarse] = np.where(np.isnan(columns[unknown][coarse]), np.nan, wide[name])
    return columns


def _are_coarse(machine: Floats, human: Floats, of_pairs: bool) -> Bools:
    """Return in which rows most human scores are 0 or 1 (or differ by 0 or 1, and some by 1), or
    all are the same. The ndcg of perfect lists may be above 1 in the last digit.

    >>> nothing = np.full((4, 3), np.nan)
    >>> human = np.array([[1 + 2.0**-52, 1, 0.5], [0.2, 0.3, 1], [1, 1, 7], [7, 7, 7]])
    >>> _are_coarse(nothing, human, False)
    array([ True, False, False,  True])
    """
    machine, human = machine.round(EXACT_DIGITS), human.round(EXACT_DIGITS)
    size = np.abs(human) if of_pairs else human
    most = 2 * ((size == 0) | (size == 1)).sum(axis=1) > (~np.isnan(human)).sum(axis=1)
    least, largest = (
        of.reduce(human, axis=1, initial=end) for of, end in ((np.fmin, np.inf), (np.fmax, -np.inf))
    )
    if of_pairs:
        inside = np.fmax(np.fmax(np.abs(machine), size), 0.0).max(axis=1, initial=0.0) == 1
    else:
        inside = (least >= 0) & (largest <= 1)
    coarse: Bools = (most & inside) | (least == largest)
    return coarse


def _with_imaginary(machine: Floats, human: Floats, of_pairs: bool) -> tuple[Floats, Floats]:
    """Return scores with those of four imaginary queries more. Their steps are 1, or larger if a
    score is; of a machine that gives every query the same they get the same.

    >>> [part[0, 2:].tolist() for part in _with_imaginary(np.eye(2), np.zeros((2, 2)), True)]
    [[0.0, 0.0, 1.0, -1.0], [1.0, -1.0, 0.0, 0.0]]
    """
    of_machine, of_people = OF_PAIRS if of_pairs else OF_MEANS
    largest_magnitude = np.fmax(np.abs(machine), np.abs(human))
    step = np.fmax.reduce(largest_magnitude, axis=1, initial=1.0)[:, None]
    least, most = (of.reduce(machine, axis=1)[:, None] for of in (np.fmin, np.fmax))
    guesses = np.where(least == most, least, step * np.array(of_machine))
    return np.hstack([machine, guesses]), np.hstack([human, step * np.array(of_people)])


def _tuned(machine: Floats, human: Floats, confidence: float, *, sparse: bool) -> Named:
    """Return the estimate of every row as the formulas have it; ``sparse`` takes degrees of freedom
    off where scores are 0.
    """
    from scipy.special import stdtrit

    has_machine = ~np.isnan(machine)
    judged = has_machine & ~np.isnan(human)
    machine_only = has_machine & ~judged
    n, rest = judged.sum(axis=1), machine_only.sum(axis=1)
    f_n, f_rest, f_all = (
        paired_mean(machine, which) for which in (judged, machine_only, has_machine)
    )
    y_n = paired_mean(human, judged)
    f = _apart(machine, f_n, judged)
    y = _apart(human, y_n, judged)
    spread = (_apart(machine, f_all, has_machine) ** 2).sum(axis=1) / np.maximum(n + rest - 1, 1)
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
    scored = freedom
    if sparse:  # queries without a score or a difference tell little of the spread of others
        nonzero = np.count_nonzero(np.where(judged, human, 0.0), axis=1)
        scored = np.where(tuned, nonzero - 1, freedom)
    degrees = np.maximum(np.minimum(freedom, scored), 1)
    reach = stdtrit(degrees, 0.5 + confidence / 2) * error
    human_only = paired_t(np.where(judged, human, np.nan), confidence)
    gain = divided(human_only.std**2 / np.maximum(n, 1), error**2, np.nan)
    gain = np.minimum(gain, (n + rest) / np.maximum(n, 1))  # people cannot judge more queries
    gain[freedom < LEAST_FREEDOM] = np.nan
    return {
        "value": value,
        "std_error": error,
        "ci_low": value - reach,
        "ci_high": value + reach,
        "human_only": human_only.mean,
        "human_low": human_only.low,
        "human_high": human_only.high,
        "machine_only": f_all,
        "lambda": trust,
        "gain": gain,
        "queries": n + rest,
        "judged": n,
    }


def _apart(values: Floats, mean: Floats, which: Bools) -> Floats:
    """Return how far values are from a mean, 0 where they do not count."""
    return np.where(which, values - mean[:, None], 0.0)
