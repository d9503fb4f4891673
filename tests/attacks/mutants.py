"""Change an operator or a whole number of a file, one at a time, and see whether a test fails:
``python tests/attacks/mutants.py retrieval_report/scoring/arrays.py tests/scoring --sample 20``.

Each mutant is planted in a copy of the package, as in `planted_faults.py`, and the tests named on
the command line are asked until one fails. Kernels are tested interpreted. ``mutants.md`` has what
was found, and why some survivors are none.
"""

import argparse
import ast
import copy
import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from planted_faults import ROOT, Fault, plant  # type: ignore[import-not-found]  # beside this

PAIRS = [
    *((ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.Eq, ast.NotEq), (ast.Add, ast.Sub)),
    *((ast.Mult, ast.Div), (ast.And, ast.Or), (ast.Is, ast.IsNot), (ast.In, ast.NotIn)),
]
SWAPS: dict[type, type] = {
    **dict(PAIRS),
    **{new: old for old, new in PAIRS},
    ast.FloorDiv: ast.Mult,
}


def changed(node: Any) -> str | None:
    """The source of a node with its operator or number changed."""
    node = copy.deepcopy(node)
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp | ast.BoolOp) and type(node.op) in SWAPS:
        node.op = SWAPS[type(node.op)]()
    elif isinstance(node, ast.Constant) and type(node.value) is int:
        node.value += 1
    else:
        return None
    return f"({ast.unparse(node)})"


def mutants(path: Path, tests: str) -> Iterator[tuple[str, Fault]]:
    """Every change of one place in the functions of a file, and how the line then reads."""
    text = path.read_text(encoding="utf-8")
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    nodes = {node for function in functions for node in ast.walk(function)}
    for node in sorted(nodes, key=lambda node: getattr(node, "lineno", 0)):
        new = changed(node)
        if new is None or not isinstance(node, ast.expr) or node.lineno != node.end_lineno:
            continue
        lines = text.splitlines(keepends=True)
        raw = lines[node.lineno - 1].encode()
        line = (raw[: node.col_offset] + new.encode() + raw[node.end_col_offset :]).decode()
        lines[node.lineno - 1] = line
        source = "".join(lines)
        yield (
            f"line {node.lineno}: {line.strip()}",
            Fault(str(path.relative_to(ROOT)), text, source, tests),
        )


def main():
    """Try a sample, and print what became of each mutant."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("path", type=Path, help="file of the package")
    parser.add_argument("tests", nargs="+", help="files or folders of tests")
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--seed", type=int, default=18)
    parser.add_argument("--copies", type=int, default=2, help="how many are planted at a time")
    options = parser.parse_args()
    if options.path.parent.name == "kernels":
        os.environ["NUMBA_DISABLE_JIT"] = "1"
    found = dict(mutants(options.path.resolve(), " ".join(options.tests)))
    # A change of the code elsewhere leaves most of the sample as it was.
    chosen = sorted(found, key=lambda name: sha256(f"{options.seed} {name}".encode()).digest())[
        : options.sample
    ]
    fates = plant([found[name] for name in chosen], options.copies)
    for name, fate in zip(chosen, fates, strict=True):
        print(f"{fate}: {name}")
    killed = sum(fate.startswith("killed") for fate in fates)
    print(f"{killed} of {len(fates)} tried, of {len(found):,}, were killed")


if __name__ == "__main__":
    main()
