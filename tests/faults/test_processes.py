"""Processes: forked, spawned, and ended from outside while a compiler calls back."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and fork of POSIX")

LISTS = '{"query": ["q", "q"], "item": ["a", "b"], "distance": [0, 0], "relevance": [0, 1]}'

FORK = f"""
import multiprocessing, sys, warnings
import numpy as np, polars as pl
import retrieval_report as rr

warnings.simplefilter("ignore")  # Polars warns of every fork
LISTS = {LISTS}
STUDY = None
WAYS = {{
    "evaluate": lambda: rr.evaluate(LISTS),
    "read": lambda: rr.read_rankings(sys.argv[3]),
    "disk": lambda: rr.evaluate_to(sys.argv[3] + ".parquet", pl.LazyFrame(LISTS)),
    "codes": lambda: rr.codes.count_codes(np.ones((1, 8)), np.ones((1, 8)), query_labels=[0], item_labels=[0]),
    "search": lambda: rr.from_search((np.zeros((1, 1)), np.zeros((1, 1), int)), query_labels=[0], item_labels=[0]),
    "report": lambda: STUDY.report(sys.argv[3] + ".report"),
    "nothing": lambda: None,
}}

def child(way):
    try:
        WAYS[way]()
        print("no error", flush=True)
    except rr.RetrievalReportError as error:
        print(error, flush=True)

if __name__ == "__main__":
    WAYS[sys.argv[1]]()
    if sys.argv[1] == "evaluate":
        STUDY = rr.Study({{"a": LISTS, "b": LISTS}}, "rr")
        STUDY.verdict
    process = multiprocessing.get_context(sys.argv[4]).Process(target=child, args=(sys.argv[2],))
    process.start()
    process.join(60)
    process.kill()
"""


def forked(tmp_path: Path, first: str, then: str, how: str = "fork") -> str:
    """What a child prints that does one thing after its parent did another."""
    (tmp_path / "run.csv").write_text("query,item,distance\nq,a,1\n")
    script = tmp_path / "forks.py"
    script.write_text(FORK)
    words = [sys.executable, str(script), first, then, str(tmp_path / "run.csv"), how]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    "then",
    [
        *("evaluate", "read", "disk", "codes", "search", "report"),
    ],
)
def test_row_073_a_fork_that_would_hang_is_refused_at_once(tmp_path: Path, then: str):
    said = forked(tmp_path, "evaluate", then)
    assert "was made by fork, which does not copy the threads" in said
    assert "multiprocessing.get_context('spawn')" in said


@pytest.mark.slow
@pytest.mark.parametrize(("first", "how"), [("nothing", "fork"), ("evaluate", "spawn")])
def test_row_073_fork_before_first_use_and_spawn_work(tmp_path: Path, first: str, how: str):
    assert forked(tmp_path, first, "evaluate", how) == "no error"


INTERRUPTED = """
import threading
import numpy as np
from retrieval_report.scoring import arrays

start = threading.Thread.start

def interrupted(thread):
    start(thread)
    raise KeyboardInterrupt

threading.Thread.start = interrupted
arrays.over_ranges(lambda first, last: last, np.arange(11) * arrays.SERIAL_BELOW, 2)
"""


@pytest.mark.slow
def test_row_099_an_interrupt_while_a_thread_starts_ends_the_process():
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode != 0
    assert ended.stderr.endswith("KeyboardInterrupt\n")


IMPORTING = """
import importlib.abc, os, signal, sys, time

class Interrupted(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "retrieval_report.metrics.parsing":
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(10)

signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell start without it
sys.meta_path.insert(0, Interrupted())
sys.argv = ["retrieval-report", "evaluate", "--help"]  # a command's modules are imported when it is called
from retrieval_report.__main__ import main
main()
"""


@pytest.mark.slow
def test_row_099_an_interrupt_while_modules_are_imported_ends_without_a_traceback():
    ended = subprocess.run(
        [sys.executable, "-c", IMPORTING], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 128 + signal.SIGINT
    assert ended.stderr in ("", "Interrupted; no file was left half-written.\n")


EXPRESSION = f"""
import os, signal, warnings
import polars as pl
import retrieval_report as rr

warnings.simplefilter("ignore")  # Polars warns of every fork
LISTS = pl.DataFrame({LISTS})
FIRST
if not os.fork():
    signal.alarm(60)
    try:
        print(LISTS.select(THEN).rows(), flush=True)
    except rr.RetrievalReportError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
"""
USED = (
    'LISTS.select(rr.expr.ndcg("relevance", distance="distance"))',
    'LISTS.group_by("query").agg(pl.sum("distance"))',
)


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (USED[0], 'rr.expr.ndcg("relevance", distance="distance")'),
        (USED[0], 'rr.expr.tie_relevant("relevance", "distance")'),
        (USED[1], 'rr.expr.tie("distance")'),
    ],
)
def test_row_073_an_expression_in_a_fork_is_refused_at_once(first: str, then: str):
    script = EXPRESSION.replace("FIRST", first).replace("THEN", then)
    words = [sys.executable, "-c", script]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=50, check=True)
    assert "was made by fork, which does not copy the threads" in ended.stdout


CALLED_BACK = """
import ctypes, os, signal, sys, time
from retrieval_report.cli import group

@ctypes.CFUNCTYPE(None)
def compiled():
    os.kill(os.getpid(), int(sys.argv[2]))
    time.sleep(0.01)  # here Python raises the exception, which a callback cannot pass on

@group.cli.command("demo")
@group.click.argument("number")
def demo(number):
    compiled()
    for _ in range(300):
        time.sleep(0.1)

group.COMMANDS["demo"] = ("group", "")
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell start without it
group.main()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_row_099_an_interrupt_in_a_callback_of_compiled_code_ends_the_run(number: int):
    words = [sys.executable, "-c", CALLED_BACK, "demo", str(int(number))]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=40, check=False)
    assert ended.returncode == 128 + number
    assert "Traceback" not in ended.stderr
