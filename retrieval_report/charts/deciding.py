"""Draw the difference of two models query by query, and how tie order could change it."""

from __future__ import annotations

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import along, keyed, row_axis, texts, tooltips
from retrieval_report.charts.colours import BLUE, GREY, VERMILLION
from retrieval_report.charts.data import SAME, held, inline, of_policy, with_labels
from retrieval_report.charts.theme import empty_chart, finish, row_chart
from retrieval_report.comparison.queries import DECIDING
from retrieval_report.contracts.arguments import check_whole
from retrieval_report.writing.names import clean, joined, quoted
from retrieval_report.writing.numbers import size

STEP = 16
SURE, UNSURE = "the difference", "could change its sign in another tie order"
NUMBERS = ("value_a", "value_b", "difference", "lowest", "highest", "tie_std", "share")


def deciding_queries(
    deciding: object,
    *,
    metric: object,
    cutoff: int | str | None = None,
    policy: str = "expected",
    most: int = 40,
) -> ChartType:
    """Draw the queries that decide between two models, the largest differences first.

    Parameters
    ----------
    deciding
        The result of :func:`retrieval_report.stats.deciding_queries`.
    metric, cutoff, policy
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.
    most
        How many queries to draw.

    Returns
    -------
    altair.Chart
        Bar: difference; line: its range over tie orders; the colour shows whether that includes
        both signs.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report.stats import deciding_queries as decide
    >>> scores = pl.DataFrame(
    ...     [
    ...         {
    ...             "model": model,
    ...             "query": f"q{number}",
    ...             "metric": "ap",
    ...             "cutoff": None,
    ...             "policy": "expected",
    ...             "value": value,
    ...             "std": 0.0,
    ...             "items": 9,
    ...             "n_relevant": 2,
    ...         }
    ...         for model, column in {"a": [0.9, 0.5, 0.4], "b": [0.2, 0.5, 0.5]}.items()
    ...         for number, value in enumerate(column)
    ...     ]
    ... )
    >>> deciding_queries(decide(scores, "a", "b"), metric="ap", cutoff=None).to_dict()["title"][
    ...     "text"
    ... ]
    ['Without 1 of 3 queries a would not be ahead of b at ap@all']
    """
    check_whole("most", most, 1)
    frame = held(deciding, DECIDING, "deciding", "deciding_queries")
    if frame is None:
        return empty_chart("no query has a score of both models")
    rows, where = of_policy(frame, metric, cutoff, policy)
    one, other = rows["model_a"][0], rows["model_b"][0]
    bounded = rows["lowest"].count() > 0
    unsure = rows.filter("order_unsure").height
    lines = [f"bar: {where} of {quoted(one)} minus that of {quoted(other)}"]
    lines += ["line: its range over tie orders"] * bounded
    lines += [f"{unsure} of {rows.height} queries could change sign by tie order alone"] * bounded
    moved = rows.filter(
        (pl.col("difference").abs() > SAME) | (pl.col("highest") - pl.col("lowest") > SAME)
    )
    level = rows.height - moved.height
    if moved.height > most:
        lines.append(f"the {most} largest of {moved.height} differences")
    if level:
        lines.append(
            f"{level} quer{'y has' if level == 1 else 'ies have'} no difference, whatever the tie "
            "order"
        )
    shown = (moved if moved.height else rows).head(most)
    return finish(_drawn(_prepared(shown), where), _title(rows, where), lines, _spoken(rows))


def _prepared(rows: pl.DataFrame) -> pl.DataFrame:
    names = with_labels(rows.select(pl.col("query").cast(pl.String)), column="query")
    return rows.with_columns(
        query=names["query"],
        label=names["label"],
        model_a=pl.lit(clean(rows["model_a"][0])),
        model_b=pl.lit(clean(rows["model_b"][0])),
        order=pl.when(pl.col("order_unsure").fill_null(False))
        .then(pl.lit(UNSURE))
        .otherwise(pl.lit(SURE)),
    )


def _drawn(rows: pl.DataFrame, where: str) -> alt.LayerChart:
    y = row_axis(rows["label"], grid=False)
    colour = keyed(alt.Color, rows["order"], {SURE: BLUE, UNSURE: VERMILLION}, labelLimit=420)
    tooltip = [*texts("query", "model_a", "model_b", "order"), *tooltips(NUMBERS)]
    base = alt.Chart(
        inline(rows.select("label", "query", "model_a", "model_b", "order", "decides", *NUMBERS))
    )
    x = alt.X("difference:Q", title=f"difference of {where}")
    layers = [base.mark_bar(height=8, opacity=0.75).encode(x=x, y=y, color=colour, tooltip=tooltip)]
    if rows["lowest"].count():
        line = base.mark_rule(strokeWidth=1.6, color=GREY)
        layers.append(line.encode(x=along(x, "lowest"), x2="highest:Q", y=y, tooltip=tooltip))
    return row_chart(layers, rows.height, STEP)


def _title(rows: pl.DataFrame, where: str) -> str:
    total = rows["difference"].sum()
    one, other = quoted(rows["model_a"][0]), quoted(rows["model_b"][0])
    fewest = rows.filter("decides").height
    if fewest == 0:
        return f"{one} and {other} are level at {where}"
    if total < 0:
        one, other = other, one
    return (
        f"Without {fewest} of {rows.height} queries {one} would not be ahead of {other} at {where}"
    )


def _spoken(rows: pl.DataFrame) -> str:
    parts = [
        f"{quoted(str(row['query']))} {size(row['difference'], sign='+')}"
        + (", unsure" if row["order_unsure"] else "")
        for row in rows.head(4).iter_rows(named=True)
    ]
    return f"{rows.height} queries, the largest differences: " + joined(parts)
