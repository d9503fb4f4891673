import polars as pl
from polars.testing import assert_frame_equal

from made_scores import scores_of
from retrieval_report.comparison.pairs import COMPARISON, compare, turned

SCORES = scores_of(
    {"a": [0.5, 0.25, 0.9, 0.1], "b": [0.4, 0.5, 0.3, 0.1], "c": [0.2, 0.2, 0.2, 0.1]}
)


def test_a_turned_pair_is_what_compare_says_of_the_other_names():
    """Names in the opposite order of the alphabet make `compare` turn the pairs by itself."""
    other = compare(SCORES.with_columns(pl.col("model").replace({"a": "z", "b": "y", "c": "x"})))
    other = other.with_columns(pl.col("model_a", "model_b").replace({"z": "a", "y": "b", "x": "c"}))
    mine = turned(compare(SCORES), pl.lit(True))
    keys = ["model_a", "model_b"]
    assert_frame_equal(mine.sort(keys), other.sort(keys), abs_tol=1e-12)
    assert mine.columns == list(COMPARISON)


def test_no_difference_has_no_sign():
    equal = turned(compare(scores_of({"a": [0.5, 0.25], "b": [0.5, 0.25]})), pl.lit(True))
    assert str(equal["difference"][0]) == "0.0"
