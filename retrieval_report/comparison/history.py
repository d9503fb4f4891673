"""Follow models over their versions, and find the steps that neither ties nor queries explain."""

from __future__ import annotations

import re
from itertools import pairwise

import polars as pl

from retrieval_report.comparison.corrections import corrected_column
from retrieval_report.comparison.pairs import compare, turned
from retrieval_report.comparison.verdicts import ALPHA, TIE_RISK
from retrieval_report.contracts.arguments import check_pattern
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.engines.check_scores import (
    MEAN,
    MEASURE,
    beside,
    board,
    check_scores,
)
from retrieval_report.engines.summary import summarise

HISTORY = schema("history")
BY = "version", "date"  # groups of a pattern that name the version, the first that it has


def history(scores: object, pattern: str) -> pl.DataFrame:
    r"""Show every version of a model beside the one before it, and mark the steps that neither tie
    order nor the choice of queries explains.

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
        order reverses the step with a probability of at most 0.05); null for the first.

    Raises
    ------
    RetrievalReportError
        The scores break their contract, the pattern is no regular expression, lacks such a group
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
    >>> steps = history(evaluate(pl.DataFrame(rows), metrics="rr@2"), r"v(?P<version>\d+)")
    >>> steps.select("version", "value", "difference", pl.col("step_p").round(4), "marked").rows()
    [('9', 0.5, None, None, None), ('10', 1.0, 0.5, 0.0005, True)]
    """
    given = check_scores(scores)
    runs = _runs(given["model"].unique().sort().to_list(), pattern)
    means = board(summarise(given)).join(runs, on="model")
    steps = [
        _steps(given, part["model"].to_list())
        for part in runs.partition_by("series", maintain_order=True)
    ]
    joined = beside(means, pl.concat(steps), MEAN)
    small = (pl.col("step_p") < ALPHA) & (pl.col("p_tie_high") <= TIE_RISK)
    measures = given.select(MEASURE).unique(maintain_order=True).rows()
    rows = joined.with_columns(
        marked=small, measure=pl.Series(map(measures.index, joined.select(MEASURE).rows()))
    )
    return in_contract(rows.sort("measure", "series", "order"), HISTORY)


def _runs(names: list[str], pattern: str) -> pl.DataFrame:
    """Return model, series and version of every name, and the order of the versions."""
    expression = check_pattern("pattern", pattern)
    group = next((name for name in BY if name in expression.groupindex), None)
    if group is None:
        raise ParameterError(f"pattern: {pattern!r} has no group (?P<version>…) or (?P<date>…)")
    rows = []
    for name in names:
        match = expression.search(name)
        if match is None or match[group] is None:
            raise ParameterError(f"pattern: {pattern!r} does not fit model {name!r}")
        series = match["model"] if "model" in expression.groupindex else ""
        rows.append((name, series or "", match[group]))
    # v9 is before v10. Texts and numbers take turns: no text is set beside a number.
    rows.sort(
        key=lambda row: (
            row[1],
            [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", row[2])],
        )
    )
    for one, other in pairwise(rows):
        if one[1:] == other[1:]:
            raise ParameterError(
                f"pattern: {one[0]!r} and {other[0]!r} are both version {one[2]!r}; "
                "a group (?P<model>…) tells models apart"
            )
    frame = pl.DataFrame(
        rows, schema=dict.fromkeys(["model", "series", "version"], pl.String), orient="row"
    )
    return frame.with_row_index("order")


def _steps(scores: pl.DataFrame, models: list[str]) -> pl.DataFrame:
    """Compare every version of a model with the one before it."""
    wanted = [*MEAN, "difference", "permutation_p", "p_tie", "p_tie_high"]
    steps = [pl.DataFrame(schema={"model": pl.String, **schema("comparison", *wanted[1:])})]
    for before, after in pairwise(models):
        pair = compare(scores.filter(pl.col("model").is_in([before, after])), policies="expected")
        pair = turned(pair, pl.col("model_a") != after)
        steps.append(pair.with_columns(model=pl.lit(after)).select(wanted))
    step_p = corrected_column(pl.col("permutation_p"), "holm", MEASURE)
    return pl.concat(steps).with_columns(step_p=step_p).drop("permutation_p")
