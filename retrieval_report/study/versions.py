"""The versions of a model in a study: which steps are news, and what the last version gained."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from retrieval_report.comparison.history import BY_TIES, IS_NEWS, steps_of
from retrieval_report.comparison.verdicts import is_significant, with_chances
from retrieval_report.engines.check_scores import MEASURE, in_both_directions, join_left
from retrieval_report.metrics.parsing import measure_text
from retrieval_report.study.table_columns import MODEL_WIDTH
from retrieval_report.study.terminal import visible
from retrieval_report.writing.names import first_names, with_number
from retrieval_report.writing.numbers import p_value, size

if TYPE_CHECKING:
    from retrieval_report.study.study import Study

CHANCES = ["p_tie", "p_tie_high"]
MAX_STEPS = 6  # that a sentence names


def history_of(study: Study, pattern: str) -> pl.DataFrame:
    """Return :func:`history` of a study, with the chances of `flips`, which are exact where moments
    say little. A version whose data `health` finds wrong is not tested, nor is a step from it.
    """
    in_order, suspects = [*MEASURE, "series"], study.suspects
    wrong = pl.col("model").is_in(suspects)
    is_tested = ~(wrong | wrong.shift(fill_value=False).over(in_order))
    steps = steps_of(study.under("expected", "best", "worst").scores, pattern, suspects)
    pairs = in_both_directions(study.flips.select("model_a", "model_b", *MEASURE, *CHANCES))
    pairs = pairs.rename({"model_a": "model", "model_b": "before"})
    moments = steps.drop(CHANCES).with_columns(before=pl.col("model").shift().over(in_order))
    known = join_left(moments, pairs, [*MEASURE, "model", "before"])
    known = known.select(steps.columns).with_columns(marked=IS_NEWS)
    return known.with_columns(pl.when(is_tested).then(pl.col("marked", *CHANCES)))


def with_step_chances(steps: pl.DataFrame) -> pl.DataFrame:
    """Return rows of `history` with the chance of a reversal as text, 'level' of equal means.

    >>> rows = {"value": [0.5, 0.5], "difference": [0.1, 0.0], "p_tie": None, "p_tie_high": 0.03}
    >>> with_step_chances(pl.DataFrame(rows))["p_tie"].to_list()
    ['0.00 to 0.03', 'level']
    """
    before = pl.col("value") - pl.col("difference")
    # Of cut lists only the highest is known.
    bound = pl.when(pl.col("p_tie").is_null()).then(0.0)
    rows = steps.with_columns(value_a="value", value_b=before, p_tie_method=None, p_tie_low=bound)
    return with_chances(rows).drop("value_a", "value_b", "p_tie_method", "p_tie_low")


def steps_sentences(steps: pl.DataFrame, minus: str = "-") -> list[str]:
    """Say for every series of `history`, of one measure, which steps are news and whether the last
    version is better than the first and than the best before it.

    >>> rows = {"metric": "ap", "cutoff": 5, "series": "", "version": ["1", "2", "3"]}
    >>> rows |= {"model": ["v1", "v2", "v3"], "difference": [None, 0.1, -0.01]}
    >>> rows |= {"marked": [None, True, False], "best": [None, None, "v2"]}
    >>> rows |= {"since_first": [None, None, 0.09], "first_p": [None, None, 0.001]}
    >>> rows |= {"since_best": [None, None, -0.01], "best_p": [None, None, 0.4]}
    >>> for sentence in steps_sentences(pl.DataFrame(rows)):
    ...     print(sentence)
    ap@5: 1 of 2 steps is more than tie order and queries explain: 2 (+0.1000).
    3, the last version, is better than the first by 0.0900 (corrected p = 0.0010).
    """
    return [
        sentence
        for rows in steps.partition_by("series", maintain_order=True)
        for sentence in _of_series(rows, minus)
    ]


def _of_series(rows: pl.DataFrame, minus: str) -> list[str]:
    """Return the sentences on one model."""
    first, last = rows.row(0, named=True), rows.row(-1, named=True)
    names = [first["series"], measure_text(first["metric"], first["cutoff"])]
    what = visible(", ".join(filter(None, names)))
    possible, marked = rows.drop_nulls("marked"), rows.filter("marked")
    tested = " that could be tested" * (possible.height < rows.height - 1)
    if marked.height:
        texts = [
            f"{visible(version, MODEL_WIDTH)} ({size(difference, sign='+', minus=minus)})"
            for version, difference in marked.select("version", "difference").iter_rows()
        ]
        number = f"{marked.height} of {with_number(possible.height, 'step')}{tested}"
        verb = "are" if marked.height > 1 else "is"
        explained = f"{verb} more than tie order and queries explain"
        news = f"{number} {explained}: {first_names(texts, MAX_STEPS)}"
    elif possible.filter(pl.col("difference") != 0).is_empty():
        news = "no step changes the score"
    else:
        which = "every step"
        if tested:
            one = possible.height == 1
            which = f"{'the one step' if one else f'each of the {possible.height} steps'}{tested}"
        ties = "tie order or to " * possible.select(BY_TIES.any()).item()
        news = f"{which} may be due to {ties}the choice of queries"
    sentences = [f"{what}: {news}."] if possible.height else []
    version = f"{visible(last['version'], MODEL_WIDTH)}, the last version, is"
    versions = dict(rows.select("model", "version").iter_rows())
    best = visible(versions.get(last["best"], ""), MODEL_WIDTH)
    others = {"first": "the first", "best": f"{best}, the best before it,"}
    if last["best"] == first["model"]:
        del others["best"]
    for kind, other in others.items():
        p, gain = last[f"{kind}_p"], last[f"since_{kind}"]
        if is_significant(p):
            better = "better" if gain > 0 else "worse"
            by = f"by {size(abs(gain))} (corrected {p_value(p)})"
            sentences.append(f"{version} {better} than {other} {by}.")
    return sentences
