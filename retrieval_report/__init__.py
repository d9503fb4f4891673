"""Exact scores for retrieval models whose distances tie.

Many items at the same distance from a query have no order of their own, and an evaluator that picks one prints an
accident. This package gives the exact mean over all orders, its exact standard deviation, and exact bounds.

>>> import polars as pl
>>> import retrieval_report as rr
>>> rankings = pl.DataFrame({
...     "query": ["q"] * 4, "item": list("abcd"), "distance": [0, 2, 2, 5], "relevance": [0, 1, 0, 1]})
>>> scores = rr.evaluate(rankings, metrics="ap", cutoffs=3, policies=("naive", "expected"))
>>> rr.summarise(scores).select("policy", "value", "tie_std")
shape: (2, 3)
┌──────────┬──────────┬──────────┐
│ policy   ┆ value    ┆ tie_std  │
│ ---      ┆ ---      ┆ ---      │
│ str      ┆ f64      ┆ f64      │
╞══════════╪══════════╪══════════╡
│ naive    ┆ 0.25     ┆ null     │
│ expected ┆ 0.208333 ┆ 0.041667 │
└──────────┴──────────┴──────────┘
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from retrieval_report.analysis.audit import audit
    from retrieval_report.analysis.comparison import compare
    from retrieval_report.analysis.conventions import Convention, conventions
    from retrieval_report.analysis.costs import cost_table
    from retrieval_report.analysis.coverage import judgement_coverage
    from retrieval_report.analysis.deciding import deciding_queries
    from retrieval_report.analysis.flips import flips, rank_agreement
    from retrieval_report.analysis.gate import Gate, gate
    from retrieval_report.analysis.hints import chance_level, tie_hints
    from retrieval_report.analysis.leaderboard import leaderboard
    from retrieval_report.analysis.letters import compact_letters
    from retrieval_report.analysis.likeness import evaluate_like
    from retrieval_report.analysis.neighbours import neighbour_judgements
    from retrieval_report.analysis.noninferiority import detectable_effect, no_worse, queries_needed
    from retrieval_report.analysis.orders import drawn_order, ranking_ties
    from retrieval_report.analysis.profile import tie_profile
    from retrieval_report.analysis.queries import query_table
    from retrieval_report.analysis.rank_intervals import rank_intervals
    from retrieval_report.analysis.rounding import rounding_effect
    from retrieval_report.analysis.score_distribution import score_distribution
    from retrieval_report.analysis.segments import compare_by, segment_winners, summarise_by
    from retrieval_report.analysis.similarity import RankingSimilarity, ranking_similarity
    from retrieval_report.analysis.summary import summarise
    from retrieval_report.analysis.tie_break_effect import resolve_ties, tie_break_effect
    from retrieval_report.analysis.ties_at_cutoff import ties_at_cutoff
    from retrieval_report.analysis.truncated_lists import truncated_lists
    from retrieval_report.analysis.tukey import compare_many
    from retrieval_report.codes import count_codes, count_relevant
    from retrieval_report.contracts.errors import (
        ColumnError,
        DataError,
        FileError,
        KeyMismatchError,
        OutputError,
        ParameterError,
        RetrievalReportError,
        RetrievalReportWarning,
    )
    from retrieval_report.disk import count_ties_to, evaluate_to
    from retrieval_report.evaluation import count_ties, evaluate, evaluate_with_draws, shuffled_means
    from retrieval_report.metrics.catalogue import (
        ACG,
        AP,
        DCG,
        ERR,
        F1,
        NDCG,
        RBP,
        RR,
        WAP,
        APAtR,
        Bpref,
        HitRate,
        Metric,
        NumRelRet,
        Precision,
        Recall,
        RPrecision,
    )
    from retrieval_report.metrics.weights import WeighedGains, query_weights, weigh_gains
    from retrieval_report.reading import read_judgements, read_queries, read_rankings
    from retrieval_report.report import Report, compare_reports, read_report, report_contents, write_report
    from retrieval_report.scoring.radius import evaluate_radius, radius_scores
    from retrieval_report.scoring.ties import tie_groups
    from retrieval_report.search import Inputs, from_search
    from retrieval_report.study.study import Study

__version__ = "0.1.0"

__all__ = [
    "ACG",
    "AP",
    "DCG",
    "ERR",
    "F1",
    "NDCG",
    "RBP",
    "RR",
    "WAP",
    "APAtR",
    "Bpref",
    "ColumnError",
    "Convention",
    "DataError",
    "FileError",
    "Gate",
    "HitRate",
    "Inputs",
    "KeyMismatchError",
    "Metric",
    "NumRelRet",
    "OutputError",
    "ParameterError",
    "Precision",
    "RPrecision",
    "RankingSimilarity",
    "Recall",
    "Report",
    "RetrievalReportError",
    "RetrievalReportWarning",
    "Study",
    "WeighedGains",
    "__version__",
    "audit",
    "chance_level",
    "compact_letters",
    "compare",
    "compare_by",
    "compare_many",
    "compare_reports",
    "conventions",
    "cost_table",
    "count_codes",
    "count_relevant",
    "count_ties",
    "count_ties_to",
    "deciding_queries",
    "detectable_effect",
    "drawn_order",
    "evaluate",
    "evaluate_like",
    "evaluate_radius",
    "evaluate_to",
    "evaluate_with_draws",
    "flips",
    "from_search",
    "gate",
    "judgement_coverage",
    "leaderboard",
    "neighbour_judgements",
    "no_worse",
    "queries_needed",
    "query_table",
    "query_weights",
    "radius_scores",
    "rank_agreement",
    "rank_intervals",
    "ranking_similarity",
    "ranking_ties",
    "read_judgements",
    "read_queries",
    "read_rankings",
    "read_report",
    "report_contents",
    "resolve_ties",
    "rounding_effect",
    "score_distribution",
    "segment_winners",
    "shuffled_means",
    "summarise",
    "summarise_by",
    "tie_break_effect",
    "tie_groups",
    "tie_hints",
    "tie_profile",
    "ties_at_cutoff",
    "truncated_lists",
    "weigh_gains",
    "write_report",
]

# Public names are loaded on first use: importing the package alone must not pay for Numba or SciPy.
_HOMES = {
    "Report": "report",
    "compare_reports": "report",
    "read_report": "report",
    "report_contents": "report",
    "write_report": "report",
    "count_ties_to": "disk",
    "evaluate_to": "disk",
    "count_codes": "codes",
    "count_relevant": "codes",
    "evaluate_radius": "scoring.radius",
    "radius_scores": "scoring.radius",
    "audit": "analysis.audit",
    "compare": "analysis.comparison",
    "Convention": "analysis.conventions",
    "conventions": "analysis.conventions",
    "flips": "analysis.flips",
    "rank_agreement": "analysis.flips",
    "ties_at_cutoff": "analysis.ties_at_cutoff",
    "chance_level": "analysis.hints",
    "tie_hints": "analysis.hints",
    "judgement_coverage": "analysis.coverage",
    "tie_profile": "analysis.profile",
    "query_table": "analysis.queries",
    "evaluate_like": "analysis.likeness",
    "drawn_order": "analysis.orders",
    "ranking_ties": "analysis.orders",
    "score_distribution": "analysis.score_distribution",
    "RankingSimilarity": "analysis.similarity",
    "ranking_similarity": "analysis.similarity",
    "rounding_effect": "analysis.rounding",
    "tie_break_effect": "analysis.tie_break_effect",
    "resolve_ties": "analysis.tie_break_effect",
    "summarise": "analysis.summary",
    "compare_many": "analysis.tukey",
    "compact_letters": "analysis.letters",
    "leaderboard": "analysis.leaderboard",
    "rank_intervals": "analysis.rank_intervals",
    "no_worse": "analysis.noninferiority",
    "detectable_effect": "analysis.noninferiority",
    "queries_needed": "analysis.noninferiority",
    "gate": "analysis.gate",
    "Gate": "analysis.gate",
    "summarise_by": "analysis.segments",
    "compare_by": "analysis.segments",
    "segment_winners": "analysis.segments",
    "deciding_queries": "analysis.deciding",
    "cost_table": "analysis.costs",
    "truncated_lists": "analysis.truncated_lists",
    "ColumnError": "contracts.errors",
    "DataError": "contracts.errors",
    "FileError": "contracts.errors",
    "KeyMismatchError": "contracts.errors",
    "OutputError": "contracts.errors",
    "ParameterError": "contracts.errors",
    "RetrievalReportError": "contracts.errors",
    "RetrievalReportWarning": "contracts.errors",
    "count_ties": "evaluation",
    "evaluate": "evaluation",
    "evaluate_with_draws": "evaluation",
    "shuffled_means": "evaluation",
    "ACG": "metrics.catalogue",
    "AP": "metrics.catalogue",
    "DCG": "metrics.catalogue",
    "ERR": "metrics.catalogue",
    "F1": "metrics.catalogue",
    "NDCG": "metrics.catalogue",
    "RBP": "metrics.catalogue",
    "RR": "metrics.catalogue",
    "WAP": "metrics.catalogue",
    "APAtR": "metrics.catalogue",
    "Bpref": "metrics.catalogue",
    "HitRate": "metrics.catalogue",
    "Metric": "metrics.catalogue",
    "NumRelRet": "metrics.catalogue",
    "Precision": "metrics.catalogue",
    "Recall": "metrics.catalogue",
    "RPrecision": "metrics.catalogue",
    "neighbour_judgements": "analysis.neighbours",
    "read_judgements": "reading",
    "read_queries": "reading",
    "read_rankings": "reading",
    "Inputs": "search",
    "from_search": "search",
    "Study": "study.study",
    "tie_groups": "scoring.ties",
    "WeighedGains": "metrics.weights",
    "query_weights": "metrics.weights",
    "weigh_gains": "metrics.weights",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
