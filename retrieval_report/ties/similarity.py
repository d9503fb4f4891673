"""Compare two rankings of the same queries, and find
whether they differ in more than the order of ties.

Rank-biased overlap is extrapolated to infinite depth: Webber, Moffat and Zobel 2010 for lists
without ties; Corsi and Urbano 2024 for their variant a, the mean over all orders of the ties.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import polars as pl

from retrieval_report.contracts.checks import check_unique
from retrieval_report.contracts.errors import KeyMismatchError, ParameterError
from retrieval_report.contracts.frames import check_rankings, order_column, unmasked
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.check_scores import check_fraction
from retrieval_report.engines.score_grid import blocks, tau_b
from retrieval_report.kernels.lists import Bools, Floats, Integers
from retrieval_report.reading.frames import frame_of_kind
from retrieval_report.reading.names import KINDS
from retrieval_report.scoring.known_items import of_one_width

SIMILARITY = schema("similarity")
MOST_COMPARED = 1e8  # pairs of items of all lists, two seconds; a query takes as long as
PAIRS_PER_QUERY = 35_000  # pairs, however few it has
MEASURES = [name for name, dtype in SIMILARITY.items() if dtype == pl.Float64]


class RankingSimilarity(NamedTuple):
    """The result of :func:`ranking_similarity`: one row per query, and one row of means."""

    queries: pl.DataFrame
    mean: pl.DataFrame


def ranking_similarity(a: object, b: object, *, p: float = 0.9) -> RankingSimilarity:
    """Compare two rankings query by query, to see whether a new index changed results or only the
    order of ties.

    Parameters
    ----------
    a, b
        Rankings of one model each: ``query``, ``item``, ``distance`` or ``score``, or whatever else
        :func:`evaluate` takes as rankings. Relevance is ignored.
    p
        Persistence of rank-biased overlap, between 0 and 1: the first 1/(1 − p) ranks matter most.

    Returns
    -------
    RankingSimilarity
        ``queries``: one row per query of either, with

        - ``items_a``, ``items_b``, ``shared``: items of each list, and those in both;
        - ``change``: "none" (the same ranks and ties), "ties" (some order of the ties makes the
          lists equal), "order" (the same items in another order), "items" (other items);
        - ``tau_b``: Kendall's τ_b of the shared items, which corrects for ties (null where all tie
          in one list);
        - ``rbo_a``: extrapolated rank-biased overlap in the mean over the orders of ties, variant a
          of Corsi and Urbano (2024); if one list is longer and ties where the other has ended,
          their program differs slightly from that mean;
        - ``rbo_low``, ``rbo_high``: its smallest and largest value over all orders of the ties.

        ``mean``: one row with the number of queries, the share of each change, and the plain means
        of the measures over the queries that have them.

    Raises
    ------
    RetrievalReportError
        A frame would be refused by :func:`evaluate` or holds several models, no query is in both,
        or ids are of different kinds.

    Examples
    --------
    The second index swaps two items that tie in the first one, and replaces the last item by a new
    one.

    >>> a = {"query": ["q"] * 4, "item": list("abcd"), "distance": [1, 2, 2, 3]}
    >>> b = {"query": ["q"] * 4, "item": list("acbe"), "distance": [0.1, 0.2, 0.3, 0.4]}
    >>> found = ranking_similarity(a, b)
    >>> found.queries.select(
    ...     "shared", "change", pl.col("tau_b", "rbo_a", "rbo_low", "rbo_high").round(4)
    ... )
    shape: (1, 6)
    ┌────────┬────────┬────────┬────────┬─────────┬──────────┐
    │ shared ┆ change ┆ tau_b  ┆ rbo_a  ┆ rbo_low ┆ rbo_high │
    │ ---    ┆ ---    ┆ ---    ┆ ---    ┆ ---     ┆ ---      │
    │ i64    ┆ str    ┆ f64    ┆ f64    ┆ f64     ┆ f64      │
    ╞════════╪════════╪════════╪════════╪═════════╪══════════╡
    │ 3      ┆ items  ┆ 0.8165 ┆ 0.7952 ┆ 0.7728  ┆ 0.8178   │
    └────────┴────────┴────────┴────────┴─────────┴──────────┘
    """
    p = check_fraction("p", p)
    first_rows, two = _checked(a, "first rankings"), _checked(b, "second rankings")
    for key in ("query", "item"):
        first_rows, two = of_one_width(first_rows, two, key, "other ones")
    ids, other_ids = (part["query"].unique(maintain_order=True) for part in (first_rows, two))
    if ids.len() and other_ids.len() and not ids.is_in(other_ids.implode()).any():
        raise KeyMismatchError(
            f"no query is in both rankings: the first have queries like {ids[0]!r}, the second "
            f"like {other_ids[0]!r}; make their ids agree"
        )
    return similarity_of(first_rows, two, p)


def similarity_of(a: pl.DataFrame, b: pl.DataFrame, p: float = 0.9) -> RankingSimilarity:
    """The same for frames that were checked."""
    first_ranks, two = _ranked(a), _ranked(b)
    shared_ranks = first_ranks.join(
        two, on=["query", "item"], how="full", coalesce=True, suffix="_b"
    ).fill_null(0)
    shared_ranks = shared_ranks.sort("query", "item")
    rows = [
        _compare(query, part, p)
        for (query,), part in shared_ranks.group_by("query", maintain_order=True)
    ]
    queries = pl.DataFrame(
        rows, schema={**SIMILARITY, "query": shared_ranks.schema["query"]}, orient="row"
    )
    changes = [
        (pl.col("change") == kind).mean().alias(kind) for kind in ("none", "ties", "order", "items")
    ]
    number = pl.len().cast(pl.Int64).alias("queries")
    return RankingSimilarity(queries, queries.select(number, *changes, pl.mean(*MEASURES)))


def _checked(rankings: object, what: str) -> pl.DataFrame:
    """Rankings of one model."""
    frame = frame_of_kind(rankings, KINDS["rankings"], what, None)
    frame = check_rankings(frame, relevance=False)
    if "model" in frame.columns and frame["model"].n_unique() > 1:
        raise ParameterError(f"{what}: {frame['model'].n_unique()} models; pass the lists of one")
    frame = unmasked(frame)
    check_unique(frame, ("query", "item"), what)
    return frame


def _ranked(frame: pl.DataFrame) -> pl.DataFrame:
    """Each item with the first and the last rank of its tie."""
    order = order_column(frame)
    value, falling = pl.col(order), order == "score"
    first, last = value.rank("min", descending=falling), value.rank("max", descending=falling)
    top, bottom = (rank.over("query").cast(pl.Int64) for rank in (first, last))
    return frame.select("query", "item", top=top, bottom=bottom)


def _compare(query: object, part: pl.DataFrame, p: float) -> tuple[object, ...]:
    """One row of the result."""
    a = Ranks(part["top"].to_numpy(), part["bottom"].to_numpy())
    b = Ranks(part["top_b"].to_numpy(), part["bottom_b"].to_numpy())
    least, most = (extreme_ranks(a, b, alike=alike) for alike in (False, True))
    shared = a.there & b.there
    sizes = [int(items.sum()) for items in (a.there, b.there, shared)]
    low, high = (overlap(*pair, p, tied=False) for pair in (least, most))
    tau = tau_b(a.top[shared], b.top[shared])
    mean = min(max(overlap(a, b, p), low), high)  # rounding leaves no mean outside
    return query, *sizes, _change(a, b, *most), tau, mean, low, high


def _change(a: Ranks, b: Ranks, alike_a: Ranks, alike_b: Ranks) -> str:
    if not np.array_equal(a.there, b.there):
        return "items"
    if np.array_equal(a.top, b.top):
        return "none"
    return "ties" if np.array_equal(alike_a.top, alike_b.top) else "order"


class Ranks(NamedTuple):
    """First and last rank, from 1, of each item's tie in one list; both 0 for items that the list
    does not hold.
    """

    top: Integers
    bottom: Integers

    @property
    def there(self) -> Bools:
        """Which items the list holds."""
        return self.top > 0

    def share(self, items: Integers, depth: Integers) -> Floats:
        """How much of each item (rows) is in the first ``depth`` ranks (columns)."""
        top, bottom = (ranks[items][:, None].astype(np.float64) for ranks in self)
        return np.clip((depth - top + 1.0) / (bottom - top + 1.0), 0.0, 1.0)


def extreme_ranks(a: Ranks, b: Ranks, *, alike: bool) -> tuple[Ranks, Ranks]:
    """Both lists with their ties in the orders that overlap most, or least, at every depth at once.

    Most: the ties of each list in the order of the other, and items that tie in both in one order.
    Least: in the reverse order of the other, and opposite orders of those. At any depth only one
    tie of each list is cut, and these orders take from it first what the other list has (or has
    not), so no other orders do better there.
    """
    sign, number = 1 if alike else -1, np.arange(a.top.size)
    orders = []
    for ranks, opposite, last in ((a, b, number), (b, a, sign * number)):
        other_top = np.where(opposite.there, opposite.top, np.iinfo(np.int64).max // 2)
        order = np.lexsort((last, sign * other_top, ranks.top))
        order = order[ranks.there[order]]
        rank = np.zeros_like(number)
        rank[order] = np.arange(1, order.size + 1)
        orders.append(Ranks(rank, rank))
    return orders[0], orders[1]


def overlap(a: Ranks, b: Ranks, p: float, *, tied: bool = True) -> float:
    """Extrapolated rank-biased overlap with persistence ``p``; 0 where a list is empty.

    Lists without ties (``tied`` is false) take less work.
    """
    short, long = (a, b) if a.there.sum() <= b.there.sum() else (b, a)
    s, size = int(short.there.sum()), int(long.there.sum())
    if s == 0:
        return 0.0
    depth = np.arange(1, size + 1)
    common = _common(short, long, depth, tied)
    agreement = common / depth
    # below its end the short list is taken to agree as much as above
    agreement[s:] = (common[s:] + (depth[s:] - s) * agreement[s - 1]) / depth[s:]
    last = (common[-1] + (size - s) * agreement[s - 1]) / size
    return float((1.0 - p) * np.sum(agreement * p ** (depth - 1.0)) + last * p**size)


def _common(a: Ranks, b: Ranks, depth: Integers, tied: bool) -> Floats:
    """What the lists have in common at every depth."""
    if not tied:
        return _reached(np.maximum(a.top, b.top)[a.there & b.there], depth)
    common = np.zeros(depth.size)
    for items in blocks(np.flatnonzero(a.there & b.there), depth.size):
        common += (a.share(items, depth) * b.share(items, depth)).sum(axis=0)
    return common


def _reached(ranks: Integers, depth: Integers) -> Floats:
    """How many of some ranks are at most every depth."""
    return np.searchsorted(np.sort(ranks), depth, side="right").astype(np.float64)


def similarity_means(rows: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    """Return how alike the lists of two models are, in one row; nothing of lists so long that it
    would take minutes.
    """
    a, b = (rows.filter(model=name) for name in (first, second))
    items = a.group_by("query").len()["len"].cast(pl.Float64)
    if (items**2 + PAIRS_PER_QUERY).sum() > MOST_COMPARED:
        return pl.DataFrame()
    means = similarity_of(a, b).mean.with_columns(model_a=pl.lit(first), model_b=pl.lit(second))
    return means.select(list(schema("similarity_means")))
