"""CPU seconds and memory of a process that reads TREC files, scores them and ends.

`benchmarks/peers.py` prints the table; ``python benchmarks/whole_process.py RUN QRELS`` prints it
for files of your own.
"""

from __future__ import annotations

import importlib.util
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

OURS = """
import sys, retrieval_report as rr
run, qrels = rr.read_rankings(sys.argv[1]), rr.read_judgements(sys.argv[2])
scores = rr.evaluate(
    run, judgements=qrels, measures="ndcg@10,ap,rr,recall@100", policies=("expected", "naive")
)
rr.summarise(scores)
"""
PYTREC = """
import sys, pytrec_eval
with open(sys.argv[1]) as run, open(sys.argv[2]) as qrels:
    run, qrels = pytrec_eval.parse_run(run), pytrec_eval.parse_qrel(qrels)
measures = {"ndcg_cut.10", "map", "recip_rank", "recall.100"}
pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
"""
LAST = """
with open("/proc/self/status") as status:  # since exec; rusage would count the parent's memory too
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""
PEERS = {"pytrec_eval (naive)": ("pytrec_eval", PYTREC)}


class Cost(NamedTuple):
    """CPU seconds of a process, and its largest memory in MiB."""

    cpu: float
    memory: float


def process(code: str, *arguments: str | Path, **settings: str) -> Cost:
    """Run Python code in a process of its own."""
    command = [sys.executable, "-c", code + LAST, *map(str, arguments)]
    # modules are compiled once, as by installation, and not in every process: .15 s
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **settings}
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
    assert child.stdout is not None
    memory = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"a process ended with {child.returncode}: {code}")
    return Cost(used.ru_utime + used.ru_stime, int(memory) / 1024)


def table(run: Path, qrels: Path, runs: int = 5) -> list[str]:
    """Return the costs of all ways as lines of a table: medians, and the first call after
    installation, which finds no compiled kernels.
    """
    lines = [
        "| whole process | CPU seconds, median | MiB | first call, CPU seconds | MiB |",
        "| --- | --- | --- | --- | --- |",
    ]
    ways = {"retrieval_report": OURS}
    ways |= {name: code for name, (of, code) in PEERS.items() if importlib.util.find_spec(of)}
    for name, code in ways.items():
        process(code, run, qrels)
        with tempfile.TemporaryDirectory() as empty:
            first = process(code, run, qrels, NUMBA_CACHE_DIR=empty)
        costs = [process(code, run, qrels) for _ in range(runs)]
        cpu, memory = (statistics.median(column) for column in zip(*costs, strict=True))
        lines.append(
            f"| {name} | {cpu:.2f} | {memory:.0f} | {first.cpu:.2f} | {first.memory:.0f} |"
        )
    return lines


if __name__ == "__main__":
    print("\n".join(table(*map(Path, sys.argv[1:3]))))
