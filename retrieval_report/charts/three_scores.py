"""Draw the three scores of every model: expected, what random orders print, and naive; at one
cutoff, along the cutoffs, and how far the naive score is off at each.
"""

from __future__ import annotations

import altair as alt
import polars as pl
import polars.selectors as cs
from altair.typing import ChartType

from retrieval_report.charts.data import (
    SAME,
    at_measure,
    checked_frame,
    models_at,
    of_metric,
    with_labels,
)
from retrieval_report.charts.layers import (
    DOT,
    IN_CELL,
    IS_NARROW,
    STRONG,
    cutoff_axis,
    inline_rows,
    keyed,
    layer,
    layer_of_parent,
    number_axis,
    on_tile,
    row_axis,
    span,
    tiles,
    tooltips,
)
from retrieval_report.charts.theme import WIDTH, Said, chart, filled, finish, layered, row_chart
from retrieval_report.contracts.arguments import Named
from retrieval_report.engines.check_scores import CUTOFF_TEXT, at_cutoff
from retrieval_report.metrics.parsing import Cutoff, parse_measure
from retrieval_report.writing.colours import (
    BAND,
    BLUE,
    DRAWN,
    EXACT,
    LOOKS,
    PRINTED,
    SAMPLING,
    SKY,
    VERMILLION,
)
from retrieval_report.writing.names import clean, with_number

MAX_MODELS = 60  # rows, from the top
ROOMY_ROWS, ROOMY_STEP, TIGHT_STEP = 8, 31, 22  # pixels of a row: fewer models have more room
TIPS = "model expected tie_std order_low order_high lowest highest naive off_by orders expected_rank naive_rank"
MAX_PANELS, COLUMNS = 12, 4
PALE = 0.001  # an error this small has the strongest colour at most: what is written as 0 is pale
PANEL_WIDTH, PANEL_HEIGHT = 165, 78
PANEL_LETTERS = 20  # of a name above a panel
PANEL_TIPS = (
    "model k expected order_low order_high lowest highest naive off_by expected_rank naive_rank"
)
_RANKED = pl.col("expected").sort(descending=True, nulls_last=True)
# From every expected score to the next one, above or below, in whatever order the rows are.
NEXT_GAP = pl.min_horizontal(_RANKED.shift(1) - _RANKED, _RANKED - _RANKED.shift(-1)).gather(
    pl.col("expected").rank("ordinal", descending=True) - 1
)
IS_FAR = (
    pl.col("off_by").abs() > pl.max_horizontal(pl.col("gap").fill_null(0.0), pl.lit(SAME))
).fill_null(False)
WHEN_FILLED = "filled where off by more than the gap to the next model"
FILLED = alt.FillOpacityValue(0, condition={"test": "datum.far", "value": 1})
OTHER_RANK = "◆"  # on tiles: the naive order gives another rank there
NUMBER_MARK: Named = {"angle": 0, "dy": {"expr": f"{IS_NARROW} ? 2 : 0"}}
RANK_MARK: Named = {  # beside the number, or above it on a narrow screen
    "type": "text",
    "style": IN_CELL,
    "angle": 0,
    "text": OTHER_RANK,
    "fontSize": {"expr": f"{IS_NARROW} ? 5 : 9"},
    "dx": {"expr": f"{IS_NARROW} ? 0 : 24"},
    "dy": {"expr": f"{IS_NARROW} ? -9 : 0"},
}


