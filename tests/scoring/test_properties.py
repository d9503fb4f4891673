"""Properties of every metric: the twelve at the end of the table of bad input."""

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from catalogue_texts import TEXTS
from properties import (
    BINARY,
    CUTOFFS,
    EXACT,
    OWN_DEPTH,
    PLACE,
    close,
    exact,
    judged,
    lists,
    no_less,
    odd_distances,
    wide,
)
from retrieval_report import count_ties, evaluate, shuffled_means
from retrieval_report.lists import tie_groups
from retrieval_report.scoring import arrays

# 1: what does not matter
# -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2])
def test_property_01_order_of_rows_chunks_and_columns(seed: int):
    frame = lists(seed)
    wanted = exact(frame)
    mixed = frame.sample(fraction=1, shuffle=True, seed=seed)
    chunks = pl.concat([mixed[:5], mixed[5:50], mixed[50:]], rechunk=False)
    for other in (mixed, chunks, frame[::-1], frame.select(sorted(frame.columns))):
        assert_frame_equal(exact(other), wanted, check_exact=True)


def test_property_01_names_of_items_queries_and_models():
    frame = lists(3)
    wanted = exact(frame)
    items = frame.with_columns(item=pl.format("{}é", pl.col("item").str.reverse()))
    assert_frame_equal(exact(items), wanted, check_exact=True)
    numbers = frame.with_columns(pl.col("item", "query").str.slice(1).cast(pl.Int32) - 7)
    back = exact(numbers).with_columns(query=pl.format("q{}", pl.col("query") + 7))
    by = ["model", "query"]
    assert_frame_equal(
        back.sort(by, maintain_order=True), wanted.sort(by, maintain_order=True), check_exact=True
    )
    turned = {"a": "z", "b": "B"}  # the order of the models turns round
    renamed = exact(frame.with_columns(pl.col("model").replace_strict(turned)))
    back = renamed.with_columns(
        pl.col("model").replace_strict({new: old for old, new in turned.items()})
    )
    assert_frame_equal(
        back.sort(by, maintain_order=True), wanted.sort(by, maintain_order=True), check_exact=True
    )


def test_property_01_types_of_equal_values():
    frame = lists(4)
    wanted = exact(frame)
    types: list[Any] = [
        pl.Int8,
        pl.UInt8,
        pl.Int32,
        pl.UInt64,
        pl.Int128,
        pl.Float32,
        pl.Float64,
        pl.Decimal(10, 3),
    ]
    for dtype in types:
        assert_frame_equal(
            exact(frame.with_columns(pl.col("distance").cast(dtype))), wanted, check_exact=True
        )
    for dtype in (pl.Int8, pl.UInt8, pl.UInt64, pl.Float32, pl.Float64, pl.Decimal(10, 3)):
        assert_frame_equal(
            exact(frame.with_columns(pl.col("relevance").cast(dtype))), wanted, check_exact=True
        )


def test_property_01_rising_transforms_of_the_distance():
    frame = lists(5)
    wanted = exact(frame)
    distance = pl.col("distance")
    for other in (
        distance.exp(),
        distance**3 - 1000,
        distance * 1e-300,
        (distance + 1).log(),
        distance * 2**59,
    ):
        assert_frame_equal(exact(frame.with_columns(distance=other)), wanted, check_exact=True)
    for score in (-distance, 1 / (1 + distance), 255 - distance.cast(pl.UInt8)):
        scored = frame.with_columns(score=score).drop("distance")
        assert_frame_equal(exact(scored), wanted, check_exact=True)


@pytest.mark.parametrize(
    ("layout", "order"), [("together", "score"), ("scattered", "distance"), ("long", "score")]
)
def test_property_01_ties_are_those_of_the_window_expressions(layout: str, order: str):
    frame = lists(
        6, queries=3 if layout == "long" else 40, longest=2_500 if layout == "long" else 12
    )
    if layout == "scattered":
        frame = frame.sample(fraction=1, shuffle=True, seed=4)
    metrics, policies = ["ap", "ndcg", "rr", "wap(denominator=retrieved)", "acg"], (*EXACT, "naive")
    for name, distance in odd_distances(frame.height).items():
        given = frame.with_columns(distance.alias("distance")).rename({"distance": order})
        number = tie_groups(given).sort("row")["tie"]
        wanted = exact(frame.with_columns(distance=number), metrics, [3, None], policies)
        assert exact(given, metrics, [3, None], policies).equals(wanted), name


