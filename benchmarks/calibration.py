"""Measure how often each test finds a difference where there is none: its real error beside the
nominal one.

Run from the project's folder, with RETRIEVAL_REPORT_REAL set (some three CPU minutes):
``python benchmarks/calibration.py --out docs/choosing-a-test.md``. The tables replace the text
between two markers of the file. ``--only clusters`` makes those of clusters of queries and of
estimates from few human judgements alone, which need no data (half a minute); ``--only skewed``
those of families of models whose differences are skewed; ``--only margins`` those of losses at the
margin of a gate, which need no data either (half a minute).

It reads the topic × run scores of TREC ad hoc 5–8 that Urbano, Lima and Hanjalic published with
*Statistical Significance Testing in Information Retrieval* (SIGIR 2019;
julian-urbano/sigir2019-statistical on GitHub, CC BY-SA 4.0), from the folder ``adhoc`` in the one
named by RETRIEVAL_REPORT_REAL; they are not part of this repository.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
from margins import no_worse_p, parts_of_margins
from numpy.typing import NDArray
from scipy.special import stdtrit
from skewed import (
    ALPHA,
    FAMILIES,
    FEW,
    differences_of,
    holm_t,
    max_t,
    parts_of_skewed,
    single,
    tracks,
)

from retrieval_report.comparison.datasets import rank_ranges
from retrieval_report.comparison.estimate import powered
from retrieval_report.comparison.max_t import step_down
from retrieval_report.comparison.noninferiority import one_sided
from retrieval_report.comparison.replicates import VariancePart, interval_of, mean_part, p_value
from retrieval_report.comparison.significance import (
    benjamini_hochberg,
    holm,
    paired_t,
    sampled_sign_flips,
    sign_flips,
    wilcoxon,
)
from retrieval_report.engines.score_grid import Pairs, differences
from retrieval_report.engines.summary import t_interval, weighted_mean

Floats = NDArray[np.float64]
Clustered = tuple[Floats, NDArray[np.intp]]
MARGIN, GAP = 0.01, 0.1
TRIALS, RESAMPLES = 4_000, 1_999
SEEDED = 2_000
PLACES = {  # the texts between which each part stands
    "tests": (
        "<!-- calibration: made by benchmarks/calibration.py -->",
        "<!-- end of calibration -->",
    ),
    "skewed": (
        "<!-- skewed families: made by benchmarks/calibration.py -->",
        "<!-- end of skewed families -->",
    ),
    "clusters": (
        "<!-- clusters and estimates: made by benchmarks/calibration.py -->",
        "<!-- end of clusters and estimates -->",
    ),
    "margins": (
        "<!-- margins: made by benchmarks/calibration.py -->",
        "<!-- end of margins -->",
    ),
}


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
    """Return differences between two halves of one run's topics, paired at random, (trials,
    topics).
    """
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
    return sampled_sign_flips(values, Pairs(first, first + len(difference)), RESAMPLES, 1)


def bootstrap(difference: Floats) -> Floats:
    """Test by the shifted bootstrap, which the package does not offer; this table shows why."""
    topics = difference.shape[1]
    times = np.random.default_rng(1).multinomial(topics, np.full(topics, 1 / topics), RESAMPLES)
    means = times @ difference.T / topics
    seen = np.abs(difference.mean(axis=1))
    return (np.abs(means - difference.mean(axis=1)) >= seen).mean(axis=0)


def no_worse_by_mistake(difference: Floats) -> Floats:
    """Return the p of "no worse" if the loss equals the margin."""
    return no_worse_p(difference - MARGIN, MARGIN)


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
            shares = [
                (np.nan_to_num(test(difference), nan=1.0) < ALPHA).mean()
                for test in PAIR_TESTS.values()
            ]
            yield (
                f"| {null.strip()} | {measure} | {topics} | "
                + " | ".join(f"{s:.1%}" for s in shares)
                + " |"
            )


Made = tuple[Floats, Floats]  # scores of the models, and their true means


def exchanged(generator: np.random.Generator, scores: Floats) -> Made:
    """Exchange the scores of models within every topic."""
    return generator.permuted(scores, axis=0), np.zeros(len(scores))


def flipped(generator: np.random.Generator, scores: Floats) -> Made:
    """Flip the deviations of every topic together, so that means are equal but each model keeps its
    spread.
    """
    deviations = scores - scores.mean(axis=1, keepdims=True)
    signs = generator.choice([-1.0, 1.0], scores.shape[1])
    return (deviations - deviations.mean(axis=0)) * signs, np.zeros(len(scores))


def grouped(generator: np.random.Generator, scores: Floats) -> Made:
    """The same, with every second model worse by GAP: false findings are those within a half."""
    made, _ = flipped(generator, scores)
    means = -GAP * (np.arange(len(scores)) % 2)
    return made + means[:, None], means


def resampled(generator: np.random.Generator, scores: Floats) -> Made:
    """Draw topics with replacement; the true means are those of the runs as they are."""
    topics = scores.shape[1]
    return scores[:, generator.integers(0, topics, topics)], scores.mean(axis=1)


NULLS = {
    "scores exchanged": exchanged,
    "deviations turned": flipped,
    "deviations turned, two halves apart": grouped,
    "real runs, topics drawn again": resampled,
}


def wilcoxon_bh(scores: Floats, seed: int) -> Floats:
    """Return the p of all pairs by Wilcoxon's test, with Benjamini and Hochberg's correction (Otero
    et al., 2025).
    """
    return benjamini_hochberg(np.nan_to_num(wilcoxon(differences_of(scores)), nan=1.0))


FAMILY_TESTS: dict[str, Callable[[Floats, int], Floats]] = {
    "max-T": max_t,
    "Holm": holm_t,
    "Wilcoxon + BH": wilcoxon_bh,
    "not corrected": single,
}


def is_false(scores: Floats, means: Floats, significant: NDArray[np.bool_]) -> bool:
    """Return whether any pair found different is equal, or the other way round: then some true rank
    is not covered.
    """
    pairs = Pairs.every(len(scores))
    seen = scores.mean(axis=1)
    seen_ahead = np.sign(np.round(seen[pairs.first] - seen[pairs.second], 12))
    true_ahead = np.sign(np.round(means[pairs.first] - means[pairs.second], 12))
    return bool((significant & (seen_ahead != true_ahead)).any())


def covered(scores: Floats, means: Floats, significant: NDArray[np.bool_]) -> bool:
    """Return whether the ranks that the tests leave open hold all true ranks; models of equal mean
    share theirs.
    """
    pairs, models = Pairs.every(len(scores)), len(scores)
    seen = scores.mean(axis=1)
    ahead = seen[pairs.first] > seen[pairs.second]
    winner, loser = (
        np.where(ahead, pairs.first, pairs.second),
        np.where(ahead, pairs.second, pairs.first),
    )
    low = 1 + np.bincount(loser[significant], minlength=models)
    high = models - np.bincount(winner[significant], minlength=models)
    true_low = 1 + (means[:, None] < means - 1e-12).sum(axis=1)
    true_high = (means[:, None] <= means + 1e-12).sum(axis=1)
    return bool(((low <= true_low) & (true_high <= high)).all())


def family_tables(generator: np.random.Generator) -> tuple[str, str]:
    """Return tables of the probability of any false finding, and of covering all true ranks at
    once.
    """
    head = [
        f"| data | measure | models | {' | '.join(FAMILY_TESTS)} |",
        f"| --- | --- | ---: |{' ---: |' * len(FAMILY_TESTS)}",
    ]
    errors, coverage = list(head), list(head)
    for null, make in NULLS.items():
        for measure in ("ap", "p10"):
            for models in (5, 13, 40):
                data, false, held = (
                    tracks(measure),
                    dict.fromkeys(FAMILY_TESTS, 0),
                    dict.fromkeys(FAMILY_TESTS, 0),
                )
                for trial in range(FAMILIES):
                    runs = data[trial % len(data)]
                    made, means = make(
                        generator, runs[generator.choice(len(runs), models, replace=False)]
                    )
                    for name, test in FAMILY_TESTS.items():
                        significant = test(made, trial) < ALPHA
                        false[name] += is_false(made, means, significant)
                        held[name] += covered(made, means, significant)
                for rows, counts in ((errors, false), (coverage, held)):
                    shares = " | ".join(f"{count / FAMILIES:.1%}" for count in counts.values())
                    rows.append(f"| {null} | {measure} | {models} | {shares} |")
    return "\n".join(errors), "\n".join(coverage)


def power_table(generator: np.random.Generator) -> Iterator[str]:
    """Yield a table of the share of pairs of real runs that each test separates."""
    names = [name for name in FAMILY_TESTS if name != "not corrected"]
    yield f"| measure | models | {' | '.join(names)} |"
    yield f"| --- | ---: |{' ---: |' * len(names)}"
    for measure in ("ap", "p10"):
        for models in (5, 13, 40, 60):
            data, found = tracks(measure), {name: [] for name in names}
            for trial in range(40):
                scores = data[trial % len(data)]
                drawn = scores[generator.choice(len(scores), models, replace=False)]
                for name in names:
                    found[name].append((FAMILY_TESTS[name](drawn, trial) < ALPHA).mean())
            yield (
                f"| {measure} | {models} | "
                + " | ".join(f"{np.mean(found[name]):.0%}" for name in names)
                + " |"
            )


def seeded(generator: np.random.Generator, scores: Floats, seeds: int, spread: float) -> Floats:
    """Return replicates of a run, (seeds, topics): every seed shifts the run, and a topic in it."""
    shift = generator.normal(0, spread, (seeds, 1))
    return scores + shift + generator.normal(0, 0.05, (seeds, scores.size))


def satterthwaite(parts: list[VariancePart]) -> tuple[float, float]:
    """Return the variance of a mean and the degrees of freedom that are usual for it."""
    variance = sum(part.variance for part in parts)
    return variance, variance**2 / sum(part.variance**2 / part.freedom for part in parts)


def seed_table(generator: np.random.Generator) -> Iterator[str]:
    """Yield a table of the errors of intervals and tests over seeds, of real runs whose topics are
    drawn again; the second run has the same mean.
    """
    data = tracks("ap")
    yield "| seeds | topics | spread of seeds | interval | by Satterthwaite | pair |"
    yield "| ---: | ---: | ---: | ---: | ---: | ---: |"
    for seeds, topics, spread in product((3, 5, 10), (25, 100), (0.01, 0.1, 0.3)):
        missed = np.zeros(3)
        for trial in range(SEEDED):
            runs = data[trial % len(data)]
            chosen = runs[generator.choice(len(runs), 2, replace=False)]
            drawn = chosen[:, generator.integers(0, runs.shape[1], topics)]
            drawn -= chosen.mean(axis=1, keepdims=True)  # so that both true means are 0
            one, other = (seeded(generator, run, seeds, spread) for run in drawn)
            parts = [mean_part(one.mean(axis=0)), mean_part(one.mean(axis=1))]
            held = interval_of(float(one.mean()), parts, 1 - ALPHA)
            variance, freedom = satterthwaite(parts)
            reach = stdtrit(freedom, 1 - ALPHA / 2) * np.sqrt(variance)
            means = one.mean(axis=1), other.mean(axis=1)
            parts = [mean_part(one.mean(axis=0) - other.mean(axis=0)), *map(mean_part, means)]
            p = p_value(float(one.mean() - other.mean()), parts)
            outside = not held["ci_low"] <= 0 <= held["ci_high"]
            missed += (outside, abs(one.mean()) > reach, p is not None and p < ALPHA)
        shares = " | ".join(f"{share:.1%}" for share in missed / SEEDED)
        yield f"| {seeds} | {topics} | {spread:g} | {shares} |"


def dataset_rows(generator: np.random.Generator) -> Iterator[str]:
    """Yield a table of the errors of intervals and ranks over data sets: runs of random tracks on
    25 topics drawn again, where all models have the same mean.
    """
    data = tracks("ap")
    truth = np.mean([runs.mean() for runs in data])
    yield "| data sets | interval | ranks of 5 models |"
    yield "| ---: | ---: | ---: |"
    for count in (5, 10, 20):
        missed = np.zeros(2)
        for _ in range(SEEDED):
            means = np.empty((5, count))
            for at, track in enumerate(generator.integers(0, len(data), count)):
                runs = data[track]
                chosen = runs[generator.choice(len(runs), 5, replace=False)]
                means[:, at] = chosen[:, generator.integers(0, runs.shape[1], 25)].mean(axis=1)
            part = mean_part(means[0])
            held = interval_of(float(means[0].mean()), [part], 1 - ALPHA)
            low, high = rank_ranges(means)
            parted = (low > 1).any() or (high < 5).any()
            missed += (not held["ci_low"] <= truth <= held["ci_high"], parted)
        yield f"| {count} | " + " | ".join(f"{share:.1%}" for share in missed / SEEDED) + " |"


def level_texts() -> list[str]:
    """Return the tables on seeds and data sets, with their headings."""
    generator = np.random.default_rng(1)  # their own, so that the other tables do not move
    return [
        (
            f"95% intervals and pairs of models over seeds, {SEEDED} trials each: intervals that "
            "miss the true mean, and p < 0.05 of equal models (5.0% has a standard error of 0.5%):"
        ),
        "\n".join(seed_table(generator)),
        f"95% intervals and ranks over data sets, {SEEDED} trials each:",
        "\n".join(dataset_rows(generator)),
    ]


def clustered_scores(generator: np.random.Generator, clusters: int, sizes: str) -> Clustered:
    """Return scores of five models of equal means, which share most of their luck with a topic, and
    the topic of each query; the last models vary more.
    """
    number = generator.geometric(0.25, clusters) if sizes == "geometric" else np.full(clusters, 4)
    topic = np.repeat(np.arange(clusters), number)
    spread = np.linspace(0.5, 1.5, 5)[:, None]
    shared = generator.normal(0, 0.12, (5, clusters))[:, topic] * spread
    return 0.4 + shared + generator.normal(0, 0.08, shared.shape), topic


OF_CLUSTERS = (
    *("t", "permutation", "no worse by t", "interval of a mean"),
    *("max-T", "Holm", "BH"),
    *("t, 0.1 apart", "t without clusters", "max-T without"),
)


def cluster_table(generator: np.random.Generator) -> Iterator[str]:
    """Yield a table of the error of tests of clustered queries, and of its power for a lead of
    GAP.
    """
    yield f"| clusters | sizes | {' | '.join(OF_CLUSTERS)} |"
    yield f"| ---: | --- |{' ---: |' * len(OF_CLUSTERS)}"
    for sizes in ("four", "geometric"):
        for clusters in (10, 20, 30):
            found = []
            for trial in range(5 * FAMILIES):
                value, topic = clustered_scores(generator, clusters, sizes)
                alone = Pairs.every(len(value))
                pairs = replace(alone, cluster=topic)
                first = pairs.part(slice(0, 1))
                difference = differences(value, first)
                known = paired_t(difference - MARGIN, 0.9, topic)
                single = sign_flips(value, pairs, 20 * FEW, trial)[0]  # Holm needs small p
                mean = weighted_mean(value[0], np.zeros(topic.size), np.ones(topic.size), [*topic])
                low, high = t_interval(mean, 0.95)
                found.append([
                    paired_t(difference, 0.95, topic).p[0],
                    sign_flips(value, first, FEW, trial)[0][0],
                    one_sided(known.mean, known.spread, known.units, -MARGIN)[0],
                    float(low <= 0.4 <= high),
                    step_down(value, pairs, FEW, trial).min(),
                    holm(single).min(),
                    benjamini_hochberg(single).min(),
                    paired_t(difference + GAP, 0.95, topic).p[0],
                    paired_t(difference, 0.95).p[0],
                    step_down(value, alone, FEW, trial).min(),
                ])  # fmt: skip
            shares = (np.array(found) < ALPHA).mean(axis=0)
            yield f"| {clusters} | {sizes} | " + " | ".join(f"{s:.1%}" for s in shares) + " |"


HITS = {"hits, 80%": 0.8, "hits, 90%": 0.9, "hits, 95%": 0.95, "hits, 98%": 0.98}
CHANGED_HITS = {  # what a second model loses and wins
    "hits, 2% lost": (0.02, 0.0),
    "hits, 5% lost, 3% won": (0.05, 0.03),
    "hits, 12% lost, 10% won": (0.12, 0.10),
}


def judged_twice(generator: np.random.Generator, machine: str) -> tuple[Floats, Floats, float]:
    """Return a machine's scores and the true ones (trials, 500), and the true mean."""
    shape = (TRIALS, 500)
    if machine == "differences, mostly 0":
        truth = np.where(generator.random(shape) < 0.3, generator.normal(0.1, 0.3, shape), 0.0)
        return np.where(generator.random(shape) < 0.8, truth, 0.0), truth, 0.03
    if machine in HITS:
        hits = (generator.random(shape) < HITS[machine]).astype(np.float64)
        return np.abs(hits - (generator.random(shape) < 0.1)), hits, HITS[machine]
    if machine in CHANGED_HITS:
        lost, won = CHANGED_HITS[machine]
        luck = generator.random(shape)
        changes = (luck < won) * 1.0 - (luck > 1 - lost)
        return np.where(generator.random(shape) < 0.8, changes, 0.0), changes, won - lost
    truth = generator.beta(1.2, 1.5, shape)
    made = {
        "good": lambda: truth + generator.normal(0, 0.15, shape),
        "too kind": lambda: 0.3 + 0.6 * truth + generator.normal(0, 0.1, shape),
        "useless": lambda: generator.beta(1.2, 1.5, shape),
        "perfect": lambda: truth,
    }
    return np.clip(made[machine](), 0, 1), truth, 1.2 / 2.7


