"""Measure how often each test finds a difference where there is none: its real error beside the nominal one.

Run from the project's folder, with RETRIEVAL_REPORT_REAL set (some eight CPU minutes):
``python benchmarks/calibration.py --out docs/choosing-a-test.md``. The tables replace the text between the two
markers of the file.

It reads the topic × run scores of TREC ad hoc 5–8 that Urbano, Lima and Hanjalic published with *Statistical
Significance Testing in Information Retrieval* (SIGIR 2019; julian-urbano/sigir2019-statistical on GitHub, CC BY-SA
4.0), from the folder ``adhoc`` in the one named by RETRIEVAL_REPORT_REAL; they are not part of this repository.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retrieval_report.analysis.grid import Pairs
from retrieval_report.analysis.noninferiority import one_sided
from retrieval_report.analysis.paired import differences
from retrieval_report.analysis.rank_intervals import resampled_means
from retrieval_report.analysis.significance import holm, paired_t, sampled_sign_flips, wilcoxon
from retrieval_report.analysis.tukey import max_t_draws, range_draws, share_beyond

Floats = NDArray[np.float64]
ALPHA, MARGIN = 0.05, 0.01
TRIALS, FAMILIES, RESAMPLES, FEW = 4_000, 600, 1_999, 999
START, END = "<!-- calibration: made by benchmarks/calibration.py -->", "<!-- end of calibration -->"
TRACKS = ("adhoc5", "adhoc6", "adhoc7", "adhoc8")


def tracks(measure: str) -> list[Floats]:
    """Return the scores (runs, topics) of each track."""
    root = os.environ.get("RETRIEVAL_REPORT_REAL")
    if not root:
        raise SystemExit("RETRIEVAL_REPORT_REAL is not set; it names a folder with adhoc/")
    return [
        np.loadtxt(Path(root) / "adhoc" / f"{track}_{measure}.csv", delimiter=",", skiprows=1).T for track in TRACKS
    ]


def pairs_by_signs(generator: np.random.Generator, measure: str, topics: int) -> Floats:
    """Return differences of two runs with random signs, (trials, topics), symmetric about 0."""
    rows = []
    data = tracks(measure)
    for _ in range(TRIALS):
        scores = data[generator.integers(len(data))]
        one, other = generator.choice(len(scores), 2, replace=False)
        chosen = generator.choice(scores.shape[1], topics, replace=False)
        rows.append((scores[one] - scores[other])[chosen] * generator.choice([-1.0, 1.0], topics))
    return np.stack(rows)


def pairs_by_halves(generator: np.random.Generator, measure: str, topics: int) -> Floats:
    """Return differences between two halves of one run's topics, paired at random, (trials, topics)."""
    rows = []
    data = tracks(measure)
    for _ in range(TRIALS):
        scores = data[generator.integers(len(data))]
        mixed = generator.permutation(scores[generator.integers(len(scores))])
        rows.append(mixed[:topics] - mixed[topics : 2 * topics])
    return np.stack(rows)


def permutation(difference: Floats) -> Floats:
    """Test by sign flips, as `compare` does."""
    values = np.concatenate([difference, np.zeros_like(difference)])
    first = np.arange(len(difference))
    wanted = np.ones((1, len(difference)), np.bool_)
    return sampled_sign_flips(values[None], wanted, first, first + len(difference), RESAMPLES, 1)[0]


def bootstrap(difference: Floats) -> Floats:
    """Test by the shifted bootstrap, which the package does not offer; this table shows why."""
    means = np.concatenate(list(resampled_means(difference, RESAMPLES, 1)))
    seen = np.abs(difference.mean(axis=1))
    return (np.abs(means - difference.mean(axis=1)) >= seen).mean(axis=0)


def no_worse_by_mistake(difference: Floats) -> Floats:
    """Return the p of "no worse" if the loss equals the margin."""
    t = paired_t(difference - MARGIN, 0.9)
    return one_sided(t.mean, t.std, np.full(len(difference), difference.shape[1]), -MARGIN)


def worse_by_mistake(difference: Floats) -> Floats:
    """Return the p of "worse" if the loss equals the margin."""
    t = paired_t(difference - MARGIN, 0.9)
    return one_sided(-t.mean, t.std, np.full(len(difference), difference.shape[1]), MARGIN)


PAIR_TESTS: dict[str, Callable[[Floats], Floats]] = {
    "t": lambda difference: paired_t(difference, 0.95).p,
    "Wilcoxon": wilcoxon,
    "permutation": permutation,
    "no worse": no_worse_by_mistake,
    "worse": worse_by_mistake,
    "bootstrap (not offered)": bootstrap,
}
PAIR_NULLS = {
    "signs of differences": (pairs_by_signs, 50),
    "signs of differences ": (pairs_by_signs, 25),
    "halves of a run": (pairs_by_halves, 25),
}


def pair_table(generator: np.random.Generator) -> Iterator[str]:
    """Yield a table of the error of each test of two models."""
    yield f"| null hypothesis | measure | topics | {' | '.join(PAIR_TESTS)} |"
    yield f"| --- | --- | ---: |{' ---: |' * len(PAIR_TESTS)}"
    for null, (make, topics) in PAIR_NULLS.items():
        for measure in ("ap", "p10"):
            difference = make(generator, measure, topics)
            shares = [(np.nan_to_num(test(difference), nan=1.0) < ALPHA).mean() for test in PAIR_TESTS.values()]
            yield f"| {null.strip()} | {measure} | {topics} | " + " | ".join(f"{s:.1%}" for s in shares) + " |"


