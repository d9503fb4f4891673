"""Draw the sidebar, and return what it says as one frozen record."""

from collections.abc import Mapping
from dataclasses import fields

import streamlit as st

from records import USUAL, Choice, OpenedData, curve, own_depth
from retrieval_report.contracts.arguments import Named, number_text
from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.contracts.options import PARAMETERS as OPTIONS
from retrieval_report.metrics.parsing import (
    CATALOGUE,
    parameter_text,
    parse_cutoffs,
    parse_metric,
    whole_number,
)
from text import plain
from url_controls import (
    begin_with,
    choose_models,
    choose_number,
    choose_one,
    refuse,
    refuse_typed,
    values_in_address,
)
from wording import in_words, word_of

LAST_CUTOFF = "the last cutoff that could be used"
NO_CUTOFF = "not a whole number from 1 on, nor all"
UNSET = "usual"  # the default of `evaluate`, which depends on the data
MOST_SEED = 2**53 - 1  # the largest whole number that a browser keeps exactly
PARAMETERS = {  # of metrics; the first option of each is the default
    "precision": "denominator",
    "recall": "denominator",
    "ap": "denominator",
    "wap": "denominator",
    "dcg": "gain",
    "ndcg": "ideal gain",
}
LIMITS: Mapping[str, Named] = {  # of options that are numbers
    "relevant_from": {"low": 0.0},
    "shuffles": {"low": 1, "high": 10_000},
    "seed": {"low": 0, "high": MOST_SEED},
}
OF_DRAWS = "shuffles", "seed"  # which change no score but those of the draws
STEPS: Mapping[type, Named] = {int: {"step": 1}, float: {"step": 1.0, "format": "%g"}}


def sidebar(data: OpenedData) -> Choice:
    """Draw the controls and return what they say."""
    first = data.start
    with st.sidebar:
        name = _metric(first.metric)
        cutoff = None if own_depth(name) else _cutoff(first.cutoff, data.longest)
        models = choose_models(data.models)
        with st.expander("Rules"):
            metric = _with_parameters(name)
            options = {name: _option(name, data) for name in USUAL}
        # They hold for other data, too, and the box closes.
        changed = {
            name: value
            for name, value in options.items()
            if value != first.options[name] and name not in OF_DRAWS
        }
        if changed:
            rules = "; ".join(_in_words(name, value) for name, value in changed.items())
            st.caption(plain(f"Changed rules: {rules}"))
    return Choice(metric, cutoff, models or data.models, options, data.longest)


def _in_words(name: str, value: object) -> str:
    """Return the title of an option with its value, as menus have them."""
    if isinstance(value, bool):
        words = "yes" if value else "no"
    elif isinstance(value, int | float):
        words = number_text(value)
    else:
        words = word_of(UNSET if value is None else value)
    return f"{OPTIONS[name].title}: {words}"


def _metric(first: str) -> str:
    """Return the name of the chosen metric."""
    for text in values_in_address("metric"):
        if text not in CATALOGUE and (controls := _as_controls(text)):
            st.query_params.update(controls)
            st.rerun()  # widgets read the address only as it is when a run begins
    return choose_one("Metric", sorted(CATALOGUE), name="metric", default=first)


def _with_parameters(name: str) -> str:
    """Return the text form of a metric with the chosen parameters."""
    parameters = []
    for parameter in PARAMETERS.get(name, "").split():
        options, help = parameter_text(name, parameter)
        # Each metric gets a separate name, because their default denominators differ.
        label = f"{parameter.capitalize()} of {name}"
        about: Named = {"name": f"{name}_{parameter}", "show": word_of, "help": help}
        parameters.append(f"{parameter}={choose_one(label, options, **about)}")
    return str(parse_metric(f"{name}({','.join(parameters)})" if parameters else name)[0])


def _as_controls(text: str) -> dict[str, str]:
    """Return a measure as anyone spells it, such as ``AP(rel=2)@100`` or ``ndcg_cut_10``, by the
    names that controls have in the address; nothing if they cannot say it.
    """
    try:
        metric, cutoffs = parse_metric(text)
    except RetrievalReportError:
        return {}
    controls = {"metric": metric.name}
    for field in fields(metric):
        value = getattr(metric, field.name)
        if value == field.default:
            continue
        if field.name == "rel":
            controls["relevant_from"] = number_text(value)
        elif field.name in PARAMETERS.get(metric.name, "").split() and isinstance(value, str):
            controls[f"{metric.name}_{field.name}"] = value
        else:
            return {}
    if cutoffs and not metric.own_depth:
        controls["cutoff"] = str(cutoffs[0] or "all")
    return controls


def _cutoff(first: int | None, longest: int) -> int | None:
    """Return a cutoff chosen from the menu or typed."""
    for text in values_in_address("cutoff"):
        # What is typed stands in the address, too, and cannot be taken out of it.
        if "cutoff" not in st.session_state and _parsed_cutoff(text) is None:
            refuse("cutoff", text, f"it is {NO_CUTOFF}")
            st.query_params.pop("cutoff", None)
            st.rerun()  # widgets read the address only as it is when a run begins
    usual = [str(number or "all") for number in curve(first, longest)]
    begin_with("cutoff", str(first or "all"))
    text = str(
        st.selectbox(
            "Cutoff k",
            usual,
            index=usual.index(str(first or "all")),
            key="cutoff",
            accept_new_options=True,
            bind="query-params",
            help="Choose one, or type any whole number. *all* means the whole list.",
            on_change=_check_typed_cutoff,
        )
    )
    cutoffs = _parsed_cutoff(text)
    if cutoffs is None:
        return first
    st.session_state[LAST_CUTOFF] = text
    return cutoffs[0]


def _parsed_cutoff(text: str) -> tuple[int | None, ...] | None:
    """Return the cutoff that a text names, alone; None if it names none."""
    try:
        return tuple(parse_cutoffs(whole_number(text)))
    except RetrievalReportError:
        return None


def _check_typed_cutoff() -> None:
    """Return to the last cutoff, and say so, if what was typed is none."""
    text, last = str(st.session_state["cutoff"]), st.session_state[LAST_CUTOFF]
    if _parsed_cutoff(text) is None:
        st.session_state["cutoff"] = last
        refuse_typed("Cutoff k", text, f"is {NO_CUTOFF}; {last} still applies")


def _option(name: str, data: OpenedData) -> object:
    """Return the value of an option; one that was given
    with data has a name that other data do not share.
    """
    option, usual = OPTIONS[name], USUAL[name]
    first = data.start.options[name]
    arguments: Named = {
        "name": name if first == usual else f"given_{name}",
        "help": in_words(option.meaning, option.choices),
        "show": word_of,
    }
    if name == "distance_threshold" and "distance" not in data.frames["rankings"].columns:
        return None
    if option.kind in STEPS:
        del arguments["show"]
        arguments |= {**STEPS[option.kind], **LIMITS.get(name, {})}
        return choose_number(option.title, default=first, **arguments)
    choices: tuple[object, ...] = data.averages if name == "average" else option.choices
    if option.kind is bool:
        choices = (False, True)
        arguments["show"] = ("no", "yes").__getitem__
    if usual is None:
        choices = (UNSET, *choices)
    value = choose_one(
        option.title, choices, default=UNSET if first is None else first, **arguments
    )
    return None if value == UNSET else value
