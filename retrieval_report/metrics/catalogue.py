"""The catalogue of metrics: frozen records with parameters,
and their text form, ``"ap(denominator=retrieved)@10"``.

Positions count from 1; k is the cutoff (the list's own length if null), n the length of the list,
R the number of relevant items of the query, and e = min(k, n). docs/metrics.md has every formula
with its source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.kernels.ap import ap_moments, retrieved_moments
from retrieval_report.kernels.ap_retrieved import own_ideal_moments
from retrieval_report.kernels.err import err_moments
from retrieval_report.kernels.lists import Bools, Floats
from retrieval_report.metrics import terms
from retrieval_report.metrics.record import Facts, Formula, Largest, Metric, number

R = "R, the relevant items of the query"
HITS = "number of relevant items"
GAINED = "Σ gain(grade of item i) · discount(i)"
DENOMINATORS = {
    "total": R,
    "min": "min(k, R)",
    "retrieved": "the relevant items among the top k",
    "k": "k",
}
POSITIVE = number(lambda grade: grade > 0, "number above 0")
Gains = str | Mapping[Any, float] | Callable[[Floats], object]
Discounts = str | Callable[[Floats], object]


@dataclass(frozen=True)
class _Binary(Metric):
    """Base of the metrics that ask whether an item is relevant; ``rel`` is the smallest grade that
    is, by default ``relevant_from`` of the call.
    """

    largest: ClassVar[Largest] = 1.0
    needs_relevant = True
    rel: float | None = field(default=None, kw_only=True, metadata=POSITIVE)


@dataclass(frozen=True)
class NumRelRet(_Binary):
    """Number of relevant items among the top k; the mean over queries is reported, where trec_eval
    prints the sum.
    """

    name = "num_rel_ret"
    formula = Formula(HITS)
    largest: ClassVar[Largest] = None
    needs_relevant = False
    term = terms.HITS


@dataclass(frozen=True)
class Precision(NumRelRet):
    """Share of relevant items among the top k: hits / k.

    ``denominator="retrieved"`` divides by min(k, n), as rax, KerasRS and TensorFlow Ranking do.

    >>> str(Precision(denominator="retrieved"))
    'precision(denominator=retrieved)'
    """

    name = "precision"
    formula = Formula(
        HITS, {"k": "k", "retrieved": "min(k, n), the items retrieved"}, "denominator"
    )
    largest = 1.0
    denominator: str = "k"


@dataclass(frozen=True)
class Recall(_Binary):
    """Share of the relevant items found among the top k: hits / R.

    ``denominator="min"`` divides by min(k, R), as BEIR's capped recall does, so that a perfect list
    scores 1 at every k.

    >>> str(Recall("min"))
    'recall(denominator=min)'
    """

    name = "recall"
    formula = Formula(
        HITS, {choice: DENOMINATORS[choice] for choice in ("total", "min")}, "denominator"
    )
    denominator: str = "total"
    term = terms.HITS


@dataclass(frozen=True)
class F1(NumRelRet):
    """Harmonic mean of precision and recall at k: 2 · hits / (k + R)."""

    name = "f1"
    formula = Formula("2 · number of relevant items", "k + R")
    largest = 1.0

    def divisor(self, facts: Facts) -> Floats:
        return (facts.cutoff + facts.relevant) / 2.0


@dataclass(frozen=True)
class HitRate(_Binary):
    """Chance that the top k hold a relevant item (success@k; TF Similarity's RecallAtK)."""

    name = "hit_rate"
    formula = Formula("1 if any item is relevant")
    term = terms.FIRST_HIT


@dataclass(frozen=True)
class RPrecision(_Binary):
    """Precision among the first R positions: hits@R / R. Cutoffs do not apply."""

    name = "r_precision"
    term = terms.HITS
    formula = Formula("number of relevant items among the first R", "R")
    own_depth = True


@dataclass(frozen=True)
class AP(_Binary):
    """Average precision at k: Σ_{i≤e} precision@i · [item at i relevant] / denominator.

    Denominators: ``total`` is R (trec_eval, TALR), ``min`` is min(k, R) (recommender toolkits),
    ``retrieved`` is the number of relevant items among the top k (hashing literature, torchmetrics;
    random if k splits a tie, and treated exactly here), ``k`` is k.

    ``interpolation="trapezoid"`` takes the mean of precision@i and precision@(i − 1), with 1 before
    the first rank, as the evaluations of Oxford Buildings and Market-1501 do.

    >>> AP(denominator="retreived")
    Traceback (most recent call last):
    retrieval_report.ParameterError: ap denominator: 'retreived' is not one of 'total', 'min',
    'retrieved', 'k'; did you mean 'retrieved'?
    """

    name = "ap"
    formula = Formula("Σ precision@i · [item i is relevant]", DENOMINATORS, "denominator")
    values: ClassVar[terms.Relevant] = terms.Relevant()
    denominator: str = "total"
    interpolation: str = "none"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice(f"{self.name} interpolation", self.interpolation, ("none", "trapezoid"))
        if self.interpolation != "none" and (self.name != "ap" or self.denominator == "retrieved"):
            raise ParameterError(
                f"{self.name}: interpolation works only for ap, and not with denominator=retrieved"
            )

    @property
    def term(self) -> terms.Sum:
        if self.interpolation != "none":
            return terms.TRAPEZOIDS
        if self.denominator == "retrieved":
            return terms.Sum(self.values, terms.HARMONIC, retrieved_moments, ratio="hits")
        return terms.Sum(self.values, terms.HARMONIC, ap_moments)

    def when_all_follow(self) -> AP:
        return replace(self, denominator="total") if self.denominator == "retrieved" else self


@dataclass(frozen=True)
class WAP(AP):
    """Weighted average precision: AP with the mean relevant grade so far instead of precision.

    Source: Zhao et al. 2015. Grades below ``relevant_from`` count as 0. The denominators are those
    of AP.
    """

    name = "wap"
    formula = Formula(
        "Σ (sum of relevant grades up to i)/i · [item i is relevant]", DENOMINATORS, "denominator"
    )
    largest = "grade"
    values = terms.Relevant(graded=True)


@dataclass(frozen=True)
class APAtR(_Binary):
    """AP over the first R positions, divided by R (MAP@R, Musgrave et al. 2020).

    Cutoffs do not apply.
    """

    name = "ap_at_r"
    formula = Formula("Σ precision@i · [item i is relevant] over the first R", "R")
    own_depth = True
    term = terms.PRECISIONS


@dataclass(frozen=True)
class Bpref(_Binary):
    """Binary preference: Σ over the relevant items found of 1 − min(y, M)/M, divided by R (Buckley
    and Voorhees 2004).

    y counts the judged non-relevant items before the item, and M = min(R, all judged non-relevant
    items), as trec_eval defines it. Items without judgement play no part: with a judgements frame
    they are left out of the lists, for this metric alone; without one, ``unjudged="drop"`` leaves
    them out for all. Cutoffs do not apply.
    """

    name = "bpref"
    formula = Formula(
        "Σ over relevant items of 1 − (judged others before it, at most M)/M, "
        "M = min(R, judged others)",
        "R",
    )
    own_depth = True
    term = terms.PREFERENCES


@dataclass(frozen=True)
class RR(_Binary):
    """Reciprocal rank: 1 / (rank of the first relevant item), 0 if that rank is beyond k."""

    name = "rr"
    formula = Formula("1/i for the first relevant item")
    term = terms.RECIPROCAL_RANK


@dataclass(frozen=True)
class ACG(Metric):
    """Average cumulative gain: Σ_{i≤e} rel(i) / k (Zhao et al. 2015)."""

    name = "acg"
    formula = Formula("Σ grade of item i", "k")
    largest = "grade"
    term = terms.Sum(terms.Gain("linear"), terms.UNIT)


@dataclass(frozen=True)
class DCG(Metric):
    """Discounted cumulative gain: Σ_{i≤e} gain(rel(i)) · discount(i).

    Source: Järvelin and Kekäläinen 2002.

    ``gain``: ``linear`` (the grade itself), ``exp2`` (2^rel − 1, Burges et al. 2005), a mapping
    grade → gain, or a function of an array of grades. ``discount``: ``log2`` (1/log2(1 + i)),
    ``reciprocal`` (1/i), or a function of an array of ranks.

    >>> str(DCG(gain={0: 0, 1: 1, 2: 5}))
    'dcg(gain=0:0;1:1;2:5)'
    """

    name = "dcg"
    formula = Formula(GAINED)
    gain: Gains = "linear"
    discount: Discounts = "log2"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "gain", terms.gain_rule(self.gain))
        if not callable(self.discount):
            check_choice(f"{self.name} discount", self.discount, list(terms.DISCOUNTS))

    @property
    def term(self) -> terms.Sum:
        return terms.Sum(self._gain, terms.Discount(self.discount))

    @property
    def _gain(self) -> terms.Gain:
        return terms.Gain(self.gain)  # type: ignore[arg-type]  # hashable since __post_init__


