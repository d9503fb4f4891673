"""Fuzz the readers and the texts of metrics: ``python tests/attacks/fuzz.py --metrics
600000 --files 400000``.

Everything is read in a child process; if it crashes, or raises anything but an error of the
package, that is a fault, and the number that reproduces the input is printed.
"""

import argparse
import subprocess
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))

from fuzz import ALL, fuzz_file, fuzz_folder, fuzz_metric

STEP = 20_000


def child(first: int, last: int, what: str):
    """Try some inputs, and print the outcomes and the number of each fault."""
    names = ALL
    became: Counter[str] = Counter()
    with fuzz_folder() as folder:
        for number in range(first, last):
            print(number, file=sys.stderr)
            try:
                if what == "metrics":
                    became[f"metrics {fuzz_metric(number)}"] += 1
                else:
                    name = names[number % len(names)]
                    became[f"{name} {fuzz_file(name, number, Path(folder))}"] += 1
            except Exception:
                became["fault"] += 1
                print(f"fault {what} {number}: {traceback.format_exc().splitlines()[-1][:300]}")
    print("\t".join(f"{key}={count}" for key, count in became.items()))


def run(what: str, first: int, inputs: int, seconds: float) -> Counter[str]:
    """Try inputs in child processes until all are tried or the time is up."""
    became: Counter[str] = Counter()
    begin, number = time.monotonic(), first
    inputs += first
    while number < inputs and time.monotonic() - begin < seconds:
        upto = min(number + STEP, inputs)
        words = [sys.executable, __file__, "--child", what, str(number), str(upto)]
        ended = subprocess.run(words, capture_output=True, text=True, check=False)
        *faults, counts = ended.stdout.splitlines() or [""]
        print("\n".join(faults), end="\n" if faults else "", flush=True)
        became.update(
            {
                key: int(count)
                for key, _, count in (pair.partition("=") for pair in counts.split("\t"))
                if key
            }
        )
        number = upto
        if ended.returncode:
            died = int(ended.stderr.splitlines()[-1]) if ended.stderr.strip() else upto - 1
            print(f"fault {what} {died}: the process ended with {ended.returncode}", flush=True)
            became["fault"] += 1
            number = died + 1
    return became


def main():
    """Run as asked, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--metrics", type=int, default=20_000)
    parser.add_argument("--files", type=int, default=20_000)
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first input of each of the two"
    )
    parser.add_argument("--seconds", type=float, default=1e9, help="for each of the two")
    parser.add_argument("--child", nargs=3)
    asked = parser.parse_args()
    if asked.child:
        return child(int(asked.child[1]), int(asked.child[2]), asked.child[0])
    for what in ("metrics", "files"):
        became = run(what, asked.first, getattr(asked, what), asked.seconds)
        print(f"{what}: {sum(became.values())} inputs, {became['fault']} faults")
        for key, count in sorted(became.items()):
            print(f"  {key}: {count}")
    return None


if __name__ == "__main__":
    main()
