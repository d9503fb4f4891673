"""Decide whether and where the lists of a model were truncated, as the caller says or from the lists themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.truncated import AUTO, BETWEEN_TIES, NO, WITHIN_TIE
from retrieval_report.contracts.warning import warn

SAMPLE_QUERIES = 1_000
"""Number of queries (the first by id) whose items are compared to see whether queries share items."""

FEW_LISTS = 10  # with fewer lists, all last ties may contain the same position by chance
NOTHING = "nothing shows that items are missing"
ENDS = "its lists end where a tie ends, at about one depth"
MANY_LISTS = 20  # with at least this many, half of the lists may be shorter than a common cut length


class Decision(NamedTuple):
    """What is assumed about the lists of one model."""

    truncated: str  # no, between_ties or within_tie
    reason: str
    before: int  # smallest number of items before the last tie

    @property
    def cut(self) -> bool:
        """Return whether items may be missing after the end of the lists."""
        return self.truncated != NO


class Evidence(NamedTuple):
    """Evidence from the lists of one model, without empty ones."""

    lists: int
    shortest: int  # items of the shortest list
    longest: int
    half: int  # at least half of the lists are as long, and not more than half are longer
    least_before: int  # items before the last tie
    most_before: int
    items: bool  # whether there are items to compare, not only counts
    same: bool  # whether all lists hold the same items
    lacking: dict[str, Any] | None  # first query of which relevant items are missing: query, found, known
    shared: int  # queries that other models have lists for
    differ: object  # the first of them for which the models' items differ, None if there is none


def _check_models(truncated: str | Mapping[str, str], models: Sequence[str]) -> None:
    """Refuse a mapping with a model that is not in the rankings."""
    unknown = [] if isinstance(truncated, str) else [model for model in truncated if model not in models]
    if unknown:
        raise ParameterError(f"truncated: the rankings have no model {unknown[0]!r}; they have {', '.join(models)}")


def given(truncated: str | Mapping[str, str], models: Sequence[str]) -> dict[str, str]:
    """Return the word for every model, ``auto`` for models that a mapping does not name."""
    if isinstance(truncated, str):
        return dict.fromkeys(models, truncated)
    return {model: truncated.get(model, AUTO) for model in models}


def decide(
    truncated: str | Mapping[str, str],
    models: Sequence[str],
    look: Callable[[], Mapping[str, Evidence]],
    recurring: Callable[[str], bool],
) -> dict[str, Decision]:
    """Decide for every model whether its lists were truncated.

    ``look()`` finds the evidence of every model that has items, and is called only if it decides about one of them;
    so is ``recurring(model)``, which says whether two of the model's first SAMPLE_QUERIES queries share an item.

    >>> facts = pl.DataFrame({"model": ["m"] * 2, "query": ["p", "q"], "items": [10, 10], "before": [7, 8],
    ...     "found": [3, 4], "known": [9, None], "fingerprint": [1, 2]})
    >>> decide("auto", ["m"], lambda: gather(facts), lambda model: True)["m"].reason
    "not every known relevant item is in its lists (query 'p': 3 of 9)"
    """
    _check_models(truncated, models)
    asked = given(truncated, models)
    found = look() if AUTO in asked.values() else {}
    everything = max((own.longest for own in found.values()), default=0)
    result = {}
    for model, word in asked.items():
        own = found.get(model)
        before = own.least_before if own else 0
        if word != AUTO:
            result[model] = Decision(word, "as given", before)
        elif own is None:
            result[model] = Decision(NO, "its lists are empty", before)
        else:
            cut, reason = _reason(model, own, everything, recurring)
            kind = BETWEEN_TIES if _ends_between_ties(own) else WITHIN_TIE
            result[model] = Decision(kind if cut else NO, reason, before)
    return result


def gather(facts: pl.DataFrame) -> dict[str, Evidence]:
    """Return the evidence of every model, from one row per list.

    The columns are ``model``, ``query``, ``items`` (of the list), ``before`` (of them nearer than the last tie),
    ``found`` (relevant items of the list), ``known`` (relevant items of the query as judgements or ``n_relevant`` say;
    null where they do not) and ``fingerprint`` (equal where two lists hold the same items; null for counts).
    """
    facts = facts.filter(pl.col("items") > 0)
    among = (
        facts.filter(pl.col("fingerprint").is_not_null())
        .group_by("query")
        .agg(models=pl.len(), differ=(pl.col("fingerprint").n_unique() > 1) | (pl.col("items").n_unique() > 1))
    )
    facts = facts.join(among.filter(pl.col("models") > 1), on="query", how="left", maintain_order="left")
    items, before = pl.col("items"), pl.col("before")
    lacking = pl.struct("query", "found", "known").filter(pl.col("found") < pl.col("known"))
    found = facts.group_by("model").agg(
        lists=pl.len(),
        shortest=items.min(),
        longest=items.max(),
        half=items.quantile(0.5, "higher"),
        least_before=before.min(),
        most_before=before.max(),
        items=pl.col("fingerprint").is_not_null().all(),
        same=pl.col("fingerprint").n_unique() == 1,
        lacking=lacking.sort_by(pl.col("query").filter(pl.col("found") < pl.col("known"))).first(),
        shared=pl.col("models").is_not_null().sum(),
        differ=pl.col("query").filter("differ").min(),
    )
    rows = found.sort("model").iter_rows(named=True)
    return {row.pop("model"): Evidence(**row) for row in rows}


def _reason(model: str, own: Evidence, everything: int, recurring: Callable[[str], bool]) -> tuple[bool, str]:
    """Return whether the lists of a model were truncated, and the reason."""
    if own.items and own.same and own.lists > 1 and own.shortest == everything:
        return False, "every list holds the same items"
    if own.shared:
        if own.differ is None:
            return False, "every model ranks the same items of a query"
        return True, f"models retrieved different items for one query ({own.differ!r})"
    if own.lacking is not None:
        where = "query {query!r}: {found} of {known}".format(**own.lacking)
        return True, f"not every known relevant item is in its lists ({where})"
    if not own.items:
        ends = own.most_before > 0 and _ends_between_ties(own)
        return ends, ENDS if ends else NOTHING
    if own.most_before > 0 and _ends_between_ties(own) and recurring(model):
        return True, ENDS
    every = own.shortest == own.longest
    if not (every and own.lists > 1) and not (own.lists >= MANY_LISTS and own.half == own.longest):
        return False, NOTHING
    if recurring(model):
        return True, f"{'its' if every else 'most of its'} lists hold {own.longest} items, and not the same ones"
    return False, "no two queries share an item"


def _ends_between_ties(own: Evidence) -> bool:
    """Return whether lists of different length share a position in their last tie, so that they end after its tie.

    If most lists have the greatest length, they were cut there, and the others had no more items.
    """
    return own.lists >= FEW_LISTS and own.half < own.longest and own.most_before < own.shortest


def warn_truncated(
    decisions: Mapping[str, Decision],
    truncated: str | Mapping[str, str],
    cutoffs: list[int | None],
    warn: Callable[[str], None] = warn,
) -> None:
    """Warn about models whose lists were found to be truncated and whose scores depend on what is open."""
    asked = given(truncated, list(decisions))
    cut = [
        (model, decision)
        for model, decision in decisions.items()
        if asked[model] == AUTO and decision.cut and any(k is None or k > decision.before for k in cutoffs)
    ]
    if not cut:
        return
    model, decision = cut[0]
    others = {1: "", 2: " and of another one"}.get(len(cut), f" and of {len(cut) - 1} others")
    warn(
        f"the lists of model {model!r}{others} seem cut: {decision.reason}. Scores that reach into their last tie have "
        "no standard deviation, and their lowest and highest values allow for what a deeper retrieval could show; "
        "set truncated='no' (lists hold all items), 'between_ties' or 'within_tie' to decide this yourself"
    )
