"""Find the queries whose scores depend on tie order."""

from __future__ import annotations

import polars as pl

from retrieval_report.analysis.inputs import check_scores, side_by_side


def query_table(scores: object) -> pl.DataFrame:
    """Show every query's score by policy, those most affected by tie order first.

    Parameters
    ----------
    scores
        The result of :func:`evaluate`.

    Returns
    -------
    polars.DataFrame
        One row per ``model``, ``query``, ``metric``, ``cutoff``: ``naive``, ``expected``, ``lowest`` and
        ``highest`` (under the worst and the best tie order), ``std`` (of the score under random tie order),
        ``spread`` (highest − lowest), ``naive_error`` (naive − expected); null if a policy was not evaluated or the
        query was left out; ``truncated`` (the score depends on what truncation of its list leaves open: it has no
        ``std``, and ``lowest`` and ``highest`` allow for what a deeper retrieval could show). Sorted by spread, then
        std, largest first and nulls last, then by name.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate
    >>> rankings = pl.DataFrame({
    ...     "query": list("ppqq"), "item": list("abab"), "distance": [1, 2, 3, 3], "relevance": [1, 0, 1, 0]})
    >>> scores = evaluate(rankings, metrics="rr", cutoffs=None, policies=("expected", "naive", "best", "worst"))
    >>> query_table(scores).drop("model", "metric", "cutoff", "truncated")
    shape: (2, 8)
    ┌───────┬───────┬──────────┬────────┬─────────┬──────┬────────┬─────────────┐
    │ query ┆ naive ┆ expected ┆ lowest ┆ highest ┆ std  ┆ spread ┆ naive_error │
    │ ---   ┆ ---   ┆ ---      ┆ ---    ┆ ---     ┆ ---  ┆ ---    ┆ ---         │
    │ str   ┆ f64   ┆ f64      ┆ f64    ┆ f64     ┆ f64  ┆ f64    ┆ f64         │
    ╞═══════╪═══════╪══════════╪════════╪═════════╪══════╪════════╪═════════════╡
    │ q     ┆ 1.0   ┆ 0.75     ┆ 0.5    ┆ 1.0     ┆ 0.25 ┆ 0.5    ┆ 0.25        │
    │ p     ┆ 1.0   ┆ 1.0      ┆ 1.0    ┆ 1.0     ┆ 0.0  ┆ 0.0    ┆ 0.0         │
    └───────┴───────┴──────────┴────────┴─────────┴──────┴────────┴─────────────┘
    """
    keys = ["model", "query", "metric", "cutoff"]
    names = {"naive": "naive", "expected": "expected", "lowest": "worst", "highest": "best"}
    others = pl.col("std").filter(policy="expected").first(), pl.col("truncated").any()
    return (
        side_by_side(check_scores(scores), keys, names, *others)
        .with_columns(spread=pl.col("highest") - pl.col("lowest"), naive_error=pl.col("naive") - pl.col("expected"))
        .select(pl.exclude("truncated"), "truncated")
        .sort("spread", "std", *keys, descending=[True, True, False, False, False, False], nulls_last=True)
    )
