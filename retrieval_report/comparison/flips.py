"""Give verdicts on pairs of models, whose order may depend on tie order, and find how far policies
agree.
"""

from __future__ import annotations

import polars as pl

from retrieval_report.comparison import verdicts
from retrieval_report.comparison.pairs import COMPARISON, turned
from retrieval_report.comparison.tie_bounds import normal_chances
from retrieval_report.comparison.verdicts import ALPHA, SHOWN, TIE_RISK, order_of
from retrieval_report.contracts.errors import DataError, KeyMismatchError, ParameterError
from retrieval_report.contracts.frames import SUMMARY
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.check_scores import check_fraction, hold, side_by_side
from retrieval_report.metrics.parsing import measure_text
from retrieval_report.reading.frames import to_polars

JUDGED_PAIRS = schema("judged_pairs")
HERE = ["metric", "cutoff"]
PAIR = ["model_a", "model_b", *HERE]
# What a comparison says of a pair, and a summary alone says otherwise or not at all.
OF_COMPARISON = schema(
    "flips", "unpaired", "family_p", "family", "family_method", "pooled", "p_equal"
)
DOUBTS = {
    "cut": (pl.col("p_tie_method") == "truncated").fill_null(False),
    "moved": (pl.col("tied_queries") > 0).fill_null(False),
}
JUDGED = [*OF_COMPARISON, *DOUBTS, "value_a", "value_b", "tie_std"]
JUDGED += ["p_tie", "p_tie_low", "p_tie_high", "p_tie_method"]


def flips(
    summary: object, *, comparison: object = None, tie_risk: float = TIE_RISK, alpha: float = ALPHA
) -> pl.DataFrame:
    """Decide for every pair of models whether its order is safe, depends on tie order, or needs
    more queries.

    Parameters
    ----------
    summary
        The result of :func:`summarise`: with policy expected; or else two of shuffled and naive, or
        best and worst.
    comparison
        The result of :func:`compare` for the same scores (micro means). With it, the verdict is
        about the queries for which both models have a score. Without it, the probability of a
        reversal is bounded by the summary's ``tie_std`` alone, and the sample of queries is not
        considered.
    tie_risk
        The largest probability of a reversal by tie order that still counts as safe, compared with
        ``p_tie_high``.
    alpha
        The smallest ``family_p`` that counts as not significant.

    Returns
    -------
    polars.DataFrame
        One row per metric and cutoff (in the order of the summary) and pair, ``model_a`` before
        ``model_b`` by
        name: ``expected_a``, ``expected_b``, ``shuffled_a`` …, ``naive_a`` …, ``lowest_a`` …,
        ``highest_a`` …, the summary's means, null if the policy was not evaluated; ``value_a``,
        ``value_b`` (the means to which the verdict
        refers: of the reference policy, the first available of expected, shuffled and naive, over
        the paired queries if there is a comparison), ``unpaired`` (queries for which one of the two
        has no score; null without comparison); ``disagree`` (policies that favour the other model,
        such as "shuffled, naive"; "" if none; equal means favour none); ``overlap`` (some tie
        orders put one ahead, some the other); ``tie_std`` (of the difference), ``p_tie``,
        ``p_tie_low``, ``p_tie_high``, ``p_equal``, ``p_tie_method``, ``pooled`` (as :func:`compare`
        has them), ``family_p``, ``family``, ``family_method`` (of the reference policy) and
        ``verdict``:

        - "nothing to compare": one of the two means is missing.
        - "lists are cut": items that the lists do not show could reverse the order.
        - "depends on tie order": the probability of a reversal is, or may be, above ``tie_risk``,
          or the expected means are equal but depend on tie order; without policy expected: policies
          disagree or the ranges overlap.
        - "equal": the means are equal, whatever the tie order.
        - "not significant": none of that, but ``family_p`` is ``alpha`` or more.
        - "safe": none of these. A safe pair may overlap: a tie order chosen in favour of one model
          reverses it, and so may the one received (``disagree``); a random one does so with a
          probability of at most ``p_tie_high``.
        - "safe from tie order": the same, but without a test of the queries (``family_p`` is null).

    Raises
    ------
    RetrievalReportError
        The summary lacks policies, or the comparison is of other scores.

    Examples
    --------
    The coarse model ties all items of its query; received in order of relevance, they look like a
    perfect list.

    >>> import polars as pl
    >>> from retrieval_report import evaluate, summarise
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "model": ["coarse"] * 4 + ["fine"] * 4,
    ...         "query": ["q"] * 8,
    ...         "item": list("abcd") * 2,
    ...         "distance": [1, 1, 1, 1, 2, 1, 3, 4],
    ...         "relevance": [1, 0, 0, 0] * 2,
    ...     }
    ... )
    >>> asked = {"metrics": "rr@2", "policies": ("naive", "expected"), "truncated": "no"}
    >>> summary = summarise(evaluate(rankings, **asked))
    >>> columns = ["naive_a", "naive_b", "expected_a", "expected_b", "disagree", "verdict"]
    >>> flips(summary).select(columns).row(0)
    (1.0, 0.5, 0.375, 0.5, 'naive', 'depends on tie order')
    """
    check_fraction("tie_risk", tie_risk)
    check_fraction("alpha", alpha)
    frame = _check_summary(summary)
    reference = _reference(frame)
    pairs = _by_moments(_pairs(frame), reference)
    if comparison is not None:
        pairs = _join_comparison(pairs, comparison, reference)
    others = [name for name in SHOWN if name != reference]
    orders = {name: order_of(f"{name}_a_paired", f"{name}_b_paired") for name in others}
    order = order_of("value_a", "value_b")
    if reference not in frame["policy"]:  # best and worst alone
        order = pl.when("overlap").then(pl.lit(0.0)).otherwise(order_of("lowest_a", "lowest_b"))
    return verdicts.with_verdicts(pairs, order, orders, tie_risk=tie_risk, alpha=alpha).select(
        list(schema("flips"))
    )


