"""The scores of the headline's metric along the cutoffs, asked for or not: they say at which depths
the order of the models that is printed is an accident.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.contracts.warning import noticed
from retrieval_report.metrics.parsing import parse_metrics
from retrieval_report.ties.three_scores import three_scores
from retrieval_report.writing.names import clean, listed

if TYPE_CHECKING:
    from retrieval_report.study.study import Study

USUAL_CUTOFFS = (1, 3, 5, 10, 20, 50, 100)
KINDS = {  # what the naive order of the models is at some cutoffs
    "is an accident of ties": ~pl.col("apart") & ~pl.col("joined"),
    "only separates models of equal expected score": pl.col("apart") & ~pl.col("same"),
    "only makes models level whose expected scores differ": pl.col("joined") & ~pl.col("same"),
    "is the expected one": pl.col("same"),
}
TO_EXPECTED, TO_NAIVE = pl.col("expected_rank"), pl.col("naive_rank")


def scores_by_cutoff(study: Study) -> pl.DataFrame:
    """Return the scores by the metric of the headline at its cutoffs, and at the usual ones that
    half of the lists reach.
    """
    along = _along_cutoffs(study)._undrawn
    with noticed():  # what is to be said of lists is said of the measures that were asked for
        rows = along._ranked_scores
    return in_contract(rows.filter(metric=study.metric), schema("by_cutoff"))


def sentence_by_cutoff(study: Study) -> str:
    """Return the `cutoffs_sentence` of a study without the bounds and distributions of its
    `scores_by_cutoff`, which it does not need and which cost half of the time or more.
    """
    if "naive" not in study.policies:  # counts have no order
        return ""
    along = _along_cutoffs(study).under("expected", "naive")
    with noticed():
        rows = three_scores(along.summary, pl.DataFrame(), {}, along.identical, along.suspects)
    return cutoffs_sentence(rows.filter(metric=study.metric))


def _along_cutoffs(study: Study) -> Study:
    """Return the study by the metric of the headline at all these cutoffs, if it has any."""
    asked = [cutoff for metric, cutoff in study.measures if metric == study.metric]
    requests = parse_metrics(**study._data.asked)
    metrics = [metric for metric, _ in requests if str(metric) == study.metric]
    if study.like is not None or not metrics or metrics[0].own_depth:
        return study
    cutoffs = sorted({*reached_cutoffs(study), *(cutoff for cutoff in asked if cutoff is not None)})
    return study._by_measures(metrics[:1], [*cutoffs, *[None] * (None in asked)])


def reached_cutoffs(study: Study, cutoffs: Sequence[int] = USUAL_CUTOFFS) -> list[int]:
    """Return the cutoffs, by default the usual ones, that half of the lists reach."""
    length = study.headline.scores.select(pl.median("items")).item() or 0
    return [cutoff for cutoff in cutoffs if cutoff <= length]


def cutoffs_sentence(rows: pl.DataFrame) -> str:
    """Say at which cutoffs the naive order of the models is an accident, and apart from them at
    which it is one by lists that may be cut; empty with one cutoff or model, where no cutoff has an
    exact score, and where there is no naive order.

    >>> rows = pl.DataFrame(
    ...     {
    ...         "metric": ["ap"] * 6,
    ...         "cutoff": [1, 1, 5, 5, 10, 10],
    ...         "model": ["a", "b"] * 3,
    ...         "copy_of": [None] * 6,
    ...         "tie_std": [0.1] * 6,
    ...         "expected_rank": [1, 2] * 3,
    ...         "naive_rank": [2, 1, 1, 1, 1, 2],
    ...     }
    ... )
    >>> print(cutoffs_sentence(rows))
    By ap, the naive order of the models is an accident of ties at cutoff 1 (with another winner);
    at cutoff 5 it only makes models level whose expected scores differ; at cutoff 10 it is the
    expected one.
    >>> print(cutoffs_sentence(rows.with_columns(naive_rank=pl.Series([2, 1] * 3))))
    By ap, the naive order of the models is an accident of ties at cutoffs 1, 5 and 10
    (with another winner each time).
    >>> tie_std = [0.1, 0.1, 0.1, None, None, None]
    >>> print(cutoffs_sentence(rows.with_columns(tie_std=pl.Series(tie_std))))
    By ap, the naive order of the models is an accident of ties at cutoff 1 (with another winner).
    By estimates from lists that may be cut, it only makes models level whose expected scores differ
    at cutoff 5; at cutoff 10 it is the expected one.
    >>> level = pl.Series([1, 1, 1, 2, 1, 1])
    >>> print(cutoffs_sentence(rows.with_columns(expected_rank=level)))
    By ap, the naive order of the models only separates models of equal expected score at cutoffs 1
    and 10; at cutoff 5 it only makes models level whose expected scores differ.
    """
    if not rows.width or rows["model"].n_unique() == 1:
        return ""
    last, naive_last = (
        rank + pl.len().over("cutoff", rank) - 1 for rank in (TO_EXPECTED, TO_NAIVE)
    )
    rows = rows.with_columns(last=last, naive_last=naive_last)
    rows = rows.filter(pl.col("copy_of").is_null(), TO_EXPECTED.is_not_null())
    winner_by_both = pl.all_horizontal(TO_EXPECTED == 1, TO_NAIVE == 1)
    at = rows.group_by("metric", "cutoff", maintain_order=True).agg(
        (TO_EXPECTED == TO_NAIVE).all().alias("same"),
        apart=TO_NAIVE.is_between(TO_EXPECTED, "last").all(),
        joined=TO_EXPECTED.is_between(TO_NAIVE, "naive_last").all(),
        winner=~winner_by_both.any(),
        known=TO_NAIVE.is_not_null().all(),
        exact=pl.col("tie_std").is_not_null().mean(),
    )
    at = at.filter("known")
    if at.height < 2 or not at["exact"].sum():
        return ""
    by = f"By {clean(at['metric'][0], 60)}"
    order = "the naive order of the models"
    exact, cut = at.filter(exact=1), at.filter(pl.col("exact") < 1)
    sentences = [_accidents(exact, f"{by}, {order}")] * (exact.height > 0)
    if cut.height:
        subject = (
            "By estimates from lists that may be cut, it"
            if sentences
            else f"{by}, estimated from lists that may be cut, {order}"
        )
        sentences.append(_accidents(cut, subject))
    return " ".join(sentences)


def depth_sentence(truncation: pl.DataFrame, measure: str) -> str:
    """Say that the lists are deep enough for a measure, if `truncated_lists` finds none open.

    >>> depth_sentence(pl.DataFrame({"open_share": [0.0, 0.0]}), "ap@5")
    'All lists are deep enough for ap@5.'
    >>> depth_sentence(pl.DataFrame({"open_share": [0.0, 0.1]}), "ap@5")
    ''
    """
    return f"All lists are deep enough for {measure}." * (truncation["open_share"].max() == 0)


def _accidents(at: pl.DataFrame, subject: str) -> str:
    """Return the sentence on the cutoffs of these rows."""
    winner = at.filter("winner")["cutoff"].to_list()
    parts: list[str] = []
    for verb, which in KINDS.items():
        cutoffs = at.filter(which)["cutoff"].to_list()
        if cutoffs:
            where = _texts(cutoffs)
            parts.append(f"{where} it {verb}" if parts else f"{subject} {verb} {where}")
        if {*winner}.intersection(cutoffs):  # only where it is an accident
            at_these = "" if winner == cutoffs else f"{_texts(winner)} "
            each = " each time" * (len(cutoffs) > 1 and not at_these)
            parts[-1] += f" ({at_these}with another winner{each})"
    return f"{'; '.join(parts)}."


def _texts(cutoffs: Sequence[int | None]) -> str:
    """Return cutoffs as text.

    >>> _texts([1, 3]), _texts([10, None]), _texts([None])
    ('at cutoffs 1 and 3', 'at cutoff 10 and over whole lists', 'over whole lists')
    """
    numbers = [str(cutoff) for cutoff in cutoffs if cutoff is not None]
    at = [f"at cutoff{'s' * (len(numbers) > 1)} {listed(numbers)}"] if numbers else []
    return " and ".join([*at, *["over whole lists"] * (None in cutoffs)])
