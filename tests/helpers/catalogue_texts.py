"""Every metric of the catalogue, as text, and metrics as users write them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from retrieval_report import Metric
from retrieval_report.kernels.lists import Floats
from retrieval_report.metrics import terms
from retrieval_report.metrics.parsing import CATALOGUE
from retrieval_report.metrics.record import Facts, Formula, Largest

BINARY = "ndcg(ideal=cutoff)"  # for relevances that are 0 or one grade
OTHER_PARAMETERS = [
    "ap(interpolation=trapezoid)",
    "ap(denominator=min,interpolation=trapezoid)",
    "dcg(gain=exp2,discount=reciprocal)",
    "ndcg(gain=exp2)",
    "ndcg(gain=exp2,ideal=list)",
    "rbp(p=0.5)",
    "rbp(p=0.5,max_grade=4)",
    "err(max_grade=3)",
]


def _choices(name: str) -> Iterator[str]:
    """The metric by itself, and with every other divisor it offers."""
    yield name
    formula = CATALOGUE[name].formula
    if not isinstance(formula.divisor, str):
        yield from (f"{name}({formula.parameter}={choice})" for choice in list(formula.divisor)[1:])


TEXTS = [text for name in CATALOGUE for text in _choices(name) if text != BINARY] + OTHER_PARAMETERS


@dataclass(frozen=True)
class FoundShare(Metric):
    """Recall, by another name."""

    name: ClassVar[str] = "found_share"
    largest: ClassVar[Largest] = 1.0
    formula = Formula("number of relevant items", "R")  # which divides it
    term = terms.Sum(terms.Relevant(), terms.UNIT)


@dataclass(frozen=True)
class Worth(Metric):
    """What the top k are worth: a sum without limit, to which irrelevant items add too."""

    name: ClassVar[str] = "worth"

    @property
    def term(self) -> terms.Sum:
        return terms.Sum(terms.Gain(lambda grades: 1.0 + 3.0 * grades), terms.UNIT)


@dataclass(frozen=True)
class SteepNDCG(Metric):
    """NDCG in which an item of grade g counts g², divided by the ideal by hand, and at most 1."""

    name: ClassVar[str] = "steep_ndcg"
    largest: ClassVar[Largest] = 1.0
    gain: ClassVar[terms.Gain] = terms.Gain(np.square)

    @property
    def term(self) -> terms.Sum:
        return terms.Sum(self.gain, terms.Discount("reciprocal"))

    def divisor(self, facts: Facts) -> Floats:
        return facts.ideal(terms.Ideal(self.gain, terms.Discount("reciprocal"), "judged"))


@dataclass(frozen=True)
class Density(Metric):
    """Relevant items, those nearer the top counting more, per item retrieved and relevant item
    there is.
    """

    name: ClassVar[str] = "density"
    term = terms.Sum(terms.Relevant(), terms.Discount(0.7))

    def divisor(self, facts: Facts) -> Floats:
        return facts.length + facts.relevant


OF_USERS: tuple[Metric, ...] = (FoundShare(), Worth(), SteepNDCG(), Density())
