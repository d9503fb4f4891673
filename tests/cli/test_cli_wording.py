"""What the command line says: options where Python has arguments, and warnings that stay
warnings.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from retrieval_report.cli import cli

RUN = "model,query,item,distance\nm,q,a,1\nm,q,b,1\nn,q,a,1\nn,q,c,2\n"
JUDGED = "query,doc,grade,spam\nq,a,1,0\nq,b,-2,0\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "run.csv").write_text(RUN)
    (tmp_path / "judged.csv").write_text(JUDGED)
    (tmp_path / "strange.csv").write_text("query,thing,how_much\nq,a,1\nq,b,0\n")
    (tmp_path / "queries.csv").write_text("number,kind\nq,1\n")
    return tmp_path


def said(*words: object) -> str:
    result = CliRunner().invoke(cli, [str(word) for word in words])
    assert result.exit_code == 2, result.output
    return result.stderr


def test_messages_name_options(files: Path) -> None:
    run, judged = files / "run.csv", files / "judged.csv"
    given = ("evaluate", run, "--judgements", judged)
    assert "--negative unjudged drops such judgements" in said(*given)
    assert "--unjudged non_relevant or drop decides" in said(
        *given, "--negative", "unjudged", "--unjudged", "error"
    )
    assert "--measures: 'ngcd' is unknown; did you mean 'ndcg'?" in said(
        *given, "--metrics", "ngcd"
    )
    assert "--shuffles: 0 is not a whole number" in said(*given, "--shuffles", "0")
    assert "--columns x=…: the rankings have" in said(*given, "--columns", "x=y")
    assert "--model: 'no such'" not in said("evaluate", run)  # evaluate has no such option
    assert "--judgement-columns item=<your name for it>" in said(
        "evaluate", run, "--judgements", files / "strange.csv"
    )
    assert "--query-columns query=<your name for it>" in said(
        "evaluate", run, "--queries", files / "queries.csv"
    )
    assert "--name-by" not in said("codes", run, run)


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_columns_of_judgements_and_queries_may_have_any_names(files: Path, engine: str) -> None:
    import polars as pl

    pl.read_csv(files / "run.csv").write_parquet(files / "run.parquet")
    words = [
        "evaluate",
        str(files / "run.parquet"),
        "--engine",
        engine,
        "--average",
        "macro",
        "--metrics",
        "rr",
    ]
    words += ["--truncated", "no"]
    words += [
        "--judgements",
        str(files / "strange.csv"),
        "--judgement-columns",
        "item=thing,relevance=how_much",
    ]
    words += ["--queries", str(files / "queries.csv"), "--query-columns", "query=number,label=kind"]
    result = CliRunner().invoke(cli, words)
    assert result.exit_code == 0, result.output
    assert "0.7500   0.2500" in result.output


def test_reading_options_are_not_for_spark(files: Path) -> None:
    words = ("evaluate", files / "run.csv", "--engine", "spark", "--judgement-columns", "item=doc")
    assert "--judgement-columns does not work with --engine spark" in said(*words)


LINES = [f"q{query} Q0 d{item} 0 {9 - item} mine" for query in range(4) for item in range(5)]


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Runs of which each has a fault, beside a sound one, and judgements with swapped columns."""
    (tmp_path / "sound.run").write_text("\n".join(LINES).replace("mine", "other"))
    (tmp_path / "nan.run").write_text("\n".join([*LINES[:6], "q1 Q0 d1 0 nan mine", *LINES[7:]]))
    (tmp_path / "repeats.run").write_text("\n".join([*LINES, *LINES[:3]]))
    (tmp_path / "marks.run").write_text("\n".join(LINES).replace(" ", ";"))
    (tmp_path / "qrels.txt").write_text("\n".join(f"q{query} 0 d1 1" for query in range(4)))
    swapped = (f"d{item} 0 q{query} 1" for query in range(4) for item in range(9))
    (tmp_path / "swapped.txt").write_text("\n".join(swapped))
    return tmp_path


def test_a_bad_row_is_counted_in_its_run_as_an_editor_counts(runs: Path) -> None:
    asked = ["leaderboard", runs / "sound.run", "--judgements", runs / "qrels.txt"]
    assert (
        "1 NaN, first in query 'q1', item 'd1' of model 'mine' (row 7, counted from 1 in this model)"
    ) in said(*asked, runs / "nan.run")
    assert (
        "3 rows repeat another's model, query, item; first in query 'q0', item 'd0' of model 'mine' "
        "(row 21, counted from 1 in this model)"
    ) in said(*asked, runs / "repeats.run")


def test_what_was_seen_between_fields_and_how_to_mend_it(runs: Path) -> None:
    told = said("leaderboard", runs / "marks.run", "--judgements", runs / "qrels.txt")
    assert "line 1: 1 field, expected 6 (query iteration item rank score tag)" in told
    assert "put blanks in the place of its semicolons" in told


def test_swapped_columns_of_judgements_are_said(runs: Path) -> None:
    told = said("leaderboard", runs / "sound.run", "--judgements", runs / "swapped.txt")
    assert "their items are queries of the rankings, such as 'q0'" in told
    assert "are the columns of queries and items swapped?" in told
    assert "skip" not in told
