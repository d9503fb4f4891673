"""The pool in counts: how counts of several models,
which have no items to compare, know R of every query.

Beside the items of its list, each model has rows without distance (``retrieved`` is false) that
count, by relevance, the relevant items of the query that other models retrieved and it did not.
Both together are the pool, the same for all models. Counts of shards of the items add up, because
each item is in one shard.
"""

import polars as pl

from retrieval_report.contracts.errors import DataError
from retrieval_report.contracts.frames import order_column, with_model
from retrieval_report.scoring.known_items import KEYS

RELEVANT = pl.col("relevance") > 0


def not_retrieved(rankings: pl.DataFrame, counts: pl.DataFrame) -> pl.DataFrame:
    """Return rows for the counts of rankings that count
    what each list lacks of its query's relevant items.
    """
    pool = rankings.filter(RELEVANT).select("query", "item", "relevance").unique(["query", "item"])
    pool = pool.group_by("query", "relevance").agg(pool=pl.len().cast(pl.Int64))
    retrieved = counts.filter(RELEVANT).group_by(*KEYS, "relevance").agg(own=pl.sum("count"))
    lists = (
        counts.select(KEYS)
        .unique()
        .join(pool, on="query")
        .join(retrieved, on=[*KEYS, "relevance"], how="left")
    )
    lacking = lists.with_columns(count=pl.col("pool") - pl.col("own").fill_null(0)).filter(
        pl.col("count") > 0
    )
    order = order_column(counts)
    nowhere = pl.lit(None, counts.schema[order]).alias(order)
    return lacking.with_columns(nowhere, retrieved=False).select(counts.columns)


def pool_of(counts: pl.DataFrame) -> pl.DataFrame:
    """Return the relevant items of every query as ``query``, ``relevance``, ``count``.

    >>> counts = pl.DataFrame(
    ...     {
    ...         "model": ["a", "b"],
    ...         "query": ["q"] * 2,
    ...         "distance": [1, 1],
    ...         "relevance": [1, 1],
    ...         "count": [2, 3],
    ...         "retrieved": [True] * 2,
    ...     }
    ... )
    >>> pool_of(counts)
    Traceback (most recent call last):
    retrieval_report.DataError: counts: column 'retrieved': a model has 3 items of relevance 1 for
    query 'q', retrieved or not, and another has fewer; count the rankings of all models together by
    count_ties
    """
    rows = with_model(counts)
    models = rows.group_by("query").agg(models=pl.n_unique("model"))
    retrieved = rows.filter(RELEVANT).group_by(*KEYS, "relevance").agg(count=pl.sum("count"))
    count = pl.col("count")
    pool = retrieved.group_by("query", "relevance").agg(
        least=count.min(), count=count.max(), known=pl.len()
    )
    pool = pool.join(models, on="query").sort("query", "relevance")
    unlike = pool.filter((pl.col("known") < pl.col("models")) | (pl.col("least") < count))
    if unlike.height:
        first = unlike.row(0, named=True)
        raise DataError(
            f"counts: column 'retrieved': a model has {first['count']} items of relevance "
            f"{first['relevance']:g} for query {first['query']!r}, retrieved or not, and another "
            "has fewer; count the rankings of all models together by count_ties"
        )
    return pool.select("query", "relevance", "count")
