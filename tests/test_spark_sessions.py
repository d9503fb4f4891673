"""The three kinds of session run Python functions on Arrow batches, and take turns in one process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from spark_sessions import KINDS

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]


def same(batches: Iterator[Any]) -> Iterator[Any]:
    yield from batches


@pytest.mark.parametrize("spark_kind", KINDS)
def test_python_functions_run(spark: Any, spark_kind: str) -> None:
    assert ("connect" in type(spark).__module__) == (spark_kind == "connect")
    rows = spark.range(1000).repartition(4).mapInArrow(same, "id long")
    assert sorted(row.id for row in rows.collect()) == list(range(1000))
