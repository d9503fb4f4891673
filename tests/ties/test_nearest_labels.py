"""Votes of nearest neighbours, against all orders of ties one by one, and scikit-learn."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb, prod, sqrt
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import retrieval_report as rr
from made_reports import grid
from retrieval_report.ties.nearest_labels import (
    METRICS,
    TIED_VOTES,
    Vote,
    _chances,
    _sum_distribution,
)

Row = tuple[int, str]  # distance and label of an item


def orders(rows: list[Row]) -> Iterator[list[Row]]:
    """All orders of a list that differ inside ties only."""
    ties = [
        list(itertools.permutations(tie))
        for _, tie in itertools.groupby(sorted(rows), lambda row: row[0])
    ]
    for parts in itertools.product(*ties):
        yield list(itertools.chain(*parts))


def chances(rows: list[Row], k: int, tied_votes: str) -> dict[str, Fraction]:
    """The share of the orders in which each label wins."""
    won: Counter[str] = Counter()
    number = 0
    for order in orders(rows):
        number += 1
        nearest = [label for _, label in order[:k]]
        votes = Counter(nearest)
        most = [label for label, count in votes.items() if count == max(votes.values())]
        if tied_votes == "random":
            for label in most:
                won[label] += Fraction(1, len(most))  # type: ignore[assignment]
        else:
            won[min(most) if tied_votes == "first" else min(most, key=nearest.index)] += 1
    return {label: Fraction(count) / number for label, count in won.items()}


def frame_of(lists: dict[str, list[Row]]) -> tuple[pl.DataFrame, dict[str, str]]:
    """Rankings, and the labels of the items."""
    rows = [
        (query, f"{query}{number}", distance, label)
        for query, items in lists.items()
        for number, (distance, label) in enumerate(items)
    ]
    names = {"query": pl.String, "item": pl.String, "distance": pl.Int64, "label": pl.String}
    frame = pl.DataFrame(rows, schema=names, orient="row")
    return frame.drop("label"), dict(frame.select("item", "label").iter_rows())


def knn(lists: dict[str, list[Row]], truth: dict[str, str], **options: Any):
    """Votes of lists that hold all there is to find."""
    rankings, labels = frame_of(lists)
    counts = (
        rankings.with_columns(label=pl.col("item").replace_strict(labels, return_dtype=pl.String))
        .group_by("query", "distance", "label")
        .len("count")
    )
    found = rr.knn(counts, queries=truth, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("retrieval_report.ties.nearest_labels._warn_cut", lambda *_: None)
        of_rows = rr.knn(
            rankings.sample(fraction=1, shuffle=True, seed=1), labels, queries=truth, **options
        )
    for name in ("chances", "accuracy", "confusion", "classes"):
        assert getattr(found, name).equals(getattr(of_rows, name))
    return found


NOTHING = "nothing"  # a label of no item
Name = tuple[str, ...]


def rates(own: list[str], predicted: list[str], names: list[str]) -> dict[Name, Fraction]:
    """What is to be known of one prediction per query, by its definition."""
    pairs = Counter(zip(own, predicted, strict=True))
    right = sum(pairs[name, name] for name in names)
    found: dict[Name, Fraction] = {("accuracy",): Fraction(right, len(own))}
    for name in names:
        hits, size, named = pairs[name, name], own.count(name), predicted.count(name)
        found[name, "precision"] = Fraction(hits, named or 1)
        found[name, "recall"] = Fraction(hits, size or 1)
        found[name, "f1"] = Fraction(2 * hits, size + named or 1)
    for pair in itertools.product(names, [*names, NOTHING]):
        found["confusion", *pair] = Fraction(pairs[pair])
    return found


@settings(max_examples=40)
@given(
    lists=st.lists(
        st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc")), max_size=5),
        min_size=1,
        max_size=4,
    ),
    truth=st.lists(st.sampled_from("abc"), min_size=4, max_size=4),
    k=st.integers(1, 7),
    tied_votes=st.sampled_from(TIED_VOTES),
)
def test_the_frames_are_means_and_extremes_over_the_orders_of_all_lists(
    lists: list[list[Row]], truth: list[str], k: int, tied_votes: str
):
    assume(any(lists))
    own = dict(zip("pqrs"[: len(lists)], truth, strict=False))
    by_query = dict(zip(own, lists, strict=True))
    found = knn(by_query, own, k=k, tied_votes=tied_votes)
    each = [
        list(chances(rows, k, tied_votes).items()) if rows else [(NOTHING, Fraction(1))]
        for rows in lists
    ]
    shares = {
        query: {label: pytest.approx(float(share), rel=1e-14) for label, share in part if share}
        for query, part in zip(own, each, strict=True)
    }
    for query, part in shares.items():
        rows = found.chances.filter(query=query).fill_null(NOTHING)
        assert dict(rows.select("predicted", "chance").iter_rows()) == part
    names = sorted({*own.values(), *(label for part in each for label, _ in part)} - {NOTHING})
    outcomes: dict[Name, list[tuple[Fraction, Fraction]]] = defaultdict(list)
    for choice in itertools.product(*each):
        chance = prod(one for _, one in choice)
        for name, rate in rates(list(own.values()), [label for label, _ in choice], names).items():
            outcomes[name].append((Fraction(chance), rate))

    def agrees(name: Name, row: Sequence[float]):
        mean = sum(chance * rate for chance, rate in outcomes[name])
        variance = sum(chance * (rate - mean) ** 2 for chance, rate in outcomes[name])
        values = [rate for _, rate in outcomes[name]]
        assert row[1] == pytest.approx(sqrt(variance), abs=1e-7)
        exact = [float(number) for number in (mean, min(values), max(values))]
        return [row[0], *row[2:]] == pytest.approx(exact, rel=1e-13, abs=1e-13)

    numbers = ("value", "tie_std", "lowest", "highest")
    assert agrees(("accuracy",), found.accuracy.select(*numbers).row(0))
    assert found.accuracy["queries"].item() == len(own)
    of_classes = found.classes.select("label", "metric", *numbers).rows()
    assert [row[:2] for row in of_classes] == list(itertools.product(names, METRICS))
    assert all(agrees(row[:2], row[2:]) for row in of_classes)
    cells = found.confusion.fill_null(NOTHING).select("label", "predicted", *numbers).rows()
    assert {row[:2] for row in cells} == {
        (one, other)
        for one, other in itertools.product(own.values(), [*names, NOTHING])
        if any(rate for _, rate in outcomes["confusion", one, other])
    }
    assert all(agrees(("confusion", *row[:2]), row[2:]) for row in cells)


def test_large_ties_are_drawn_exactly():
    """Two labels: the first wins with half of the draws or more."""
    for red, blue, k in ((600, 500, 400), (900, 100, 990), (30, 20, 7), (10**12, 10**12, 80)):
        draws = [comb(red, x) * comb(blue, k - x) for x in range(k + 1)]
        wanted = Fraction(sum(draws[(k + 1) // 2 :]), sum(draws))
        found = _chances(Vote(k, 0, (0, 0), (red, blue), (0, 1), (1, 1)))
        assert found == pytest.approx([float(wanted), float(1 - wanted)], rel=1e-9, abs=1e-300)
    counts = {"query": ["q"] * 3, "distance": [1] * 3, "label": list("abc"), "count": [10**9] * 3}
    many = rr.knn(counts, queries={"q": "a"}, k=50, tied_votes="random").chances["chance"]
    assert many.to_list() == pytest.approx([1 / 3] * 3, rel=1e-9)


def test_the_distribution_of_a_sum_of_trials():
    numbers, probabilities = _sum_distribution([0.3] * 2000 + [1.0] * 5)
    exact = {
        x: float(comb(2000, x) * Fraction(3, 10) ** x * Fraction(7, 10) ** (2000 - x))
        for x in (580, 600, 630)
    }
    assert numbers[0] > 5
    assert {x: probabilities[x + 5 - numbers[0]] for x in exact} == pytest.approx(exact, rel=1e-12)


@pytest.fixture(scope="module")
def digits():
    """Half of scikit-learn's digits as items, and some others as queries."""
    data = pytest.importorskip("sklearn.datasets").load_digits()
    return {
        "items": data.data[:900],
        "labels": data.target[:900],
        "asked": data.data[900:1100],
        "own": data.target[900:1100],
    }


