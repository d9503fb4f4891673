"""Record what may be wrong with the data of every model, before anything is said about its scores.

All of it comes from the one join, from the lists laid out for scoring and from a sample of their
rows; nothing is scored.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import ColumnNames
from retrieval_report.contracts.frames import is_own, with_model
from retrieval_report.contracts.options import Options
from retrieval_report.contracts.registry import schema
from retrieval_report.contracts.wording import advice, have, setting, whole_percent
from retrieval_report.kernels.lists import Integers
from retrieval_report.reading.merged_lists import NO_ACCIDENT
from retrieval_report.scoring.judged import Judged
from retrieval_report.scoring.layout import Prepared, lay_out
from retrieval_report.scoring.order_faults import (
    COPIED,
    FEWEST_LISTS,
    GRADES,
    ONE_TIE,
    PLAIN_ITEMS,
    PLAIN_LISTS,
    RANKS,
    REVERSED,
    UNORDERED,
    Finding,
    Findings,
    copied,
    direction,
    early_models,
    one_tie,
    other_grades,
    printed_ranks,
    relevant_ties,
    reversed_lists,
    unordered,
)
from retrieval_report.scoring.unrelated import (
    MOST_LISTS,
    MOST_ROWS,
    SHIFTED_IDS,
    WRONG_QUERIES,
    unrelated_models,
)

HEALTH = schema("health")
NO_LIST, NO_MATCH, OTHER_IDS = "no list", "no match", "other ids"
JUDGED_IDS, UNJUDGED_LISTS = "judged ids", "unjudged lists"
SPELLING = "spelling"
NO_RELEVANT, OTHER_QUERIES = "nothing relevant", "other queries"
SAME_LIST = "same list"
OWN_ITEM = "own item"
UNRELATED, REPEATED, FINE = "unrelated", "repeated judgements", "fine judgements"
NO_ITEM, ONE_GRADE = "no relevant item", "one grade"
AT_RANDOM = UNRELATED, UNORDERED, ONE_TIE  # of lists that chance or other queries might have
SENTENCES = {
    NO_LIST: "{affected} of {total} judged queries {have} no list from {models} ({example})",
    NO_MATCH: "no query scores above 0 for {models}, because none of {total} items is judged "
    "({example})",
    OTHER_QUERIES: "none of {total} queries of {models} is judged: the ids of queries disagree "
    "({example})",
    NO_RELEVANT: "none of the {total} items of {models} is relevant ({example})",
    UNJUDGED_LISTS: "{affected} of the {total} lists of {models} for queries with many judged items hold "
    "no judged item, although the others hold many ({example})",
    OTHER_IDS: "{affected} of {total} items of {models} have ids of a form that no judged item has "
    "({example})",
    SPELLING: "{affected} of {total} items of {models} that were looked at fail to match their judgements "
    "only because ids are spelt differently ({example})",
    JUDGED_IDS: "{affected} of {total} judged items have ids of a form that no item of {models} has "
    "({example})",
    REVERSED: "relevant items come after the others in {affected} of the {total} lists of {models} that "
    "hold both, as if the lists were read the wrong way round, or began with items that the judgements "
    "leave out, such as training items ({example})",
    RANKS: "the printed ranks of {models} often contradict the scores, in {affected} of {total} lists "
    "({example})",
    SAME_LIST: "the {total} lists of {models} are much the same whatever the query ({example})",
    OWN_ITEM: "the query itself comes first in {affected} of {total} lists of {models} that were looked at "
    "({example})",
    WRONG_QUERIES: "at least {affected} of the {total} lists of {models} that were looked at belong to other "
    "queries ({example})",
    SHIFTED_IDS: "the ids of items of {models} are shifted in at least {affected} of the {total} lists "
    "that were looked at ({example})",
    UNRELATED: "the lists of {models} suit their queries no better than lists of other queries would: "
    "{affected} of {total} items that were looked at are relevant ({example})",
    UNORDERED: "taken together, {affected} of the {total} lists of {models} rank relevant items no earlier "
    "than chance could ({example})",
    GRADES: "of two judged items, one of them relevant, the relevant one comes first in {share} of the pairs "
    "that were looked at in the lists of {models}; by chance it would in half of them ({example})",
    ONE_TIE: "all items tie in {affected} of the {total} lists of {models} that have five items or more, so "
    "these rank nothing, and chance orders them ({example})",
    ONE_GRADE: "all {total} items of {models} are relevant and have one grade, so that any order of them "
    "is perfect ({example})",
    COPIED: "all {total} lists of {models} follow the judgements perfectly ({example})",
    FINE: "{affected} of {total} judgements give an item a grade that no other item of the query has ({example})",
    NO_ITEM: "{affected} of {total} queries {have} no relevant item ({example})",
    REPEATED: "{affected} of {total} judgements {have} an item that was already judged for the "
    "query ({example})",
}
# faults whose example is an id: one shows the fault of all models
SHOWN_BY_IDS = UNJUDGED_LISTS, OTHER_IDS, SPELLING, WRONG_QUERIES, SHIFTED_IDS
FEW_UNANSWERABLE = 0.1  # of the queries: a pool may hold nothing relevant to some of them
FEW_MISSING = 0.05  # of the judged queries: a system may find nothing for some of them
SAMPLED_LISTS, SAMPLED_ROWS = 20, 20  # lists of a model, and rows of each, that are looked at
# judged items of a query, and of the other lists, from which on a list without any is no accident
MANY_JUDGED = 10
ENOUGH = 5  # items that an honest model would match, of those of one that matches none
# shares of a model's ids that are noted, and that are serious: if enough ids are judged to show
# the form, or if it is the form of most
OTHER_FORMS, MANY, SERIOUS_SHARE = 0.02, 0.1, 0.5
FIFTH = 0.2  # of the judged items, which no model can find: a part of a collection may be less
FEWEST_GRADED = 10  # lists of three items or more, all of them relevant
FEWEST_ITEMS = 3  # of at least three lists in one order
WHOLE_LISTS, WHOLE_ROWS = 8, 1000  # lists of a model, and rows of each, whose items are compared
SAME_ITEMS = 0.9  # of the rows of these lists: items that all of them hold, but one
PLAIN_ORDER, MANY_LISTS = 150.0, 30  # that of 20 lists of ten items; of so many lists serious
OWN_ORDER = 0.5  # of the variance of ranks lies between items, as in Kendall's W; less: own orders
NEARLY_ALL = 0.95  # of the lists that were looked at
OTHER_LISTS = "; if so, do these lists belong to their queries?"
OTHER_LABELS = "are the labels in the same order as the items and queries?"
ONE_OF_SEVERAL = "does it rank at random, or do its ids name other items?"
FARTHEST = "lists of others hold far more: are these the farthest items instead of the nearest?"
ALL_RELEVANT = "are items left out that are not relevant, or that nobody judged?"
NOBODY_BETTER = (
    "no model's lists suit their own queries better: do the judgements and the lists belong "
    "together, or do they come from different collections?"
)


def health_of(
    judged: Judged,
    options: Options,
    by_chance: Mapping[str, tuple[int, int]] | None = None,
    columns: ColumnNames = None,
    *,
    like: bool = False,
) -> pl.DataFrame:
    """Return what may be wrong with the data of each model, serious faults first.

    ``by_chance`` has models whose nearest items are relevant as often as any: how many of how many;
    ``columns`` the names that the caller gave, for advice; ``like`` says that the options are those
    of another system, which nobody can choose.
    """
    findings = _findings(judged, options, columns, like)
    models = {*judged.lists["model"]}
    chance = by_chance or {}
    for model in sorted(models.intersection(chance) - _models(findings, NO_LIST)):
        nobody = models <= chance.keys()
        findings.append((model, UNRELATED, nobody, *chance[model], OTHER_LABELS))
    return _frame(findings)


def _findings(
    judged: Judged, options: Options, columns: ColumnNames = None, like: bool = False
) -> list[Finding]:
    prepared = lay_out(judged, replace(options, policies=("expected",)))
    sample = _sample(judged)
    has_judgements = prepared.relevant >= 0
    lists = prepared.names.select(
        "model", missing=prepared.missing & has_judgements, total=has_judgements
    )
    found = relevant_ties(judged, prepared)
    turned = [*printed_ranks(judged, prepared, found), *reversed_lists(prepared, found)]
    models = {*judged.lists["model"]}
    every = {model for model, *_, example in turned if not example} == models
    cure = direction(judged.order, every=every, columns=columns)
    findings = [*_unanswered(lists.group_by("model").sum(), options, like)]
    findings += [
        (*row, example or cure + OTHER_LISTS * (2 * row[3] < row[4])) for *row, example in turned
    ]
    if judged.named and "judged" in judged.lists.columns:
        findings += [*_unmatched(judged), *_spelling(judged, sample)]
        of_forms = *_other_ids(judged, sample), *_judged_ids(judged, sample)
        findings += _of_others(of_forms, _models(findings))
        findings += [*_unjudged_lists(judged, {row[0] for row in findings if row[2]})]
    foreign = [*_other_queries(judged, prepared)]
    findings = [*foreign, *_of_others(findings, _models(foreign))]
    of_ids = {
        model
        for model, name, *_ in findings
        if name in {NO_MATCH, SPELLING, OTHER_IDS, OTHER_QUERIES}
    }
    if judged.whole.judged or not prepared.retrieved.total(prepared.relevant_grade).any():
        findings += _without_relevant(prepared, of_ids, options.relevant_from)
    findings += _of_one_grade(prepared)
    findings += _of_others(_same_lists(judged, sample, prepared, found), of_ids)
    findings += _own_items(sample, prepared)
    unrelated = [*_unrelated(judged, _models(findings, NO_LIST, NO_MATCH, NO_RELEVANT))]
    causes = _models(unrelated, UNRELATED)
    findings = [
        row for row in findings if row[0] not in causes or row[1] not in {NO_MATCH, NO_RELEVANT}
    ]
    findings += _of_others(unrelated, _models(findings, NO_LIST))
    copies = [*copied(prepared)]
    findings += copies
    findings += _of_others(one_tie(prepared), _models(copies))
    findings += _of_others(unordered(judged, prepared, found), _models(findings, NO_LIST))
    # a run that follows them shows whose scores they are
    findings += _fine(judged, sorted(models) if copies else [None])
    asked = prepared.names.select("query", relevant=prepared.relevant).filter(has_judgements)
    asked = asked.unique("query")
    findings += _unanswerable(asked.filter(relevant=0).height, asked.height, options, like)
    return [*findings, *_repeated(*judged.repeated_judgements, sorted(models), options)]


def _models(findings: Iterable[Finding], *others: str) -> set[str]:
    """Return the models with findings of all names but ``others``."""
    return {model for model, name, *_ in findings if name not in others}


def _of_others(findings: Iterable[Finding], explained: Collection[str]) -> Findings:
    """Return the findings on models that nothing else explains."""
    return (finding for finding in findings if finding[0] not in explained)


def sentence_of(finding: Finding, models: str) -> str:
    """Return one fault of models in words."""
    _, name, _, affected, total, example = finding[:6]
    facts = {"affected": affected, "total": total, "models": models, "example": example}
    share = whole_percent(int(affected) / int(total)) if name == GRADES else ""
    most = int(str(affected).split()[-1])  # of several models it may be "1 to 2"
    sentence = SENTENCES[name]
    if affected == total:
        sentence = sentence.replace("at least {affected} of the {total}", "all {total}")
    return sentence.format(**facts, share=share, have=have(most))


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
        (*finding[:-1], f"{finding[-1]}{note if finding[0] and finding[1] != REPEATED else ''}")
        for finding in findings
        if finding[1] not in {NO_LIST, NO_ITEM}
    ]
    none, total = summary.select(pl.max("no_relevant", "queries").fill_null(0)).row(0)
    return _frame([*_unanswered(models, options), *sampled, *_unanswerable(none, total, options)])


def _frame(findings: Iterable[Finding]) -> pl.DataFrame:
    rows = [(*finding, sentence_of(finding, finding[0] or "")) for finding in findings]
    frame = pl.DataFrame(rows, schema=HEALTH, orient="row")
    return frame.sort(~pl.col("serious"), "model", maintain_order=True)


def _unanswered(models: pl.DataFrame, options: Options, like: bool = False) -> Findings:
    """Find judged queries for which a model has no list; every row has how many are missing, and
    how many there are.
    """
    zero = options.missing_query == "zero"
    effect = "counted as 0" if zero else "left out"
    leave = _leaving("missing_query") if zero and not like else ""
    for model, missing, total in models.filter(pl.col("missing") > 0).iter_rows():
        serious = missing > FEW_MISSING * total and (zero or missing > 1)
        example = effect + ("; was the run cut off?" if serious else leave)
        yield model, NO_LIST, serious, missing, total, example


def _leaving(name: str) -> str:
    return advice("; {} leaves such queries out", setting(name, "skip"))


def _unanswerable(none: int, total: int, options: Options, like: bool = False) -> Findings:
    """Find queries without a relevant item where they are many: every model scores 0 for them,
    which makes all differences smaller; only measures that count the grades themselves may count
    some. Where none has one, another finding says so.
    """
    if options.no_relevant == "zero" and FEW_UNANSWERABLE * total < none < total:
        leave = "" if like else _leaving("no_relevant")
        unless = "" if options.relevant_from is None else " unless a measure counts lower grades"
        yield None, NO_ITEM, False, none, total, f"counted as 0{unless}{leave}"


def _repeated(merged: int, total: int, models: Iterable[str], options: Options) -> Findings:
    """Find judgements that repeat others: a pool that was judged twice, or files that overlap. This
    is serious until an option says that they may: trec_eval refuses such files.
    """
    rule = options.repeated_judgements
    asked = rule == "error"
    counts = f"the {rule} of their grades counts"
    if asked:
        allow = advice("; pass {} if they may repeat", setting("repeated_judgements", "highest"))
        counts = f"were files joined that overlap? each counts once{allow}"
    for model in (models if asked else [None]) if merged else ():
        yield model, REPEATED, asked, merged, total, counts


def _fine(judged: Judged, models: Iterable[str | None]) -> Findings:
    """Find judgements in which nearly no two items of a query have one grade, as scores of a run
    have. This is serious if models are named.
    """
    if judged.whole.judged and judged.grades.size > MANY_JUDGED:
        grades = judged.known.group_by("query").agg(
            pl.len(), alone=pl.col("relevance").is_unique().sum()
        )
        alone, total = (
            grades.filter(pl.col("len") >= MANY_JUDGED).select("alone", "len").sum().row(0)
        )
        for model in models if alone > total / 2 else ():
            yield model, FINE, model is not None, alone, total, "are they the scores of a run?"


def _sample(
    judged: Judged, most_lists: int = SAMPLED_LISTS, most_rows: int = SAMPLED_ROWS
) -> pl.DataFrame:
    """Return ``model``, ``list``, ``query``, ``item`` and ``value`` (small is near) of the nearest
    rows of some lists of every model.
    """
    full = np.flatnonzero(judged.rows.end > judged.rows.begin)
    step = pl.max_horizontal(1, pl.len() // most_lists)
    lists = judged.lists.select("model")[full].with_columns(at=pl.Series(full))
    lists = lists.filter((pl.int_range(pl.len()) % step).over("model") == 0)
    values = judged.retrieved[judged.order].to_numpy()
    sign = 1.0 if judged.order == "distance" else -1.0
    first, end = judged.rows.begin[lists["at"]], judged.rows.end[lists["at"]]
    nearest = [
        begin + np.argsort(sign * values[begin:last], kind="stable")[:most_rows]
        for begin, last in zip(first, end, strict=True)
    ]
    rows = np.concatenate([np.zeros(0, np.int64), *nearest])
    number = np.repeat(np.arange(len(nearest)), [*map(len, nearest)])
    names = ["query", "item"] if judged.named else ["query"]
    return judged.retrieved.select(names)[rows].with_columns(
        lists["model"].gather(number),
        pl.Series("list", number),
        value=sign * pl.Series(values[rows], dtype=pl.Float64),
    )


def _own_items(sample: pl.DataFrame, prepared: Prepared) -> Findings:
    """Find models that searched the queries among themselves, so that each finds itself first.
    Where a query has one relevant item, as the translation of a sentence, that item may well
    have its id.
    """
    if "item" not in sample.columns or np.median(prepared.relevant) <= 1:
        return
    is_nearest = pl.col("value") == pl.min("value").over("list")
    lists = sample.group_by("model", "list").agg(own=(is_own(sample) & is_nearest).any())
    models = lists.group_by("model").agg(pl.sum("own"), total=pl.len()).sort("model")
    plain = pl.col("total") >= FEWEST_LISTS, pl.col("own") >= NEARLY_ALL * pl.col("total")
    cure = advice("{} leaves it out", setting("exclude_self", True))
    for model, own, total in models.filter(*plain).iter_rows():
        yield model, OWN_ITEM, True, own, total, cure or "leave it out"


def _same_lists(
    judged: Judged, sample: pl.DataFrame, prepared: Prepared, found: Integers
) -> Findings:
    """Find models whose lists hold the same items whatever the query, as lists of the most popular
    items do: in the same order, where some may lack an item that their user has seen, or in any,
    unless each has an order of its own that puts relevant items early.
    """
    if "item" not in sample.columns:
        return
    full = judged.lists.remove("missing").group_by("model").len()
    few, ordered = _of_few_items(judged), _in_one_order(sample)
    if few.height:
        skilled = pl.col("model").is_in(early_models(prepared, found)) & (
            pl.col("alike") < OWN_ORDER
        )
        few = few.remove(skilled)
    plain = ordered.filter(pl.col("evidence") > PLAIN_ORDER)["model"]
    names = pl.concat([ordered.select("model"), few.select("model")]).unique()
    for model, lists in full.join(names, on="model", how="semi").sort("model").iter_rows():
        example = "is the same recommended to everybody?"
        serious = model in few["model"] or (lists >= MANY_LISTS and model in plain)
        yield model, SAME_LIST, serious, lists, lists, example


def _in_one_order(sample: pl.DataFrame) -> pl.DataFrame:
    """Return the models whose lists do not contradict each other's order of the same items, and
    the logarithm of one in how many such an accident would be.
    """
    keys = ["model", "list"]
    after = sample.with_columns(pl.col("list") - 1)
    both = sample.join(after, on=[*keys, "item"]).sort("list", "value", "value_right")
    size = sample.group_by(keys).agg(size=pl.len())
    # Of n! / Π b! ways to spread ties of b items over n, Π a! / Π c! fit the ties of a items of the
    # other list, which share c with them.
    evidence = _log_factorial(*keys) + _log_factorial(*keys, "value", "value_right")
    evidence -= _log_factorial(*keys, "value") + _log_factorial(*keys, "value_right")
    shared = (
        both.with_columns(evidence=evidence)
        .group_by(keys)
        .agg(pl.sum("evidence"), number=pl.len(), falls=(pl.col("value_right").diff() < 0).any())
    )
    pairs = size.join(shared, on=keys, how="left")
    last = pl.col("list") == pl.max("list")
    like = (2 * pl.col("number") >= pl.col("size")) & ~pl.col("falls")
    like &= pl.col("number") >= FEWEST_ITEMS
    models = pairs.group_by("model").agg(
        same=(like.fill_null(False) | last).all(),
        lists=pl.len(),
        evidence=pl.col("evidence").filter(~last).sum(),
    )
    clear = (pl.col("lists") >= FEWEST_LISTS) & (pl.col("evidence") > NO_ACCIDENT)
    return models.filter("same", clear).select("model", "evidence")


def _log_factorial(*keys: str) -> pl.Expr:
    """Return terms of which the sum is that of log n! over all groups of n rows."""
    return pl.int_range(1, pl.len() + 1).over(keys).log()


def _of_few_items(judged: Judged) -> pl.DataFrame:
    """Return the models whose lists hold the same items in any order, although most items that are
    judged or retrieved are others: who ranks a whole collection does not leave these out; and how
    ``alike`` the orders are: the share of the ranks' variance that lies between items.
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
    few = models.filter(2 * pl.col("items") < items["item"].n_unique()).select("model")
    ranks = rows.select("model", "item", rank=pl.col("value").rank().over("model", "list"))
    of_items = ranks.with_columns(of_item=pl.mean("rank").over("model", "item"))
    alike = of_items.group_by("model").agg(alike=pl.var("of_item") / pl.var("rank"))
    return few.join(alike, on="model")