def exchanged(generator: np.random.Generator, scores: Floats) -> Floats:
    """Exchange the scores of models within every topic."""
    return generator.permuted(scores, axis=0)


def flipped(generator: np.random.Generator, scores: Floats) -> Floats:
    """Flip the deviations of every topic together, so that means are equal but each model keeps its spread."""
    deviations = scores - scores.mean(axis=1, keepdims=True)
    return (deviations - deviations.mean(axis=0)) * generator.choice([-1.0, 1.0], scores.shape[1])


def tukey_least(scores: Floats, seed: int) -> Floats:
    """Return the corrected p of all pairs."""
    pairs, means = Pairs.every(len(scores)), scores.mean(axis=1)
    return share_beyond(range_draws(scores, FEW, seed), np.abs(means[pairs.first] - means[pairs.second]))


def max_t(scores: Floats, seed: int) -> Floats:
    """Return the corrected p of all pairs."""
    seen, draws = max_t_draws(scores, Pairs.every(len(scores)), FEW, seed)
    return share_beyond(draws, seen)


def baseline(scores: Floats, seed: int) -> Floats:
    """Return the corrected p of all models against the first."""
    others = np.arange(1, len(scores))
    seen, draws = max_t_draws(scores, Pairs(others, np.zeros_like(others)), FEW, seed)
    return share_beyond(draws, seen)


def single(scores: Floats, seed: int) -> Floats:
    """Return the p of each pair by the t-test, not corrected."""
    pairs = Pairs.every(len(scores))
    return paired_t(differences(scores, pairs.first, pairs.second), 0.95).p


def holm_t(scores: Floats, seed: int) -> Floats:
    """Return the p of all pairs corrected by Holm, from the t-test, whose p has no smallest value."""
    return holm(single(scores, seed))


FAMILY_TESTS: dict[str, Callable[[Floats, int], Floats]] = {
    "Holm": holm_t,
    "Tukey HSD": tukey_least,
    "max-t": max_t,
    "max-t, baseline": baseline,
    "not corrected": single,
}


def family_table(generator: np.random.Generator) -> Iterator[str]:
    """Yield a table of the probability of any false finding among all pairs."""
    yield f"| null hypothesis | measure | models | {' | '.join(FAMILY_TESTS)} |"
    yield f"| --- | --- | ---: |{' ---: |' * len(FAMILY_TESTS)}"
    for null, make in (("scores exchanged", exchanged), ("deviations turned", flipped)):
        for measure in ("ap", "p10"):
            for models in (5, 10, 40):
                data, false = tracks(measure), dict.fromkeys(FAMILY_TESTS, 0)
                for trial in range(FAMILIES):
                    scores = data[trial % len(data)]
                    made = make(generator, scores[generator.choice(len(scores), models, replace=False)])
                    for name, test in FAMILY_TESTS.items():
                        false[name] += bool((test(made, trial) < ALPHA).any())
                shares = [f"{count / FAMILIES:.1%}" for count in false.values()]
                yield f"| {null} | {measure} | {models} | " + " | ".join(shares) + " |"


def power_table(generator: np.random.Generator) -> Iterator[str]:
    """Yield a table of the share of pairs of real runs that each test separates."""
    names = ("Holm", "Tukey HSD", "max-t")
    yield f"| measure | models | {' | '.join(names)} |"
    yield f"| --- | ---: |{' ---: |' * len(names)}"
    for measure in ("ap", "p10"):
        for models in (5, 10, 40, 60):
            data, found = tracks(measure), {name: [] for name in names}
            for trial in range(40):
                scores = data[trial % len(data)]
                drawn = scores[generator.choice(len(scores), models, replace=False)]
                for name in names:
                    found[name].append((FAMILY_TESTS[name](drawn, trial) < ALPHA).mean())
            yield f"| {measure} | {models} | " + " | ".join(f"{np.mean(found[name]):.0%}" for name in names) + " |"


def main() -> None:
    """Print the tables, or insert them into a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="file whose text between the markers is replaced")
    asked = parser.parse_args()
    start = time.process_time()
    generator = np.random.default_rng(0)
    parts = [
        f"Two models, {TRIALS} trials each (a share of 5.0% has a standard error of 0.3%):",
        "\n".join(pair_table(generator)),
        f"All pairs of several models, {FAMILIES} trials each (5.0% has a standard error of 0.9%):",
        "\n".join(family_table(generator)),
        "Pairs of real runs separated, mean of 40 draws of runs:",
        "\n".join(power_table(generator)),
    ]
    text = "\n\n".join(parts)
    if asked.out is None:
        print(text)
    else:
        before, _, rest = asked.out.read_text(encoding="utf-8").partition(START)
        _, _, after = rest.partition(END)
        asked.out.write_text(f"{before}{START}\n\n{text}\n\n{END}{after}", encoding="utf-8")
    print(f"{time.process_time() - start:.0f} CPU seconds")


if __name__ == "__main__":
    main()
