"""End commands at any moment, and take away what they read: ``python tests/attacks/faults.py --each
20``.

They are ended by kill −9, SIGTERM, SIGINT and a full disk; the folder cannot be written; a file
vanishes, grows or shrinks while it is read. Each command writes over older results. Afterwards the
folder has to hold the old files or the new ones, none cut off; only a command that is killed in the
milliseconds between two replacements may leave whole files of both. A signal that can be caught may
leave no temporary folder, and nothing may end in a traceback or a crash.
"""

import argparse
import hashlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import polars as pl

from retrieval_report.writing.temporary import PREFIX

Hashes = dict[str, str]
SETTINGS = ["--metrics", "ap,ndcg", "--cutoffs", "5,all", "--truncated", "no"]
COMMANDS = {
    "memory": ["evaluate", "{given}/both.parquet", "--out", "{out}", *SETTINGS],
    "disk": ["evaluate", "{given}/both.parquet", "--engine", "disk", "--out", "{out}", *SETTINGS],
    "resume": [
        "evaluate",
        "{given}/both.parquet",
        "--engine",
        "disk",
        "--resume",
        "--out",
        "{out}",
        *SETTINGS,
    ],
    "report": [
        "report",
        "{given}/both.parquet",
        "--out",
        "{out}",
        "--formats",
        "csv,parquet,json,markdown",
        *SETTINGS,
    ],
    "compare": ["compare", "{given}/both.parquet", "--out", "{out}", *SETTINGS],
    "leaderboard": ["leaderboard", "{given}/both.parquet", "--out", "{out}", *SETTINGS],
    "codes": ["codes", "{given}/queries.npz", "{given}/items.npz", "--out", "{out}", *SETTINGS[:4]],
    "gate": [
        *(
            "gate",
            "{given}/a.parquet",
            "{given}/b.parquet",
            "--measure",
            "ap@5",
            "--margin",
            "0.1",
            "--json",
        ),
        *("--junit", "{out}/gate.xml", "--markdown", "{out}/gate.md"),
    ],
}
SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
CHANGES: dict[str, Callable[[Path], object]] = {
    "vanishes": Path.unlink,
    "grows": lambda path: os.truncate(path, path.stat().st_size + 4096),
    "shrinks": lambda path: os.truncate(path, path.stat().st_size // 2),
}
WAYS = (*SIGNALS, "full", "read-only", *CHANGES)


def made(folder: Path, seed: int) -> Path:
    """Two models, 400 queries of 30 items, together and alone; and codes."""
    folder.mkdir()
    rows = pl.DataFrame({"model": ["a", "b"]}).join(
        pl.DataFrame({"query": range(400)}), how="cross"
    )
    rows = rows.join(pl.DataFrame({"item": range(30)}), how="cross")
    hashed = pl.struct("model", "query", "item").hash(seed)
    rows = rows.with_columns(
        distance=hashed % 7, relevance=pl.struct("query", "item").hash(seed) % 5 == 0
    )
    rows.write_parquet(folder / "both.parquet")
    for model in ("a", "b"):
        rows.filter(model=model).write_parquet(folder / f"{model}.parquet")
    draw = np.random.default_rng(seed)
    for name, count in (("queries", 200), ("items", 5000)):
        codes, labels = draw.choice([-1, 1], (count, 16)), draw.integers(0, 5, count)
        np.savez(folder / f"{name}.npz", codes=codes.astype(np.int8), labels=labels)
    return folder


def words(command: str, given: Path, out: Path) -> list[str]:
    """The command line."""
    own = [word.format(given=given, out=out) for word in COMMANDS[command]]
    return [sys.executable, "-m", "retrieval_report", *own]


def hashes(folder: Path) -> Hashes:
    """The files of a folder, but for temporary ones."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.iterdir()
        if path.is_file()
    }


def left(folder: Path) -> list[Path]:
    """Temporary folders."""
    return [path for path in folder.iterdir() if path.name.startswith(PREFIX)]


def judge(out: Path, old: Hashes, new: Hashes) -> str:
    """What a reader finds."""
    found = hashes(out)
    if found in (old, new):
        return "old" if found == old else "new"
    whole = all(found[name] in (old.get(name), new.get(name)) for name in found)
    return "whole files of both" if whole else "CUT OFF"


def disturbed(command: list[str], how: str, moment: float, given: Path, out: Path) -> str:
    """Run a command, and disturb it at a moment; "full" stands for files that cannot grow beyond
    some bytes.
    """
    limit: Callable[[], None] | None = None
    if how == "full":
        most = int(10 ** (1 + 5 * moment))
        limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))  # noqa: E731
    if how == "read-only":
        unchangeable(out, "+")
    process = subprocess.Popen(
        command, preexec_fn=limit, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    if how in SIGNALS or how in CHANGES:
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            if how in SIGNALS:
                process.send_signal(SIGNALS[how])
            else:
                CHANGES[how](given)
    _, errors = process.communicate()
    if how == "read-only":
        unchangeable(out, "-")
    if "Traceback" in errors:
        print(errors, flush=True)
        return "TRACEBACK"
    return "CRASH" if process.returncode < 0 and how not in SIGNALS else ""


def unchangeable(folder: Path, sign: str):
    """Let a folder take no new files, or let it again; permissions do not stop root, so that it
    takes an attribute.
    """
    if os.getuid():
        folder.chmod(0o555 if sign == "+" else 0o755)
    else:
        subprocess.run(["chattr", f"{sign}i", str(folder)], check=True)


def run(command: list[str]) -> float:
    """Run a command to its end, and return the seconds; a gate may fail, but not for bad input."""
    begin = time.monotonic()
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode in (0, 1, 3), ended.stderr
    return time.monotonic() - begin


def tried(
    command: str, each: int, folder: Path, draw: random.Random
) -> Iterator[tuple[str, Counter[str]]]:
    """Disturb one command many times in every way; what became of the results, way by way."""
    given = [folder / f"data{seed}" for seed in (1, 2)]
    read = COMMANDS[command][1].format(given="")[1:]
    out, copy = folder / command, folder / "copy"  # results may name their input
    out.mkdir()
    shutil.copytree(given[1], copy)
    took = run(words(command, copy, out))
    shutil.rmtree(copy)
    new = hashes(out)
    run(words(command, given[0], out))
    old = hashes(out)
    for how in WAYS:
        became: Counter[str] = Counter()
        for _ in range(each):
            before = set(left(out))  # a kill leaves one, which others leave alone for a minute
            late = draw.random() < 0.7 and how in SIGNALS  # what is written is written at the end
            moment = draw.uniform(0.6 if late else 0, 1) * (took if how != "full" else 1)
            shutil.copytree(given[1], copy)
            bad = disturbed(words(command, copy, out), how, moment, copy / read, out)
            shutil.rmtree(copy)
            rest = set(left(out)) - before
            result = judge(out, old, new)
            became[result] += 1
            became[bad] += bool(bad)
            became["TEMPORARY FOLDER LEFT"] += bool(rest) and how != "SIGKILL"
            if result != "old":
                shutil.rmtree(out / "scores.parquet.parts", ignore_errors=True)
                run(words(command, given[0], out))
                became["NOT THE SAME AGAIN"] += hashes(out) != old
        yield how, became


def main():
    """Run as asked, and print what became of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--each", type=int, default=5)
    parser.add_argument("--commands", default=",".join(COMMANDS))
    asked = parser.parse_args()
    draw = random.Random(18)
    with tempfile.TemporaryDirectory() as folder:
        for seed in (1, 2):
            made(Path(folder) / f"data{seed}", seed)
        total: Counter[str] = Counter()
        for command in asked.commands.split(","):
            for how, became in tried(command, asked.each, Path(folder), draw):
                print(command, how, dict(+became), flush=True)
                total += became
        print("all:", dict(total))


if __name__ == "__main__":
    main()
