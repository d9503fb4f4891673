"""`retrieval-report knn`, and `Study.knn`."""

import json
from pathlib import Path

import polars as pl
import pytest
from sklearn.datasets import load_digits

import retrieval_report as rr
from commands import run
from retrieval_report.study.samples import sample_folder

# The lists of the sample end between ties, which knn cannot know.
pytestmark = pytest.mark.filterwarnings("ignore:rankings. .* may lack items that vote")
DIGITS = sample_folder() / "digits"
QUERIES = f"--queries {DIGITS}/queries.parquet"
LABELS = dict(enumerate(load_digits().target.tolist()))


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory):
    """The command on some models of the sample."""
    folder = tmp_path_factory.mktemp("labels")
    pl.DataFrame({"item": list(LABELS), "label": list(LABELS.values())}).write_csv(
        folder / "labels.csv"
    )
    rankings = pl.read_parquet(DIGITS / "rankings.parquet")
    few = rankings.filter(pl.col("model").str.starts_with("itq"))
    few.write_parquet(folder / "few.parquet")
    return f"knn {folder}/few.parquet --labels {folder}/labels.csv"


def test_it_prints_and_writes_what_the_function_returns(command: str, tmp_path: Path):
    asked = f"{command} {QUERIES} --k 5 --tied-votes nearest"
    result = run(f"{asked} --out {tmp_path}")
    rankings, queries = (
        rr.read_rankings(command.split()[1]),
        rr.read_queries(DIGITS / "queries.parquet"),
    )
    found = rr.knn(rankings, LABELS, queries=queries, k=5, tied_votes="nearest")
    for name in ("accuracy", "classes", "confusion", "chances"):
        frame = getattr(found, name)
        written = pl.read_csv(tmp_path / f"knn_{name}.csv", schema_overrides=frame.schema)
        assert written.equals(frame)
    assert all(model in result.output for model in found.accuracy["model"])
    first = found.classes.filter(model=found.classes["model"][0], label=found.classes["label"][0])
    values = dict(first.select("metric", "value").iter_rows())  # one line a class
    line = f"{first['model'][0]} {first['label'][0]} " + " ".join(
        f"{values[metric]:.4f}" for metric in ("precision", "recall", "f1")
    )
    assert line in [" ".join(line.split()) for line in result.output.splitlines()]
    rows = json.loads(run(f"{asked} --json").stdout)
    assert rows["knn_accuracy"] == found.accuracy.to_dicts()
