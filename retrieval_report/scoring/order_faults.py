"""Find what may be wrong with the order of lists: lists that are turned round, random, of one tie
or in the order of the judgements, and grades that no model orders.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import ColumnNames
from retrieval_report.contracts.frames import MOST_ITEMS
from retrieval_report.contracts.wording import advice, setting, whole_percent
from retrieval_report.kernels.lists import Integers, running
from retrieval_report.reading.printed_ranks import rank_conflicts
from retrieval_report.scoring.judged import Judged
from retrieval_report.scoring.layout import Prepared
from retrieval_report.scoring.unrelated import FAR_BETTER, PART

REVERSED, RANKS = "reversed", "printed ranks"
ONE_TIE, UNORDERED, GRADES = "one tie", "random order", "grades"
COPIED = "copied judgements"
DEVIATIONS = 4.75  # below random order, which an honest model is once in a million
TURNED_DEPTHS = None, 10, 20, 50, 100  # of lists; usual depths of a second stage
TOP_ONLY = (
    "among the first {}, of the lists that hold relevant and other items there: are these turned "
    "round, or their scores given to other items?"
)
PART_DEVIATIONS = 4.0  # from random order, of a list that is reversed by itself
CLEARLY_BELOW = 0.45  # of the pairs of a relevant item and another in the right order; chance: 0.5
CLEARLY_ABOVE = 0.65
HARDLY_ABOVE, SURE = 0.55, 2.0  # and deviations within which that share is known
LONG = 20  # items of a list whose order says more than which items it holds
FEWEST_LISTS = 3  # of a model that share a fault
ALL_BUT_FEW = 0.9  # of a model's lists
PLAIN_LISTS, PLAIN_ITEMS = 5, 5  # so many lists of so many same items in any order are serious
# Lists, and items that no skill alone treats just as the judgements do
COPIED_LISTS, COPIED_ITEMS = 5, 20
IN_ORDER, MANY_GRADES = 10, 3  # items and grades of a list that no skill alone has in perfect order
MADE = "were they made from the judgements?"
OTHER_SCORES = "are they the scores of these ranks?"
OTHER_RANKS = "by the scores, relevant items come first: are the ranks wrong?"
RANDOM = "does it rank at random?"
OTHER_GRADES = (
    "no model does better: are grades or labels in the rows where they belong, and does a larger "
    "grade mean more relevant?"
)
# Within chance, in data that would show a share of .55, or do show that it is smaller. A share that
# is surely small, but as surely above chance, is skill: of long lists, .52 may be.
_MARGIN = SURE * pl.col("variance").sqrt()
LEVEL = (pl.col("right") <= _MARGIN) & (
    pl.min_horizontal("right", 0) + _MARGIN < (HARDLY_ABOVE - 0.5) * pl.col("pairs")
)
Finding = tuple[Any, ...]  # the columns of the frame of health, without the message
Findings = Iterator[Finding]


def printed_ranks(judged: Judged, prepared: Prepared, found: Integers) -> Findings:
    """Find models whose source prints ranks against the order of the scores. ``found`` are the
    `relevant_ties`.
    """
    if judged.printed_ranks is not None:
        early = early_models(prepared, found)
        for model, lists, against, turned in rank_conflicts(judged.printed_ranks).iter_rows():
            if 2 * against > lists:
                example = "" if turned >= ALL_BUT_FEW * lists else OTHER_SCORES
                example = OTHER_RANKS if model in early else example
                yield model, RANKS, 2 * turned > lists, against, lists, example


def early_models(prepared: Prepared, found: Integers) -> set[str]:
    """Return the models whose relevant items come earlier than chance would put them. ``found`` are
    the `relevant_ties`.
    """
    models = _lists_of(prepared, found).group_by("model").sum()
    return {*models.filter(pl.col("right") > DEVIATIONS * pl.col("variance").sqrt())["model"]}


def reversed_lists(prepared: Prepared, found: Integers) -> Findings:
    """Find models that put relevant items after others far more often than random order would, in
    their lists or among the first of them, as a second stage does that turns its scores round.
    ``found`` are the `relevant_ties`.
    """
    turned: dict[str, tuple[float, int | None, int, int]] = {}
    for depth in TURNED_DEPTHS if found.size else ():
        for model, deviations, count, total in _last(prepared, found, depth).iter_rows():
            whole = model in turned and turned[model][1] is None
            if model not in turned or (deviations < turned[model][0] and not whole):
                turned[model] = deviations, depth, count, total
    for model, (_, depth, count, total) in turned.items():
        yield model, REVERSED, True, count, total, TOP_ONLY.format(depth) if depth else ""


def direction(order: str, *, every: bool, columns: ColumnNames = None) -> str:
    """Ask which end is near, and say what to do if it is the other: of one model among several,
    what would turn all of them round is no cure. ``columns`` has the names that the caller gave.
    """
    near, other_column = ("smaller", "score") if order == "distance" else ("larger", "distance")
    other_names = setting("columns", {other_column: (columns or {}).get(order, order)})
    cure = f" If not, negate these {order}s"
    if not every:
        cure += ", and leave those of the other models as they are"
    elif other_names:  # grades that are read as rankings have no other column
        as_scores = setting("scores", True, function="from_search") if order == "distance" else ""
        cure = f" If not: {other_names}{advice(', or {}', as_scores)}"
    return f"does a {near} {order} really mean nearer?{cure}"


def relevant_ties(judged: Judged, prepared: Prepared) -> Integers:
    """Return four rows about the ties that hold relevant items: their list, the rank of their last
    item, and how many items and relevant items they hold; empty if nothing is graded.
    """
    ties = prepared.ties
    if not judged.whole.graded or ties.grade.size == 0:
        return np.empty((4, 0), np.int64)
    cells = np.flatnonzero(prepared.relevant_grade[ties.grade])
    which, first = np.unique(np.searchsorted(ties.tie, cells, side="right") - 1, return_index=True)
    before = running(ties.items)
    begin, end = before[ties.tie[which]], before[ties.tie[which + 1]]
    of_list = np.searchsorted(ties.start, which, side="right") - 1
    of_first = before[ties.tie[ties.start[of_list]]]
    relevant = np.diff(running(ties.items[cells])[np.append(first, cells.size)])
    return np.stack([of_list, end - of_first, end - begin, relevant])


def _last(prepared: Prepared, found: Integers, depth: int | None) -> pl.DataFrame:
    """Return the models whose relevant items come last among the first ``depth`` of a list, by how
    many deviations, in how many lists and of how many.

    Of each list, this is the rank sum of Wilcoxon, Mann and Whitney; its variance is that without
    ties, which is the largest. A tie that the depth cuts counts as not relevant. A model of which
    only a part is reversed is found by lists that are so by themselves.
    """
    lists = _lists_of(prepared, found, MOST_ITEMS if depth is None else depth).with_columns(
        count=pl.col("right") < 0,
        total=pl.col("pairs") > 0,
        part=pl.col("right") < -PART_DEVIATIONS * pl.col("variance").sqrt(),
    )
    other_lists = pl.col("right", "pairs") * ~pl.col("part")
    lists = lists.with_columns(other_lists.name.prefix("other_"))
    models = lists.group_by("model").sum().filter(pl.col("variance") > 0)
    deviations, part = pl.col("right") / pl.col("variance").sqrt(), pl.col("part")
    whole = (deviations < -DEVIATIONS) & (0.5 + pl.col("right") / pl.col("pairs") < CLEARLY_BELOW)
    # Relevant items that lie together come last in some lists of a model without skill, too.
    skill = 0.5 + pl.col("other_right") / pl.col("other_pairs") > CLEARLY_ABOVE
    some = skill & (part >= FEWEST_LISTS) & (part >= PART * pl.col("total"))
    count = pl.when(whole).then("count").otherwise("part")
    return models.filter(whole | some).select("model", deviations, count, "total")


def _lists_of(prepared: Prepared, found: Integers, depth: int = MOST_ITEMS) -> pl.DataFrame:
    """Return the rank sums of every list, or of its first ``depth`` items."""
    of_list, last, size, relevant = found[:, found[1] <= depth]
    found_items, ranks = (
        np.bincount(of_list, values, prepared.length.size).astype(np.float64)
        for values in (relevant, relevant * (last - (size - 1) / 2))
    )
    return _rank_sums(
        prepared.names.select("model").with_columns(
            length=np.minimum(prepared.length, depth).astype(np.float64),
            found=found_items,
            ranks=ranks,
        )
    )


def _rank_sums(lists: pl.DataFrame) -> pl.DataFrame:
    """Add by how much the relevant items of every list come before the others, summed over
    ``pairs`` of them, and the variance of that in random order: from its ``length`` and how many
    items were ``found`` to be relevant, at which ``ranks`` in all.
    """
    length, found = pl.col("length"), pl.col("found")
    pairs = found * (length - found)
    return lists.with_columns(
        pairs=pairs,
        right=found * (length + 1) / 2 - pl.col("ranks"),
        variance=pairs * (length + 1) / 12,
    )


def unordered(judged: Judged, prepared: Prepared, found: Integers) -> Findings:
    """Find models whose long lists are in random order: relevant items come no earlier in them
    than others do. Of short lists, which hold the best only, the order says less than what they
    hold. This is serious if no model does better, as where the labels of items are shifted.
    ``found`` are the `relevant_ties`.
    """
    ties, length, pairs = prepared.ties, pl.col("length"), pl.col("pairs")
    if not found.size:
        return
    size = np.diff(running(ties.items)[ties.tie]).astype(np.float64)
    of_list = np.repeat(np.arange(prepared.length.size), np.diff(ties.start))
    tied = np.bincount(of_list, size**3 - size, prepared.length.size)
    lists = _lists_of(prepared, found).with_columns(tied=tied, of=(length > 0).sum().over("model"))
    lists = lists.filter(pairs > 0, length >= LONG).with_columns(
        with_ties=pl.col("variance") - pairs * pl.col("tied") / (length * (length - 1) * 12)
    )
    # Relevant items that are alike, as those of a class, come early or late together.
    together = (pl.col("right") ** 2).sum()
    models = lists.group_by("model").agg(
        pl.sum("right", "pairs"),
        *(
            pl.max_horizontal(pl.sum(name), together).alias(name)
            for name in ("variance", "with_ties")
        ),
        pl.first("of"),
        lists=pl.len(),
    )
    is_chance = pl.col("right") <= SURE * pl.col("with_ties").clip(0).sqrt()
    at_random = models.filter(LEVEL, is_chance).sort("model")
    nobody = 1 < at_random.height == judged.lists["model"].n_unique()
    for model, number, total in at_random.select("model", "lists", "of").iter_rows():
        yield model, UNORDERED, nobody, number, total, OTHER_GRADES if nobody else RANDOM


def other_grades(rows: pl.DataFrame, known: pl.DataFrame) -> Findings:
    """Find judgements by which no model ranks relevant items before others that are judged, as
    where grades stand in other rows or are turned round. Items that nobody judged say nothing
    here: lists hold them last, whatever the grades. Of few judged items, honest models order
    some backwards, and one model alone may do so of many in a shallow pool, which is no more
    than a note.
    """
    models = _orders_of_judged(rows, known)
    if models.is_empty():
        return
    pairs, right = models.select(pl.sum("pairs", "right")).row(0)
    serious, example = models.height > 1, OTHER_GRADES
    is_doubtful = right < (CLEARLY_ABOVE - 0.5) * pairs
    if by_line := _moved_grades(rows, known, right) if is_doubtful else "":
        serious, example = True, by_line
    elif not models.select(LEVEL.all()).item():
        return
    for model in models["model"]:
        yield model, GRADES, serious, round(pairs / 2 + right), int(pairs), example


def _moved_grades(rows: pl.DataFrame, known: pl.DataFrame, right: float) -> str:
    """Return whether items have the grades of the next line of the judgements, or of the one
    before: empty unless the models would then put far more pairs right. A model's lists are alike
    to those of others, so that the deviations of all count as those of one.
    """
    for by, line in ((1, "previous"), (-1, "next")):
        moved = _orders_of_judged(rows, known.with_columns(pl.col("relevance").shift(by)))
        pairs, more, variance = moved.select(pl.sum("pairs", "right", "variance")).row(0)
        if more > max(FAR_BETTER * right, DEVIATIONS * (variance * moved.height) ** 0.5):
            return (
                f"{whole_percent(0.5 + more / pairs)} if every item had the grade of the {line} "
                "line of the judgements: are grades shifted by a line?"
            )
    return ""


def _orders_of_judged(rows: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Return the rank sums of every model among the judged items of long lists."""
    rank, relevant = pl.col("value").rank().over("list"), pl.col("relevance") > 0
    rows = rows.join(known.select("query", "item", "relevance"), on=["query", "item"])
    ranked = rows.select("model", "list", rank=rank, relevant=relevant)
    lists = ranked.group_by("model", "list").agg(
        length=pl.len().cast(pl.Float64),
        found=pl.sum("relevant").cast(pl.Float64),
        ranks=pl.col("rank").filter("relevant").sum(),
    )
    lists = _rank_sums(lists.filter(pl.col("length") >= LONG))
    return lists.group_by("model").sum().filter(pl.col("pairs") > 0).sort("model")


