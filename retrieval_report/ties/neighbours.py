"""Make judgements from exact nearest neighbours, for
the recall of approximate indexes with tied distances.
"""

from __future__ import annotations

from collections.abc import Iterable, Sized

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import check_flag, check_number, check_whole
from retrieval_report.contracts.checks import refuse
from retrieval_report.contracts.errors import DataError, ParameterError
from retrieval_report.contracts.warning import warn
from retrieval_report.contracts.wording import advice, argument, have, in_python, setting
from retrieval_report.kernels.lists import Bools
from retrieval_report.reading.search_results import Results, Whole, item_ids, read_results
from retrieval_report.writing.names import with_number


def neighbour_judgements(
    truth_distances: object,
    truth_indices: Iterable[Sized],
    k: int,
    epsilon: float = 0,
    *,
    scores: bool = False,
) -> pl.DataFrame:
    """Judge which items are among a query's k nearest, by an exact search at least k deep.

    An item counts if it is no farther than the k-th nearest (times 1 + ``epsilon``). If several
    items tie for the k-th rank, all of them count, because an index that returns one instead of
    another has missed nothing; the usual comparison of sets of ids calls that an error. More than k
    items are then relevant, and recall is ``precision@k`` of these judgements, hits / k (which is
    hits / min(k, R)); ``recall@k`` divides by all that tie. Source of the rule: the distance-based
    recall of ann-benchmarks (Aumüller, Bernhardsson and Faithfull 2020).

    Parameters
    ----------
    truth_distances, truth_indices
        Arrays (queries, depth) of an exact search, for example with a FAISS flat index; small
        distances are near. Entries with index −1 are padding: there are no more items. A repeated
        item counts once, at its smallest distance.
    k
        Number of neighbours, at most the depth.
    epsilon
        How much farther than the k-th an item may be, as a share of its distance, such as 0.1 for a
        tenth; for squared distances (1 + ε)² − 1. Not for scores.
    scores
        Whether ``truth_distances`` are scores such as inner products, of which large ones are near.

    Returns
    -------
    polars.DataFrame
        Judgements for :func:`evaluate`: ``query`` (the row, from 0), ``item`` (the index) and
        ``relevance`` 1.

    Raises
    ------
    DataError
        The arrays do not match, hold NaN, a query whose row is full has fewer than k different
        items (a row that ends in padding holds all there are, and all of them count), or all rows
        go from the farthest item to the nearest, as those of scores taken for distances do.
    ParameterError
        k or epsilon is out of range, or epsilon is used with negative distances or scores.

    Warns
    -----
    RetrievalReportWarning
        The last item of a query still counts, so more may tie with it, which a deeper search would
        show; or a query has fewer than k items.

    Examples
    --------
    Items 7, 3 and 5 tie for the second rank. An index that finds 9 and 5 has found two nearest
    neighbours. It is asked for k answers only, so these are whole lists.

    >>> judgements = neighbour_judgements([[0.1, 0.4, 0.4, 0.4, 0.9]], [[9, 7, 3, 5, 1]], k=2)
    >>> judgements["item"].to_list()
    [9, 7, 3, 5]
    >>> from retrieval_report import evaluate
    >>> found = {"query": [0, 0], "item": [9, 5], "distance": [0.1, 0.4]}
    >>> scores = evaluate(
    ...     found, judgements=judgements, metrics="precision@2", policies="expected", truncated="no"
    ... )
    >>> scores["value"].item()
    1.0
    """
    k = check_whole("k", k, 1)
    check_number("epsilon", epsilon, lambda share: share >= 0, "finite number from 0 on")
    results = read_results((truth_distances, truth_indices), "truth")
    _check_direction(results, scores=check_flag("scores", scores))
    items = _items(results, scores=scores)
    if epsilon and (scores or (items["distance"] < 0).any()):
        what = "scores" if scores else "negative distances"
        raise ParameterError(f"epsilon: {epsilon!r} is a share of a distance, and there are {what}")
    item_counts = np.bincount(items["query"].to_numpy(), minlength=results.queries)
    depth = max(map(len, truth_indices))
    full = np.bincount(results.query, minlength=results.queries) == depth
    _check_counts(item_counts, full | (depth < k), k)
    kth = pl.col("distance").get(k - 1, null_on_oob=True).over("query")
    limit = kth.cast(pl.Float64) * (1 + float(epsilon)) if epsilon else kth
    near = pl.col("distance") >= limit if scores else pl.col("distance") <= limit
    items = items.with_columns(near=near.fill_null(True))  # all of fewer than k items
    _warn_cut(items, full & (item_counts >= k), k)
    return items.filter("near").select("query", "item", relevance=pl.lit(1, pl.Int64))


def _check_counts(counts: Whole, full: Bools, k: int) -> None:
    """Refuse queries with fewer than k items of which a deeper search would show more, and warn
    of those that have no more, as after a filter.
    """
    short = np.flatnonzero(counts < k)
    if not short.size:
        return
    deeper = short[full[short]]
    first = deeper[0] if deeper.size else short[0]
    text = (
        f"truth: {short.size} of {counts.size} queries {have(short.size)} fewer than k={k} "
        f"different items, first query {first} with {counts[first]}"
    )
    if deeper.size:
        raise DataError(f"{text}; search deeper")
    warn(f"{text}: recall@{k} divides by min(k, R), the items that there are, precision@{k} by {k}")


def _check_direction(results: Results, *, scores: bool) -> None:
    """Refuse a truth whose rows all go from what would be far to what would be near, as rows of the
    other kind do.
    """
    step = np.diff(results.value)[results.query[1:] == results.query[:-1]]
    rising = -step if scores else step
    if rising.size and (rising <= 0).all() and (rising < 0).any():
        was, instead = ("scores", "distances") if scores else ("distances", "scores")
        cure = advice("; say what they are by {}", setting("scores", not scores))
        if scores:  # a flag of the command line, which takes no value
            cure = in_python(cure, f"; leave out {argument('scores')}")
        raise DataError(
            f"truth: the {was} begin with the farthest item in every row, as {instead} do{cure}"
        )


def _items(results: Results, *, scores: bool) -> pl.DataFrame:
    """Return the distinct items of every query, nearest first; large scores are near."""
    columns = {"query": results.query, "item": item_ids(results.item), "distance": results.value}
    frame = pl.DataFrame(columns)
    refuse(frame, ~pl.col("distance").is_finite(), "distance", "not a finite number", what="truth")
    order = frame.sort("query", "distance", descending=[False, scores], maintain_order=True)
    return order.unique(["query", "item"], keep="first", maintain_order=True)


def _warn_cut(items: pl.DataFrame, full: Bools, k: int) -> None:
    """Warn about queries whose truth ends before an item that is too far."""
    all_near = items.group_by("query", maintain_order=True).agg(pl.col("near").all())
    cut = all_near.filter(pl.col("near") & pl.Series(full[all_near["query"].to_numpy()]))
    if cut.height:
        warn(
            f"the true neighbours of {with_number(cut.height, 'query')}, first query "
            f"{cut['query'][0]}, may lack some: even the last item is near enough to count for "
            f"k={k}. Others that tie with it would count as missed: search deeper"
        )