def estimate_table(generator: np.random.Generator) -> Iterator[str]:
    """Yield a table of how often intervals by few human judgements hold the true mean."""
    yield "| machine | judged by people | people and machine | people alone | machine alone | gain |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    continuous = ("good", "too kind", "useless", "perfect", "differences, mostly 0")
    for machine in (*continuous, *HITS, *CHANGED_HITS):
        of_pairs = machine == "differences, mostly 0" or machine in CHANGED_HITS
        for judged in (10, 25, 50):
            guess, truth, mean = judged_twice(generator, machine)
            human = np.where(np.arange(500) < judged, truth, np.nan)
            found = powered(guess, human, 0.95, of_pairs=of_pairs)
            alone = paired_t(guess, 0.95)
            held = [
                ((low <= mean) & (mean <= high)).mean()
                for low, high in (
                    (found["ci_low"], found["ci_high"]),
                    (found["human_low"], found["human_high"]),
                    (alone.low, alone.high),
                )
            ]
            gain = np.var(found["human_only"]) / np.var(found["value"])
            shares = " | ".join(f"{share:.1%}" for share in held)
            yield f"| {machine} | {judged} | {shares} | {gain:.1f} |"


def parts_of_clusters(generator: np.random.Generator) -> list[str]:
    """Return the tables of what was drawn otherwise than query by query."""
    return [
        f"Five models of equal means, {5 * FAMILIES} trials each (5.0% has a standard error of 0.5%):",
        "\n".join(cluster_table(generator)),
        (
            f"Intervals that hold the true mean, of 500 queries, {TRIALS} trials each (95.0% has a "
            "standard error of 0.3%):"
        ),
        "\n".join(estimate_table(generator)),
    ]