@chart
def scores(
    three_scores: object,
    shuffled: object = None,
    summary: object = None,
    *,
    metric: object,
    cutoff: Cutoff = None,
    awaited: bool = False,
) -> ChartType:
    """Draw the three scores of every model at one cutoff, in the order of the table.

    Parameters
    ----------
    three_scores
        ``three_scores`` of a study.
    shuffled
        ``shuffled`` of it: the means under the orders drawn, as marks in the band.
    summary
        The result of :func:`summarise`: the intervals over queries.
    metric, cutoff
        A measure in it: ``"ndcg@10"``, or metric and cutoff; without a cutoff the whole list.
    awaited
        Whether orders are still to be drawn: they then have their place in the legend, so that the
        chart stays as high.

    Returns
    -------
    altair.Chart
        Dot: the expected score; band: what 90 % of random orders print, with a thin line to the
        lowest and highest of all orders (cut where it goes far beyond all other marks), and a
        stroke for every order drawn; diamond below: the naive score, filled where
        it is off by more than the gap to the next model; line below that: the interval
        over queries.

    Examples
    --------
    >>> import retrieval_report as rr
    >>> rankings = {
    ...     "query": ["q"] * 3,
    ...     "item": list("abc"),
    ...     "distance": [1, 1, 2],
    ...     "relevance": [1, 0, 0],
    ... }
    >>> study = rr.Study(rankings, "rr@2", truncated="no")
    >>> drawn = scores(study.three_scores, study.shuffled, study.summary, metric="rr@2")
    >>> drawn.to_dict()["title"]["text"]
    ['rr@2: expected, shuffled and naive']
    """
    rows, where = _models(three_scores, metric, cutoff)
    strokes = _strokes(shuffled, rows, metric, cutoff)
    sampling = _intervals(summary, rows, metric, cutoff)
    rows, frame = _within_reach(rows, strokes, sampling)
    cut = rows.filter(
        (pl.col("lowest") < pl.col("floor")) | (pl.col("highest") > pl.col("ceiling"))
    ).height
    # An axis without a domain has round ends, and a line that is cut would end before them.
    scale = alt.Scale(domain=frame) if cut else alt.Scale(zero=False)
    axis = alt.Axis(labelBound=True) if cut else alt.Undefined  # its ends may lie in a number
    x, y = number_axis(alt.X, where, scale=scale, axis=axis), row_axis(rows["label"])
    roomy = rows.height <= ROOMY_ROWS
    below = 9 if roomy else 6
    layers = {
        BAND: (rows, {"type": "bar", "size": 9, "opacity": 1}, ["order_low", "order_high"]),
        DRAWN: (strokes, {"type": "tick", "size": 9, "thickness": 1.4, "opacity": 0.9}, ["value"]),
        EXACT: (rows, {**DOT, "size": 60 if roomy else 40}, ["expected"]),
        PRINTED: (
            rows,
            {"type": "point", "shape": "diamond", "filled": True, "size": 42, "opacity": 1}
            | {"yOffset": below, "strokeWidth": 1.3, "stroke": VERMILLION},
            ["naive"],
        ),
        SAMPLING: (
            sampling,
            {"type": "rule", "strokeWidth": 1, "opacity": 0.8, "yOffset": below + 5},
            ["ci_low", "ci_high"],
        ),
    }
    used = [
        what
        for what, (part, _, (start, *_)) in layers.items()
        if start in part.columns and part[start].count()
    ]
    colour = keyed(
        pl.Series("what", [*used, *([DRAWN] if awaited else [])]),
        LOOKS,
        symbolType="square",
        symbolStrokeWidth=0,
    )
    ends = {"type": "rule", "strokeWidth": 1, "color": SKY, "opacity": 0.7}
    fill: Named = {"fillOpacity": FILLED, "detail": "far:N"}  # which keeps the column
    chart_layers = [span(rows, ends, x, "floor", "ceiling", tips=TIPS, y=y)]
    chart_layers += [
        span(
            part.with_columns(what=pl.lit(what)),
            mark,
            x,
            *at,
            color=colour,
            y=y,
            tips=" ".join(name for name in TIPS.split() if name in part.columns),
            **(fill if what == PRINTED else {}),
        )
        for what, (part, mark, at) in layers.items()
        if what in used
    ]
    text = f"blue line: lowest to highest of all orders{', cut at the frame' if cut else ''}"
    if rows.drop_nulls("naive").remove("far").height:
        text += f"; ◆: naive, {WHEN_FILLED}"
    step = ROOMY_STEP if roomy else TIGHT_STEP
    return finish(
        row_chart(chart_layers, rows.height, step=step),
        f"{where}: expected, shuffled and naive",
        text,
        rows,
        "expected",
        "naive",
        "tie_std",
    )


def _models(frame: object, metric: object, cutoff: Cutoff) -> tuple[pl.DataFrame, str]:
    """Return the models at a measure, each of several copies once, and the name of the measure."""
    rows, where = at_measure(frame, "three_scores", metric, cutoff)
    rows = rows.filter(pl.col("copy_of").is_null())
    scored = rows.filter(pl.any_horizontal(pl.col("expected", "naive").is_not_null()))
    scored = scored.with_columns(gap=NEXT_GAP).with_columns(far=IS_FAR)
    return with_labels(filled(scored, f"no model has a score for {where}").head(MAX_MODELS)), where


