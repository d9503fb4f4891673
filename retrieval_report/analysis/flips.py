"""Whose place in the ranking of models hangs on the tie order, and how far policies agree on that ranking."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.analysis.comparison import COMPARISON
from retrieval_report.analysis.inputs import DIGITS, Floats, check_fraction, hold
from retrieval_report.analysis.tie_chance import ROUNDING, normal_chance
from retrieval_report.errors import DataError, KeyMismatchError, ParameterError
from retrieval_report.reading.frames import to_polars
from retrieval_report.schema import SUMMARY

__all__ = ["SHOWN", "flips", "rank_agreement"]

SHOWN = ("expected", "shuffled", "naive")  # the first of them that a summary has is the reference
HERE = ["metric", "cutoff"]
PAIR = ["model_a", "model_b", *HERE]


def flips(summary: object, *, comparison: object = None, tie_risk: float = 0.05, alpha: float = 0.05) -> pl.DataFrame:
    """Tell for every pair of models whether its order stands, hangs on the tie order, or needs more queries.

    Parameters
    ----------
    summary
        What :func:`summarise` returns: with policy expected; or else two of shuffled and naive, or best and worst.
    comparison
        What :func:`compare` returns for the same scores (micro means): its ``p_tie`` and ``holm_p`` are used. Without
        it ``p_tie`` is normal, from the summary's ``tie_std``, and nothing is said of the choice of queries.
    tie_risk
        The largest ``p_tie`` that still counts as safe.
    alpha
        The smallest ``holm_p`` that counts as undecided.

    Returns
    -------
    polars.DataFrame
        A row for each metric and cutoff (in the order of the summary) and pair, ``model_a`` before ``model_b`` by
        name: ``expected_a``, ``expected_b``, ``shuffled_a`` …, ``naive_a`` …, ``lowest_a`` …, ``highest_a`` …, null
        where the policy was not evaluated; ``disagree`` (policies that order the pair otherwise than the reference,
        the first of expected, shuffled and naive that there is: such as "shuffled, naive"; "" if none); ``overlap``
        (some tie orders show the one ahead, some the other); ``tie_std`` (of the difference of the expected means),
        ``p_tie``, ``p_tie_method``, ``holm_p`` (of the reference policy; with a comparison these are of the queries
        that both models have, the means of all that each has) and ``verdict``:

        - "depends on tie order": policies disagree, or ``p_tie`` is above ``tie_risk``, or the expected means are
          equal while tie order moves them; without policy expected: policies disagree or the ranges overlap.
        - "undecided by sampling": none of that, but ``holm_p`` is ``alpha`` or more.
        - "safe": none of both. A safe pair may overlap: one tie order made for the one model and against the other
          reverses it, but not the order received, and a random one only with probability ``p_tie``.
        - "safe from tie order": the same, but no test of the queries is there (``holm_p`` is null).

    Raises
    ------
    RetrievalReportError
        A summary that cannot answer, or a comparison of other scores.

    Examples
    --------
    The coarse model ties all items of its query; received by falling relevance they look like a perfect list.

    >>> import polars as pl
    >>> from retrieval_report import evaluate, summarise
    >>> rankings = pl.DataFrame({
    ...     "model": ["coarse"] * 4 + ["fine"] * 4, "query": ["q"] * 8, "item": list("abcd") * 2,
    ...     "distance": [1, 1, 1, 1, 2, 1, 3, 4], "relevance": [1, 0, 0, 0] * 2})
    >>> summary = summarise(evaluate(rankings, metrics="rr", cutoffs=2, policies=("naive", "expected")))
    >>> columns = ["naive_a", "naive_b", "expected_a", "expected_b", "disagree", "verdict"]
    >>> flips(summary).select(columns).row(0)
    (1.0, 0.5, 0.375, 0.5, 'naive', 'depends on tie order')
    """
    check_fraction("tie_risk", tie_risk)
    check_fraction("alpha", alpha)
    frame = _check_summary(summary)
    reference = _reference(frame)
    pairs = _pairs(frame).with_columns(holm_p=pl.lit(None, dtype=pl.Float64))
    ahead = pairs.select(pl.col("expected_a") - pl.col("expected_b")).to_series().to_numpy()
    level = pairs.select(_order("expected_a", "expected_b") == 0).to_series().fill_null(False).to_numpy()
    chance = normal_chance(np.where(level, 0.0, ahead), pairs["tie_std"].to_numpy())
    pairs = pairs.with_columns(p_tie=pl.Series(chance).fill_nan(None)).with_columns(
        p_tie_method=pl.when(pl.col("p_tie").is_not_null()).then(pl.lit("normal"))
    )
    if comparison is not None:
        pairs = _join_comparison(pairs, comparison, reference)
    names = [f"{name}_{side}" for name in (*SHOWN, "lowest", "highest") for side in "ab"]
    return (
        pairs.with_columns(_disagree(reference).alias("disagree"), _overlap().alias("overlap"))
        .with_columns(_verdict(reference, tie_risk, alpha).alias("verdict"))
        .select(*PAIR, *names, "disagree", "overlap", "tie_std", "p_tie", "p_tie_method", "holm_p", "verdict")
    )


def _check_summary(summary: object) -> pl.DataFrame:
    frame = hold(to_polars(summary, "summary"), SUMMARY, "summary", "summarise")
    keys = ["model", *HERE, "policy"]
    if frame.select(keys).n_unique() < frame.height:
        model, metric, cutoff, policy = frame.filter(pl.struct(keys).is_duplicated()).select(keys).row(0)
        raise DataError(
            f"summary: {metric}@{'all' if cutoff is None else cutoff} of model {model!r} and policy {policy!r} is "
            "there twice; pass one summary"
        )
    return frame


def _reference(frame: pl.DataFrame) -> str:
    """The policy whose order the others are held to."""
    policies = set(frame["policy"])
    shown = [policy for policy in SHOWN if policy in policies]
    if "expected" not in shown and len(shown) < 2 and not {"best", "worst"} <= policies and frame.height:
        raise ParameterError(
            f"summary: policies {', '.join(map(repr, sorted(policies)))} cannot tell what depends on tie order; "
            "evaluate 'expected', or both 'shuffled' and 'naive', or 'best' and 'worst'"
        )
    return shown[0] if shown else "expected"


def _pairs(frame: pl.DataFrame) -> pl.DataFrame:
    """Every pair of models of a metric and cutoff, policies side by side."""
    value = pl.col("value")
    wide = frame.group_by(*HERE, "model", maintain_order=True).agg(
        *(value.filter(policy=policy).first().alias(policy) for policy in SHOWN),
        value.filter(policy="worst").first().alias("lowest"),
        value.filter(policy="best").first().alias("highest"),
        pl.col("tie_std").filter(policy="expected").first(),
    )
    wide = wide.join(
        wide.select(HERE).unique(maintain_order=True).with_row_index("place"), on=HERE, how="left", nulls_equal=True
    )
    sides = [
        wide.rename({name: f"{name}_{side}" for name in wide.columns if name not in (*HERE, "place")}) for side in "ab"
    ]
    return (
        sides[0]
        .join(sides[1].drop(HERE), on="place")
        .filter(pl.col("model_a") < pl.col("model_b"))
        .sort("place", "model_a", "model_b")
        .with_columns(tie_std=(pl.col("tie_std_a") ** 2 + pl.col("tie_std_b") ** 2).sqrt())
    )


def _order(one: str, other: str) -> pl.Expr:
    """Which of two columns is larger, as 1, 0 or −1; what differs by rounding alone is equal."""
    difference = pl.col(one) - pl.col(other)
    margin = ROUNDING * pl.max_horizontal(pl.col(one).abs(), pl.col(other).abs())
    return pl.when(difference.abs() <= margin).then(0.0).otherwise(difference.sign())


def _disagree(reference: str) -> pl.Expr:
    """Names of the policies whose order differs from the reference's."""
    order = _order(f"{reference}_a", f"{reference}_b")
    names = [pl.when(_order(f"{p}_a", f"{p}_b") != order).then(pl.lit(p)) for p in SHOWN if p != reference]
    return pl.concat_str(names, separator=", ", ignore_nulls=True)


