"""An executor dies half-way, with results it had finished and with a task it was at, and the scores
are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import retrieval_report as rr
from spark_kills import Gate, kill_half_way

pytest.importorskip("pyspark", reason="needs pyspark: pip install 'retrieval-report[spark]'")

from retrieval_report import spark as on

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.parametrize("spark_kind", ["cluster"]),
]

ASKED: dict[str, Any] = {
    "metrics": ("ap", "ndcg"),
    "cutoffs": (3, None),
    "policies": ("expected", "shuffled"),
    "truncated": "no",
}


def made() -> pl.DataFrame:
    """Four times the same items for every query, so that every map task has rows for every reduce
    task.
    """
    rows = [
        (shard, f"q{query}", 4 * item + shard, (item * (query + 3) + shard) % 5, (query + item) % 3)
        for shard in range(4)
        for query in range(40)
        for item in range(6)
    ]
    return pl.DataFrame(
        rows, schema=["shard", "query", "item", "distance", "relevance"], orient="row"
    )


@pytest.fixture
def apart(spark: Any) -> Iterator[Any]:
    """A session that keeps a task for every file and four reduce tasks, however little there is in
    them.
    """
    settings = {
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
        "spark.sql.files.openCostInBytes": str(2**30),
    }
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield spark
    for name in settings:
        spark.conf.unset(name)


@pytest.mark.parametrize(("stage", "plan"), [("map", "ties"), ("reduce", "rows")])
def test_an_executor_is_killed(apart: Any, tmp_path: Path, stage: str, plan: str) -> None:
    (tmp_path / "gate").mkdir()
    for (shard,), rows in made().partition_by("shard", as_dict=True, include_key=False).items():
        rows.write_parquet(tmp_path / f"{shard}.parquet")
    gate = Gate(tmp_path / "gate")
    rankings = apart.read.parquet(*(str(path) for path in sorted(tmp_path.glob("*.parquet"))))
    assert rankings.rdd.getNumPartitions() == 4
    if stage == "map":
        rankings = rankings.mapInArrow(gate.wait, rankings.schema)

    scores = on.evaluate(rankings, **ASKED, plan=plan)
    if stage == "reduce":
        scores = scores.mapInArrow(gate.wait, scores.schema)
    result = pl.DataFrame(pl.from_arrow(kill_half_way(gate, scores.toArrow)))
    expected = rr.evaluate(made().drop("shard"), **ASKED)
    assert_frame_equal(result.sort("query", maintain_order=True), expected, check_exact=True)
    # The task that died with the executor ran again, and in the map stage what it had finished,
    # too.
    assert max(len(gate.workers(2)), len(gate.workers(3))) > 1
    assert stage == "reduce" or len(gate.workers(0)) > 1
