"""Emulate a system: the rankings it would be given, its rules, and the means under its order.

Only this module turns a convention into options and judged rankings.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import Options, is_relevant
from retrieval_report.engines.check_scores import MEAN, side_by_side
from retrieval_report.engines.means import tie_means
from retrieval_report.metrics.parsing import parse_metrics
from retrieval_report.reading.frames import to_polars
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.scoring.run import run_of, score_judged, score_with_means
from retrieval_report.systems.conventions import OPEN, Convention

BY_ITEM = ("item", "item_descending")
LARGEST = float(np.finfo(np.float32).max)


class Quantity(NamedTuple):
    """The fields of ``Convention`` that decide what is computed, apart from the order inside
    ties.
    """

    seen: str
    binary: bool
    positive: str
    relevant_from: float | None
    no_relevant: str
    missing_query: str

    @classmethod
    def of(cls, record: Convention) -> Quantity:
        """Return those fields of a convention."""
        return cls(*(getattr(record, name) for name in cls._fields))


class Way(NamedTuple):
    """The fields of ``Convention`` that decide how ties are ordered."""

    order: str
    row_order_up_to: int
    float32: bool

    @property
    def asked(self) -> dict[str, str]:
        """Return the options of ``evaluate`` that give this order, if it is determined."""
        return (
            {"policies": "expected"}
            if self.order == "exact"
            else {"policies": "naive", "naive_order": self.order}
        )


@dataclass(frozen=True)
class Data:
    """Judged rankings, and what each system makes of them."""

    judged: Judged
    options: dict[str, Any]

    @classmethod
    def of(cls, judged: Judged, options: dict[str, Any]) -> Data:
        """Prepare judged rankings; trec_eval and others order ids as text, 10 before 9."""
        text = pl.col("item").cast(pl.String)
        known = judged.known.with_columns(text) if "item" in judged.known.columns else judged.known
        return cls(
            replace(judged, retrieved=judged.retrieved.with_columns(text), known=known), options
        )

    @cached_property
    def lists(self) -> Judged:
        """Return the input of a system that sees only lists: items of judged queries, each with its
        relevance.
        """
        return self.judged.as_lists(self.judged.scored_rows)

    @cached_property
    def by_item(self) -> Data:
        """Return the data with items of every list sorted by id, as most systems order ties; sorted
        once for all.
        """
        judged = self.judged
        rows = judged.retrieved.sort(
            [key for key in ("model", "query", "item") if key in judged.retrieved.columns]
        )
        return replace(self, judged=judged.with_rows(rows, judged.known, judged.lists))

    @cached_property
    def _all_positive(self) -> bool:
        """Return whether no score is 0 or below, so that rules about such scores do not matter."""
        return self.judged.order == "distance" or bool((self.lists.retrieved["score"] > 0).all())

    def way(self, record: Convention) -> Way:
        """Return how a system orders these lists, without float32 if it cannot change an order."""
        rounds = record.float32 and self.judged.retrieved.schema[self.judged.order] not in (
            pl.Float32,
            pl.Float16,
        )
        # a random order and an arbitrary one may be any
        order = "random" if record.order in OPEN and not record.row_order_up_to else record.order
        return Way(order, record.row_order_up_to, rounds)

    def simple(self, quantity: Quantity) -> Quantity:
        """Return the quantity without rules that have no effect on this data, so that systems share
        computations.
        """
        grades = self.judged.grades
        if np.isin(grades, [0.0, 1.0]).all():
            quantity = quantity._replace(binary=False)
        if quantity.relevant_from == 1 and not ((grades > 0) & (grades < 1)).any():
            quantity = quantity._replace(
                relevant_from=None if self.options["relevant_from"] is None else 1.0
            )
        if self._all_positive:
            quantity = quantity._replace(positive="")
        complete = (
            self.judged.rows.end > self.judged.rows.begin
        ).all()  # every model has a list for every query
        if complete or quantity.seen == "list":
            quantity = quantity._replace(missing_query="zero")
        return quantity

    def prints(self, quantity: Quantity, metrics: Iterable[str], way: Way) -> pl.DataFrame:
        """Return the range that a system with this tie order may print, as ``prints_low`` and
        ``prints_high``.
        """
        if way.order in OPEN:
            return self._open_means(quantity, list(metrics), way)
        means = tie_means(self.printed(quantity, list(metrics), way))
        return means.select(*MEAN, prints_low="value", prints_high="value")

    def _open_means(self, quantity: Quantity, metrics: list[str], way: Way) -> pl.DataFrame:
        """Return the means over each list's worst order, and over each list's best order."""
        policies = ("worst", "best", *(("naive",) if way.row_order_up_to else ()))
        scores = self.scores(quantity, metrics, way.float32, policies=policies)
        if way.row_order_up_to:
            # the policies of a list, metric and cutoff are contiguous, in the requested order
            as_received = pl.col("value").shift(-1), pl.col("value").shift(-2)
            short = pl.col("items") <= way.row_order_up_to
            scores = scores.with_columns(
                value=pl.when(short & (pl.col("policy") == "best"))
                .then(as_received[0])
                .when(short & (pl.col("policy") == "worst"))
                .then(as_received[1])
                .otherwise("value")
            )
        return side_by_side(tie_means(scores), MEAN, {"prints_low": "worst", "prints_high": "best"})

    def possible(self, quantity: Quantity, metrics: Iterable[str]) -> pl.DataFrame:
        """Return exact means, their standard deviations and bounds side by side, for the distances
        received.
        """
        means = tie_means(
            self.scores(quantity, list(metrics), policies=("expected", "worst", "best"))
        )
        others = pl.col("tie_std", "shortest").filter(policy="expected").first()
        return side_by_side(
            means, MEAN, {"expected": "expected", "lowest": "worst", "highest": "best"}, others
        )

    def scores(
        self, quantity: Quantity, metrics: str | list[str], float32: bool = False, **asked: Any
    ) -> pl.DataFrame:
        """Return the scores of every list, from the rows as the system would receive them."""
        requests = parse_metrics(metrics, None)
        parts = self.seen(quantity, float32, **asked)
        return pl.concat(score_judged(part, requests, options).frame() for part, options in parts)

    def drawn(
        self, quantity: Quantity, metric: str, **draws: Any
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Scores of every list in the mean over random orders, and every model's mean under each of
        them.
        """
        requests = parse_metrics(metric, None)
        seen = self.seen(quantity, policies="shuffled", **draws)
        parts = [score_with_means(run_of(part, requests, options)) for part, options in seen]
        return pl.concat(scores.frame() for scores, _ in parts), pl.concat(
            means for _, means in parts
        )

    def printed(
        self, quantity: Quantity, metrics: str | list[str], way: Way, seed: int = 0
    ) -> pl.DataFrame:
        """Return the value of every list as printed with this tie order; an open order is one
        random draw.
        """
        if way.order == "threshold":
            level = self._rules(quantity)["relevant_from"]
            return pl.concat(_threshold_lists(part, level) for part, _ in self.seen(quantity))
        if way.order not in OPEN:
            data = self.by_item if way.order in BY_ITEM else self
            return data.scores(quantity, metrics, way.float32, **way.asked)
        policies = ("shuffled", *(("naive",) if way.row_order_up_to else ()))
        scores = self.scores(
            quantity, metrics, way.float32, policies=policies, shuffles=1, seed=seed
        )
        return scores.filter(
            (pl.col("policy") == "naive") == (pl.col("items") <= way.row_order_up_to)
        )

    def _rules(self, quantity: Quantity) -> dict[str, Any]:
        """Return options of ``evaluate`` that follow the rules of the system."""
        options = {
            **self.options,
            "relevant_from": None if quantity.binary else self._level(quantity),
        }
        options |= {"no_relevant": quantity.no_relevant, "missing_query": quantity.missing_query}
        if quantity.seen == "list":
            options |= {"unjudged": None, "missing_query": "skip", "relevant_items": "own"}
        return options

    def _level(self, quantity: Quantity) -> float | None:
        """Return the smallest relevant grade."""
        return (
            self.options["relevant_from"]
            if quantity.relevant_from is None
            else quantity.relevant_from
        )

    def seen(
        self, quantity: Quantity, float32: bool = False, **asked: Any
    ) -> list[tuple[Judged, Options]]:
        """Return the rankings as the system would receive them, with options that follow its
        rules.
        """
        rules, found = {**self._rules(quantity), **asked}, []
        for part in self._received(quantity, float32):
            words = rules["truncated"]
            if not isinstance(words, str):
                words = {model: word for model, word in words.items() if model in part.whole.models}
            found.append((part, Options(**{**rules, "truncated": words})))
        return found

    def _received(self, quantity: Quantity, float32: bool) -> list[Judged]:
        judged = self.lists if quantity.seen == "list" else self.judged
        rows, score = judged.retrieved, pl.col(judged.order)
        if quantity.positive == "unretrieved":
            judged = judged.with_rows(rows.filter(score > 0), rows.filter(score <= 0), judged.lists)
        parts = [judged]
        if quantity.positive == "irrelevant":
            # One model may score an item above 0 and another not, so its relevance differs: each
            # model by itself.
            rows = rows.with_columns(relevance=pl.when(score > 0).then("relevance").otherwise(0))
            parts = [
                judged.as_lists(own) for own in rows.partition_by("model", maintain_order=True)
            ]
        if quantity.binary:
            level, relevance = self._level(quantity), pl.col("relevance").cast(pl.Float64)
            binary = is_relevant(relevance, level).cast(pl.Float64)
            parts = [
                part.with_values(
                    *(own.with_columns(binary) for own in (part.retrieved, part.known))
                )
                for part in parts
            ]
        if float32:
            narrow = score.cast(pl.Float64).clip(-LARGEST, LARGEST).cast(pl.Float32)
            parts = [replace(part, retrieved=part.retrieved.with_columns(narrow)) for part in parts]
        return parts