def _overlap() -> pl.Expr:
    return (_order("highest_a", "lowest_b") > 0) & (_order("highest_b", "lowest_a") > 0)


def _join_comparison(pairs: pl.DataFrame, comparison: object, reference: str) -> pl.DataFrame:
    """Put the comparison's ``holm_p`` and ``p_tie`` in place, whichever model it names first."""
    found = hold(to_polars(comparison, "comparison"), COMPARISON, "comparison", "compare").filter(policy=reference)
    if pairs.height and not found.height:
        raise KeyMismatchError(f"comparison: no rows of policy {reference!r}, to which the summary's order is held")
    if pairs.height and not pairs.join(found, on=HERE, how="semi", nulls_equal=True).height:
        metric, cutoff = found.select(HERE).row(0)
        raise KeyMismatchError(
            f"comparison: of {metric}@{'all' if cutoff is None else cutoff}, which the summary has not; both must come "
            "from the same scores"
        )
    turned = pl.col("model_a") > pl.col("model_b")
    found = found.select(
        pl.min_horizontal("model_a", "model_b").alias("model_a"),
        pl.max_horizontal("model_a", "model_b").alias("model_b"),
        *HERE,
        pl.when(turned).then(-pl.col("difference")).otherwise("difference").alias("difference"),
        "unpaired",
        "holm_p",
        pl.col("p_tie", "p_tie_method").name.suffix("_found"),
    )
    pairs = pairs.drop("holm_p").join(found, on=PAIR, how="left", nulls_equal=True, maintain_order="left")
    shown = pl.col(f"{reference}_a") - pl.col(f"{reference}_b")
    unit = pl.max_horizontal(pl.col(f"{reference}_a").abs(), pl.col(f"{reference}_b").abs())
    wrong = pairs.filter((pl.col("unpaired") == 0) & ((shown - pl.col("difference")).abs() > 1e-9 * unit))
    if wrong.height:
        raise KeyMismatchError(
            f"comparison: {wrong.height} differences are not those of the summary, first {wrong['metric'][0]!r} of "
            f"{wrong['model_a'][0]!r} and {wrong['model_b'][0]!r}; both must come from the same scores, and the "
            "summary must be micro"
        )
    return pairs.with_columns(pl.coalesce(f"{name}_found", name).alias(name) for name in ("p_tie", "p_tie_method"))


