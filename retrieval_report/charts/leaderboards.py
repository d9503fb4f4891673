"""Draw models by score, with the effect of tie order and sampling on each: by rank, and against
their costs.
"""

from __future__ import annotations

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.channels import along, keyed, nice_scale, row_axis, texts, tooltips
from retrieval_report.charts.colours import BLUE, GREY, VERMILLION
from retrieval_report.charts.data import held, inline, of_policy, with_labels, with_tie_range
from retrieval_report.charts.lines import apart
from retrieval_report.charts.theme import HEIGHT, WIDTH, empty_chart, finish, layered, row_chart
from retrieval_report.comparison.costs import COSTS
from retrieval_report.comparison.leaderboard import LEADERBOARD, rank_range
from retrieval_report.contracts.arguments import check_whole
from retrieval_report.contracts.checks import check_choice
from retrieval_report.writing.names import clean, joined, quoted
from retrieval_report.writing.numbers import number

STEP = 18
NUMBERS = ("value", "tie_std", "lowest", "highest", "ci_low", "ci_high")
ENDS = ("value", "ci_low", "ci_high", "tie_low", "tie_high")
NAMED = 16
ON, OFF = "no other model beats it", "another costs as little and scores as much"


def leaderboard(
    board: object,
    *,
    metric: object,
    cutoff: int | str | None = None,
    policy: str = "expected",
    most: int = 60,
) -> ChartType:
    """Draw models, best first, with score, interval, tie range and ranks.

    Parameters
    ----------
    board
        The result of :func:`retrieval_report.leaderboard`.
    metric, cutoff, policy
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.
    most
        How many models to draw, from the top.

    Returns
    -------
    altair.Chart
        Dot: score; thin line: confidence interval over queries; thick line: the range over tie
        orders, or ±2 standard deviations if best and worst were not evaluated. On the right: the
        ranks under tie order, and those that the tests over the queries leave open.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import leaderboard as rank
    >>> scores = pl.DataFrame(
    ...     [
    ...         {
    ...             "model": model,
    ...             "query": f"q{number}",
    ...             "metric": "ap",
    ...             "cutoff": None,
    ...             "policy": "expected",
    ...             "value": value + number / 90,
    ...             "std": 0.0,
    ...             "items": 9,
    ...             "n_relevant": 2,
    ...         }
    ...         for model, value in (("a", 0.5), ("b", 0.2))
    ...         for number in range(9)
    ...     ]
    ... )
    >>> leaderboard(rank(scores), metric="ap", cutoff=None).to_dict()["title"]["text"]
    ['a leads at ap@all, and every other model differs significantly from it']
    """
    check_whole("most", most, 1)
    frame = held(board, LEADERBOARD, "board", "leaderboard")
    if frame is None:
        return empty_chart("there are no models to rank")
    rows, where = of_policy(frame, metric, cutoff, policy)
    rows = rows.filter(pl.col("value").is_not_null())
    if not rows.height:
        return empty_chart("no query has a score of every model")
    drawn = with_labels(_prepared(rows.head(most)))
    lines = [
        (
            "dot: score; thin line: 95% confidence interval over queries, not adjusted for the number "
            "of models;"
        ),
        "thick line: range over tie orders;",
        "ranks: "
        + "under tie order | " * (rows["tie_rank_low"].count() > 0)
        + "left open by the tests over queries",
    ]
    if rows.height > most:
        lines.append(f"the best {most} of {rows.height} models")
    return finish(_drawn(drawn, where), _title(rows, where), lines, _spoken(rows))


def _prepared(rows: pl.DataFrame) -> pl.DataFrame:
    """Add the ends of the thick line, and the text on the right."""
    tie, query = (rank_range(source).fill_null("–") for source in ("tie", "query"))
    ranks = pl.format("{} | {}", tie, query) if rows["tie_rank_low"].count() else query
    return with_tie_range(rows).with_columns(ranks=ranks)


def _drawn(rows: pl.DataFrame, where: str) -> alt.LayerChart:
    y = row_axis(rows["label"], grid=False)
    x = alt.X("value:Q", title=where, scale=nice_scale(*rows.select(ENDS)))
    tooltip = [*texts("model", "ranks"), *tooltips(NUMBERS)]
    kept = ["label", "model", "ranks", "tie_low", "tie_high", *NUMBERS]
    base = alt.Chart(inline(rows.select(kept)))
    thin = base.mark_rule(strokeWidth=1.4, color=GREY)
    thick = base.mark_rule(strokeWidth=5, opacity=0.55, color=VERMILLION)
    dot = base.mark_point(filled=True, size=44, opacity=1, color=BLUE)
    layers = [
        thin.encode(x=along(x, "ci_low"), x2="ci_high:Q", y=y, tooltip=tooltip),
        thick.encode(x=along(x, "tie_low"), x2="tie_high:Q", y=y, tooltip=tooltip),
        dot.encode(x=x, y=y, tooltip=tooltip),
    ]
    layers.append(
        base.mark_text(align="left", fontSize=11).encode(
            x=alt.value(WIDTH + 12), y=y, text="ranks:N"
        )
    )
    return row_chart(layers, rows.height, STEP)


def _title(rows: pl.DataFrame, where: str) -> str:
    first = rows.row(0, named=True)
    level = first["query_rank_high"] - 1
    if rows.height == 1:
        return f"{quoted(first['model'])} is the only model at {where}"
    rest = (
        f"{level} of {rows.height - 1} others {'does' if level == 1 else 'do'} not differ "
        "significantly from it"
    )
    if level == 0:
        rest = "and every other model differs significantly from it"
    return f"{quoted(first['model'])} leads at {where}, {rest if level == 0 else 'but ' + rest}"