def one_tie(prepared: Prepared) -> Findings:
    """Find models that tell no items of nearly any list apart, as equal codes do, or judgements
    that were passed as rankings.
    """
    ties = np.diff(prepared.ties.start) == 1
    lists = prepared.names.select("model", ties=ties, items=prepared.length)
    lists = lists.filter(pl.col("items") >= PLAIN_ITEMS)
    models = lists.group_by("model").agg(pl.sum("ties"), lists=pl.len())
    models = models.filter(
        pl.col("ties") >= ALL_BUT_FEW * pl.col("lists"), pl.col("lists") >= PLAIN_LISTS
    )
    example = "do they hold judgements or a constant instead of scores?"
    for model, number, total in models.sort("model").iter_rows():
        yield model, ONE_TIE, False, number, total, example


def copied(prepared: Prepared) -> Findings:
    """Find models that were made from the judgements: all their lists are in perfect order, and in
    a way that no skill alone brings about.
    """
    full = np.flatnonzero(prepared.length)
    first, best = (
        lists.grade[lists.tie[lists.start[full]]] for lists in (prepared.ties, prepared.retrieved)
    )
    lists = pl.DataFrame({"list": full, "is_best": first == best})
    lists = lists.with_columns(prepared.names["model"][full]).filter(
        pl.col("is_best").all().over("model"), pl.len().over("model") >= COPIED_LISTS
    )
    for (model,), rows in lists.group_by("model", maintain_order=True):
        if sign := _sign_of_a_copy(prepared, rows["list"].to_numpy()):
            yield model, COPIED, True, rows.height, rows.height, f"{sign}: {MADE}"


