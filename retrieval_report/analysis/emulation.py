"""One system's view of the data: the frames it would be given, its rules, and the means under its order.

A convention becomes arguments of ``evaluate`` here; nothing else in the audit knows how.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from retrieval_report.analysis.conventions import OPEN, Convention
from retrieval_report.analysis.rows import judged_rows, tie_means
from retrieval_report.contracts.frames import order_column
from retrieval_report.contracts.options import Options
from retrieval_report.evaluation import evaluate
from retrieval_report.scoring.lookup import Located

__all__ = ["Data", "Quantity", "Way"]

PLACE = ["model", "metric", "cutoff"]
BY_ITEM = ("item", "item_descending")
LARGEST = float(np.finfo(np.float32).max)


class Quantity(NamedTuple):
    """What is computed, whatever the order inside ties: fields of ``Convention`` that decide it."""

    seen: str
    binary: bool
    positive: str
    relevant_from: float | None
    no_relevant: str
    missing_query: str

    @classmethod
    def of(cls, record: Convention) -> Quantity:
        """Those fields of a convention."""
        return cls(*(getattr(record, name) for name in cls._fields))


class Way(NamedTuple):
    """How ties are ordered: fields of ``Convention`` that decide it."""

    order: str
    row_order_up_to: int
    float32: bool


@dataclass(frozen=True)
class Data:
    """The frames received, and what they become for each system."""

    frame: pl.DataFrame
    judgements: pl.DataFrame | None
    queries: pl.DataFrame | None
    rows: pl.DataFrame  # for systems that see lists only: every row has its relevance
    options: dict[str, Any]
    complete: bool  # every model has a list for every query

    @classmethod
    def of(
        cls,
        frame: pl.DataFrame,
        judgements: pl.DataFrame | None,
        queries: pl.DataFrame | None,
        options: dict[str, Any],
        complete: bool,
    ) -> Data:
        """Frames that ``evaluate`` has accepted, made ready."""
        rows = judged_rows(frame, judgements, queries, Options(**options, policies=("expected",)))
        text = pl.col("item").cast(pl.String)  # trec_eval and others order ids as text: 10 comes before 9
        judged = None if judgements is None else judgements.with_columns(text)
        return cls(frame.with_columns(text), judged, queries, rows.with_columns(text), options, complete)

    @cached_property
    def by_item(self) -> Data:
        """The same data with the items of every list in order, as most systems have their ties: sorted once for all."""
        keys = [key for key in ("model", "query", "item") if key in self.frame.columns]
        return replace(self, frame=self.frame.sort(keys), rows=self.rows.sort(keys))

    @property
    def order(self) -> str:
        """Name of the column that orders a list."""
        return order_column(self.frame)

    @cached_property
    def _grades(self) -> pl.Series:
        """The relevances there are, each once."""
        source = self.frame if self.judgements is None else self.judgements
        return source["relevance"].cast(pl.Float64).drop_nulls().unique()

    @cached_property
    def _all_positive(self) -> bool:
        """Whether no rule on scores of 0 and below can matter."""
        return self.order == "distance" or bool((self.rows["score"] > 0).all())

    def way(self, record: Convention) -> Way:
        """How a system orders these lists; float32 is left out where it cannot change an order."""
        rounds = record.float32 and self.frame.schema[self.order] not in (pl.Float32, pl.Float16)
        # a random order and an arbitrary one may be any
        order = "random" if record.order in OPEN and not record.row_order_up_to else record.order
        return Way(order, record.row_order_up_to, rounds)

    def simple(self, quantity: Quantity) -> Quantity:
        """The same quantity without rules that change nothing on this data, so that systems share computations."""
        grades = self._grades
        if grades.is_in([0.0, 1.0]).all():
            quantity = quantity._replace(binary=False)
        if quantity.relevant_from == 1 and not grades.is_between(0, 1, closed="none").any():
            quantity = quantity._replace(relevant_from=None if self.options["relevant_from"] is None else 1.0)
        if self._all_positive:
            quantity = quantity._replace(positive="")
        if self.complete or quantity.seen == "list":
            quantity = quantity._replace(missing_query="zero")
        return quantity

    def prints(self, quantity: Quantity, metrics: Iterable[str], way: Way) -> pl.DataFrame:
        """The least and the most that a system may print whose ties are ordered so, as ``prints_low`` and ``_high``."""
        if way.order == "threshold":
            return _alike(tie_means(self._threshold_lists(quantity)))
        if way.order in OPEN:
            return self._open_means(quantity, list(metrics), way)
        policy = {"policies": "naive", "naive_order": way.order}
        if way.order == "exact":
            policy = {"policies": "expected"}
        data = self.by_item if way.order in BY_ITEM else self
        return _alike(tie_means(data.scores(quantity, way.float32, metrics=list(metrics), **policy)))

    def _open_means(self, quantity: Quantity, metrics: list[str], way: Way) -> pl.DataFrame:
        """Means where each list's worst order comes up, and where each list's best does."""
        policies = ("worst", "best", *(("naive",) if way.row_order_up_to else ()))
        scores = self.scores(quantity, way.float32, metrics=metrics, policies=policies)
        if way.row_order_up_to:
            # the policies of a list, metric and cutoff stand together, in the order asked for
            as_received = pl.col("value").shift(-1), pl.col("value").shift(-2)
            short = pl.col("items") <= way.row_order_up_to
            scores = scores.with_columns(
                value=pl.when(short & (pl.col("policy") == "best"))
                .then(as_received[0])
                .when(short & (pl.col("policy") == "worst"))
                .then(as_received[1])
                .otherwise("value")
            )
        means = tie_means(scores)
        low, high = (
            means.filter(policy=policy).select(*PLACE, pl.col("value").alias(name))
            for policy, name in (("worst", "prints_low"), ("best", "prints_high"))
        )
        return low.join(high, on=PLACE, how="left", nulls_equal=True, maintain_order="left")

    def possible(self, quantity: Quantity, metrics: Iterable[str]) -> pl.DataFrame:
        """Exact means, their standard deviations and bounds, for the distances received."""
        return tie_means(self.scores(quantity, False, metrics=list(metrics), policies=("expected", "worst", "best")))

    def scores(self, quantity: Quantity, float32: bool = False, **asked: Any) -> pl.DataFrame:
        """Scores of every list, of the rows as the system would be given them."""
        given = {**self._given(quantity, float32), **asked}
        if quantity.positive != "irrelevant":
            return evaluate(**given)
        # One model may score an item above 0 and another not, so its relevance differs: each model by itself.
        models = given.pop("rankings").partition_by("model", maintain_order=True)
        return pl.concat(evaluate(rankings, **given) for rankings in models)

    def printed(self, quantity: Quantity, metric: str, way: Way, seed: int) -> pl.DataFrame:
        """The value of every list as a system prints it that orders ties so; an open order is one random draw."""
        if way.order == "threshold":
            return self._threshold_lists(quantity)
        asked: dict[str, Any] = {"policies": "naive", "naive_order": way.order}
        if way.order == "exact":
            asked = {"policies": "expected"}
        if way.order in OPEN:
            policies = ("shuffled", *(("naive",) if way.row_order_up_to else ()))
            asked = {"policies": policies, "shuffles": 1, "seed": seed}
        scores = self.scores(quantity, way.float32, metrics=metric, **asked)
        if way.order not in OPEN:
            return scores
        return scores.filter((pl.col("policy") == "naive") == (pl.col("items") <= way.row_order_up_to))

    def _threshold_lists(self, quantity: Quantity) -> pl.DataFrame:
        """Average precision with every tie taken as one threshold, as scikit-learn has it."""
        given = self._given(quantity, False)
        level = given["relevant_from"]
        relevant = pl.col("relevance") > 0 if level is None else pl.col("relevance") >= level
        names, rows, _ = Located.of(given["rankings"])
        number = pl.Series("list", rows.list_of())  # text would be hashed and sorted three times
        found, seen = pl.col("hits").cum_sum().over("list"), pl.col("size").cum_sum().over("list")
        ties = (
            given["rankings"]
            .select(number, self.order, hits=relevant)
            .group_by("list", self.order)
            .agg(pl.col("hits").sum(), size=pl.len())
            .sort("list", self.order, descending=[False, self.order == "score"])
            .with_columns(gain=pl.col("hits") * found / seen)
        )
        lists = ties.group_by("list", maintain_order=True).agg(
            value=(pl.col("gain").sum() / pl.col("hits").sum()).fill_nan(0.0),
            items=pl.col("size").sum().cast(pl.Int64),
            n_relevant=pl.col("hits").sum().cast(pl.Int64),
            truncated=pl.lit(False),
            pooled=pl.lit(False),
        )
        lists = pl.concat([names.select("model", "query"), lists.drop("list")], how="horizontal")
        lists = lists.with_columns(std=pl.lit(None, pl.Float64), metric=pl.lit("ap"), policy=pl.lit("threshold"))
        return pl.DataFrame(lists.with_columns(cutoff=pl.lit(None, pl.Int64)))

    def _given(self, quantity: Quantity, float32: bool) -> dict[str, Any]:
        """Arguments of ``evaluate``: frames as the system would be given them, and its rules."""
        level = self.options["relevant_from"] if quantity.relevant_from is None else quantity.relevant_from
        options = {**self.options, "relevant_from": level, "no_relevant": quantity.no_relevant}
        frame, judgements, queries = self.frame, self.judgements, self.queries
        options["missing_query"] = quantity.missing_query
        if quantity.seen == "list":
            frame, judgements, queries = self.rows, None, None
            options |= {"unjudged": None, "missing_query": "skip", "relevant_items": "own"}
        score = pl.col(self.order)
        if quantity.positive == "irrelevant":
            frame = frame.with_columns(relevance=pl.when(score > 0).then("relevance").otherwise(0))
        if quantity.positive == "unretrieved":
            frame = frame.with_columns(pl.when(score > 0).then(score).alias(self.order))
            options["null_distance"] = "not_retrieved"
        if quantity.binary:
            relevance = pl.col("relevance").cast(pl.Float64)
            relevant = (relevance > 0 if level is None else relevance >= level).cast(pl.Float64)
            frame = frame.with_columns(relevant.alias("relevance")) if "relevance" in frame.columns else frame
            judgements = None if judgements is None else judgements.with_columns(relevant.alias("relevance"))
            options["relevant_from"] = None
        if float32:
            frame = frame.with_columns(score.cast(pl.Float64).clip(-LARGEST, LARGEST).cast(pl.Float32))
        return {"rankings": frame, "judgements": judgements, "queries": queries, **options}


def _alike(means: pl.DataFrame) -> pl.DataFrame:
    """Means that are one number: the least and the most alike."""
    return means.select(*PLACE, prints_low="value", prints_high="value")
