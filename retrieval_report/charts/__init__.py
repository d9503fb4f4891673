"""Draw analysis frames as Altair charts, the same in a notebook, the report and the dashboard.

Every function takes a frame from this package and returns one themed chart. The data is inside the
chart, so it needs no file and no network; large frames are reduced first, so Altair's row limit is
never reached. Nothing global is changed in Altair. Screen readers get the ``description`` of a
chart.

In a notebook the charts display without a network after ``altair.renderers.enable("html",
template="inline")``, which embeds Vega in the page; by default Altair loads it from a CDN. Save a
chart by ``chart.save("chart.png")`` or ``chart.save("chart.html", inline=True)``. All three need
``vl-convert-python``: ``pip install 'retrieval-report[images]'``.

>>> import polars as pl
>>> from retrieval_report import charts, evaluate, summarise
>>> rankings = pl.DataFrame(
...     {
...         "query": ["q"] * 4,
...         "item": list("abcd"),
...         "distance": [0, 2, 2, 5],
...         "relevance": [0, 1, 0, 1],
...     }
... )
>>> summary = summarise(evaluate(rankings, metrics="precision", cutoffs=2))
>>> charts.policies(summary, metric="precision", cutoff=2).to_dict()["title"]["text"]
['Scores at precision@2']
"""

from __future__ import annotations

import sys

from retrieval_report.contracts.errors import RetrievalReportError

if sys.flags.optimize > 1:
    raise RetrievalReportError(
        "charts are drawn by Altair, which needs the docstrings that python -OO leaves out; run "
        "python, or python -O"
    )

from retrieval_report.charts.comparisons import comparison_matrix
from retrieval_report.charts.distributions import score_distribution, shuffled_distribution
from retrieval_report.charts.lines import recall_curve, scores_by_cutoff, thresholds
from retrieval_report.charts.means import costs, history, policies
from retrieval_report.charts.queries import deciding_queries, pair_scatter, query_scatter
from retrieval_report.charts.three_scores import along_cutoffs, off_by, scores
from retrieval_report.charts.ties import profile

__all__ = [
    "along_cutoffs",
    "comparison_matrix",
    "costs",
    "deciding_queries",
    "history",
    "off_by",
    "pair_scatter",
    "policies",
    "profile",
    "query_scatter",
    "recall_curve",
    "score_distribution",
    "scores",
    "scores_by_cutoff",
    "shuffled_distribution",
    "thresholds",
]

# The charts of ``study.plot``, and the frames and the measure that each draws of a study or report.
# The other arguments have defaults.
ARGUMENTS = {
    "scores": "three_scores shuffled summary metric cutoff",
    "along_cutoffs": "by_cutoff metric cutoff",
    "comparison_matrix": "comparison metric cutoff",
    "costs": "costs metric cutoff",
    "deciding_queries": "deciding metric cutoff",
    "off_by": "by_cutoff metric cutoff",
    "pair_scatter": "deciding metric cutoff",
    "policies": "summary metric cutoff",
    "profile": "profile",
    "query_scatter": "queries metric cutoff",
    "recall_curve": "recall_curve",
    "scores_by_cutoff": "summary metric",
    "shuffled_distribution": "shuffled summary distribution metric cutoff",
    "thresholds": "thresholds",
}

# In this order, each in a section of the page.
IN_REPORT = {
    "scores": "three",
    "costs": "summary",
    "along_cutoffs": "cutoffs",
    "off_by": "cutoffs",
    "scores_by_cutoff": "cutoffs",
    "recall_curve": "cutoffs",
    "shuffled_distribution": "ties",
    "comparison_matrix": "comparison",
    "deciding_queries": "comparison",
    "profile": "ties",
    "thresholds": "thresholds",
}
