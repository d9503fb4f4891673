"""From another system's test case to the arguments of `evaluate` that mean the same.

A case becomes a *plan*: metrics, cutoff, arguments, and how its frames are built. Where there is no
plan, `reason_left_out` says why.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import retrieval_report as rr


@dataclass(frozen=True)
class Case:
    """One recorded test case; `key` serves as the name of its model."""

    key: str
    data: Mapping[str, Any] = field(repr=False)

    @property
    def name(self) -> str:
        return str(self.data["name"])

    @property
    def metric(self) -> str:
        return str(self.data["metric"])

    @property
    def cutoff(self) -> int | None:
        cutoff: int | None = self.data["k"]
        return cutoff

    @property
    def options(self) -> Mapping[str, Any]:
        options: Mapping[str, Any] = self.data["options"]
        return options

    @property
    def queries(self) -> Sequence[Mapping[str, Any]]:
        queries: Sequence[Mapping[str, Any]] = self.data["queries"]
        return queries

    @property
    def direct(self) -> bool:
        return bool(self.data["direct"])

    @property
    def ties_matter(self) -> bool:
        return bool(self.data["tie_changes_order_of_relevance"])

    def option(self, name: str) -> str:
        return str(self.options.get(name, ""))

    def query_id(self, position: int) -> str:
        return f"{self.key}/{position}"


# ---- from a case to the arguments of `evaluate`
# ------------------------------------------------------------


def reciprocal_of_rank_plus_ten(rank: Any) -> Any:
    return 1.0 / (rank + 10.0)


def reciprocal_log10(rank: Any) -> Any:
    return 1.0 / np.log10(rank + 1.0)


def half_the_grade(relevance: Any) -> Any:
    return relevance / 2.0


GAINS: dict[str, Any] = {
    "2^rel-1": "exp2",
    "rel": "linear",
    "binary": "linear",
    "rel/2": half_the_grade,
}
DISCOUNTS: dict[str, Any] = {
    "1/log2(rank+1)": "log2",
    "1/rank": "reciprocal",
    "1/(rank+10)": reciprocal_of_rank_plus_ten,
    "1/log10(rank+1)": reciprocal_log10,
}
NAMES = {
    "bpref": "bpref",
    "f1": "f1",
    "f_measure": "f1",
    "fall_out": "recall",  # the recall of the items that are not relevant
    "r_precision": "r_precision",
    "recall": "recall",
    "reciprocal_rank": "rr",
    "success": "hit_rate",
}


def relevant_retrieved(recall: Mapping[str, Any]) -> float:
    return float(recall["value"] * recall["n_relevant"])


# Counts and products that other systems print, from the rows that `evaluate` gives for one query.
COMBINATIONS: dict[str, tuple[tuple[str, ...], Callable[..., float]]] = {
    "num_rel": (("recall",), lambda recall: float(recall["n_relevant"])),
    "num_rel_ret": (("recall",), relevant_retrieved),
    "num_ret": (("recall",), lambda recall: float(recall["items"])),
    "set_ap": (
        ("precision(denominator=retrieved)", "recall"),
        lambda precision, recall: float(precision["value"] * recall["value"]),
    ),
    "set_rel_p": (
        ("precision(denominator=retrieved)", "recall"),
        lambda precision, recall: float(max(precision["value"], recall["value"])),
    ),
}


@dataclass(frozen=True)
class Plan:
    """How a case is asked: cases whose plans read the same share one call of `evaluate`."""

    metrics: tuple[Any, ...]
    cutoff: int | None
    arguments: tuple[tuple[str, Any], ...] = ()
    distances: bool = False
    relevance: str = "as given"  # "binary", "complement", "own gain", "weighted gain": see `grade`
    judgements: bool = (
        False  # relevance in a frame of its own, for items that were not retrieved or not judged
    )
    weights: bool = False
    n_relevant: bool = False
    reversed_rows: bool = False  # the other system takes the last row of a tie first
    average: str = "micro"
    summary_column: str = "value"
    combination: str = ""
    alone: str = (
        ""  # the only case of its call: an empty list is not to be skipped, nor are there others
    )


def metric_of(case: Case) -> Any:
    """Name the metric in our text form, or build the record where a callable or a mapping is
    needed.
    """
    if case.metric in ("dcg", "ndcg"):
        return cumulated_gain(case)
    if case.metric == "average_precision":
        if "clip_at_r" in case.options:
            return "ap_at_r"
        return (
            "ap(denominator=retrieved)"
            if case.option("ap_denominator") == "hits_in_top_k"
            else "ap"
        )
    if case.metric == "precision":
        per_rank = case.options.get("precision_denominator", "k") == "k"
        return "precision" if per_rank else "precision(denominator=retrieved)"
    if case.metric == "rbp":
        return f"rbp(p={case.options['p']})"
    if case.metric == "err":
        return f"err(max_grade={case.options['max_grade']})"
    return NAMES[case.metric]


def cumulated_gain(case: Case) -> Any:
    gain, discount = GAINS[case.option("gain")], DISCOUNTS[case.option("discount")]
    lists_weigh = "list-weighted" in case.option(
        "aggregate"
    )  # then `weigh_gains` makes the gain linear
    if relevance_of(case) == "own gain" or (
        relevance_of(case) == "weighted gain" and not lists_weigh
    ):
        gain = "linear"
    if isinstance(gain, str) and isinstance(discount, str):
        return f"{case.metric}(gain={gain},discount={discount})"
    record = rr.DCG if case.metric == "dcg" else rr.NDCG
    return record(gain=gain, discount=discount)


def own_gains(case: Case) -> dict[int, float]:
    """Gains that ir_measures was given; a label that is not named is its own gain, below zero it
    gains nothing.
    """
    pairs = re.findall(r"(\d+):(\d+)", case.option("measure"))
    given = {int(label): float(gain) for label, gain in pairs}
    return {label: given.get(label, max(float(label), 0.0)) for label in range(-2, 5)}


def plan_of(case: Case) -> Plan:
    combination = "num_ret" if case.option("measure") == "NumRet" else case.metric
    if combination in COMBINATIONS:
        metrics: tuple[Any, ...] = COMBINATIONS[combination][0]
    else:
        metrics, combination = ("recall",) if case.metric == "num_q" else (metric_of(case),), ""
    return Plan(
        metrics=metrics,
        cutoff=case.cutoff,
        arguments=tuple(sorted(arguments_of(case).items())),
        distances="distance_threshold" in case.options,
        relevance=relevance_of(case),
        judgements=needs_judgements(case),
        weights="list-weighted" in case.option("aggregate"),
        n_relevant=any("R_total" in query for query in case.queries),
        reversed_rows="LAST" in case.option("ties"),
        average=average_of(case),
        summary_column="queries" if case.metric == "num_q" else "value",
        combination=combination,
        alone=case.key if has_empty_list(case) else "",
    )


def arguments_of(case: Case) -> dict[str, Any]:
    arguments: dict[str, Any] = {}
    if not has_empty_list(case):
        arguments["missing_query"] = "skip"  # the queries of the other cases of the call
    empty = case.options.get("no_relevant_value", 0.0)
    if empty != 0.0:
        arguments["no_relevant"] = "skip" if empty is None else "one"
    threshold = re.fullmatch(r"label[>=]=(\d+)", case.option("relevant_if"))
    # Gains do not look at the threshold; a list of small grades is not one without relevant items.
    if threshold and case.metric not in ("dcg", "ndcg") and not weighs_precisions(case):
        arguments["relevant_from"] = int(threshold[1])
    if "distance_threshold" in case.options:
        arguments["distance_threshold"] = case.options["distance_threshold"]
    if needs_judgements(case):
        condensed = case.metric == "bpref" or "judged_only=True" in case.option("measure")
        arguments["unjudged"] = "drop" if condensed else "non_relevant"
    elif any(has_no_list(query) for query in case.queries):
        arguments["null_distance"] = "not_retrieved"
    return arguments


def has_empty_list(case: Case) -> bool:
    return any(not query["items"] for query in case.queries)


def has_no_list(query: Mapping[str, Any]) -> bool:
    return not query["items"] and "unretrieved_relevance" in query


def needs_judgements(case: Case) -> bool:
    if any(has_no_list(query) or "R_total" in query for query in case.queries):
        return False
    return "gains=" in case.option("measure") or any(
        "unretrieved_relevance" in query or not all(judged_places(query)) for query in case.queries
    )


def judged_places(query: Mapping[str, Any]) -> list[bool]:
    """Tell which items are judged: a label below zero is trec_eval's way to say that one is not."""
    if "raw_qrels" in query:
        return [query["raw_qrels"].get(item, -1) >= 0 for item in query["items"]]
    return [True] * len(query["items"])


