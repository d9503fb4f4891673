"""How the numbers were computed, in words: formula and denominator of every metric in a report."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from retrieval_report.contracts.errors import ParameterError
from retrieval_report.metrics.parsing import parse_metric

__all__ = ["Method", "describe_metrics"]

RANDOM_AP = {
    "total": "R, the relevant items of the query",
    "min": "min(k, R)",
    "retrieved": "the relevant items among the top k",
    "k": "k",
}
# Sum over the first min(k, n) positions i, and the divisor where no parameter chooses it.
FORMULAS = {
    "num_rel_ret": ("number of relevant items", "1"),
    "precision": ("number of relevant items", ""),
    "recall": ("number of relevant items", "R, the relevant items of the query"),
    "f1": ("2 · number of relevant items", "k + R"),
    "hit_rate": ("1 if any item is relevant", "1"),
    "r_precision": ("number of relevant items among the first R", "R"),
    "ap": ("Σ precision@i · [item i is relevant]", ""),
    "ap_at_r": ("Σ precision@i · [item i is relevant] over the first R", "R"),
    "bpref": ("Σ over relevant items of 1 − (judged others before it, at most M)/M, M = min(R, judged others)", "R"),
    "rr": ("1/i for the first relevant item", "1"),
    "dcg": ("Σ gain(grade of item i) · discount(i)", "1"),
    "ndcg": ("Σ gain(grade of item i) · discount(i)", ""),
    "acg": ("Σ grade of item i", "k"),
    "wap": ("Σ (sum of relevant grades up to i)/i · [item i is relevant]", ""),
    "rbp": ("(1 − p) Σ p^(i−1) · [item i is relevant]", "1"),
    "err": ("Σ 1/i · stop(i) · Π over j < i of (1 − stop(j)), stop = (2^grade − 1)/2^max_grade", "1"),
}
DIVISORS = {
    "precision": {"k": "k", "retrieved": "min(k, n), the items retrieved"},
    "ap": RANDOM_AP,
    "wap": RANDOM_AP,
    "ndcg": {
        "judged": "the same of the best order of all judged items",
        "list": "the same of the best order of the list",
        "cutoff": "the same of the best order of the top k",
    },
}


@dataclass(frozen=True)
class Method:
    """One metric in words."""

    metric: str
    formula: str
    divisor: str
    parameters: str


def describe_metrics(measures: Iterable[str]) -> list[Method]:
    """Describe every metric of measures such as ``ap(denominator=min)@10``, each once.

    >>> describe_metrics(["ap(denominator=min)@10"])[0].divisor
    'min(k, R)'
    """
    return [_describe(name) for name in dict.fromkeys(measure.rpartition("@")[0] for measure in measures)]


def _describe(text: str) -> Method:
    try:
        metric, _ = parse_metric(text)
    except ParameterError:
        # A function as gain or discount has no text form that could be read back.
        return Method(text, FORMULAS.get(text.partition("(")[0], ("", ""))[0], "as its parameters say", "")
    formula, divisor = FORMULAS[metric.name]
    values = {part.name: getattr(metric, part.name) for part in fields(metric)}
    choice = values.get("ideal", values.get("denominator"))
    shown = ", ".join(f"{name} = {value}" for name, value in values.items())
    return Method(str(metric), formula, divisor or DIVISORS[metric.name][str(choice)], shown or "–")
