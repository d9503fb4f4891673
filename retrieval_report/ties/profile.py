"""Describe how much a model's distances tie, and find the lists whose cutoff falls inside a tie."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import check_whole
from retrieval_report.contracts.frames import MOST_ITEMS
from retrieval_report.contracts.options import (
    Options,
    ScoringOptions,
    answering_other_words,
    options_with,
)
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.engines.check_scores import join_left
from retrieval_report.metrics.parsing import Cutoffs, parse_cutoffs
from retrieval_report.scoring.layout import lay_out
from retrieval_report.scoring.ties import tie_table
from retrieval_report.ties.truncated_lists import ends_at, judge_for_ties, list_ends

SAME_WITHIN_ULPS = 4  # ulp; a sum of a few hundred products errs by about as much
CUT_TIES = schema("ties_at_cutoff")
PROFILE = schema("profile")


@answering_other_words
def tie_profile(
    rankings: object,
    *,
    cutoffs: Cutoffs = (1, 5, 10, None),
    judgements: object = None,
    queries: object = None,
    **options: Unpack[ScoringOptions],
) -> pl.DataFrame:
    """Describe the ties of every model: how large they are, and which cutoffs fall inside one.

    Parameters
    ----------
    rankings
        A rankings or a counts frame, as for :func:`evaluate`. Without any relevance, what depends
        on it is null.
    cutoffs
        Positive whole numbers; None or ``"all"`` means the whole list, which splits no tie.
    judgements, queries
        As for :func:`evaluate`.
    **options
        Options of :func:`evaluate` that decide which rows count and how: ``decimals``,
        ``distance_threshold``, ``unjudged``, ``unjudged_query``, ``null_distance``,
        ``exclude_self``, ``truncated``. Others have no effect.

    Returns
    -------
    polars.DataFrame
        One row per ``model`` and ``cutoff`` k, with

        - ``queries``: lists with an item (and with judgements, if there are any);
        - ``cut_share``: share of them whose cutoff splits a tie: ranks k and k + 1 are in one tie,
          as far as the list shows;
        - ``mixed_share``: share of the split ties that hold different relevance grades, so that
          their order changes scores that count grades (null if none is split). A mixed tie further
          up affects scores too: see ``mixed_items``;
        - ``ends_in_cut_tie``: share of them whose cutoff reaches into a last tie that the end of
          the list may have cut, so that its size is unknown (see :func:`truncated_lists`);
        - ``tie_median``, ``tie_p90``, ``tie_max``: items of the ties that reach into the top k, an
          item that is alone at its distance being a tie of one;
        - ``tied_items``, ``mixed_items``: share of the top k that shares its distance with another
          item, and that lies in a tie of different relevance grades;
        - ``items``, ``distances``: length of the lists and distinct distances in them (medians,
          whole lists);
        - ``bits``: bits of information that distances give about the order (median, whole lists):
          the entropy −Σ (n_c/n) log2(n_c/n) over the ties of n_c of the n items, so 2^bits is the
          number of equally large ties with the same information; log2(n) without ties;
        - ``near_ties``: share of the gaps between neighbouring distances of a list that are at most
          4 ulp of the list's largest distance, in the type of the column, so that rounding decides
          the order. 0 for whole numbers.

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 5],
    ...         "relevance": [0, 1, 0, 1],
    ...     }
    ... )
    >>> tie_profile(rankings, cutoffs=(1, 2)).select(
    ...     "cutoff", "cut_share", "mixed_share", "tie_max", "tied_items"
    ... )
    shape: (2, 5)
    ┌────────┬───────────┬─────────────┬─────────┬────────────┐
    │ cutoff ┆ cut_share ┆ mixed_share ┆ tie_max ┆ tied_items │
    │ ---    ┆ ---       ┆ ---         ┆ ---     ┆ ---        │
    │ i64    ┆ f64       ┆ f64         ┆ i64     ┆ f64        │
    ╞════════╪═══════════╪═════════════╪═════════╪════════════╡
    │ 1      ┆ 0.0       ┆ null        ┆ 1       ┆ 0.0        │
    │ 2      ┆ 1.0       ┆ 1.0         ┆ 2       ┆ 0.5        │
    └────────┴───────────┴─────────────┴─────────┴────────────┘
    """
    depths = parse_cutoffs(cutoffs)
    checked = options_with(options, policies="expected")
    return profile_of(TieTable(rankings, judgements, queries, checked), depths)


def profile_of(table: TieTable, cutoffs: Sequence[int | None]) -> pl.DataFrame:
    """What `tie_profile` returns."""
    parts = [
        _at_cutoff(table.ties, cutoff).with_columns(index=pl.lit(index, pl.UInt32))
        for index, cutoff in enumerate(cutoffs)
    ]
    keys = ["model", "index"]
    frame = join_left(pl.concat(parts), ends_at(table.ends, cutoffs), keys).sort(keys)
    frame = join_left(frame, table.whole_lists(), "model")
    if not table.judged.whole.graded:
        frame = frame.with_columns(mixed_share=None, mixed_items=None)
    return in_contract(frame, PROFILE)


class TieTable:
    """One row per tie: where it starts and how large it is.

    Attributes
    ----------
    judged
        The rankings as they were judged.
    ties
        What `tie_table` returns, which numbers the lists by their rows in ``names``.
    ends
        What `list_ends` returns.
    """

    def __init__(
        self, rankings: object, judgements: object, queries: object, options: Options
    ) -> None:
        rules = replace(options, relevant_items="own")  # R plays no part here
        self.judged = judge_for_ties(rankings, judgements, queries, rules)
        prepared, self.order = lay_out(self.judged, rules), self.judged.order
        self.ties = tie_table(self.judged, prepared, rules)
        self.names = prepared.names
        self.ends = list_ends(prepared)

    def named(self, ties: pl.DataFrame) -> pl.DataFrame:
        """Return some of the ties with ``model`` and ``query`` in place of their list."""
        return self.names[ties["list"]].hstack(ties.drop("list", "model"))

    def whole_lists(self) -> pl.DataFrame:
        """What does not depend on the cutoff, one row per model."""
        terms = pl.col("size") * pl.col("size").cast(pl.Float64).log(2)
        return (
            self.ties.with_columns(near=self._near(), term=terms)
            .group_by("list", maintain_order=True)
            .agg(
                pl.first("model"),
                items=pl.sum("size"),
                distances=pl.len(),
                near=pl.sum("near"),
                term=pl.sum("term"),
            )
            .with_columns(bits=pl.col("items").log(2) - pl.col("term") / pl.col("items"))
            .group_by("model", maintain_order=True)
            .agg(
                pl.col("items", "distances", "bits").median(),
                near_ties=(pl.sum("near") / (pl.col("distances") - 1).sum()).fill_nan(0.0),
            )
            .with_columns(pl.col("model").cast(pl.String))
        )

    def _near(self) -> pl.Expr:
        """Whether only a few ulp lie between a tie and the one before it in its list."""
        distance, number = pl.col(self.order), pl.col("list")
        if not self.ties.schema[self.order].is_float():
            return pl.lit(False)
        gap = distance.cast(pl.Float64).diff().abs()
        ulp = distance.abs().max().over(number).map_batches(_ulp, return_dtype=pl.Float64)
        return (gap <= SAME_WITHIN_ULPS * ulp) & (number == number.shift())


def _ulp(numbers: pl.Series) -> pl.Series:
    """Return how far the next number of the type is; that of the largest, above which nothing lies,
    is that of the one below.
    """
    values = numbers.to_numpy()
    below = np.nextafter(np.finfo(values.dtype).max, values.dtype.type(0))
    return pl.Series(np.spacing(np.minimum(values, below)).astype(np.float64))


def _at_cutoff(ties: pl.DataFrame, cutoff: int | None) -> pl.DataFrame:
    """What a cutoff sees of the ties, one row per model."""
    before, size, taken, cut = map(pl.col, ("before", "size", "taken", "cut"))
    end = before + size
    inside = end if cutoff is None else pl.min_horizontal(end, pl.lit(cutoff, dtype=pl.Int64))
    queries = (before == 0).sum()
    return (
        ties.filter(True if cutoff is None else before < cutoff)
        .with_columns(taken=inside - before, cut=end > inside)
        .group_by("model")
        .agg(
            queries=queries,
            cut_share=cut.sum() / queries,
            mixed_share=(cut & pl.col("mixed")).sum() / cut.sum(),
            tie_median=size.median(),
            tie_p90=size.quantile(0.9, "linear"),
            tie_max=size.max(),
            tied_items=taken.filter(size > 1).sum() / taken.sum(),
            mixed_items=taken.filter("mixed").sum() / taken.sum(),
        )
        .with_columns(pl.col("model").cast(pl.String), pl.col("mixed_share").fill_nan(None))
    )


def ties_at_cutoff(
    rankings: object,
    *,
    cutoff: int,
    judgements: object = None,
    queries: object = None,
    **options: Unpack[ScoringOptions],
) -> pl.DataFrame:
    """List the ties that a cutoff splits: ranks k and k + 1 are in one tie, and chance decides
    which items count.

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
        One row per list whose cutoff falls inside a tie: ``model``, ``query``; ``first`` and
        ``last`` rank of the tie, its ``size``, and how many of its items are ``inside`` the cutoff;
        ``relevant`` items of the tie and whether it is ``mixed``, of different grades (both
        null without any relevance). Mixed ties first, then the largest, then by name.

    Examples
    --------
    >>> rankings = {
    ...     "query": ["q"] * 4,
    ...     "item": list("abcd"),
    ...     "distance": [0, 2, 2, 5],
    ...     "relevance": [0, 1, 0, 1],
    ... }
    >>> ties_at_cutoff(rankings, cutoff=2).row(0)
    ('model', 'q', 2, 3, 2, 1, 1, True)
    >>> ties_at_cutoff(rankings, cutoff=1).height
    0
    """
    measure = check_whole("cutoff", cutoff, 1, MOST_ITEMS)
    table = TieTable(rankings, judgements, queries, options_with(options, policies="expected"))
    before, size = pl.col("before"), pl.col("size")
    cut = table.named(table.ties.filter((before < measure) & (before + size > measure)))
    cut = cut.with_columns(first=before + 1, last=before + size, inside=measure - before)
    if not table.judged.whole.graded:
        cut = cut.with_columns(relevant=None, mixed=None)
    ordered = cut.sort(
        "mixed", "size", "model", "query", descending=[True, True, False, False], nulls_last=True
    )
    return in_contract(ordered, CUT_TIES)