def pair_verdicts(
    comparison: object, *, tie_risk: float = TIE_RISK, alpha: float = ALPHA
) -> pl.DataFrame:
    """Return for every pair whether its order can be trusted, by the rule and in the words of
    :func:`flips`.

    Charts of pairs accept this result; given a comparison, they compute it with the default
    thresholds. It uses only the paired means of the policies that were compared, whereas
    :func:`flips` also uses those of a summary.

    Parameters
    ----------
    comparison
        The result of :func:`compare`.
    tie_risk
        The largest probability of a reversal by tie order that still counts as safe, compared with
        ``p_tie_high``.
    alpha
        The smallest ``family_p`` that counts as not significant.

    Returns
    -------
    polars.DataFrame
        The columns of :func:`compare`, then ``disagree`` (other policies that favour the other
        model), ``significant`` (whether ``family_p`` is below alpha; null if it was not tested) and
        ``verdict``.

    Examples
    --------
    >>> import retrieval_report as rr
    >>> rankings = {
    ...     "model": ["a"] * 2 + ["b"] * 2,
    ...     "query": ["q"] * 4,
    ...     "item": list("xyxy"),
    ...     "distance": [1, 1, 1, 2],
    ...     "relevance": [1, 0] * 2,
    ... }
    >>> comparison = rr.compare(rr.evaluate(rankings, metrics="rr", cutoffs=2, truncated="no"))
    >>> pair_verdicts(comparison).select("policy", "difference", "disagree", "verdict").row(0)
    ('expected', -0.25, '', 'depends on tie order')
    """
    check_fraction("tie_risk", tie_risk)
    check_fraction("alpha", alpha)
    pairs = hold(comparison, schema("comparison"), "comparison", "compare")
    order = order_of("value_a", "value_b")
    pairs = pairs.with_columns(
        **DOUBTS, significant=verdicts.significant(pl.col("family_p"), alpha)
    )
    orders = {  # that of naive scores, say, which may name the other model
        name: pl.when(pl.col("policy") != name).then(order.filter(policy=name).first().over(PAIR))
        for name in SHOWN
    }
    return verdicts.with_verdicts(pairs, order, orders, tie_risk=tie_risk, alpha=alpha).select(
        list(JUDGED_PAIRS)
    )


