"""Metrics as Polars expressions: the numbers of `evaluate` and of the golden cases, in every
context of Polars.
"""

import datetime as dt
import math
import subprocess
import sys
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

import oracles
import retrieval_report as rr
from catalogue_texts import TEXTS
from retrieval_report.metrics import terms
from retrieval_report.metrics.parsing import CATALOGUE, parse_metric
from retrieval_report.metrics.record import Facts

ORDERS = {"expected": "expected", "best": "best", "worst": "worst", "naive": "received"}
WITHOUT = ("err", "bpref")  # and whatever divides by what is retrieved


def has_expression(text: str) -> bool:
    """Whether a measure has an expression."""
    metric, _ = parse_metric(text)
    return metric.name not in WITHOUT and not metric.term.ratio and "<" not in text


WITH = sorted({text.partition("@")[0] for text in TEXTS if has_expression(text)})


UNIT = terms.UNIT


@dataclass(frozen=True)
class OverIdeal(rr.Metric):
    """A sum of grades over its largest value, with any weights of ranks, as in a metric of one's
    own.
    """

    name = "over_ideal"
    largest = 1.0
    weights: terms.Discount = UNIT

    @property
    def term(self) -> terms.Sum:
        return terms.Sum(terms.Gain("linear"), self.weights)

    def divisor(self, facts: Facts):
        return facts.ideal(terms.Ideal(terms.Gain("linear"), self.weights, "judged"))


WEIGHTS = (UNIT, terms.Discount(0.8), terms.Discount("reciprocal"))


def lists(seed: int, queries: int = 16) -> pl.DataFrame:
    """Short lists with many ties and four grades."""
    rng = np.random.default_rng(seed)
    rows = [
        (f"q{query:02}", f"d{item}", int(rng.integers(0, 4)), int(rng.choice([0, 0, 1, 2, 3])))
        for query in range(queries)
        for item in rng.permutation(int(rng.integers(1, 14))).tolist()
    ]
    return pl.DataFrame(rows, schema=["query", "item", "distance", "relevance"], orient="row")


@pytest.mark.filterwarnings("ignore:ndcg. for .* lists only some relevant items are in the data")
@pytest.mark.filterwarnings("ignore:over_ideal.* for .* lists only some relevant items are in")
@pytest.mark.parametrize(
    "metric",
    [
        *(parse_metric(text)[0] for text in WITH),
        *(OverIdeal(weights=weights) for weights in WEIGHTS),
    ],
    ids=str,
)
def test_scores_and_deviations_are_those_of_evaluate(metric: rr.Metric):
    frame = lists(1)
    for least, stated in ((None, None), (2.0, "n")):
        hit = pl.col("relevance") >= (1 if least is None else least)
        known = frame.with_columns(n=(hit.sum() + 2).over("query"))
        queries = known.group_by("query").agg(n_relevant=pl.first("n")) if stated else None
        wanted = rr.evaluate(
            frame,
            queries=queries,
            metrics=[metric],
            cutoffs=[3, None],
            policies=tuple(ORDERS),
            truncated="no",
            relevant_from=least,
        ).sort("query")
        how: Any = {"relevant_from": least, "n_relevant": stated}
        asked: dict[tuple[int | None, str], pl.Expr] = {}
        for cutoff in wanted["cutoff"].unique().to_list():
            for policy, order in ORDERS.items():
                asked[cutoff, policy] = metric.expr(
                    "relevance", distance="distance", k=cutoff, order=order, **how
                )
            if metric.term.first_only or metric.term.position_weights(1) is not None:
                asked[cutoff, "std"] = metric.expr(
                    "relevance", distance="distance", k=cutoff, std=True, **how
                )
        named = [one.alias(str(place)) for place, one in asked.items()]
        table = known.lazy().group_by("query").agg(named).sort("query").collect()
        for cutoff, policy in asked:
            rows = wanted.filter(
                pl.col("cutoff").eq_missing(pl.lit(cutoff)),
                pl.col("policy") == ("expected" if policy == "std" else policy),
            )
            column, near = ("std", 1e-9) if policy == "std" else ("value", 0)
            np.testing.assert_allclose(
                table[str((cutoff, policy))].fill_null(math.nan),
                rows[column].fill_null(math.nan),
                rtol=near or 1e-12,
                atol=near,
            )


MEASURES = [
    rr.expr.ndcg("relevance", distance="distance", k=10),
    rr.expr.ap("relevance", distance="distance"),
    rr.expr.rr("relevance", distance="distance", k=3),
    rr.expr.rbp("relevance", distance="distance", p=0.5),
]
NAMES = ["ndcg@10", "ap@all", "rr@3", "rbp(p=0.5)@all"]


