"""Two-stage search against all choices of the items that tie at the depth."""

import math
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest

import retrieval_report as rr

MEASURES = (
    "precision@2, ndcg@3, dcg(gain=exp2)@4, recall@3, rbp(p=0.5)@3, acg@2, num_rel_ret@4, f1@3"
)
Items = list[tuple[str, int, float]]  # item, relevance, final score


def exponential(grade: int) -> int:
    return int(2**grade) - 1


def score(measure: str, grades: list[int], judged: list[int]) -> float:
    """A measure by its definition."""
    name, _, depth = measure.partition("@")
    top = grades[: int(depth)]
    relevant = [grade > 0 for grade in top]
    ideal = sorted(judged, reverse=True)[: int(depth)]
    discounted = [
        sum(gain(grade) / math.log2(rank + 2) for rank, grade in enumerate(some))
        for some, gain in (
            (top, int),
            (ideal, int),
            (top, exponential),
        )
    ]
    return {
        "precision": sum(relevant) / int(depth),
        "ndcg": discounted[0] / (discounted[1] or 1),
        "dcg(gain=exp2)": discounted[2],
        "recall": sum(relevant) / (sum(grade > 0 for grade in judged) or 1),
        "rbp(p=0.5)": sum(hit * 0.5 ** (rank + 1) for rank, hit in enumerate(relevant)),
        "acg": sum(top) / int(depth),
        "num_rel_ret": sum(relevant),
        "f1": 2 * sum(relevant) / (int(depth) + sum(grade > 0 for grade in judged)),
        "rr": 1 / (relevant.index(True) + 1) if any(relevant) else 0,
    }[name]


def final_orders(kept: Items) -> list[list[int]]:
    """The grades in every order that the final scores allow."""
    levels = sorted({item[2] for item in kept}, reverse=True)
    groups = [[item[1] for item in kept if item[2] == level] for level in levels]
    return [
        [grade for group in chosen for grade in group]
        for chosen in product(*(list(permutations(group)) for group in groups))
    ]


def enumerated(near: list[int], items: Items, depth: int, measure: str) -> list[float]:
    """Naive, mean, lowest, highest and deviation over all choices and orders."""
    order = sorted(range(len(items)), key=lambda i: near[i])
    last = near[order[min(depth, len(order)) - 1]]
    sure = [items[i] for i in order if near[i] < last]
    tied = [items[i] for i in order if near[i] == last]
    judged = [relevance for _, relevance, _ in items]
    choices = list(combinations(tied, min(depth, len(order)) - len(sure)))
    values, chances = [], []
    for some in choices:  # equally likely, and then the orders of each
        orders = final_orders(sure + list(some))
        values += [score(measure, grades, judged) for grades in orders]
        chances += [1 / len(choices) / len(orders)] * len(orders)
    kept = (sure + tied)[:depth]
    naive = [grade for _, grade, _ in sorted(kept, key=lambda item: -item[2])]
    mean = math.fsum(map(math.prod, zip(values, chances, strict=True)))
    spread = math.sqrt(
        math.fsum(
            chance * (value - mean) ** 2 for value, chance in zip(values, chances, strict=True)
        )
    )
    return [score(measure, naive, judged), mean, min(values), max(values), spread]


def drawn(seed: int) -> tuple[list[int], Items]:
    """A list whose distances tie, and whose final scores do sometimes."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 8))
    finals = rng.integers(0, 4, size) if seed % 2 else rng.permutation(size)
    grades = rng.choice([0, 0, 1, 2], size)
    items = [(f"i{n}", int(grades[n]), float(finals[n])) for n in range(size)]
    return rng.integers(0, 3, size).tolist(), items


@pytest.mark.parametrize("seed", range(16))
def test_every_policy_equals_the_enumeration_of_all_choices(seed: int):
    near, items = drawn(seed)
    names, grades, finals = zip(*items, strict=True)
    first = {"query": ["q"] * len(items), "item": names, "distance": near}
    table = rr.rescored(
        first, {"query": first["query"], "item": names, "score": finals}, depth=(1, 2, 4, "all"),
        measures=MEASURES, judgements={"q": dict(zip(names, grades, strict=True))}, truncated="no",
    )  # fmt: skip
    for depth in (1, 2, 4, "all"):
        for measure in MEASURES.split(", "):
            metric, _, cutoff = measure.partition("@")
            rows = table.filter(model=f"model/{depth}", metric=metric, cutoff=int(cutoff))
            assert rows["policy"].to_list() == ["naive", "expected", "worst", "best"]
            deep = len(items) if depth == "all" else int(depth)
            wanted = enumerated(near, items, deep, measure)
            found = [*rows["value"], rows["std"][1]]
            assert found == pytest.approx(wanted, abs=2e-8), (depth, measure)


@pytest.mark.slow
def test_choices_are_drawn_for_measures_without_a_closed_form():
    near, items = drawn(5)
    names, grades, finals = zip(*items, strict=True)
    first = {"query": ["q"] * len(items), "item": names, "distance": near}
    final = {"query": first["query"], "item": names, "score": finals}
    asked: Any = {
        "depth": (2, 4), "judgements": {"q": dict(zip(names, grades, strict=True))},
        "truncated": "no", "measures": "rr@3, precision, ndcg@3", "shuffles": 1000,
    }  # fmt: skip
    with pytest.warns(rr.RetrievalReportWarning, match="rr@3, precision@all have no closed form"):
        table = rr.rescored(first, final, **asked)
    for depth in (2, 4):
        rows = table.filter(model=f"model/{depth}", metric="rr")
        assert rows["policy"].to_list() == ["naive", "shuffled"]
        wanted = enumerated(near, items, depth, "rr@3")
        assert rows["value"][0] == pytest.approx(wanted[0])
        assert rows["value"][1] == pytest.approx(wanted[1], abs=4 * wanted[4] / math.sqrt(1000))
        assert rows["std"][1] == pytest.approx(wanted[4], rel=0.1)
    assert table.filter(metric="ndcg")["policy"].to_list() == [
        "naive", "expected", "worst", "best",
    ] * 2  # fmt: skip
    assert table.filter(metric="precision")["cutoff"].null_count() == 4
