"""Every metric in words: its sum, its divisor, and what its parameters choose.

The records of :mod:`retrieval_report.metrics.catalogue` check their parameters against these
choices; the method section of a report, the sidebar and the table in docs/metrics.md display them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Formula(NamedTuple):
    """A sum over the first min(k, n) positions i, and the divisor, which may depend on the value of
    ``parameter``.
    """

    total: str
    divisor: str | Mapping[str, str]
    parameter: str = ""

    def divided_by(self, choice: object = None) -> str:
        """Return the divisor for a value of the parameter that chooses it."""
        return self.divisor if isinstance(self.divisor, str) else self.divisor[str(choice)]


R = "R, the relevant items of the query"
NOTHING = "1"
DENOMINATORS = {
    "total": R,
    "min": "min(k, R)",
    "retrieved": "the relevant items among the top k",
    "k": "k",
}
FORMULAS: Mapping[str, Formula] = {
    "precision": Formula(
        "number of relevant items",
        {"k": "k", "retrieved": "min(k, n), the items retrieved"},
        "denominator",
    ),
    "num_rel_ret": Formula("number of relevant items", NOTHING),
    "recall": Formula("number of relevant items", R),
    "f1": Formula("2 · number of relevant items", "k + R"),
    "hit_rate": Formula("1 if any item is relevant", NOTHING),
    "r_precision": Formula("number of relevant items among the first R", "R"),
    "ap": Formula("Σ precision@i · [item i is relevant]", DENOMINATORS, "denominator"),
    "ap_at_r": Formula("Σ precision@i · [item i is relevant] over the first R", "R"),
    "bpref": Formula(
        "Σ over relevant items of 1 − (judged others before it, at most M)/M, M = min(R, judged "
        "others)",
        "R",
    ),
    "rr": Formula("1/i for the first relevant item", NOTHING),
    "dcg": Formula("Σ gain(grade of item i) · discount(i)", NOTHING),
    "ndcg": Formula(
        "Σ gain(grade of item i) · discount(i)",
        {
            "judged": "the same sum for the best order of all judged items",
            "list": "the same sum for the best order of the list",
            "cutoff": "the same sum for the best order of the top k",
        },
        "ideal",
    ),
    "acg": Formula("Σ grade of item i", "k"),
    "wap": Formula(
        "Σ (sum of relevant grades up to i)/i · [item i is relevant]", DENOMINATORS, "denominator"
    ),
    "rbp": Formula(
        "(1 − p) Σ p^(i−1) · [item i is relevant], or · grade/max_grade if that is given", NOTHING
    ),
    "err": Formula(
        "Σ 1/i · stop(i) · Π over j < i of (1 − stop(j)), stop = (2^grade − 1)/2^max_grade", NOTHING
    ),
}
GAINS = {"linear": "g", "exp2": "2^g − 1"}
DISCOUNTS = {"log2": "1/log2(1 + i)", "reciprocal": "1/i"}


def divisors(metric: str) -> tuple[str, ...]:
    """Return the values of the parameter that chooses a metric's divisor, the default first.

    >>> divisors("ndcg")
    ('judged', 'list', 'cutoff')
    """
    return tuple(FORMULAS[metric].divisor)


def parameter_text(metric: str, parameter: str) -> tuple[tuple[str, ...], str]:
    """Return the choices of a parameter, the default first, and a sentence that explains each of
    them.

    >>> parameter_text("precision", "denominator")
    (('k', 'retrieved'), 'What the sum is divided by. k: k; retrieved: min(k, n), the items
    retrieved.')
    """
    what, choices = {
        "gain": ("What an item of grade g counts", GAINS),
        "discount": ("What rank i counts", DISCOUNTS),
    }.get(parameter, ("What the sum is divided by", FORMULAS[metric].divisor))
    assert isinstance(choices, Mapping)
    return tuple(
        choices
    ), f"{what}. {'; '.join(f'{name}: {text}' for name, text in choices.items())}."