def parts_of_tests(generator: np.random.Generator) -> list[str]:
    """Return the tables of the tests of pairs and families."""
    pair_rows, (errors, coverage) = list(pair_table(generator)), family_tables(generator)
    return [
        f"Two models, {TRIALS} trials each (a share of 5.0% has a standard error of 0.3%):",
        "\n".join(pair_rows),
        (
            f"Any false finding among all pairs, {FAMILIES} trials each (5.0% has a "
            "standard error of 1.1%):"
        ),
        errors,
        "All true ranks within the ranks that the tests leave open, in the same trials:",
        coverage,
        "Pairs of real runs separated, mean of 40 draws of runs:",
        "\n".join(power_table(generator)),
        *level_texts(),
    ]


PARTS = {
    "tests": parts_of_tests,
    "skewed": parts_of_skewed,
    "clusters": parts_of_clusters,
    "margins": parts_of_margins,
}


def main() -> None:
    """Print the tables, or insert them into a file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", type=Path, help="file whose text between the markers is replaced")
    parser.add_argument("--only", choices=[*PARTS], help="make these tables alone")
    asked = parser.parse_args()
    start = time.process_time()
    for name in PARTS if asked.only is None else [asked.only]:
        show("\n\n".join(PARTS[name](np.random.default_rng(0))), asked.out, *PLACES[name])
    print(f"{time.process_time() - start:.0f} CPU seconds")


def show(text: str, out: Path | None, start: str, end: str) -> None:
    """Print tables, or put them between two texts of a file."""
    if out is None:
        print(text)
        return
    before, _, rest = out.read_text(encoding="utf-8").partition(start)
    _, _, after = rest.partition(end)
    out.write_text(f"{before}{start}\n\n{text}\n\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
