"""Every option once: its title, its sentence and its choices. Checks, ``--help`` and the sidebar read them here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from retrieval_report.contracts.truncated import TRUNCATED

__all__ = ["PARAMETERS", "Parameter"]


class Parameter(NamedTuple):
    """One option: what it is called where there is room for words, what it decides, and its choices if it has any."""

    title: str
    meaning: str
    choices: tuple[str, ...] = ()


PARAMETERS: Mapping[str, Parameter] = {
    "metrics": Parameter(
        "Metrics", "By name, with parameters and a cutoff of their own if wanted: ap(denominator=k)@10."
    ),
    "cutoffs": Parameter("Cutoffs", "Depths for the metrics that name none; all is the whole list."),
    "policies": Parameter(
        "Scores shown",
        "What is done with the order inside ties. expected: the exact mean over all orders; naive: ties in the order "
        "received; shuffled: random orders; worst, best: the lowest and the highest that any order can give.",
        ("expected", "naive", "shuffled", "best", "worst"),
    ),
    "shuffles": Parameter("Random orders drawn", "How many random orders the policy shuffled draws."),
    "seed": Parameter("Seed", "Where those random orders start."),
    "no_relevant": Parameter(
        "Queries without a relevant item",
        "Queries without a relevant item score 0, are left out, score 1, or are refused.",
        ("zero", "skip", "one", "error"),
    ),
    "relevant_from": Parameter(
        "Relevant from grade", "The smallest relevance that counts as relevant; by default every one above 0."
    ),
    "distance_threshold": Parameter(
        "Relevant up to distance", "Items farther away keep their rank and count as not relevant; by default none do."
    ),
    "naive_order": Parameter(
        "Naive order",
        "The order that the policy naive takes inside ties: that of the rows, or of the item ids, rising or falling.",
        ("row", "item", "item_descending"),
    ),
    "decimals": Parameter("Decimals kept", "Distances are rounded to so many decimals first."),
    "missing_query": Parameter(
        "Queries without a list",
        "Queries that others answer and a model does not score 0, are left out, or are refused.",
        ("zero", "skip", "error"),
    ),
    "unjudged": Parameter(
        "Items without relevance",
        "Items that nobody judged count as not relevant, are dropped from the lists, or are refused; by default they "
        "are not relevant where there are judgements beside the rankings, else refused.",
        ("non_relevant", "drop", "error"),
    ),
    "unjudged_query": Parameter(
        "Queries without judgements",
        "Queries that the judgements do not have are refused, or left out.",
        ("error", "skip"),
    ),
    "null_distance": Parameter(
        "Items without a distance",
        "Items without a distance are refused, or count as known but not retrieved: the relevant ones lower recall.",
        ("error", "not_retrieved"),
    ),
    "truncated": Parameter(
        "Lists cut at their end",
        "Whether lists were cut, as top-k lists are. no: they hold all items; between_ties: they end behind a whole "
        "tie; within_tie: their last tie may go on; auto decides from the data, and says so.",
        TRUNCATED,
    ),
    "relevant_items": Parameter(
        "Relevant where nobody judged",
        "Without judgements and without n_relevant, what any model shows is relevant for all (pooled), each model "
        "knows its own list alone, or the data are refused.",
        ("pooled", "own", "error"),
    ),
    "threads": Parameter("Threads", "Threads to use; by default all processors. The result does not depend on it."),
    "progress": Parameter("Progress", "Whether a progress bar is shown."),
    "average": Parameter(
        "Average",
        "micro: the mean over queries; macro: over labels of queries; weighted: by the weight of each query.",
        ("micro", "macro", "weighted"),
    ),
}
