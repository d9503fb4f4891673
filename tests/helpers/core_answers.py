"""Write what the package answers on its samples into the folder where this program runs: after
``numba`` as it is installed, after ``no-numba`` as if neither Numba nor LLVM were.
"""

import sys
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"


class NoNumba(MetaPathFinder):
    """Finds no compiler, wherever it is installed."""

    def find_spec(self, name: str, *_: Any) -> None:
        if name.partition(".")[0] in ("numba", "llvmlite"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def write_answers() -> None:
    """Ask for scores, a verdict, a report, counts of codes, and the same of the command line."""
    import numpy as np
    import polars as pl

    import retrieval_report as rr
    from retrieval_report.cli import cli

    bounds = ("expected", "naive", "best", "worst")
    digits = pl.read_parquet(SAMPLES / "digits/rankings.parquet")
    some = digits.filter(pl.col("query").rank("dense") <= 12)
    rr.evaluate(some, cutoffs=(10, None), policies=bounds).write_parquet("scores.parquet")

    study = rr.Study(digits.filter(pl.col("query").rank("dense") <= 4), shuffles=2)
    Path("verdict.txt").write_text("\n".join(study.verdict), encoding="utf-8")
    study.report("report", formats=("csv", "json"))

    draw = np.random.default_rng(0)
    codes, labels = draw.integers(0, 2, (300, 64), dtype=np.uint8), draw.integers(0, 5, 300)
    rr.codes.count_codes(codes[:60], codes, query_labels=labels[:60], item_labels=labels).sort(
        "query", "distance"
    ).write_parquet("counts.parquet")

    runs = SAMPLES / "docs/runs"
    qrels = f"--qrels={SAMPLES / 'docs/qrels.txt'}"
    exact, coarse = (str(runs / f"wordllama-{name}.run.gz") for name in ("float32", "int4"))
    for words in (
        ["evaluate", exact, coarse, qrels, "--shuffles=1", "--out=scored"],
        ["compare", exact, coarse, qrels, "--measures=ndcg@10"],
        ["gate", exact, coarse, qrels, "--measures=ndcg@10", "--margin=0.1"],
    ):
        try:
            cli(words, standalone_mode=False)
        except SystemExit as end:
            sys.stdout.write(f"{end.code}\n")


if __name__ == "__main__":
    if sys.argv.pop() == "no-numba":  # a report would repeat the word in its command
        sys.meta_path.insert(0, NoNumba())
    write_answers()
    loaded = sorted({"numba", "llvmlite"} & sys.modules.keys())
    sys.stderr.write(f"loaded: {', '.join(loaded)}\n")
