"""Draw how much the distances of every model tie, and where cutoffs split ties."""

from __future__ import annotations

import altair as alt
import polars as pl
from altair.typing import ChartType

from retrieval_report.charts.data import checked_frame, with_labels
from retrieval_report.charts.layers import (
    DOT,
    RULE,
    STRONG,
    cutoff_axis,
    keyed,
    layer,
    left_out,
    number_axis,
    row_axis,
    span,
    tiles,
)
from retrieval_report.charts.theme import chart, finish, row_chart
from retrieval_report.contracts.registry import title_of
from retrieval_report.engines.check_scores import CUTOFF_TEXT
from retrieval_report.writing.colours import BLUE, GREY, VERMILLION

WIDTH, COLUMN = 250, 34
ENDED = "end"  # instead of a number
MAX_MODELS = 20  # models, those whose ties are cut most
SIZES = {"tie_median": BLUE, "tie_p90": GREY, "tie_max": VERMILLION}
TIPS = (
    "model k cut_share mixed_share ends_in_cut_tie tied_items mixed_items near_ties queries "
    "tie_median tie_p90 tie_max items distances bits"
)


@chart
def profile(profile: object) -> ChartType:
    """Draw how large ties are, and for how many queries a cutoff splits one.

    Parameters
    ----------
    profile
        The result of :func:`tie_profile`.

    Returns
    -------
    altair.Chart
        Two panels, with the models whose ties the cutoffs split most at the top: size of the ties
        (at the largest cutoff), and share of queries whose cutoff is inside a tie.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import tie_profile
    >>> rankings = pl.DataFrame(
    ...     {
    ...         "query": ["q"] * 4,
    ...         "item": list("abcd"),
    ...         "distance": [0, 2, 2, 5],
    ...         "relevance": [0, 1, 0, 1],
    ...     }
    ... )
    >>> profile(tie_profile(rankings, cutoffs=(1, 2))).to_dict()["title"]["text"]
    ['Ties, and the cutoffs that split them']
    """
    frame = checked_frame(profile, "profile")
    worst = pl.mean("cut_share").over("model")
    order = frame.sort(worst, "model", descending=[True, False], maintain_order=True)
    models = order["model"].unique(maintain_order=True)
    profile_rows = order.filter(pl.col("model").is_in(models.head(MAX_MODELS).to_list()))
    rows = with_labels(profile_rows).with_columns(k=CUTOFF_TEXT)
    labels = rows["label"].unique(maintain_order=True).to_list()
    percent = pl.format("{}", (100 * pl.col("cut_share")).round().cast(pl.Int64))
    ended = pl.col("cutoff").ge(pl.col("items")) & pl.col("cut_share").eq(0)
    text = pl.when(ended).then(pl.lit(ENDED)).otherwise(percent)
    cut = rows.drop_nulls("cutoff").with_columns(text=text)
    panels = [_sizes(rows, labels), *([_cuts(cut, labels)] if cut.height else [])]
    panels_chart: alt.ConcatChart = alt.concat(*panels, columns=2, spacing=26).resolve_scale(
        color="independent"
    )
    how = (
        "ties: items of a list with the same distance or score; if a cutoff splits one, chance "
        "decides which of them count; lists that end before the cutoff count as not split"
    )
    if ENDED in cut["text"]:
        how += f"; {ENDED}: at least half of the lists have no more than k items, and k splits no tie of the others"
    how += left_out("other models", models[MAX_MODELS:])
    return finish(
        panels_chart,
        "Ties, and the cutoffs that split them",
        how,
        rows.sort("cut_share", "model", descending=[True, False]),
        "cut_share",
        "tie_max",
    )


def _sizes(rows: pl.DataFrame, labels: list[str]) -> alt.LayerChart:
    """Draw median, 90th percentile and largest tie on one line."""
    widest = rows.sort("cutoff", nulls_last=True).group_by("label", maintain_order=True).last()
    widest = widest.filter(pl.col("tie_median") > 0)
    whole, deepest = rows.select(pl.col("cutoff").has_nulls(), pl.max("cutoff").alias("k")).row(0)
    reach = "whole list" if whole else f"top {deepest}"
    x = number_axis(alt.X, f"items in a tie, {reach}", scale=alt.Scale(type="log", domainMin=1))
    y = row_axis(labels)
    titles = {title_of(name): colour for name, colour in SIZES.items()}
    looks = keyed(pl.Series("size", list(titles)), titles, columns=1)
    layers = [span(widest, {**RULE, "color": GREY}, x, "tie_median", "tie_max", y=y)]
    layers += [
        layer(
            widest.with_columns(size=pl.lit(title_of(name))),
            DOT,
            TIPS,
            x=x(name),
            y=y,
            color=looks,
        )
        for name in SIZES
    ]
    return row_chart(layers, len(labels), WIDTH)


def _cuts(rows: pl.DataFrame, labels: list[str]) -> alt.LayerChart:
    """Draw one tile per model and cutoff."""
    cutoffs = [str(cutoff) for cutoff in rows["cutoff"].unique().sort()]
    x = cutoff_axis(cutoffs, ticks=False, domain=False, labelPadding=6)
    x = x.title("k splits a tie, % of queries")
    colour = alt.Color("cut_share:Q", legend=None, scale=alt.Scale(domain=[0, 1], range="ramp"))
    layers = tiles(rows, x, row_axis(labels), colour, STRONG, TIPS)
    return row_chart(layers, len(labels), max(COLUMN * len(cutoffs), WIDTH))
