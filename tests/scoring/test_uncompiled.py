"""Until kernels are compiled, NumPy and shorter lists stand in for some; the bits are the same."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from catalogue_texts import BINARY, TEXTS
from retrieval_report import evaluate
from retrieval_report.kernels import lists, tables, walk
from retrieval_report.kernels.compile import Kernel
from retrieval_report.scoring import arrays, scorer

CUTOFFS = (1, 5, 40, None)


def made(seed: int, values: int, grades: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Long lists of two models whose scores have so many values, and judgements of few items."""
    random = np.random.default_rng(seed)
    parts = []
    for model in ("m", "n"):
        for query in range(4):
            size = int(random.integers(0, 80))
            item = random.permutation(400)[:size]
            score = random.integers(0, values, size)
            parts.append(
                pl.DataFrame({"item": item, "score": score}).select(
                    pl.lit(model).alias("model"), pl.lit(query).alias("query"), "item", "score"
                )
            )
    pairs = pl.DataFrame({"query": range(4)}).join(pl.DataFrame({"item": range(400)}), how="cross")
    shares = [0.91, *[0.09 / grades] * grades]
    judged = pairs.with_columns(
        relevance=pl.Series(random.choice(grades + 1, pairs.height, p=shares))
    )
    kept = pl.Series(random.random(pairs.height) < 0.5)
    return pl.concat(parts), judged.filter(kept)


@pytest.mark.parametrize(
    ("values", "metrics", "options", "few"),
    [
        (3, TEXTS, {"truncated": "no"}, True),
        (40, TEXTS, {"truncated": "within_tie"}, False),
        (10**9, TEXTS, {"truncated": "between_ties", "relevant_from": 2.0}, True),
        (3, BINARY, {"truncated": "no", "naive_order": "item", "unjudged": "drop"}, False),
    ],
    ids=["long ties", "short ties", "no ties", "binary"],
)
def test_all_columns_are_equal(
    monkeypatch: pytest.MonkeyPatch, values: int, metrics: Any, options: dict[str, Any], few: bool
):
    rankings, judgements = made(values, values, 1 if metrics == BINARY else 3)

    def scores():
        return evaluate(
            rankings,
            judgements=judgements,
            measures=metrics,
            cutoffs=CUTOFFS,
            policies=("expected", "naive", "best", "worst", "shuffled"),
            shuffles=2,
            **options,
        )

    monkeypatch.setattr(Kernel, "compiles", lambda *_: True)
    usual = scores()
    monkeypatch.setattr(Kernel, "unmade", property(lambda _: True))
    monkeypatch.setattr(Kernel, "compiles", lambda *_: False)
    tables._filled.cache_clear()
    for module in (lists, arrays, scorer):
        monkeypatch.setattr(module, "FEW", 1 if few else 10**9)
    monkeypatch.setattr(walk, "FEWEST", 0)
    assert_frame_equal(scores(), usual, check_exact=True)


def test_items_are_counted_alike(monkeypatch: pytest.MonkeyPatch):
    random = np.random.default_rng(0)
    start, tie = (np.append(0, random.integers(0, 4, size).cumsum()) for size in (9, 20))
    made_lists = lists.Lists(
        start.clip(max=20), tie, random.integers(0, 3, tie[-1]), random.integers(1, 9, tie[-1])
    )
    relevant = np.array([False, True, True])

    def counts():
        totals = made_lists.length, made_lists.total(relevant), made_lists.total(of_last_tie=True)
        return [total.tolist() for total in (*totals, made_lists.total(relevant, of_last_tie=True))]

    slow = counts()
    monkeypatch.setattr(Kernel, "unmade", property(lambda _: True))
    monkeypatch.setattr(lists, "FEW", 0)
    assert counts() == slow
    assert slow[3] != slow[2] != slow[0]
