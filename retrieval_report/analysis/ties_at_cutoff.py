"""Find the lists whose cutoff falls inside a tie."""

from __future__ import annotations

from typing import Unpack

import polars as pl

from retrieval_report.analysis.profile import TieTable
from retrieval_report.contracts.arguments import check_whole
from retrieval_report.contracts.options import ScoringOptions, options_with
from retrieval_report.contracts.registry import schema

CUT_TIES = schema("ties_at_cutoff")


def ties_at_cutoff(
    rankings: object,
    *,
    cutoff: int,
    judgements: object = None,
    queries: object = None,
    **options: Unpack[ScoringOptions],
) -> pl.DataFrame:
    """List the ties that a cutoff splits: ranks k and k + 1 are in one tie, and chance decides which items count.

    Parameters
    ----------
    rankings
        A rankings or a counts frame, as for :func:`evaluate`.
    cutoff
        k, a whole number from 1 on.
    judgements, queries, **options
        As for :func:`tie_profile`, and ``relevant_from``.

    Returns
    -------
    polars.DataFrame
        One row per list whose cutoff falls inside a tie: ``model``, ``query``; ``first`` and ``last`` rank of the
        tie, its ``size``, and how many of its items are ``inside`` the cutoff; ``relevant`` items of the tie and
        whether it is ``mixed``, of different relevances (both null without any relevance). Mixed ties first, then the
        largest, then by name.

    Examples
    --------
    >>> rankings = {"query": ["q"] * 4, "item": list("abcd"), "distance": [0, 2, 2, 5], "relevance": [0, 1, 0, 1]}
    >>> ties_at_cutoff(rankings, cutoff=2).row(0)
    ('model', 'q', 2, 3, 2, 1, 1, True)
    >>> ties_at_cutoff(rankings, cutoff=1).height
    0
    """
    measure = check_whole("cutoff", cutoff, 1)
    table = TieTable(rankings, judgements, queries, options_with(options, policies="expected"))
    before, size = pl.col("before"), pl.col("size")
    found = table.ties.filter((before < measure) & (before + size > measure)).with_columns(
        first=before + 1, last=before + size, inside=measure - before
    )
    if not table.judged.whole.graded:
        found = found.with_columns(relevant=pl.lit(None), mixed=pl.lit(None))
    ordered = found.sort("mixed", "size", "model", "query", descending=[True, True, False, False], nulls_last=True)
    casts = {name: dtype for name, dtype in CUT_TIES.items() if dtype is not None}
    return ordered.select(list(CUT_TIES)).cast(casts)  # type: ignore[arg-type]
