"""Draw queries: which decide between two models, and their scores against each other, naive and
exact ones or those of two models.
"""

from __future__ import annotations

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.data import SAME, at_measure, with_labels
from retrieval_report.charts.layers import (
    RULE,
    keyed,
    layer,
    number_axis,
    row_axis,
    span,
)
from retrieval_report.charts.theme import chart, filled, finish, layered, row_chart
from retrieval_report.comparison.verdicts import first_that_holds
from retrieval_report.contracts.arguments import Named
from retrieval_report.engines.score_grid import DIGITS
from retrieval_report.metrics.parsing import Cutoff
from retrieval_report.writing.colours import BLUE, GREY, PINK, VERMILLION
from retrieval_report.writing.names import LABEL, clean, unique_labels, with_number

MOST_BARS = 40  # queries
SURE, OTHER_SIGN = "the difference", "it may have the other sign"
SIGN_COLOURS = {SURE: BLUE, OTHER_SIGN: VERMILLION}
BAR = {"type": "bar", "height": 10, "opacity": 0.75}
BAR_TIPS = (
    "query model_a model_b order value_a value_b difference lowest highest tie_std share decides"
)
TIPS = "model query lists naive expected naive_error lowest highest std"
PAIR_TIPS = "query lists value_a value_b difference lowest highest"
MAX_DOTS, GRID = 5000, 60
SIDE = 360
DOT_SIZE = 40  # of points where none stands for more lists than another
DOT_SIZES = [16, 250]  # of one list, which is still seen, and of the most
TOO_HIGH, TOO_LOW, RIGHT = "printed too high", "printed too low", "printed right"
OPEN = "not known: items may be missing"
COLOURS = {TOO_HIGH: VERMILLION, TOO_LOW: BLUE, RIGHT: GREY, OPEN: PINK}
UNSURE = "either may be ahead"
LINE = {"type": "rule", "strokeDash": [4, 3], "opacity": 0.7}


@chart
def deciding_queries(
    deciding: object,
    *,
    metric: object,
    cutoff: Cutoff = None,
) -> ChartType:
    """Draw the queries that decide between two models, the largest differences first.

    Parameters
    ----------
    deciding
        The result of :func:`retrieval_report.stats.deciding_queries`.
    metric, cutoff
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.

    Returns
    -------
    altair.Chart
        Bar: difference; line: its range over tie orders and, where lists are cut, missing items;
        the colour shows whether that includes both signs. Forty queries at most.

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
    >>> chart = deciding_queries(decide(scores, "a", "b"), metric="ap", cutoff=None)
    >>> chart.to_dict()["title"]["text"]
    ['Queries that decide between a and b at ap@all']
    """
    everything, where = at_measure(deciding, "deciding", metric, cutoff, expected=True)
    able = pl.any_horizontal(pl.col("difference", "lowest", "highest").abs().fill_null(0) > SAME)
    differing = filled(everything.filter(able), f"no query tells the two apart by {where}")
    rows = differing.head(MOST_BARS).with_columns(pl.col("query").cast(pl.String))
    rows = with_labels(rows, "query", "model_a", "model_b").with_columns(
        order=first_that_holds({OTHER_SIGN: pl.col("order_unsure").fill_null(False)}, SURE),
    )
    x = number_axis(alt.X, f"difference of {where}", scale=alt.Scale(zero=True))
    y = row_axis(rows["label"])
    layers = [
        layer(
            rows, BAR, BAR_TIPS, x=x("difference"), y=y, color=keyed(rows["order"], SIGN_COLOURS)
        ),
        span(rows, {**RULE, "color": GREY}, x, "lowest", "highest", y=y, tips=BAR_TIPS),
    ]
    name_a, name_b = (clean(everything[f"model_{side}"][0], LABEL) for side in "ab")
    missing = " and missing items" if rows["tie_std"].has_nulls() else ""
    text = (
        f"bar: {where} of {name_a} minus that of {name_b}; line: its range over tie "
        f"orders{missing}; {with_number(rows.height, 'largest difference')}, of "
        f"{with_number(differing.height, 'query')} that can tell the two apart; "
        f"{with_number(everything.height, 'query')} in all"
    )
    title = f"Queries that decide between {name_a} and {name_b} at {where}"
    return finish(row_chart(layers, rows.height, step=16), title, text, rows, "difference")


@chart
def query_scatter(
    queries: object,
    *,
    metric: object,
    cutoff: Cutoff = None,
) -> ChartType:
    """Draw the naive score of each query against its expected score.

    Parameters
    ----------
    queries
        The result of :func:`query_table`.
    metric, cutoff
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.

    Returns
    -------
    altair.Chart
        Equal points of one colour are drawn once, larger if there are more; of more than 5000
        distinct ones, those in a cell of a grid of 60 × 60 are drawn as the one that is furthest
        off. Lists whose missing items could change the score have a colour of their own. A page may
        read the rectangle that is dragged: the parameter ``brush``.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate
    >>> from retrieval_report.lists import query_table
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": list("ppqq"),
    ...         "item": list("abab"),
    ...         "distance": [1, 2, 3, 3],
    ...         "relevance": [1, 0, 1, 0],
    ...     }
    ... )
    >>> table = query_table(evaluate(rankings, metrics="rr", cutoffs=None))
    >>> query_scatter(table, metric="rr", cutoff=None).to_dict()["title"]["text"]
    ['Naive and expected rr@all of every list']
    """
    rows, where = at_measure(queries, "queries", metric, cutoff, "naive", "expected")
    error = pl.col("naive_error")
    rules = {
        OPEN: pl.col("truncated").fill_null(False),
        TOO_HIGH: error > SAME,
        TOO_LOW: error < -SAME,
    }
    return _scatter(
        rows.with_columns(side=first_that_holds(rules, RIGHT)),
        {"naive": f"{where} in the naive order", "expected": f"{where} expected"},
        keys=(COLOURS, "the score of a list is"),
        tips=TIPS,
        title=f"Naive and expected {where} of every list",
        how_to_read="below the diagonal the naive order prints more than is expected, above it less",
    )


