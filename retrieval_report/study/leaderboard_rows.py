"""The one leaderboard that the terminal, notebooks, the report and the dashboard show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from retrieval_report.comparison.verdicts import NOT_SIGNIFICANT, SAFE, equal_means
from retrieval_report.engines.check_scores import MEAN, at_measure, beside, board
from retrieval_report.metrics.parsing import Measure, measure_text
from retrieval_report.study.terminal import frame_table, html_table
from retrieval_report.study.verdict import ranked_means, verdict
from retrieval_report.writing.numbers import interval

ESTIMATE = "≈"  # before the name of a measure
COUNTED = ["queries", "unpaired"]  # of all models together
# The other measures follow.
COLUMNS = ["rank", "model", "expected", "tie_std", "tie_ranks", "query_ranks", "interval"]


def leaderboard_rows(
    summary: pl.DataFrame, ranks: pl.DataFrame, measures: Sequence[Measure]
) -> pl.DataFrame:
    """Return one row per model, best by the first measure first, with every other measure as a
    column, marked if it is an estimate. ``ranks`` is the result of :func:`leaderboard`; of one
    model nothing is ranked.
    """
    rows = board(summary.filter(at_measure(*measures[0])))
    if rows.height > 1:
        texts = []  # ranks under tie order and by queries, such as 1 or 1–3
        for source in ("tie", "query"):
            low, high = (pl.col(f"{source}_rank_{end}").cast(pl.String) for end in ("low", "high"))
            text = pl.when(low == high).then(low).otherwise(low + "–" + high)
            texts.append(text.alias(f"{source}_ranks"))
        facts = ranks.select(*MEAN, *COUNTED, "rank", "^.*_rank_.*$", *texts)
        rows = beside(rows.drop("queries"), facts, MEAN)
    ends = [interval(low, high, minus="-") for low, high in rows.select("ci_low", "ci_high").rows()]
    rows = rows.with_columns(interval=pl.Series(ends, dtype=pl.String))
    for measure in measures[1:]:
        of_measure = board(summary.filter(at_measure(*measure)))
        mark = ESTIMATE if (of_measure["truncated_share"] > 0).any() else ""
        value = pl.col("value").alias(f"{mark}{measure_text(*measure)}")
        rows = beside(rows, of_measure.select("model", value), "model")
    return rows


def leaderboard_of(study: Any, ranks: pl.DataFrame | None = None) -> pl.DataFrame:
    """Return the leaderboard of a study, of which only the headline needs ``ranks``."""
    ranks = study.headline.leaderboard if ranks is None else ranks
    return leaderboard_rows(study.summary, ranks, study.measures)


def leaderboard_table(study: Any, ranks: pl.DataFrame | None = None) -> str:
    """Return the leaderboard of a study as text."""
    rows = leaderboard_of(study, ranks)
    rows = rows.with_columns(unpaired=0) if "unpaired" not in rows.columns else rows
    columns = leaderboard_columns(rows)
    table = frame_table(rows, columns, by="metric cutoff queries unpaired")
    return "\n".join(filter(None, [table, estimates_line(columns)]))


def lead(study: Any, ranks: pl.DataFrame) -> list[str]:
    """Return the verdict in two sentences, from the leading models alone, since all pairs of many
    models take minutes. That the lead is significant is read from the ranks, without its p.
    """
    metric, cutoff = study.measures[0]
    known = ranks.filter(at_measure(metric, cutoff))
    means = study.headline.summary
    first = ranked_means(means, metric, cutoff, study.identical, study.of_run)
    varied = len(study.judgements) > 1 or study.of_run or study.also["dataset"]
    if varied or len(first) < 2 or known["unpaired"].max():
        return [*study.sentences[: 3 if varied else 2]]
    level = [row for row in first if equal_means(row["expected"], first[0]["expected"])]
    names = [row["model"] for row in (level if len(level) > 1 else first[:2])]
    pairs = study.headline.models(*names).flips
    tested = SAFE if known.filter(model=names[1])["query_rank_low"].item() > 1 else NOT_SIGNIFICANT
    among_all = pl.when(pl.col("verdict").is_in([SAFE, NOT_SIGNIFICANT])).then(pl.lit(tested))
    pairs = pairs.with_columns(
        verdict=among_all.otherwise("verdict"), family_p=pl.lit(None, pl.Float64)
    )
    _, sentences = verdict(means, pairs, metric=metric, cutoff=cutoff, identical=study.identical)
    return [*sentences[: 1 if len(level) > 1 else 2]]


def leaderboard_html(study: Any) -> str:
    """Return the leaderboard of a study as HTML."""
    rows = leaderboard_of(study)
    columns = leaderboard_columns(rows)
    return html_table(rows, columns, note=estimates_line(columns))


def leaderboard_columns(rows: pl.DataFrame) -> str:
    """Return the names of the columns to show, which are those that say something."""
    shown = [name for name in COLUMNS if name in rows.columns]
    shown += [name for name in rows.columns if "@" in name]
    return " ".join(name for name in shown if rows[name].null_count() < rows.height)


def estimates_line(columns: str) -> str:
    """Return what the mark means, if a column has it."""
    return f"{ESTIMATE}: estimates, where lists may be cut." if ESTIMATE in columns else ""
