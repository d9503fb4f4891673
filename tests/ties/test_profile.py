"""The tie profile, against a plain recount of the lists."""

import math
from collections import Counter
from statistics import median
from typing import Any

import numpy as np
import polars as pl
import pytest

import retrieval_report as rr
from retrieval_report.ties.profile import PROFILE, tie_profile

CUTOFFS = (1, 2, 5, 30, None)


def random_rankings(seed: int, dtype: type[pl.DataType] = pl.Int64) -> pl.DataFrame:
    """Lists of two models that rank the same items, of which some are relevant."""
    random = np.random.default_rng(seed)
    grades = random.integers(0, 3, (12, 25)) * (random.random((12, 25)) < 0.5)
    frames = []
    for model, distances in (("coarse", 3), ("fine", 20)):
        for query in range(12):
            items = int(random.integers(1, 25))
            frames.append(
                pl.DataFrame(
                    {
                        "model": [model] * items,
                        "query": [f"q{query}"] * items,
                        "item": [f"d{item}" for item in range(items)],
                        "distance": random.integers(0, distances, items),
                        "relevance": grades[query, :items],
                    }
                )
            )
    return pl.concat(frames).with_columns(pl.col("distance").cast(dtype))


def recount(rankings: pl.DataFrame, model: str, cutoff: int | None) -> dict[str, Any]:
    """Every column of the profile, list by list and item by item."""
    cut, mixed_cut, sizes, tied, mixed, taken, lengths, kinds, bits = (
        [],
        [],
        [],
        0,
        0,
        0,
        [],
        [],
        [],
    )
    open_end = []
    for _, group in rankings.filter(model=model).group_by("query"):
        rows = sorted(group.select("distance", "relevance").rows())
        size = Counter(distance for distance, _ in rows)
        grades: dict[Any, set[Any]] = {distance: set() for distance in size}
        for distance, relevance in rows:
            grades[distance].add(relevance)
        top = rows if cutoff is None else rows[:cutoff]
        beyond = rows[len(top) :]
        cut.append(bool(beyond) and beyond[0][0] == top[-1][0])
        open_end.append(top[-1][0] == rows[-1][0])
        if cut[-1]:
            mixed_cut.append(len(grades[top[-1][0]]) > 1)
        sizes += [size[distance] for distance in {distance for distance, _ in top}]
        tied += sum(size[distance] > 1 for distance, _ in top)
        mixed += sum(len(grades[distance]) > 1 for distance, _ in top)
        taken += len(top)
        lengths.append(len(rows))
        kinds.append(len(size))
        bits.append(
            -sum(count / len(rows) * math.log2(count / len(rows)) for count in size.values())
        )
    return {
        "queries": len(lengths),
        "cut_share": sum(cut) / len(cut),
        "mixed_share": sum(mixed_cut) / len(mixed_cut) if mixed_cut else None,
        "ends_in_cut_tie": sum(open_end) / len(open_end),
        "tie_median": median(sizes),
        "tie_p90": float(np.quantile(sizes, 0.9)),
        "tie_max": max(sizes),
        "tied_items": tied / taken,
        "mixed_items": mixed / taken,
        "items": median(lengths),
        "distances": median(kinds),
        "bits": median(bits),
        "near_ties": 0.0,
    }


@pytest.mark.parametrize("dtype", [pl.Int64, pl.UInt8, pl.Float32])
def test_every_column_is_that_of_a_plain_recount(dtype: type[pl.DataType]):
    rankings = random_rankings(1, dtype)
    profile = tie_profile(rankings, cutoffs=CUTOFFS, truncated="within_tie")
    assert profile.schema == pl.Schema(PROFILE)
    assert profile.select("model", "cutoff").rows() == [
        (m, k) for m in ("coarse", "fine") for k in CUTOFFS
    ]
    assert_recounted(profile, rankings)


def assert_recounted(profile: pl.DataFrame, rankings: pl.DataFrame):
    for row in profile.iter_rows(named=True):
        for name, value in recount(rankings, row["model"], row["cutoff"]).items():
            wanted = value if value is None else pytest.approx(value, abs=1e-12)
            assert row[name] == wanted, (row, name)


def test_a_threshold_makes_far_items_not_relevant_in_each_model_by_itself():
    rankings = random_rankings(3)
    far = rankings.with_columns(
        relevance=pl.when(pl.col("distance") <= 1).then("relevance").otherwise(0)
    )
    profile = tie_profile(rankings, cutoffs=CUTOFFS, distance_threshold=1, truncated="within_tie")
    assert far.group_by("query", "item").agg(pl.n_unique("relevance") > 1)["relevance"].any()
    assert_recounted(profile, far)
    whole = tie_profile(rankings, cutoffs=CUTOFFS)
    assert profile["mixed_items"].sum() < whole["mixed_items"].sum()


def test_counts_and_scores_have_the_profile_of_the_distances():
    rankings = random_rankings(2)
    profile = tie_profile(rankings, cutoffs=CUTOFFS, truncated="no")
    assert tie_profile(rr.count_ties(rankings), cutoffs=CUTOFFS, truncated="no").equals(profile)
    scores = rankings.select(pl.exclude("distance"), score=-pl.col("distance"))
    assert tie_profile(scores.lazy(), cutoffs=CUTOFFS, truncated="no").equals(profile)


def test_without_relevances_only_what_needs_them_is_null():
    rankings = random_rankings(3)
    blind, seen = tie_profile(rankings.drop("relevance")), tie_profile(rankings)
    unknown = ("mixed_share", "mixed_items")
    assert blind.drop(unknown).equals(seen.drop(unknown))
    assert blind.select(pl.col(unknown).is_null().all()).row(0) == (True, True)
