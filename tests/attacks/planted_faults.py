"""Plant one fault at a time where files, addresses, caches and pages meet, and see whether the few
tests that are named for it fail: ``python tests/attacks/planted_faults.py --write``. The faults are
the rows of planted_faults.md, where ``¶`` stands for the end of a line; ``--write`` writes there
what became of them.

`mutants.py` changes operators and numbers of functions in memory; these faults are in templates,
settings and keys, which no such change reaches. They are made in a copy of the package, so that
nothing here is touched. Needs the extra ``app``.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
COPIED = ("retrieval_report", "app", "tests", "sample_data", "pyproject.toml")
LIMIT = 300  # seconds; tests that hang see the fault
TABLE = Path(__file__).with_suffix(".md")
ROW = re.compile(r"^(\| (\S+) \| `(.*?)` \| `(.*?)` \| (\S+) \|) (.*) \|$", re.MULTILINE)


class Fault(NamedTuple):
    """A text of a file, what it is replaced by, and the tests that should fail."""

    path: str
    old: str
    new: str
    tests: str


def planted(row: re.Match[str]) -> Fault:
    """Return the fault that a row of the table describes."""
    path, old, new, tests = (
        cell.replace(r"\|", "|").replace("¶", "\n") for cell in row.groups()[1:5]
    )
    return Fault(path, old, new, tests)


def copied(folder: Path) -> Path:
    """Copy what the tests need into a folder, with the kernels that are already compiled."""
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, dirs_exist_ok=True)
        else:
            shutil.copy2(source, folder / name)
    return folder


def tested(tests: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run tests of a copy until one fails."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests.split()],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
    )


def fate(fault: Fault, folder: Path) -> str:
    """Return whether the tests of a fault fail in a copy, which is as before afterwards."""
    path = folder / fault.path
    text = path.read_text(encoding="utf-8")
    if fault.old not in text:
        return "not there"
    try:
        path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
        done = tested(fault.tests, folder)
    except subprocess.TimeoutExpired:
        return "killed by time"
    finally:
        path.write_text(text, encoding="utf-8")
    failed = [
        line
        for line in done.stdout.splitlines()
        if line.startswith(("FAILED tests", "ERROR tests"))
    ]
    if done.returncode == 0:
        return "survived"
    if done.returncode > 1:
        return f"not tested (exit {done.returncode})"
    return f"killed by `{failed[0].split()[1]}`" if failed else "killed: the tests broke off"


def plant(faults: list[Fault], copies: int) -> list[str]:
    """Return what became of each fault; so many copies of the package are at work at a time."""
    with tempfile.TemporaryDirectory() as outside, ThreadPoolExecutor(copies) as pool:
        folders: Queue[Path] = Queue()
        for number in range(copies):
            folders.put(copied(Path(outside) / str(number)))

        def passes(tests: str) -> bool:
            folder = folders.get()
            done = tested(tests, folder)
            folders.put(folder)
            return done.returncode == 0

        named = list(dict.fromkeys(fault.tests for fault in faults))
        sound = dict(zip(named, pool.map(passes, named), strict=True))

        def tried(fault: Fault) -> str:
            folder, start = folders.get(), time.monotonic()
            found = fate(fault, folder) if sound[fault.tests] else "not tested: tests fail already"
            folders.put(folder)
            what = fault.new if len(fault.new) < 200 else "a mutant"
            print(f"{found}: {fault.path}: {what} ({time.monotonic() - start:.0f} s)", flush=True)
            return found

        return list(pool.map(tried, faults))


def main():
    """Plant the faults, two at a time, and print or write what became of them."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="write the fates into the table")
    parser.add_argument("--only", default="", help="faults whose row holds this")
    parser.add_argument("--copies", type=int, default=2, help="how many are planted at a time")
    options = parser.parse_args()
    table = TABLE.read_text(encoding="utf-8")
    rows = [row for row in ROW.finditer(table) if options.only in row[0]]
    fates = plant([planted(row) for row in rows], options.copies)
    killed = sum(found.startswith("killed") for found in fates)
    print(f"{killed} of {len(rows)} faults were killed by the tests that are named for them")
    if options.write:
        for row, found in zip(rows, fates, strict=True):
            table = table.replace(row[0], f"{row[1]} {found} |")
        TABLE.write_text(table, encoding="utf-8")


if __name__ == "__main__":
    main()
