"""Whether the lists of a model were cut, and where: as the caller says, or from what the lists themselves show."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import NamedTuple

import polars as pl

from retrieval_report.checking import check_choice
from retrieval_report.errors import ParameterError, RetrievalReportWarning

__all__ = [
    "AUTO",
    "LIST_FACTS",
    "NO",
    "SAMPLE_QUERIES",
    "TRUNCATED",
    "WITHIN_TIE",
    "Decision",
    "check_models",
    "check_truncated",
    "decide",
    "given",
    "warn_truncated",
]

AUTO, NO, BETWEEN_TIES, WITHIN_TIE = "auto", "no", "between_ties", "within_tie"
TRUNCATED = (AUTO, NO, BETWEEN_TIES, WITHIN_TIE)

SAMPLE_QUERIES = 1_000
"""Queries, the first by id, whose items are looked at to tell whether queries share items."""

FEW_LISTS = 10  # below this, that every last tie holds one position may be chance
MANY_LISTS = 20  # from here on half of the lists may be shorter than the others, and were still cut at one length

LIST_FACTS = {
    "model": pl.String,
    "query": None,  # String or the integer type received
    "items": pl.Int64,  # of the list
    "before": pl.Int64,  # of them nearer than the last tie
    "found": pl.Int64,  # relevant items of the list
    "known": pl.Int64,  # relevant items of the query as judgements or n_relevant say; null where they do not
    "fingerprint": pl.UInt64,  # equal where two lists hold the same items; null for counts
}


class Decision(NamedTuple):
    """What is assumed of the lists of one model."""

    truncated: str  # no, between_ties or within_tie
    reason: str
    before: int  # items before the last tie, in the list where they are fewest

    @property
    def cut(self) -> bool:
        """Whether items may be missing behind what the lists show."""
        return self.truncated != NO


def check_truncated(truncated: object) -> str | dict[str, str]:
    """Hold the argument ``truncated`` to its rule: one of the words, or a mapping of models to them.

    >>> check_truncated("within")
    Traceback (most recent call last):
    retrieval_report.errors.ParameterError: truncated: 'within' is not one of 'auto', 'no', 'between_ties', \
