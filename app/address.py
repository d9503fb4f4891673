"""Controls whose value stands in the address, so that a link restores the view.

Streamlit keeps widget and address in step (``bind="query-params"``): a default leaves the address clean, the back
button works, and what it cannot use is removed without a word. Here the word is added, and values that do not exist
in this data (any more) are dropped before they reach a widget.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import streamlit as st

from text import plain, short

__all__ = ["choose_many", "choose_number", "choose_one", "refusals", "refuse"]

T = TypeVar("T")
REFUSED = "refused values of the address"
SHOWN = 40


def refuse(name: str, value: str, reason: str) -> None:
    """Remember that a value in the address was not used; `refusals` tells."""
    told = st.session_state.setdefault(REFUSED, {})
    told[name] = f"{plain(name)}: “{plain(value, SHOWN)}” in the address is not used: {plain(reason)}"


def refusals() -> list[str]:
    """What was refused, as Markdown; told until the next change."""
    return list(st.session_state.pop(REFUSED, {}).values())


def given(name: str) -> list[str]:
    """The values that the address has for a name, before a widget takes them."""
    return [value for value in st.query_params.get_all(name) if value]


def _check(name: str, known: Sequence[str], reason: str) -> None:
    """Refuse in words what the widget is going to ignore."""
    for value in given(name):
        if value not in known:
            refuse(name, value, reason)


def choose_one(
    label: str,
    options: Sequence[T],
    *,
    name: str,
    default: T | None = None,
    show: Callable[[Any], str] = short,
    help: str | None = None,
) -> T:
    """Offer a menu; return the option chosen.

    Parameters
    ----------
    label
        Markdown; names from data go through `plain`.
    options
        At least one; what ``show`` makes of them stands in the menu and in the address.
    name
        The name in the address and in the session state, unique on the page.
    default
        What is chosen at first and leaves the address clean; default: the first option.
    show
        Option to text, different for each option.
    help
        Markdown behind the question mark.
    """
    if name in st.session_state and st.session_state[name] not in options:
        del st.session_state[name]  # other data, other options
    texts = [show(option) for option in options]
    _check(
        name, texts, f"it is none of the {len(texts)} choices" if len(texts) > 8 else f"known are {', '.join(texts)}"
    )
    index = options.index(default) if default in options else 0
    chosen = st.selectbox(label, options, index=index, format_func=show, key=name, help=help, bind="query-params")
    return options[index] if chosen is None else chosen


def choose_many(
    label: str,
    options: Sequence[T],
    *,
    name: str,
    default: Sequence[T] = (),
    show: Callable[[Any], str] = short,
    placeholder: str | None = None,
    help: str | None = None,
) -> tuple[T, ...]:
    """Offer several at once; return those chosen in the order of the options."""
    if name in st.session_state:
        kept = [option for option in st.session_state[name] if option in options]
        if len(kept) < len(st.session_state[name]):
            st.session_state[name] = kept
    texts = [show(option) for option in options]
    _check(name, texts, "there is no such choice here")
    chosen = st.multiselect(
        label,
        options,
        default=[option for option in default if option in options],
        format_func=show,
        key=name,
        placeholder=placeholder,
        help=help,
        bind="query-params",
    )
    return tuple(option for option in options if option in chosen)


def choose_number(
    label: str,
    *,
    name: str,
    low: float | None,
    high: float | None = None,
    default: float | None = None,
    step: float = 1,
    help: str | None = None,
) -> Any:
    """Offer a number between bounds; whole where ``step`` is. None where ``default`` is None and nothing is entered."""
    whole = isinstance(step, int)
    for value in given(name):
        try:
            number = int(value) if whole else float(value)
            fits = (low is None or number >= low) and (high is None or number <= high)
        except ValueError:
            fits = False
        if not fits:
            kind = "whole number" if whole else "number"
            refuse(name, value, f"a {kind} from {low} on is needed" + ("" if high is None else f", at most {high}"))
            st.query_params.pop(name, None)
    return st.number_input(
        label, low, high, default, step, key=name, help=help, bind="query-params", placeholder="none"
    )