def _threshold_lists(judged: Judged, level: float | None) -> pl.DataFrame:
    """Average precision of every list with items, each tie treated as one threshold, as
    scikit-learn has it.
    """
    relevant = is_relevant(pl.col("relevance"), level)
    number = pl.Series("list", judged.rows.list_of())  # text would be hashed and sorted three times
    found, seen = pl.col("hits").cum_sum().over("list"), pl.col("size").cum_sum().over("list")
    ties = (
        judged.retrieved.select(number, judged.order, hits=relevant)
        .group_by("list", judged.order)
        .agg(pl.col("hits").sum(), size=pl.len())
        .sort("list", judged.order, descending=[False, judged.order == "score"])
        .with_columns(gain=pl.col("hits") * found / seen)
    )
    lists = ties.group_by("list", maintain_order=True).agg(
        value=(pl.col("gain").sum() / pl.col("hits").sum()).fill_nan(0.0),
        items=pl.col("size").sum().cast(pl.Int64),
        n_relevant=pl.col("hits").sum().cast(pl.Int64),
        truncated=pl.lit(False),
        pooled=pl.lit(False),
    )
    lists = pl.concat(
        [judged.lists.select("model", "query")[lists["list"]], lists.drop("list")], how="horizontal"
    )
    lists = lists.with_columns(
        std=pl.lit(None, pl.Float64), metric=pl.lit("ap"), policy=pl.lit("threshold")
    )
    return pl.DataFrame(lists.with_columns(cutoff=pl.lit(None, pl.Int64)))


def judge_items(
    rankings: object, judgements: object, queries: object, options: Options, what: str
) -> Judged:
    """Return judged rankings, or raise if they are counts; ``what`` names the request."""
    rankings = rankings if isinstance(rankings, Judged) else to_polars(rankings, "rankings")
    if "count" in (rankings.retrieved if isinstance(rankings, Judged) else rankings).columns:
        raise ParameterError(
            f"{what}: what others print depends on the order of items, and a counts frame has none"
        )
    return judge(rankings, judgements, queries, options)
