"""The oracle against the golden cases, and against values worked out by hand."""

import ast
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import golden
import oracles
from oracles import moments, orderings, parse, score

F = Fraction
STATISTICS = ("mean", "variance", "min", "max")
SMALL = golden.cases("exact_small")


@pytest.mark.parametrize("text", golden.TEXT.values())
def test_enumeration_equals_every_small_golden_case(text: str):
    compared = 0
    for case in SMALL:
        if text not in case["expected"]:
            continue
        found = moments(case["ties"], text, case["k"], n_relevant=case["n_relevant"])
        for value, statistic in zip(found, STATISTICS, strict=True):
            wanted = case["expected"][text][statistic]
            where = f"{statistic} of {text} of {case['ties']} at {case['k']}"
            if "fraction" in wanted:
                assert value == Fraction(wanted["fraction"]), where
            else:
                # Golden variances of dcg and ndcg are differences of float64 squares.
                scale = float(found.maximum) ** 2 if statistic == "variance" else 0
                assert float(value) == pytest.approx(
                    wanted["float"], rel=1e-14, abs=1e-14 * scale
                ), where
            compared += 1
    assert compared >= 4 * 405


# By hand: the textbook on one ordered list
# ------------------------------------------------------------

LIST = [0, 3, 0, 1, 2]  # hits at positions 2, 4 and 5


@pytest.mark.parametrize(
    ("text", "k", "query", "value"),
    [
        ("precision", None, {}, F(3, 5)),
        ("precision(denominator=retrieved)", 10, {}, F(3, 5)),
        ("recall", 4, {"n_relevant": 5}, F(2, 5)),
        ("recall", 4, {"judged": [*LIST, 1]}, F(1, 2)),
        ("recall", 4, {"relevant_from": 2}, F(1, 2)),
        ("f1", 4, {}, F(4, 7)),
        ("r_precision", 1, {}, F(1, 3)),
        ("ap", None, {}, (F(1, 2) + F(2, 4) + F(3, 5)) / 3),
        ("map(denominator=min)", 2, {}, F(1, 2) / 2),
        ("ap(denominator=k)", 8, {}, F(8, 5) / 8),
        ("ap_at_r", None, {}, F(1, 2) / 3),
        ("mrr", None, {}, F(1, 2)),
        ("dcg(discount=reciprocal)", 4, {}, F(3, 2) + F(1, 4)),
        ("ndcg(discount=reciprocal)", 2, {"judged": [*LIST, 3]}, F(3, 2) / (3 + F(3, 2))),
        ("ndcg(discount=reciprocal, ideal=list)", 2, {"judged": [3, 3]}, F(3, 2) / 4),
        ("ndcg(discount=reciprocal, ideal=cutoff)", 4, {}, F(7, 4) / (3 + F(1, 2))),
        ("acg", 8, {}, F(6, 8)),
        ("wap(denominator=retrieved)", None, {"relevant_from": 2}, (F(3, 2) + F(5, 5)) / 2),
        ("rbp(p=0.5, max_grade=4)", 4, {}, F(1, 4) * F(3, 4) + F(1, 16) * F(1, 4)),
        ("err(max_grade=3)", 4, {}, F(7, 8) / 2 + F(1, 8) * F(1, 8) / 4),
    ],
)
def test_metrics_on_one_list_by_hand(
    text: str, k: int | None, query: dict[str, Any], value: Fraction
):
    assert score(LIST, text, k, **query) == value


def test_gains_and_discounts_may_be_tables_and_functions():
    table = {0: 0, 1: 1, 2: 10, 3: 100}
    assert score(LIST, "dcg", gain=table, discount=lambda position: 1 / 2**position) == 25 + F(
        1, 16
    ) + F(10, 32)
    assert score(LIST, "dcg", 2, gain=lambda grade: grade**2, discount="reciprocal") == F(9, 2)


def test_the_ideal_of_all_judged_items_is_cut_only_by_a_cutoff():
    options: Any = {"discount": "reciprocal", "judged": [1, 1, 1]}
    assert score([1], "ndcg", None, **options) == 1 / (1 + F(1, 2) + F(1, 3))
    assert score([1], "ndcg", 1, **options) == 1
    assert score([1], "ndcg", 2, **options) == F(2, 3)


@pytest.mark.parametrize("name", oracles.METRICS)
@pytest.mark.parametrize("grades", [[], [0, 0], [1, 1]])
def test_a_query_without_relevant_items_has_zero_everywhere(name: str, grades: list[int]):
    assert all(score(grades, name, k, relevant_from=2) == 0 for k in (None, 1, 3))


@pytest.mark.parametrize("name", oracles.METRICS)
def test_an_empty_list_of_a_judged_query_has_zero_everywhere(name: str):
    assert all(set(moments([], name, k, judged=[2, 1])) == {0} for k in (None, 1))


# By hand: moments over orderings
# ----------------------------------------------------------------------


def test_orderings_have_chances_that_sum_to_one():
    found = list(orderings([[2, 0, 0], [1], [3, 1]]))
    assert len(found) == len(set(found)) == 6
    assert {chance for _, chance in found} == {F(1, 6)}
    assert {sequence[3] for sequence, _ in found} == {1}


@pytest.mark.parametrize(
    ("ties", "text", "k", "wanted"),
    [
        ([[1, 0, 0]], "rr", None, (F(11, 18), F(49, 108) - F(121, 324), F(1, 3), 1)),
        ([[1, 1, 0]], "ap", None, (F(29, 36), F(293, 432) - F(841, 1296), F(7, 12), 1)),
        ([[0], [1, 0]], "ap(denominator=retrieved)", 2, (F(1, 4), F(1, 16), 0, F(1, 2))),
        ([[2, 1]], "acg", 1, (F(3, 2), F(1, 4), 1, 2)),
    ],
)
def test_moments_by_hand(
    ties: list[list[int]], text: str, k: int | None, wanted: tuple[Fraction, ...]
):
    assert tuple(moments(ties, text, k)) == wanted


def test_text_forms():
    assert parse("ap(denominator=retrieved)@10") == ("ap", {"denominator": "retrieved"}, 10)
    assert parse("rbp(p=0.95)") == ("rbp", {"p": F(19, 20)}, None)
    assert parse("hit") == parse("success") == ("hit_rate", {}, None)


# Independence
# -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["oracles", "oracle_completions", "golden"])
def test_the_oracles_import_nothing_of_the_package(name: str):
    tree = ast.parse((Path(__file__).parent / f"{name}.py").read_text(encoding="utf-8"))
    found = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    found |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    own = {"oracles", "mpmath"}
    assert {module.split(".")[0] for module in found} <= own | set(sys.stdlib_module_names)