def test_every_context_gives_the_same_numbers():
    frame = lists(2)
    wanted = frame.group_by("query").agg(MEASURES).sort("query")
    assert wanted.columns == ["query", *NAMES]
    over = frame.select("query", *(one.over("query") for one in MEASURES)).unique().sort("query")
    lazy = frame.lazy().group_by("query").agg(MEASURES).sort("query")
    for other in (over, lazy.collect(engine="streaming")):
        assert_frame_equal(other, wanted, rel_tol=1e-14)


@pytest.mark.parametrize(
    "order",
    [
        pl.Series([0, 2, 2, 5], dtype=pl.UInt64),
        pl.Series([-0.0, 0.1, 0.1, 0.3], dtype=pl.Float32),
        pl.Series([Decimal("0.1"), Decimal("0.30"), Decimal("0.3"), Decimal(1)]),
        pl.Series([dt.date(2020, 1, day) for day in (1, 2, 2, 3)]),
    ],
)
def test_whatever_can_be_ordered(order: pl.Series):
    frame = pl.DataFrame({"distance": order, "relevance": [0, 1, 0, 1]})
    values = frame.select(rr.expr.ap("relevance", distance="distance", k=3)).item()
    assert values == pytest.approx(5 / 24)
    falling = frame.select(rr.expr.ap("relevance", score="distance", k=3)).item()
    assert falling == pytest.approx((1 + (2 / 2 + 2 / 3) / 2) / 2)
    share = rr.expr.recall("relevance", distance="distance", n_relevant=4)
    assert frame.select(share).item() == 0.5


def test_float32_distances_tie_as_float32():
    near = pl.Series([0.1, 0.1 + 1e-9, 0.5])
    frame = pl.DataFrame({"distance": near, "relevance": [1, 0, 0]})
    measure = rr.expr.rr("relevance", distance="distance")
    assert frame.select(measure).item() == 1.0
    assert frame.with_columns(pl.col("distance").cast(pl.Float32)).select(measure).item() == 0.75


@pytest.mark.parametrize(
    "odd",
    [
        {"distance": [None, 1.0]},
        {"distance": [math.nan, 1.0]},
        {"relevance": [None, 1]},
        {"relevance": [-1, 1]},
        {"relevance": [math.nan, 1.0]},
        {"n": [0, 0]},
        {"n": [None, None]},
    ],
)
@pytest.mark.parametrize("name", ["ndcg", "r_precision"])
def test_what_is_not_known_is_null(name: str, odd: dict[str, list[Any]]):
    columns = {"distance": [1.0, 2.0], "relevance": [1, 1], "n": [2, 2], **odd}
    frame = pl.DataFrame(columns, schema_overrides={"n": pl.Int64})
    measure = getattr(rr.expr, name)("relevance", distance="distance", n_relevant="n")
    assert frame.select(measure).to_series().to_list() == [None]
    assert frame.head(0).select(measure).to_series().to_list() == [None]


def test_nothing_relevant():
    frame = pl.DataFrame({"distance": [1, 1], "relevance": [0, 0]})
    for word, wanted in (("zero", 0.0), ("one", 1.0), ("skip", None)):
        for name in ("ndcg", "ap", "rr", "hit_rate", "recall"):
            measure = getattr(rr.expr, name)("relevance", distance="distance", no_relevant=word)
            assert frame.select(measure).item() == wanted, name
    precision = rr.expr.precision("relevance", distance="distance", no_relevant="skip")
    assert frame.select(precision).item() == 0.0


@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("err", {}),
        ("bpref", {}),
        ("ap(denominator=retrieved)", {}),
        ("ndcg(ideal=cutoff)", {}),
        ("ap", {"std": True}),
        ("ndcg", {"std": True, "order": "best"}),
    ],
)
def test_what_has_no_expression_names_evaluate(text: str, how: dict[str, Any]):
    metric, _ = parse_metric(text)
    with pytest.raises(rr.ParameterError, match="use evaluate"):
        metric.expr("relevance", distance="distance", **how)


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"distance": "d", "score": "s"},
        {"distance": "d", "k": 0},
        {"distance": "d", "order": "naive"},
        {"distance": "d", "std": "yes"},
    ],
)
def test_wrong_parameters(how: dict[str, Any]):
    with pytest.raises(rr.ParameterError):
        rr.expr.ndcg("relevance", **how)