def _within_reach(rows: pl.DataFrame, *others: pl.DataFrame) -> tuple[pl.DataFrame, list[float]]:
    """Add ``floor`` and ``ceiling``, the range of all orders as far as it is drawn: it may be far
    wider than what any order ever prints, or than what tells the models apart. Return also the ends
    of the frame at which it is cut.
    """
    columns = "expected", "order_low", "order_high", "naive", "value", "ci_low", "ci_high"
    drawn = cs.by_name(*columns, require_all=False).cast(pl.Float64)
    parts = (part.select(drawn).unpivot(value_name="end") for part in (rows, *others))
    low, high = pl.concat(parts).select(low=pl.min("end"), high=pl.max("end")).row(0)
    room = (high - low or 1) / 20
    frame = [low - room, high + room]
    floor, ceiling = (pl.col(name).clip(*frame) for name in ("lowest", "highest"))
    return rows.with_columns(floor=floor, ceiling=ceiling), frame


def _strokes(shuffled: object, rows: pl.DataFrame, metric: object, cutoff: Cutoff) -> pl.DataFrame:
    """Return the drawn means of models whose score depends on tie order; none if the three scores
    are averaged in another way than they.
    """
    if shuffled is None or not len(shuffled):  # type: ignore[arg-type]
        return rows.clear()
    draws, _ = at_measure(shuffled, "shuffled", metric, cutoff)
    varies = rows.filter(pl.col("tie_std") > SAME, pl.col("orders") > 0).select("model", "label")
    return draws.join(varies, on="model", how="inner", maintain_order="left")


def _intervals(summary: object, rows: pl.DataFrame, metric: object, cutoff: Cutoff) -> pl.DataFrame:
    """Return the intervals over queries."""
    if summary is None:
        return rows.clear()
    ends = models_at(summary, metric, cutoff)[0].select("model", "ci_low", "ci_high")
    return rows.join(ends, on="model", how="inner", maintain_order="left")


@chart
def along_cutoffs(by_cutoff: object, *, metric: object, cutoff: Cutoff = None) -> ChartType:
    """Draw the three scores along the cutoffs, one small panel a model.

    Parameters
    ----------
    by_cutoff
        ``by_cutoff`` of a study, or its ``three_scores`` with several cutoffs of the metric.
    metric, cutoff
        The metric, and the cutoff at which the best model comes first (or a measure, such as
        ``"ndcg@10"``); without a cutoff the whole list.

    Returns
    -------
    altair.FacetChart
        Line: the expected score, dashed where lists may lack items; band: what 90 % of random
        orders print, within the pale range of all orders, which ends where the panel ends; dot: the
        naive score, filled where it is off by more than the gap to the next model. Up to twelve
        models; of more, the leaders and those whose rank tie order can change.

    Examples
    --------
    >>> import retrieval_report as rr
    >>> rankings = {
    ...     "query": ["q"] * 3,
    ...     "item": list("abc"),
    ...     "distance": [1, 1, 2],
    ...     "relevance": [1, 0, 0],
    ... }
    >>> study = rr.Study(rankings, "rr@1, rr@2", truncated="no")
    >>> along_cutoffs(study.three_scores, metric="rr").to_dict()["title"]["text"]
    ['rr along the cutoffs: expected, shuffled and naive']
    """
    rows, name = _curves(by_cutoff, metric, cutoff)
    panel_models = _worth_a_panel(rows)
    rest = _models_of(rows.remove(pl.col("model").is_in(panel_models)))
    rows = with_labels(rows.filter(pl.col("model").is_in(panel_models)), limit=PANEL_LETTERS)
    labels = rows["label"].unique(maintain_order=True).to_list()
    rows = _within_panels(rows)
    panels_chart = _panels(rows, labels)
    cut = rows["tie_std"].null_count()
    text = f"line: expected{', dashed where lists may lack items' if cut else ''}; band: 90% "
    text += f"of orders, paler: all{', and what cut lists lack' if cut else ''}; dot: naive, {WHEN_FILLED}"
    text += f"; not drawn: {with_number(rest, 'other model')}" if rest else ""
    last = rows.group_by("label", maintain_order=True).last()
    title = f"{name} along the cutoffs: expected, shuffled and naive"
    return finish(panels_chart, title, text, last, "expected", "naive")


