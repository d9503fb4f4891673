"""Until kernels are compiled, NumPy and shorter lists stand in for some; the bits are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from catalogue_texts import BINARY, TEXTS
from retrieval_report import evaluate
from retrieval_report.kernels import lists, tables
from retrieval_report.kernels.compile import Kernel
from retrieval_report.scoring import arrays, scorer

CUTOFFS = (1, 5, 10, 100, None)


def made(seed: int, values: int, grades: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Long lists of two models whose scores have so many values, and judgements of few items."""
    random = np.random.default_rng(seed)
    parts = []
    for model in ("m", "n"):
        for query in range(6):
            size = int(random.integers(0, 200))
            item = random.permutation(400)[:size]
            score = random.integers(0, values, size)
            parts.append(
                pl.DataFrame({"item": item, "score": score}).select(
                    pl.lit(model).alias("model"), pl.lit(query).alias("query"), "item", "score"
                )
            )
    pairs = pl.DataFrame({"query": range(6)}).join(pl.DataFrame({"item": range(400)}), how="cross")
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
) -> None:
    rankings, judgements = made(values, values, 1 if metrics == BINARY else 3)

    def scores() -> pl.DataFrame:
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
    assert_frame_equal(scores(), usual, check_exact=True)


@pytest.mark.parametrize("counted", [True, False])
def test_rows_are_counted_alike(monkeypatch: pytest.MonkeyPatch, counted: bool) -> None:
    random = np.random.default_rng(4)
    for values in (2, 30, 2**62):
        size = random.integers(0, 40, 50)
        ends = np.cumsum(size)
        shuffled = random.permutation(50)  # lists that are not in the order of their rows
        rows = lists.Rows((ends - size)[shuffled], ends[shuffled])
        key = random.integers(-values, values, ends[-1])
        grade = random.integers(0, 3, ends[-1]).astype(np.int32)
        count = random.integers(1, 5, ends[-1] if counted else 0)
        given = rows, key, grade, count, 3
        found = []
        for compiles in (True, False):
            with monkeypatch.context() as patch:
                patch.setattr(Kernel, "compiles", lambda *_, c=compiles: c)
                found.append(arrays.lists_from_rows(*given, workers=1))
        for one, two in zip(*([*ties, order, keys] for ties, order, keys in found), strict=True):
            assert (one is None) == (two is None)
            if one is not None and two is not None:
                assert one.dtype == two.dtype
                assert one.tolist() == two.tolist()


@pytest.mark.parametrize("truncated", ["no", "within_tie"])
def test_lists_without_ties_have_one_order(truncated: str) -> None:
    rankings, judgements = made(1, 10**5, 3)  # few lists with ties

    def scores(*policies: str) -> pl.DataFrame:
        result = evaluate(
            rankings,
            judgements=judgements,
            measures=TEXTS,
            cutoffs=CUTOFFS,
            policies=policies,
            truncated=truncated,
        )
        return result.filter(pl.col("policy") != "expected")

    for policy in ("best", "worst", "naive"):
        assert_frame_equal(scores("expected", policy), scores(policy), check_exact=True)
