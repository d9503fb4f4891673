"""The tests of pairs of models and the corrections for their number: what each is called and
does. Their functions stand in ``comparison/corrections.py``; choices, columns and sentences are
made from these records.
"""

from typing import NamedTuple


class Correction(NamedTuple):
    """A correction of the p-values of all pairs."""

    title: str
    meaning: str
    test: str  # the whole procedure


# Title and meaning of each test of one pair, whose p-value stands in the column ``{name}_p``
TESTS = {
    "t": ("t", "paired t test"),
    "wilcoxon": ("Wilcoxon", "Wilcoxon's signed-rank test"),
    "permutation": ("permutation", "sign-flip permutation test"),
}
CORRECTIONS = {
    "max-t": Correction(
        "max-T",
        "compares each pair with the largest difference of all, in steps",
        "max-T test (sign flips of studentised differences, stepped down)",
    ),
    "holm": Correction(
        "Holm",
        "corrects the p-values of single tests",
        "sign-flip test of each pair with Holm's correction",
    ),
    "skewed": Correction(
        "skewness",
        "uses t-tests that allow for skewed differences",
        "t-tests of each pair that allow for skewed differences, with Holm's correction",
    ),
    "bh": Correction(
        "Benjamini–Hochberg",
        "limits only the share of false findings",
        "sign-flip test of each pair with Benjamini and Hochberg's correction (of the share of "
        "false findings)",
    ),
}
MAX_T = next(iter(CORRECTIONS))  # the default
MEANINGS = "; ".join(f"{name}: {correction.meaning}" for name, correction in CORRECTIONS.items())