def _check_summary(summary: object) -> pl.DataFrame:
    frame = to_polars(summary, "summary")
    if "truncated_share" not in frame.columns:
        frame = frame.with_columns(truncated_share=pl.lit(0.0))
    frame = hold(frame, SUMMARY, "summary", "summarise")
    keys = ["model", *HERE, "policy"]
    if frame.select(keys).n_unique() < frame.height:
        model, metric, cutoff, policy = (
            frame.filter(pl.struct(keys).is_duplicated()).select(keys).row(0)
        )
        raise DataError(
            f"summary: {measure_text(metric, cutoff)} of model {model!r} and policy {policy!r} is "
            "repeated; pass one summary"
        )
    return frame


def _reference(frame: pl.DataFrame) -> str:
    """Return the policy with whose order the others are compared."""
    policies = set(frame["policy"])
    shown = [policy for policy in SHOWN if policy in policies]
    shows: tuple[set[str], ...] = ({"expected"}, {"shuffled", "naive"}, {"best", "worst"})
    if frame.height and not any(needed <= policies for needed in shows):
        raise ParameterError(
            f"summary: policies {', '.join(map(repr, sorted(policies)))} do not show what depends "
            "on tie order; "
            "evaluate 'expected', or both 'shuffled' and 'naive', or 'best' and 'worst'"
        )
    return shown[0] if shown else "expected"


def _pairs(frame: pl.DataFrame) -> pl.DataFrame:
    """Return every pair of models of a metric and cutoff, with policies side by side."""
    names = {name: name for name in SHOWN} | {"lowest": "worst", "highest": "best"}
    spread = pl.col("tie_std").filter(policy="expected").first()
    cut = (pl.col("truncated_share").fill_null(0.0) > 0).any().alias("truncated")
    wide = side_by_side(frame, [*HERE, "model"], names, spread, cut)
    wide = wide.with_row_index("measure").with_columns(pl.min("measure").over(HERE))
    one, other = (
        wide.select(*HERE, "measure", pl.exclude(*HERE, "measure").name.suffix(f"_{side}"))
        for side in "ab"
    )
    pairs = one.join(other.drop(HERE), on="measure").filter(pl.col("model_a") < pl.col("model_b"))
    return pairs.sort("measure", "model_a", "model_b").with_columns(
        tie_std=(pl.col("tie_std_a") ** 2 + pl.col("tie_std_b") ** 2).sqrt(),
        overlap=(order_of("highest_a", "lowest_b") > 0) & (order_of("highest_b", "lowest_a") > 0),
    )


def _by_moments(pairs: pl.DataFrame, reference: str) -> pl.DataFrame:
    """Bound the probability of a reversal by Cantelli's inequality, from the summary alone."""
    lead = (pl.col("expected_a") - pl.col("expected_b")).abs()
    level = order_of("expected_a", "expected_b") == 0
    variance = pl.col("tie_std") ** 2
    known = pl.col("expected_a").is_not_null() & pl.col("expected_b").is_not_null()
    apart = ~pl.col("overlap").fill_null(True) | (variance == 0).fill_null(False)
    cut = (pl.col("truncated_a") | pl.col("truncated_b")) & pl.col("overlap").fill_null(True)
    asked = known & ~level & ~cut
    high = pl.when(apart).then(0.0).otherwise((variance / (variance + lead**2)).fill_null(1.0))
    still = pl.all_horizontal(
        order_of(f"lowest_{side}", f"highest_{side}") == 0 for side in "ab"
    ).fill_null(False)
    methods = {"truncated": cut & known & ~level, "exact": asked & apart, "normal": asked}
    pairs = pairs.with_columns(
        value_a=pl.col(f"{reference}_a"),
        value_b=pl.col(f"{reference}_b"),
        p_tie_low=pl.when(asked).then(0.0),
        p_tie_high=pl.when(asked).then(high),
        cut=cut,
        moved=~still & ((variance > 0).fill_null(True)) & (reference == "expected"),
        p_tie_method=verdicts.first_that_holds(methods, None),
        **{name: pl.lit(None, dtype) for name, dtype in OF_COMPARISON.items()},
        **{f"{name}_{side}_paired": pl.col(f"{name}_{side}") for name in SHOWN for side in "ab"},
    )
    likely = normal_chances(pairs.select(lead).to_series().to_numpy(), pairs["tie_std"].to_numpy())
    return pairs.with_columns(pl.Series("p_tie", likely).fill_nan(None)).with_columns(
        p_tie=pl.when(pl.col("p_tie_high") == 0)
        .then(0.0)
        .when(pl.col("p_tie_high").is_not_null())
        .then("p_tie")
    )