@dataclass(frozen=True)
class NDCG(DCG):
    """DCG divided by the ideal DCG, which is the DCG of the grades in descending order.

    ``ideal`` says over which items: ``judged`` (all judged items when judgements are given, else
    the list's), ``list``, or ``cutoff`` (the top k themselves, as TF Similarity does; binary
    relevance only). If the cutoff is null, the judged ideal runs over all judged items, as in
    trec_eval.
    """

    name = "ndcg"
    formula = Formula(
        GAINED,
        {
            "judged": "the same sum for the best order of all judged items",
            "list": "the same sum for the best order of the list",
            "cutoff": "the same sum for the best order of the top k (binary relevance only)",
        },
        "ideal",
    )
    largest = 1.0
    ideal: str = "judged"

    @property
    def term(self) -> terms.Sum:
        if self.ideal != "cutoff":
            return super().term
        discount = terms.Discount(self.discount)
        return terms.Sum(terms.Gain("single"), discount, own_ideal_moments, ratio="ideal")

    @property
    def best(self) -> terms.Ideal | None:
        """Return the ideal DCG this metric divides by, or None if it is that of the top k itself."""
        if self.ideal == "cutoff":
            return None
        return terms.Ideal(self._gain, terms.Discount(self.discount), self.ideal)

    def divisor(self, facts: Facts) -> Floats:
        return np.ones((1, 1)) if self.best is None else facts.ideal(self.best)

    def undefined(self, facts: Facts) -> Bools:
        none: Bools = facts.relevant == 0
        return none if self.best is None else none & (facts.ideal(self.best) == 0)

    def when_all_follow(self) -> NDCG:
        return replace(self, ideal="judged")


