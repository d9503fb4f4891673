"""Show frames as tables on the page, with the digits of the report, and names as plain text."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import polars as pl
import streamlit as st

import retrieval_report as rr
from chart_display import Drawer, show_chart
from records import OpenedData
from retrieval_report.contracts.arguments import Named, number_text
from retrieval_report.contracts.columns import Column
from retrieval_report.contracts.registry import column
from retrieval_report.engines.check_scores import join_left
from retrieval_report.study.caveats import uneven_lengths
from retrieval_report.study.leaderboard_rows import leaderboard_of
from retrieval_report.study.terminal import ESTIMATE
from retrieval_report.study.three_tables import copies_text
from retrieval_report.writing.names import EQUALS, LABEL, OR, unique_labels, with_number
from retrieval_report.writing.numbers import (
    DECIMALS,
    chance_text,
    column_decimals,
    decimals,
    number,
    size,
)
from text import plain

PAIRS = (
    "verdict policy model_a model_b difference p_tie family_p value_a value_b ci_low ci_high "
    "tie_std wins ties losses"
)
LISTED = 1000  # rows of a table and of a menu; every other query can be typed
ITEMS = 1000
LETTER, MARGIN, MOST_OF_NAME = 7, 24, 390  # pixels of a letter, around a text, and of a name
SHOWN_ROWS = 16  # of a table, before it scrolls
# In pixels; long names would push the scores out of sight.
COLUMN_PIXELS = {"query": 180, "model": 165, "order_unsure": 112, "decides": 72}
NAME_LETTERS = 30  # of a model, where its column has no width of its own
QUERY_LETTERS = 23  # of a query in such a table
MANY_COMPARISONS = 100_000  # of long names of queries with others, beyond which they are only cut
NAMES = ("model", "model_a", "model_b", "winner", "naive_winner", "overall_winner", "baseline")
FITTED = (*NAMES, "query", "item")  # columns that are no wider than their texts
IN_FULL = "names_in_full"  # the last column of the leaderboard, where a name is shortened
DIGITS_OF = {  # columns that are compared have as many digits
    "naive": "expected naive",  # and those that tell its own ranks apart
    "off_by": "expected",
    "baseline_value": "value",
    "value_b": "value_a",
    **dict.fromkeys(("prints_low", "prints_high", "exact"), "prints"),
}
WHOLE = ("distance", "score")  # of one system, all of which may be whole numbers
WIDTHS = {
    "verdict": 170,
    "call": 190,
    "interval": 118,
}  # in pixels, because a verdict that is cut off says nothing
FORMATS = {
    "share": "%.1f%%",
    "tenth": "%.1f",
    "count": "%d",
    "amount": "%.6g",  # of other units in every row
}  # of floats
ALONE = ("_std", "_se", "_low", "_high")  # not compared with each other, so they need not differ
# In longer tables, some two numbers are always close.
MAX_ROWS, MAX_DECIMALS = 60, 6


def frame_table(
    frame: pl.DataFrame,
    *,
    of: str = "",
    show: str = "",
    widths: Mapping[str, int] = WIDTHS,
    alt: str | None = None,
    key: str | None = None,
    on_select: Callable[[Named], None] | None = None,
    row_height: int | None = None,
    most_rows: int = SHOWN_ROWS,
    in_full: bool = False,
    selection_mode: str = "",
) -> pl.DataFrame:
    """Show a frame; if its kind is named, only these
    columns, with titles, except those that are all null.

    Shares are percentages, probabilities are texts, as in the report. ``widths`` holds widths of
    columns in pixels; ``in_full`` adds a column of the models' whole names if one is shortened.
    With ``on_select`` and a ``key``, one row can be chosen; the function takes it, with all columns
    of the frame. With a ``selection_mode`` and a ``key``, the chosen rows are returned.
    """
    names = [
        name
        for name in show.split() or frame.columns
        if name in frame.columns and (not of or frame[name].count())
    ]
    letters = LABEL if "model" in widths else NAME_LETTERS
    short_frame = with_short_names(frame, names, letters) if of else frame
    if "query" in widths and "query" in names:
        short_frame = with_short_queries(short_frame)
    columns = []
    texts: dict[str, Callable[[float], str]] = {}
    for name in names:
        like = [other for other in DIGITS_OF.get(name, name).split() if other in names]
        compared = [frame[other] for other in like or [name]]
        estimates = frame["estimates"].list.contains(name) if "estimates" in frame.columns else None
        width = widths.get(name)
        if name in FITTED:
            fitting = _name_width(short_frame[name])
            width = fitting if width is None else min(width, fitting)
        columns.append(_column(of, short_frame[name], width, compared, texts, estimates))
    if in_full and not short_frame["model"].equals(frame["model"]):
        whole = frame["row_models"].list.join(EQUALS) if "row_models" in frame else frame["model"]
        columns.append((whole.alias(IN_FULL), st.column_config.Column("Name in full")))
    more: Named = {}
    if key is not None:  # other rows have another table, in which none is chosen
        rows = frame.select(name for name in ("query", *NAMES) if name in frame.columns).rows()
        key = f"{key} {hash(tuple(rows))}"
    if selection_mode:
        more = {"on_select": "rerun", "selection_mode": selection_mode}
    if on_select is not None:

        def take() -> None:
            for number in st.session_state[str(key)]["selection"]["rows"]:
                on_select(frame.row(number, named=True))

        more = {"on_select": take, "selection_mode": "single-row"}
    table = pl.DataFrame([values for values, _ in columns])
    if texts:  # the values stay numbers, so that the browser sorts them
        table = table.to_pandas().style.format(texts, na_rep="–")
    event: Any = st.dataframe(
        table,
        hide_index=True,
        column_config={values.name: config for values, config in columns},
        alt=alt,
        key=key,
        placeholder="–",
        row_height=row_height,
        height=table_height(len(frame), row_height, most_rows),
        **more,
    )
    return frame[event["selection"]["rows"]] if selection_mode else frame.clear()


def _name_width(names: pl.Series) -> int:
    """Return the pixels of a column of names, which the browser would fit to its first rows."""
    longest = max(names.cast(pl.String).str.len_chars().drop_nulls(), default=0)
    return min(LETTER * max(int(longest), len(names.name)) + MARGIN, MOST_OF_NAME)


def with_short_names(
    frame: pl.DataFrame, names: Sequence[str], letters: int = NAME_LETTERS
) -> pl.DataFrame:
    """Return a frame with labels in place of the names of models, which differ where names do.
    Copies of a model are named by what tells them from it.
    """
    of_models = [name for name in names if name in NAMES and frame[name].dtype == pl.String]
    if not of_models or frame.is_empty():
        return frame
    groups = frame["row_models"].to_list() if "row_models" in frame.columns else []
    texts = {
        text: [part.split(EQUALS) for part in text.split(OR)]
        for column in of_models
        for text in frame[column].drop_nulls()
    }
    names_present = [name for parts in texts.values() for part in parts for name in part]
    firsts = [first for first, *_ in groups] if groups else names_present
    labels = unique_labels(firsts, letters)
    if groups:
        copies = [copies_text(labels[first], [first, *more]) for first, *more in groups]
        return frame.with_columns(pl.Series("model", copies))
    short_texts = {
        text: OR.join(EQUALS.join(labels[name] for name in part) for part in parts)
        for text, parts in texts.items()
    }
    return frame.with_columns(
        pl.col(of_models).replace_strict(short_texts, default=None, return_dtype=pl.String)
    )


def with_short_queries(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with labels in place of long names of queries, which differ where they do."""
    names = frame["query"].unique(maintain_order=True)
    if names.dtype != pl.String:
        return frame
    long = (names.str.len_chars() > QUERY_LETTERS).sum()
    if not 0 < long * names.len() <= MANY_COMPARISONS:
        return frame
    labels = unique_labels(names, QUERY_LETTERS)
    return frame.with_columns(pl.col("query").replace_strict(labels, return_dtype=pl.String))


