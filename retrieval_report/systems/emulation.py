"""Emulate a system: the rankings it would be given, its rules, and the means under its order.

Only this module turns a convention into options and judged rankings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import Named, quoted
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.frames import is_own
from retrieval_report.contracts.options import Options, is_relevant
from retrieval_report.engines.check_scores import BOUNDS, MEAN, join_left, side_by_side
from retrieval_report.engines.score_grid import tie_means
from retrieval_report.metrics.parsing import Measure, parse_metrics
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.scoring.known_items import KEYS
from retrieval_report.scoring.run import runs_of, score_judged, score_with_means
from retrieval_report.scoring.scorer import Scored
from retrieval_report.systems.conventions import LISTS, OF_ONE_ANSWER, OPEN, Convention

BY_ITEM = ("item", "item_descending")
LARGEST = float(np.finfo(np.float32).max)


class Rules(NamedTuple):
    """What a system computes: the fields of ``Convention`` that decide it, apart from the order
    inside ties, without those that change nothing in the data, so that systems share computations.
    """

    seen: str
    binary: bool
    positive: str
    relevant_from: float | None
    no_relevant: str
    missing_query: str


class Way(NamedTuple):
    """The fields of ``Convention`` that decide how ties are ordered."""

    order: str
    row_order_up_to: int
    float32: bool


@dataclass(frozen=True)
class Emulation:
    """Judged rankings, and what each system makes of them."""

    judged: Judged
    options: Named
    records: Mapping[Measure, Convention]  # how the system of ``like`` computes each measure

    @cached_property
    def _lists(self) -> Judged:
        """The input of a system that sees only lists:
        items of judged queries, each with its relevance.
        """
        return self.judged.as_lists(self.judged.scored_rows)

    @cached_property
    def _by_item(self) -> Emulation:
        """The data with items of every list sorted by id, as most systems order ties."""
        judged, rows = self.judged, self.judged.retrieved
        keys = [key for key in ("model", "query", "item") if key in rows.columns]
        return replace(self, judged=judged.with_rows(rows.sort(keys), judged.known, judged.lists))

    @cached_property
    def _all_positive(self) -> bool:
        """Whether no score is 0 or below, so that rules about such scores do not matter."""
        return self.judged.order == "distance" or bool((self._lists.retrieved["score"] > 0).all())

    @cached_property
    def _own_items(self) -> bool:
        """Whether any query found an item whose id is its own."""
        rows = self.judged.retrieved
        return bool(rows.select(is_own(rows).any()).item())

    @cached_property
    def _in_every_list(self) -> Callable[[str, float | None, bool], bool]:
        """Whether every list has a relevant item, or one that is not, so that rules about others do
        not matter; False if that is not plain to see.
        """
        return cache(self._found_in_every_list)

    def _found_in_every_list(self, items_seen: str, level: float | None, relevant: bool) -> bool:
        of_lists = items_seen in LISTS
        if not (of_lists or (self.judged.whole.judged and "n_relevant" not in self.judged.lists)):
            return False
        all_items = self._lists.retrieved if of_lists else self.judged.known
        per_list = self._lists.retrieved if of_lists else self.judged.lists
        keys = KEYS if of_lists else KEYS[1:]
        matches = is_relevant(pl.col("relevance"), level) == relevant
        return all_items.filter(matches).select(keys).n_unique() == per_list.select(keys).n_unique()

    def way(self, record: Convention) -> Way:
        """Return how a system orders these lists, without float32 if it cannot change an order."""
        narrow = self.judged.retrieved.schema[self.judged.order] in (pl.Float32, pl.Float16)
        # a random order and an arbitrary one may be any
        order = "random" if record.order in OPEN and not record.row_order_up_to else record.order
        return Way(order, record.row_order_up_to, record.float32 and not narrow)

    def rules(self, record: Convention) -> Rules:
        """Return what a system computes of this data."""
        grades, rows = self.judged.grades, self.judged.rows
        level = record.relevant_from
        if level is None:
            level = self.options["relevant_from"]
        if level == 1 and not ((grades > 0) & (grades < 1)).any():
            level = None
        complete = (rows.end > rows.begin).all()  # every model has a list for every query
        items_seen = "judged" if record.seen == "others" and not self._own_items else record.seen
        by_position = record.order not in ("exact", "threshold")
        if (
            items_seen == "samples"
            and not by_position
            and self._in_every_list(items_seen, level, False)
        ):
            items_seen = "list"
        empty = record.no_relevant
        if empty in ("skip", "raise"):
            relevant_first = (True, False) if items_seen == "samples" else (True,)
            everywhere = all(
                self._in_every_list(items_seen, level, relevant) for relevant in relevant_first
            )
            empty = "zero" if everywhere else "skip"
        return Rules(
            items_seen,
            record.binary and record.counts_grades and not np.isin(grades, [0.0, 1.0]).all(),
            "" if self._all_positive else record.positive,
            level,
            empty,
            "zero" if complete or items_seen in LISTS else record.missing_query,
        )

    def limits(self, rules: Rules, metrics: Iterable[str], way: Way) -> pl.DataFrame:
        """Return the range of means that a system with this tie
        order may print, as ``prints_low`` and ``prints_high``.
        """
        if way.order not in OPEN:
            means = tie_means(self.printed(rules, metrics, way))
            return means.select(*MEAN, prints_low="value", prints_high="value")
        policies = ("worst", "best", "naive")
        scores = self.scores(rules, metrics, way.float32, policies=policies)
        received = scores.filter(policy="naive")["value"]
        short = pl.col("items") <= way.row_order_up_to
        low, high = (
            tie_means(part.with_columns(value=pl.when(short).then(received).otherwise("value")))
            for part in (scores.filter(policy=policy) for policy in policies[:2])
        )
        return low.select(*MEAN, prints_low="value", prints_high=high["value"])

    def possible(self, rules: Rules, metrics: Iterable[str]) -> pl.DataFrame:
        """Return exact means, their standard deviations and
        bounds side by side, for the distances received.
        """
        scores = self.scores(rules, metrics, policies=("expected", "worst", "best"))
        tie_columns = pl.col("tie_std", "shortest").filter(policy="expected").first()
        means = side_by_side(tie_means(scores), MEAN, ("expected", *BOUNDS), tie_columns)
        undefined = scores.group_by(MEAN).agg(undefined=pl.col("value").null_count())
        return join_left(means, undefined, MEAN)

    def scores(
        self, rules: Rules, metrics: Iterable[str], float32: bool = False, **settings: object
    ) -> pl.DataFrame:
        """Return the scores of every list, from the rows as the system would receive them."""
        requests, parts = parse_metrics(metrics, None), self.seen(rules, float32, **settings)
        return pl.concat(score_judged(part, requests, options).frame() for part, options in parts)

    def drawn(self, rules: Rules, metric: str, **draws: Any) -> Scored:
        """Scores of every list in the mean over random
        orders, and every model's mean under each of them.
        """
        requests = parse_metrics(metric, None)
        sources = self.seen(rules, policies="shuffled", **draws)
        parts = [
            score_with_means(runs_of(part, requests, options), requests)
            for part, options in sources
        ]
        scores, means = zip(*parts, strict=True)
        return pl.concat(part.frame() for part in scores), pl.concat(means)

    def printed(
        self, rules: Rules, metrics: Iterable[str], way: Way, seed: int = 0
    ) -> pl.DataFrame:
        """Return the value of every list as printed with
        this tie order; an open order is one random draw.
        """
        if way.order == "middle":
            ranks = pl.concat(_middle_ranks(*part) for part in self.seen(rules))
            return _with_middle_ranks(self.scores(rules, metrics, policies="expected"), ranks)
        if way.order == "threshold":
            scores = self.scores(rules, metrics, policies="expected").filter(pl.col("items") > 0)
            values = pl.concat(_threshold_values(*part) for part in self.seen(rules))
            defined = pl.when(pl.col("value").is_not_null()).then(values)
            return scores.with_columns(value=defined, std=pl.lit(None, pl.Float64))
        if way.order in OPEN:
            draw = {"policies": ("shuffled", "naive"), "shuffles": 1, "seed": seed}
            scores = self.scores(rules, metrics, way.float32, **draw)
            as_received = pl.col("items") <= way.row_order_up_to
            return scores.filter((pl.col("policy") == "naive") == as_received)
        if way.order == "exact":
            return self.scores(rules, metrics, way.float32, policies="expected")
        data = self._by_item if way.order in BY_ITEM else self
        return data.scores(rules, metrics, way.float32, policies="naive", naive_order=way.order)

    def sources(self, **settings: Any) -> Iterator[tuple[Judged, Options, list[Measure]]]:
        """Yield the rankings as the system of ``like`` receives them and its rules, with the
        measures that it computes so; chances of a reversal are found of these.
        """
        groups: dict[Rules, list[Measure]] = {}
        for measure, record in self.records.items():
            groups.setdefault(self.rules(record), []).append(measure)
        for rules, measures in groups.items():
            for judged, options in self.seen(rules, **settings):
                yield judged, options, measures

    def seen(
        self, rules: Rules, float32: bool = False, **settings: object
    ) -> Iterator[tuple[Judged, Options]]:
        """Yield the rankings as the system would receive them, with options that follow its rules."""
        followed = {
            **self.options,
            "relevant_from": None if rules.binary else rules.relevant_from,
            "no_relevant": rules.no_relevant,
            "missing_query": rules.missing_query,
        }
        if rules.seen in LISTS:
            followed |= {"unjudged": None, "missing_query": "skip", "relevant_items": "own"}
        words = followed.pop("truncated")
        # One record of rows for all systems that receive the same.
        level = rules.relevant_from if rules.binary or rules.seen == "samples" else None
        for part in self._made_once(Rules(*rules[:3], level, "", ""), float32):
            ends = words
            if not isinstance(words, str):
                ends = {model: words[model] for model in words.keys() & set(part.whole.models)}
            yield part, Options(**{**followed, "truncated": ends, **settings})

    @cached_property
    def _made_once(self) -> Callable[[Rules, bool], list[Judged]]:
        return cache(self._made)

    def _made(self, rules: Rules, float32: bool) -> list[Judged]:
        judged = self._lists if rules.seen in LISTS else self.judged
        rows, score = judged.retrieved, pl.col(judged.order)
        if rules.seen == "others":
            rows = rows.remove(is_own(rows))
            judged = judged.with_rows(rows, judged.known, judged.lists)
        if rules.seen == "samples":
            judged = judged.as_lists(_as_samples(rows, rules.relevant_from))
            rows = judged.retrieved
        if rules.positive == "unretrieved":
            judged = judged.with_rows(rows.filter(score > 0), rows.filter(score <= 0), judged.lists)
        parts = [judged]
        if rules.positive == "irrelevant":
            # One model may score an item above 0 and another not, so its relevance differs: each
            # model by itself.
            rows = rows.with_columns(relevance=pl.when(score > 0).then("relevance").otherwise(0))
            models = rows.partition_by("model", maintain_order=True)
            parts = [judged.as_lists(rows_of_model) for rows_of_model in models]
        if rules.binary:
            binary = is_relevant(pl.col("relevance"), rules.relevant_from).cast(pl.Float64)
            parts = [
                part.with_values(
                    part.retrieved.with_columns(binary), part.known.with_columns(binary)
                )
                for part in parts
            ]
        if float32:
            narrow = score.cast(pl.Float64).clip(-LARGEST, LARGEST).cast(pl.Float32)
            parts = [replace(part, retrieved=part.retrieved.with_columns(narrow)) for part in parts]
        return parts


def _threshold_values(judged: Judged, options: Options) -> pl.Series:
    """Return the average precision of every list with items, each tie treated as one threshold, as
    scikit-learn has it.
    """
    relevant = is_relevant(pl.col("relevance"), options.relevant_from)
    number = pl.Series("list", judged.rows.list_of())  # text would be hashed and sorted three times
    hits, size = pl.col("hits").cum_sum().over("list"), pl.col("size").cum_sum().over("list")
    ties = (
        judged.retrieved.select(number, judged.order, hits=relevant)
        .group_by("list", judged.order)
        .agg(pl.sum("hits"), size=pl.len())
        .sort("list", judged.order, descending=[False, judged.order == "score"])
        .with_columns(gain=pl.col("hits") * hits / size)
    )
    lists = ties.group_by("list", maintain_order=True).agg(pl.sum("gain"), pl.sum("hits"))
    return (lists["gain"] / lists["hits"]).fill_nan(0.0)


def _as_samples(rows: pl.DataFrame, level: float | None) -> pl.DataFrame:
    """Return lists with relevant items first. In a list of relevant items alone none counts as
    relevant, so that its query is left out like one without any.
    """
    relevant = is_relevant(pl.col("relevance"), level)
    only_relevant = relevant.all().over(KEYS)
    rows = rows.with_columns(relevance=pl.when(only_relevant).then(0).otherwise("relevance"))
    return rows.sort(relevant, descending=True, maintain_order=True)


def _middle_ranks(judged: Judged, options: Options) -> pl.Series:
    """Return the mean of the best and the worst rank of the relevant item of every list with items;
    null if it has none or several.
    """
    relevant = is_relevant(pl.col("relevance"), options.relevant_from)
    score = pl.col(judged.order)
    relevant_score = score.filter("relevant").first()
    better = score < relevant_score if judged.order == "distance" else score > relevant_score
    items = pl.col("items")
    rank = items.filter(better).sum() + (items.filter(score == relevant_score).sum() + 1) / 2
    number = pl.Series("list", judged.rows.list_of())
    rows = judged.retrieved
    count = pl.col("count") if "count" in rows.columns else pl.lit(1)
    return (
        rows.select(number, judged.order, relevant=relevant, items=count)
        .group_by("list")
        .agg(rank=pl.when(items.filter("relevant").sum() == 1).then(rank))
    ).sort("list")["rank"]


def _with_middle_ranks(scores: pl.DataFrame, ranks: pl.Series) -> pl.DataFrame:
    """Return scores of rr and hit_rate as they would be if every relevant item had this rank; of a
    model with several in a list, nulls.
    """
    scores = scores.filter(pl.col("items") > 0)
    times = scores.height // max(ranks.len(), 1)  # measures, of every list in turn
    rank_column = pl.Series("rank", np.repeat(ranks.to_numpy(), times)).fill_nan(None)
    rank = pl.col("rank")
    within_cutoff = (rank <= pl.col("cutoff")) | pl.col("cutoff").is_null()
    value = pl.when(~within_cutoff).then(0.0).when(metric="rr").then(1 / rank).otherwise(1.0)
    single_relevant = (pl.col("n_relevant") <= 1).all().over("model")
    middle_value = pl.when(single_relevant & rank.is_not_null()).then(value)
    scores = scores.with_columns(rank_column).with_columns(
        value=middle_value, std=pl.lit(None, pl.Float64)
    )
    return scores.drop("rank")


def judge_items(
    rankings: object,
    judgements: object,
    queries: object,
    options: Options,
    what: str,
    records: Iterable[Convention],
) -> Judged:
    """Return judged rankings, or raise if they are counts and a system orders items; ``what`` names
    the request. Ids are text, by which trec_eval and others order them, 10 before 9.
    """
    judged = judge(rankings, judgements, queries, options)
    if "count" in judged.retrieved.columns:
        ordering = [one.system for one in records if one.system not in OF_ONE_ANSWER]
        if ordering:
            raise ParameterError(
                f"{what}: what {ordering[0]} prints depends on the order of items, and a counts "
                f"frame has none; {quoted(OF_ONE_ANSWER)} do not need it"
            )
        return judged
    if judged.retrieved.schema["item"] == pl.String:
        return judged
    text = pl.selectors.by_name("item", require_all=False).cast(pl.String)
    rows, judged_items = (part.with_columns(text) for part in (judged.retrieved, judged.known))
    return replace(judged, retrieved=rows, known=judged_items)
