"""Find models whose lists are those of other queries, or name items by shifted ids, and models
whose lists hold no more of what is relevant to their queries than chance puts there.

Lists that have nothing to do with their queries could be dealt to them in any order, and
would score alike. All bounds come from dealing the lists of one model again, so they hold
for every collection.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import polars as pl

from retrieval_report.kernels.lists import Bools, Floats, Integers

MOST_LISTS, MOST_ROWS = 300, 100  # lists of a model, and rows of each, that are looked at
SCREEN = 4.0  # deviations: who holds so much more for its own queries is cleared cheaply
FEWEST_LISTS = 8  # fewer have too few orders (8! = 40 320) to tell much from one another
FEWEST_HITS = 20  # rows that are relevant to some query; of fewer, dealing them again shows nothing
ORDERS = 1000  # in which the lists are dealt again
BY_CHANCE = 0.01  # of these orders score as much: there is no sign of skill
FALSE_ALARM = 1e-6  # how often chance alone may explain as many lists as a cause does
DEVIATIONS = 4.75  # which a normal number exceeds once in a million
CLEAR_SKILL = 0.2  # of the way to the best lists: a skill that is never taken for chance
FAR_BETTER = 2  # times what the lists hold for their own queries
PART = 0.1  # of a model's lists: so many that are wrong are no accident of some topics
MOST_CELLS = 3_000_000  # lists by queries
NUMBERED = r"^(.*?)([0-9]{1,18})$"  # an id: what precedes its number, and the number
ITEM = ["prefix", "number"]


WRONG_QUERIES, SHIFTED_IDS = "wrong queries", "shifted ids"
Cause = tuple[int, str, str]  # how many lists it explains, its name, and what to do about it


class Unrelated(NamedTuple):
    """A model whose lists are no better than chance, or would be far better for other queries or
    under shifted ids.
    """

    model: str
    hits: int  # rows that are relevant to their queries
    rows: int  # rows that were looked at
    lists: int  # lists that were looked at
    # whether lists that go a fifth of the way from chance to the best ones would have been told apart
    is_clear: bool
    is_worse: bool = False  # than chance, as the farthest items are
    cause: Cause | None = None


def unrelated_models(rows: pl.DataFrame, relevant: pl.DataFrame) -> Iterator[Unrelated]:
    """Return the models that are no better than chance, or that one of the two causes explains.

    Parameters
    ----------
    rows
        ``model``, ``list``, ``query``, ``item`` and ``value`` (small is near) of some lists.
    relevant
        ``query`` and ``item``, each pair once.
    """
    rows = rows.join(relevant.select("query").unique(), on="query", how="semi")
    models = _doubtful(rows, relevant)
    rows = rows.join(models, on="model", how="semi").sort("model", "list", "value")
    for (model,), of_model in rows.group_by("model", maintain_order=True):
        lists = of_model.select("list", "query").unique().sort("list")
        if lists.height >= FEWEST_LISTS:
            found = _Lists(of_model, lists, relevant).unrelated(str(model))
            yield from [found] if found else []


def _doubtful(rows: pl.DataFrame, relevant: pl.DataFrame) -> pl.DataFrame:
    """Return the models whose lists do not clearly hold more for their own queries than for one
    other query each, all together or in most lists, or hold little of what they could: who is not
    among them is cleared cheaply. What is relevant to both queries says nothing.
    """
    queries = relevant.group_by("query").agg(relevant=pl.len()).sort("query")
    queries = queries.sample(fraction=1.0, shuffle=True, seed=0)
    pairs = queries.with_columns(other=pl.col("query").shift(1, fill_value=pl.last("query")))
    hit = relevant.with_columns(hit=pl.lit(True))
    rows = rows.join(pairs, on="query").join(hit, on=["query", "item"], how="left")
    rows = rows.join(hit, left_on=["other", "item"], right_on=["query", "item"], how="left")
    own, foreign = pl.col("hit").is_not_null(), pl.col("hit_right").is_not_null()
    lists = rows.group_by("model", "list").agg(
        own=own.sum(),
        most=pl.min_horizontal(pl.len(), pl.first("relevant")),
        one=(own & ~foreign).sum(),
        other=(foreign & ~own).sum(),
    )
    one, other = pl.col("one"), pl.col("other")
    models = lists.group_by("model").agg(
        pl.sum("own", "most", "one", "other").cast(pl.Float64), part=(one <= other).mean()
    )
    alike = one - other <= SCREEN * (one + other).sqrt()
    weak = pl.col("own") < CLEAR_SKILL * pl.col("most")
    return models.filter(alike | weak | (pl.col("part") >= PART)).select("model")


class _Lists:
    """Some lists of one model, and what is relevant to their queries and to others."""

    def __init__(self, rows: pl.DataFrame, lists: pl.DataFrame, relevant: pl.DataFrame) -> None:
        rank = pl.col("value").rank("average").over("list")
        self.rows = rows.select(
            "query",
            "item",
            place=pl.col("list").rank("dense").cast(pl.Int64) - 1,
            gain=1 / (rank + 1).log(2),  # as in DCG, so that lists of all items differ, too
            half=pl.int_range(pl.len()).over("list") % 2,
        )
        self.queries = lists["query"]
        judged = relevant["query"].unique().sort()
        is_small = lists.height * judged.len() <= MOST_CELLS
        self.columns = judged if is_small else self.queries.unique().sort()
        self.own = self.columns.search_sorted(self.queries).to_numpy()
        self.relevant = relevant.join(
            pl.DataFrame({"query": self.columns, "column": range(self.columns.len())}), on="query"
        )

    def unrelated(self, model: str) -> Unrelated | None:
        """Return what is wrong; None if the lists are better than chance, or show nothing."""
        halves = self._gains(self.rows, self.relevant)
        whole = halves.sum(0)
        gains = whole[:, self.own]
        score = np.trace(gains)
        hits = self.rows.join(self.relevant, on=["query", "item"], how="semi").height
        found = Unrelated(model, hits, self.rows.height, self.queries.len(), is_clear=True)
        asked = (
            self._other_queries(halves, whole),
            self._next_queries(whole),
            self._shifted_ids(score),
        )
        causes = [cause for cause in asked if cause]
        if causes:
            return found._replace(cause=max(causes, key=lambda cause: cause[0]))
        lists = np.arange(self.queries.len())
        if self.rows.height == lists.size * self.rows["item"].n_unique():
            return None  # all hold the same items: dealt again, they show no more than their order
        orders = np.random.default_rng(0).permuted(np.tile(lists, (ORDERS, 1)), axis=1)
        dealt = gains[orders, lists].sum(1)
        shown = self.rows.join(self.relevant, on="item", how="semi").height
        skill = self._skill()  # of the best lists; 0 if all queries have the same relevant items
        is_sparse = shown < FEWEST_HITS  # a bound of Poisson's law, as for any number of hits
        unseen = DEVIATIONS * np.sqrt(hits) - np.log(FALSE_ALARM)
        beyond_chance = score + (unseen if is_sparse else DEVIATIONS * dealt.std()) - dealt.mean()
        is_clear = bool(beyond_chance < CLEAR_SKILL * skill)
        is_open = beyond_chance >= skill or (is_sparse and not is_clear)
        if np.mean(dealt >= score) <= BY_CHANCE or is_open:
            return None
        is_worse = bool(dealt.mean() - score > DEVIATIONS * dealt.std())
        return found._replace(is_clear=is_clear, is_worse=is_worse)

    def _gains(
        self, rows: pl.DataFrame, relevant: pl.DataFrame, on: str | list[str] = "item"
    ) -> Floats:
        """Return what is relevant to every query in every list, in every second row and in the
        others: half × list × query.
        """
        shape = 2, self.queries.len(), self.columns.len()
        found = rows.join(relevant, on=on)
        index = np.ravel_multi_index(
            tuple(found[name].to_numpy() for name in ("half", "place", "column")), shape
        )
        gains = np.bincount(index, found["gain"].to_numpy(), int(np.prod(shape)))
        return gains.astype(np.float64).reshape(shape)

    def _skill(self) -> float:
        """Return how far above chance the scores would be if the relevant items came first: what is
        relevant to other queries, too, would come first in their lists as well.
        """
        relevant = self.relevant.join(pl.DataFrame({"query": self.queries}), on="query", how="semi")
        others = (pl.len().over("item") - 1) / max(self.queries.len() - 1, 1)
        relevant = relevant.with_columns(own=1 - others)
        column = relevant["column"].to_numpy()
        number = np.bincount(column, minlength=self.columns.len())
        own = np.bincount(column, relevant["own"].to_numpy(), self.columns.len())
        best = np.append(0, np.cumsum(1 / np.log2(np.arange(MOST_ROWS) + 2)))
        first = np.minimum(np.bincount(self.rows["place"].to_numpy()), number[self.own])
        return float((best[first] * own[self.own] / number[self.own]).sum())

    def _other_queries(self, halves: Floats, whole: Floats) -> Cause | None:
        """Return whether lists, all or a part of them, hold what is relevant to one other
        query each. Half of the rows choose the query, and the other half shows whether it
        was an accident.
        """
        lists = np.arange(self.queries.len())
        more = halves[0] - halves[0].mean(0)  # than other lists of this model
        more[lists, self.own] = -np.inf
        column = more.argmax(1)
        of_own, of_other = halves[1][lists, self.own], halves[1][lists, column]
        copies = np.unique(whole, axis=0, return_inverse=True)[1]
        explained = _of_first(halves[1][:, column], copies)
        if of_other.sum() < FAR_BETTER * of_own.sum():
            explained &= of_other > FAR_BETTER * of_own
            if explained.mean() < PART:
                return None
        places = np.flatnonzero(explained)  # of copies one, since all of them are first together
        explained[np.delete(places, np.unique(copies[places], return_index=True)[1])] = False
        if not _no_accident(explained):
            return None
        return self._of_others(explained, column)

    def _next_queries(self, gains: Floats) -> Cause | None:
        """Return whether lists, all or a part of them, hold what is relevant to the query after
        theirs, or before it. Queries that are alike hold as much for both, so that the two counts
        then differ by chance alone.
        """
        lists = np.arange(self.queries.len())
        columns = [(self.own.astype(np.int64) + step) % self.columns.len() for step in (1, -1)]
        own = FAR_BETTER * gains[lists, self.own]
        better = [gains[lists, column] > own for column in columns]
        counts = [int(part.sum()) for part in better]
        most = int(np.argmax(counts))
        if (
            abs(counts[0] - counts[1]) <= SCREEN * sum(counts) ** 0.5
            or counts[most] < PART * lists.size
        ):
            return None
        return self._of_others(better[most], columns[most])

    def _of_others(self, explained: Bools, column: Integers) -> Cause:
        """Return the cause of lists that belong to the queries in these columns."""
        place = int(np.argmax(explained))
        example = (
            f"the list of query {self.queries[place]!r} holds what the judgements call relevant "
            f"for query {self.columns[int(column[place])]!r}; give every list to its own query"
        )
        return int(explained.sum()), WRONG_QUERIES, example

    def _shifted_ids(self, score: float) -> Cause | None:
        """Return whether lists hold what is relevant if a constant is added to the number in every
        id: half of the rows choose it, and the other half shows whether that was an accident.
        """
        rows, relevant = (_numbered(frame) for frame in (self.rows, self.relevant))
        if rows.is_empty() or relevant.is_empty():
            return None
        near = rows.filter(half=0).select("query", *ITEM)
        near = near.join(relevant.select("query", *ITEM), on=["query", "prefix"], how="inner")
        shifts = (near["number_right"] - near["number"]).to_numpy()
        shifts, number = np.unique(shifts[shifts != 0], return_counts=True)
        if not shifts.size:
            return None
        by = int(shifts[np.lexsort((np.abs(shifts), -number))[0]])
        shifted = rows.with_columns(pl.col("number") + by)
        halves = self._gains(shifted, relevant, ITEM)
        explained = _of_first(halves[1][:, self.own], np.arange(self.own.size))
        of_shifted = np.trace(halves.sum(0)[:, self.own])
        if not _no_accident(explained) or of_shifted < FAR_BETTER * score:
            return None
        match = shifted.join(relevant, on=["query", *ITEM], how="semi").row(0, named=True)
        judged = relevant.filter(query=match["query"], prefix=match["prefix"])
        judged_id = judged.filter(number=match["number"])["item"][0]
        example = (
            f"they hold {match['item']!r} where the judgements have {judged_id!r}; number the "
            "items of both from the same start"
        )
        return int(explained.sum()), SHIFTED_IDS, example


def _numbered(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose ids end in a number, with the number and what precedes it."""
    if frame.schema["item"].is_integer():
        return frame.with_columns(pl.col("item").cast(pl.Int64).alias("number"), prefix=pl.lit(""))
    if frame.schema["item"] != pl.String:
        return frame.clear()
    parts = pl.col("item").str.extract_groups(NUMBERED)
    frame = frame.with_columns(
        parts.struct[0].alias("prefix"),
        parts.struct[1].cast(pl.Int64, strict=False).alias("number"),
    )
    return frame.drop_nulls(ITEM)


def _of_first(gains: Floats, same: Integers) -> Bools:
    """Return which lists hold more for the query in their column than any other list does that is
    not the ``same``.
    """
    first: Bools = np.diag(gains) > np.where(same[:, None] == same, 0.0, gains).max(0)
    return first


def _no_accident(explained: Bools) -> bool:
    """Whether so many lists are first for a query by chance less than once in a million: each is by
    a chance of one in their number, and Chernoff bounds the tail of the binomial.
    """
    number, share = explained.size, explained.mean()
    if share * number <= 1:
        return False
    log = share * np.log(share * number)
    if share < 1:
        log += (1 - share) * np.log((1 - share) / (1 - 1 / number))
    return bool(number * log > -np.log(FALSE_ALARM))
