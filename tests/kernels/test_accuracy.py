"""Long lists against references in high precision: values to 1e-12 relative, standard deviations to
1e-9.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl
import pytest

import oracles
from references import reference
from retrieval_report import evaluate

MANY = 100_000
Ties = Sequence[dict[int, int]]

CASES: dict[str, Ties] = {
    "one tie, one relevant": [{0: MANY - 1, 1: 1}],
    "one tie, a hundred relevant": [{0: MANY - 100, 1: 40, 2: 30, 3: 30}],
    "one tie, half relevant": [{0: MANY // 2, 1: MANY // 4, 3: MANY // 4}],
    "the only relevant item in a last tie of two": [{0: 1}] * (MANY - 2) + [{0: 1, 1: 1}],
    "ties of ten": [{0: 8, 1: 1, 2: 1}, {0: 10}, {0: 9, 3: 1}, {0: 10}] * (MANY // 40),
    "a large tie far down": [{0: 900_000}, {0: 99_990, 2: 10}],
}
TEXTS = (
    "precision",
    "hit_rate",
    "rr",
    "ap",
    "ap(denominator=retrieved)",
    "dcg",
    "wap",
    "wap(denominator=retrieved)",
    "rbp(p=0.999)",
    "err",
)
SLOW = {
    "the only relevant item in a last tie of two": ("rr", "ap", "dcg")
}  # the reference walks every tie
CUTOFFS = (10, 50_000, None)


def counts(ties: Ties) -> pl.DataFrame:
    cells = [
        (index, grade, items) for index, tie in enumerate(ties) for grade, items in tie.items()
    ]
    return pl.DataFrame(
        cells, schema=["distance", "relevance", "count"], orient="row"
    ).with_columns(query=pl.lit("q"))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.slow
def test_long_lists(name: str) -> None:
    ties = CASES[name]
    scores = evaluate(
        counts(ties),
        metrics=SLOW.get(name, TEXTS),
        cutoffs=CUTOFFS,
        policies="expected",
        truncated="no",
    )
    for row in scores.iter_rows(named=True):
        if row["metric"] == "err" and row["std"] is None:
            continue  # documented: too many states for an exact variance
        exact = reference(ties, row["metric"], row["cutoff"])
        where = f"{name}: {row['metric']}@{row['cutoff']} {row['value']} ± {row['std']}"
        assert math.isclose(row["value"], float(exact.mean), rel_tol=1e-12), (
            f"{where}, exact {float(exact.mean)}"
        )
        if exact.variance is not None:
            std = oracles.square_root(exact.variance)
            assert math.isclose(row["std"], std, rel_tol=1e-9, abs_tol=1e-60), (
                f"{where}, exact {std}"
            )