@dataclass(frozen=True)
class RBP(_Binary):
    """Rank-biased precision: (1 − p) Σ_{i≤e} p^(i−1) · [item at i relevant].

    Source: Moffat and Zobel 2008. With ``max_grade``, an item counts rel / max_grade instead of 1.
    """

    name = "rbp"
    formula = Formula(
        "(1 − p) Σ p^(i−1) · [item i is relevant], or · grade/max_grade if that is given"
    )
    needs_relevant = False
    p: float = field(default=0.8, metadata=number(lambda p: 0 < p < 1, "number between 0 and 1"))
    max_grade: float | None = field(default=None, metadata=POSITIVE)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rel is not None and self.max_grade is not None:
            raise ParameterError("rbp: with max_grade every grade counts, so rel has no effect")

    @property
    def term(self) -> terms.Sum:
        values = terms.Relevant() if self.max_grade is None else terms.Gain(self.max_grade)
        return terms.Sum(values, terms.Discount(self.p))


@dataclass(frozen=True)
class ERR(Metric):
    """Expected reciprocal rank: Σ_{i≤e} 1/i · P(search ends at i) (Chapelle et al. 2009).

    An item of grade g ends the search with probability (2^g − 1)/2^max_grade; ``max_grade`` is 4 by
    default, as in gdeval, so that a score does not depend on which other queries are in the data.
    """

    name = "err"
    formula = Formula(
        "Σ 1/i · stop(i) · Π over j < i of (1 − stop(j)), stop = (2^grade − 1)/2^max_grade"
    )
    largest = 1.0
    max_grade: float = field(
        default=4.0,
        metadata=number(lambda grade: 0 < grade <= 1023, "number above 0 and at most 1023"),
    )

    @property
    def term(self) -> terms.Sum:
        return terms.Sum(terms.Stop(self.max_grade), terms.OWN, err_moments)
