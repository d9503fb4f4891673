"""Choose the charts of a report, their order and their captions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from retrieval_report.study.contents import Report

if TYPE_CHECKING:  # Altair takes longer to import than everything else
    from retrieval_report.charts.responsive import Responsive

# As SVG, text takes the colour of the page around it, light or dark.
PAGE_TEXT = "currentColor"


@dataclass(frozen=True)
class Picture:
    """One chart of the page: its id, title, caption, finding and plots."""

    id: str
    title: str
    caption: str
    drawn: Responsive = field(repr=False)


def pictures(report: Report) -> list[Picture]:
    """Draw all charts for which the report has data."""
    from retrieval_report import charts

    metric, cutoff, summary = report.metric, report.cutoff, report.summary
    measure: dict[str, Any] = {"metric": metric, "cutoff": cutoff}
    models, cutoffs = (
        summary["model"].n_unique(),
        summary.filter(metric=metric)["cutoff"].n_unique(),
    )
    audit = None if report.audit.is_empty() else report.audit
    beside = "and what cut lists leave open" if report.cut else "beside the exact mean"
    runs = "Means of random tie orders beside the exact numbers."
    if report.cut:
        runs = "Means over random orders of the given rows; a deeper retrieval would hold more."
    wanted: list[tuple[bool, str, str, str, Callable[[], Any]]] = [
        (models > 1, "board", "Which models differ",
         ("Expected score, tie range and interval of every model, and the ranks that tie order and "
         "queries leave open."),
         lambda: charts.leaderboard(report.leaderboard, **measure)),
        (report.costs.width > 0, "cost-chart", "Scores against costs", ("The line joins the models "
                                                                       "that no other beats."),
         lambda: charts.costs(report.costs, **measure)),
        (True, "policies", "What each model scores", f"Every possible order inside ties, {beside}.",
         lambda: charts.policies(summary, audit=audit, **measure)),
        (cutoffs > 1, "cutoffs", "Along the cutoffs", "The expected score of every model by depth.",
         lambda: charts.scores_by_cutoff(summary, metric=metric)),
        (report.recall_curve.width > 0, "recall", "Along recall", ("Interpolated precision, as "
                                                                  "trec_eval defines it."),
         lambda: charts.recall_curve(report.recall_curve)),
        (models > 1, "flips", "Does the ranking change?", ("The rank of every model by naive scores "
                                                          "and in expectation."),
         lambda: charts.rank_flips(summary, **measure)),
        (True, "shuffled", "What repeated runs would print", runs,
         lambda: charts.shuffled_distribution(report.shuffled, summary, exact=report.distribution, **measure)),
        (models > 1, "matrix", "Every pair of models", ("Difference, significance and the chance of "
                                                       "a tie flip."),
         lambda: charts.comparison_matrix(report.comparison, **measure)),
        (models > 1, "deciding-chart", "Which queries decide", ("Differences of the first two "
                                                               "models, query by query."),
         lambda: charts.deciding_queries(report.deciding, **measure)),
        (True, "profile-chart", "Where cutoffs meet ties", ("How large ties are, and how often a "
                                                           "cutoff splits one."),
         lambda: charts.profile(report.profile)),
    ]  # fmt: skip
    return [
        Picture(id, title, caption, charts.responsive(draw(), text=PAGE_TEXT))
        for sensible, id, title, caption, draw in wanted
        if sensible
    ]
