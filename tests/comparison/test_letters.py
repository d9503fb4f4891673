"""Compact letters: those of R and Stata on published data, and what letters have to do on any
matrix.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import retrieval_report as rr
from made_scores import scores_of
from real_data import adhoc
from retrieval_report.comparison.letters import letter_columns, letter_texts
from retrieval_report.comparison.significance import holm
from retrieval_report.kernels.lists import Bools

# R's data set chickwts (Biometrika 35, 1948): weights of chicks by feed.
CHICKS = {
    "casein": (368, 390, 379, 260, 404, 318, 352, 359, 216, 222, 283, 332),
    "horsebean": (179, 160, 136, 227, 217, 168, 108, 124, 143, 140),
    "linseed": (309, 229, 181, 141, 260, 203, 148, 169, 213, 257, 244, 271),
    "meatmeal": (325, 257, 303, 315, 380, 153, 263, 242, 206, 344, 258),
    "soybean": (243, 230, 248, 327, 329, 250, 193, 271, 316, 267, 199, 171, 158, 248),
    "sunflower": (423, 340, 392, 339, 341, 226, 320, 295, 334, 322, 297, 318),
}


def chick_pairs() -> pl.DataFrame:
    """R: pairwise.wilcox.test(chickwts$weight, chickwts$feed, exact = FALSE), corrected after
    Holm.
    """
    pairs = list(combinations(CHICKS, 2))
    p = [
        stats.mannwhitneyu(CHICKS[a], CHICKS[b], method="asymptotic", use_continuity=True).pvalue
        for a, b in pairs
    ]
    return pl.DataFrame(
        {
            "model_a": [a for a, _ in pairs],
            "model_b": [b for _, b in pairs],
            "metric": ["weight"] * 15,
            "cutoff": [None] * 15,
            "policy": ["expected"] * 15,
            "value_a": [float(np.mean(CHICKS[a])) for a, _ in pairs],
            "value_b": [float(np.mean(CHICKS[b])) for _, b in pairs],
            "family_p": holm(np.array(p)),
        }
    )


def groups(letters: pl.DataFrame) -> set[frozenset[str]]:
    """Models by letter, whatever the letters are called."""
    every = set("".join(letters["letters"]))
    return {
        frozenset(letters.filter(pl.col("letters").str.contains(one))["model"]) for one in every
    }


@pytest.mark.parametrize(
    ("alpha", "published"),
    [
        (
            0.05,
            {
                "a": "casein meatmeal sunflower",
                "b": "horsebean linseed",
                "c": "linseed meatmeal soybean",
            },
        ),
        (
            0.01,
            {
                "a": "casein linseed meatmeal soybean",
                "b": "casein meatmeal soybean sunflower",
                "c": "horsebean linseed",
            },
        ),
    ],
)
def test_letters_of_chicks_are_those_of_r(alpha: float, published: dict[str, str]) -> None:
    """The R package cld prints these (through multcompView) for the Wilcoxon tests of chickwts."""
    letters = rr.stats.compact_letters(chick_pairs(), p="family_p", alpha=alpha)
    assert groups(letters) == {frozenset(names.split()) for names in published.values()}
    assert letters["model"].to_list() == sorted(CHICKS, key=lambda feed: -np.mean(CHICKS[feed]))


def test_letters_of_tukeys_test_are_those_of_r_and_stata() -> None:
    """Stata's data set yield, ``pwcompare …, mcompare(tukey)``; agricolae's HSD.test prints the
    same letters.
    """
    top, rest = (
        (51.17547, 50.7529, 47.36229, 45.81229, 44.55313),
        (41.81757, 38.79482, 36.91257, 36.34383, 35.69507),
    )
    means = np.array(top + rest)
    honest = stats.studentized_range.ppf(0.95, 10, 190) * 1.116571
    different = np.abs(means[:, None] - means) > honest
    letters = letter_texts(letter_columns(different), 10)
    assert letters == ["a", "ab", "abc", "bcd", "cd", "de", "ef", "ef", "f", "f"]


def matrix(models: int, pairs: list[bool]) -> Bools:
    different = np.zeros((models, models), np.bool_)
    different[np.triu_indices(models, 1)] = pairs
    return different | different.T


@st.composite
def any_matrix(draw: st.DrawFn) -> Bools:
    models = draw(st.integers(1, 8))
    size = models * (models - 1) // 2
    return matrix(models, draw(st.lists(st.booleans(), min_size=size, max_size=size)))


@given(any_matrix())
def test_models_share_a_letter_exactly_where_they_are_not_told_apart(different: Bools) -> None:
    texts = letter_texts(letter_columns(different), len(different))
    assert all(texts)
    for one, other in combinations(range(len(different)), 2):
        assert bool(set(texts[one]) & set(texts[other])) == (not different[one, other])
    columns = [set(column) for column in letter_columns(different)]
    assert not [1 for one in columns for other in columns if one < other]


def test_a_pair_that_is_missing_is_named() -> None:
    pairs = chick_pairs().filter(
        ~(pl.col("model_a").eq("casein") & pl.col("model_b").eq("sunflower"))
    )
    with pytest.raises(rr.DataError, match="'sunflower' and 'casein' are not compared"):
        rr.stats.compact_letters(pairs, p="family_p")


def test_a_column_that_is_missing_is_named() -> None:
    with pytest.raises(rr.ColumnError, match="bh_p"):
        rr.stats.compact_letters(chick_pairs().drop("bh_p", strict=False), p="bh_p")


def test_letters_at_every_place_by_either_test() -> None:
    generator = np.random.default_rng(0)
    values = {f"m{row}": generator.random(40) + (0, 0.1, 0.6)[row] for row in range(3)}
    scores = pl.concat([scores_of(values), scores_of(values, cutoff=None)])
    for correction in ("max-t", "tukey"):
        letters = rr.stats.compact_letters(rr.compare(scores, correction=correction))
        assert letters["letters"].to_list() == ["a", "b", "b"] * 2
        assert letters["model"].to_list() == ["m2", "m1", "m0"] * 2


def test_a_model_without_score_has_no_value() -> None:
    pair = {
        "metric": "ap",
        "cutoff": 10,
        "policy": "expected",
        "model_a": "x",
        "model_b": "y",
        "value_a": 0.5,
    }
    pairs = pl.DataFrame([{**pair, "value_b": None, "family_p": None}])
    letters = rr.stats.compact_letters(pairs).select("model", "value", "letters")
    assert letters.rows() == [("x", 0.5, "a"), ("y", None, "a")]


def test_no_pairs() -> None:
    assert rr.stats.compact_letters(rr.compare(scores_of({"a": [0.1, 0.2]}))).height == 0


@pytest.mark.slow
def test_tiers_of_a_real_track() -> None:
    """TREC ad hoc 8: 129 runs, 50 topics; the many tiers overlap, few neighbours can be told
    apart.
    """
    values = adhoc(8)
    scores = scores_of({f"run{row + 1:03}": column for row, column in enumerate(values)})
    pairs = rr.compare(scores, correction="tukey")
    letters = rr.stats.compact_letters(pairs)
    assert letters["letters"][0] == "a"
    texts = dict(letters.select("model", "letters").iter_rows())
    for row in pairs.sample(500, seed=0).iter_rows(named=True):
        share = bool(set(texts[row["model_a"]]) & set(texts[row["model_b"]]))
        assert share == (row["family_p"] >= 0.05)
