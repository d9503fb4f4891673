"""Follow models over their versions, and find the steps that neither ties nor queries explain."""

from __future__ import annotations

import re
from collections.abc import Container
from itertools import pairwise

import polars as pl

from retrieval_report.comparison.corrections import corrected_column
from retrieval_report.comparison.pairs import compare, turned
from retrieval_report.comparison.verdicts import ALPHA, TIE_RISK
from retrieval_report.contracts.arguments import check_pattern
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.contracts.wording import advice, setting
from retrieval_report.engines.check_scores import (
    MEAN,
    MEASURE,
    board,
    check_scores,
    join_left,
)
from retrieval_report.engines.summary import summarise

HISTORY = schema("history")
BY_TIES = pl.col("p_tie_high") > TIE_RISK  # what may explain a step
IS_NEWS = (pl.col("step_p") < ALPHA) & ~BY_TIES
COMPARED = [*MEAN, "difference", "permutation_p", "p_tie", "p_tie_high", "against"]
NO_STEPS = pl.DataFrame(
    schema={"model": pl.String, **schema("comparison"), "against": pl.String}
).select(COMPARED)
REQUEST = [*MEAN, "against"]
BY = "version", "date"  # groups of a pattern that name the version, the first that it has


def history(scores: object, pattern: str) -> pl.DataFrame:
    r"""Show every version of a model beside the one before it, the first and the best so far, and
    mark the steps that neither tie order nor the choice of queries explains.

    Small steps add up: eleven steps of −0.01 may each be noise, and the last version worse than the
    first beyond doubt. The step of an old version may lose its mark when versions are added,
    because p is corrected for all of them.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`, best with the policies best and worst, whose bounds show
        that tie order cannot reverse a step; its models are the versions, such as
        ``nightly-2026-11-24``.
    pattern
        A regular expression that is searched in every name. Its group ``version`` or ``date`` is
        the version, by which they are sorted as text, numbers by their size; a group ``model``, if
        there is one, tells several models apart.

    Returns
    -------
    polars.DataFrame
        One row per metric, cutoff, model and version, in this order: ``metric``, ``cutoff``,
        ``series`` (the group ``model``, else ""), ``version``, ``model`` (the name in the scores),
        ``value``, ``tie_std``, ``lowest``, ``highest``, ``ci_low``, ``ci_high``, ``queries`` as
        from :func:`summarise`; of the step from the version before, on the queries of both,
        ``difference``, ``step_p`` (sign-flip test, corrected by Holm for the steps of the series),
        ``p_tie`` as from :func:`compare`, and ``marked`` (``step_p`` is below 0.05, and random tie
        order reverses the step with a probability of at most 0.05); null for the first. Against the
        first version ``since_first`` and ``first_p``, and against the ``best`` of the earlier ones
        (by expected mean) ``since_best`` and ``best_p``; these p-values are corrected together by
        Holm, and null up to the second version, which the step already sets against the first.

    Raises
    ------
    RetrievalReportError
        The scores break their contract, the pattern is not a regular expression, lacks such a group
        or does not fit a name, or two models are the same version.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate
    >>> rows = [
    ...     {
    ...         "model": f"run-v{version}",
    ...         "query": query,
    ...         "item": item,
    ...         "distance": distance,
    ...         "relevance": int(item == "a"),
    ...     }
    ...     for version, first in ((9, 3), (10, 1))
    ...     for query in range(12)
    ...     for item, distance in (("a", first), ("b", 2))
    ... ]
    >>> scores = evaluate(pl.DataFrame(rows), metrics="rr@2", truncated="no")
    >>> steps = history(scores, r"v(?P<version>\d+)")
    >>> steps.select("version", "value", "difference", pl.col("step_p").round(4), "marked").rows()
    [('9', 0.5, None, None, None), ('10', 1.0, 0.5, 0.0005, True)]
    """
    return steps_of(scores, pattern)


def steps_of(scores: object, pattern: str, suspects: Container[str] = ()) -> pl.DataFrame:
    """Return :func:`history` without tests of versions whose data are wrong, so that Holm counts
    only what is tested.
    """
    score_frame = check_scores(scores)
    runs = _runs(score_frame["model"].unique().sort().to_list(), pattern)
    steps = [
        _steps(score_frame, part["model"].to_list(), suspects)
        for part in runs.partition_by("series", maintain_order=True)
    ] or [_steps(score_frame, [], suspects)]
    joined = join_left(board(summarise(score_frame)).join(runs, on="model"), pl.concat(steps), MEAN)
    measures = score_frame.select(MEASURE).unique(maintain_order=True).rows()
    rows = joined.with_columns(
        marked=IS_NEWS, measure=pl.Series(map(measures.index, joined.select(MEASURE).rows()))
    )
    return in_contract(rows.sort("measure", "series", "order"), HISTORY)