# 2: the mean over all orders
# -------------------------------------------------------------------------

SMALL = [
    *(
        [[0, 1, 2]],
        [[1], [0, 0, 3]],
        [[0, 1], [2, 0], [1]],
        [[3, 3, 0, 1]],
        [[1, 0], [0, 1], [0, 2]],
    ),
    *([[0], [1, 0, 0, 2]], [[2, 2], [0]], [[0, 0, 1, 1, 2]], [[1, 0]]),
]


def arrangements() -> pl.DataFrame:
    """Every order of every small list as a query of its own, "list:order"."""
    rows = []
    for number, ties in enumerate(SMALL):
        for order, parts in enumerate(
            itertools.product(*(itertools.permutations(tie) for tie in ties))
        ):
            grades = [grade for part in parts for grade in part]
            rows += [(f"{number}:{order}", at, at, grade) for at, grade in enumerate(grades)]
    return pl.DataFrame(rows, schema=["query", "item", "distance", "relevance"], orient="row")


def tied() -> pl.DataFrame:
    rows = [
        (str(number), f"{tie}.{slot}", tie, grade)
        for number, ties in enumerate(SMALL)
        for tie, grades in enumerate(ties)
        for slot, grade in enumerate(grades)
    ]
    return pl.DataFrame(rows, schema=["query", "item", "distance", "relevance"], orient="row")


def test_property_02_exact_values_are_those_of_all_orders():
    orders = exact(arrangements(), cutoffs=[1, 2, 3, 4, 9, None], policies="expected").with_columns(
        pl.col("query").str.split(":").list.first()
    )
    over_orders = orders.group_by(PLACE, maintain_order=True).agg(
        expected=pl.mean("value"), std=pl.col("value").std(ddof=0), best=pl.max("value"),
        worst=pl.min("value"),
    )  # fmt: skip
    found = exact(tied(), cutoffs=[1, 2, 3, 4, 9, None])
    means = found.filter(policy="expected").join(
        over_orders, on=PLACE, nulls_equal=True, maintain_order="left"
    )
    assert means.height == over_orders.height
    close(means["value"], means["expected"])
    np.testing.assert_allclose(
        means["std"].to_numpy(), means["std_right"].to_numpy(), rtol=1e-9, atol=1e-9
    )
    for policy in ("best", "worst"):
        bounds = found.filter(policy=policy).join(
            over_orders, on=PLACE, nulls_equal=True, maintain_order="left"
        )
        close(bounds["value"], bounds[policy])


@pytest.mark.slow
def test_property_02_random_orders_agree_with_long_lists():
    draws, frame = 150, lists(6, queries=3, longest=100)
    found = evaluate(
        frame,
        metrics=TEXTS,
        cutoffs=[3, None],
        policies=("expected", "shuffled"),
        shuffles=draws,
    )
    keys = ["model", *PLACE]
    expected, shuffled = (found.filter(policy=policy) for policy in ("expected", "shuffled"))
    both = expected.join(shuffled, on=keys, nulls_equal=True)
    assert both.height == expected.height
    spread = both["std"].fill_null(both["std_right"])
    assert (
        (both["value_right"] - both["value"]).abs() <= 4 * spread / math.sqrt(draws) + 1e-12
    ).all()
    means = (
        shuffled_means(frame, metrics="ap", cutoffs=3, shuffles=draws)
        .group_by("model")
        .agg(pl.mean("value"))
    )
    wanted = shuffled.filter(metric="ap", cutoff=3).group_by("model").agg(pl.mean("value"))
    assert_frame_equal(means, wanted, check_row_order=False)


