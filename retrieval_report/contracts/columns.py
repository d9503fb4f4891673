"""What a column is: its name, type, title, meaning and format, declared once; and the columns that many frames share.

Checks of input, empty frames, the CSV file that explains columns, headings of the report and of the dashboard and the
help of the command line read them here, by way of :mod:`retrieval_report.contracts.registry`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import polars as pl

__all__ = ["Column", "Frame", "flag", "given", "ids", "number", "text", "whole"]

FORMATS = ("text", "number", "signed", "share", "chance", "count", "tenth", "flag")


class Column(NamedTuple):
    """One column of a frame.

    ``dtype`` is None where the caller's data decide it; then ``kind`` says what :func:`check_rankings` and its like
    accept. ``format`` is one of "text", "number" (four digits), "signed" (with its sign), "share" (percent), "chance"
    (a probability, where a rounded 0 would be wrong), "count", "tenth" (one digit) or "flag" (yes or no).
    """

    name: str
    dtype: Any
    title: str
    meaning: str
    format: str
    kind: str = ""
    optional: bool = False

    @property
    def help(self) -> str:
        """The meaning as a sentence for readers, which begins with a capital unless it begins with a name."""
        first = self.meaning.split(" ", 1)[0]
        return self.meaning if "_" in first else self.meaning[:1].upper() + self.meaning[1:]


class Frame(NamedTuple):
    """The columns of a frame, and the public functions that return it."""

    columns: tuple[Column, ...]
    returned_by: tuple[str, ...] = ()


def text(name: str, title: str, meaning: str) -> Column:
    """A column of text."""
    return Column(name, pl.String, title, meaning, "text")


def number(name: str, title: str, meaning: str, format: str = "number") -> Column:
    """A column of Float64."""
    return Column(name, pl.Float64, title, meaning, format)


def whole(name: str, title: str, meaning: str) -> Column:
    """A column of Int64."""
    return Column(name, pl.Int64, title, meaning, "count")


def flag(name: str, title: str, meaning: str) -> Column:
    """A column of truth values."""
    return Column(name, pl.Boolean, title, meaning, "flag")


def ids(name: str, title: str, meaning: str) -> Column:
    """A column of ids, whose type is that of the input."""
    return Column(name, None, title, meaning, "text", "id")


def given(name: str, title: str, meaning: str, kind: str, *, optional: bool = False) -> Column:
    """A column of a frame that is passed in, of any type that fits its kind."""
    return Column(name, None, title, meaning, {"boolean": "flag", "integer": "count"}.get(kind, "text"), kind, optional)


RANK = whole("rank", "Rank", "rank of the model, 1 is best")
LETTERS = text("letters", "Tier", "letters; models that share one cannot be told apart")
MODEL = text("model", "Model", "what produced the ranked lists")
QUERY = ids("query", "Query", "the query")
METRIC = text("metric", "Metric", "the metric with its parameters, without the cutoff")
CUTOFF = whole("cutoff", "Cutoff", "positions that count; empty: the whole list")
POLICY = text(
    "policy",
    "Score",
    "order inside ties: expected (exact mean of all), naive (as received), shuffled (random), best, worst",
)
MEASURE = (METRIC, CUTOFF, POLICY)
MODEL_A = text("model_a", "Model A", "first model of the pair, by name")
MODEL_B = text("model_b", "Model B", "second model of the pair")
QUERIES = whole("queries", "Queries", "queries in the mean")
UNPAIRED = whole("unpaired", "Unpaired", "queries that only one of the two has a score for")
VALUE = number("value", "Score", "mean score")
LOWEST = number(
    "lowest",
    "Lowest",
    "under the worst order inside ties; of truncated scores the least of all completions of the lists",
)
HIGHEST = number(
    "highest",
    "Highest",
    "under the best order inside ties; of truncated scores the most of all completions of the lists",
)
TIE_STD = number(
    "tie_std",
    "± tie std",
    "standard deviation of the mean under random tie order: exact, but of policy shuffled that of the "
    "draws; empty where a score has none, as truncated ones have",
)
DIFFERENCE_STD = TIE_STD._replace(meaning="standard deviation of the difference under random tie order")
CI_LOW = number("ci_low", "95% from", "lower end of the 95% interval under sampling of queries")
CI_HIGH = number("ci_high", "95% to", "upper end of that interval")
VALUE_A = number("value_a", "A", "mean of model_a over the paired queries")
VALUE_B = number("value_b", "B", "mean of model_b over the paired queries")
DIFFERENCE = number("difference", "A − B", "mean of model_a less mean of model_b", "signed")
NAIVE = number("naive", "Naive", "score in the order received")
EXPECTED = number(
    "expected",
    "Expected",
    "mean over all orders inside ties: exact, but of truncated scores an estimate from the rows given",
)
SHUFFLED = number("shuffled", "Shuffled", "mean over random orders inside ties")
NAIVE_ERROR = number("naive_error", "Naive is off by", "naive − expected", "signed")
STD = number("std", "± tie std", "standard deviation of the score under random tie order")
N_RELEVANT = whole("n_relevant", "Relevant", "relevant items of the query, retrieved or not")
TRUNCATED = flag("truncated", "Cut", "whether the score reaches into what the cut of its list leaves open")
TRUNCATED_SHARE = number(
    "truncated_share",
    "Cut",
    "share of the queries in the mean whose score reaches into what the cut of its list leaves open",
    "share",
)
MEASURE_NAME = text("measure", "Measure", "metric and cutoff")
INTERVAL = text("interval", "95% interval", "of the mean under sampling of queries; it knows nothing of ties")
POOLED = flag("pooled", "R pooled", "whether R counts only the relevant items that some model retrieved")
FAMILY_P = number(
    "family_p",
    "p (family)",
    "probability, if no two models differed, that any pair of the family would be as far apart as this one",
    "chance",
)
FAMILY = whole("family", "Family", "pairs that were corrected for together")
FAMILY_METHOD = text(
    "family_method",
    "Correction",
    "how: holm (of the p-values), tukey (all pairs, by permutation) or max-t (all pairs with one model)",
)
TIE_CHANCES = (
    number(
        "p_tie",
        "Reversed by ties",
        "probability that random tie order shows the pair in the other order than the expected means",
        "chance",
    ),
    number("p_tie_low", "At least", "the least that p_tie can be", "chance"),
    number("p_tie_high", "At most", "the most that p_tie can be", "chance"),
    number(
        "p_equal",
        "Equal by ties",
        "probability that random tie order shows the two means equal; empty: not known",
        "chance",
    ),
    text(
        "p_tie_method",
        "Found by",
        "how p_tie was found: exact (all orders), convolved (all orders of every list, the sum bounded), "
        "shuffles (some orders drawn; bounds miss once in 10 000), normal (from exact moments, bounded), bounds (they "
        "alone are known) or truncated (lists cut inside a tie)",
    ),
)