@chart
def pair_scatter(
    deciding: object,
    *,
    metric: object,
    cutoff: Cutoff = None,
) -> ChartType:
    """Draw the expected scores of two models against each other, query by query.

    Parameters
    ----------
    deciding
        The result of :func:`deciding_queries`.
    metric, cutoff
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.

    Returns
    -------
    altair.Chart
        Points as in :func:`query_scatter`; a query is pink if the order of its ties, or items that
        may be missing, decide which of the two is ahead. The parameter ``brush`` is the rectangle
        that is dragged.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import evaluate
    >>> from retrieval_report.stats import deciding_queries
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "model": ["fine"] * 2 + ["tied"] * 2,
    ...         "query": ["p"] * 4,
    ...         "item": list("abab"),
    ...         "distance": [1, 2, 3, 3],
    ...         "relevance": [1, 0, 1, 0],
    ...     }
    ... )
    >>> queries = deciding_queries(evaluate(rankings, metrics="rr@2"), "fine", "tied")
    >>> pair_scatter(queries, metric="rr@2").to_dict()["title"]["text"]
    ['Every query by rr@2: fine and tied']
    """
    rows, where = at_measure(deciding, "deciding", metric, cutoff, expected=True)
    names = rows["model_a"][0], rows["model_b"][0]
    labels = unique_labels(pl.Series(names))
    first, second = (labels[name] for name in names)
    ahead = {f"{first} is ahead": BLUE, f"{second} is ahead": VERMILLION, "level": GREY}
    better = first_that_holds(
        {
            UNSURE: pl.col("order_unsure").fill_null(False),
            f"{first} is ahead": pl.col("difference") > SAME,
            f"{second} is ahead": pl.col("difference") < -SAME,
        },
        "level",
    )
    return _scatter(
        rows.with_columns(side=better, model=pl.lit("")),
        {"value_b": f"{where} of {second}", "value_a": f"{where} of {first}"},
        keys=({**ahead, UNSURE: PINK}, "of a query"),
        tips=PAIR_TIPS,
        title=f"Every query by {where}: {first} and {second}",
        how_to_read=f"above the diagonal {first} is ahead, below it {second}",
    )


def _scatter(
    rows: pl.DataFrame,
    titles: dict[str, str],
    *,
    keys: tuple[Named, str],
    tips: str,
    title: str,
    how_to_read: str,
) -> ChartType:
    """Draw points beside the diagonal, by two columns with the titles of their axes, in the colours
    of their sides; a page may read the rectangle that is dragged.
    """
    points = _points(rows, *titles)
    exact = alt.Scale(zero=False, nice=False)  # rounded ends would lie beyond 0 and 1
    (across, name), (up, title_b) = titles.items()
    x = number_axis(alt.X, name, scale=exact)
    y = number_axis(alt.Y, title_b, scale=exact)
    scores = pl.concat([points[across], points[up]])
    ends = pl.DataFrame({"from": [scores.min()], "to": [scores.max()]})
    brush = alt.param(name="brush", select=alt.IntervalSelectionConfig(type="interval"))
    sizes = [1, max(points["lists"])]
    legend = alt.Legend(values=sizes, format="d", symbolFillColor=GREY)
    scale = alt.Scale(zero=False, domain=sizes, range=DOT_SIZES)
    by_lists = alt.Size("lists:Q", title="at one point", scale=scale, legend=legend)
    dots = layer(
        points.sort("lists", descending=True, maintain_order=True),  # a small one hides no other
        {"type": "circle"},
        tips,
        x=x(across),
        y=y(up),
        color=keyed(points["side"], *keys),
        size=by_lists if points["lists"].n_unique() > 1 else alt.value(DOT_SIZE),
        opacity=alt.condition(brush, alt.value(0.7), alt.value(0.12)),
    )
    diagonal = layer(ends, LINE, x=x("from"), x2="to:Q", y=y("from"), y2="to:Q")
    chart = layered([diagonal, dots and dots.add_params(brush)], SIDE, SIDE)
    return finish(chart, title, how_to_read, points.rename({"query": "label"}), *titles)


def _points(rows: pl.DataFrame, x: str, y: str) -> pl.DataFrame:
    """Return one row per distinct point of a side (to 12 digits), or per grid cell if there are
    many: that of the query furthest off the diagonal, with the number of lists there.
    """
    texts = pl.col("model", "query").cast(pl.String).map_elements(clean, return_dtype=pl.String)
    off = (pl.col(x) - pl.col(y)).abs()
    rows = rows.with_columns(texts).sort(off, "model", "query", descending=[True, False, False])
    cells = pl.col(x, y).round(DIGITS)
    if rows.select(cells).n_unique() > MAX_DOTS:
        step = (
            rows.select(pl.max_horizontal(cells).max() - pl.min_horizontal(cells).min()) / GRID
        ).item()
        cells = (cells / step).floor()
    cells = cells.name.suffix("_cell")
    return rows.group_by("side", cells, maintain_order=True).agg(pl.all().first(), lists=pl.len())
