"""Change the code in one place at a time, and see whether a test fails: ``python benchmarks/mutants.py --sample 20``.

Kernels and scoring are tested interpreted, by a few of their tests; an analysis by the tests that name it. A mutant
that no test kills has survived: a test is missing among those asked, or the change makes no difference.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("kernels", "scoring", "analysis")
INTERPRETED = [  # the quick ones first: most mutants die of them
    *("kernels/test_single_items.py", "scoring/test_arrays.py", "codes/test_codes.py", "scoring/test_counting.py"),
    *("scoring/test_ties.py", "scoring/test_evaluation.py", "kernels/test_stopping_spread.py"),
]
SLOW = "not same_bytes and not whatever_states and not other_cutoffs"  # where nothing is compiled
PAIRS = [(ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Add, ast.Sub), (ast.Mult, ast.Div)]
PAIRS += [(ast.And, ast.Or), (ast.Is, ast.IsNot), (ast.In, ast.NotIn)]
SWAPS: dict[type, type] = {**dict(PAIRS), **{new: old for old, new in PAIRS}, ast.FloorDiv: ast.Mult}


class Mutant(NamedTuple):
    """A change of one place in a file."""

    path: Path
    line: int
    old: str
    new: str
    source: str


def mutants(path: Path) -> Iterator[Mutant]:
    """Every change of an operator or of a whole number in the functions of a file."""
    text = path.read_text(encoding="utf-8")
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    nodes = [node for function in functions for statement in function.body for node in ast.walk(statement)]
    for node in dict.fromkeys(nodes):  # those of an inner function are found twice
        old = ast.get_source_segment(text, node)
        if old is None or "\n" in old or not isinstance(node, ast.expr):
            continue
        new = changed(copy.deepcopy(node))
        if new is not None:
            yield Mutant(path, node.lineno, old, new, replaced(text, node, new))


def changed(node: Any) -> str | None:
    """The source of a node with its operator or number changed."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
        node.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        node.value += 1
    else:
        return None
    return f"({ast.unparse(node)})"


def replaced(text: str, node: ast.expr, new: str) -> str:
    """The text with one node of one line written anew."""
    lines = text.splitlines(keepends=True)
    raw = lines[node.lineno - 1].encode()
    lines[node.lineno - 1] = (raw[: node.col_offset] + new.encode() + raw[node.end_col_offset :]).decode()
    return "".join(lines)


def tests_of(path: Path) -> list[str]:
    """The tests that are asked: those that name the module, and for what all metrics share those of metrics."""
    folder, tests = path.parent.name, ROOT / "tests"
    found = [test for test in (tests / folder).glob("test_*.py") if path.stem in test.stem or names(test, path)]
    own = sorted(str(test.relative_to(ROOT)) for test in found)
    if folder == "analysis":
        return own or ["tests/analysis"]
    return list(dict.fromkeys([*own, *(f"tests/{name}" for name in INTERPRETED)]))


def names(test: Path, path: Path) -> bool:
    """Whether a test imports from a module."""
    return f"{path.parent.name}.{path.stem} " in test.read_text(encoding="utf-8")


def killer(mutant: Mutant, tested: Path, seconds: float) -> str:
    """The first test that fails where the code is changed, or "time" where none ends; empty where all pass."""
    target = tested / mutant.path.relative_to(ROOT)
    whole = target.read_bytes()
    environment = {"NUMBA_CACHE_DIR": str(tested / "cache"), **os.environ, "PYTHONPATH": str(tested)}
    if mutant.path.parent.name != "analysis":
        environment["NUMBA_DISABLE_JIT"] = "1"
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--hypothesis-seed=1"]
    words += ["-W", "ignore:overflow encountered:RuntimeWarning", *tests_of(mutant.path), "-k", SLOW]
    try:
        target.write_text(mutant.source, encoding="utf-8")
        ended = subprocess.run(
            words, cwd=tested, env=environment, capture_output=True, timeout=seconds, text=True, check=False
        )
    except subprocess.TimeoutExpired:
        return "time"
    finally:
        target.write_bytes(whole)
    failed = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0].split(" - ")[0] if failed else f"exit code {ended.returncode}" if ended.returncode else ""


def sampled(name: str, sample: int, draw: random.Random, tested: Path, seconds: float) -> None:
    """Try some mutants of a folder; print what killed each, and the score."""
    found = [mutant for path in sorted((ROOT / "retrieval_report" / name).glob("*.py")) for mutant in mutants(path)]
    score: Counter[bool] = Counter()
    for mutant in draw.sample(found, min(sample, len(found))):
        test = killer(mutant, tested, seconds)
        score[bool(test)] += 1
        where = f"{mutant.path.relative_to(ROOT)}:{mutant.line}: {mutant.old}  ->  {mutant.new}"
        print(f"killed {where} by {test}" if test else f"SURVIVED {where}", flush=True)
    print(f"{name}: {score[True]} of {score.total()} killed, of {len(found)} there are", flush=True)


def main() -> None:
    """Try a sample of each folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=int, default=20, help="mutants of each folder")
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--seconds", type=float, default=300, help="after which a mutant counts as killed")
    parser.add_argument("--folders", default=",".join(FOLDERS))
    asked = parser.parse_args()
    draw = random.Random(asked.seed)  # noqa: S311 - which mutants, no secret
    with tempfile.TemporaryDirectory() as folder:
        tested = Path(folder) / "copy"
        shutil.copytree(ROOT, tested, ignore=shutil.ignore_patterns(".*", "__pycache__", "benchmarks", "dist"))
        for name in asked.folders.split(","):
            sampled(name, asked.sample, draw, tested, asked.seconds)


if __name__ == "__main__":
    main()
