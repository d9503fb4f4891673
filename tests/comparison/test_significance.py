import numpy as np
import pytest
from scipy import stats

from retrieval_report.comparison.significance import benjamini_hochberg, holm, wilcoxon
from retrieval_report.kernels.lists import Floats


def sample(seed: int, size: int) -> Floats:
    return np.random.default_rng(seed).normal(0.2, 1.0, size=size)


@pytest.mark.parametrize("size", [1, 5, 13, 14, 50, 51])
@pytest.mark.parametrize("step", [0.0, 0.5], ids=["distinct", "with ties"])
def test_wilcoxon_is_scipys_without_the_zeros_and_normal_from_50_on_as_in_r(size: int, step: float):
    difference = sample(size, size)
    if step:
        difference = np.round(difference / step) * step
        difference[difference == 0] = step  # as many as asked
    method = "asymptotic" if size == 50 else "auto"
    expected = stats.wilcoxon(difference, correction=True, method=method).pvalue
    holes = np.insert(difference, [0, 0, size], [0.0, np.nan, 0.0])
    assert wilcoxon(np.stack([holes, -holes])) == pytest.approx([expected, expected], rel=1e-9)


CYCLE, CUBES = (
    np.arange(1, 61) * 7 % 11 / 10 - 0.4,
    np.arange(1, 61) ** 3 % 101 - 30 + np.arange(1, 61) / 1000,
)
DEPRESSION = np.array(
    [0.952, -0.147, 1.022, 0.43, 0.62, 0.59, 0.49, -0.08, 0.01]
)  # Hollander and Wolfe (1973), p. 29


@pytest.mark.parametrize(
    ("difference", "p"),
    [
        (DEPRESSION, 0.0390625), (CUBES[:13], 0.7353515625), (CUBES[:49], 0.000191613326471),
        (CUBES[:50], 0.000187105333089), (CUBES, 8.5863679587e-05), (CYCLE[:16], 0.171112373061),
        (CYCLE[:49], 0.028291224846), (CYCLE[:50], 0.0175616112211), (CYCLE, 0.0161162149825),
    ],
)  # fmt: skip
def test_wilcoxon_is_what_r_prints(difference: Floats, p: float):
    """R 4.2.2 prints these for ``wilcox.test(difference, digits.rank = 12)``."""
    assert wilcoxon(np.round(difference, 12)[None])[0] == pytest.approx(p, rel=1e-9)


@pytest.mark.parametrize(
    ("difference", "p"), [([0.1] * 5, 2 / 32), ([0.1, 0.1, -0.1, 0.1, 0.1], 12 / 32)]
)
def test_wilcoxon_of_few_differences_with_ties_is_exact_where_r_approximates(
    difference: list[float], p: float
):
    assert wilcoxon(np.array([difference]))[0] == p


def test_wilcoxon_of_nothing():
    rows = np.array([[0.0, 0.0], [0.0, np.nan], [np.nan, np.nan], [0.5, np.nan]])
    np.testing.assert_array_equal(wilcoxon(rows), [1.0, 1.0, np.nan, 1.0])


def test_holm_by_its_definition():
    p = np.random.default_rng(4).random(20) ** 10  # many of them small
    adjusted = holm(p)
    for level in (0.001, 0.01, 0.05, 0.1, 0.3, 0.9):
        # Step down: reject while the j-th smallest p is at most level / (m − j + 1).
        order = np.argsort(p)
        passed = np.cumprod(p[order] * np.arange(p.size, 0, -1) <= level).astype(bool)
        assert set(order[passed]) == set(np.flatnonzero(adjusted <= level))


def test_benjamini_hochberg_against_a_table_and_scipy():
    # The 15 p-values of Benjamini and Hochberg (1995), section 4.1: four are rejected at 0.05, Holm
    # rejects three.
    p = np.array(
        [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719, 0.6528,
         0.7590, 1.0000]
    )  # fmt: skip
    assert (benjamini_hochberg(p) <= 0.05).sum() == 4
    assert (holm(p) <= 0.05).sum() == 3
    assert benjamini_hochberg(p) == pytest.approx(stats.false_discovery_control(p))
    assert benjamini_hochberg(p)[3] == pytest.approx(0.0095 * 15 / 4)


@pytest.mark.parametrize("correct", [holm, benjamini_hochberg])
def test_corrections_of_no_p_value(correct: type):
    assert correct(np.empty(0)).size == 0
