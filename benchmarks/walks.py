"""Count the files and functions of the package that a call goes through: ``python
benchmarks/walks.py``.

Three calls are walked, each after the imports: ``evaluate`` of eight rows, two TREC files to a
leaderboard, and a rule that is changed in the dashboard's sidebar. ``--list`` prints the functions
by file.
"""

from __future__ import annotations

import argparse
import sys
import threading
import warnings
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import polars as pl

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "app")]

from streamlit.testing.v1 import AppTest  # noqa: E402

import retrieval_report as rr  # noqa: E402

FOLDERS = (str(ROOT / "retrieval_report"), str(ROOT / "app"))


def walk(call: Callable[[], object]) -> dict[str, set[str]]:
    """Return the functions that a call enters, by file."""
    functions: dict[str, set[str]] = defaultdict(set)

    def enter(frame: FrameType, event: str, _: Any) -> None:
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(FOLDERS):
            name = frame.f_code.co_qualname
            if "<" not in name.rpartition(".")[2]:  # comprehensions and lambdas are no functions
                functions[str(Path(path).relative_to(ROOT))].add(name)

    threading.setprofile(enter)  # Streamlit runs a page in a thread of its own
    sys.setprofile(enter)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return functions


def evaluated() -> object:
    """Score eight rows."""
    rankings = pl.DataFrame(
        {
            "query": ["q"] * 8,
            "item": list("abcdefgh"),
            "distance": [0, 1, 1, 1, 2, 2, 3, 3],
            "relevance": [1, 0, 1, 0, 0, 1, 0, 0],
        }
    )
    return rr.evaluate(rankings, measures="ndcg@2, ap")


def ranked() -> object:
    """Rank the models of two TREC files."""
    docs = ROOT / "sample_data" / "docs"
    runs = sorted((docs / "runs").iterdir())[:2]
    return rr.Study(runs, "ndcg@10, ap", judgements=docs / "qrels.txt").leaderboard


def sidebar() -> Callable[[], object]:
    """Open the dashboard, and return a call that changes *Relevant from grade* each time."""
    page = AppTest.from_file(str(ROOT / "app" / "dashboard.py"), default_timeout=180).run()
    grades = iter((2, 3, 4))
    return lambda: page.number_input(key="relevant_from").set_value(next(grades)).run()


def main() -> None:
    """Walk every call twice, since the first compiles and loads, and print the second."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--list", action="store_true", help="print every function")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    calls = {
        "evaluate": evaluated,
        "two TREC files to a leaderboard": ranked,
        "a rule in the sidebar": sidebar(),
    }
    for name, call in calls.items():
        call()
        functions = walk(call)
        total = sum(map(len, functions.values()))
        print(f"{len(functions):4} files {total:5} functions  {name}")
        if arguments.list:
            for path, names in sorted(functions.items()):
                print(f"      {path}: {', '.join(sorted(names))}")


if __name__ == "__main__":
    main()
