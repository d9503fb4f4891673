"""The files in sample_data are whole, small and in contract form, and their makers repeat
themselves.
"""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
DOCS_DEPTH = 20


def run_script(*arguments: str | Path):
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)


def folder_bytes(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.fixture(scope="module")
def digits():
    return pl.read_parquet(SAMPLES / "digits" / "rankings.parquet")


@pytest.fixture(scope="module")
def digit_queries():
    return pl.read_parquet(SAMPLES / "digits" / "queries.parquet")


@pytest.fixture(scope="module")
def runs():
    names = ["query", "q0", "item", "rank", "score", "model"]
    parts = []
    for path in sorted((SAMPLES / "docs" / "runs").iterdir()):
        part = pl.read_csv(path, separator=" ", has_header=False, new_columns=names)
        assert path.name == f"{part['model'][0]}.run.gz"
        parts.append(part.cast({"score": pl.Float64}))
    return pl.concat(parts)


@pytest.fixture(scope="module")
def qrels():
    names = ["query", "zero", "item", "grade"]
    return pl.read_csv(
        SAMPLES / "docs" / "qrels.txt", separator=" ", has_header=False, new_columns=names
    )


@pytest.mark.slow
def test_digits_maker_repeats_the_shipped_rows(
    tmp_path: Path, digits: pl.DataFrame, digit_queries: pl.DataFrame
):
    run_script(SAMPLES / "make_digits.py", tmp_path / "first")
    assert [path.name for path in tmp_path.iterdir()] == ["first"]
    # Another Polars may write other bytes, never other rows; only the eigenvectors of pca and itq
    # have play.
    assert pl.read_parquet(tmp_path / "first" / "queries.parquet").equals(digit_queries)
    rebuilt = pl.read_parquet(tmp_path / "first" / "rankings.parquet")
    learned = pl.col("model").str.contains("itq|pca")
    assert rebuilt.filter(~learned).equals(digits.filter(~learned))
    missing = digits.filter(learned).join(rebuilt, on=digits.columns, how="anti").height
    assert missing <= 0.01 * digits.filter(learned).height


def test_runs_are_ranked_by_positive_scores(runs: pl.DataFrame):
    assert (runs["score"] > 0).all()
    lists = runs.group_by("model", "query", maintain_order=True).agg(
        ranks=(pl.col("rank") == pl.int_range(1, pl.len() + 1)).all(),
        falling=(pl.col("score").diff().drop_nulls() <= 0).all(),
    )
    assert lists["ranks"].all()
    assert lists["falling"].all()


def test_runs_end_with_the_tie_that_holds_the_twentieth_item(runs: pl.DataFrame):
    lists = runs.group_by("model", "query").agg(
        items=pl.len(), before_last_tie=(pl.col("score") > pl.min("score")).sum()
    )
    assert (lists["before_last_tie"] < DOCS_DEPTH).all()
    embeddings = lists.filter(pl.col("model").str.starts_with("wordllama"))
    assert (embeddings["items"] >= DOCS_DEPTH).all()
    assert (lists["items"] >= 10).all()  # words are shared by fewer, but by ten


def test_qrels_hold_grades_that_follow_from_the_names(qrels: pl.DataFrame):
    assert qrels.null_count().sum_horizontal().item() == 0
    assert qrels.select("query", "item").is_duplicated().sum() == 0
    assert set(qrels["grade"]) == {1, 2, 3}
    source = pl.col("item").str.replace(r"#\d+$", "")
    assert qrels.select(((source == pl.col("query")) == (pl.col("grade") == 3)).all()).item()
    module = pl.col("item").str.extract(r"^(\w+)")
    assert qrels.select((module == pl.col("query").str.extract(r"^(\w+)")).all()).item()
    assert qrels.filter(grade=3)["query"].n_unique() == 150


@pytest.mark.slow
def test_docs_maker_repeats_the_same_bytes_under_the_shipped_names(tmp_path: Path):
    pytest.importorskip("wordllama", reason="only the maker of this sample needs its weights")
    for name in ("first", "second"):
        run_script(SAMPLES / "make_docs.py", tmp_path / name)
    built, shipped = folder_bytes(tmp_path / "first"), folder_bytes(SAMPLES / "docs")
    assert built == folder_bytes(tmp_path / "second")
    # Other Pythons have other docstrings, hence the names of the files only.
    assert built.keys() == shipped.keys()
