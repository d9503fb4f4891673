"""`retrieval-report knn`, and `Study.knn`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from sklearn.datasets import load_digits

import retrieval_report as rr
from commands import run
from retrieval_report.study.samples import sample_folder

# The lists of the sample end between ties, which knn cannot know.
pytestmark = pytest.mark.filterwarnings("ignore:rankings. .* end in or before the tie of the k-th")
DIGITS = sample_folder() / "digits"
RUN = f"knn {DIGITS}/rankings.parquet"
GIVEN = f"{RUN} --queries {DIGITS}/queries.parquet"
LABELS = dict(enumerate(load_digits().target.tolist()))


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("labels") / "labels.csv"
    pl.DataFrame({"item": list(LABELS), "label": list(LABELS.values())}).write_csv(file)
    return file


def test_it_prints_and_writes_what_the_function_returns(labels: Path, tmp_path: Path) -> None:
    asked = f"{GIVEN} --labels {labels} --k 5 --tied-votes nearest"
    result = run(f"{asked} --out {tmp_path}")
    rankings, queries = (
        rr.read_rankings(DIGITS / "rankings.parquet"),
        rr.read_queries(DIGITS / "queries.parquet"),
    )
    found = rr.knn(rankings, LABELS, queries=queries, k=5, tied_votes="nearest")
    for name in ("accuracy", "classes", "confusion", "chances"):
        frame = getattr(found, name)
        written = pl.read_csv(tmp_path / f"knn_{name}.csv", schema_overrides=frame.schema)
        assert written.equals(frame)
    assert all(model in result.output for model in found.accuracy["model"])
    rows = json.loads(run(f"{asked} --json").stdout)
    assert rows["knn_accuracy"] == found.accuracy.to_dicts()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--k 0", "--k: 0 is not a whole number from 1 on"),
        ("--vote most", "'--vote': 'most' is not one of"),
        ("--tied-votes last", "'--tied-votes': 'last' is not one of"),
    ],
)
def test_bad_options_are_named(labels: Path, words: str, message: str) -> None:
    result = run(f"{GIVEN} --labels {labels} {words}", code=2)
    assert message in result.stderr


def test_without_queries_their_labels_are_asked_for(labels: Path) -> None:
    result = run(f"{RUN} --labels {labels}", code=2)
    assert "--queries is missing" in result.stderr
