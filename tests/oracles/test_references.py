"""The references for long lists against enumeration, against each other, golden values, and sums by
hand.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest

import fixed_point
import golden
import reference_cascade
from oracles import METRICS, log2, moments
from recursion import MeanVariance, by_states, histograms
from references import reference

SMALL = golden.cases("exact_small")[::13]
TEXTS = [
    *(
        name for name in METRICS if name not in ("bpref", "num_rel_ret")
    ),  # of which there is no reference
    *(
        f"{name}(denominator={choice})"
        for name in ("ap", "wap")
        for choice in ("min", "retrieved", "k")
    ),
    *("precision(denominator=retrieved)", "rbp(p=0.5, max_grade=4)", "err(max_grade=3)"),
    *(
        "dcg(gain=exp2, discount=reciprocal)",
        "ndcg(gain=exp2)",
        "ndcg(ideal=list)",
        "ndcg(ideal=cutoff)",
    ),
]
TINY = Fraction(1, 10**45)


def same(left: MeanVariance, right: tuple[Fraction | None, ...]) -> bool:
    """Equal to 45 decimals, where both are known."""
    pairs = zip(left, right[:2], strict=True)
    return all(abs(a - b) < TINY for a, b in pairs if a is not None and b is not None)


def queries(case: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """What to tell the oracle about a query, and the same for references."""
    flat = [grade for tie in case["ties"] for grade in tie]
    judged = [*flat, 0, 2, 3]
    yield {"n_relevant": case["n_relevant"]}, {"n_relevant": case["n_relevant"]}
    yield (
        {"relevant_from": 2, "judged": judged},
        {"relevant_from": 2, "judged": histograms([judged])[0]},
    )


@pytest.mark.parametrize("text", TEXTS)
def test_recursion_equals_enumeration(text: str) -> None:
    for case in SMALL:
        for query, counted in queries(case):
            for k in (case["k"], None):
                found = by_states(histograms(case["ties"]), text, k, **counted)
                assert same(found, moments(case["ties"], text, k, **query)), (
                    case["ties"],
                    k,
                    query,
                )


@pytest.mark.parametrize("text", TEXTS)
def test_reference_equals_enumeration(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference_cascade, "STATES_AT_MOST", 0)
    refused = 0
    for case in SMALL:
        for query, counted in queries(case):
            try:
                found = reference(histograms(case["ties"]), text, case["k"], **counted)
            except NotImplementedError:
                refused += 1
                continue
            assert same(found, moments(case["ties"], text, case["k"], **query)), (case, query)
    assert refused == 0 or (text == "ndcg(ideal=cutoff)" and refused < len(SMALL) / 4)


@pytest.mark.parametrize("text", TEXTS)
def test_reference_equals_recursion_on_sixty_items(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ties = [{0: 6, 1: 2}, {0: 14, 1: 9}, {2: 1}, {0: 20, 1: 8}]
    wanted = by_states(ties, text, 45)
    monkeypatch.setattr(reference_cascade, "STATES_AT_MOST", 0)
    assert same(reference(ties, text, 45), wanted)


@pytest.mark.parametrize("text", golden.TEXT.values())
def test_reference_equals_every_medium_golden_case(text: str) -> None:
    for case in golden.cases("exact_medium"):
        ties, wanted = histograms(case["ties"]), case["expected"][text]
        found = reference(ties, text, case["k"])
        assert float(found.mean) == pytest.approx(wanted["mean"], rel=1e-15)
        if "variance" in wanted:
            assert found.variance is not None
            assert float(found.variance) == pytest.approx(wanted["variance"], rel=3e-15)


ALWAYS, MOSTLY, RARELY, NEVER = Fraction(1), Fraction(15, 16), Fraction(1, 16), Fraction(0)


@pytest.mark.parametrize(
    ("groups", "slots"),
    [
        ({ALWAYS: 300, RARELY: 300}, 600),
        ({ALWAYS: 590, MOSTLY: 10}, 600),
        ({ALWAYS: 599, NEVER: 1}, 600),
        ({ALWAYS: 500, MOSTLY: 50, RARELY: 30, NEVER: 20}, 300),
    ],
)
def test_err_by_recurrence_equals_err_by_merging_groups(
    groups: dict[Fraction, int], slots: int
) -> None:
    merged = reference_cascade.mean_reading(groups, slots)
    recurred = reference_cascade.by_recurrence(groups, slots)
    assert max(abs(a - b) for a, b in zip(merged, recurred, strict=True)) < fixed_point.fixed(TINY)


# By hand, at a million items
# --------------------------------------------------------------------------

MILLION = 10**5  # enough for every formula


def harmonic(n: int, power: int = 1) -> Fraction:
    """Sum of 1 / i**power for i up to n, to 60 digits."""
    with mpmath.workprec(250):
        value = (
            mpmath.euler + mpmath.digamma(n + 1)
            if power == 1
            else mpmath.zeta(power) - mpmath.zeta(power, n + 1)
        )
        return Fraction(int(mpmath.ldexp(value, 200)), 1 << 200)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["ap(denominator=retrieved)", "rr"])
def test_one_relevant_item_in_a_tie_of_a_million(text: str) -> None:
    """It is equally likely at every position, and adds 1/i there."""
    found = reference([{0: MILLION - 1, 1: 1}], text)
    first, second = harmonic(MILLION) / MILLION, harmonic(MILLION, 2) / MILLION
    assert same(found, (first, second - first**2))


@pytest.mark.slow
def test_err_of_one_relevant_item_in_a_tie_of_a_million() -> None:
    found = reference([{0: MILLION - 1, 2: 1}], "err(max_grade=2)")
    assert same(found, (Fraction(3, 4) * harmonic(MILLION) / MILLION, None))


def test_half_of_a_tie_of_a_million_relevant() -> None:
    """E[AP * R] = H * (r/n - p) + n * p with p = P(two given slots are relevant), summed over
    positions.
    """
    half = MILLION // 2
    pair = Fraction(half * (half - 1), MILLION * (MILLION - 1))
    wanted = (harmonic(MILLION) * (Fraction(1, 2) - pair) + MILLION * pair) / half
    assert same(reference([{0: half, 1: half}], "ap"), (wanted, None))


@pytest.mark.slow
@pytest.mark.parametrize("text", ["rr", "ap"])
def test_a_million_untied_items_with_the_relevant_one_in_a_last_tie_of_two(text: str) -> None:
    ties = [{0: 1}] * (MILLION - 2) + [{0: 1, 1: 1}]
    better, worse = Fraction(1, MILLION - 1), Fraction(1, MILLION)
    found = reference(ties, text)
    assert same(found, ((better + worse) / 2, (better - worse) ** 2 / 4))
    assert found.std == pytest.approx(float((better - worse) / 2), rel=1e-15)


def test_ties_of_ten_add_up() -> None:
    """A relevant item per tie: E = sum over ties of the mean of (1 + earlier) / i over its ten
    positions.
    """
    found = reference([{0: 9, 1: 1}] * 1000, "ap")
    wanted = [
        Fraction(1 + tie, 10) * (harmonic(10 * tie + 10) - harmonic(10 * tie))
        for tie in range(1000)
    ]
    assert same(found, (sum(wanted, Fraction(0)) / 1000, None))


def test_hit_rate_keeps_its_digits_near_one() -> None:
    found = reference([{0: MILLION // 2, 1: MILLION // 2}], "hit_rate", 100)
    missed = Fraction(1)
    for drawn in range(100):
        missed *= Fraction(MILLION // 2 - drawn, MILLION - drawn)
    assert found.std == pytest.approx(float(missed) ** 0.5, rel=1e-15)


# The numbers underneath
# -------------------------------------------------------------------------------


def test_discount_table_equals_the_logarithm() -> None:
    table = fixed_point.log2_discounts(20_000)
    for position in [1, 2, 3, 6, 7, 19_999, 20_000, *random.Random(0).sample(range(8, 20_000), 50)]:
        assert abs(fixed_point.fraction(table[position]) - 1 / log2(1 + position)) < Fraction(
            1, 10**58
        )


def test_hypergeometric_chances() -> None:
    found = fixed_point.hypergeometric(10, 4, 3)
    assert [round(float(fixed_point.fraction(found[x])) * 120) for x in range(4)] == [20, 60, 36, 4]
    assert fixed_point.hypergeometric(5, 5, 3).keys() == {3}
    assert fixed_point.hypergeometric(5, 0, 3).keys() == {0}
    assert sum(fixed_point.hypergeometric(MILLION, 1000, 5000).values()) > fixed_point.fixed(
        1 - TINY
    )