def _runs(names: list[str], pattern: str) -> pl.DataFrame:
    """Return model, series and version of every name, and the order of the versions."""
    expression = check_pattern("pattern", pattern)
    group = next((name for name in BY if name in expression.groupindex), None)
    if group is None:
        raise ParameterError(f"pattern: '{pattern}' has no group (?P<version>…) or (?P<date>…)")
    rows = []
    for name in names:
        match = expression.search(name)
        if match is None or match[group] is None:
            raise ParameterError(
                f"pattern: '{pattern}' does not fit model {name!r}"
                + advice("; {} names TREC runs after their files", setting("name_by", "file"))
            )
        series = match["model"] if "model" in expression.groupindex else ""
        rows.append((name, series or "", match[group]))
    # v9 is before v10. Texts and numbers take turns: no text is set beside a number.
    rows.sort(
        key=lambda row: (
            row[1],
            [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", row[2])],
        )
    )
    for earlier, later in pairwise(rows):
        if earlier[1:] == later[1:]:
            of_model, remedy = "", "add a group (?P<model>…) to tell models apart"
            if "model" in expression.groupindex:
                of_model = f" of model {earlier[1]!r}"
                remedy = "the group (?P<model>…) has to match what tells them apart"
            raise ParameterError(
                f"pattern: {earlier[0]!r} and {later[0]!r} are both version {earlier[2]!r}"
                f"{of_model}; {remedy}"
            )
    types = dict.fromkeys(["model", "series", "version"], pl.String)
    return pl.DataFrame(rows, schema=types, orient="row").with_row_index("order")


def _steps(scores: pl.DataFrame, models: list[str], suspects: Container[str]) -> pl.DataFrame:
    """Compare every version of a model with the one before it."""
    pairs = [_against(scores, before, after, suspects) for before, after in pairwise(models)]
    step_p = corrected_column(pl.col("permutation_p"), "holm", MEASURE)
    steps = pl.concat([NO_STEPS, *pairs]).with_columns(step_p=step_p)
    return join_left(steps.drop("permutation_p", "against"), _drift(scores, models, suspects), MEAN)


def _drift(scores: pl.DataFrame, models: list[str], suspects: Container[str]) -> pl.DataFrame:
    """Compare every version from the third on with the first, and with the best before it."""
    means = board(summarise(scores.filter(pl.col("model").is_in(models))))
    tests, requests = [NO_STEPS], [NO_STEPS.select(REQUEST).with_columns(kind=pl.lit(""))]
    for place, after in enumerate(models[2:], 2):
        earlier = means.filter(pl.col("model").is_in(models[:place]))
        # No version whose data are wrong is the best, unless there is no other.
        is_wrong = pl.col("model").is_in([name for name in models if name in suspects])
        top = earlier.sort(is_wrong, -pl.col("value"), nulls_last=True, maintain_order=True)
        best = top.unique(MEASURE, keep="first").select(
            pl.lit(after).alias("model"), *MEASURE, against="model", kind=pl.lit("best")
        )
        first = best.with_columns(against=pl.lit(models[0]), kind=pl.lit("first"))
        requests += [first, best]
        others = pl.concat([first, best])["against"].unique()
        tests += [_against(scores, name, after, suspects) for name in others]
    asked = pl.concat(requests)
    # The first version may be the best too: that is one test.
    drift = pl.concat(tests).join(asked, on=REQUEST, how="semi", nulls_equal=True)
    p = corrected_column(pl.col("permutation_p"), "holm", MEASURE)
    drift = drift.with_columns(p=p).join(asked, on=REQUEST, nulls_equal=True)
    first, best = (drift.filter(kind=kind) for kind in ("first", "best"))
    best = best.select(*MEAN, best="against", since_best="difference", best_p="p")
    return join_left(first.select(*MEAN, since_first="difference", first_p="p"), best, MEAN)


def _against(
    scores: pl.DataFrame, before: str, after: str, suspects: Container[str]
) -> pl.DataFrame:
    """Compare a version with an earlier one; without a test if the data of either are wrong."""
    pair = compare(scores.filter(pl.col("model").is_in([before, after])), policies="expected")
    pair = turned(pair, pl.col("model_a") != after)
    if before in suspects or after in suspects:
        pair = pair.with_columns(permutation_p=pl.lit(None, pl.Float64))
    return pair.with_columns(model=pl.lit(after), against=pl.lit(before)).select(COMPARED)
