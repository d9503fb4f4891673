"""Controls whose value is part of the address, so that a link restores the view.

Streamlit keeps widget and address in step (``bind="query-params"``): a default leaves the address
clean, the back button works, and unusable values are removed silently. This module adds a message,
and drops values that do not (or no longer) exist in this data before they reach a widget.
"""

import math
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import polars as pl
import streamlit as st

from retrieval_report.writing.names import numbered
from text import plain, short

T = TypeVar("T")
REFUSED = "refused values of the address"
OFFERED = "models that were offered"
MAX_QUERIES = 40
NO_CHOICE = "there is no such choice here"
NO_CONTROL = (
    "with these data, no control of this page has this name; once a control is set, the address "
    "shows its name, as in /compare?cutoff=5"
)


def refuse(name: str, value: str, reason: str) -> None:
    """Remember that a value in the address was not used,
    for `refusals`; the first reason for a name counts.
    """
    st.session_state.setdefault(REFUSED, {}).setdefault(
        name,
        f"{plain(name)}: “{plain(value, MAX_QUERIES)}” in the address is not used: {plain(reason)}",
    )


def refuse_typed(label: str, text: str, reason: str) -> None:
    """Remember that a text typed into a control was not used, for `refusals`."""
    st.session_state.setdefault(REFUSED, {})[label] = (
        f"{label}: “{plain(text, MAX_QUERIES)}” {reason}."
    )


def refuse_unknown() -> None:
    """Refuse, and take out of the address, what no control drawn in this run has as its name."""
    for name in [name for name in st.query_params if name not in st.session_state]:
        refuse(name, st.query_params.pop(name), NO_CONTROL)


def refusals() -> list[str]:
    """Return the refused values as Markdown, once."""
    return list(st.session_state.pop(REFUSED, {}).values())


def values_in_address(name: str) -> list[str]:
    """Return the values in the address for a name."""
    return [value for value in st.query_params.get_all(name) if value]


def choose_one(
    label: str,
    options: Sequence[T],
    *,
    name: str,
    default: T | None = None,
    show: Callable[[T], str] = short,
    help: str | None = None,
    missing: str = NO_CHOICE,
    on_change: Callable[[], None] | None = None,
    hold: bool = False,
) -> T:
    """Offer a menu, and return the chosen option.

    Parameters
    ----------
    label
        Markdown; names from data go through `plain`.
    options
        At least one; the menu and the address contain their text from ``show``. Repeated texts are
        numbered.
    name
        The name in the address and in the session state, unique in the application.
    default
        The initial option, which leaves the address clean; by default the first one.
    show
        Turns an option into text.
    help
        Markdown text of the tool tip.
    missing
        What to say of an option in the address that is not offered.
    on_change
        Called before the next run when another option is chosen; it may set other controls.
    hold
        Whether what is shown stays when another option is the initial one.
    """
    texts = numbered(options, show)
    text_of = {str(option): text for option, text in texts.items()}
    for value in values_in_address(name):  # a link may have the name that the library has for it
        if value in text_of and value not in texts.values():
            st.query_params[name] = text_of[value]
            st.rerun()  # widgets read the address only as it is when a run begins
    index = options.index(default) if default in texts else 0
    begins = begin_with(name, options[index], texts, hold=hold)
    # What the session has set, such as other data, gets into the address only now.
    if not begins and st.session_state.get(name) not in texts:
        _refuse_others(name, texts.values(), missing)
    return st.selectbox(
        label,
        options,
        index=index,
        format_func=texts.__getitem__,
        key=name,
        help=help,
        on_change=on_change,
        bind="query-params",
    )


def begin_with(
    name: str, default: object, options: Collection[object] = (), *, hold: bool = False
) -> bool:
    """Let a control that nobody set take its new default, as of other data, and return whether:
    Streamlit would keep the old one, which is not in the address. With ``hold``, what is among the
    options stays, and the address gets it.
    """
    last = f"default of {name}"
    before = st.session_state.get(last, default)
    st.session_state[last] = default
    if name not in st.session_state or before == default:
        return False
    if hold and st.session_state[name] in options:
        # What the session sets, the address gets, even if it is what the control shows already.
        st.session_state[name] = st.session_state[name]
        return False
    unset = st.session_state[name] == before and not values_in_address(name)
    begins = unset or bool(options and before not in options)
    if begins:
        st.session_state[name] = default
    return begins


def set_control(name: str, value: object, default: object) -> None:
    """Let a control show a value that is not its new default."""
    st.session_state[name], st.session_state[f"default of {name}"] = value, default


def choose_query(queries: pl.Series, name: str, most: int) -> object:
    """Offer the first queries of a column in a menu; any other can be typed. Return its id, or None
    if there is no query of this name.
    """
    options = [short(query) for query in queries.head(most)]
    begin_with(name, next(iter(options), None), options, hold=True)
    text = st.selectbox(
        "Query",
        options,
        key=name,
        accept_new_options=True,
        bind="query-params",
        help="The queries are in the order of the table above; any other can be typed.",
    )
    matching = queries.filter(queries.cast(pl.String) == text)
    if matching.is_empty() and "#" in str(text):  # shortened, or not shown literally
        same = [short(query) == text for query in queries]
        matching = queries.filter(pl.Series(same, dtype=pl.Boolean))
    return None if matching.is_empty() else matching[0]


def choose_models(models: Sequence[str]) -> tuple[str, ...]:
    """Offer the models of the data, and return the chosen ones in order."""
    texts, name = numbered(models, short), "models"
    offered = st.session_state.get(OFFERED, models)
    if name in st.session_state and offered != models:  # of other data; the address gets the rest
        st.session_state[name] = [model for model in st.session_state[name] if model in models]
    else:
        _refuse_others(name, texts.values(), NO_CHOICE)
    st.session_state[OFFERED] = models
    selection = st.multiselect(
        "Models",
        models,
        format_func=texts.__getitem__,
        key=name,
        placeholder="all",
        bind="query-params",
    )
    return tuple(model for model in models if model in selection)


def another_order() -> None:
    """Offer to draw other random orders, so that one sees what depends on them."""

    def redraw() -> None:
        st.session_state["seed"] = int(st.session_state.get("seed") or 0) + 1

    st.button(
        "Draw others",
        on_click=redraw,
        help="Other random orders of the tied items, by the next seed.",
    )


def _refuse_others(name: str, texts: Collection[str], missing: str) -> None:
    """Refuse, with a message, values in the address that are none of the texts of a menu, which
    would ignore them silently.
    """
    for value in values_in_address(name):
        if value not in texts:
            refuse(name, value, missing)


def choose_number(
    label: str,
    *,
    name: str,
    low: float = -math.inf,
    high: float = math.inf,
    default: Any = None,
    step: float = 1,
    format: str | None = None,
    help: str | None = None,
) -> Any:
    """Offer a number between bounds, whole if ``step`` is;
    None if ``default`` is None and nothing is entered.
    """
    for value in values_in_address(name):
        number = math.nan
        with suppress(ValueError):
            number = type(step)(value)
        if low <= number <= high and abs(number) != math.inf:
            continue
        refuse(name, value, "its control takes no such number")
        # Streamlit would convert it to an integer, and infinity would end the session; widgets read
        # the address only as it is when a run begins.
        st.query_params.pop(name, None)
        st.rerun()
    begin_with(name, default)
    return st.number_input(
        label,
        min_value=None if low == -math.inf else low,
        max_value=None if high == math.inf else high,
        value=default,
        step=step,
        format=format,
        key=name,
        help=help,
        bind="query-params",
        placeholder="none",
    )
