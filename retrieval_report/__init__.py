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

import ast
import pkgutil
from importlib import import_module

from retrieval_report.contracts import forks as _forks  # noqa: F401 - imported to watch for forks

__version__ = "1.0.0"


def _homes() -> dict[str, str]:
    """Map public names to the modules that define them, as
    in the stub beside this file, which type checkers read.
    """
    stub = ast.parse(pkgutil.get_data(__name__, "__init__.pyi") or b"")
    froms = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: str(node.module) for node in froms for alias in node.names}


_HOMES = _homes()
__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> object:
    """Load a public name on its first use, so that
    importing the package does not load Numba or SciPy.
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = _HOMES[name]
    value = (
        import_module(f"{home}.{name}") if home == __name__ else getattr(import_module(home), name)
    )
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
