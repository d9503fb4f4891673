"""Declare columns once, with name, type, title, meaning and format; and define the columns that
many frames share.

Checks of input, empty frames, the CSV file that explains columns, headings of the report and of the
dashboard and the help of the command line read them here, through
:mod:`retrieval_report.contracts.registry`.
"""

from __future__ import annotations

from itertools import chain
from typing import Any, NamedTuple

import polars as pl

from retrieval_report.contracts.significance_tests import MEANINGS

FORMATS = ("text", "number", "amount", "signed", "share", "chance", "count", "tenth", "flag")


class Column(NamedTuple):
    """One column of a frame.

    ``dtype`` is None if the caller's data decide it; ``kind`` then says what checks such as
    :func:`check_rankings` accept. ``format`` is one of "text", "number" (four digits), "amount"
    (without decimals if it is whole), "signed" (with its sign), "share" (percent), "chance" (a
    probability, for which a rounded 0 would be wrong), "count", "tenth" (one digit) or "flag" (yes
    or no).
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
        """Return the meaning as a sentence, which starts with a capital unless it starts with a
        name.
        """
        first = self.meaning.split(" ", 1)[0]
        return self.meaning if "_" in first else self.meaning[:1].upper() + self.meaning[1:]


class Frame(NamedTuple):
    """The columns of a frame, and the public functions that return it."""

    columns: tuple[Column, ...]
    returned_by: tuple[str, ...] = ()


def text(name: str, title: str, meaning: str) -> Column:
    """Declare a column of text."""
    return Column(name, pl.String, title, meaning, "text")


def number(name: str, title: str, meaning: str, format: str = "number") -> Column:
    """Declare a column of Float64."""
    return Column(name, pl.Float64, title, meaning, format)


def whole(name: str, title: str, meaning: str) -> Column:
    """Declare a column of Int64."""
    return Column(name, pl.Int64, title, meaning, "count")


def flag(name: str, title: str, meaning: str) -> Column:
    """Declare a column of truth values."""
    return Column(name, pl.Boolean, title, meaning, "flag")


def ids(name: str, title: str, meaning: str) -> Column:
    """Declare a column of ids, whose type is that of the input."""
    return Column(name, None, title, meaning, "text", "id")


def given(name: str, title: str, meaning: str, kind: str, *, optional: bool = False) -> Column:
    """Declare a column of an input frame, of any type that fits its kind."""
    return Column(
        name,
        None,
        title,
        meaning,
        {"boolean": "flag", "integer": "count"}.get(kind, "text"),
        kind,
        optional,
    )


# The columns that many frames share.
INTERVAL = text(
    "interval",
    "95% interval",
    "of the mean under sampling of queries; it does not account for ties",
)
COLUMNS = (
    INTERVAL,
    whole("rank", "Rank", "rank of the model, 1 is best"),
    text("letters", "Tier", "letters; models that share a letter are not significantly different"),
    text("model", "Model", "what produced the ranked lists"),
    ids("query", "Query", "the query"),
    text("metric", "Metric", "the metric with its parameters, without the cutoff"),
    whole("cutoff", "Cutoff", "number of positions that count; empty: the whole list"),
    text(
        "policy",
        "Score",
        "order inside ties: expected (exact mean of all), naive (as received), shuffled (random), "
        "best, worst",
    ),
    text("model_a", "Model A", "first model of the pair, by name"),
    text("model_b", "Model B", "second model of the pair"),
    whole("queries", "Queries", "queries in the mean"),
    whole("unpaired", "Unpaired", "queries for which only one of the two has a score"),
    number("value", "Score", "mean score"),
    number(
        "lowest",
        "Lowest",
        "under the worst order inside ties; for truncated scores, the least over all completions "
        "of the lists",
    ),
    number(
        "highest",
        "Highest",
        "under the best order inside ties; for truncated scores, the most over all completions of "
        "the lists",
    ),
    number(
        "tie_std",
        "± tie std",
        "standard deviation of the mean under random tie order: exact, but for policy shuffled "
        "that of "
        "the draws; empty where a score has none, as scores do that depend on items that may be "
        "missing (cut)",
    ),
    number("ci_low", "95% from", "lower end of the 95% interval under sampling of queries"),
    number("ci_high", "95% to", "upper end of that interval"),
    number("value_a", "A", "mean of model_a over the paired queries"),
    number("value_b", "B", "mean of model_b over the paired queries"),
    number("difference", "A − B", "mean of model_a minus mean of model_b", "signed"),
    number("naive", "Naive", "score with ties in the naive order"),
    number(
        "expected",
        "Expected",
        "mean over all orders inside ties: exact, but for truncated scores an estimate from the "
        "rows given",
    ),
    number("shuffled", "Shuffled", "mean over random orders inside ties"),
    number("naive_error", "Naive is off by", "naive − expected", "signed"),
    number("std", "± tie std", "standard deviation of the score under random tie order"),
    whole("n_relevant", "Relevant", "relevant items of the query, retrieved or not"),
    flag(
        "truncated",
        "Cut",
        "whether the score depends on items that may be missing after the end of the list",
    ),
    number(
        "truncated_share",
        "Cut",
        "share of the queries in the mean whose score depends on items that may be missing after "
        "the end of the list; "
        'none are if truncated="no" says that lists are whole',
        "share",
    ),
    text("measure", "Measure", "metric and cutoff"),
    flag(
        "pooled", "R pooled", "whether R counts only the relevant items that some model retrieved"
    ),
    number(
        "family_p",
        "p (family)",
        "p-value corrected for the number of pairs: of any false finding, but for bh of the share "
        "of false findings",
        "chance",
    ),
    whole("family", "Family", "number of pairs corrected for together"),
    text("family_method", "Correction", f"how: {MEANINGS}"),
    number("query_se", "± query s.e.", "standard error of the mean under sampling of queries"),
    whole("no_relevant", "Nothing relevant", "queries without a relevant item"),
    whole("missing", "No list", "queries without rows"),
    whole("unjudged", "Not judged", "queries without judgements"),
    text("system", "Evaluator", "another evaluator"),
    text("version", "Version", "its version, as checked"),
    text("call", "Call", "its function or measure"),
    text("definition", "Computes", "what the system computes, in this package's text form"),
    text("order", "Order inside ties", "its order inside ties"),
    text("note", "Note", "what else decides its numbers"),
    number(
        "p_tie",
        "Reversed by ties",
        "probability that random tie order reverses the order of the expected means",
        "chance",
    ),
    number("p_tie_low", "At least", "the smallest possible p_tie", "chance"),
    number("p_tie_high", "At most", "the largest possible p_tie", "chance"),
    number(
        "p_equal",
        "Equal by ties",
        "probability that the two means are equal under random tie order; empty: not known",
        "chance",
    ),
    text(
        "p_tie_method",
        "Found by",
        "how p_tie was found: exact (all orders), convolved (all orders of every list, the sum "
        "bounded), "
        "shuffles (random orders; the bounds fail once in 10 000), normal (from exact moments, "
        "bounded), "
        "bounds (only they are known) or truncated (a cut list leaves it open)",
    ),
)
SHARED = {column.name: column for column in COLUMNS}


def like(name: str, meaning: str, title: str = "") -> Column:
    """A shared column with a meaning of its own, and another title where one is given."""
    return SHARED[name]._replace(meaning=meaning, title=title or SHARED[name].title)


SHARED["difference_std"] = like(
    "tie_std", "standard deviation of the difference under random tie order"
)


def frame(*parts: Column | str, by: str = "") -> Frame:
    """A frame of columns, shared ones by their names in one text; ``by`` names the functions that
    return it.
    """
    columns = (
        [part] if isinstance(part, Column) else [SHARED[name] for name in part.split()]
        for part in parts
    )
    return Frame(tuple(chain.from_iterable(columns)), tuple(by.split()))
