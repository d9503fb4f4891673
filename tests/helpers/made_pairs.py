"""Three models whose lists tie, and how `compare` sees them."""

from typing import Any

import polars as pl

import retrieval_report as rr
from made_pages import made_data
from made_reports import made_rankings

RANKINGS = made_rankings(("coarse", "fine", "middle"))
DATA = made_data(RANKINGS)


def comparison(rankings: pl.DataFrame = RANKINGS, **options: Any) -> pl.DataFrame:
    asked: Any = {"metrics": "ndcg", "cutoffs": 3, **options}
    policies = ("expected", "worst", "best", "shuffled") + (
        ("naive",) if "count" not in rankings.columns else ()
    )
    scores = rr.evaluate(rankings, policies=policies, **asked)
    rules = {name: value for name, value in options.items() if name not in ("metrics", "cutoffs")}
    return rr.compare(scores, rankings=rankings, **rules)


def row_of(
    frame: pl.DataFrame, first: str, second: str, policy: str = "expected"
) -> dict[str, Any]:
    return frame.filter(model_a=first, model_b=second, policy=policy).row(0, named=True)