def _unrelated(judged: Judged, explained: Collection[str]) -> Findings:
    """Find models whose lists hold no more of what is relevant to their queries than chance puts
    there. This is serious if the data show why, or if no model is better: judgements and lists then
    do not belong together. Otherwise it is a note, since a model that ranks at random does so.
    """
    relevant = judged.known.filter(pl.col("relevance") > 0)
    if not judged.named or "judged" not in judged.lists.columns or "model" in relevant.columns:
        return
    rows = _sample(judged, MOST_LISTS, MOST_ROWS).remove(pl.col("model").is_in(explained))
    found = sorted(unrelated_models(rows, relevant.select("query", "item").unique()))
    nobody = {row.model for row in found} == {*rows["model"]} and all(row.is_clear for row in found)
    if not found:
        yield from other_grades(rows, judged.known)
    for row in found:
        if row.cause:
            explained_lists, name, example = row.cause
            yield row.model, name, True, explained_lists, row.lists, example
        elif row.is_worse:
            yield row.model, UNRELATED, True, row.hits, row.rows, FARTHEST
        elif nobody:  # one sentence names all
            yield row.model, UNRELATED, True, row.hits, row.rows, NOBODY_BETTER
        else:
            yield row.model, UNRELATED, False, row.hits, row.rows, ONE_OF_SEVERAL


