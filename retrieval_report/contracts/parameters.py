"""Declare every option once, with title, sentence and choices, for checks, ``--help`` and the
sidebar.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from retrieval_report.contracts.truncated import TRUNCATED


class Parameter(NamedTuple):
    """One option: its title, a sentence that says what it decides, and its choices, if any."""

    title: str
    meaning: str
    choices: tuple[str, ...] = ()


PARAMETERS: Mapping[str, Parameter] = {
    "metrics": Parameter(
        "Metrics",
        "By name, optionally with parameters and a cutoff: ap(denominator=k)@10. The first is the "
        "headline.",
    ),
    "cutoffs": Parameter(
        "Cutoffs", "Depths for metrics given without a cutoff; all means the whole list."
    ),
    "policies": Parameter(
        "Scores shown",
        "How the order inside ties is treated. expected: the exact mean over all orders; naive: "
        "ties in the order "
        "received; shuffled: random orders; worst, best: the lowest and highest score that any "
        "order can give.",
        ("expected", "naive", "shuffled", "best", "worst"),
    ),
    "shuffles": Parameter(
        "Random orders drawn", "How many random orders the policy shuffled draws."
    ),
    "seed": Parameter("Seed", "Seed of those random orders."),
    "no_relevant": Parameter(
        "Queries without a relevant item",
        "Queries without a relevant item score 0, are left out, score 1, or are refused.",
        ("zero", "skip", "one", "error"),
    ),
    "relevant_from": Parameter(
        "Relevant from grade",
        "The smallest relevance that counts as relevant; by default any above 0.",
    ),
    "distance_threshold": Parameter(
        "Relevant up to distance",
        "Items farther away keep their rank but count as not relevant; by default there is no "
        "limit.",
    ),
    "naive_order": Parameter(
        "Naive order",
        "The order of the policy naive inside ties: that of the rows, or of the item ids, "
        "ascending or descending.",
        ("row", "item", "item_descending"),
    ),
    "decimals": Parameter("Decimals kept", "Distances are first rounded to this many decimals."),
    "missing_query": Parameter(
        "Queries without a list",
        "Queries that other models answer but this one does not score 0, are left out, or are "
        "refused.",
        ("zero", "skip", "error"),
    ),
    "unjudged": Parameter(
        "Items without relevance",
        "Items without judgement count as not relevant, are dropped from the lists, or are "
        "refused; by default they "
        "are not relevant if a judgements frame is given, else refused.",
        ("non_relevant", "drop", "error"),
    ),
    "unjudged_query": Parameter(
        "Queries without judgements",
        "Queries that do not occur in the judgements are refused, or left out.",
        ("error", "skip"),
    ),
    "null_distance": Parameter(
        "Items without a distance",
        "Items without a distance are refused, or count as known but not retrieved; relevant ones "
        "then lower recall.",
        ("error", "not_retrieved"),
    ),
    "truncated": Parameter(
        "Lists cut at their end",
        "Whether lists were cut, as top-k lists are. no: they hold all items; between_ties: they "
        "end after a whole "
        "tie; within_tie: their last tie may continue, which auto assumes unless the data prove "
        "that lists are whole.",
        TRUNCATED,
    ),
    "relevant_items": Parameter(
        "Relevant items without judgements",
        "Without judgements and n_relevant, what any model retrieved counts for all models "
        "(pooled), only each model's "
        "own list counts (own), or the data are refused.",
        ("pooled", "own", "error"),
    ),
    "threads": Parameter(
        "Threads", "Threads to use; by default all processors. The result does not depend on it."
    ),
    "progress": Parameter("Progress", "Whether a progress bar is shown."),
    "like": Parameter(
        "Like another system",
        "Take the definitions and the tie order of another evaluator: trec_eval, ranx, sklearn, …; "
        "naive is then what "
        "it prints.",
    ),
    "average": Parameter(
        "Average",
        "micro: the mean over queries; macro: over labels of queries; weighted: by the weight of "
        "each query.",
        ("micro", "macro", "weighted"),
    ),
    "correction": Parameter(
        "Correction",
        "How p-values allow for the number of pairs. max-t: the largest studentised difference, "
        "stepped down; holm: "
        "the p-values of single tests; tukey: one distance for all pairs; bh: only the share of "
        "false findings.",
        ("max-t", "holm", "tukey", "bh"),
    ),
}
