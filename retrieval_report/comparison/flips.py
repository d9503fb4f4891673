"""Give verdicts on pairs of models, whose order may
depend on tie order, and find how far policies agree.
"""

from __future__ import annotations

import polars as pl

from retrieval_report.comparison.pairs import COMPARISON, pairs_of_means, turned
from retrieval_report.comparison.verdicts import (
    ALPHA,
    PAIR,
    REFERENCE_POLICIES,
    TIE_RISK,
    order_of,
    with_verdicts,
)
from retrieval_report.contracts.checks import refuse
from retrieval_report.contracts.errors import KeyMismatchError, ParameterError
from retrieval_report.contracts.frames import SUMMARY
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.check_scores import (
    BOUNDS,
    GROUP,
    MEASURE,
    check_result_frame,
    join_left,
    side_by_side,
)

JUDGED_PAIRS = schema("judged_pairs")


def flips(
    summary: object, *, comparison: object = None, tie_risk: float = TIE_RISK, alpha: float = ALPHA
) -> pl.DataFrame:
    """Decide for every pair of models whether its order is safe, or depends on ties or queries.

    Parameters
    ----------
    summary
        The result of :func:`summarise`: with policy expected, or else both shuffled and naive.
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
        ``model_b`` by name: ``expected_a``, ``expected_b``, ``shuffled_a`` …, ``naive_a`` …,
        ``lowest_a`` …, ``highest_a`` …, the summary's means, null if the policy was not evaluated;
        ``value_a``, ``value_b`` (the means to which the verdict refers: of the reference policy,
        the first available of expected, shuffled and naive, over the paired queries if there is a
        comparison), ``unpaired`` (queries for which one of the two has no score; null without
        comparison); ``disagree`` (policies that favour the other model, such as "shuffled, naive";
        "" if none; equal means favour none); ``overlap`` (some tie orders put one ahead, some the
        other); ``tie_std`` (of the difference), ``p_tie``, ``p_tie_low``, ``p_tie_high``,
        ``p_equal``, ``p_tie_method``, ``pooled`` (as :func:`compare` has them), ``family_p``,
        ``family``, ``family_method`` (of the reference policy) and ``verdict``:

        - "nothing to compare": one of the two means is missing.
        - "lists are cut": if every cut list had the worst score that missing items and its own ties
          allow, the order would be reversed, or the probability of a reversal above ``tie_risk``.
        - "depends on tie order": the probability of a reversal is, or may be, above ``tie_risk``,
          or the expected means are equal but depend on tie order; without policy expected: policies
          disagree.
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
    frame = check_result_frame(summary, SUMMARY, "summary", "summarise")
    what = "means of the same model, metric, cutoff and policy"
    refuse(frame, pl.struct(GROUP).is_duplicated(), "value", what, what="summary")
    reference = _reference(frame)
    pairs = pairs_of_means(frame)
    reference_pairs = pairs.filter(policy=reference).select(*PAIR, "value_a", "value_b")
    if comparison is not None:
        pairs = _completed(pairs, comparison, reference, reference_pairs)
    judged = with_verdicts(pairs, tie_risk=tie_risk, alpha=alpha).filter(policy=reference)
    flips_of_pairs = join_left(reference_pairs.select(PAIR), judged, PAIR)
    wide = side_by_side(frame, [*MEASURE, "model"], (*REFERENCE_POLICIES, *BOUNDS))
    for side in "ab":
        of_model = wide.select(*MEASURE, pl.exclude(MEASURE).name.suffix(f"_{side}"))
        flips_of_pairs = join_left(flips_of_pairs, of_model, [*MEASURE, f"model_{side}"])
    overlap = (order_of("highest_a", "lowest_b") > 0) & (order_of("highest_b", "lowest_a") > 0)
    return flips_of_pairs.with_columns(overlap=overlap).select(list(schema("flips")))


def pair_verdicts(
    comparison: object, *, tie_risk: float = TIE_RISK, alpha: float = ALPHA
) -> pl.DataFrame:
    """Return whether the order of every pair can be trusted, in the words of :func:`flips`.

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
    pairs = check_result_frame(comparison, COMPARISON, "comparison", "compare")
    return with_verdicts(pairs, tie_risk=tie_risk, alpha=alpha).select(list(JUDGED_PAIRS))


def _reference(frame: pl.DataFrame) -> str:
    """Return the policy with whose order the others are compared."""
    policies = set(frame["policy"])
    if frame.height and "expected" not in policies and not {"shuffled", "naive"} <= policies:
        raise ParameterError(
            f"summary: policies {', '.join(map(repr, sorted(policies)))} do not show what depends "
            "on tie order; evaluate 'expected', or both 'shuffled' and 'naive'"
        )
    return next((policy for policy in REFERENCE_POLICIES if policy in policies), "expected")


def _completed(
    pairs: pl.DataFrame, comparison: object, reference: str, pairs_asked: pl.DataFrame
) -> pl.DataFrame:
    """Return what a comparison says of pairs, whichever model it names first, and of others what
    the means of the summary say.
    """
    comparison_rows = check_result_frame(comparison, COMPARISON, "comparison", "compare")
    comparison_rows = turned(comparison_rows, pl.col("model_a") > pl.col("model_b")).select(
        list(pairs.schema)
    )
    rows_of_pairs = comparison_rows.filter(policy=reference).join(
        pairs_asked, on=PAIR, nulls_equal=True, suffix="_of_summary"
    )
    if pairs_asked.height and not rows_of_pairs.height:
        raise KeyMismatchError(
            f"comparison: no row has policy {reference!r} and a measure of the summary; both must "
            "come from the same scores"
        )
    value_a, value_b = (pl.col(f"value_{side}_of_summary") for side in "ab")
    far = (value_a - value_b - pl.col("difference")).abs() > 1e-9 * pl.max_horizontal(
        value_a.abs(), value_b.abs()
    )
    wrong = rows_of_pairs.filter(far, unpaired=0)
    if wrong.height:
        raise KeyMismatchError(
            f"comparison: {wrong.height} differences are not those of the summary, first "
            f"{wrong['metric'][0]!r} of {wrong['model_a'][0]!r} and {wrong['model_b'][0]!r}; both "
            "must come from the same scores, and the summary must be micro"
        )
    # Means of all queries say nothing of those that both models have.
    uneven = comparison_rows.filter(pl.col("unpaired") > 0)
    missing_pairs = pairs.join(comparison_rows, on=[*PAIR, "policy"], how="anti", nulls_equal=True)
    return pl.concat(
        [comparison_rows, missing_pairs.join(uneven, on=PAIR, how="anti", nulls_equal=True)]
    )
