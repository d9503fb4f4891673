"""The sidebar: what is asked of the data, as one frozen record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from cached import CUTOFFS, Data
from records import Draws, Rules
from retrieval_report.contracts.errors import RetrievalReportError
from retrieval_report.contracts.options import (
    MISSING_QUERY,
    NO_RELEVANT,
    NULL_DISTANCE,
    RELEVANT_ITEMS,
    UNJUDGED,
    UNJUDGED_QUERY,
)
from retrieval_report.contracts.truncated import AUTO, TRUNCATED
from retrieval_report.metrics.parsing import CATALOGUE, measure_text, parse_metric
from text import plain
from url_controls import choose_many, choose_number, choose_one, no_use, refuse

__all__ = ["Choice", "first_choice", "remedy", "sidebar"]

PARAMETERS: dict[str, dict[str, tuple[str, ...]]] = {
    "precision": {"denominator": ("k", "retrieved")},
    "ap": {"denominator": ("total", "min", "retrieved", "k")},
    "wap": {"denominator": ("total", "min", "retrieved", "k")},
    "dcg": {"gain": ("exp2", "linear")},
    "ndcg": {"ideal": ("judged", "list", "cutoff"), "gain": ("exp2", "linear")},
}
EXPLAINED = {
    "denominator": "What the sum is divided by: *total* all relevant items, *min* the smaller of k and that, "
    "*retrieved* the relevant ones among the top k (for precision: the smaller of k and the length of the list), *k*.",
    "ideal": "What NDCG divides by: the best list of the *judged* items, of the *list* itself, or of its top k.",
    "gain": "What an item of relevance g counts: *exp2* 2^g − 1, *linear* g.",
}
POLICIES = ("expected", "naive", "shuffled", "worst", "best")
EXPLAINED_POLICIES = (
    "*expected*: the exact mean over all orders of tied items. *naive*: ties in the order received. *shuffled*: ties "
    "in random order, several times (left out of large data at first, for it takes its time). *worst*, *best*: the "
    "lowest and the highest that any order can give."
)
EXPLAINED_AVERAGES = "*micro*: over queries. *macro*: over labels of queries. *weighted*: by the weight of each query."
# The rules of `evaluate` by its names: what the sidebar calls them.
RULES = {
    "no_relevant": "Queries without a relevant item",
    "missing_query": "Queries without a list",
    "unjudged": "Items without relevance",
    "unjudged_query": "Queries without judgements",
    "null_distance": "Items without a distance",
    "relevant_from": "Relevant from grade",
    "distance_threshold": "Relevant up to distance",
    "truncated": "Lists cut at their end",
    "relevant_items": "Relevant where nobody judged",
}
USUAL = "usual"  # what `evaluate` does of itself, which depends on the data
EXPLAINED_RULES = {
    "no_relevant": "They score 0, are left out, score 1, or are refused.",
    "missing_query": "Queries that others have and a model has not: they score 0, are left out, or are refused.",
    "unjudged": "They count as not relevant, are dropped from the lists, or are refused. *usual*: not relevant "
    "where judgements are a file of their own, else refused.",
    "unjudged_query": "Where judgements are a file of their own: queries that are not in it are refused, or left out.",
    "null_distance": "They are refused, or count as known but *not retrieved*: the relevant ones lower recall.",
    "relevant_from": "The smallest relevance that counts as relevant; empty: every one above 0.",
    "distance_threshold": "Items farther away keep their place and count as not relevant; empty: none do.",
    "truncated": "Whether more items would follow: *no*, the lists hold all; *between_ties*, they end behind a whole "
    "tie; *within_tie*, their last tie may go on, as in top-k lists; *auto* decides from the data.",
    "relevant_items": "Without judgements and without n_relevant: what any model shows is relevant for all (*pooled*), "
    "each model knows its *own* list alone, or the data are refused.",
}
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
    usual = {parameter: options[0] for parameter, options in PARAMETERS.get(data.metric, {}).items()}
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
            "Scores shown",
            offered,
            name="policies",
            default=_shown(data),
            placeholder="all",
            help=EXPLAINED_POLICIES,
        )
        with st.expander("Rules"):
            average = choose_one("Average", data.averages, name="average", help=EXPLAINED_AVERAGES)
            rules = _rules(data)
            shuffles = choose_number("Random orders drawn", name="shuffles", low=1, high=10_000, default=100)
            seed = choose_number("Seed", name="seed", low=0, high=MOST_SEED, default=0)
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
    for parameter, options in PARAMETERS.get(name, {}).items():
        # A name of its own for each metric: the usual denominator of one is not that of another.
        key = f"{name}_{parameter}"
        label = f"{parameter.capitalize()} of {name}"
        parameters[parameter] = choose_one(label, options, name=key, help=EXPLAINED[parameter])
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
    return Rules(
        no_relevant=_rule("no_relevant", NO_RELEVANT),
        missing_query=_rule("missing_query", MISSING_QUERY),
        unjudged=None if (unjudged := _rule("unjudged", (USUAL, *UNJUDGED))) == USUAL else unjudged,
        unjudged_query=_rule("unjudged_query", UNJUDGED_QUERY),
        null_distance=_rule("null_distance", NULL_DISTANCE),
        relevant_from=_rule_number("relevant_from", low=0.0),
        distance_threshold=_threshold(data),
        truncated=_truncated(data),
        relevant_items=_rule("relevant_items", RELEVANT_ITEMS),
    )


def _rule(name: str, options: Sequence[str]) -> str:
    return choose_one(RULES[name], options, name=name, help=EXPLAINED_RULES[name])


def _truncated(data: Data) -> str:
    """How the lists end. What is known of a sample has a name of its own: other data must not inherit it."""
    label, text = RULES["truncated"], EXPLAINED_RULES["truncated"]
    name = "truncated" if data.truncated == AUTO else "sample_truncated"
    return choose_one(label, TRUNCATED, name=name, default=data.truncated, help=text)


def _rule_number(name: str, low: float | None = None) -> Any:
    return choose_number(RULES[name], name=name, low=low, step=1.0, format="%g", help=EXPLAINED_RULES[name])


def _threshold(data: Data) -> Any:
    if "distance" not in data.rankings.columns:
        no_use("distance_threshold", "this data has scores, and no distances")
        return None
    return _rule_number("distance_threshold")


def remedy(error: RetrievalReportError) -> str:
    """What went wrong, in the library's words, and which control decides it if one does; Markdown."""
    labels = [label for name, label in RULES.items() if f"{name}=" in str(error)]
    told = f"\n\nYou decide this in the sidebar: *{labels[0]}*, under *Rules*." if labels else ""
    return plain(error) + told
