"""What several judges of relevance say of the same
models: ranks, pairs, labels, and who judges himself.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import polars as pl

from retrieval_report.comparison.verdicts import PAIR, order_of
from retrieval_report.contracts.arguments import Array, Named
from retrieval_report.contracts.columns import Frames
from retrieval_report.contracts.registry import frame_of, in_contract, schema
from retrieval_report.engines.check_scores import MEAN, MEASURE, join_left
from retrieval_report.engines.score_grid import DIGITS, ranked, tau_b
from retrieval_report.kernels.lists import Floats
from retrieval_report.scoring.judged import Judged

ENOUGH = 20  # items with score and label, which two do not grade alike by chance
FEWEST_IN_ORDER = 5  # items, which one of 120 rankers would put in this order by chance
OTHER_SCALE = 2  # times as large a highest label as another judge's


def own_labels(judged: Judged) -> list[str]:
    """Return the models whose scores are the labels that judge them, on whatever scale: on all
    items with both (20 or more, or all that the model retrieved) the labels are equal to the
    scores, or grow with them, one label for every score and one score for every label.

    An order of fewer than 5 items proves nothing, nor does a single label.
    """
    if judged.order != "score" or not judged.whole.judged:
        return []
    rows, keys = judged.scored_rows, ["query", "item"]
    labelled = join_left(rows, judged.known.select(*keys, label="relevance"), keys)
    has_label = pl.col("label").is_not_null()
    shared = labelled.group_by("model").agg(
        equal=(pl.col("score") == pl.col("label")).filter(has_label).all(),
        enough=(has_label.sum() >= ENOUGH) | has_label.all(),
        ordered=has_label.sum() >= FEWEST_IN_ORDER,
    )
    levels = labelled.filter(has_label).select("model", "score", "label").unique()
    grows = (pl.col("label").diff().drop_nulls() > 0).all()
    alike = levels.sort("model", "score", "label").group_by("model", maintain_order=True)
    one_to_one = (pl.len() > 1) & (pl.n_unique("score") == pl.len()) & grows
    shared = join_left(shared, alike.agg(same_order=one_to_one), ["model"])
    ranks_by_label = pl.col("equal") | (pl.col("same_order") & pl.col("ordered"))
    return shared.filter(ranks_by_label, "enough")["model"].sort().to_list()


def judge_table(summaries: Frames) -> pl.DataFrame:
    """Return a row for every judge, measure and model, the best first."""
    means = pl.concat(
        summary.filter(policy="expected").drop_nulls("value").with_columns(judge=pl.lit(judge))
        for judge, summary in summaries.items()
    )
    nothing_relevant = (pl.col("no_relevant") >= pl.col("queries")).all()
    level = pl.min("value") == pl.max("value")
    abstains = (nothing_relevant & level).over("judge", *MEASURE)
    means = ranked(means.with_columns(abstains=abstains), ["judge", *MEASURE])
    rivals = means.select(*MEAN, other="judge", others_rank="rank")
    met = means.select(*MEAN, "judge").join(rivals, on=MEAN, nulls_equal=True)
    met = met.filter(pl.col("judge") != pl.col("other"))
    median = met.group_by(*MEAN, "judge").agg(pl.median("others_rank"))
    means = join_left(means, median, [*MEAN, "judge"])
    return in_contract(means, schema("judges"))


def judge_pairs(judges: pl.DataFrame, headline: str) -> pl.DataFrame:
    """Return every pair of models under the judge of the headline, with the share of the others
    that order it alike and the names of those that do not.

    A judge whose labels are the scores of one of the two is left out, as is one that finds nothing
    relevant; one that has them level counts half.
    """
    judge_means = judges.select("judge", *MEAN, "value", "own", "abstains").with_row_index(
        "measure"
    )
    judge_means = judge_means.with_columns(pl.min("measure").over(MEASURE))
    keys = ["judge", "measure", *MEASURE]
    pairs = (
        judge_means.join(judge_means, on=keys, nulls_equal=True, maintain_order="left", suffix="_b")
        .rename({"model": "model_a", "value": "value_a"})
        .filter(pl.col("model_a") < pl.col("model_b"))
    )
    first = pl.col("judge") == headline
    comparable = ~(pl.col("own") | pl.col("own_b") | pl.col("abstains") | first)
    lead = pl.col("order").filter(first).first()
    alike = pl.col("order") * lead  # 1, 0 or −1
    names = pl.col("judge").filter
    rows = (
        pairs.with_columns(order=order_of("value_a", "value_b"))
        .group_by("measure", *PAIR)
        .agg(
            pl.col("value_a", "value_b").filter(first).first(),
            judges=comparable.sum(),
            agree=(0.5 + alike / 2).filter(comparable & (lead != 0)).mean(),
            against=names(comparable & (alike < 0)).str.join(", "),
            level=names(comparable & (pl.col("order") == 0)).str.join(", "),
        )
        .drop_nulls("value_a")
        .sort("measure", *PAIR[:2])
    )
    difference = pl.col("value_a") - pl.col("value_b")
    return in_contract(rows.with_columns(difference=difference), schema("judge_pairs"))


def judge_agreement(judges: pl.DataFrame, labels: Frames) -> pl.DataFrame:
    """Return for every two judges and measure how far they agree on the
    order of the models and on labels; of all judges, Krippendorff's α
    in the last row of a measure. A note says where their scales differ.
    """
    grid, grades = _label_grid(labels)
    names = list(labels)
    scales = [np.unique(column[~np.isnan(column)]) for column in grid.T]
    of_labels = [
        {
            "judge_a": names[first],
            "judge_b": names[second],
            "note": _other_scales([scales[first], scales[second]]),
            **_of_two(grid[:, [first, second]], grades),
        }
        for first, second in combinations(range(len(names)), 2)
    ]
    # Of all judges, over the items that two or more labelled.
    counts = np.stack([(grid == grade).sum(axis=1) for grade in grades], axis=1)
    shared = counts[counts.sum(axis=1) > 1].astype(np.float64)
    of_labels.append({"pairs": len(shared), "alpha": _alpha(shared), "note": _other_scales(scales)})
    rows = []
    for part in judges.partition_by(MEASURE, maintain_order=True):
        wide = part.pivot("judge", on_columns=names, index="model", values="rank")
        for verdicts in of_labels:
            row = {**part.select(MEASURE).row(0, named=True), **verdicts}
            if "judge_a" in verdicts:
                ranks = wide.select(verdicts["judge_a"], verdicts["judge_b"]).drop_nulls()
                tau = tau_b(*ranks.to_numpy().T)
                # Rounded, so that the same ranking gives 1 and not 1 − 1e-16.
                row["tau"] = None if tau is None else round(tau, DIGITS)
                row["models"] = ranks.height
            rows.append(row)
    return frame_of(rows, schema("judge_agreement"))


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


def _other_scales(scales: Sequence[Floats]) -> str:
    """Return a note on judges of whom two hardly mean the same by equal
    labels: the highest label of one is more than twice that of the
    other, or twice and none of the two uses all labels of the other.

    >>> _other_scales([np.arange(4.0), 33 * np.arange(4.0)])
    'different scales: labels up to 3 and 99, which only label_tau compares'
    >>> (
    ...     _other_scales([np.arange(4.0), np.arange(3.0)]),
    ...     _other_scales([np.arange(4.0), np.zeros(1)]),
    ... )
    ('', '')
    """
    nonzero = sorted((scale for scale in scales if scale.max(initial=0.0) > 0), key=np.max)
    for low, high in combinations(nonzero, 2):
        is_subset = np.isin(low, high).all()
        if high[-1] > OTHER_SCALE * low[-1] or (
            high[-1] == OTHER_SCALE * low[-1] and not is_subset
        ):
            ends = f"{low[-1]:g} and {high[-1]:g}"
            return f"different scales: labels up to {ends}, which only label_tau compares"
    return ""


def _of_two(grid: Floats, grades: Floats) -> Named:
    """Return Cohen's coefficients, Kendall's τ of the labels and the like for two judges."""
    from scipy.stats import kendalltau  # takes half a second to import

    judged_twice = grid[~np.isnan(grid).any(axis=1)]
    first, second = ((judged_twice[:, [side]] == grades).astype(np.float64) for side in (0, 1))
    joint = first.T @ second
    apart = np.abs(grades[:, None] - grades)
    return {
        "pairs": len(judged_twice),
        "same": float(np.trace(joint) / len(judged_twice)) if len(judged_twice) else None,
        "kappa": _kappa(joint, apart > 0),
        "weighted_kappa": _kappa(joint, apart**2),
        "alpha": _alpha(first + second),
        "label_tau": float(kendalltau(*judged_twice.T).statistic)
        if len(judged_twice) > 1
        else None,
    }


def _kappa(joint: Floats, weight: Array) -> float | None:
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
