"""The golden cases of `data/`, with our names for the metrics."""

import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data"

TEXT = {
    "precision": "precision",
    "recall": "recall",
    "f1": "f1",
    "hit": "hit_rate",
    "ap_total": "ap",
    "ap_min": "ap(denominator=min)",
    "ap_retrieved": "ap(denominator=retrieved)",
    "rr": "rr",
    "acg": "acg",
    "wap_total": "wap",
    "wap_retrieved": "wap(denominator=retrieved)",
    "dcg": "dcg(gain=exp2)",
    "ndcg": "ndcg(gain=exp2)",
    "rbp": "rbp(p=0.8)",
    "err": "err(max_grade=3)",
}


@cache
def cases(name: str) -> list[dict[str, Any]]:
    """Cases of "exact_small" or "exact_medium"; `expected` is keyed by metric text."""
    found = json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))["cases"]
    return [
        {**case, "expected": {TEXT[key]: value for key, value in case["expected"].items()}}
        for case in found
    ]
