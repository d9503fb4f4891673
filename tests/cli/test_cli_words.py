"""No command prints what only Python understands: errors, warnings and notices speak in options."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from commands import run
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
# Files by name, and commands that read them and have something to say.
GIVEN = json.loads((Path(__file__).parents[1] / "data/commands.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name, text in GIVEN["files"].items():
        Path(name).write_text(text)
    return tmp_path


@pytest.mark.parametrize("call", GIVEN["calls"])
def test_no_command_prints_python(call: str):
    result = CliRunner().invoke(cli, call.split())
    assert result.exit_code in (0, 1, 2), result.exception
    assert not isinstance(result.exception, Exception) or result.exit_code, result.exception
    text = re.sub(r"--[a-z-]*columns \S+", "", result.output + result.stderr)
    assert text
    assert not PYTHON.search(text), PYTHON.findall(text)


@pytest.mark.parametrize(
    ("files", "call", "code", "said"),
    [pytest.param(*row[1:4], row[4:], id=row[0]) for row in GIVEN["said"]],
)
def test_a_command_says(
    files: dict[str, str], call: str | list[str], code: int, said: list[str], folder: Path
):
    """Who refuses says so once, on standard error alone, and writes nothing."""
    for name, text in files.items():
        Path(name).write_text(text)
    before = sorted(folder.iterdir())
    words = call.split() if isinstance(call, str) else call
    result = run("", *words, code=code)
    text = " ".join(result.output.split())
    wanted, *unwanted = said
    assert re.search(".*".join(map(re.escape, wanted.split("…"))), text), text
    assert not any(part in text for part in unwanted), text
    if code == 2 and "Check your data" not in text:
        assert (result.stdout, result.stderr.count("Error: ")) == ("", 1)
        assert sorted(folder.iterdir()) == before


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


def test_messages_name_arguments_by_the_one_function_for_it():
    root = Path(__file__).parents[2] / "retrieval_report"
    for path in sorted(root.rglob("*.py")):
        if str(path.relative_to(root)) not in ELSEWHERE:
            for text in texts(ast.parse(path.read_text())):
                found = PYTHON.search(text)
                assert found is None or found[0] == text, (path, text)
