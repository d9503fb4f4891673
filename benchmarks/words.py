"""Count names and sentences that a native reader stumbles over: ``python benchmarks/words.py``.

It prints, over the package and the app: participles that stand as names alone, prepositions and
pronouns as names, summaries of two lines whose second line has one or two words, names that two
classes share, and constants whose names say no quantity. ``--list`` prints where they are.
"""

from __future__ import annotations

import argparse
import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("retrieval_report", "app")
PARTICIPLES = frozenset(
    {
        *("alone", "asked", "counted", "drawn", "given", "held"),
        *("kept", "known", "left", "listed", "named", "said", "seen"),
        *("shown", "told", "wanted", "written", "found", "chosen"),
    }
)
PREPOSITIONS = frozenset(
    {
        *("beside", "both", "every", "one", "other", "others", "own"),
        "part",
    }
)
QUANTITIES = frozenset(
    {
        *("ABOVE", "ALSO", "AWAY", "DEEP", "FEW", "LACKING", "LONG"),
        *("LOW", "MANY", "MOST", "NARROW", "NEAR", "NOTHING", "OUTSIDE"),
        *("SHOWN", "SMALL", "WIDE"),
    }
)
FEW_WORDS = 2


def bound_names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the names that are bound in a module, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def orphan(node: ast.AST) -> bool:
    """Return whether the summary of a docstring ends in a line of one or two words."""
    if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
        return False
    summary = (ast.get_docstring(node) or "").split("\n\n")[0].splitlines()
    return len(summary) > 1 and len(summary[-1].split()) <= FEW_WORDS


def counts() -> dict[str, list[str]]:
    """Return every pattern with the places where it occurs."""
    places: dict[str, list[str]] = defaultdict(list)
    classes: dict[str, list[str]] = defaultdict(list)
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        where = path.relative_to(ROOT)
        for line, name in bound_names(tree):
            word = name.lstrip("_")
            for pattern, words in (
                ("participles as names", PARTICIPLES),
                ("prepositions and pronouns as names", PREPOSITIONS),
                ("constants without a quantity", QUANTITIES),
            ):
                if word in words:
                    places[pattern].append(f"{where}:{line}: {name}")
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(f"{where}:{node.lineno}: {node.name}")
            if orphan(node):
                line = getattr(node, "lineno", 1)
                places["summaries with an orphan"].append(f"{where}:{line}")
    for found in classes.values():
        if len(found) > 1:
            places["names that classes share"] += found
    return places


def main() -> None:
    """Print the counts, or the places."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print every place")
    arguments = parser.parse_args()
    for pattern, places in sorted(counts().items()):
        print(f"{len(places):5} {pattern}")
        if arguments.list:
            print(*(f"      {place}" for place in places), sep="\n")


if __name__ == "__main__":
    main()