def test_every_metric_is_a_function_or_has_none():
    functions = {name for name in dir(rr.expr) if not name.startswith("tie")} - {"first_rank"}
    assert functions == {name for name in CATALOGUE if name not in WITHOUT}
    assert rr.expr.__all__ == dir(rr.expr)
    assert rr.expr.ndcg is rr.expr.ndcg
    with pytest.raises(AttributeError, match="no attribute 'ncdg'; did you mean 'ndcg'"):
        rr.expr.ncdg  # noqa: B018


def test_ties_are_those_of_tie_groups():
    frame = lists(3)
    columns = ["tie", "tie_start", "tie_size", "tie_relevant"]
    found = frame.with_columns(
        rr.expr.tie("distance").over("query"),
        rr.expr.tie_start("distance").over("query"),
        rr.expr.tie_size("distance").over("query"),
        rr.expr.tie_relevant("relevance", "distance").over("query"),
    ).sort("query", "item")
    groups = rr.lists.tie_groups(frame).sort("query", "item")
    assert found.select(columns).equals(groups.select(columns))


def test_a_process_that_asks_for_expressions_alone_imports_no_compiler():
    code = (
        "import sys, polars as pl, retrieval_report as rr; "
        "f = pl.DataFrame({'d': [1, 1], 'r': [1, 0]}); "
        "assert f.select(rr.expr.ap('r', distance='d')).item() == 0.75; "
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


METRIC_NAMES = sorted(name for name in CATALOGUE if has_expression(name))


@pytest.mark.parametrize("name", METRIC_NAMES)
def test_no_rows_give_no_lists_and_groups_that_a_filter_empties_are_null(name: str):
    metric = parse_metric(name)[0]
    score = metric.expr("relevance", distance="distance", k=3)
    frame = lists(4, queries=5)
    assert frame.clear().select(score).to_series().to_list() == [None]
    some = pl.col("distance") > 1
    near = metric.expr(
        pl.col("relevance").filter(some), distance=pl.col("distance").filter(some), k=3
    )
    wanted = frame.filter(some).group_by("query").agg(score)
    only = frame.with_columns(some=some.any().over("query"))
    found = frame.group_by("query", maintain_order=True).agg(near)
    emptied = only.filter(~pl.col("some"))["query"].unique()
    for query, value in found.iter_rows():
        expected = [] if query in emptied else wanted.filter(query=query).to_series(1).to_list()
        assert [value] == (expected or [None])


@pytest.mark.parametrize("name", METRIC_NAMES)
def test_r_may_be_a_float_that_is_a_whole_number(name: str):
    frame = lists(6).with_columns(n=(pl.col("relevance") > 0).sum().over("query") + 1)
    metric = parse_metric(name)[0]
    for order in ("expected", "received"):
        how: Any = {"distance": "distance", "order": order}
        whole, real, half = (
            frame.group_by("query", maintain_order=True)
            .agg(metric.expr("relevance", n_relevant=n, **how))
            .to_series(1)
            .to_list()
            for n in ("n", pl.col("n").cast(pl.Float64), pl.col("n") + 0.5)
        )
        assert whole == real
        assert half == [None] * len(half)


def test_the_rank_of_the_first_relevant_item_is_that_of_all_orders():
    frame = lists(7)
    for least in (None, 2.0):
        hits = pl.col("relevance") >= (1 if least is None else least)
        found = frame.group_by("query", maintain_order=True).agg(
            rr.expr.first_rank("relevance", "distance", relevant_from=least, order=order).alias(
                order
            )
            for order in ("expected", "best", "worst")
        )
        for query, *ranks in found.iter_rows():
            rows = frame.filter(query=query).with_columns(hit=hits).sort("distance")
            ties = [part["hit"].to_list() for part in rows.partition_by("distance")]
            orders = oracles.all_orderings(tuple(tuple(map(int, tie)) for tie in ties))
            if not rows["hit"].any():
                assert ranks == [None] * 3
                continue
            first = [(order.index(1) + 1, chance) for order, chance in orders]
            mean = sum(rank * chance for rank, chance in first)
            wanted = [float(mean), min(first)[0], max(first)[0]]
            assert ranks == pytest.approx(wanted, rel=1e-13)


def test_a_mean_rank_is_answered_in_words():
    frame = pl.DataFrame({"score": [2.0, 1.0], "relevance": [0, 1]})
    assert frame.select(rr.expr.first_rank("relevance", score="score")).item() == 2.0
    with pytest.raises(rr.ParameterError, match="order: 'received' is not one of"):
        rr.expr.first_rank("relevance", "score", order="received")