def _curves(frame: object, metric: object, cutoff: Cutoff) -> tuple[pl.DataFrame, str]:
    """Return the rows of a metric by model and cutoff, with the gap to the next model; the models
    in their order at a cutoff, or at the first if there is none such.
    """
    name, depth = parse_measure(metric, cutoff)
    rows = of_metric(checked_frame(frame, "by_cutoff"), name)
    is_copy = pl.col("copy_of").is_not_null().all().over("model")  # at all cutoffs
    rows = rows.with_columns(copy_of=pl.when(is_copy).then("copy_of"))
    same_lists = pl.len().over("cutoff", pl.coalesce("copy_of", "model"))
    rows = rows.with_columns(same_lists=same_lists).filter(pl.col("copy_of").is_null())
    rows = rows.drop_nulls("expected")
    filled(rows, f"no model has an expected {clean(name, 60)}")
    filled(rows.filter(pl.n_unique("cutoff") > 1), f"{clean(name, 60)} has one cutoff")
    ranked = pl.concat([rows.filter(at_cutoff(depth)), rows])["model"].unique(maintain_order=True)
    by_rank = rows.sort("cutoff", "expected", descending=[False, True], nulls_last=True)
    by_rank = by_rank.with_columns(gap=NEXT_GAP.over("cutoff"), k=CUTOFF_TEXT)
    order = {model: place for place, model in enumerate(ranked)}
    place = pl.col("model").replace_strict(order, return_dtype=pl.Int64)
    return by_rank.sort(place, "cutoff", nulls_last=True, maintain_order=True), clean(name, 60)


def _models_of(rows: pl.DataFrame) -> int:
    """Return the number of models in rows of `_curves`, with those that have the same lists."""
    return int(rows.unique("model")["same_lists"].sum())


