"""Record what may be wrong with the data of every model, before anything is said about its scores.

All of it comes from the one join, from the lists laid out for scoring and from a sample of their
rows; nothing is scored.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import Array
from retrieval_report.contracts.frames import MOST_ITEMS, with_model
from retrieval_report.contracts.options import Options
from retrieval_report.contracts.registry import schema
from retrieval_report.contracts.wording import advice, setting
from retrieval_report.kernels.lists import Codes, Floats, Integers, Lists, running
from retrieval_report.reading.printed_ranks import rank_conflicts
from retrieval_report.scoring.judged import Judged
from retrieval_report.scoring.layout import Prepared, lay_out
from retrieval_report.scoring.unrelated import (
    MOST_LISTS,
    MOST_ROWS,
    PART,
    SHIFTED_IDS,
    WRONG_QUERIES,
    unrelated_models,
)

HEALTH = schema("health")
NO_LIST, NO_MATCH, OTHER_IDS = "no list", "no match", "other ids"
UNJUDGED_LISTS = "unjudged lists"
NO_RELEVANT, OTHER_QUERIES = "nothing relevant", "other queries"
REVERSED, RANKS, SAME_LIST = "reversed", "printed ranks", "same list"
UNRELATED, REPEATED, FINE = "unrelated", "repeated judgements", "fine judgements"
ONE_TIE, UNORDERED, GRADES = "one tie", "random order", "grades"
COPIED = "copied judgements"
AT_RANDOM = UNRELATED, UNORDERED, ONE_TIE  # of models that rank no better than chance
SENTENCES = {
    NO_LIST: "{affected} of {total} judged queries have no list from {models} ({example})",
    NO_MATCH: "no query scores above 0 for {models}, because none of {total} items is judged "
    "({example})",
    OTHER_QUERIES: "none of {total} queries of {models} is judged: the ids of queries disagree "
    "({example})",
    NO_RELEVANT: "no query scores above 0 for {models}, because none of {total} items is relevant "
    "({example})",
    UNJUDGED_LISTS: "{affected} of {total} lists of {models} hold no judged item, although the "
    "others hold many ({example})",
    OTHER_IDS: "{affected} of {total} items of {models} have ids of a form that no judged item has "
    "({example})",
    REVERSED: "relevant items come last in {affected} of {total} lists of {models}, as if the lists "
    "were read the wrong way round ({example})",
    RANKS: "the printed ranks of {models} contradict the order of the scores in {affected} of {total} lists "
    "({example})",
    SAME_LIST: "the {total} lists of {models} are much the same whatever the query ({example})",
    WRONG_QUERIES: "{affected} of {total} lists of {models} belong to other queries ({example})",
    SHIFTED_IDS: "the ids of items of {models} are shifted in {affected} of {total} lists ({example})",
    UNRELATED: "the lists of {models} hold no more relevant items than lists of other queries would: "
    "{affected} of {total} items ({example})",
    UNORDERED: "relevant items come no earlier than others in the {total} lists of {models} ({example})",
    GRADES: "of a relevant item and another that is judged, {models} put the relevant one first in "
    "{affected} of {total} pairs, which chance does in half of them ({example})",
    ONE_TIE: "all items tie in {affected} of the {total} lists of {models} ({example})",
    COPIED: "all {total} lists of {models} follow the judgements without a fault ({example})",
    FINE: "{affected} of {total} judgements give their item a grade of its own in the query ({example})",
    REPEATED: "{affected} of {total} judgements repeat an item that was already judged for the "
    "query ({example})",
}
FEW_MISSING = 0.05  # of the judged queries: a system may find nothing for some of them
DEVIATIONS = 4.75  # below random order, which an honest model is once in a million
TURNED_DEPTHS = None, 10, 20, 50, 100  # of lists; usual depths of a second stage
TOP_ONLY = "among the first {}: does a second stage rank them by scores that mean the opposite?"
PART_DEVIATIONS = 4.0  # from random order, of a list that is reversed by itself
CLEARLY_BELOW = 0.45  # of the pairs of a relevant item and another in the right order; chance: 0.5
CLEARLY_ABOVE = 0.65
HARDLY_ABOVE, SURE = 0.55, 2.0  # and deviations within which that share is known
LONG = 20  # items of a list whose order says more than which items it holds
SAMPLED_LISTS, SAMPLED_ROWS = 20, 20  # lists of a model, and rows of each, that are looked at
# judged items of a query, and of the other lists, from which on a list without any is no accident
MANY_JUDGED = 10
ENOUGH = 5  # items that an honest model would match, of those of one that matches none
# shares of a model's ids that are noted, and that are serious: if enough ids are judged to show
# the form, or if it is the form of most
OTHER_FORMS, MANY, SERIOUS_SHARE = 0.02, 0.1, 0.5
FEWEST_LISTS, FEWEST_ITEMS = 3, 3  # in one order
ALL_BUT_FEW = 0.9  # of a model's lists
PLAIN_LISTS, PLAIN_ITEMS = 5, 5  # so many lists of so many same items in any order are serious
WHOLE_LISTS, WHOLE_ROWS = 8, 1000  # lists of a model, and rows of each, whose items are compared
SAME_ITEMS = 0.9  # of the rows of these lists: items that all of them hold, but one
NO_ACCIDENT = math.log(30)  # one of so many chances: lists in one order are no accident
PLAIN_ORDER, MANY_LISTS = 150.0, 30  # that of 20 lists of ten items; of so many lists serious
# Lists, and items that no skill alone treats just as the judgements do
COPIED_LISTS, COPIED_ITEMS = 5, 20
IN_ORDER, MANY_GRADES = 10, 3  # items and grades of a list that no skill alone has in perfect order
MADE = "were they made from the judgements?"
NOBODY_BETTER = (
    "no model's lists suit their own queries better: do the judgements and the lists belong "
    "together, or are they of other collections?"
)
OTHER_SCORES = "are they the scores of these ranks?"
RANDOM = "does it rank at random?"
OTHER_GRADES = (
    "no model does better: are grades or labels in the rows where they belong, and does a larger "
    "grade mean more relevant?"
)
# A share that is surely small, but as surely above chance, is skill: of long lists, .52 may be.
_MARGIN = SURE * pl.col("variance").sqrt()
LEVEL = (pl.col("right") <= _MARGIN) & (
    pl.col("right") + _MARGIN < (HARDLY_ABOVE - 0.5) * pl.col("pairs")
)
Finding = tuple[Any, ...]  # the columns of HEALTH, without the message


def health_of(judged: Judged, options: Options) -> pl.DataFrame:
    """Return what may be wrong with the data of each model, serious faults first."""
    return _frame(_findings(judged, options))


def _findings(judged: Judged, options: Options) -> list[Finding]:
    prepared = lay_out(judged, replace(options, policies=("expected",)))
    sample = _sample(judged)
    has_judgements = prepared.relevant >= 0
    lists = prepared.names.select(
        "model", missing=prepared.missing & has_judgements, total=has_judgements
    )
    turned = [*_printed_ranks(judged), *_reversed(judged, prepared)]
    every = {model for model, *_, example in turned if not example} == {*judged.lists["model"]}
    direction = _direction(judged.order, every=every)
    findings = [*_unanswered(lists.group_by("model").sum(), options)]
    findings += [(*finding[:-1], finding[-1] or direction) for finding in turned]
    if judged.named and "judged" in judged.lists.columns:
        findings += [*_unmatched(judged), *_other_ids(judged, sample)]
        findings += [*_unjudged_lists(judged, [model for model, *_ in findings])]
    if foreign := [*_other_queries(judged, prepared)]:
        models = [model for model, *_ in foreign]
        findings = [*foreign, *(row for row in findings if row[0] not in models)]
    of_ids = [model for model, name, *_ in findings if name in {NO_MATCH, OTHER_IDS, OTHER_QUERIES}]
    if judged.whole.judged:
        findings += _without_relevant(prepared, of_ids)
    findings += (row for row in _same_lists(judged, sample) if row[0] not in of_ids)
    unmatched = {NO_LIST, NO_MATCH, NO_RELEVANT}
    explained = [model for model, name, *_ in findings if name not in unmatched]
    unrelated = [*_unrelated(judged, explained)]
    causes = {model for model, name, *_ in unrelated if name != UNRELATED}
    findings = [
        row for row in findings if row[0] not in causes or row[1] not in {NO_MATCH, NO_RELEVANT}
    ]
    explained = [model for model, name, *_ in findings if name != NO_LIST]
    findings += (row for row in unrelated if row[0] not in explained)
    copied = [*_copied(prepared)]
    findings += copied
    copies = {model for model, *_ in copied}
    findings += (row for row in _one_tie(judged, prepared) if row[0] not in copies)
    explained = [model for model, name, *_ in findings if name != NO_LIST]
    findings += (row for row in _unordered(judged, prepared) if row[0] not in explained)
    findings += _fine(judged)
    return [*findings, *_repeated(*judged.repeated_judgements, options)]


def sentence_of(finding: Finding, models: str) -> str:
    """Return one fault of models in words."""
    _, name, _, affected, total, example = finding[:6]
    return SENTENCES[name].format(affected=affected, total=total, models=models, example=example)


def health_of_summary(
    summary: pl.DataFrame, options: Options, sample: Judged | None = None, note: str = ""
) -> pl.DataFrame:
    """Return the same where the lists are not in memory: the summary shows judged queries without
    a list, and a sample of the queries everything else, which ``note`` says.
    """
    missing, left_out = pl.max("missing"), options.missing_query != "zero"
    models = summary.group_by("model").agg(missing, total=pl.max("queries") + missing * left_out)
    findings = [] if sample is None else _findings(sample, options)
    sampled = [
        (*finding[:-1], f"{finding[-1]}{note if finding[0] else ''}")
        for finding in findings
        if finding[1] != NO_LIST
    ]
    return _frame([*_unanswered(models, options), *sampled])


def _frame(findings: Iterable[Finding]) -> pl.DataFrame:
    rows = [(*finding, sentence_of(finding, finding[0] or "")) for finding in findings]
    frame = pl.DataFrame(rows, schema=HEALTH, orient="row")
    return frame.sort(~pl.col("serious"), "model", maintain_order=True)


def _unanswered(models: pl.DataFrame, options: Options) -> Iterator[Finding]:
    """Find judged queries for which a model has no list; every row has how many are missing, and
    how many there are.
    """
    zero = options.missing_query == "zero"
    effect = "they count as 0" if zero else "they are left out"
    leave = advice("; {} leaves them out", setting("missing_query", "skip")) if zero else ""
    for model, missing, total in models.filter(pl.col("missing") > 0).iter_rows():
        serious = missing > FEW_MISSING * total and (zero or missing > 1)
        example = f"was the run cut off? {effect}" if serious else effect + leave
        yield model, NO_LIST, serious, missing, total, example


def _repeated(merged: int, total: int, options: Options) -> Iterator[Finding]:
    """Find judgements that repeat others: a pool that was judged twice, or files that overlap."""
    if merged:
        rule = options.repeated_judgements
        counts = "each counts once" if rule == "error" else f"the {rule} of their grades counts"
        yield None, REPEATED, False, merged, total, counts


def _fine(judged: Judged) -> Iterator[Finding]:
    """Find judgements in which nearly no two items of a query have one grade, as scores of a run have."""
    if judged.whole.judged and judged.grades.size > MANY_JUDGED:
        grades = judged.known.group_by("query").agg(
            pl.len(), alone=pl.col("relevance").is_unique().sum()
        )
        alone, total = (
            grades.filter(pl.col("len") >= MANY_JUDGED).select("alone", "len").sum().row(0)
        )
        if alone > total / 2:
            yield None, FINE, False, alone, total, "are they the scores of a run?"


def _printed_ranks(judged: Judged) -> Iterator[Finding]:
    """Find models whose source prints ranks against the order of the scores."""
    if judged.printed_ranks is not None:
        for model, lists, against in rank_conflicts(judged.printed_ranks).iter_rows():
            if 2 * against > lists:
                example = "" if against >= ALL_BUT_FEW * lists else OTHER_SCORES
                yield model, RANKS, True, against, lists, example


def _direction(order: str, *, every: bool) -> str:
    """Ask which end is near, and say what to do if it is the other: of one model among several,
    what would turn all of them round is no cure.
    """
    near, other_column = ("smaller", "score") if order == "distance" else ("larger", "distance")
    cure = advice(" If not: {}", setting("columns", {other_column: order}))
    if not every:
        cure = f" If not, negate these {order}s, and leave those of the other models as they are"
    elif order == "distance":
        cure += advice(", or {}", setting("scores", True, function="from_search"))
    return f"does a {near} {order} really mean nearer?{cure}"


def _reversed(judged: Judged, prepared: Prepared) -> Iterator[Finding]:
    """Find models that put relevant items after others far more often than random order would, in
    their lists or among the first of them, as a second stage does that turns its scores round.
    """
    ties = prepared.ties
    if not judged.whole.graded or ties.grade.size == 0:
        return
    turned: dict[str, tuple[float, int | None, int, int]] = {}
    found = _relevant_ties(prepared)
    for depth in TURNED_DEPTHS:
        for model, deviations, count, total in _last(prepared, found, depth).iter_rows():
            whole = model in turned and turned[model][1] is None
            if model not in turned or (deviations < turned[model][0] and not whole):
                turned[model] = deviations, depth, count, total
    for model, (_, depth, count, total) in turned.items():
        yield model, REVERSED, True, count, total, TOP_ONLY.format(depth) if depth else ""


def _relevant_ties(prepared: Prepared) -> Integers:
    """Return four rows about the ties that hold relevant items: their list, the rank of their last
    item, and how many items and relevant items they hold.
    """
    ties = prepared.ties
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
    ties, which is the largest. A tie that the depth cuts counts as not relevant. A model of which only
    a part is reversed is found by lists that are so by themselves.
    """
    lists = _rank_sums(prepared, found, MOST_ITEMS if depth is None else depth)
    lists = lists.with_columns(
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


def _rank_sums(prepared: Prepared, found: Integers, depth: int) -> pl.DataFrame:
    """Return for every list by how much its relevant items come before the others, summed over
    ``pairs`` of them, and the variance of that in random order.
    """
    length = np.minimum(prepared.length, depth).astype(np.float64)
    of_list, last, size, relevant = found[:, found[1] <= depth]

    def summed(values: Floats | Integers) -> Array:
        return np.bincount(of_list, values, length.size)

    rank = last - (size - 1) / 2
    relevant_found = summed(relevant)
    pairs = relevant_found * (length - relevant_found)
    return prepared.names.select("model").with_columns(
        right=relevant_found * (length + 1) / 2 - summed(relevant * rank),
        variance=pairs * (length + 1) / 12,
        pairs=pairs,
    )


def _unordered(judged: Judged, prepared: Prepared) -> Iterator[Finding]:
    """Find models whose long lists are in random order: relevant items come no earlier in them than
    others do. Of short lists, which hold the best only, the order says less than what they hold. This
    is serious if no model does better, as where the labels of items are shifted.
    """
    ties = prepared.ties
    if not judged.whole.graded or ties.grade.size == 0:
        return
    size = np.diff(running(ties.items)[ties.tie]).astype(np.float64)
    of_list = np.repeat(np.arange(prepared.length.size), np.diff(ties.start))
    tied = np.bincount(of_list, size**3 - size, prepared.length.size)
    lists = _rank_sums(prepared, _relevant_ties(prepared), MOST_ITEMS)
    lists = lists.with_columns(length=pl.Series(prepared.length, dtype=pl.Float64), tied=tied)
    length, pairs = pl.col("length"), pl.col("pairs")
    lists = lists.filter(pairs > 0, length >= LONG).with_columns(
        with_ties=pl.col("variance") - pairs * pl.col("tied") / (length * (length - 1) * 12)
    )
    models = lists.group_by("model").agg(
        pl.sum("right", "variance", "pairs", "with_ties"), lists=pl.len()
    )
    is_chance = pl.col("right") <= SURE * pl.col("with_ties").clip(0).sqrt()
    found = models.filter(LEVEL, is_chance).sort("model")
    nobody = 1 < found.height == judged.lists["model"].n_unique()
    for model, number in found.select("model", "lists").iter_rows():
        yield model, UNORDERED, nobody, number, number, OTHER_GRADES if nobody else RANDOM


def _sample(
    judged: Judged, most_lists: int = SAMPLED_LISTS, most_rows: int = SAMPLED_ROWS
) -> pl.DataFrame:
    """Return ``model``, ``list``, ``query``, ``item`` and ``value`` (small is near) of the first rows of some
    lists of every model.
    """
    full = np.flatnonzero(judged.rows.end > judged.rows.begin)
    number = pl.int_range(pl.len())
    step = pl.max_horizontal(1, pl.len() // most_lists)
    lists = judged.lists.select("model")[full].with_columns(at=pl.Series(full))
    lists = lists.filter((number % step).over("model") == 0)
    first = judged.rows.begin[lists["at"]]
    some = np.minimum(judged.rows.end[lists["at"]] - first, most_rows)
    rows = np.repeat(first - np.append(0, np.cumsum(some)[:-1]), some) + np.arange(some.sum())
    names = ["query", "item", judged.order] if judged.named else ["query", judged.order]
    near = pl.col(judged.order).cast(pl.Float64)
    return judged.retrieved.select(names)[rows].with_columns(
        lists["model"].gather(np.repeat(np.arange(some.size), some)),
        pl.Series("list", np.repeat(np.arange(some.size), some)),
        value=near if judged.order == "distance" else -near,
    )


def _same_lists(judged: Judged, sample: pl.DataFrame) -> Iterator[Finding]:
    """Find models whose lists hold the same items whatever the query, as lists of the most popular
    items do: in the same order, where some may lack an item that their user has seen, or in any.
    """
    if "item" not in sample.columns:
        return
    full = judged.lists.filter(~pl.col("missing")).group_by("model").len()
    few, ordered = _of_few_items(judged), _in_one_order(sample)
    plain = ordered.filter(pl.col("evidence") > PLAIN_ORDER)["model"]
    names = pl.concat([ordered.select("model"), few]).unique()
    for model, lists in full.join(names, on="model", how="semi").sort("model").iter_rows():
        example = "does it recommend the same to everybody?"
        serious = model in few["model"] or (lists >= MANY_LISTS and model in plain)
        yield model, SAME_LIST, serious, lists, lists, example


def _one_tie(judged: Judged, prepared: Prepared) -> Iterator[Finding]:
    """Find models that tell no items of nearly any list apart, as equal codes do, or judgements that were
    passed as rankings.
    """
    ties = np.diff(prepared.ties.start) == 1
    lists = judged.lists.select("model", ties=ties, items=judged.rows.end - judged.rows.begin)
    lists = lists.filter(pl.col("items") >= PLAIN_ITEMS)
    models = lists.group_by("model").agg(pl.sum("ties"), lists=pl.len())
    models = models.filter(
        pl.col("ties") >= ALL_BUT_FEW * pl.col("lists"), pl.col("lists") >= PLAIN_LISTS
    )
    example = "do they hold judgements or a constant instead of scores?"
    for model, number, total in models.sort("model").iter_rows():
        yield model, ONE_TIE, False, number, total, example


def _copied(prepared: Prepared) -> Iterator[Finding]:
    """Find models that were made from the judgements: all their lists are in perfect order, and in a way
    that no skill alone brings about.
    """
    full = np.flatnonzero(prepared.length)

    def first_grade(lists: Lists) -> Codes:
        return lists.grade[lists.tie[lists.start[full]]]

    is_best = first_grade(prepared.ties) == first_grade(prepared.retrieved)
    lists = pl.DataFrame({"list": full, "is_best": is_best})
    lists = lists.with_columns(prepared.names["model"][full])
    lists = lists.filter(
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
    if all_relevant and length.min() < length.max() and length.sum() >= COPIED_ITEMS:
        return "they hold whatever is relevant and nothing else"
    return ""


def _in_one_order(sample: pl.DataFrame) -> pl.DataFrame:
    """Return the models whose lists do not contradict each other's order of the same items, and
    the logarithm of one in how many such an accident would be.
    """
    keys = ["model", "list"]
    after = sample.with_columns(pl.col("list") - 1)
    both = sample.join(after, on=[*keys, "item"]).sort("list", "value", "value_right")
    size = sample.group_by(keys).agg(size=pl.len())
    distinct = pl.min_horizontal(pl.n_unique("value"), pl.n_unique("value_right"))
    shared = both.group_by(keys).agg(
        number=pl.len(), falls=(pl.col("value_right").diff() < 0).any(), distinct=distinct
    )
    pairs = size.join(shared, on=keys, how="left").with_columns(
        evidence=pl.int_ranges(1, pl.col("distinct") + 1).list.eval(pl.element().log()).list.sum()
    )
    last = pl.col("list") == pl.max("list")
    like = (2 * pl.col("number") >= pl.col("size")) & ~pl.col("falls")
    like &= pl.col("distinct") >= FEWEST_ITEMS
    models = pairs.group_by("model").agg(
        same=(like.fill_null(value=False) | last).all(),
        lists=pl.len(),
        evidence=pl.col("evidence").filter(~last).sum(),
    )
    clear = (pl.col("lists") >= FEWEST_LISTS) & (pl.col("evidence") > NO_ACCIDENT)
    return models.filter("same", clear).select("model", "evidence")


def _of_few_items(judged: Judged) -> pl.DataFrame:
    """Return the models whose lists hold the same items in any order, although most items that are
    judged or retrieved are others: who ranks a whole collection does not leave these out.
    """
    rows = _sample(judged, WHOLE_LISTS, WHOLE_ROWS)
    lists = rows.group_by("model").agg(lists=pl.n_unique("list"), rows=pl.len())
    lists_with_item = rows.group_by("model", "item").agg(held=pl.len()).join(lists, on="model")
    common = lists_with_item.filter(
        pl.col("held") >= pl.col("lists") - 1, pl.col("lists") >= PLAIN_LISTS
    )
    models = common.group_by("model").agg(pl.first("rows"), shared=pl.sum("held"), items=pl.len())
    models = models.filter(
        pl.col("shared") >= SAME_ITEMS * pl.col("rows"), pl.col("items") >= PLAIN_ITEMS
    )
    if models.is_empty():
        return models.select("model")
    items = pl.concat([judged.known.select("item"), judged.retrieved.select("item")])
    return models.filter(2 * pl.col("items") < items["item"].n_unique()).select("model")


def _unrelated(judged: Judged, explained: Collection[str]) -> Iterator[Finding]:
    """Find models whose lists hold no more of what is relevant to their queries than chance puts
    there. This is serious if the data show why, or if no model is better: judgements and lists then
    do not belong together. Otherwise it is a note, since a model that ranks at random does so.
    """
    relevant = judged.known.filter(pl.col("relevance") > 0)
    if not judged.named or "judged" not in judged.lists.columns or "model" in relevant.columns:
        return
    rows = _sample(judged, MOST_LISTS, MOST_ROWS).filter(~pl.col("model").is_in(explained))
    others = {*rows["model"]}
    found = sorted(unrelated_models(rows, relevant.select("query", "item").unique()))
    nobody = {row.model for row in found} == others and all(row.is_clear for row in found)
    if not found:
        yield from _other_grades(rows, judged.known)
    hits, total = sum(row.hits for row in found), sum(row.rows for row in found)
    for row in found:
        if row.cause:
            explained_lists, name, example = row.cause
            yield row.model, name, True, explained_lists, row.lists, example
        elif nobody:  # one sentence names all
            yield row.model, UNRELATED, True, hits, total, NOBODY_BETTER
        else:
            yield row.model, UNRELATED, False, row.hits, row.rows, RANDOM


def _other_grades(rows: pl.DataFrame, known: pl.DataFrame) -> Iterator[Finding]:
    """Find judgements by which no model ranks relevant items before others that are judged, as where
    grades stand in other rows or are turned round. Items that nobody judged say nothing here: lists
    hold them last, whatever the grades. Of few judged items, honest models order some backwards, and
    one model alone may do so of many in a shallow pool, which is no more than a note.
    """
    rank, relevant = pl.col("value").rank().over("list"), pl.col("relevance") > 0
    rows = rows.join(known.select("query", "item", "relevance"), on=["query", "item"])
    lists = (
        rows.select("model", "list", rank=rank, relevant=relevant)
        .group_by("model", "list")
        .agg(
            pl.len().cast(pl.Float64),
            found=pl.sum("relevant").cast(pl.Float64),
            right=pl.col("rank").filter("relevant").sum(),
        )
        .filter(pl.col("len") >= LONG)
        .with_columns(pairs=pl.col("found") * (pl.col("len") - pl.col("found")))
        .with_columns(
            right=pl.col("found") * (pl.col("len") + 1) / 2 - pl.col("right"),
            variance=pl.col("pairs") * (pl.col("len") + 1) / 12,
        )
    )
    models = lists.group_by("model").sum().filter(pl.col("pairs") > 0).sort("model")
    if models.is_empty() or not models.select(LEVEL.all()).item():
        return
    pairs, right = models.select(pl.sum("pairs", "right")).row(0)
    for model in models["model"]:
        yield model, GRADES, models.height > 1, round(pairs / 2 + right), int(pairs), OTHER_GRADES


def _unmatched(judged: Judged) -> Iterator[Finding]:
    """Find models that retrieve no judged item at all."""
    items = pl.Series(judged.rows.end - judged.rows.begin)
    models = judged.lists.select("model", "judged", "missing", items=items)
    models = models.filter(~pl.col("missing")).group_by("model").sum()
    matching = int(models["judged"].sum()) / max(int(models["items"].sum()), 1)
    rows = with_model(judged.retrieved)
    for model, total in models.filter(judged=0).select("model", "items").sort("model").iter_rows():
        retrieved, other_models = rows.filter(model=model), rows.filter(pl.col("model") != model)
        example_rows = retrieved if matching else rows  # where none matches, one sentence names all
        like = f", such as {example_rows['item'][0]!r}," if total else ""
        example = (
            f"do the ids of the rankings{like} and of the judgements, such as "
            f"{judged.known['item'][0]!r}, agree?"
        )
        enough = total == 0 or total * matching >= ENOUGH
        serious = enough or _forms(retrieved).join(_forms(judged.known), on="form").is_empty()
        serious &= retrieved.join(other_models, on=["query", "item"], how="semi").is_empty()
        # if no model matches any, each item is one that should have
        yield model, NO_MATCH, serious or not matching, total, total, example


def _unjudged_lists(judged: Judged, explained: Collection[str]) -> Iterator[Finding]:
    """Find models of which some lists hold no judged item, although the others hold many, as where
    the ids of a part are of another kind.
    """
    known = judged.known.group_by("query").agg(pl.len(), pl.first("item").alias("known"))
    lists = judged.lists.with_columns(items=pl.Series(judged.rows.end - judged.rows.begin))
    lists = lists.join(known, on="query").filter(
        ~pl.col("model").is_in([*explained]), pl.col("len") >= MANY_JUDGED
    )
    matched = lists.filter(pl.col("judged") > 0)
    typical = matched.group_by("model").agg(pl.median("judged"), pl.median("items"))
    none = (
        lists.filter(judged=0)
        .join(typical, on="model", suffix="_of_others")
        .filter(
            pl.col("judged_of_others") >= MANY_JUDGED,
            2 * pl.col("items") >= pl.col("items_of_others"),
        )
    )
    total = dict(lists.group_by("model").len().iter_rows())
    for (model,), rows in none.sort("model", "query").group_by("model", maintain_order=True):
        if rows.height < FEWEST_LISTS or rows.height <= FEW_MISSING * total[model]:
            continue
        query, judged_item = rows.row(0, named=True)["query"], rows["known"][0]
        retrieved = with_model(judged.retrieved).filter(model=model, query=query)
        example = f"{query!r}: {retrieved['item'][0]!r} beside {judged_item!r}"
        yield model, UNJUDGED_LISTS, True, rows.height, total[model], example


def _other_queries(judged: Judged, prepared: Prepared) -> Iterator[Finding]:
    """Find models that have lists, but none for a judged query."""
    is_judged = prepared.relevant >= 0
    lists = prepared.names.with_columns(asked=is_judged, listed=~prepared.missing)
    models = (
        lists.filter("listed").group_by("model").agg(pl.sum("asked"), pl.len(), pl.min("query"))
    )
    for model, number, query in (
        models.filter(asked=0).sort("model").select("model", "len", "query").iter_rows()
    ):
        judged_query = lists.filter("asked")["query"].min()
        example = f"{query!r} beside {judged_query!r}"
        yield model, OTHER_QUERIES, True, number, number, example


def _without_relevant(prepared: Prepared, of_ids: Collection[str]) -> Iterator[Finding]:
    """Find models that retrieve judged items, but none that is relevant, although others do; and
    all models where none does.
    """
    has_list = (prepared.relevant >= 0) & ~prepared.missing
    relevant_found = prepared.retrieved.total(prepared.relevant_grade)
    lists = prepared.names.select("model", found=relevant_found, items=prepared.length).filter(
        has_list
    )
    models = lists.group_by("model").sum().sort("model")
    share = int(models["found"].sum()) / max(int(models["items"].sum()), 1)
    none = models.filter(~pl.col("model").is_in(of_ids), found=0)
    if not (prepared.relevant > 0).any():
        example = "is any judgement of a relevant item?"
    elif share:
        example = f"{share:.0%} of all items retrieved are: are its lists those of its queries?"
    else:
        example = "do the ids of the rankings and of the judgements agree?"
    for model, items in none.select("model", "items").iter_rows():
        if not share or items * share >= ENOUGH:
            yield model, NO_RELEVANT, True, items, items, example


def _forms(items: pl.DataFrame) -> pl.DataFrame:
    """Return the forms of ids, and an item of each."""
    return items.cast({"item": pl.String}).group_by(form=_form("item")).agg(pl.first("item"))


def _other_ids(judged: Judged, sample: pl.DataFrame) -> Iterator[Finding]:
    """Find models of whose items many have ids of a form that no judged item has."""
    if sample.schema["item"] != pl.String:
        return
    forms = sample.with_columns(form=_form("item"), of=pl.len().over("model"))
    forms = forms.group_by("model", "form").agg(pl.first("item"), pl.first("of"), number=pl.len())
    forms = forms.filter(pl.col("number") >= OTHER_FORMS * pl.col("of"))
    for part in (judged.known.head(SAMPLED_LISTS * SAMPLED_ROWS), judged.known):
        if forms.is_empty():
            return
        forms = forms.filter(
            ~pl.col("form").is_in(part.select(_form("item")).to_series().implode())
        )
    matched = judged.lists.group_by("model").agg(pl.sum("judged")).filter(pl.col("judged") > 0)
    forms = forms.join(matched, on="model", how="semi").sort("model", "number", descending=True)
    judged_items = judged.known["item"].n_unique()
    for (model,), rows in forms.group_by("model", maintain_order=True):
        retrieved = with_model(judged.retrieved).filter(model=model)
        number = retrieved.filter(_form("item").is_in(rows["form"].implode())).height
        share = number / retrieved.height
        serious = share >= SERIOUS_SHARE or (share >= MANY and share * judged_items >= ENOUGH)
        example = f"{rows['item'][0]!r} beside {judged.known['item'][0]!r}"
        yield model, OTHER_IDS, serious, number, retrieved.height, example


def _form(name: str) -> pl.Expr:
    """Return the form of ids: whether they have letters and digits, and which other characters."""
    text = pl.col(name)
    without_letters = text.str.replace_all(r"[\p{L}\p{N}]", "")
    return pl.concat_str(
        text.str.contains(r"\p{L}"), text.str.contains(r"\p{N}"), without_letters, separator=" "
    )
