"""`retrieval-report knn`, and `Study.knn`."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner, Result
from sklearn.datasets import load_digits

import retrieval_report as rr
from retrieval_report.cli import cli
from retrieval_report.study.samples import sample_folder

# The lists of the sample end between ties, which knn cannot know.
pytestmark = pytest.mark.filterwarnings("ignore:rankings. .* end in or before the tie of the k-th")
DIGITS = sample_folder() / "digits"
GIVEN = [DIGITS / "rankings.parquet", "--queries", DIGITS / "queries.parquet"]
LABELS = dict(enumerate(load_digits().target.tolist()))


@pytest.fixture(scope="module")
def labels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("labels") / "labels.csv"
    pl.DataFrame({"item": list(LABELS), "label": list(LABELS.values())}).write_csv(file)
    return file


def run(*arguments: object) -> Result:
    return CliRunner().invoke(cli, ["knn", *map(str, arguments)])


def test_it_prints_and_writes_what_the_function_returns(labels: Path, tmp_path: Path) -> None:
    how = "--k", 5, "--tied-votes", "nearest"
    result = run(*GIVEN, "--labels", labels, *how, "--out", tmp_path)
    assert result.exit_code == 0, result.output
    rankings, queries = rr.read_rankings(GIVEN[0]), rr.read_queries(DIGITS / "queries.parquet")
    found = rr.knn(rankings, LABELS, queries=queries, k=5, tied_votes="nearest")
    for name in ("accuracy", "classes", "confusion", "chances"):
        frame = getattr(found, name)
        written = pl.read_csv(tmp_path / f"knn_{name}.csv", schema_overrides=frame.schema)
        assert written.equals(frame)
    assert all(model in result.output for model in found.accuracy["model"])
    rows = json.loads(run(*GIVEN, "--labels", labels, *how, "--json").stdout)
    assert rows["knn_accuracy"] == found.accuracy.to_dicts()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--k", "0"], "--k: 0 is not a whole number from 1 on"),
        (["--vote", "most"], "'--vote': 'most' is not one of"),
        (["--tied-votes", "last"], "'--tied-votes': 'last' is not one of"),
    ],
)
def test_bad_options_are_named(labels: Path, words: list[str], message: str) -> None:
    result = run(*GIVEN, "--labels", labels, *words)
    assert result.exit_code == 2
    assert message in result.stderr


def test_without_queries_their_labels_are_asked_for(labels: Path) -> None:
    result = run(GIVEN[0], "--labels", labels)
    assert result.exit_code == 2
    assert "--queries is missing" in result.stderr