def _verdict(reference: str, tie_risk: float, alpha: float) -> pl.Expr:
    equal = (_order("expected_a", "expected_b") == 0) & (pl.col("tie_std") > 0)
    tied = (pl.col("disagree") != "") | (pl.col("p_tie") > tie_risk).fill_null(False) | equal.fill_null(False)
    tied = tied | (pl.col("expected_a").is_null() & pl.col("overlap").fill_null(False))
    undecided = (pl.col("holm_p") >= alpha).fill_null(False)
    return (
        pl.when(tied)
        .then(pl.lit("depends on tie order"))
        .when(undecided)
        .then(pl.lit("undecided by sampling"))
        .when(pl.col("holm_p").is_null())
        .then(pl.lit("safe from tie order"))
        .otherwise(pl.lit("safe"))
    )


def rank_agreement(summary: object) -> pl.DataFrame:
    """Measure how far each two policies agree on the ranking of the models.

    Parameters
    ----------
    summary
        What :func:`summarise` returns.

    Returns
    -------
    polars.DataFrame
        A row for each metric, cutoff and two policies, in the order of the summary: ``metric``, ``cutoff``,
        ``policy_a``, ``policy_b``, ``tau`` (Kendall's τ-b: 1 the same ranking, −1 the reverse; null where a policy
        ranks no two models apart), ``same_winner`` (whether the same models share the first place) and ``models``
        (ranked by both). Means equal to 12 digits share a rank.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate, summarise
    >>> rankings = pl.DataFrame({
    ...     "model": ["coarse"] * 4 + ["fine"] * 4, "query": ["q"] * 8, "item": list("abcd") * 2,
    ...     "distance": [1, 1, 1, 1, 2, 1, 3, 4], "relevance": [1, 0, 0, 0] * 2})
    >>> summary = summarise(evaluate(rankings, metrics="rr", cutoffs=2, policies=("naive", "expected")))
    >>> rank_agreement(summary).row(0)
    ('rr', 2, 'naive', 'expected', -1.0, False, 2)
    """
    frame = _check_summary(summary)
    rows = []
    for (metric, cutoff), here in frame.group_by(HERE, maintain_order=True):
        policies = {
            str(policy): dict(part.drop_nulls("value").select("model", "value").iter_rows())
            for (policy,), part in here.group_by("policy", maintain_order=True)
        }
        for one, other in combinations(policies, 2):
            shared = sorted(policies[one].keys() & policies[other].keys())
            ranks = [_ranks(np.array([policies[name][model] for model in shared])) for name in (one, other)]
            rows.append((metric, cutoff, one, other, *_agreement(*ranks), len(shared)))
    schema = {
        "metric": pl.String,
        "cutoff": pl.Int64,
        "policy_a": pl.String,
        "policy_b": pl.String,
        "tau": pl.Float64,
        "same_winner": pl.Boolean,
        "models": pl.Int64,
    }
    return pl.DataFrame(rows, schema=schema, orient="row")


def _ranks(values: Floats) -> NDArray[np.intp]:
    """Ranks from 0 for the least value; values equal up to rounding share one."""
    order = np.argsort(values, kind="stable")
    ranked = values[order]
    steps = np.diff(ranked) > ROUNDING * np.maximum(np.abs(ranked[1:]), np.abs(ranked[:-1]))
    ranks = np.empty(values.size, np.intp)
    ranks[order] = np.concatenate([np.zeros(min(values.size, 1), np.intp), np.cumsum(steps)])
    return ranks


def _agreement(one: NDArray[np.intp], other: NDArray[np.intp]) -> tuple[float | None, bool | None]:
    """Kendall's τ-b, and whether the first places are the same."""
    from scipy import stats  # imported here: half a second that only an analysis needs

    if not one.size:
        return None, None
    winner = bool(((one == one.max()) == (other == other.max())).all())
    if one.max() == 0 or other.max() == 0:
        return None, winner
    # Rounded, so that the same ranking gives 1 and not 1 − 1e-16.
    return round(float(stats.kendalltau(one, other).statistic), DIGITS), winner