def _sign_of_a_copy(prepared: Prepared, which: Integers) -> str:
    """Return what shows that lists were made from the judgements. One relevant item a query, always
    found, is no sign, nor are distinct scores that put two grades apart: good models do so.
    """
    ties = prepared.ties.take(which)
    of_list = np.repeat(np.arange(which.size), np.diff(ties.start))
    step = np.diff(ties.grade[ties.tie[:-1]])[np.diff(of_list) == 0]
    if ties.grade.size > of_list.size or (step > 0).any():
        return ""
    repeated = (ties.items - 1)[prepared.relevant_grade[ties.grade]].sum()
    grades = 1 + np.bincount(of_list[1:][np.diff(of_list) == 0], step < 0, which.size)
    if (step < 0).all() and repeated >= COPIED_ITEMS and (grades > 1).sum() >= COPIED_LISTS:
        return "scores tie just where grades do"
    length, relevant = prepared.length[which], prepared.relevant[which]
    if ((length >= IN_ORDER) & (grades >= MANY_GRADES)).sum() >= COPIED_LISTS:
        return f"{MANY_GRADES} grades or more are in perfect order"
    retrieved = prepared.retrieved.total(prepared.relevant_grade)[which]
    all_relevant = prepared.all_judged and ((retrieved == length) & (length == relevant)).all()
    # Lists of one length may have been cut there, but scores would not tie then.
    is_told = length.min() < length.max() or (length.max() > 1 and of_list.size == which.size)
    if all_relevant and is_told and length.sum() >= COPIED_ITEMS:
        return "they hold whatever is relevant and nothing else"
    return ""
