"""Declare columns once, with name, type, title, meaning and format; and define the columns that
many frames share.

Checks of input, empty frames, the CSV file that explains columns, headings of the report and of the
dashboard and the help of the command line read them here, through
:mod:`retrieval_report.contracts.registry`.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

import polars as pl

from retrieval_report.contracts.significance_tests import MEANINGS

TYPES = {"text": pl.String, "count": pl.Int64, "flag": pl.Boolean}  # of formats; others are Float64
Frames = Mapping[str, pl.DataFrame]  # by name


class Column(NamedTuple):
    """One column of a frame.

    ``dtype`` is None if the caller's data decide it; ``kind`` then says what checks such as
    :func:`check_rankings` accept. ``format`` is one of "text", "number" (four digits), "amount"
    (without decimals if it is whole), "exact" (all digits), "signed" (with its sign), "share" (percent), "chance" (a
    probability, for which a rounded 0 would be wrong), "count", "tenth" (one digit) or "flag" (yes
    or no).
    """

    name: str
    dtype: type[pl.DataType] | pl.DataType | None
    title: str
    meaning: str
    format: str
    kind: str = ""
    optional: bool = False

    @property
    def help(self) -> str:
        """Return the meaning as a sentence, which starts
        with a capital unless it starts with a name.
        """
        first = self.meaning.split(" ", 1)[0]
        return self.meaning if "_" in first else self.meaning[:1].upper() + self.meaning[1:]


class Frame(NamedTuple):
    """The columns of a frame, and the public functions that return it."""

    columns: tuple[Column, ...]
    returned_by: tuple[str, ...] = ()


# The columns that many frames share; a name before "=" tells two meanings of a column apart.
_SHARED = f"""
  interval | text | 95% interval | where the mean, or the difference of two means, would be for other samples of
      queries; ties are not part of it
  rank | count | Rank | rank of the model, 1 is best
  model | text | Model | what produced the ranked lists
  query | text id | Query | the query
  metric | text | Metric | the metric with its parameters, without the cutoff
  cutoff | count | Cutoff | number of first ranks that count; empty, or all: the whole list
  policy | text | Score | order inside ties: expected (exact mean over all orders), naive (as
      received), shuffled (random orders), best or worst
  model_a | text | Model A | first model of the pair
  model_b | text | Model B | second model of the pair
  queries | count | Queries | number of queries in the mean
  unpaired | count | Unpaired | queries for which only one of the two models has a score
  value | number | Score | mean score
  lowest | number | Lowest | score under the worst order inside ties; if lists may be cut, also
      with the least favourable items missing
  highest | number | Highest | score under the best order inside ties; if lists may be cut, also
      with the most favourable items missing
  tie_std | number | ± tie std | standard deviation of the mean under random tie order: exact, or
      that of the draws for the policy shuffled; empty, or cut, if the score depends on items that
      may be missing from the lists
  ci_low | number | 95% from | lower end of the 95% interval under sampling of queries
  ci_high | number | 95% to | upper end of the 95% interval
  value_a | number | A | mean of model_a over the paired queries
  value_b | number | B | mean of model_b over the paired queries
  difference | signed | A − B | how far model_a is ahead: its mean minus that of model_b
  naive | number | Naive | score with ties in the naive order
  expected | number | Expected | mean over all orders inside ties: exact, or an estimate from the
      retrieved items if lists may be cut
  shuffled | number | Shuffled | mean over random orders inside ties
  naive_error | signed | Naive is off by | naive − expected
  std | number | ± tie std | standard deviation of the score under random tie order; empty, or cut, if
      the score depends on items that may be missing from the list
  n_relevant | count | Relevant | relevant items of the query, retrieved or not
  truncated | flag | Cut | whether the score depends on items that may be missing after the end of
      the list
  truncated_share | share | Cut | share of the queries in the mean whose score depends on items that
      may be missing after the end of the list; 0 if truncated="no" states that lists are complete
  measure | text | Measure | metric and cutoff
  pooled | flag | R pooled | whether R counts only the relevant items that some model retrieved
  family_p | chance | Corrected p | p-value over the queries, corrected for the number of pairs; if
      lists are cut, it compares estimates. bh limits the share of false findings, the other
      corrections the chance of a single one
  family | count | Family | number of pairs that are corrected for together
  family_method | text | Correction | how the corrected p allows for the number of pairs. {MEANINGS}
  query_se | number | ± query s.e. | standard error of the mean over other samples of queries
  no_relevant | count | Nothing relevant | queries without a relevant item
  missing | count | No list | queries without rows
  unjudged | count | Not judged | queries without judgements
  system | text | Evaluator | the other evaluator
  version | text | Version | the version of the evaluator that was checked
  call | text | Call | the function or measure of the evaluator
  definition | text | Computes | what the evaluator computes, written as a measure of this package
  order | text | Order inside ties | how the evaluator orders tied items
  note | text | Note | what else decides its numbers
  p_tie | chance | Reversed by ties | probability that a random tie order puts the other model
      ahead; 'level' if the expected means are equal; a range where only bounds are known
  p_tie_low | chance | At least | the smallest possible p_tie
  p_tie_high | chance | At most | the largest possible p_tie
  p_equal | chance | Equal by ties | probability that the two means are equal under random tie
      order; empty: not known
  p_tie_method | text | Found by | how p_tie was found: exact (from all orders), convolved (from the
      exact distributions of all lists, with bounds), normal (from exact means and deviations, with
      bounds), bounds (only the bounds are known) or truncated (a cut list leaves it open; a bound
      holds whatever items are missing)
  difference_std=tie_std | | | standard deviation of the difference under random tie order
  paired=queries | | | queries for which both models have a score
  disagree | text | Reversed in | which scores put the other model ahead: the naive ones,
      or the means of the drawn orders (shuffled)
  segment | text | Segment | the queries that share this value
  verdict | text | Verdict | whether the order of the two models can be trusted, and if not, why
  given_model=model? | text id | Model | what produced the list; 'model' if absent
  item | text id | Item | the retrieved item
  distance? | text number | Distance | distance from the query: smaller means nearer; the frame has
      this or score
  score? | text number | Score | similarity to the query: larger means nearer; the frame has this or
      distance
  relevance | text grade | Relevance | graded relevance, at least 0
  mask? | flag boolean | Mask | false removes the row from the list
  given_weight=weight? | text weight | Weight | weight of the item (KerasRS's rule)
  row? | count integer | Row | place in the order received, which naive scores use; without this
      column, the position of the row
  frame | text | Frame | the frame received
  rows | count | Rows | number of its rows
  models | count | Models | number of different models
  different_queries=queries | | | number of different queries
  tau_b | number | Kendall’s τ_b | Kendall's τ-b of the shared items, corrected for ties
  rbo_a | chance | RBO^a | rank-biased overlap, mean over the orders of ties
  rbo_low | chance | RBO at least | the smallest value over all orders of the ties
  rbo_high | chance | RBO at most | the largest value over all orders of the ties
  counted_items=items | count | Items | number of different items
"""

SHARED: dict[str, Column] = {}


def _column(line: str) -> tuple[str, Column]:
    """Return a column and what other lines call it, from a line of a table."""
    names, form, title, meaning = map(str.strip, line.split("|"))
    format, _, kind = form.partition(" ")
    key, _, name = names.rstrip("?").rpartition("=")
    if format:
        dtype = None if kind else TYPES.get(format, pl.Float64)
        column = Column(name, dtype, title, meaning, format, kind)
    else:
        column = SHARED[name]
        column = column._replace(title=title or column.title, meaning=meaning or column.meaning)
    return key or name, column._replace(optional=names.endswith("?"))


def table_lines(table: str) -> list[str]:
    """Return the lines of a table; those that go on in deeper lines are put together."""
    return list(filter(None, re.sub(r"\n {4,}", " ", table).splitlines()))


def frames(table: str) -> dict[str, Frame]:
    """Return the frames that a table declares.

    Each has a line with its name, and after a colon the public functions that return it. The lines
    below are columns, as ``name | format | title | meaning``: "?" after the name says that the
    column is optional; a kind after the format, that the caller's data decide the type; without a
    format the column is a shared one with another meaning. Lines without "|" name shared columns,
    and, after "*", whole frames above.

    >>> table = '''
    ... pair: stats.pairs
    ...   query | | | what was asked
    ...   model value
    ... both
    ...   *pair
    ...   n? | count | Number | how many
    ... '''
    >>> found = frames(table)
    >>> [column.name for column in found["both"].columns], found["pair"].returned_by
    (['query', 'model', 'value', 'n'], ('stats.pairs',))
    """
    declared = {}
    for line in table_lines(table):
        if not line.startswith(" "):
            name, _, by = line.partition(":")
            declared[name] = Frame((), tuple(by.split()))
            continue
        parts = []
        if "|" in line:
            parts.append(_column(line)[1])
        else:
            for word in line.split():
                parts += declared[word[1:]].columns if word.startswith("*") else [SHARED[word]]
        declared[name] = declared[name]._replace(columns=(*declared[name].columns, *parts))
    return declared


for _line in table_lines(_SHARED):
    SHARED.update([_column(_line)])
