"""Exact scores for retrieval models whose distances tie.

Items at the same distance from a query have no order of their own, so an evaluator that picks one
order prints an accident. This package computes the exact mean over all orders, its exact standard
deviation, and exact bounds.

>>> import polars as pl
>>> import retrieval_report as rr
>>> rankings = pl.DataFrame(
...     {
...         "query": ["q"] * 4,
...         "item": list("abcd"),
...         "distance": [0, 2, 2, 5],
...         "relevance": [0, 1, 0, 1],
...     }
... )
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

from importlib import import_module

from retrieval_report.contracts import forks as _forks  # noqa: F401 - imported to watch for forks

__version__ = "1.0.0"


# The public names by the modules that define them; type checkers read `__init__.pyi`, and a test
# holds the two together. _GROUPS are modules that are public themselves.
_NAMES = {
    "systems.audit": "audit",
    "comparison.pairs": "compare",
    "comparison.flips": "flips",
    "comparison.gate": "gate",
    "ties.hints": "tie_hints",
    "comparison.leaderboard": "leaderboard",
    "comparison.meter": "Meter",
    "ties.nearest_labels": "knn",
    "ties.profile": "tie_profile",
    "engines.summary": "summarise",
    "ties.rescored": "rescored",
    "ties.thresholds": "thresholds",
    "ties.truncated_lists": "truncated_lists",
    "contracts.errors": "ColumnError DataError FileError KeyMismatchError OutputError "
    "ParameterError RetrievalReportError RetrievalReportWarning",
    "engines.disk": "evaluate_to",
    "engines.evaluate": "count_ties evaluate shuffled_means",
    "metrics.catalogue": "ACG AP DCG ERR F1 NDCG RBP RR WAP "
    "APAtR Bpref HitRate NumRelRet Precision Recall RPrecision",
    "metrics.record": "Metric",
    "reading.collapse": "collapse",
    "reading.label_sets": "from_labels",
    "reading": "read_judgements read_queries read_rankings",
    "report": "read_report write_report",
    "codes.embeddings": "from_embeddings",
    "codes.search": "from_search",
    "codes.true_scores": "from_scores",
    "study.study": "Study",
}
_GROUPS = "charts codes expr lists report stats systems"
_HOMES = {name: f"{__name__}.{home}" for home, names in _NAMES.items() for name in names.split()}
__all__ = sorted([*_HOMES, *_GROUPS.split(), "__version__"])


def __getattr__(name: str) -> object:
    """Load a public name on its first use, so that
    importing the package does not load Numba or SciPy.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES.get(name)
    value = getattr(import_module(home), name) if home else import_module(f"{__name__}.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
