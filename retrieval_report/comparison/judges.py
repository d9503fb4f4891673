"""What several judges of relevance say of the same models: ranks, pairs, labels, and who judges
himself.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.comparison.verdicts import PAIR, order_of
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.columns import Frames
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.engines.check_scores import MEAN, MEASURE, beside
from retrieval_report.engines.score_grid import DIGITS, ranked, tau_b
from retrieval_report.kernels.lists import Floats
from retrieval_report.scoring.judged import Judged

ENOUGH = 20  # items with score and label, which two do not grade alike by chance


def own_labels(judged: Judged) -> list[str]:
    """Return the models whose scores are the labels that judge them, on all items with both: 20 or
    more, or all that the model retrieved.
    """
    if judged.order != "score" or not judged.whole.judged:
        return []
    rows, keys = judged.scored_rows, ["query", "item"]
    labelled = beside(rows, judged.known.select(*keys, label="relevance"), keys)
    known = pl.col("label").is_not_null()
    alike = labelled.group_by("model").agg(
        same=(pl.col("score") == pl.col("label")).filter(known).all(),
        enough=(known.sum() >= ENOUGH) | known.all(),
    )
    return alike.filter("same", "enough")["model"].sort().to_list()


def judge_table(summaries: Frames) -> pl.DataFrame:
    """Return a row for every judge, measure and model, the best first."""
    every = pl.concat(
        summary.filter(policy="expected").drop_nulls("value").with_columns(judge=pl.lit(judge))
        for judge, summary in summaries.items()
    )
    every = ranked(every, ["judge", *MEASURE])
    other = every.select(*MEAN, other="judge", others_rank="rank")
    met = every.select(*MEAN, "judge").join(other, on=MEAN, nulls_equal=True)
    met = met.filter(pl.col("judge") != pl.col("other"))
    median = met.group_by(*MEAN, "judge").agg(pl.median("others_rank"))
    every = beside(every, median, [*MEAN, "judge"])
    return in_contract(every, schema("judges"))


def judge_pairs(judges: pl.DataFrame, headline: str) -> pl.DataFrame:
    """Return every pair of models under the judge of the headline, with the share of the others
    that order it alike and the names of those that do not.

    A judge whose labels are the scores of one of the two is left out; one that has them level
    counts half.
    """
    one = judges.select("judge", *MEAN, "value", "own").with_row_index("measure")
    one = one.with_columns(pl.min("measure").over(MEASURE))
    keys = ["judge", "measure", *MEASURE]
    pairs = one.join(one, on=keys, nulls_equal=True, maintain_order="left", suffix="_b")
    pairs = pairs.rename({"model": "model_a", "value": "value_a"}).filter(
        pl.col("model_a") < pl.col("model_b")
    )
    first = pl.col("judge") == headline
    other = ~(pl.col("own") | pl.col("own_b") | first)
    lead = pl.col("order").filter(first).first()
    alike = pl.col("order") * lead  # 1, 0 or −1
    rows = (
        pairs.with_columns(order=order_of("value_a", "value_b"))
        .group_by("measure", *PAIR)
        .agg(
            pl.col("value_a", "value_b").filter(first).first(),
            judges=other.sum(),
            agree=(0.5 + alike / 2).filter(other & (lead != 0)).mean(),
            against=pl.col("judge").filter(other & (alike < 0)).str.join(", "),
        )
        .drop_nulls("value_a")
        .sort("measure", *PAIR[:2])
    )
    difference = pl.col("value_a") - pl.col("value_b")
    return in_contract(rows.with_columns(difference=difference), schema("judge_pairs"))


def judge_agreement(judges: pl.DataFrame, labels: Frames) -> pl.DataFrame:
    """Return for every two judges and measure how far they agree on the order of the models and on
    labels; of all judges, Krippendorff's α in the last row of a measure.
    """
    grid, grades = _label_grid(labels)
    names = list(labels)
    of_labels = [
        {"judge_a": names[one], "judge_b": names[other], **_of_two(grid[:, [one, other]], grades)}
        for one, other in combinations(range(len(names)), 2)
    ]
    # Of all judges, over the items that two or more labelled.
    counts = np.stack([(grid == grade).sum(axis=1) for grade in grades], axis=1)
    shared = counts[counts.sum(axis=1) > 1].astype(np.float64)
    of_labels.append({"pairs": len(shared), "alpha": _alpha(shared)})
    rows = []
    for part in judges.partition_by(MEASURE, maintain_order=True):
        wide = part.pivot("judge", on_columns=names, index="model", values="rank")
        for said in of_labels:
            row = {**part.select(MEASURE).row(0, named=True), **said}
            if "judge_a" in said:
                ranks = wide.select(said["judge_a"], said["judge_b"]).drop_nulls()
                tau = tau_b(*ranks.to_numpy().T)
                # Rounded, so that the same ranking gives 1 and not 1 − 1e-16.
                row["tau"] = None if tau is None else round(tau, DIGITS)
                row["models"] = ranks.height
            rows.append(row)
    return pl.DataFrame(rows, schema=schema("judge_agreement"))


def _label_grid(labels: Frames) -> tuple[Floats, Floats]:
    """Return all labels, (items, judges), NaN where there is none, and the distinct ones."""
    long = pl.concat(
        (
            frame.select("query", "item", label=pl.col("relevance").cast(pl.Float64), judge=number)
            for number, frame in enumerate(labels.values())
        ),
        how="vertical_relaxed",
    )
    wide = long.pivot("judge", on_columns=range(len(labels)), index=["query", "item"])
    return wide.drop("query", "item").to_numpy(), np.unique(long["label"].to_numpy())


def _of_two(grid: Floats, grades: Floats) -> Named:
    """Return Cohen's coefficients and the like for two judges."""
    both = grid[~np.isnan(grid).any(axis=1)]
    first, second = ((both[:, [side]] == grades).astype(np.float64) for side in (0, 1))
    joint = first.T @ second
    apart = np.abs(grades[:, None] - grades)
    return {
        "pairs": len(both),
        "same": float(np.trace(joint) / len(both)) if len(both) else None,
        "kappa": _kappa(joint, apart > 0),
        "weighted_kappa": _kappa(joint, apart**2),
        "alpha": _alpha(first + second),
    }


def _kappa(joint: Floats, weight: NDArray[Any]) -> float | None:
    """Return Cohen's κ of a table of labels with weighted disagreements; none if chance leaves
    nothing to disagree on.

    >>> _kappa(np.array([[20.0, 5.0], [10.0, 15.0]]), np.array([[0, 1], [1, 0]]))
    0.4
    """
    chance = (weight * np.outer(joint.sum(axis=1), joint.sum(axis=0))).sum()
    observed = joint.sum() * (weight * joint).sum()
    return float(1 - observed / chance) if chance else None


def _alpha(counts: Floats) -> float | None:
    """Return Krippendorff's ordinal α of (items, grades) that count labels, two or more an item;
    none if all labels are the same.

    A disagreement counts with the square of the labels in between, with half of those of the two.
    """
    pairable = counts / (counts.sum(axis=1, keepdims=True) - 1)
    met = pairable.T @ counts - np.diag(pairable.sum(axis=0))
    sizes = met.sum(axis=0)
    middle = np.cumsum(sizes) - sizes / 2
    apart = (middle[:, None] - middle) ** 2
    chance = sizes @ apart @ sizes
    return float(1 - (sizes.sum() - 1) * (met * apart).sum() / chance) if chance else None