def search(digits: dict[str, Any], items: Any, asked: Any) -> pl.DataFrame:
    return grid(distance=((asked[:, None] - items[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("k", [1, 15])
def test_without_ties_it_is_scikit_learn(digits: dict[str, Any], k: int):
    neighbors = pytest.importorskip("sklearn.neighbors")
    metrics = pytest.importorskip("sklearn.metrics")
    generator = np.random.default_rng(0)
    items, asked = (
        digits[name] + generator.random(digits[name].shape) / 8 for name in ("items", "asked")
    )
    model = neighbors.KNeighborsClassifier(k, algorithm="brute").fit(items, digits["labels"])
    predicted = model.predict(asked)
    labels, own = (
        dict(enumerate(digits["labels"].tolist())),
        dict(enumerate(digits["own"].tolist())),
    )
    found = rr.knn(search(digits, items, asked), labels, queries=own, k=k)
    assert found.chances["predicted"].to_list() == predicted.tolist()
    assert set(found.chances["chance"]) == {1.0}
    assert found.accuracy["value"].item() == pytest.approx(np.mean(predicted == digits["own"]))
    wanted = metrics.precision_recall_fscore_support(digits["own"], predicted)[:3]
    for metric, numbers in zip(("precision", "recall", "f1"), wanted, strict=True):
        part = found.classes.filter(metric=metric)
        assert part["label"].to_list() == list(range(10))
        for name in ("value", "lowest", "highest"):
            assert part[name].to_list() == pytest.approx(numbers)
    matrix = metrics.confusion_matrix(digits["own"], predicted)
    assert {
        row[:2]: row[2] for row in found.confusion.select("label", "predicted", "value").rows()
    } == {(int(one), int(other)): matrix[one, other] for one, other in np.argwhere(matrix)}