def _join_comparison(pairs: pl.DataFrame, comparison: object, reference: str) -> pl.DataFrame:
    """Add the comparison's results for the paired queries, whichever model it names first."""
    every = hold(comparison, COMPARISON, "comparison", "compare")
    every = turned(every, pl.col("model_a") > pl.col("model_b"))
    rows = every.filter(policy=reference)
    if pairs.height and not rows.height:
        raise KeyMismatchError(
            f"comparison: no rows of policy {reference!r}, with which the summary's order is "
            "compared"
        )
    if pairs.height and not pairs.join(rows, on=HERE, how="semi", nulls_equal=True).height:
        metric, cutoff = rows.select(HERE).row(0)
        raise KeyMismatchError(
            f"comparison: has {measure_text(metric, cutoff)}, which is not in the summary; both "
            "must come "
            "from the same scores"
        )
    # A pair in the comparison is judged by it alone, including nulls.
    rows = rows.with_columns(**DOUBTS).select(*PAIR, *JUDGED, "difference", given=True)
    pairs = pairs.join(
        rows, on=PAIR, how="left", nulls_equal=True, maintain_order="left", suffix="_compared"
    )
    _check_same_means(pairs, reference)
    pairs = pairs.with_columns(
        pl.when("given").then(f"{name}_compared").otherwise(name).alias(name) for name in JUDGED
    )
    return _paired_means(pairs, every)


def _check_same_means(pairs: pl.DataFrame, reference: str) -> None:
    shown = pl.col(f"{reference}_a") - pl.col(f"{reference}_b")
    unit = pl.max_horizontal(pl.col(f"{reference}_a").abs(), pl.col(f"{reference}_b").abs())
    wrong = pairs.filter(
        (pl.col("unpaired_compared") == 0) & ((shown - pl.col("difference")).abs() > 1e-9 * unit)
    )
    if wrong.height:
        raise KeyMismatchError(
            f"comparison: {wrong.height} differences are not those of the summary, first "
            f"{wrong['metric'][0]!r} of "
            f"{wrong['model_a'][0]!r} and {wrong['model_b'][0]!r}; both must come from the same "
            "scores, and the "
            "summary must be micro"
        )


def _paired_means(pairs: pl.DataFrame, comparison: pl.DataFrame) -> pl.DataFrame:
    """Return the means of every policy over the paired queries, or over all queries if none is
    unpaired.
    """
    sides = [(name, side) for name in SHOWN for side in "ab"]
    means = (
        pl.col(f"value_{side}").filter(policy=name).first().alias(f"{name}_{side}_own")
        for name, side in sides
    )
    pairs = pairs.join(
        comparison.group_by(PAIR).agg(means),
        on=PAIR,
        how="left",
        nulls_equal=True,
        maintain_order="left",
    )
    all_queries = pl.col("unpaired").fill_null(0) == 0
    return pairs.with_columns(
        pl.coalesce(f"{name}_{side}_own", pl.when(all_queries).then(f"{name}_{side}")).alias(
            f"{name}_{side}_paired"
        )
        for name, side in sides
    )
