"""Decide whether the lists of a model were truncated: as the caller or the source says, or by proof
from the lists.

Lists are whole on proof only: all of them hold one and the same set of items, and nothing is known
outside it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import polars as pl

from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import DataError, ParameterError
from retrieval_report.contracts.frames import with_model
from retrieval_report.contracts.options import AUTO, NO, WITHIN_TIE

AS_GIVEN = "as given"
AS_COUNTED = "as the counts say"
SAME_ITEMS = "every list holds the same items"
SAME_LIST = "every query has the same list"  # as whoever recommends what is popular has cut it
NOT_KNOWN = "not known"


class Decision(NamedTuple):
    """What is assumed about the lists of one model, and why."""

    truncated: str  # no, between_ties or within_tie
    reason: str


LACKING = ("query", "found", "known")
UNPROVEN = Decision(WITHIN_TIE, NOT_KNOWN)


def as_counted(rows: pl.DataFrame) -> dict[str, str]:
    """Return the word for every model whose counts say
    how their lists end, in their column ``truncated``.
    """
    if "truncated" not in rows.columns:
        return {}
    words = with_model(rows).select("model", "truncated").unique().sort("model", "truncated")
    two = words.filter(pl.col("model").is_duplicated())
    if two.height:
        model, first, second = two["model"][0], *two["truncated"][:2]
        raise DataError(
            f"column 'truncated': model {model!r} has both {first!r} and {second!r}; all its lists "
            "must end in the same way"
        )
    return dict(words.drop_nulls().iter_rows())


def decide(
    truncated: str | Mapping[str, str],
    models: Sequence[str],
    from_counts: Mapping[str, str],
    look: Callable[[], Mapping[str, Decision]],
) -> dict[str, Decision]:
    """Decide for every model whether its lists were truncated.

    ``from_counts`` holds what counts say. ``look()`` finds what the lists of every model prove, and
    is called only if it decides about one of them.

    >>> facts = pl.DataFrame(
    ...     {
    ...         "model": ["m"] * 2,
    ...         "query": ["p", "q"],
    ...         "items": [10, 10],
    ...         "found": [3, 4],
    ...         "known": [9, None],
    ...         "items_key": [1, 2],
    ...         "key_with_query": [None, None],
    ...         "pooled": [10, 10],
    ...     }
    ... )
    >>> decide("auto", ["m"], {}, lambda: gather(facts))["m"].reason
    "not every known relevant item is in its lists (query 'p': 3 of 9)"
    """
    word_by_model = dict.fromkeys(models, truncated) if isinstance(truncated, str) else truncated
    words = {**dict.fromkeys(models, AUTO), **word_by_model}
    unknown = [model for model in words if model not in models]
    if unknown:
        raise ParameterError(
            f"truncated: the rankings have no model {unknown[0]!r}; they have {', '.join(models)}"
        )
    decisions = {model: Decision(word, AS_COUNTED) for model, word in from_counts.items()}
    decisions |= {model: Decision(word, AS_GIVEN) for model, word in words.items() if word != AUTO}
    proven = look() if words.keys() - decisions.keys() else {}
    return {model: decisions.get(model) or proven.get(model, UNPROVEN) for model in words}


def ends_of(decisions: Mapping[str, Decision]) -> dict[str, str]:
    """Return how the lists of each model end."""
    return {model: decision.truncated for model, decision in decisions.items()}


def _by_proof(same: bool, repeated: bool, lacking: Named | None, outdone: object) -> Decision:
    """Return what the lists of a model prove: whether they all hold the same items, also at the
    same distances, a query of which they lack known relevant items, and one for which another model
    retrieved other items.
    """
    if lacking is not None:
        return _lacking(**lacking)
    if repeated:
        return Decision(WITHIN_TIE, SAME_LIST)
    if outdone is not None:
        return Decision(
            WITHIN_TIE, f"another model retrieved items for query {outdone!r} that it lacks"
        )
    return Decision(NO, SAME_ITEMS) if same else UNPROVEN


def _lacking(query: object, found: int, known: int) -> Decision:
    """Return what a list proves in which relevant items of its query are not found."""
    where = f"query {query!r}: {found} of {known}"
    return Decision(WITHIN_TIE, f"not every known relevant item is in its lists ({where})")


def gather_lacking(lists: pl.DataFrame) -> dict[str, Decision]:
    """Return what models prove whose lists lack relevant items, from the first columns that
    `gather` takes, sorted; whatever else is in their lists then proves nothing more.
    """
    lacking = lists.filter(pl.col("items") > 0, pl.col("found") < pl.col("known"))
    first = lacking.unique("model", keep="first", maintain_order=True)
    return {model: _lacking(*row) for model, *row in first["model", *LACKING].iter_rows()}


def surely_cut(lists: pl.DataFrame, models: Sequence[str]) -> bool:
    """Return whether some lists of every model, as `gather` takes them, show that its lists were
    cut, whatever its others hold: two with different items, or one that lacks what another found.

    >>> facts = pl.DataFrame({"model": ["m"] * 2, "query": [1, 2], "items": 5, "items_key": [7, 8]})
    >>> unknown = pl.lit(None, pl.UInt64)
    >>> facts = facts.with_columns(found=0, known=unknown, key_with_query=unknown, pooled=5)
    >>> surely_cut(facts, ["m"]), surely_cut(facts.head(1), ["m"])
    (True, False)
    """
    several = lists.filter(pl.col("items") > 0).group_by("model").len().filter(pl.col("len") > 1)
    return {
        model
        for model, decision in gather(lists).items()
        if decision.truncated != NO and decision.reason != SAME_LIST
    }.intersection(several["model"]).issuperset(models)


def gather(lists: pl.DataFrame) -> dict[str, Decision]:
    """Return what the lists of every model prove, from one row per list.

    The columns are ``model``, ``query``, ``items`` (of the list), ``found`` (relevant items of
    the list), ``known`` (relevant items of the query as judgements or ``n_relevant`` say; null
    where they do not), ``items_key`` (equal where two lists of one length hold the same items;
    null for counts), ``key_with_query`` (the same with the query as one more item; null
    likewise), perhaps ``list_key`` (equal where the items also have the same distances; null for
    lists of one tie, which have no order, and absent for counts and several models), and
    ``pooled`` (more than ``items`` if another model retrieved an item for the query that this one
    did not; null for counts).
    """
    # Of counts, only the number of items tells.
    counts = lists["pooled"].null_count() > 0
    most = pl.max("items").over("query") if counts else pl.col("pooled")
    if "list_key" not in lists.columns:
        lists = lists.with_columns(list_key=pl.lit(None, pl.UInt64))
    alike = pl.col("list_key") == pl.first("list_key")
    # Of several models, each with the same items in an order of its own, these are the candidates.
    single_model = lists["model"].n_unique() == 1
    repeated = alike.fill_null(False).all() & (pl.len() > 1) & single_model
    lists = lists.filter(pl.col("items") > 0).sort("model", "query").with_columns(most=most)
    proofs = lists.group_by("model").agg(
        same=(_all_like(key="items_key", more=0) | _all_like(key="key_with_query", more=1))
        & (pl.len() > 1),
        repeated=repeated,
        lacking=pl.struct(LACKING).filter(pl.col("found") < pl.col("known")).first(),
        outdone=pl.col("query").filter(pl.col("items") < pl.col("most")).first(),
    )
    return {row.pop("model"): _by_proof(**row) for row in proofs.iter_rows(named=True)}


def _all_like(key: str, more: int) -> pl.Expr:
    """Return whether all lists hold the items of the first, or lack only their query; ``key`` is
    that of the first.
    """
    first = pl.first(key)
    items = pl.first("items") + more
    whole = (pl.col("items_key") == first) & (pl.col("items") == items)
    without_query = (pl.col("key_with_query") == first) & (pl.col("items") + 1 == items)
    return (whole.fill_null(False) | without_query.fill_null(False)).all()