'within_tie'
    """
    if not isinstance(truncated, Mapping):
        check_choice("truncated", truncated, TRUNCATED)
        return str(truncated)
    for model, word in truncated.items():
        check_choice(f"truncated of model {model!r}", word, TRUNCATED)
    return {str(model): str(word) for model, word in truncated.items()}


def check_models(truncated: str | Mapping[str, str], models: list[str]) -> None:
    """Refuse a mapping that names a model which the rankings do not have."""
    unknown = [] if isinstance(truncated, str) else [model for model in truncated if model not in models]
    if unknown:
        raise ParameterError(f"truncated: the rankings have no model {unknown[0]!r}; they have {', '.join(models)}")


def given(truncated: str | Mapping[str, str], models: list[str]) -> dict[str, str]:
    """The word that holds for every model; ``auto`` where a mapping does not name it."""
    if isinstance(truncated, str):
        return dict.fromkeys(models, truncated)
    return {model: truncated.get(model, AUTO) for model in models}


def decide(
    facts: pl.DataFrame, truncated: str | Mapping[str, str], recurring: Callable[[str], bool]
) -> dict[str, Decision]:
    """Decide for every model whether its lists were cut.

    ``facts`` has the columns LIST_FACTS, a row for every list that has items; ``recurring(model)`` tells whether two
    of the model's queries (of the first SAMPLE_QUERIES) share an item, and is asked only where that decides.

    >>> facts = pl.DataFrame({"model": ["m"] * 2, "query": ["p", "q"], "items": [10, 10], "before": [7, 8],
    ...     "found": [3, 4], "known": [9, None], "fingerprint": [1, 2]})
    >>> decide(facts, "auto", lambda model: True)["m"].reason
    "not every known relevant item is in its lists (query 'p': 3 of 9)"
    """
    facts = facts.filter(pl.col("items") > 0)
    models = facts["model"].unique().sort().to_list()
    asked = given(truncated, models)
    shared = _shared(facts) if AUTO in asked.values() else None
    result = {}
    for model, word in asked.items():
        own = facts.filter(model=model)
        before = int(own["before"].min())  # type: ignore[arg-type]
        if word != AUTO:
            result[model] = Decision(word, "as given", before)
            continue
        assert shared is not None
        evidence, reason = _evidence(model, own, facts, shared, recurring)
        kind = (BETWEEN_TIES if _ends_between_ties(own) else WITHIN_TIE) if evidence else NO
        result[model] = Decision(kind, reason, before)
    return result


def _shared(facts: pl.DataFrame) -> pl.DataFrame:
    """Queries that several models have lists for: whether these hold the same items."""
    return (
        facts.filter(pl.col("fingerprint").is_not_null())
        .group_by("query")
        .agg(
            models=pl.len(),
            differ=(pl.col("fingerprint").n_unique() > 1) | (pl.col("items").n_unique() > 1),
        )
        .filter(pl.col("models") > 1)
        .sort("query")
    )


def _evidence(
    model: str, own: pl.DataFrame, facts: pl.DataFrame, shared: pl.DataFrame, recurring: Callable[[str], bool]
) -> tuple[bool, str]:
    """Whether lists of a model were cut, and what says so."""
    lists, items = own.height, own["items"]
    comparable = own["fingerprint"].null_count() == 0
    everything = facts["items"].max()
    if comparable and lists > 1 and own["fingerprint"].n_unique() == 1 and (items == everything).all():
        return False, "every list holds the same items"
    among = shared.join(own.select("query"), on="query", how="semi")
    if among.height and not among["differ"].any():
        return False, "every model ranks the same items of a query"
    if among.height:
        return True, f"models retrieved different items for one query ({among.filter('differ')['query'][0]!r})"
    lacking = own.filter(pl.col("found") < pl.col("known")).sort("query")
    if lacking.height:
        query, found, known = lacking.select("query", "found", "known").row(0)
        return True, f"not every known relevant item is in its lists (query {query!r}: {found} of {known})"
    if not comparable:
        if items.n_unique() > 1 and own["before"].max() > 0 and _ends_between_ties(own):  # type: ignore[operator]
            return True, "its lists end where a tie ends, at about one depth"
        return False, "nothing shows that items are missing"
    longest = max(items.to_list())
    as_long = int((items == longest).sum())
    common = as_long == lists > 1 or (lists >= MANY_LISTS and 2 * as_long >= lists)
    if common and recurring(model):
        return True, f"{'its' if as_long == lists else 'most of its'} lists hold {longest} items, and not the same ones"
    if common:
        return False, "no two queries share an item"
    return False, "nothing shows that items are missing"


def _ends_between_ties(own: pl.DataFrame) -> bool:
    """Whether one position is in the last tie of every list, though they differ in length: cut behind its tie."""
    if own.height < FEW_LISTS or own["items"].n_unique() == 1:
        return False
    return bool(own["before"].max() < own["items"].min())  # type: ignore[operator]


def warn_truncated(
    decisions: Mapping[str, Decision],
    truncated: str | Mapping[str, str],
    cutoffs: list[int | None],
    stacklevel: int,
) -> None:
    """Say of the models whose lists were found to be cut that scores reach into what the cut leaves open.

    ``stacklevel`` counts as in ``warnings.warn`` called here: 1 is this function, 2 its caller.
    """
    asked = given(truncated, list(decisions))
    cut = [
        (model, decision)
        for model, decision in decisions.items()
        if asked[model] == AUTO and decision.cut and any(k is None or k > decision.before for k in cutoffs)
    ]
    if not cut:
        return
    model, decision = cut[0]
    others = f" and of {len(cut) - 1} other models" if len(cut) > 1 else ""
    warnings.warn(
        f"the lists of model {model!r}{others} seem cut: {decision.reason}. Scores that reach into their last tie have "
        "no standard deviation, and their lowest and highest values allow for what a deeper retrieval could show; "
        "truncated='no' (lists hold all items), 'between_ties' or 'within_tie' says what is so",
        RetrievalReportWarning,
        stacklevel=stacklevel,
    )
