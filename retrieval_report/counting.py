"""Rankings in, counts out: ``count_ties``."""

from __future__ import annotations

import polars as pl

from retrieval_report.stream import collect_counts, is_streamed
from retrieval_report.ties import count_rows

__all__ = ["count_ties"]


def count_ties(rankings: object) -> pl.DataFrame:
    """Count the items of every model, query, distance and relevance: all that the policies but naive need.

    Counts of parts of the items add up to the counts of the whole, so lists may be scored from shards.

    Parameters
    ----------
    rankings
        A rankings frame, or a counts frame whose equal rows are to be added up. Of Parquet or Arrow files (a path, a
        glob, a folder, or a list of them) and of a Polars LazyFrame, a part is in memory at a time, as in
        :func:`evaluate`; :func:`count_ties_to` writes the counts to a file.

    Returns
    -------
    polars.DataFrame
        ``model``, ``query``, ``distance`` or ``score``, ``relevance``, ``count``, sorted by the first four.

    Examples
    --------
    >>> import polars as pl
    >>> count_ties(pl.DataFrame({
    ...     "query": ["q"] * 4, "item": list("abcd"), "distance": [0, 2, 2, 2], "relevance": [0, 1, 0, 1]}))
    shape: (3, 5)
    ┌───────┬───────┬──────────┬───────────┬───────┐
    │ model ┆ query ┆ distance ┆ relevance ┆ count │
    │ ---   ┆ ---   ┆ ---      ┆ ---       ┆ ---   │
    │ str   ┆ str   ┆ i64      ┆ i64       ┆ i64   │
    ╞═══════╪═══════╪══════════╪═══════════╪═══════╡
    │ model ┆ q     ┆ 0        ┆ 0         ┆ 1     │
    │ model ┆ q     ┆ 2        ┆ 0         ┆ 1     │
    │ model ┆ q     ┆ 2        ┆ 1         ┆ 2     │
    └───────┴───────┴──────────┴───────────┴───────┘
    """
    return collect_counts(rankings) if is_streamed(rankings) else count_rows(rankings)