def relevance_of(case: Case) -> str:
    if case.metric == "fall_out":
        return "complement"
    if "gains=" in case.option("measure"):
        return "own gain"
    if (case.metric in ("dcg", "ndcg") and weights_inside_lists(case)) or weighs_precisions(case):
        return "weighted gain"
    return "binary" if case.option("gain") == "binary" else "as given"


def average_of(case: Case) -> str:
    aggregate = case.option("aggregate")
    for start, average in (
        ("macro", "macro"),
        ("sum", "sum"),
        ("keras-rs list-weighted", "weighted"),
    ):
        if aggregate.startswith(start):
            return average
    return "micro"


# ---- cases that cannot be asked
# ----------------------------------------------------------------------------


def reason_left_out(case: Case) -> str | None:
    """Say why a case is not run; None when it is. A `direct` case always is."""
    known = {
        *NAMES,
        *COMBINATIONS,
        "average_precision",
        "precision",
        "dcg",
        "ndcg",
        "rbp",
        "err",
        "num_q",
    }
    if case.metric not in known:
        return f"not in the catalogue: {case.metric}"
    if case.metric == "bpref" and case.cutoff is not None:
        return "bpref of the top k"
    if "when_use_trec_version_is_false" in case.name:
        return "bpref divided by R where fewer others are judged"
    if "beta=" in case.option("measure"):
        return "F measure with beta other than 1"
    if case.option("ties").startswith("all tied items get the worst rank") and relevant_item_ties(
        case
    ):
        return "a tie is one threshold: every relevant item of it gets the precision at its end"
    return None


def relevant_item_ties(case: Case) -> bool:
    return any(
        relevance > 0 and query["score"].count(score) > 1
        for query in case.queries
        for score, relevance in zip(query["score"], query["relevance"], strict=True)
    )


def weighs_precisions(case: Case) -> bool:
    uneven = weights_inside_lists(case) and "list-weighted" in case.option("aggregate")
    return uneven and case.metric == "average_precision"


def weights_inside_lists(case: Case) -> bool:
    """Tell whether relevant items of a list differ in weight, or weights count without a weighted
    mean.
    """
    if "list-weighted" not in case.option("aggregate"):
        return any("weights" in query for query in case.queries)
    return any(len(relevant_weights(query)) > 1 for query in case.queries if "weights" in query)


def relevant_weights(query: Mapping[str, Any]) -> set[float]:
    pairs = zip(query["weights"], query["relevance"], strict=True)
    return {weight for weight, relevance in pairs if relevance > 0}
