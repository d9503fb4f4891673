"""Small rankings and reports for the tests of the report."""

from functools import cache
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.report import Report, report_contents

HOSTILE = (
    "</script><img src=x onerror=document.title='hacked'>",
    '" onmouseover="document.title=1',
    "=HYPERLINK(1)",
    "'=quoted formula",
    "\u202eright to left \u05e2\u05d1\u05e8\u05d9\u05ea",
    "line\u2028and\u2029paragraph",
    "<!-- <script>",
    "x" * 10_000,
)
METRICS = ("precision", "ap(denominator=retrieved)", "ndcg")
CUTOFFS = (3, 1, None)


def made_rankings(models: tuple[str, ...], queries: int = 6) -> pl.DataFrame:
    """Lists of eight items with ties, which differ by model, query and item without any chance."""
    rows = [
        {
            "model": model,
            "query": f"query {query}",
            "item": item,
            "distance": ((item * (7 + index) + query) % 11) // (1 + index % 3),
            "relevance": int((item * 5 + query) % 3 == 0) * (1 + item % 2),
        }
        for index, model in enumerate(models)
        for query in range(queries)
        for item in range(8)
    ]
    return pl.DataFrame(rows)


def grid(**matrices: NDArray[Any]) -> pl.DataFrame:
    """Rows of matrices of queries times items, by column."""
    queries, items = next(iter(matrices.values())).shape
    ids = {
        "query": np.repeat(np.arange(queries), items),
        "item": np.tile(np.arange(items), queries),
    }
    return pl.DataFrame(ids | {name: matrix.ravel() for name, matrix in matrices.items()})


def lettered(models: dict[str, list[str]]) -> pl.DataFrame:
    """Lists of letters, nearest first, by query: without a blank between them they tie, in the
    order received; capitals are relevant.
    """
    return pl.DataFrame(
        [
            {"model": model, "query": f"q{query}", "item": letter.lower()}
            | {"distance": distance, "relevance": int(letter.isupper())}
            for model, lists in models.items()
            for query, letters in enumerate(lists)
            for distance, tie in enumerate(letters.split())
            for letter in tie
        ]
    )


def upside_down(*models: str) -> pl.DataFrame:
    """Scores of these models and of "turned", whose relevant items come last."""
    lists = dict.fromkeys(models, ["A B C d e f g h i j"] * 12)
    lists["turned"] = ["j i h g f e d C B A"] * 12
    return lettered(lists).select(pl.exclude("distance"), score=-1.0 * pl.col("distance"))


# "coarse" ties all four items; in the order received the relevant one comes first, as in a perfect
# list.
ACCIDENT = lettered({"coarse": ["Abcd"], "fine": ["b A c d"]})


def lists_that_lose(lost: dict[str, int], queries: int = 400) -> pl.DataFrame:
    """Lists of three items, whose relevant one is first in all but so many of the queries."""
    return pl.DataFrame(
        [
            {"model": model, "query": f"q{query:03}", "item": f"{name}{query}"}
            | {"distance": place, "relevance": int(name == "a")}
            for model, last in lost.items()
            for query in range(queries)
            for name, place in (("a", 3 if query < last else 1), ("b", 2), ("c", 4))
        ]
    )


@cache
def made_report(
    models: tuple[str, ...] = ("fine", "middle", "coarse"), title: str = "Retrieval report"
) -> Report:
    asked: Any = {"metrics": METRICS, "cutoffs": CUTOFFS}
    return report_contents(made_rankings(models), **asked, shuffles=20, title=title)
