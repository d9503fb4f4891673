"""Find which models' lists were cut, how deep they reach, and which depth would have been enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np
import polars as pl

from retrieval_report.contracts.frames import MOST_ITEMS
from retrieval_report.contracts.options import Options, ScoringOptions, options_with
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.metrics.parsing import Cutoffs, parse_cutoffs
from retrieval_report.reading.frames import to_polars
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.scoring.layout import Prepared, lay_out

TRUNCATED_LISTS = schema("truncation")
TIMES = 4  # the largest tie seen, beyond the cutoff; see `truncated_lists`


def truncated_lists(
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    cutoffs: Cutoffs = (1, 5, 10, None),
    **options: Unpack[ScoringOptions],
) -> pl.DataFrame:
    """Return for every model whether its lists are treated as cut, why, and a sufficient depth.

    Parameters
    ----------
    rankings
        A rankings or a counts frame, as for :func:`evaluate`; relevance is not needed.
    judgements, queries
        As for :func:`evaluate`.
    cutoffs
        Positive whole numbers; None or ``"all"`` is the whole list.
    **options
        Options of :func:`evaluate`: ``truncated`` says how the lists end, or leaves it to the data
        ("auto").

    Returns
    -------
    polars.DataFrame
        One row per ``model`` and ``cutoff`` k, with

        - ``truncated``: "no", "between_ties" or "within_tie", and the ``reason``: "as given", "as
          the counts say", a proof that the lists are complete or that they are cut, or "not known",
          which counts as "within_tie";
        - ``lists`` that have an item, and the items of the ``shortest`` and the ``longest`` of
          them;
        - ``open_share``: share of the lists where k reaches into what truncation leaves open;
        - ``sufficient_depth``: an estimate of how many items per query would have been enough for
          k: k + 4 · the largest tie seen. The tie that holds rank k begins at k or before; four
          times the largest tie seen allows for ties that were cut short and for larger ones further
          down. Lists that are a single tie, whose size is unknown, do not count. Null if nothing is
          open, for whole lists, and if more than half of the lists are a single tie.

    Notes
    -----
    On Hamming distances of simulated codes (20 000 items, lists cut at 10 to 100), this depth was
    enough for at least 97% of the queries at 32 bits and more, 89% at 24, and 73% at 16 bits.

    Examples
    --------
    The end of both lists may have cut the tie at distance 2.

    >>> rankings = {"query": list("pppqqq"), "item": list("abcabd"), "distance": [1, 2, 2, 1, 1, 2]}
    >>> truncated_lists(rankings, cutoffs=(1, 2)).select(
    ...     "cutoff", "truncated", "open_share", "sufficient_depth"
    ... ).rows()
    [(1, 'within_tie', 0.0, None), (2, 'within_tie', 0.5, 10)]
    >>> truncated_lists(rankings, cutoffs=2)["reason"].item()
    'not known'
    """
    depths = parse_cutoffs(cutoffs)
    rules = options_with(options, policies="expected", relevant_items="own")  # R plays no part here
    prepared = lay_out(judge_for_ties(rankings, judgements, queries, rules), rules)
    ends = ends_at(list_ends(prepared), depths)
    words = [(model, *decision) for model, decision in prepared.decisions.items()]
    contract = schema("truncation", "model", "truncated", "reason")
    decided = pl.DataFrame(words, schema=contract, orient="row")
    return in_contract(ends.join(decided, on="model").sort("model", "index"), TRUNCATED_LISTS)


def judge_for_ties(
    rankings: object, judgements: object, queries: object, options: Options
) -> Judged:
    """The rankings judged; where nothing says what is relevant, nothing is."""
    if isinstance(rankings, Judged):
        return rankings
    frame = to_polars(rankings, "rankings")
    if judgements is not None or "relevance" in frame.columns or "count" in frame.columns:
        return judge(frame, judgements, queries, options)
    judged = judge(frame.with_columns(relevance=0), judgements, queries, options)
    return replace(judged, whole=replace(judged.whole, graded=False))


def list_ends(prepared: Prepared) -> pl.DataFrame:
    """The lists that have an item, as rows.

    ``model``, ``items``, ``before`` (items before what is open; MOST_ITEMS where nothing is),
    ``within`` (whether the last tie may be cut), ``largest`` (items of the largest tie).
    """
    ties = prepared.ties
    some = np.flatnonzero(prepared.length > 0)
    return prepared.names.select("model")[some].with_columns(
        items=prepared.length[some],
        before=prepared.before[some],
        within=prepared.within[some],
        largest=np.maximum.reduceat(ties.of_ties(), ties.start[some]),
    )


def ends_at(lists: pl.DataFrame, cutoffs: Sequence[int | None]) -> pl.DataFrame:
    """What cutoffs meet of the ends of lists, one row per model and ``index`` of a cutoff."""
    cutoff_rows = pl.DataFrame({"cutoff": cutoffs}, schema={"cutoff": pl.Int64}).with_row_index()
    reached = pl.col("before") < pl.col("cutoff").fill_null(MOST_ITEMS)
    enough = pl.first("cutoff") + TIMES * pl.col("largest").filter(pl.col("before") > 0).max()
    is_evident = reached.any() & ((pl.col("before") == 0).mean() <= 0.5)
    return (
        lists.join(cutoff_rows, how="cross")
        .group_by("model", "index")
        .agg(
            pl.first("cutoff"),
            lists=pl.len(),
            shortest=pl.min("items"),
            longest=pl.max("items"),
            open_share=reached.mean(),
            ends_in_cut_tie=(reached & pl.col("within")).mean(),
            sufficient_depth=pl.when(is_evident).then(enough),
        )
    )
