"""docs/bad-input.md, made from the names of tests; ``python tests/helpers/bad_input_table.py``
writes it.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

from bad_input_rows import ROWS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "bad-input.md"
HEAD = """\
# Bad and extreme input: what happens

Every row has tests, which carry its number in their names; `pytest -k row_042` runs those of row 42. *Error* is one
exception class, `RetrievalReportError` (a `ValueError`; exit code 2 on the command line), which names the column, the
rule, how many rows break it and the first of them; nothing is written then, and no output is touched. *Defined* is a
value that the documentation fixes. This page is made from the tests by `python tests/helpers/bad_input_table.py`, and a
test compares the two.

| # | input | what happens | tests |
| ---: | --- | --- | --- |
"""


@cache
def rows_tested() -> dict[int, list[tuple[str, str]]]:
    """Per row its tests: the file, below tests/, and the name behind the number."""
    found: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = node.name if isinstance(node, ast.FunctionDef) else ""
            if numbered := re.fullmatch(r"test_row_(\d{3})_(\w+)", name):
                found[int(numbered[1])].append(
                    (path.relative_to(ROOT / "tests").as_posix(), numbered[2])
                )
    return dict(found)


def table() -> str:
    """The page as it should be."""
    tests = rows_tested()
    lines = []
    for number, (given, happens) in enumerate(ROWS, 1):
        files: dict[str, int] = defaultdict(int)
        for file, _ in tests.get(number, []):
            files[file] += 1
        names = ", ".join(
            f"`{file}`" + (f" ({count})" if count > 1 else "") for file, count in files.items()
        )
        lines.append(f"| {number} | {given} | {happens} | {names} |")
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(table(), encoding="utf-8")