# 3: bounds
# -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_judgements", [False, True])
@pytest.mark.parametrize("largest", [1, 3])
def test_property_03_no_order_beats_best_or_worst(largest: int, with_judgements: bool):
    frame = lists(7, queries=120, largest=largest)
    given: Any = {"judgements": judged(frame), "unjudged": "error"} if with_judgements else {}
    metrics = BINARY if largest == 1 and not with_judgements else TEXTS
    found = wide(exact(frame, metrics, policies=(*EXACT, "naive", "shuffled"), shuffles=1, **given))
    for policy in ("expected", "naive", "shuffled"):
        no_less(found["best"], found[policy])
        no_less(found[policy], found["worst"])


def test_property_03_without_mixed_ties_nothing_is_left_to_chance():
    frame = lists(8, queries=80)
    # Ties of one grade only: the grade decides inside every distance.
    pure = frame.with_columns(distance=pl.col("distance") * 10 + pl.col("relevance"))
    scores = exact(pure, BINARY[:-1], policies=(*EXACT, "naive", "shuffled"), shuffles=2)
    assert scores["std"].drop_nulls().max() == 0
    found = wide(scores)
    for policy in ("naive", "shuffled", "best", "worst"):
        close(found[policy], found["expected"])


def test_property_03_ties_behind_the_cutoff_do_not_matter():
    frame = lists(9, queries=80)
    k = 3
    # The first k items stand alone, all others share a tie.
    at = pl.col("distance").rank("ordinal").over("model", "query")
    headed = frame.with_columns(distance=pl.when(at <= k).then(at).otherwise(99))
    metrics = [text for text in TEXTS if text not in OWN_DEPTH]
    scores = exact(headed, metrics, k, policies=(*EXACT, "naive"))
    assert scores["std"].drop_nulls().max() == 0
    found = wide(scores)
    for policy in ("naive", "best", "worst"):
        close(found[policy], found["expected"])


def test_property_03_a_cut_between_ties_leaves_sets_alone():
    frame = lists(10, queries=120)
    of_sets = ["precision", "recall", "f1", "hit_rate", "acg", "precision(denominator=retrieved)"]
    found = wide(exact(frame, of_sets, list(range(1, 12))))
    ends = (
        tie_groups(frame)
        .select("model", "query", cutoff=pl.col("tie_start") + pl.col("tie_size") - 1)
        .unique()
    )
    between = found.join(ends, on=["model", "query", "cutoff"], how="semi")
    assert between.height > 200
    close(between["best"], between["expected"])
    close(between["worst"], between["expected"])


# 4 and 5: one tie
# ------------------------------------------------------------------------------------


