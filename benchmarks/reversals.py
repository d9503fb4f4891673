"""Measure whether "What could turn the lead around" says what another half of the topics does.

Run from the project's folder, with RETRIEVAL_REPORT_REAL set (under a minute):
``python benchmarks/reversals.py --out benchmarks/reversals.md``.

The topics of a track of TREC ad hoc 5–8 (see calibration.py) are split in halves at random. One
half ranks some random runs and states the chance that new queries reverse its first two; the other
half is the new queries. Where the chance is right, the share that reverses them is the chance.
"""

from __future__ import annotations

import argparse
import os
import platform
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from split_halves import in_bins, split_halves

Floats = NDArray[np.float64]
TRACKS, MEASURES = ("adhoc5", "adhoc6", "adhoc7", "adhoc8"), ("ap", "p10")
DRAWS = 30_000


def scores(root: Path) -> list[Floats]:
    """Return the scores (runs, topics) of every track and measure."""
    names = [f"{track}_{measure}.csv" for track in TRACKS for measure in MEASURES]
    return [np.loadtxt(root / "adhoc" / name, delimiter=",", skiprows=1).T for name in names]


def table(data: list[Floats]) -> str:
    """Return the table of all numbers of runs."""
    parts = {runs: in_bins(split_halves(data, runs, DRAWS)) for runs in (2, 5, 12)}
    head = [f"stated, of {runs} | reversed" for runs in parts]
    lines = [f"| bin | {' | '.join(head)} |", "| ---: |" + " ---: |" * 2 * len(parts)]
    for number, row in enumerate(zip(*parts.values(), strict=True), 1):
        cells = [f"{stated:.4f} | {seen:.4f}" for stated, seen, _ in row]
        lines.append(f"| {number} | {' | '.join(cells)} |")
    apart = [
        f"{max(abs(stated - seen) for stated, seen, _ in part):.3f} (of {runs})"
        for runs, part in parts.items()
    ]
    lines += ["", f"Farthest apart in a bin: {', '.join(apart)}."]
    return "\n".join(lines)


def main() -> None:
    """Print or write the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path)
    out = parser.parse_args().out
    root = os.environ.get("RETRIEVAL_REPORT_REAL")
    if not root:
        raise SystemExit("RETRIEVAL_REPORT_REAL is not set; it names a folder with adhoc/")
    text = f"""# Does another half of the topics do what one half states?

`python benchmarks/reversals.py --out benchmarks/reversals.md`, Python {platform.python_version()}.
TREC ad hoc 5–8, average precision and P@10, {DRAWS} random halves of 25 topics for each number of random
runs. One half ranks them and states, for its first two, the chance that as many new queries reverse
them (`new_queries`); the other half is the new queries. Bins hold a tenth of the draws each.

{table(scores(Path(root)))}
"""
    if out is None:
        print(text)
    else:
        out.write_text(text)


if __name__ == "__main__":
    main()
