"""Sentences on the limits of a summary (lists that
may be cut, an unknown R) and on an audit's winners.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from retrieval_report.comparison.verdicts import CHECK
from retrieval_report.contracts.arguments import Row, grouped
from retrieval_report.contracts.options import OPTIONS
from retrieval_report.contracts.significance_tests import CORRECTIONS
from retrieval_report.contracts.wording import advice, setting, whole_percent
from retrieval_report.engines.check_scores import at_cutoff, at_measure
from retrieval_report.metrics.parsing import CATALOGUE, Measure, measure_text
from retrieval_report.scoring.health import (
    FINE,
    JUDGED_IDS,
    NO_LIST,
    REPEATED,
    SHOWN_BY_IDS,
    sentence_of,
)
from retrieval_report.scoring.truncation import AS_GIVEN, NOT_KNOWN
from retrieval_report.study.terminal import visible
from retrieval_report.ties.truncated_lists import TRUNCATED_LISTS
from retrieval_report.writing.names import EQUALS, OR, first_names, listed, with_number
from retrieval_report.writing.numbers import (
    DECIMALS,
    agreeing_decimals,
    column_decimals,
    number,
    p_value,
)

if TYPE_CHECKING:
    from retrieval_report.study.contents import Report
    from retrieval_report.study.study import Study

NAME_WIDTH = 60
MOST_NAMED = 4
GROUPS = 2  # of models with identical lists that a sentence names
UNEVEN = 1.5  # ratio of median lengths from which means over whole lists depend on length
NEARLY_ALL = 0.9  # of the lists
FAR = 2  # times the depth that suffices for another model, from which on a model is named
NAMED = 5  # systems that a sentence names
OPPOSITE = "mteb", "sentence-transformers"  # order ties by item id, descending and ascending
VISIBLE = 5e-5  # a difference that four decimals show
USUAL = None, "pooled"  # values of the options below that ask for nothing
OTHER_MEANS = {
    "macro": "Scores are means of the means of labels: every label counts the same.",
    "weighted": "Scores are means over queries that count by their weight.",
}
PLAIN_MEANS = "Evaluators average over queries alone, so these are plain means."
NOT_AUDITED = "distance_threshold", "decimals", "relevant_items"  # which no evaluator has
WINNERS = {  # which evaluators name another winner, and why
    "wrong": "Tie order changes who is first in {}: {}.",
    "open": "Tie order could change who is first in {}, however unlikely that is: {}.",
    "apart": "By the mean over all orders and by definition, another model than {best} wins in {}: {}.",
}
OWN_IDEAL = "ideal=list"
POOLED = (
    "R counts only relevant items that some model retrieved; pass judgements or n_relevant "
    "for the true R."
)


def notices(
    summary: pl.DataFrame,
    lists: pl.DataFrame | None = None,
    *,
    measure: Measure | None = None,
) -> tuple[str, ...]:
    """Return a line to read after the verdict if its measure is an estimate; nothing otherwise.

    Parameters
    ----------
    summary
        The result of `summarise`.
    lists
        The result of `truncated_lists` for the same rankings, which says how deep to retrieve.
    measure
        Metric and cutoff of the verdict; by default the first in the summary.

    Examples
    --------
    >>> from retrieval_report import evaluate, summarise, truncated_lists
    >>> rankings = {
    ...     "query": ["q"] * 3,
    ...     "item": list("abc"),
    ...     "distance": [1, 2, 2],
    ...     "relevance": [1, 0, 1],
    ... }
    >>> summary = summarise(evaluate(rankings, metrics="precision@2"))
    >>> notices(summary)
    ('precision@2 is an estimate: lists may be cut. Retrieve deeper, or pass truncated="no" if they
    are complete.',)
    >>> notices(summary, truncated_lists(rankings, cutoffs=2, truncated="within_tie"))
    ('precision@2 is an estimate: lists may be cut. Retrieve deeper: ties suggest at least 10 items.',)
    """
    if summary.is_empty():
        return ()
    metric, cutoff = measure or summary.select("metric", "cutoff").row(0)
    rows = summary.filter(at_measure(metric, cutoff))
    models = rows.filter(pl.col("truncated_share") > 0)["model"].unique()
    unknown_r = bool(rows["pooled"].any())
    if models.is_empty() and not unknown_r:
        return ()
    ends = (
        pl.DataFrame(schema=TRUNCATED_LISTS) if lists is None else lists.filter(at_cutoff(cutoff))
    )
    affected = rows["model"] if models.is_empty() else models
    of_models = ends.filter(pl.col("model").is_in(affected.implode()))
    ends = of_models if of_models.height else ends  # lists are of runs, whatever the models are
    is_cut = bool((ends["reason"] != NOT_KNOWN).any())
    name = measure_text(metric, cutoff)
    model_count = rows["model"].n_unique()
    if models.len() == model_count:
        of_which = ": lists may be cut"
    elif unknown_r:
        of_which = ": R (relevant items) is unknown"
    else:
        of_which = f" for {models.len()} of {model_count} models ({names_text(models.sort())})"
        most = float(rows["truncated_share"].drop_nulls().to_numpy().max())
        if most < 1:
            share = whole_percent(most)
            share = "up to " * (models.len() > 1 and share[0].isdigit()) + share
            whose = "its" if models.len() == 1 else "their"
            depends = "the score depends on items that may be missing"
            of_which += f": for {share} of {whose} queries {depends}"
        else:
            of_which += ", whose lists may be cut"
    whole = advice("if the lists are complete, pass {}", _truncated("no"))
    of_list = f"Its ideal is that of the list, so deeper lists may not make it exact{whole and f'; {whole}'}"
    remedy = of_list if OWN_IDEAL in metric else _remedy(ends, is_cut, unknown_r)
    sentences = f"{name} is an estimate{of_which}", remedy
    return (" ".join(f"{sentence}." for sentence in sentences if sentence),)


def notices_of(study: Study | Report) -> tuple[str, ...]:
    """Return the lines to read after the verdict of a report, or of a study at its headline."""
    measure = (study.metric, study.cutoff)
    return (
        *notices(study.summary, study.truncation, measure=measure),
        *uneven_lengths(study.scores, [measure]),
    )


def _truncated(word: str) -> str:
    """Return how the reader says how lists end; in Python as the documentation writes it."""
    return setting("truncated", word).replace("'", '"')


FINDINGS = 2  # on the data, above a verdict; more than one other are folded


def health_sentences(health: pl.DataFrame) -> tuple[str, ...]:
    """Return the lines to read before the verdict of a study or a report: what may be wrong with
    its data; of many models with the same fault one line, and of faults with the same cure the
    first has it.

    >>> rows = {
    ...     "finding": ["reversed"] * 2,
    ...     "serious": [True] * 2,
    ...     "affected": [48, 50],
    ...     "total": [50] * 2,
    ...     "example": ["pass scores"] * 2,
    ...     "model": ["a", "b"],
    ... }
    >>> health_sentences(pl.DataFrame(rows))
    ('Check your data: relevant items come after the others in 98 of the 100 lists of a and b that
    hold both, as if the lists were read the wrong way round, or began with items that the judgements
    leave out, such as training items (pass scores).',)
    """
    cause = pl.when(~pl.col("finding").is_in(SHOWN_BY_IDS)).then("example")
    fault = health.group_by("finding", "serious", cause=cause, maintain_order=True)
    counts = (
        pl.when(
            ~pl.first("finding").is_in([NO_LIST, JUDGED_IDS, FINE, REPEATED])
            | (pl.n_unique("total") > 1)
        )
        .then(pl.sum(name).cast(pl.String))  # lists of all of them; what is judged is the same
        .when(pl.n_unique(name) > 1)
        .then(pl.format("{} to {}", pl.min(name), pl.max(name)))
        .otherwise(pl.first(name).cast(pl.String))
        for name in ("affected", "total")
    )
    same = fault.agg(pl.first("example"), *counts, pl.col("model").drop_nulls()).drop("cause")
    lines: list[str] = []
    for finding, serious, example, *counted, models in same.iter_rows():
        fault_text = sentence_of((None, finding, serious, *counted, example), names_text(models))
        cure = f" ({example})"
        if any(cure in line for line in lines):
            fault_text = fault_text.removesuffix(cure)
        lines.append(f"{CHECK.capitalize() if serious else 'Note on the data'}: {fault_text}.")
    return tuple(lines)


def split_findings(sentences: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return the findings to show and those to fold; a single one is not worth folding.

    >>> split_findings(["a", "b", "c"]), split_findings(["a", "b", "c", "d"])
    ((['a', 'b', 'c'], []), (['a', 'b'], ['c', 'd']))
    """
    shown = FINDINGS if len(sentences) > FINDINGS + 1 else len(sentences)
    return sentences[:shown], sentences[shown:]


def more_findings(folded: Sequence[str]) -> str:
    """Return the heading of the findings that are folded.

    >>> more_findings(["c", "d"])
    '2 more findings on the data'
    """
    return f"{with_number(len(folded), 'more finding')} on the data"


def _remedy(ends: pl.DataFrame, is_cut: bool, unknown_r: bool) -> str:
    """Say what would make an estimate exact."""
    if unknown_r:
        return (
            "Pass judgements or n_relevant"
            if is_cut
            else f"Pass judgements{advice(', or {} if complete', _truncated('no'))}"
        )
    if not is_cut:
        if ends.is_empty():  # of which nothing is known
            return "Retrieve deeper" + advice(", or pass {} if they are complete", _truncated("no"))
        return advice("If the lists are complete, pass {}", _truncated("no"))
    reached = ends.filter(pl.col("open_share") > 0)
    is_deep = pl.col("sufficient_depth") <= pl.col("longest")
    ended = reached.filter(is_deep, pl.col("shortest") < pl.col("longest"))
    if ended.height and ended.height == reached.height:
        row = ended.sort("shortest").row(0, named=True)
        return (
            f"Retrieving deeper cannot help: a list of {model_text(row['model'])} ends after "
            f"{with_number(row['shortest'], 'item')}, and another holds {row['longest']}"
        ) + advice("; if that is all that was found, pass {}", _truncated("no"))
    retrieval_advice = _deeper(
        ends.join(ended, on=["model", "cutoff"], how="anti", nulls_equal=True)
    )
    in_one_tie = pl.all_horizontal(
        pl.col("sufficient_depth").is_null(), pl.col("cutoff").is_not_null()
    )
    if (ends["reason"] == AS_GIVEN).all() or reached.select(in_one_tie.any()).item():
        return retrieval_advice
    return retrieval_advice + advice(", or pass {} if no tie is cut", _truncated("between_ties"))


def _deeper(ends: pl.DataFrame) -> str:
    """Say how deep to retrieve, and for which models much deeper or in vain.

    >>> ends = pl.DataFrame(
    ...     {
    ...         "model": ["a", "b", "c", "d"],
    ...         "cutoff": [10] * 4,
    ...         "open_share": [0.5, 0.4, 0.01, 1.0],
    ...         "sufficient_depth": [26, 30, 3990, None],
    ...         "truncated": ["within_tie"] * 4,
    ...     }
    ... )
    >>> _deeper(ends[:2])
    'Retrieve deeper: ties suggest 30 items'
    >>> _deeper(ends[:1].with_columns(open_share=pl.lit(0.95)))
    'Retrieve deeper: ties suggest at least 26 items'
    >>> _deeper(ends[1:]).partition(" (")[2]
    'up to 3990 for c; no depth can be told for d, where whole lists tie)'
    >>> _deeper(ends[:3].with_columns(sufficient_depth=pl.Series([26, 134, 3990])))
    'Retrieve deeper: ties suggest 26 items (134 to 3990 for b and c)'
    """
    reached = ends.filter(pl.col("open_share") > 0)
    whole = reached.filter(pl.col("sufficient_depth").is_null())["model"]
    estimated = reached.drop_nulls("sufficient_depth")
    if reached["cutoff"].null_count():
        return "Retrieve deeper"
    if estimated.is_empty():
        return "Retrieve deeper (no depth can be told, where whole lists tie)"
    depths = estimated["sufficient_depth"].to_list()
    depth = max(deep for deep in depths if deep <= FAR * min(depths))
    far = estimated.filter(pl.col("sufficient_depth") > depth)
    # Ties that nearly every list cuts show too little of their size.
    cut_ties = (pl.col("open_share") >= NEARLY_ALL) & (pl.col("truncated") == "within_tie")
    least = "at least " if estimated.select(cut_ties.any()).item() else ""
    further = far["sufficient_depth"].unique().sort().to_list()
    span = f"{further[0]} to" if len(further) > 1 else "up to"
    notes = [f"{span} {further[-1]} for {names_text(far['model'])}"] if further else []
    if not whole.is_empty():
        notes.append(f"no depth can be told for {names_text(whole)}, where whole lists tie")
    noted = f" ({'; '.join(notes)})" if notes else ""
    return f"Retrieve deeper: ties suggest {least}{depth} items{noted}"


NAIVE_ORDERS = {
    "row": "in the order received",
    "item": "in ascending order of their item ids",
    "item_descending": "in descending order of their item ids",
}


def naive_ties(like: str | None = None, naive_order: str = "row") -> str:
    """Say in which order naive scores take tied items.

    >>> naive_ties(), naive_ties("trec_eval"), naive_ties(naive_order="item")
    ('in the order received', 'as trec_eval orders them', 'in ascending order of their item ids')
    >>> naive_ties("ranx")
    'in a random order, one of those that ranx may print'
    """
    if like is None:
        return NAIVE_ORDERS[naive_order]
    # `evaluate` in a terminal has caveats, and needs no other system
    from retrieval_report.systems.conventions import OPEN, choose, system_of

    system, _ = system_of(like)
    is_named = like.casefold().startswith(system.casefold())
    shown = visible(system + like[len(system) :] * is_named, NAME_WIDTH)  # with the version asked
    if any(record.order in OPEN for record in choose(system)):
        return f"in a random order, one of those that {shown} may print"
    return f"as {shown} orders them"


def significance(pair: Row) -> str:
    """Return the p-value of a pair of `compare` or `flips`, and the test that it is of.

    >>> significance({"family_p": 1e-9, "family": 78, "family_method": "max-t"})
    'corrected p < 0.0001, max-T over 78 pairs'
    >>> significance({"family_p": 0.02, "family": 1, "family_method": "max-t"})
    'p = 0.0200, sign-flip test'
    """
    p, family = p_value(pair["family_p"]), pair["family"]
    correction = CORRECTIONS[pair["family_method"]]
    if family == 1:
        return f"{p}, sign-flip test"
    return f"corrected {p}, {correction.title} over {family} pairs"


def named_tests(comparison: pl.DataFrame) -> str:
    """Return the test and the correction behind ``family_p``; nothing where nothing was tested.

    >>> named_tests(
    ...     pl.DataFrame(
    ...         {"family_p": [0.1, None], "family_method": ["holm", "holm"], "family": [6, None]}
    ...     )
    ... )
    "sign-flip test of each pair with Holm's correction over 6 pairs"
    """
    tested = comparison.drop_nulls("family_p")
    largest = tested.group_by("family_method").agg(pl.max("family")).sort("family_method")
    return "; ".join(
        f"{CORRECTIONS[method].test} over {with_number(family, 'pair')}"
        for method, family in largest.iter_rows()
    )


def identical_sentence(groups: Sequence[Sequence[str]]) -> list[str]:
    """Name models whose lists are the same, so that no test can tell them apart; no sentence if
    there are none.

    >>> identical_sentence([("06-18", "06-28")])
    ['Models with identical lists share their expected ranks: 06-18 and 06-28.']
    >>> identical_sentence([("a", "b", "c"), ("d", "e")])
    ['Models with identical lists share their expected ranks: a, b and c; d and e.']
    """
    group_names = [names_text(group) for group in groups]
    more = [f"{len(group_names) - GROUPS} more groups"] if len(group_names) > GROUPS + 1 else []
    all_groups = "; ".join([*group_names[: GROUPS + (not more)], *more])
    sentence = "Models with identical lists share their expected ranks"
    return [f"{sentence}: {all_groups}."] if group_names else []


def runs_sentence(of_run: Mapping[str, str]) -> list[str]:
    """Say of how many runs models are means; no sentence where each is one run.

    >>> runs_sentence({"a-1": "a", "a-2": "a", "b": "b"}), runs_sentence({"b": "b"})
    (['Every model is the mean over its runs, 1 to 2 of each.'], [])
    """
    sizes = Counter(of_run.values()).values()
    if max(sizes, default=1) == 1:
        return []
    fewest, most = min(sizes), max(sizes)
    runs = f"{most}" if fewest == most else f"{fewest} to {most}"
    return [f"Every model is the mean over its runs, {runs} of each."]


def uneven_lengths(scores: pl.DataFrame | pl.LazyFrame, measures: Iterable[Measure]) -> list[str]:
    """Say in a sentence which measures are of whole
    lists although those of some models are much longer.

    >>> metric = ["ap", "ap", "ap", "bpref"]  # whose lists are those of the judged items
    >>> scores = pl.DataFrame({"model": list("abba"), "metric": metric, "items": [9, 90, 91, 1]})
    >>> scores = scores.with_columns(cutoff=pl.lit(None, pl.Int64))
    >>> uneven_lengths(scores, [("ap", None), ("ap", 5), ("r_precision", None)])
    ['ap@all compares lists of unequal length: medians are from 9 items (a) to 90.5 (b).']
    """
    whole_by_ends = grouped(
        (ends, measure_text(*measure))
        for measure in measures
        if measure[1] is None and (ends := _uneven_ends(scores, *measure))
    )
    return [
        (
            f"{names_text(whole)} {'compares' if len(whole) == 1 else 'compare'} lists of unequal "
            f"length: medians are from {low:.10g} items ({model_text(shorter)}) to {high:.10g} "
            f"({model_text(longer)})."
        )
        for ((shorter, low), (longer, high)), whole in whole_by_ends.items()
    ]


def _uneven_ends(
    scores: pl.DataFrame | pl.LazyFrame, metric: str, cutoff: int | None
) -> tuple[tuple[str, float], tuple[str, float]] | None:
    """Return the models with the shortest and the longest lists by one measure, whose items may be
    the judged ones alone, with the medians; None if these are not far apart.
    """
    if getattr(CATALOGUE.get(metric.partition("(")[0]), "own_depth", False):
        return None
    lists = scores.lazy().filter(pl.col("items") > 0, at_measure(metric, cutoff))
    lengths = lists.group_by("model").agg(pl.median("items")).sort("items", "model")
    rows = lengths.collect().rows()
    is_uneven = len(rows) > 1 and rows[-1][1] >= UNEVEN * rows[0][1]
    return (rows[0], rows[-1]) if is_uneven else None


def any_cut(summary: pl.DataFrame) -> bool:
    """Return whether any score depends on what cut lists leave out."""
    return bool((summary["truncated_share"] > 0).any())


def model_text(model: str) -> str:
    """Return the name of a model for a sentence."""
    return visible(model, NAME_WIDTH)


def names_text(names: Iterable[str], copies: int = 0) -> str:
    """Join names for a sentence; of many, the first are named and the others counted, with the
    ``copies`` of any, which have no name here.

    >>> names_text("abcdef"), names_text("abcdef", 3), names_text("abcde", 3)
    ('a, b, c, d and 2 others', 'a, b, c, d and 5 others', 'a, b, c, d and e')
    """
    texts = list(map(model_text, names))
    if len(texts) > MOST_NAMED + 1:
        texts = [*texts[:MOST_NAMED], f"{len(texts) - MOST_NAMED + copies} others"]
    return listed(texts)


def joined_hints(hints: pl.DataFrame) -> list[tuple[str, str | None, str]]:
    """Return kind, models and message of the hints, once where several models have the same."""
    same = hints.group_by("hint", "message", maintain_order=True).agg(pl.col("model").drop_nulls())
    return [
        (kind, names_text(models) if models else None, message)
        for kind, message, models in same.rows()
    ]


def printed_sentences(
    audit: pl.DataFrame, means: pl.DataFrame | None = None, average: str = "micro"
) -> tuple[str, ...]:
    """Say what mteb and sentence-transformers would print, and what is exact, where their orders of
    ties make a visible difference; no sentence elsewhere.

    Parameters
    ----------
    audit
        Rows of one measure from the result of `audit`.
    means
        Rows of the summary at this measure, which know whose lists may be cut; by default none are.
    average
        Of the scores beside it, which those of the audit are not unless it is "micro".

    Examples
    --------
    >>> import retrieval_report as rr
    >>> rankings = {"query": ["q"] * 2, "item": ["x", "y"], "distance": [1, 1], "relevance": [0, 1]}
    >>> printed_sentences(rr.audit(rankings, measures="rr@10"))
    ('For model, mteb would print rr@10 1.0000 and sentence-transformers 0.5000, because they order
    ties in opposite directions. The mean over all orders is 0.7500 ± 0.2500.',)
    """
    if audit.is_empty():
        return ()
    sides = [
        audit.filter(system=name)
        .drop_nulls("prints")
        .unique("model", keep="first", maintain_order=True)
        for name in OPPOSITE
    ]
    printed_pairs = sides[0].join(sides[1], on="model", suffix="_other", maintain_order="left")
    apart = (pl.col("off") - pl.col("off_other")).abs()
    printed_pairs = printed_pairs.filter(apart.max() >= VISIBLE).sort(
        apart, descending=True, maintain_order=True
    )
    if printed_pairs.is_empty():
        return ()
    row = printed_pairs.row(0, named=True)
    row["measure"] = measure_text(row["metric"], row["cutoff"])
    row["is_cut"] = means is not None and (
        row["model"] in means.filter(pl.col("truncated_share") > 0)["model"]
    )
    sentence = (
        _other_winners(printed_pairs, row)
        or _other_winner(printed_pairs, row)
        or _other_numbers(row)
    )
    return (sentence if average == "micro" else f"{sentence} {PLAIN_MEANS}",)


def _by_all_orders(
    best: str, audit_rows: pl.DataFrame, column: str, whose: str = "the", places: int = DECIMALS
) -> str:
    """Return the sentence on whom the mean over all orders names, and its value."""
    value = number(audit_rows[column].max(), places)  # type: ignore[arg-type]
    names = best.split(EQUALS)
    verb = "is" if len(names) == 1 else "are"
    return (
        f"By the mean over all orders of ties, {whose} best {verb} {names_text(names)} ({value})."
    )


def _other_winners(printed_pairs: pl.DataFrame, row: Row) -> str:
    """Say which models the two name best, if they name different ones by order of ties alone."""
    names = [row[name] for name in ("winner", "winner_other", "exact_winner")]
    open_order = any(name is None or OR in name for name in names)
    if open_order or names[0] == names[1] or row["exact_winner"] != row["exact_winner_other"]:
        return ""
    means: list[Any] = [printed_pairs[name].max() for name in ("prints", "prints_other")]
    places = column_decimals(means)
    printed, printed_other = (number(mean, places) for mean in means)
    first, second = (names_text(name.split(EQUALS)) for name in names[:2])
    apart = " by its own definition" if _defined_apart(row) else ""
    best = _by_all_orders(names[2], printed_pairs, "expected", places=places)
    return (
        f"By {row['measure']}, mteb would name {first} best ({printed}), and sentence-transformers "
        f"{second} ({printed_other}{apart}). {best}"
    )


def _other_winner(printed_pairs: pl.DataFrame, row: Row) -> str:
    """Say which model one of the two names best by its order of ties alone."""
    for system, other in zip(OPPOSITE, ("", "_other"), strict=True):
        winner, exact_winner = row[f"winner{other}"], row[f"exact_winner{other}"]
        if row[f"same_winner{other}"] is False:
            printed = number(printed_pairs[f"prints{other}"].max())  # type: ignore[arg-type]
            best = _by_all_orders(exact_winner, printed_pairs, f"expected{other}", "its")
            return (
                f"By {row['measure']}, {system} would name {names_text(winner.split(EQUALS))} best "
                f"({printed}), because of its order of ties. {best}"
            )
    return ""


def _other_numbers(row: Row) -> str:
    """Say what the two print for the model that their orders of ties set furthest apart."""
    apart = _defined_apart(row)
    ends = ("", "_other")
    sides = [(row[f"prints{end}"], row[f"expected{end}"]) for end in ends]
    places = agreeing_decimals(*sides) if apart else DECIMALS  # differences are printed too
    texts = [
        [*(number(mean, places) for mean in means), number(row[f"off{end}"], places, sign="+")]
        for means, end in zip(sides, ends, strict=True)
    ]
    (printed, exact, off), (printed_other, exact_other, off_other) = texts
    sentence = f"For {model_text(row['model'])}, mteb would print {row['measure']} {printed}"
    rounds = "float32" in row["order"]
    if apart:
        rounded = " (with scores rounded to float32)" if rounds else ""
        return (
            f"{sentence}, and sentence-transformers {printed_other} by its own definition. Tie "
            f"order makes {off}{rounded} and {off_other} of that; the means over all orders "
            f"are {exact} and {exact_other}."
        )
    exactly = f"is {exact} ± {number(row['tie_std'])}"
    mean = f"of the items given is ≈{exact}" if row["is_cut"] else exactly
    cause = "they order ties in opposite directions"
    if rounds and row["tie_std"] == 0:
        cause = "mteb rounds scores to float32, which makes new ties"
    return (
        f"{sentence} and sentence-transformers {printed_other}, because {cause}. The mean "
        f"over all orders {mean}."
    )


def _defined_apart(row: Row) -> bool:
    return abs(row["expected"] - row["expected_other"]) >= VISIBLE  # type: ignore[no-any-return]


def winner_sentences(
    audit: pl.DataFrame, means: pl.DataFrame | None = None, measure: str = ""
) -> tuple[str, ...]:
    """Say how many evaluator configurations name another winner because of tie order, and how many
    could; and which others do by their own definitions.

    Parameters
    ----------
    audit
        Rows of one measure from the result of `audit`.
    means
        The ``value`` of every ``model`` by the reader's own average; by default the exact plain
        means of the audit.
    measure
        Its name, where readers see others beside it.

    Returns
    -------
    tuple of str
        Empty if there is only one model, or if no evaluator prints the measure. A
        configuration is a system with one way to call it. Version and call are named where a
        system stands in several sentences.

    Examples
    --------
    >>> import retrieval_report as rr
    >>> rankings = {
    ...     "model": ["a", "a", "b", "b"],
    ...     "query": ["q"] * 4,
    ...     "item": ["x", "y"] * 2,
    ...     "distance": [1, 1, 2, 1],
    ...     "relevance": [0, 1] * 2,
    ... }
    >>> winner_sentences(rr.audit(rankings, metrics="precision@1", systems=["ranx", "pytrec_eval"]))
    ('Tie order changes who is first in 1 of 2 evaluator configurations: pytrec_eval.',)
    """
    if audit.is_empty():
        return ()
    whose = pl.col("note").str.extract("^(of [^;]+)")  # an evaluator that is a part of a package
    system = pl.concat_str("system", whose, separator=" ", ignore_nulls=True)
    columns = [system, "version", "call", "winner", "exact_winner", "same_winner"]
    winners = audit.select(columns).unique(maintain_order=True).drop_nulls("winner")
    if audit["model"].n_unique() < 2 or winners.is_empty():
        return ()
    own = audit.select("model", value="exact")
    if means is not None:  # of runs that are replicates, the audit's own
        of_models = means.filter(pl.col("model").is_in(audit["model"].implode()))
        own = of_models if of_models.height else own
    best = own.filter(value=pl.max("value"))["model"].unique(maintain_order=True).to_list()
    ours = pl.col("exact_winner").str.split(EQUALS).list.eval(pl.element().is_in(best)).list.any()
    same = pl.col("same_winner")
    rules = {"wrong": same.eq_missing(False), "open": same.is_null(), "apart": ~ours}
    fate = pl.coalesce(pl.when(rule).then(pl.lit(kind)) for kind, rule in rules.items())
    winners = winners.with_columns(kind=fate)  # one of each, so that the numbers add up
    in_several = pl.col("kind").fill_null("right").n_unique().over("system") > 1
    in_full = pl.concat_str("system", "version", "call", separator=" ", ignore_nulls=True)
    winners = winners.with_columns(pl.when(in_several).then(in_full).otherwise("system"))
    of_which = f"of {winners.height} evaluator configurations{f' for {measure}' * bool(measure)}"
    sentences = []
    if winners.filter(pl.col("kind").is_in(["wrong", "open"])).is_empty():
        sentences.append(f"Tie order changes who is first in none {of_which}.")
        of_which = "of them"
    for kind, sentence in WINNERS.items():
        names = [visible(name, NAME_WIDTH) for name in winners.filter(kind=kind)["system"]]
        ways = Counter(names).items()
        texts = [f"{name} ({number} ways)" if number > 1 else name for name, number in ways]
        first = first_names(texts, NAMED)
        if names:
            how_many = f"{len(names)} {of_which}"
            sentences.append(sentence.format(how_many, first, best=names_text(best)))
            of_which = "more"
    return tuple(sentences)


def not_audited(options: Mapping[str, object]) -> str:
    """Say which rules an audit does not apply; nothing if none of them was asked for.

    >>> not_audited({"decimals": 2, "average": "macro"})
    'Not applied here, because evaluators have no such rule: Decimals kept. Evaluators average over
    queries alone, so these are plain means.'
    """
    rules = ", ".join(OPTIONS[name].title for name in NOT_AUDITED if options.get(name) not in USUAL)
    sentences = (
        [f"Not applied here, because evaluators have no such rule: {rules}."] if rules else []
    )
    if options.get("average", "micro") != "micro":
        sentences.append(PLAIN_MEANS)
    return " ".join(sentences)


def winner_text() -> pl.Expr:
    """Return an expression: whom an evaluator names as best, or how many could be if it is one of
    many: cut to the first, a list of them would look like a winner.

    >>> pl.DataFrame({"winner": ["a", "a or b", "a or b or c"]}).select(winner_text()).rows()
    [('a',), ('a or b',), ('any of 3',)]
    """
    several = 1 + pl.col("winner").str.count_matches(OR, literal=True)
    return (
        pl.when(several > 2)
        .then(pl.format("any of {}", several))
        .otherwise("winner")
        .alias("winner")
    )


def configuration(*over: str) -> pl.Expr:
    """Return an expression: each system, with its version and its call where it has several.

    >>> rows = {"system": ["ranx", "ranx", "mteb"], "version": ["1", "1", "2"], "call": list("aba")}
    >>> pl.DataFrame(rows).select(configuration())["system"].to_list()
    ['ranx a', 'ranx b', 'mteb']
    """
    within = [*over, "system"]
    version = pl.when(pl.n_unique("version").over(within) > 1).then("version")
    call = pl.when(pl.n_unique("call").over(*within, "version") > 1).then("call")
    return pl.concat_str("system", version, call, separator=" ", ignore_nulls=True)


def same_winner() -> pl.Expr:
    """Return an expression: yes, no, or "open" if several models could win; null if an evaluator
    names no winner.

    >>> rows = pl.DataFrame(
    ...     {"winner": ["a", "b", "a or b", None], "same_winner": [True, False, None, None]}
    ... )
    >>> rows.select(same_winner())["same_winner"].to_list()
    ['yes', 'no', 'open', None]
    """
    answer = pl.col("same_winner").replace_strict(
        [True, False], ["yes", "no"], default="open", return_dtype=pl.String
    )
    return pl.when(pl.col("winner").is_not_null()).then(answer).alias("same_winner")
