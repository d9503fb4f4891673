"""Draw analysis frames as Altair charts, the same in a notebook, the report and the dashboard.

Every function takes a frame from this package and returns one themed chart. The data is inside the
chart, so it needs no file and no network; large frames are reduced first, so Altair's row limit is
never reached. Nothing global is changed in Altair. Titles state what the chart shows, and screen
readers get its ``description``. ``a | b`` puts two charts side by side, ``a & b`` one below the
other. :func:`styled`, applied last, sets another text colour; :func:`responsive` fits a chart to
the width of a page.

In a notebook the charts display without a network after ``altair.renderers.enable("html",
template="inline")``, which embeds Vega from the installed ``vl-convert-python`` in the page; by
default Altair loads it from a CDN. Save a chart by ``chart.save("chart.png")`` or
``chart.save("chart.html", inline=True)``.

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
['model: precision@2 is 0.2500 in expectation, 0.5000 in the naive order']
"""

from __future__ import annotations

from retrieval_report.charts.audits import evaluators
from retrieval_report.charts.codes import precision_recall, radius, recall_curve
from retrieval_report.charts.comparisons import comparison_matrix, intervals
from retrieval_report.charts.cutoffs import policy_panels, scores_by_cutoff
from retrieval_report.charts.deciding import deciding_queries
from retrieval_report.charts.leaderboards import costs, leaderboard
from retrieval_report.charts.lists import list_orders, ranked_list
from retrieval_report.charts.orders import score_distribution
from retrieval_report.charts.policies import policies
from retrieval_report.charts.queries import query_scatter
from retrieval_report.charts.ranks import rank_flips
from retrieval_report.charts.responsive import responsive
from retrieval_report.charts.shuffles import shuffled_distribution
from retrieval_report.charts.theme import styled
from retrieval_report.charts.ties import profile

__all__ = [
    "comparison_matrix",
    "costs",
    "deciding_queries",
    "evaluators",
    "intervals",
    "leaderboard",
    "list_orders",
    "policies",
    "policy_panels",
    "precision_recall",
    "profile",
    "query_scatter",
    "radius",
    "rank_flips",
    "ranked_list",
    "recall_curve",
    "responsive",
    "score_distribution",
    "scores_by_cutoff",
    "shuffled_distribution",
    "styled",
]
