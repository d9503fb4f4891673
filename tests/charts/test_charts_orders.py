"""The charts of one list and of evaluators draw the numbers of their frames."""

from typing import Any

import polars as pl
import pytest

from retrieval_report import charts
from retrieval_report.ties.distributions import score_distribution

LIST = pl.DataFrame(
    {
        "query": ["q"] * 5,
        "item": list("abcde"),
        "distance": [1, 1, 1, 2, 3],
        "relevance": [1, 0, 0, 2, 0],
    }
)
PLACE: Any = {"metric": "rr", "cutoff": None}


def layers(chart: Any) -> list[list[dict[str, Any]]]:
    """The rows of every layer."""
    spec = chart.to_dict()
    named = [layer.get("data", spec.get("data")) for layer in spec["layer"]]
    return [list(spec["datasets"][data["name"]]) for data in named]


def title(chart: Any) -> str:
    return " ".join(chart.to_dict()["title"]["text"])


def distribution(rankings: pl.DataFrame = LIST, metric: str = "rr") -> pl.DataFrame:
    return score_distribution(rankings, model="model", query="q", metric=metric)


def test_bars_stand_at_the_scores_and_are_as_high_as_their_share():
    chart = charts.score_distribution(
        distribution(), **PLACE, marks={"expected": 11 / 18, "order received": 1.0}
    )
    bars, marks = layers(chart)
    assert [row["value"] for row in bars] == [pytest.approx(1 / measure) for measure in (3, 2, 1)]
    assert [row["probability"] for row in bars] == [pytest.approx(1 / 3)] * 3
    assert all(row["low"] < row["value"] < row["high"] for row in bars[:2])
    assert bars[2]["high"] == 1.0  # no score is above 1, and so is no bar
    assert [(row["mark"], row["at"]) for row in marks] == [
        ("expected", pytest.approx(11 / 18)),
        ("order received", 1),
    ]
    assert title(chart) == "rr@all of one list under its tie orders"


def test_many_scores_are_counted_in_bars_that_hold_all_of_them():
    wide = LIST.select(
        pl.lit("q").alias("query"),
        item=pl.int_range(80),
        distance=1,
        relevance=pl.int_range(80) // 79,
    )
    (bars,) = layers(charts.score_distribution(distribution(wide), **PLACE))
    assert len(bars) <= 60
    assert sum(row["probability"] for row in bars) == pytest.approx(1)
    assert sum(row["values"] for row in bars) == 80
    assert bars[0]["low"] < 1 / 80 < bars[0]["high"]
    assert bars[-1]["low"] < 1.0 == bars[-1]["high"]


def test_drawn_orders_are_not_called_all_of_them():
    long = LIST.select(
        pl.lit("q").alias("query"),
        item=pl.int_range(40),
        distance=1,
        relevance=pl.int_range(40) % 2,
    )
    found = score_distribution(long, model="model", query="q", metric="ap", draws=50)
    chart = charts.score_distribution(
        found, metric="ap", cutoff=None, marks={"expected": 0.5, "order received": 1.0}
    )
    said = f"bars: share of 50 random orders that give the score; different scores: {found.height}"
    assert chart.to_dict()["title"]["subtitle"] == [said]
    alike = found.head(1)
    same = charts.score_distribution(alike, metric="ap", cutoff=None).to_dict()["description"]
    assert same == f"All 50 random orders give the same ap@all: {alike['value'][0]:.4f}."


def test_one_score_is_a_sentence():
    chart = charts.score_distribution(
        distribution(metric="precision"), metric="precision", cutoff=None
    )
    assert (
        chart.to_dict()["description"]
        == "Every order of these ties gives the same precision@all: 0.4000."
    )
