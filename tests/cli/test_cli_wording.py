"""What the command line says: options where Python has arguments, and warnings that stay
warnings.
"""

import re
from pathlib import Path

import polars as pl
import pytest

from commands import run
from retrieval_report.study.samples import sample_folder

DOCS = sample_folder() / "docs"
RUN = "model,query,item,distance\nm,q,a,1\nm,q,b,1\nn,q,a,1\nn,q,c,2\n"
JUDGED = "query,doc,grade,spam\nq,a,1,0\nq,b,-2,0\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "run.csv").write_text(RUN)
    (tmp_path / "judged.csv").write_text(JUDGED)
    (tmp_path / "scores.csv").write_text(JUDGED.replace("-2", "-2.5"))
    (tmp_path / "strange.csv").write_text("query,thing,how_much\nq,a,1\nq,b,0\n")
    (tmp_path / "queries.csv").write_text("number,kind\nq,1\n")
    return tmp_path


def test_messages_name_options(files: Path):
    run_csv = files / "run.csv"
    given = f"evaluate {run_csv} --judgements {files}/judged.csv"
    for words, told in (
        (given, "--negative unjudged drops such judgements"),
        (given.replace("judged.csv", "scores.csv"), "are rankings and judgements swapped?"),
        (
            f"{given} --negative unjudged --unjudged error",
            "--unjudged non_relevant or drop decides",
        ),
        (f"{given} --metrics ngcd", "--measures: 'ngcd' is unknown; did you mean 'ndcg'?"),
        (f"{given} --metrics ndcg@2 P@1", "P@1: no such file; if it is a measure, write a comma"),
        (f"{given} --metrics ndcg@2 a@b.run", "a@b.run: No such file or directory"),
        (f"{given} --shuffles 0", "--shuffles: 0 is not a whole number"),
        (f"{given} --columns x=y", "--columns x=…: the rankings have"),
        (
            f"evaluate {run_csv} --judgements {files}/strange.csv",
            "--judgement-columns item=<your name for it>",
        ),
        (
            f"evaluate {run_csv} --queries {files}/queries.csv",
            "--query-columns query=<your name for it>",
        ),
    ):
        assert told in run(words, code=2).stderr
    # These commands have no such option.
    assert "--model: 'no such'" not in run(f"evaluate {run_csv}", code=2).stderr
    assert "--name-by" not in run(f"codes {run_csv} {run_csv}", code=2).stderr


@pytest.mark.parametrize("engine", ["memory", "disk"])
def test_columns_of_judgements_and_queries_may_have_any_names(files: Path, engine: str):
    pl.read_csv(files / "run.csv").write_parquet(files / "run.parquet")
    judged = f"--judgements {files}/strange.csv --judgement-columns item=thing,relevance=how_much"
    queries = f"--queries {files}/queries.csv --query-columns query=number,label=kind"
    asked = f"--engine {engine} --average macro --metrics rr --truncated no"
    result = run(f"evaluate {files}/run.parquet {asked} {judged} {queries}")
    assert "0.7500   0.2500" in result.output


def test_reading_options_are_not_for_spark(files: Path):
    result = run(f"evaluate {files}/run.csv --engine spark --judgement-columns item=doc", code=2)
    assert "--judgement-columns does not work with --engine spark" in result.stderr


FEW = f"--judgements human={{few}},machine={DOCS}/qrels.txt"
TABLES = {
    "compare": f"{{runs}} --judgements {DOCS}/qrels.txt --measures ndcg@10",
    "leaderboard": f"{{runs}} --judgements {DOCS}/qrels.txt --measures ndcg@10",
    "history": f"{{runs}} --judgements {DOCS}/qrels.txt --measures ndcg@10 --pattern (?P<version>[0-9]+)",
    "profile": "{runs}",
    "audit": f"{{runs}} --judgements {DOCS}/qrels.txt --measures ndcg@10",
    "estimate": f"{{runs}} {FEW} --measures ndcg@10",
    "thresholds": f"{{runs}} --judgements {DOCS}/qrels.txt --k 3 --risk 0.5",
}
OF_THE_ROW = {"rank", "measure", "model", "model_a", "model_b", "queries", "system", "version"}


@pytest.mark.parametrize("command", TABLES)
def test_the_help_of_a_command_explains_every_column_that_it_prints(tmp_path: Path, command: str):
    few = tmp_path / "few.txt"
    lines = (DOCS / "qrels.txt").read_text().splitlines(keepends=True)
    few.write_text("".join(lines[: len(lines) // 2]))
    runs = f"{DOCS}/runs/wordllama-binary-64.run.gz {DOCS}/runs/wordllama-binary-256.run.gz"
    printed = run(f"{command} {TABLES[command].format(runs=runs, few=few)}").stdout
    headings = re.findall(r"^(?:rank|model|model_a|version|system|measure)  .*", printed, re.M)
    columns = {name for heading in headings for name in heading.split()} - OF_THE_ROW
    section = run(f"{command} --help").output.split("Columns of the table:")[1].split("\n\n")[0]
    assert columns
    assert columns <= {*re.findall(r"^  (\w+)", section, re.M)}


def test_a_gate_names_a_run_by_its_model_and_in_errors_by_its_file_too(tmp_path: Path):
    lines = [f"q{number} Q0 x 1 1 {{}}\n" for number in range(4)]
    for name, tag, count in (("old", "old", 4), ("half", "new", 2)):
        (tmp_path / f"{name}.run").write_text("".join(lines[:count]).format(*[tag] * count))
    (tmp_path / "qrels.txt").write_text("".join(f"q{number} 0 x 1\n" for number in range(4)))
    rest = f"--judgements {tmp_path}/qrels.txt --measures rr@1 --margin 0.02"
    refused = run(f"gate {tmp_path}/old.run {tmp_path}/half.run {rest}", code=2).stderr
    assert f"2 of 4 queries are not in new ({tmp_path}/half.run)" in refused
    same = run(f"gate {tmp_path}/old.run {tmp_path}/old.run {rest}")
    assert "baseline and candidate are the same file" in same.stderr
    assert same.stdout.startswith("passed: rr@1 of candidate is 1.0000, of baseline 1.0000 ")