def table_height(
    rows: int, row_height: int | None = None, most: int = SHOWN_ROWS
) -> int | Literal["auto"]:
    """Return the pixels of a table, in which so many rows are there without scrolling."""
    if rows <= 9 and row_height is None:
        return "auto"
    return 2 + 35 + (row_height or 35) * min(rows, most)


def _column(
    of: str,
    values: pl.Series,
    width: int | None,
    compared: Sequence[pl.Series],
    texts: dict[str, Callable[[float], str]],
    estimates: pl.Series | None = None,
) -> tuple[pl.Series, Any]:
    """Return the values that the browser formats, or texts where it cannot, with title, help and
    format; with as many digits as tell the ``compared`` values apart. Add to ``texts`` what writes
    numbers that the browser would write otherwise.
    """
    name, kinds = values.name, st.column_config
    declared = of and "@" not in name  # other measures are not
    declared_column = column(of, name) if declared else Column(name, values.dtype, name, "", "")
    about: Named = {
        "label": declared_column.title,
        "help": declared_column.help.replace("model_a", "A").replace("model_b", "B") or None,
        "width": width,
    }
    if name == "image":
        return values, kinds.ImageColumn(**about)
    if declared_column.format == "chance":
        if values.dtype.is_float():
            values = values.map_elements(chance_text, return_dtype=pl.String)
        return values, kinds.Column(**about, alignment="right")
    if not values.dtype.is_numeric():
        return values, kinds.Column(**about)
    if not values.dtype.is_float():
        return values, kinds.NumberColumn(**about, format="%d")
    # "plain" writes some whole numbers with the noise of floats: 249.99999999999997.
    form = FORMATS.get(declared_column.format, "%.{}f")
    places = DECIMALS
    # Bytes, pairs, queries of a matrix
    is_amount = declared_column.format == "amount" or not declared or name in WHOLE
    if is_amount and (values == values.round()).all():
        form = "%d"
    signed = declared_column.format == "signed"  # as in the report, by itself or by its score
    if len(values) <= MAX_ROWS and not (signed and compared[0].name == name):
        needs_own_digits = name.endswith(ALONE) and name not in DIGITS_OF
        places = decimals(*values) if needs_own_digits else max(map(column_decimals, compared))
        # `size` writes what is smaller still as 7e−7.
        places = min(places, MAX_DECIMALS)
    if estimates is not None and estimates.any():  # the browser's formats are for whole columns
        marked = [
            None if value is None else f"{ESTIMATE if mark else ''}{number(value, places)}"
            for value, mark in zip(values, estimates, strict=True)
        ]
        return pl.Series(name, marked, pl.String), kinds.Column(**about, alignment="right")
    numbers = 100 * values if declared_column.format == "share" else values
    form = form.format(places)
    if places > DECIMALS:  # the browser makes room for fewer, and would cut off the first digits
        about["width"] = width or LETTER * max(len(declared_column.title), places + 3) + MARGIN
    if declared_column.format == "exact":
        texts[name] = partial(_with_minus, "")  # in full: without its first digits it is another
        longest = max(map(len, (declared_column.title, *map(str, values))))
        about["width"] = LETTER * longest + MARGIN
    elif signed:  # one by one, so that no difference in a long table is shown as 0
        texts[name] = partial(size, places=places, sign="+")
    elif (numbers < 0).any():  # the browser would write a hyphen
        texts[name] = partial(_with_minus, form)
    else:
        about["format"] = form
    return numbers, kinds.NumberColumn(**about)


