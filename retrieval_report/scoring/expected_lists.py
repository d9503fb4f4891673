"""Determine which lists there are: every query for
every model; and find missing, unjudged or unnamed ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from retrieval_report.contracts.errors import KeyMismatchError
from retrieval_report.contracts.options import Options
from retrieval_report.contracts.wording import advice, have, setting
from retrieval_report.scoring.known_items import KEYS


def all_lists(
    present: pl.DataFrame,
    judgements: pl.DataFrame | None,
    queries: pl.DataFrame | None,
    models: Sequence[str],
    options: Options,
) -> pl.DataFrame:
    """Return every (model, query), including queries of
    other models, of judgements and of the queries frame.

    Lists in ``present`` have rows. ``models`` may name further models. Returns ``model``,
    ``query``, ``missing`` and, if the queries frame has it, ``n_relevant``.
    """
    names = present.select("model")
    if models:
        names = pl.concat([names, pl.DataFrame({"model": models}, {"model": pl.String})])
    names = names.unique()
    universe = present.select("query")
    universe = universe if names.height == 1 else universe.unique()  # one model has each once
    if judgements is not None:
        judged = judgements.select("query").unique()
        unjudged = universe.join(judged, on="query", how="anti")["query"]
        if len(unjudged) and options.unjudged_query == "error":
            matched = universe.height - len(unjudged)
            if 2 * matched < judged.height:  # unlike where queries are items
                _refuse_swapped(unjudged, judgements)
            if len(unjudged) == universe.height and judged.height:
                raise KeyMismatchError(
                    f"none of the {universe.height} queries has judgements: the rankings have "
                    f"queries like {unjudged.min()!r}, the judgements like "
                    f"{judged['query'].min()!r}; make their ids agree"
                )
            raise KeyMismatchError(
                f"{len(unjudged)} of {universe.height} queries {have(len(unjudged))} no judgements, "
                f"first {unjudged.min()!r}{_strangers(present, judged)}"
                + advice("; {} leaves them out", setting("unjudged_query", "skip"))
            )
        universe = pl.concat([universe, judged]).unique()
    if queries is not None:
        query_ids = queries.select("query")
        missing_queries = universe.join(query_ids, on="query", how="anti")["query"]
        if len(missing_queries):
            raise KeyMismatchError(
                f"queries: {len(missing_queries)} queries of the rankings are not in the queries frame, first "
                f"{missing_queries.min()!r}"
            )
        universe = query_ids
    lists = every_list(names, universe, present)
    if options.missing_query == "error" and lists["missing"].any():
        missing = lists.filter("missing")
        model, query = missing.select(KEYS).row(0)
        raise KeyMismatchError(
            f"{missing.height} (model, query) pairs have no rows, first query {query!r} of model "
            f"{model!r}"
            + advice("; {} counts them as 0", setting("missing_query", "zero"))
            + advice(", {} leaves them out", setting("missing_query", "skip"))
        )
    if queries is None or "n_relevant" not in queries.columns:
        return lists
    numbers = queries.select("query", pl.col("n_relevant").cast(pl.Int64))
    return lists.join(numbers, on="query", how="left", maintain_order="left")


def _refuse_swapped(unjudged: pl.Series, judgements: pl.DataFrame) -> None:
    """Refuse judgements whose items are the queries that have none."""
    items = judgements["item"].cast(pl.String).unique()
    found = unjudged.filter(unjudged.cast(pl.String).is_in(items.implode()))
    if 2 * len(found) > len(unjudged):
        raise KeyMismatchError(
            f"judgements: their items are queries of the rankings, such as {found.min()!r}; are the "
            "columns of queries and items swapped?"
        )


def _strangers(present: pl.DataFrame, judged: pl.DataFrame) -> str:
    """Name the first model of which no query is judged, as its ids are of another form; nothing
    where every model has judged queries.
    """
    answered = present.join(judged, on="query", how="semi")
    models = present.join(answered, on="model", how="anti").sort("model", "query")
    if models.is_empty() or judged.is_empty():
        return ""
    model, query = models.select("model", "query").row(0)
    return (
        f": no query of model {model!r} is judged; it has queries like {query!r}, the judgements "
        f"like {judged['query'].min()!r}, so make their ids agree"
    )


def every_list(models: pl.DataFrame, queries: pl.DataFrame, present: pl.DataFrame) -> pl.DataFrame:
    """Return a list for every model and query, sorted,
    and whether it is missing among those present.
    """
    received = present.select(*KEYS, missing=False)
    if present.height == models.height * queries.height:
        return received.sort(KEYS)
    names = models.join(queries, how="cross").sort(KEYS)
    lists = names.join(received, on=KEYS, how="left", maintain_order="left")
    return lists.with_columns(pl.col("missing").fill_null(True))
