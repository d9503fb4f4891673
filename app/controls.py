"""The sidebar: what is asked of the data, as one frozen record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from cached import CUTOFFS, Data
from records import Draws, Rules
from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.contracts.parameters import PARAMETERS
from retrieval_report.contracts.truncated import AUTO
from retrieval_report.metrics.formulas import parameter_text
from retrieval_report.metrics.parsing import CATALOGUE, measure_text, parse_metric
from text import plain
from url_controls import choose_many, choose_number, choose_one, no_use, refuse

__all__ = ["Choice", "first_choice", "remedy", "sidebar"]

PARAMETERS_OF = {
    "precision": ("denominator",),
    "ap": ("denominator",),
    "wap": ("denominator",),
    "dcg": ("gain",),
    "ndcg": ("ideal", "gain"),
}
POLICIES = ("expected", "naive", "shuffled", "worst", "best")
# The options of `evaluate` that the sidebar has under *Rules*.
RULES = (
    *("no_relevant", "missing_query", "unjudged", "unjudged_query", "null_distance"),
    *("relevant_from", "distance_threshold", "truncated", "relevant_items"),
)
USUAL = "usual"  # what `evaluate` does of itself, which depends on the data
RESET = "reset the cutoff"  # a value can be set before its widget is made, which is in the next run
MOST_CUTOFF = 2**63 - 1
MOST_SEED = 2**53 - 1  # the largest whole number that a browser keeps exactly


@dataclass(frozen=True)
class Choice:
    """What is asked: all that decides the numbers on a page besides the data.

    Attributes
    ----------
    metric
        Text form with its parameters, such as ``ap(denominator=retrieved)``.
    cutoff
        None is the whole list.
    cutoffs
        Those of the curve over all cutoffs; ``cutoff`` is among them.
    models, policies
        Chosen ones, in the order of the data and of `POLICIES`.
    average
        As for `summarise`.
    rules, draws
        As for `evaluate`.
    """

    metric: str
    cutoff: int | None
    cutoffs: tuple[int | None, ...]
    models: tuple[str, ...]
    policies: tuple[str, ...]
    average: str = "micro"
    rules: Rules = field(default_factory=Rules)
    draws: Draws = field(default_factory=Draws)

    @property
    def measure(self) -> str:
        """Metric and cutoff as text, such as ``ndcg@10``."""
        return measure_text(self.metric, self.cutoff)


def first_choice(data: Data) -> Choice:
    """What the sidebar says before anybody has touched it."""
    usual = {name: parameter_text(data.metric, name)[0][0] for name in PARAMETERS_OF.get(data.metric, ())}
    metric, own_depth = _parsed(data.metric, usual)
    cutoff = None if own_depth else data.cutoff
    rules = Rules(truncated=data.truncated)
    return Choice(metric, cutoff, _curve(cutoff, own_depth=own_depth), data.models, _shown(data), rules=rules)


def sidebar(data: Data) -> Choice:
    """Draw the controls and return what they say."""
    with st.sidebar:
        metric, own_depth = _metric(data)
        cutoff = None if own_depth else _cutoff(data)
        models = choose_many("Models", data.models, name="models", placeholder="all")
        offered = _offered(data)
        policies = choose_many(
            PARAMETERS["policies"].title,
            offered,
            name="policies",
            default=_shown(data),
            placeholder="all",
            help=PARAMETERS["policies"].meaning,
        )
        with st.expander("Rules"):
            average = _rule("average", data.averages)
            rules = _rules(data)
            shuffles = choose_number(PARAMETERS["shuffles"].title, name="shuffles", low=1, high=10_000, default=100)
            seed = choose_number(PARAMETERS["seed"].title, name="seed", low=0, high=MOST_SEED, default=0)
    return Choice(
        metric=metric,
        cutoff=cutoff,
        cutoffs=_curve(cutoff, own_depth=own_depth),
        models=models or data.models,
        policies=policies or offered,
        average=average,
        rules=rules,
        draws=Draws(shuffles, seed),
    )


def _offered(data: Data) -> tuple[str, ...]:
    return tuple(policy for policy in POLICIES if not (data.counted and policy == "naive"))


def _shown(data: Data) -> tuple[str, ...]:
    """Policies to begin with."""
    return tuple(policy for policy in _offered(data) if policy != "shuffled" or not data.large)


def _curve(cutoff: int | None, *, own_depth: bool) -> tuple[int | None, ...]:
    """Cutoffs of the curve in their order, the whole list last."""
    if own_depth:
        return (None,)
    known = {number for number in (*CUTOFFS, cutoff) if number is not None}
    return (*sorted(known), None)


def _parsed(name: str, parameters: Mapping[str, str]) -> tuple[str, bool]:
    """The text form of a metric, and whether it has a depth of its own."""
    told = ",".join(f"{parameter}={value}" for parameter, value in parameters.items())
    metric, _ = parse_metric(f"{name}({told})" if told else name)
    return str(metric), metric.own_depth


def _metric(data: Data) -> tuple[str, bool]:
    """The text form of the metric chosen, and whether it has a depth of its own."""
    name = choose_one("Metric", sorted(CATALOGUE), name="metric", default=data.metric)
    parameters = {}
    for parameter in PARAMETERS_OF.get(name, ()):
        options, text = parameter_text(name, parameter)
        # A name of its own for each metric: the usual denominator of one is not that of another.
        key = f"{name}_{parameter}"
        label = f"{parameter.capitalize()} of {name}"
        parameters[parameter] = choose_one(label, options, name=key, help=text)
    return _parsed(name, parameters)


def _cutoff(data: Data) -> int | None:
    """A cutoff from the menu or typed."""
    usual = ["all" if number is None else str(number) for number in _curve(data.cutoff, own_depth=False)]
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
        help="Choose one, or type any whole number. *all* is the whole list.",
    )
    if not _is_cutoff(str(chosen)):
        refuse("cutoff", str(chosen), "a whole number from 1 on or all is needed")
        st.session_state[RESET] = True
        st.rerun()
    return None if chosen == "all" else int(str(chosen))


def _is_cutoff(text: str) -> bool:
    return text == "all" or (text.isascii() and text.isdigit() and len(text) < 20 and 0 < int(text) <= MOST_CUTOFF)


def _rules(data: Data) -> Rules:
    # In the order in which they are drawn.
    no_relevant, missing_query = _rule("no_relevant"), _rule("missing_query")
    unjudged = _rule("unjudged", (USUAL, *PARAMETERS["unjudged"].choices))
    return Rules(
        no_relevant=no_relevant,
        missing_query=missing_query,
        unjudged=None if unjudged == USUAL else unjudged,
        unjudged_query=_rule("unjudged_query"),
        null_distance=_rule("null_distance"),
        relevant_from=_rule_number("relevant_from", low=0.0),
        distance_threshold=_threshold(data),
        truncated=_truncated(data),
        relevant_items=_rule("relevant_items"),
    )


def _rule(name: str, options: Sequence[str] = ()) -> str:
    known = PARAMETERS[name]
    return choose_one(known.title, options or known.choices, name=name, help=known.meaning)


def _truncated(data: Data) -> str:
    """How the lists end. What is known of a sample has a name of its own: other data must not inherit it."""
    known = PARAMETERS["truncated"]
    name = "truncated" if data.truncated == AUTO else "sample_truncated"
    return choose_one(known.title, known.choices, name=name, default=data.truncated, help=known.meaning)


def _rule_number(name: str, low: float | None = None) -> Any:
    known = PARAMETERS[name]
    return choose_number(known.title, name=name, low=low, step=1.0, format="%g", help=known.meaning)


def _threshold(data: Data) -> Any:
    if "distance" not in data.rankings.columns:
        no_use("distance_threshold", "this data has scores, and no distances")
        return None
    return _rule_number("distance_threshold")


def remedy(error: RetrievalReportError) -> str:
    """What went wrong, in the library's words, and which control decides it if one does; Markdown."""
    labels = [PARAMETERS[name].title for name in RULES if f"{name}=" in str(error)]
    told = f"\n\nYou decide this in the sidebar: *{labels[0]}*, under *Rules*." if labels else ""
    return plain(error) + told