def _worth_a_panel(rows: pl.DataFrame) -> list[str]:
    """Return the models to draw: all, or the leaders and those that ties endanger."""
    models = rows["model"].unique(maintain_order=True).to_list()
    endangered = rows.filter("rank_can_change")["model"]
    first = dict.fromkeys([*models[: MAX_PANELS // 2], *endangered, *models])
    return sorted([*first][:MAX_PANELS], key=models.index)


def _within_panels(rows: pl.DataFrame) -> pl.DataFrame:
    """Add whether a naive score is ``far`` off; ``floor`` and ``ceiling``, the range of all
    orders as far as it is drawn: it may be far wider than what any order ever prints; and the
    parts of the line: ``solid``, and ``dashed`` from the last exact point to those that missing
    items may change. A part without a point would have no extent, which browsers warn of, so it
    has the first, alone, which draws nothing.
    """
    expected, naive = pl.col("expected"), pl.col("naive")
    low = pl.min_horizontal(expected, "order_low", naive).min().over("model")
    high = pl.max_horizontal(expected, "order_high", naive).max().over("model")
    room = (high - low) / 12
    cut = pl.col("tie_std").is_null()
    ends_in_cut = cut.shift(-1, fill_value=False) | cut.shift(fill_value=False)
    is_first = pl.int_range(pl.len()).over("model") == 0
    return rows.with_columns(
        solid=pl.when(~cut | (is_first & cut.all().over("model"))).then(expected),
        dashed=pl.when(is_first | cut | ends_in_cut.over("model")).then(expected),
        far=IS_FAR,
        floor=pl.max_horizontal("lowest", low - room),
        ceiling=pl.min_horizontal("highest", high + room),
    )


def _panels(rows: pl.DataFrame, labels: list[str]) -> alt.FacetChart:
    """Draw one panel per label: all panels are one chart, which is described once."""
    x = cutoff_axis(rows["k"], title=None, labelOverlap="greedy", grid=False)
    y = number_axis(
        alt.Y,
        None,
        axis=alt.Axis(tickCount=3, format=".3~f"),
        scale=alt.Scale(zero=False, nice=False),
    )
    area = {"type": "area", "color": SKY, "line": False}
    line = {"type": "line", "strokeWidth": 1.8, "color": BLUE}
    layers = [
        layer_of_parent({**area, "opacity": 0.13}, x=x, y=y("floor"), y2="ceiling:Q"),
        layer_of_parent({**area, "opacity": 0.45}, x=x, y=y("order_low"), y2="order_high:Q"),
        layer_of_parent(line, x=x, y=y("solid")),
        layer_of_parent({**line, "strokeDash": [3, 3]}, x=x, y=y("dashed")),
        layer_of_parent(
            {"type": "point", "size": 24, "opacity": 1, "color": VERMILLION, "strokeWidth": 1.3}
            | {"fill": VERMILLION},
            x=x,
            y=y("naive"),
            fillOpacity=FILLED,
            tooltip=tooltips(rows.select(PANEL_TIPS.split())),
        ),
    ]
    names = f"label solid dashed far floor ceiling {PANEL_TIPS}".split()
    header = alt.Header(
        title=None,
        labelAnchor="start",
        labelFontSize=11,
        labelPadding=4,
        labelLimit=PANEL_WIDTH,
    )
    return alt.FacetChart(
        data=inline_rows(rows.select(names)),
        spec=layered(layers, PANEL_WIDTH, PANEL_HEIGHT),
        facet=alt.Facet("label:N", sort=labels, header=header),
        columns=min(COLUMNS, len(labels)),
        spacing={"row": 14, "column": 18},
        resolve=alt.Resolve(scale={"y": "independent"}),
    )


def _points(value: float) -> str:
    """Return hundredths as text that fits a narrow tile."""
    return "0" if abs(value) < 0.005 else f"{value:+.2f}".replace("-", "−")


@chart
def off_by(by_cutoff: object, *, metric: object, cutoff: Cutoff = None) -> ChartType:
    """Draw how far the naive score is off, for every model and cutoff.

    Parameters
    ----------
    by_cutoff
        ``by_cutoff`` of a study, or its ``three_scores`` with several cutoffs of the metric.
    metric, cutoff
        One of its metrics, and the cutoff at which the best model comes first; without a cutoff the
        whole list.

    Returns
    -------
    altair.Chart
        Tiles: naive − expected in hundredths; a diamond where the naive order gives
        the model another rank. If no naive score is off, the chart is a sentence.

    Examples
    --------
    >>> import retrieval_report as rr
    >>> rankings = {
    ...     "query": ["q"] * 3,
    ...     "item": list("abc"),
    ...     "distance": [1, 1, 2],
    ...     "relevance": [1, 0, 0],
    ... }
    >>> study = rr.Study(rankings, "rr@1, rr@2", truncated="no")
    >>> off_by(study.three_scores, metric="rr").to_dict()["title"]["text"]
    ['rr: how far the naive score is off']
    """
    rows, name = _curves(by_cutoff, metric, cutoff)
    scored_rows = rows.drop_nulls("off_by")
    if not scored_rows.filter(pl.col("off_by").abs() > SAME).height:
        raise Said(f"No naive {name} is off.")
    scored_rows = scored_rows.with_columns(
        size=pl.col("off_by").abs(),
        text=(100 * pl.col("off_by")).map_elements(_points, pl.String),
        moved=pl.col("naive_rank") != pl.col("expected_rank"),
    )
    models = scored_rows["model"].unique(maintain_order=True)
    right = 0
    if models.len() > MAX_PANELS:  # rows of noughts would hide the others
        touched = (pl.col("text") != "0") | pl.col("moved")
        is_off = touched.any().over("model")
        off = scored_rows.filter(is_off)["model"].unique(maintain_order=True)
        if off.len():
            right, models = _models_of(scored_rows.remove(is_off)), off
    models = models.head(MAX_MODELS)
    scored_rows = with_labels(scored_rows.filter(pl.col("model").is_in(models.implode())))
    x = cutoff_axis(rows["k"], title="cutoff k", orient="top", domain=False, ticks=False)
    strongest = max(PALE, float(scored_rows["size"].max()))  # type: ignore[arg-type]
    colour = alt.Color(
        "size:Q", scale=alt.Scale(domain=[0, strongest], range="heatmap"), legend=None
    )
    y = row_axis(scored_rows["label"].unique(maintain_order=True))
    strong = STRONG * strongest
    layers = tiles(scored_rows, x, y, colour, strong, PANEL_TIPS, NUMBER_MARK)
    other_rank = scored_rows.filter("moved")
    ink = on_tile("size:Q", strong)
    layers.append(layer(other_rank, RANK_MARK, x=x, y=y, color=ink, detail="size:Q"))
    text = "naive − expected in hundredths"
    text += f"; {OTHER_RANK}: the naive order gives another rank" if other_rank.height else ""
    others = with_number(right, "other model")
    text += f"; not drawn: {others}, whose tiles round to 0" if right else ""
    spoken = scored_rows.sort("size", descending=True)
    rows_chart = row_chart(layers, models.len(), WIDTH, TIGHT_STEP + 2)
    return finish(rows_chart, f"{name}: how far the naive score is off", text, spoken, "off_by")
