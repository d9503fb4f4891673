"""Draw the sidebar, and return what it says as one frozen record."""

from __future__ import annotations

from typing import Any

import streamlit as st

from records import PARAMETERS, SIDEBAR, Choice, Data, Draws, curve, parsed, shown_at_first
from retrieval_report.comparison.corrections import MAX_T
from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.contracts.options import PARAMETERS as OPTIONS
from retrieval_report.contracts.options import Options
from retrieval_report.metrics.parsing import CATALOGUE, parameter_text
from text import plain
from url_controls import choose_many, choose_number, choose_one, no_use, refuse

USUAL = "usual"  # the default of `evaluate`, which depends on the data
RESET = "reset the cutoff"  # a value can be set only before its widget is made, that is, in the next run
MOST_CUTOFF = 2**63 - 1
MOST_SEED = 2**53 - 1  # the largest whole number that a browser keeps exactly


def sidebar(data: Data) -> Choice:
    """Draw the controls and return what they say."""
    with st.sidebar:
        metric, own_depth = _metric(data)
        cutoff = None if own_depth else _cutoff(data)
        models = choose_many("Models", data.models, name="models", placeholder="all")
        policies = choose_many(
            OPTIONS["policies"].title,
            data.policies,
            name="policies",
            default=shown_at_first(data),
            placeholder="all",
            help=OPTIONS["policies"].meaning,
        )
        with st.expander("Rules"):
            known, name = OPTIONS["average"], _named("average", data.average, "micro")
            average = choose_one(
                known.title, data.averages, name=name, default=data.average, help=known.meaning
            )
            known, name = OPTIONS["correction"], _named("correction", data.correction, MAX_T)
            correction = choose_one(
                known.title, known.choices, name=name, default=data.correction, help=known.meaning
            )
            rules = _rules(data)
            draws = _draws(data.draws)
    return Choice(
        metric=metric,
        cutoff=cutoff,
        cutoffs=curve(cutoff, own_depth=own_depth),
        models=models or data.models,
        policies=policies or data.policies,
        average=average,
        rules=rules,
        draws=draws,
        correction=correction,
    )


def _metric(data: Data) -> tuple[str, bool]:
    """Return the text form of the chosen metric, and whether it has a depth of its own."""
    name = choose_one("Metric", sorted(CATALOGUE), name="metric", default=data.metric)
    parameters = {}
    for parameter in PARAMETERS.get(name, ()):
        options, text = parameter_text(name, parameter)
        # Each metric gets a separate name, because their default denominators differ.
        key = f"{name}_{parameter}"
        label = f"{parameter.capitalize()} of {name}"
        parameters[parameter] = choose_one(label, options, name=key, help=text)
    return parsed(name, parameters)


def _cutoff(data: Data) -> int | None:
    """Return a cutoff chosen from the menu or typed."""
    usual = [
        "all" if number is None else str(number) for number in curve(data.cutoff, own_depth=False)
    ]
    default = "all" if data.cutoff is None else str(data.cutoff)
    if st.session_state.pop(RESET, False):
        st.session_state["cutoff"] = default
    chosen = st.selectbox(
        "Cutoff k",
        usual,
        index=usual.index(default),
        key="cutoff",
        accept_new_options=True,
        bind="query-params",
        help="Choose one, or type any whole number. *all* means the whole list.",
    )
    if not _is_cutoff(str(chosen)):
        refuse("cutoff", str(chosen), "a whole number from 1 on or all is needed")
        st.session_state[RESET] = True
        st.rerun()
    return None if chosen == "all" else int(str(chosen))


def _is_cutoff(text: str) -> bool:
    return text == "all" or (
        text.isascii() and text.isdigit() and len(text) < 20 and 0 < int(text) <= MOST_CUTOFF
    )


def _named(name: str, own: Any, usual: Any) -> str:
    """Return the name of a control; settings given with data get a name that other data do not
    share.
    """
    return name if own == usual else f"given_{name}"


def _draws(own: Draws) -> Draws:
    usual = Draws()
    names = [_named(name, *values) for name, *values in zip(Draws._fields, own, usual, strict=True)]
    shuffles = choose_number(
        OPTIONS["shuffles"].title, name=names[0], low=1, high=10_000, default=own.shuffles
    )
    return Draws(
        shuffles,
        choose_number(
            OPTIONS["seed"].title, name=names[1], low=0, high=MOST_SEED, default=own.seed
        ),
    )


def _rules(data: Data) -> Options:
    chosen: dict[str, Any] = {}
    for name in SIDEBAR:
        known, own = OPTIONS[name], getattr(data.rules, name)
        asked: dict[str, Any] = {"name": _named(name, own, known.default), "help": known.meaning}
        if name == "distance_threshold" and "distance" not in data.rankings.columns:
            no_use(name, "this data has scores instead of distances")
        elif known.choices:
            options = known.choices if known.default else (USUAL, *known.choices)
            found = choose_one(known.title, options, default=own or USUAL, **asked)
            chosen[name] = None if found == USUAL else found
        elif known.kind is bool:
            chosen[name] = choose_one(known.title, (False, True), default=own, **asked)
        else:
            low = 0.0 if name == "relevant_from" else None
            chosen[name] = choose_number(
                known.title, low=low, default=own, step=1.0, format="%g", **asked
            )
    return Options(**chosen)


def remedy(message: RetrievalReportError | str) -> str:
    """Return an error or warning as Markdown, with the control that decides it, if any, instead of
    the argument.
    """
    said = str(message)
    labels = [OPTIONS[name].title for name in SIDEBAR if f"{name}=" in said]
    if not labels:
        return plain(said)
    *parts, last = said.split("; ")
    kept = "; ".join(parts) if parts and "=" in last else said
    return (
        f"{plain(kept[:1].upper() + kept[1:])}.\n\nYou decide this in the sidebar: "
        f"*{labels[0]}*, under *Rules*."
    )