def _with_minus(form: str, value: float) -> str:
    """Return a number in a format, or with all its digits; one that rounds to 0 has no sign.

    >>> _with_minus("%.1f", -2.5), _with_minus("%.1f", -0.04), _with_minus("%.6g", -0.00004)
    ('−2.5', '0.0', '−4e−05')
    >>> _with_minus("", -0.48204301)
    '−0.48204301'
    """
    text = form % value if form else number_text(value)
    return text.replace("-", "−") if float(text) else text.lstrip("-")


def brushed_table(
    chart: Drawer | None,
    queries: pl.DataFrame,
    axes: Sequence[str],
    at: Named,
    thing: str,
    caption: str,
    *,
    of: str,
    show: str,
    take: Callable[[Named], None],
) -> pl.DataFrame:
    """Show queries as points, and as a table below a ``caption``, which begins with the number of
    things; return those inside the rectangle dragged around points, else all. ``take`` gets a row
    that is chosen, and the first of a new rectangle.
    """
    chart_side, right = st.columns([3.6, 8.4])
    rows, key = queries, f"{of} rectangle"
    with chart_side:
        if chart is None:
            st.caption("Counts have no order, so there is no naive score to compare with.")
        else:
            box = show_chart(chart, queries, brush=key, **at)["selection"].get("brush") or {}
            inside = [pl.col(axis).is_between(*sorted(box[axis])) for axis in axes if axis in box]
            rows = queries.filter(*inside)
            if rows.is_empty():
                st.info("No query lies inside the rectangle; all are listed.")
                rows = queries
            elif box and box != st.session_state.get(f"taken of {key}"):
                take(rows.row(0, named=True))
            st.session_state[f"taken of {key}"] = box
    with right:
        part = (
            "" if rows.height == queries.height else f" inside the rectangle, of {queries.height}"
        )
        cut = f"; the first {LISTED} are listed" if rows.height > LISTED else ""
        st.caption(caption.format(f"{with_number(rows.height, thing)}{part}{cut}"))
        frame_table(
            rows.head(LISTED),
            of=of,
            show=show,
            widths=COLUMN_PIXELS,
            alt="Scores of every query.",
            key=f"{of} table",
            on_select=take,
        )
    return rows


def items_table(data: OpenedData, rows: pl.DataFrame, query: object, **how: Any) -> None:
    """Show the items of a list, with texts and pictures if there are any, and without a relevance
    where nobody judged them.
    """
    rows = rows.head(ITEMS)
    item = pl.col("item").cast(pl.String)
    if "judgements" in data.frames:
        judged = data.frames["judgements"].filter(query=query)["item"].cast(pl.String)
        rows = rows.with_columns(pl.when(item.is_in(judged.implode())).then("relevance"))
    if data.items is not None:
        texts = data.items.unique("item", keep="first", maintain_order=True)
        rows = join_left(rows.with_columns(item), texts, "item")
    frame_table(rows, **how)


def leaderboard_table(study: rr.Study, others: rr.Study) -> None:
    """Show the leaderboard of a study, with the measures of another beside its own."""
    rows, show, note = leaderboard_of(study, others=others)
    frame_table(rows, of="board", show=show, alt="Scores of the models, best first.", in_full=True)
    notes = [note, *uneven_lengths(others.under("expected").scores, others.measures)]
    if any(notes):
        st.caption(plain(" ".join(filter(None, notes))))
