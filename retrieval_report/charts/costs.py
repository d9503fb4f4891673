"""Draw scores against costs, and mark the models that no other beats at both."""

from __future__ import annotations

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.analysis.costs import COSTS
from retrieval_report.charts.channels import along, fixed_scale, keyed, texts, tooltips
from retrieval_report.charts.colours import BLUE, GREY, VERMILLION
from retrieval_report.charts.data import held, inline, nice_domain, of_policy, with_labels, with_tie_range
from retrieval_report.charts.lines import LETTER_HEIGHT, spread
from retrieval_report.charts.theme import WIDTH, empty_chart, finish, layered
from retrieval_report.contracts.checks import check_choice
from retrieval_report.writing.names import clean, joined, quoted
from retrieval_report.writing.numbers import number

HEIGHT, NAMED = 340, 16
ON, OFF = "no other model beats it", "another costs as little and scores as much"
NUMBERS = ("value", "tie_std", "lowest", "highest", "ci_low", "ci_high")


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
        Whether costs are drawn on a logarithmic axis; by default if all are above 0 and the largest is more than twenty
        times the smallest.

    Returns
    -------
    altair.Chart
        Dot: score; thin line: confidence interval over queries; thick line: the range over tie orders, or ±2 standard
        deviations if best and worst were not evaluated; steps: the front.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import summarise
    >>> from retrieval_report.stats import cost_table
    >>> scores = pl.DataFrame([
    ...     {"model": model, "query": query, "metric": "ndcg", "cutoff": 10, "policy": "expected", "value": value,
    ...      "std": 0.0, "items": 9, "n_relevant": 2}
    ...     for model, value in (("float32", 0.62), ("int8", 0.61), ("pq", 0.5)) for query in "pq"])
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
    rows, what = _prepared(here), clean(cost, 60)
    low, high = float(str(rows["amount"].min())), float(str(rows["amount"].max()))
    on_log = low > 0 and high > 20 * low if log is None else log and low > 0
    lines = [
        "dot: score; thin line: confidence interval over queries; thick line: range over tie orders;",
        "steps: the front, where no other model costs as little and scores as much",
    ]
    front = rows.filter("front")
    title = f"{front.height} of {rows.height} models are on the front of {where} against {what}"
    return finish(_drawn(rows, where, what, on_log), title, lines, _spoken(front, what))


def _prepared(rows: pl.DataFrame) -> pl.DataFrame:
    return with_tie_range(with_labels(rows)).with_columns(
        standing=pl.when("front").then(pl.lit(ON)).otherwise(pl.lit(OFF)),
        beaten_by=pl.Series([clean(name or "") if name else None for name in rows["beaten_by"]], dtype=pl.String),
    )


def _drawn(rows: pl.DataFrame, where: str, what: str, log: bool) -> alt.LayerChart:
    x = alt.X("amount:Q", title=what, scale=alt.Scale(type="log" if log else "linear", zero=False, nice=True))
    ends = nice_domain(rows, ["value", "ci_low", "ci_high", "tie_low", "tie_high"])
    colour = keyed(alt.Color, rows["standing"], {ON: BLUE, OFF: GREY}, labelLimit=320)
    amount = alt.Tooltip("amount:Q", title=what, format=",~f")
    tooltip = [*texts("model", "standing", "beaten_by"), amount, *tooltips(NUMBERS)]
    kept = ["model", "label", "standing", "beaten_by", "amount", "tie_low", "tie_high", *NUMBERS]
    base = alt.Chart(inline(rows.select(kept)))
    front = alt.Chart(inline(rows.filter("front").select("amount", "value")))
    value = alt.Y("value:Q", title=where, scale=fixed_scale(*ends))
    thin = base.mark_rule(strokeWidth=1.4, color=GREY)
    thick = base.mark_rule(strokeWidth=5, opacity=0.5, color=VERMILLION)
    layers = [
        front.mark_line(interpolate="step-after", strokeWidth=1.2, opacity=0.7, color=BLUE).encode(x=x, y=value),
        thin.encode(x=x, y=along(value, "ci_low"), y2="ci_high:Q", tooltip=tooltip),
        thick.encode(x=x, y=along(value, "tie_low"), y2="tie_high:Q", tooltip=tooltip),
        base.mark_point(filled=True, size=55, opacity=1).encode(x=x, y=value, color=colour, tooltip=tooltip),
    ]
    if rows.height <= NAMED:
        gap = (ends[1] - ends[0]) * LETTER_HEIGHT / HEIGHT
        apart = pl.Series("named_at", spread(rows["value"].to_list(), gap, *ends))
        names = alt.Chart(inline(rows.select("label", "amount", apart)))
        text = names.mark_text(align="left", dx=7, dy=-7, fontSize=11)
        layers.append(text.encode(x=x, y=along(value, "named_at"), text="label:N"))
    return layered(*layers).properties(width=WIDTH, height=HEIGHT)


def _spoken(front: pl.DataFrame, what: str) -> str:
    parts = [
        f"{quoted(row['model'])} scores {number(row['value'])} at {what} {row['amount']:g}"
        for row in front.head(6).iter_rows(named=True)
    ]
    return "On the front, from the cheapest: " + joined(parts)