def _spoken(rows: pl.DataFrame) -> str:
    parts = []
    for row in rows.head(4).iter_rows(named=True):
        ranks = (
            ""
            if row["tie_rank_low"] is None
            else f", ranks {row['tie_rank_low']} to {row['tie_rank_high']} by ties"
        )
        parts.append(f"{quoted(row['model'])} {number(row['value'])}{ranks}")
    return f"{rows.height} models, from the best: " + joined(parts)


def costs(
    table: object,
    *,
    metric: object,
    cutoff: int | str | None = None,
    policy: str = "expected",
    cost: str | None = None,
    log: bool | None = None,
) -> ChartType:
    """Draw score against cost, each model with its tie range and interval.

    Parameters
    ----------
    table
        The result of :func:`retrieval_report.stats.cost_table`.
    metric, cutoff, policy
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.
    cost
        The kind of cost; by default the first.
    log
        Whether costs are drawn on a logarithmic axis; by default if all are above 0 and the largest
        is more than twenty times the smallest.

    Returns
    -------
    altair.Chart
        Dot: score; thin line: confidence interval over queries; thick line: the range over tie
        orders, or ±2 standard deviations if best and worst were not evaluated; steps: the front.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import summarise
    >>> from retrieval_report.stats import cost_table
    >>> scores = pl.DataFrame(
    ...     [
    ...         {
    ...             "model": model,
    ...             "query": query,
    ...             "metric": "ndcg",
    ...             "cutoff": 10,
    ...             "policy": "expected",
    ...             "value": value,
    ...             "std": 0.0,
    ...             "items": 9,
    ...             "n_relevant": 2,
    ...         }
    ...         for model, value in (("float32", 0.62), ("int8", 0.61), ("pq", 0.5))
    ...         for query in "pq"
    ...     ]
    ... )
    >>> table = cost_table(summarise(scores), {"float32": 3072, "int8": 768, "pq": 800})
    >>> costs(table, metric="ndcg", cutoff=10).to_dict()["title"]["text"]
    ['2 of 3 models are on the front of ndcg@10 against cost']
    """
    frame = held(table, COSTS, "table", "cost_table")
    if frame is None:
        return empty_chart("there are no models with a cost")
    kinds = list(dict.fromkeys(frame["cost"]))
    cost = kinds[0] if cost is None else cost
    check_choice("cost", cost, kinds)
    here, where = of_policy(frame.filter(cost=cost), metric, cutoff, policy)
    rows, what = _with_front(here), clean(cost, 60)
    low, high = float(str(rows["amount"].min())), float(str(rows["amount"].max()))
    on_log = low > 0 and high > 20 * low if log is None else log and low > 0
    lines = [
        (
            "dot: score; thin line: confidence interval over queries; thick line: range over tie "
            "orders;"
        ),
        "steps: the front, where no other model costs as little and scores as much",
    ]
    front = rows.filter("front")
    title = f"{front.height} of {rows.height} models are on the front of {where} against {what}"
    return finish(
        _against_costs(rows, where, what, on_log), title, lines, _spoken_front(front, what)
    )


def _with_front(rows: pl.DataFrame) -> pl.DataFrame:
    return with_tie_range(with_labels(rows)).with_columns(
        standing=pl.when("front").then(pl.lit(ON)).otherwise(pl.lit(OFF)),
        beaten_by=pl.Series(
            [clean(name or "") if name else None for name in rows["beaten_by"]], dtype=pl.String
        ),
    )


def _against_costs(rows: pl.DataFrame, where: str, what: str, log: bool) -> alt.LayerChart:
    x = alt.X(
        "amount:Q",
        title=what,
        scale=alt.Scale(type="log" if log else "linear", zero=False, nice=True),
    )
    colour = keyed(alt.Color, rows["standing"], {ON: BLUE, OFF: GREY}, labelLimit=320)
    amount = alt.Tooltip("amount:Q", title=what, format=",~f")
    tooltip = [*texts("model", "standing", "beaten_by"), amount, *tooltips(NUMBERS)]
    kept = ["model", "label", "standing", "beaten_by", "amount", "tie_low", "tie_high", *NUMBERS]
    base = alt.Chart(inline(rows.select(kept)))
    front = alt.Chart(inline(rows.filter("front").select("amount", "value")))
    value = alt.Y("value:Q", title=where, scale=nice_scale(*rows.select(ENDS)))
    thin = base.mark_rule(strokeWidth=1.4, color=GREY)
    thick = base.mark_rule(strokeWidth=5, opacity=0.5, color=VERMILLION)
    layers = [
        front.mark_line(interpolate="step-after", strokeWidth=1.2, opacity=0.7, color=BLUE).encode(
            x=x, y=value
        ),
        thin.encode(x=x, y=along(value, "ci_low"), y2="ci_high:Q", tooltip=tooltip),
        thick.encode(x=x, y=along(value, "tie_low"), y2="tie_high:Q", tooltip=tooltip),
        base.mark_point(filled=True, size=55, opacity=1).encode(
            x=x, y=value, color=colour, tooltip=tooltip
        ),
    ]
    if rows.height <= NAMED:
        names = alt.Chart(inline(rows.select("label", "amount", apart(rows["value"], value))))
        text = names.mark_text(align="left", dx=7, dy=-7, fontSize=11)
        layers.append(text.encode(x=x, y=along(value, "named_at"), text="label:N"))
    return layered(*layers).properties(width=WIDTH, height=HEIGHT)


def _spoken_front(front: pl.DataFrame, what: str) -> str:
    parts = [
        f"{quoted(row['model'])} scores {number(row['value'])} at {what} {row['amount']:g}"
        for row in front.head(6).iter_rows(named=True)
    ]
    return "On the front, from the cheapest: " + joined(parts)
