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


def test_columns_of_judgements_and_queries_may_have_any_names_part_by_part(tmp_path: Path):
    lists = {"model": [*"mmnn"], "query": "q", "item": [*"abac"], "distance": [1, 1, 1, 2]}
    pl.DataFrame(lists).write_parquet(tmp_path / "run.parquet")
    (tmp_path / "strange.csv").write_text("query,thing,how_much\nq,a,1\nq,b,0\n")
    (tmp_path / "queries.csv").write_text("number,kind\nq,1\n")
    judged = (
        f"--judgements {tmp_path}/strange.csv --judgement-columns item=thing,relevance=how_much"
    )
    queries = f"--queries {tmp_path}/queries.csv --query-columns query=number,label=kind"
    asked = "--engine disk --average macro --metrics rr --truncated no"
    result = run(f"evaluate {tmp_path}/run.parquet {asked} {judged} {queries}")
    assert "0.7500   0.2500" in result.output


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
    if command == "history":  # which compares versions of one model
        assert "the other model" not in section