def _unmatched(judged: Judged) -> Findings:
    """Find models that retrieve no judged item at all."""
    items = pl.Series(judged.rows.end - judged.rows.begin)
    models = judged.lists.select("model", "judged", "missing", items=items)
    models = models.remove("missing").group_by("model").sum()
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


def _unjudged_lists(judged: Judged, explained: Collection[str]) -> Findings:
    """Find models of which some lists hold no judged item, although the others hold many, as where
    the ids of a part are of another kind.
    """
    known = judged.known.group_by("query").agg(pl.len(), pl.first("item").alias("known"))
    lists = judged.lists.with_columns(items=pl.Series(judged.rows.end - judged.rows.begin))
    lists = lists.join(known, on="query").filter(
        ~pl.col("model").is_in(explained), pl.col("len") >= MANY_JUDGED
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


def _other_queries(judged: Judged, prepared: Prepared) -> Findings:
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
        yield model, OTHER_QUERIES, True, number, number, f"{query!r} beside {judged_query!r}"


def _without_relevant(
    prepared: Prepared, of_ids: Collection[str], relevant_from: float | None
) -> Findings:
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
        example = "is any judgement or label of a relevant item?"
        if relevant_from is not None:
            example = f"is any grade {relevant_from:g} or larger, from which items are relevant?"
    elif share:
        example = (
            f"over all models, {whole_percent(share)} are; do its lists belong to its queries?"
        )
    else:
        example = "do the ids of the rankings and of the judgements, or the labels, agree?"
    for model, items in none.select("model", "items").iter_rows():
        if not share or items * share >= ENOUGH:
            yield model, NO_RELEVANT, True, items, items, example


def _of_one_grade(prepared: Prepared) -> Findings:
    """Find that all items of all models are relevant, and have one grade: then nothing tells a good
    order from a bad one. Few lists, or short ones, may happen to be all right.
    """
    grades = np.unique(prepared.retrieved.grade)
    if grades.size != 1 or not prepared.relevant_grade[grades[0]]:
        return
    lists = prepared.names.select("model", items=prepared.length).filter(pl.col("items") > 2)
    models = lists.group_by("model").agg(pl.sum("items"), lists=pl.len())
    for model, items, _ in (
        models.filter(pl.col("lists") >= FEWEST_GRADED).sort("model").iter_rows()
    ):
        yield model, ONE_GRADE, True, items, items, ALL_RELEVANT


def _forms(items: pl.DataFrame) -> pl.DataFrame:
    """Return the forms of ids, and an item of each."""
    return items.cast({"item": pl.String}).group_by(form=_form("item")).agg(pl.first("item"))


def _spelling(judged: Judged, sample: pl.DataFrame) -> Findings:
    """Find models whose items miss the judgements of their queries by capitals, leading zeros or
    punctuation alone. Items that one list holds in both spellings are two items.
    """
    keys = ["query", "item"]
    known = judged.known.join(sample, on="query", how="semi").select(keys)
    if known.schema["item"] != pl.String:
        return
    unjudged = sample.join(known, on=keys, how="anti").with_columns(letters=_letters("item"))
    known = known.with_columns(judged="item", letters=_letters("item"))
    pairs = unjudged.join(known.drop("item"), on=["query", "letters"])
    if pairs.is_empty():
        return
    lists = with_model(judged.retrieved).join(pairs, on=["model", "query"], how="semi")
    in_list = ["model", "query", "judged"], ["model", *keys]
    pairs = pairs.join(lists, left_on=in_list[0], right_on=in_list[1], how="anti")
    pairs = pairs.sort("model", "list", "value", "item", "judged")
    pairs = pairs.unique(["list", "item"], keep="first", maintain_order=True)
    total = dict(sample.group_by("model").len().iter_rows())
    for (model,), rows in pairs.group_by("model", maintain_order=True):
        if rows.height >= max(ENOUGH, OTHER_FORMS * total[model]):
            example = f"{rows['item'][0]!r} beside {rows['judged'][0]!r}"
            yield model, SPELLING, True, rows.height, total[model], example


def _other_ids(judged: Judged, sample: pl.DataFrame) -> Findings:
    """Find models of whose items many have ids of a form that no judged item has."""
    if sample.schema["item"] != pl.String:
        return
    forms = sample.with_columns(form=_form("item"), of=pl.len().over("model"))
    forms = forms.group_by("model", "form").agg(pl.first("item"), pl.first("of"), number=pl.len())
    forms = forms.filter(pl.col("number") >= OTHER_FORMS * pl.col("of"))
    forms = _unseen(forms, judged.known.head(SAMPLED_LISTS * SAMPLED_ROWS), judged.known)
    if forms.is_empty():
        return
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


def _judged_ids(judged: Judged, sample: pl.DataFrame) -> Findings:
    """Find judgements of which many are of items with ids of a form that nothing retrieved has:
    every model misses them.
    """
    if judged.known.schema["item"] != pl.String:
        return
    items = judged.known.select("item").unique()
    forms = items.group_by(form=_form("item")).agg(pl.min("item"), number=pl.len())
    forms = forms.filter(pl.col("number") >= MANY * items.height, pl.col("number") >= ENOUGH)
    forms = _unseen(forms, sample, judged.retrieved)
    number = int(forms["number"].sum())
    if 0 < number < items.height:  # else no id agrees, which has a name of its own
        example = f"{forms['item'].min()!r} beside {sample['item'][0]!r}"
        for model in sorted({*judged.lists["model"]}):
            yield model, JUDGED_IDS, number >= FIFTH * items.height, number, items.height, example


def _unseen(forms: pl.DataFrame, *parts: pl.DataFrame) -> pl.DataFrame:
    """Return the forms that no item of any part has; a small part first spares looking at all."""
    for part in parts:
        if not forms.is_empty():
            seen = part.select(_form("item")).to_series()
            forms = forms.remove(pl.col("form").is_in(seen.implode()))
    return forms


def _letters(name: str) -> pl.Expr:
    """Return ids in small letters, without leading zeros, and with one sign for all others."""
    words = pl.col(name).str.to_lowercase().str.replace_all(r"[^\p{L}\p{N}]+", "-")
    return words.str.replace_all(r"(^|[^0-9])0+([0-9])", "$1$2").str.strip_chars("-")


def _form(name: str) -> pl.Expr:
    """Return the form of ids: whether they have capitals, other letters and digits, and which other
    characters.
    """
    text = pl.col(name)
    kinds = (text.str.contains(kind) for kind in (r"\p{Lu}", r"[\p{L}--\p{Lu}]", r"\p{N}"))
    return pl.concat_str(*kinds, text.str.replace_all(r"[\p{L}\p{N}]", ""), separator=" ")