def test_property_04_all_tied():
    sizes = [
        (n, relevant)
        for n in (1, 2, 3, 5, 9, 30)
        for relevant in {1, 2, n // 2, n}
        if 1 <= relevant <= n
    ]
    frame = pl.DataFrame(
        [
            (f"{n}:{relevant}", item, 0.25, int(item < relevant))
            for n, relevant in sizes
            for item in range(n)
        ],
        schema=["query", "item", "distance", "relevance"],
        orient="row",
    )  # fmt: skip
    found = exact(frame, ["precision", "recall", "hit_rate", "rr"], list(range(1, 31)), "expected")
    for query, metric, k, score in found.select("query", "metric", "cutoff", "value").iter_rows():
        n, relevant = map(int, query.split(":"))
        miss = [Fraction(math.comb(n - relevant, j), math.comb(n, j)) for j in range(min(k, n) + 1)]
        wanted = {
            "precision": Fraction(relevant * min(k, n), n * k),
            "recall": Fraction(min(k, n), n),
            "hit_rate": 1 - miss[-1],
            "rr": sum(((miss[j - 1] - miss[j]) / j for j in range(1, len(miss))), Fraction(0)),
        }[metric]
        assert score == pytest.approx(float(wanted), rel=1e-12, abs=0), (n, relevant, k, metric)


@pytest.mark.parametrize("which", [0, -1])
def test_property_05_a_tie_is_the_mean_over_the_item_that_comes_first(which: int):
    """Taking one item out of a tie to its front, each grade as often as it is there, splits the tie
    in two.
    """
    frame = tied().with_columns(pl.col("distance") * 2)
    parts, weights = [], {}
    for (query,), rows in frame.group_by("query", maintain_order=True):
        mixed = rows.group_by("distance").agg(pl.len()).filter(pl.col("len") > 1).sort("distance")
        tie = rows.filter(distance=mixed["distance"][which])
        for item in tie["item"]:
            name = f"{query}:{item}"
            chosen = pl.col("item") == item
            weights[name] = 1 / tie.height
            parts.append(
                rows.with_columns(
                    query=pl.lit(name),
                    distance=pl.when(chosen).then(pl.col("distance") - 1).otherwise("distance"),
                )
            )
    whole = exact(frame, policies="expected")
    split = exact(pl.concat(parts), policies="expected").with_columns(
        weight=pl.col("query").replace_strict(weights),
        query=pl.col("query").str.split(":").list.first(),
    )
    weight, score = pl.col("weight"), pl.col("value")
    joined = split.group_by(PLACE, maintain_order=True).agg(
        mean=(weight * score).sum(), second=(weight * (score**2 + pl.col("std") ** 2)).sum()
    )
    both = whole.join(joined, on=PLACE, nulls_equal=True, maintain_order="left")
    assert both.height == whole.height
    close(both["value"], both["mean"])
    variance = (both["second"] - both["mean"] ** 2).clip(0)
    np.testing.assert_allclose(
        both["std"].to_numpy() ** 2, variance.to_numpy(), rtol=1e-9, atol=1e-13
    )


# 6 to 8: cutoffs
# -------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_judgements", [False, True])
def test_property_06_items_without_relevance_behind_the_list(with_judgements: bool):
    frame = lists(11, queries=80)
    tail = (
        frame.select("model", "query")
        .unique()
        .join(pl.DataFrame({"item": ["x", "y", "z"]}), how="cross")
    )
    tail = tail.with_columns(distance=pl.lit(100, pl.Int64), relevance=pl.lit(0, pl.Int64)).select(
        frame.columns
    )
    given: Any = {"judgements": judged(frame)} if with_judgements else {}
    texts = [
        text for text in TEXTS if text != "bpref"
    ]  # which counts what is judged and not relevant
    short = exact(frame, texts, CUTOFFS[:-1], **given)
    long = exact(pl.concat([frame, tail]), texts, CUTOFFS[:-1], **given)
    # Only min(k, n) sees how many items there are.
    same = (pl.col("metric") != "precision(denominator=retrieved)") | (
        pl.col("cutoff") <= pl.col("items")
    )
    keep = short.select(same)["metric"]
    close(long.filter(keep)["value"], short.filter(keep)["value"], 1e-13)
    stds = [scores.filter(keep)["std"].fill_null(-1.0) for scores in (long, short)]
    np.testing.assert_allclose(stds[0].to_numpy(), stds[1].to_numpy(), rtol=1e-9, atol=1e-12)
    assert not keep.all()


GROWING = [
    *(
        "recall",
        "hit_rate",
        "rr",
        "dcg",
        "dcg(gain=exp2,discount=reciprocal)",
        "ap",
        "wap",
        "rbp",
        "rbp(p=0.5)",
        "err",
    ),
    "err(max_grade=3)",
]


@pytest.mark.parametrize("policy", [*EXACT, "naive"])
def test_property_07_more_positions_never_take_away(policy: str):
    frame = lists(12, queries=100)
    found = exact(frame, GROWING, [*range(1, 15), None], policy)
    grown = found.with_columns(
        before=pl.col("value").shift().over("model", "query", "metric")
    ).drop_nulls("before")
    assert grown.height == found.height * 14 // 15
    no_less(grown["value"], grown["before"])


def test_property_08_metrics_that_bound_each_other():
    frame = lists(13, queries=150)
    for given in ({}, {"judgements": judged(frame)}):
        scores = exact(frame, policies=(*EXACT, "naive"), unjudged="error", **given)
        keys = ["model", "query", "policy", "cutoff"]
        found = scores.pivot("metric", index=keys, values="value")
        no_less(found["hit_rate"], found["rr"])
        no_less(found["recall"], found["ap"])
        no_less(found["ap(denominator=min)"], found["ap"])
        no_less(found["ap(denominator=retrieved)"], found["ap"])
        no_less(found["precision(denominator=retrieved)"], found["precision"])
        own = found.filter(pl.col("cutoff").is_null())
        no_less(own["r_precision"], own["ap_at_r"])
        shares = scores.filter(
            ~pl.col("metric").str.contains("dcg|acg|wap|num_rel")
            | pl.col("metric").str.contains("ndcg")
        )
        assert shares["value"].is_between(0, 1 + 1e-12).all()


# 9 to 12: company
# ------------------------------------------------------------------------------------


def test_property_09_one_query_scores_as_among_many(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(arrays, "SERIAL_BELOW", 500)  # from which on threads share the work
    some = lists(14, queries=3, longest=30)
    far = lists(15, queries=2_000, longest=3, largest=1).with_columns(
        query=pl.format("other-{}", "query")
    )
    policies = ("expected", "best", "shuffled")
    many = exact(
        pl.concat([far[:3_000], some, far[3_000:]]), TEXTS, [2, None], policies, shuffles=2
    )
    for query in some["query"].unique():
        alone = exact(some.filter(query=query), TEXTS, [2, None], policies, shuffles=2)
        assert_frame_equal(many.filter(query=query), alone, check_exact=True)


def test_property_09_shards_of_queries_and_of_items_give_the_whole():
    frame = lists(16)
    wanted = exact(frame)
    halves = [frame.filter(pl.col("query").str.ends_with("7") == side) for side in (True, False)]
    joined = pl.concat([exact(half) for half in halves]).sort("model", "query", maintain_order=True)
    assert_frame_equal(joined, wanted, check_exact=True)
    shards = [count_ties(frame.gather_every(3, start)) for start in range(3)]
    assert_frame_equal(exact(count_ties(pl.concat(shards))), wanted, check_exact=True)
    assert_frame_equal(count_ties(pl.concat(shards)), count_ties(frame))


def test_property_10_equal_models_score_equal_to_the_last_bit():
    frame = lists(17).filter(model="a")
    twin = frame.sample(fraction=1, shuffle=True, seed=2).with_columns(model=pl.lit("twin"))
    found = exact(pl.concat([twin, frame]))
    mine, other = (found.filter(model=model).drop("model") for model in ("a", "twin"))
    assert_frame_equal(mine, other, check_exact=True)


def test_property_11_relevant_items_are_the_sum_over_grades():
    frame = lists(18)
    keys = ["model", "query"]
    grades = count_ties(frame).group_by(*keys, "relevance").agg(pl.sum("count"))
    for least in (1, 2, 3):
        wanted = (
            grades.group_by(keys)
            .agg(pl.col("count").filter(pl.col("relevance") >= least).sum())
            .sort(keys)
        )
        found = evaluate(
            frame, metrics="recall", cutoffs=None, policies="expected", relevant_from=least
        )
        assert found["n_relevant"].to_list() == wanted["count"].to_list()
        assert found["value"].to_list() == [float(count > 0) for count in wanted["count"]]
        ties = tie_groups(frame, relevant_from=least).unique([*keys, "tie"])
        relevant = ties.group_by(keys).agg(pl.sum("tie_relevant")).sort(keys)["tie_relevant"]
        assert relevant.to_list() == wanted["count"].to_list()


def test_property_12_lazy_eager_streaming_and_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(arrays, "SERIAL_BELOW", 500)  # from which on threads share the work
    frame = lists(19, queries=300).with_row_index("row")
    policies = ("expected", "naive", "shuffled", "best", "worst")
    ends: Any = {"a": "no", "b": "within_tie"}
    wanted = exact(frame, TEXTS, [1, None], policies, shuffles=1, threads=1, truncated=ends)
    frame.write_parquet(tmp_path / "run.parquet", row_group_size=300)
    scanned = pl.scan_parquet(tmp_path / "run.parquet")
    for other, threads in (
        *((frame, 2), (frame, 5), (frame.lazy(), 1), (scanned, 2)),
        *(
            (scanned.filter(pl.col("distance") >= 0).collect(engine="streaming"), 2),
            (frame.to_arrow(), 2),
        ),
    ):
        found = exact(
            other, TEXTS, [1, None], policies, shuffles=1, threads=threads, truncated=ends
        )
        assert_frame_equal(found, wanted, check_exact=True)
