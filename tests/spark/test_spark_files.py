"""What the command line reads and writes on Spark: whose rows a file holds, and what is refused in
words.
"""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import retrieval_report as rr

pytest.importorskip("pyspark", reason="needs pyspark: pip install 'retrieval-report[spark]'")

from retrieval_report.spark import files
from retrieval_report.spark.sessions import session

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

ROWS = pl.DataFrame(
    {"qid": ["q1", "q1"], "docno": ["a", "b"], "dist": [1, 1], "rel": [1, 0], "other": [0, 0]}
)


def test_a_single_file_names_its_model_and_columns_are_recognised(spark: Any, tmp_path: Path):
    ROWS.write_parquet(tmp_path / "lsh-16.parquet")
    frame = files.rankings_frame(spark, [str(tmp_path / "lsh-16.parquet")])
    assert frame.columns == ["query", "item", "distance", "relevance", "other", "model"]
    assert {row.model for row in frame.collect()} == {"lsh-16"}
    renamed = files.rankings_frame(spark, [str(tmp_path / "lsh-16.parquet")], {"distance": "other"})
    assert [row.distance for row in renamed.collect()] == [0, 0]


def test_folders_name_models_but_files_among_many_do_not(spark: Any, tmp_path: Path):
    for model in ("007", "8"):
        (tmp_path / f"model={model}").mkdir()
        ROWS.write_parquet(tmp_path / f"model={model}" / "part.parquet")
    frame = files.rankings_frame(spark, [str(tmp_path)])
    assert set(frame.columns) == {"model", "query", "item", "distance", "relevance", "other"}
    with pytest.raises(rr.ColumnError, match="no column 'model' in 2 files"):
        files.rankings_frame(
            spark, [str(tmp_path / f"model={model}" / "part.parquet") for model in ("007", "8")]
        )


@pytest.mark.parametrize(
    ("name", "reason"), [("nowhere.parquet", "PATH_NOT_FOUND"), ("text.csv", "text.csv")]
)
def test_what_cannot_be_read_is_named(spark: Any, tmp_path: Path, name: str, reason: str):
    (tmp_path / "text.csv").write_text("query,item\nq,i\n")
    with pytest.raises(rr.FileError, match=reason) as error:
        files.rankings_frame(spark, [str(tmp_path / name)])
    assert "\n" not in str(error.value)


def test_judgements_and_queries_are_read_here_or_by_the_cluster(spark: Any, tmp_path: Path):
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\n")
    here = files.frame_beside(spark, str(tmp_path / "qrels.txt"), "judgements")
    ROWS.write_parquet(tmp_path / "qrels.parquet")
    there = files.frame_beside(spark, (tmp_path / "qrels.parquet").as_uri(), "judgements")
    assert [tuple(row) for row in here.collect()] == [("q1", "a", 1)]
    assert sorted(there.columns) == sorted(ROWS.columns)  # recognised when they are used
    assert [(row.qid, row.docno, row.rel) for row in there.collect()] == [
        ("q1", "a", 1),
        ("q1", "b", 0),
    ]


def test_scores_are_written_once_and_read_as_they_were(spark: Any, tmp_path: Path):
    columns = {"model": ["007", "8"], "query": [1, 2], "value": [0.5, None]}
    scores = spark.createDataFrame(pl.DataFrame(columns).to_arrow())
    path = str(tmp_path / "scores")
    files.write_scores(scores, path)
    assert sorted(entry.name for entry in Path(path).iterdir() if entry.is_dir()) == [
        "model=007",
        "model=8",
    ]
    again = files.scores_frame(spark, path, scores)
    assert sorted(tuple(row) for row in again.collect()) == [("007", 1, 0.5), ("8", 2, None)]
    with pytest.raises(rr.OutputError, match=r"cannot write to .* already exists"):
        files.write_scores(scores, path)
    with pytest.raises(rr.OutputError, match="cannot write to "):
        files.write_scores(scores, "/proc/no/scores")


def test_a_summary_goes_where_spark_alone_can_write(spark: Any, tmp_path: Path):
    path = tmp_path / "summary.csv"
    files.write_csv(spark, pl.DataFrame({"model": ["m"], "value": [0.1]}), str(path))
    (part,) = path.glob("*.csv")
    assert part.read_text() == "model,value\nm,0.1\n"
    with pytest.raises(rr.OutputError, match="cannot write to '/proc/no/summary"):
        files.write_csv(spark, pl.DataFrame({"model": ["m"]}), "/proc/no/summary.csv")


def test_a_master_that_is_none_is_named(sessions: Any):
    sessions.stop()
    with (
        pytest.raises(rr.ParameterError, match="master 'nonsense': Spark does not start"),
        session("nonsense"),
    ):
        pass
