"""Long lists, and ties far down, against recorded numbers: values to 1e-12, deviations to 1e-9."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from retrieval_report import evaluate

CASES = json.loads((Path(__file__).parents[1] / "data/long_lists.json").read_text("utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_long_lists(name: str):
    ties = [tie for times, block in CASES[name]["ties"] for tie in block * times]
    cells = [("q", at, grade, items) for at, tie in enumerate(ties) for grade, items in tie]
    counts = pl.DataFrame(cells, ["query", "distance", "relevance", "count"], orient="row")
    cutoffs: dict[int | None, dict[str, Any]] = {}
    for text, cutoff, *wanted in CASES[name]["scores"]:
        cutoffs.setdefault(cutoff, {})[text] = wanted
    for cutoff, texts in cutoffs.items():
        asked = {"metrics": list(texts), "cutoffs": cutoff, "policies": "expected"}
        scores = evaluate(counts, **asked, truncated="no")  # type: ignore[arg-type]
        for text, value, std in scores.select("metric", "value", "std").iter_rows():
            mean, spread = texts[text]
            assert value == pytest.approx(mean, rel=1e-12, abs=0), (text, cutoff)
            if spread is not None and (std is not None or text != "err"):  # too many states for it
                assert std == pytest.approx(spread, rel=1e-9, abs=1e-60), (text, cutoff)
