"""How long `Meter.update` takes for a batch of 256 queries and 1 000 items, warm, on one thread.

python benchmarks/metering.py
"""

from __future__ import annotations

import time

import numpy as np

import retrieval_report as rr

RUNS = 50


def main() -> None:
    """Print the median of processor and wall time, by the kind of scores."""
    rng = np.random.default_rng(0)
    relevance = (rng.random((256, 1000)) < 0.01).astype(np.int64)
    scores = rng.normal(size=relevance.shape).astype(np.float32)
    kinds = {
        "float32, no ties": scores,
        "float32 in quarters": np.round(scores * 4) / 4,
        "whole numbers up to 64": rng.integers(0, 65, relevance.shape),
    }
    for kind, values in kinds.items():
        meter, taken = rr.Meter("ndcg@10, ap", threads=1), []
        for _ in range(RUNS):
            began = time.process_time(), time.perf_counter()
            meter.update(values, relevance)
            taken.append((time.process_time() - began[0], time.perf_counter() - began[1]))
        processor, wall = 1e3 * np.median(taken, axis=0)
        print(f"{kind}: {processor:.1f} ms of processor time, {wall:.1f} ms")


if __name__ == "__main__":
    main()
