"""No command prints what only Python understands: errors, warnings and notices speak in options."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from retrieval_report.cli import cli
from retrieval_report.contracts.options import PARAMETERS

ARGUMENTS = sorted({
    *PARAMETERS, "judgements", "queries", "columns", "model", "name_by", "negative", "max_bytes",
    "max_rows", "labels", "group", "replicate", "dataset", "cluster", "measures", "scores", "bits",
})  # fmt: skip
PYTHON = re.compile(
    rf"(?<![\w.<-])({'|'.join(ARGUMENTS)})=(?!=)"
    r"|\.unique\(|\bpl\.|\.cast\(|\.astype\(|\bread_(rankings|judgements|queries)\b"
    r"|\bfrom_(search|labels)\b|\bevaluate\(|\.reset_index"
)
RUN = "q1 Q0 a 1 2 x\nq1 Q0 b 2 1 x\nq2 Q0 a 1 1 x\n"
FILES = {
    "a.run": RUN,
    "b.run": RUN.replace(" 2 x", " 1 x"),
    "qrels.txt": "q1 0 a 1\nq2 0 b 1\n",
    "few.txt": "q1 0 a 1\n",
    "none.txt": "q1 0 a 0\nq2 0 a 0\n",
    "negative.txt": "q1 0 a -1\nq2 0 b 1\n",
    "semicolon.csv": "query;item;score\nq1;a;1\n",
    "both.csv": "query,item,score,distance\nq1,a,1,1\n",
    "strange.csv": "frage,dok,wert\nq1,a,1\n",
    "two.csv": "qid,topic,item,score\nq1,q1,a,1\n",
    "null.csv": "query,item,score,relevance\nq1,a,,1\nq1,b,1,0\n",
    "nan.csv": "query,item,score,relevance\nq1,a,nan,1\nq1,b,1,0\n",
    "unjudged.csv": "query,item,score,relevance\nq1,a,2,\nq1,b,1,0\n",
    "plain.csv": "query,item,score\nq1,a,2\nq1,b,1\n",
    "twice.csv": "query,item,score,relevance\nq1,a,2,1\nq1,a,1,1\n",
    "wrong.json": '{"q1": {"a": "0.5"}}',
    "whole.csv": "query,item,score,relevance\nq1,a,2,1\nq1,b,1,0\nq2,a,1,1\nq2,b,1,0\n",
    "queries.csv": "query,kind\nq1,x\nq2,y\n",
}
CALLS = [
    "evaluate a.run --qrels few.txt",
    "evaluate a.run --qrels negative.txt",
    "evaluate a.run --qrels a.run",
    "evaluate qrels.txt --qrels qrels.txt",
    "evaluate a.run --qrels none.txt --no-relevant error",
    "evaluate a.run --qrels qrels.txt",
    "evaluate a.run --qrels qrels.txt --metrics recall@1",
    "evaluate a.run --qrels qrels.txt --metrics ngcd",
    "evaluate a.run --qrels qrels.txt --metrics ndcg@0",
    "evaluate a.run --qrels qrels.txt --average macro",
    "evaluate a.run --qrels qrels.txt --average macro --queries queries.csv",
    "evaluate a.run --qrels qrels.txt --shuffles 0",
    "evaluate a.run --qrels qrels.txt --unjudged error",
    "evaluate a.run --qrels qrels.txt --engine disk",
    "evaluate a.run",
    "evaluate plain.csv",
    "evaluate plain.csv --relevant-items error",
    "evaluate semicolon.csv",
    "evaluate both.csv",
    "evaluate strange.csv",
    "evaluate strange.csv --columns item=dok,query=qid",
    "evaluate strange.csv --columns dok=item",
    "evaluate two.csv",
    "evaluate null.csv",
    "evaluate nan.csv",
    "evaluate unjudged.csv",
    "evaluate twice.csv",
    "evaluate wrong.json --qrels qrels.txt",
    "evaluate whole.csv --metrics recall@1",
    "evaluate whole.csv --metrics bpref",
    "evaluate a.run --qrels strange.csv",
    "evaluate a.run --qrels qrels.txt --queries strange.csv",
    "leaderboard a.run b.run --qrels qrels.txt --cluster kind",
    "leaderboard a.run b.run --qrels qrels.txt --judge human",
    "leaderboard a.run b.run --qrels qrels.txt --like trec_eval --no-relevant skip",
    "leaderboard a.run b.run --qrels qrels.txt",
    "compare a.run b.run --qrels qrels.txt",
    "compare a.run b.run --qrels few.txt",
    "report a.run b.run --qrels qrels.txt --out report --formats csv",
    "estimate a.run b.run --qrels qrels.txt",
    "profile both.csv",
    "audit a.run b.run --qrels few.txt",
    "gate a.run b.run --qrels few.txt",
    "gate a.run b.run --qrels qrels.txt",
    "thresholds twice.csv",
    "knn whole.csv",
    "similarity a.run b.run",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("words")
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("call", CALLS)
def test_no_command_prints_python(call: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    result = CliRunner().invoke(cli, call.split())
    assert result.exit_code in (0, 1, 2), result.exception
    assert not isinstance(result.exception, Exception) or result.exit_code, result.exception
    text = re.sub(r"--[a-z-]*columns \S+", "", result.output + result.stderr)
    assert text
    assert not PYTHON.search(text), PYTHON.findall(text)


def texts(tree: ast.AST) -> Iterator[str]:
    """Texts in code, apart from docstrings and what is for those who write Python."""
    if isinstance(tree, ast.Expr) and isinstance(tree.value, ast.Constant):
        return
    if isinstance(tree, ast.Call) and getattr(tree.func, "id", "") == "in_python":
        return
    if isinstance(tree, ast.Constant) and isinstance(tree.value, str):
        yield tree.value
    for child in ast.iter_child_nodes(tree):
        yield from texts(child)


# What only those meet who write Python, and the names of files, columns and folders.
ELSEWHERE = {
    "__init__.py", "comparison/meter.py", "contracts/options.py", "reading/convert.py",
    "reading/__init__.py", "reading/readers.py", "report.py", "reading/sources.py", "spark/files.py",
    "codes/search.py", "contracts/columns.py", "contracts/score_columns.py", "contracts/wording.py",
    "cli/files.py", "cli/group.py",
}  # fmt: skip


def test_messages_name_arguments_by_the_one_function_for_it() -> None:
    root = Path(__file__).parents[2] / "retrieval_report"
    for path in sorted(root.rglob("*.py")):
        if str(path.relative_to(root)) not in ELSEWHERE:
            for text in texts(ast.parse(path.read_text())):
                found = PYTHON.search(text)
                assert found is None or found[0] == text, (path, text)
