"""Write the verdict in sentences: who wins, whether that is safe, and how far off naive scores are."""

from collections.abc import Sequence

import polars as pl

from retrieval_report.comparison import verdicts
from retrieval_report.comparison.identical import Groups, copies_among
from retrieval_report.comparison.margins import margin_text
from retrieval_report.comparison.pairs import turned
from retrieval_report.comparison.verdicts import (
    CUT,
    DEPENDS,
    EQUAL,
    NOT_OVER_RUNS,
    NOT_SIGNIFICANT,
    SAFE,
    equal_means,
)
from retrieval_report.contracts.arguments import Named, grouped
from retrieval_report.engines.check_scores import at_measure, board
from retrieval_report.metrics.parsing import measure_text
from retrieval_report.study import caveats
from retrieval_report.study.caveats import model_text, names_text
from retrieval_report.writing.numbers import (
    DECIMALS,
    agreeing_decimals,
    chance_text,
    column_decimals,
    number,
)

MAY_DEPEND = f"may be: {DEPENDS}"
UNSAFE_REASONS = {  # why leads over models below the second are not safe
    CUT: "Missing items and tie order together could reverse {its} lead over {models}.",
    DEPENDS: "{Its} lead over {models} is not safe from tie order.",
    MAY_DEPEND: "{Its} lead over {models} may not be safe from tie order.",
    NOT_SIGNIFICANT: "{Its} lead over {models} is not significant.",
    NOT_OVER_RUNS: "{Its} lead over {models} is not significant over runs.",
}
SAFETY = {  # how safe a lead is
    CUT: "Missing items and tie order together could reverse this lead.",
    DEPENDS: "{lead} {depends} on tie order{chance}.",
    NOT_SIGNIFICANT: "{lead} {holds}, but is not significant ({p}).",
    NOT_OVER_RUNS: "{lead} {holds}, and is significant ({p}) for these runs, but not if other "
    "runs are considered.",
    SAFE: "{lead} {holds}, and is significant ({p}).",
    verdicts.AT_RANDOM: f"One of {{models}} has lists that {verdicts.LIKE_CHANCE} (see the note on "
    "the data), so the lead means little.",
    verdicts.UNTESTED: "{lead} {holds}. Its significance was not tested.",
    EQUAL: "No tie order separates them.",
    verdicts.NOTHING_TO_COMPARE: "The two have no query in common, so their means are not over the same "
    "queries.",
}
MARGIN = {  # what is known of a loss
    verdicts.NO_WORSE: "If a loss of up to {margin} in {measure} does not matter, {names} {are} no "
    "worse than {baseline}.",
    verdicts.WORSE: "{names} {lose} more than {margin} in {measure} against {baseline}.",
    verdicts.AT_RANDOM: "{names} {lose} no more than {margin} in {measure} against {baseline}, but the "
    f"lists {verdicts.LIKE_CHANCE}.",
    verdicts.NOT_DECIDED: "{queries_leave_open} whether {names} {lose} more than {margin} in "
    "{measure} against {baseline}.",
    verdicts.CUT: "Cut lists leave open whether {names} {lose} more than {margin} in {measure} "
    "against {baseline}.",
    verdicts.UNKNOWN_R: "Whether {names} {lose} more than {margin} in {measure} against {baseline} is open, "
    "because R, the number of relevant items, is not known.",
    verdicts.NOTHING_TO_COMPARE: "Nothing shows what {names} {lose} in {measure} against {baseline}, "
    "because no item is relevant.",
    NOT_OVER_RUNS: "{names} may lose more than {margin} in {measure} against {baseline} in other "
    "runs.",
}
RARE = 0.001  # a chance of reversal that a sentence names, though the lead is safe
LEVEL = {  # what may set apart models with equal means
    CUT: "Items that are missing from the lists could put one ahead.",
    DEPENDS: "Tie order alone decides which of them is printed ahead.",
}


def verdict(
    summary: pl.DataFrame,
    flips: pl.DataFrame,
    no_worse: pl.DataFrame | None = None,
    *,
    metric: str,
    cutoff: int | None,
    ties: str = caveats.NAIVE_ORDERS["row"],
    identical: Groups = (),
    suspects: Sequence[str] = (),
    objections: str = "",
    decision: str = "",
) -> tuple[str, tuple[str, ...]]:
    """Return status and sentences on what one metric at one cutoff says about the models.

    Parameters
    ----------
    summary, flips, no_worse
        The results of `summarise`, `flips` and, if a margin was given, `no_worse`.
    metric, cutoff, ties
        The measure to describe, and the order inside ties of the naive scores (see `naive_ties`).
    identical
        Groups of models whose lists are the same.
    suspects
        Models whose data need a check first: nothing is said of them but that.
    objections
        What other judges, runs or data sets say against the lead, before how safe it is otherwise.
    decision
        The sentence that is read before, by the margin; what it says is not repeated.

    Returns
    -------
    tuple
        The status (a verdict of `flips`, "single model" or "no score") and the sentences. Names are
        shortened to 60 columns and made harmless to read; they are not escaped for HTML.
    """
    at_headline = at_measure(metric, cutoff)
    pairs = flips.filter(at_headline)
    measure = measure_text(metric, cutoff)
    ranked = ranked_means(summary, metric, cutoff, identical, suspects)
    opening = [no_verdict_on(suspects)] if suspects else []
    names = [row["model"] for row in ranked]
    pairs = pairs.filter(verdicts.both_among(names))
    if not ranked and opening:
        return verdicts.CHECK, (*opening,)
    if not ranked:
        return verdicts.NO_SCORE, (f"No model has a score for {measure}.",)
    status, sentences = _lead(ranked, pairs, measure, identical)
    of_others = suspects and len(ranked) > 1
    if of_others and not sentences[0].startswith(ON_BOTH):
        sentences[0] = f"Of the others, {sentences[0]}"
    if objections:
        sentences.insert(1, objections)
    whose = " of the others" if of_others else f" of {model_text(names[0])}" * bool(suspects)
    # The same lists may come in other orders inside their ties, which naive scores show.
    every = ranked_means(summary, metric, cutoff, (), suspects)
    sentences += _naive(every, measure, ties, whose)
    if no_worse is not None and no_worse.width:
        sentences += margin_sentences(no_worse.filter(at_headline), measure, decision)
    of_first = sorted(identical, key=lambda group: names[0] not in group)
    status = verdicts.CHECK if suspects else status
    return status, (*opening, *sentences, *caveats.identical_sentence(of_first))


def no_verdict_on(suspects: Sequence[str]) -> str:
    """Say which models are compared with no other."""
    return f"No verdict is given on {names_text(suspects)}."


def ranked_means(
    summary: pl.DataFrame,
    metric: str,
    cutoff: int | None,
    identical: Groups,
    suspects: Sequence[str] = (),
) -> list[Named]:
    """Return the models that have an expected mean of a measure, best first; one of each group of
    ``identical`` ones, unless no other is left; and none of the ``suspects``.
    """
    rows = board(summary.filter(at_measure(metric, cutoff))).drop_nulls("expected").to_dicts()
    rows = [row for row in rows if row["model"] not in suspects]
    copies = copies_among(identical)
    single = [row for row in rows if row["model"] not in copies]
    return single if len(single) > 1 else rows


def _lead(
    ranked: list[Named], flips: pl.DataFrame, measure: str, identical: Groups
) -> tuple[str, list[str]]:
    """Return the status, and say who leads and how safely."""
    first = model_text(ranked[0]["model"])
    value = ranked[0]["expected"]
    if len(ranked) == 1:
        return verdicts.SINGLE_MODEL, [f"{first} has an expected {measure} of {number(value)}."]
    names, after = [row["model"] for row in ranked[:2]], [row["model"] for row in ranked[2:]]
    # The first sentence names all models of the leader's lists, and the lead is theirs.
    first_group = next((group for group in identical if names[0] in group), ())
    its, have = ("Their", "have") if first_group else ("Its", "has")
    second = model_text(names[1])
    over_second = f"{its} lead over {second}"
    pair = leading_pair(flips, *names)
    equal = _leaders(ranked, "expected")
    if pair["unpaired"] and len(equal) < 3:
        others = {} if len(equal) == 2 else _unsafe_others(names[:1], after, flips, its, identical)
        own = [] if pair["value_a"] is None else [OWN_QUERIES]
        return pair["verdict"], [_on_paired(pair, measure), _safety(pair), *own, *others.values()]
    if len(equal) > 1:
        lead = f"{names_text(sorted(equal))} share the highest expected {measure}: {number(value)}."
        among = flips.filter(verdicts.both_among(equal))
        status = verdicts.least_certain(name for name in among["verdict"] if name in LEVEL)
        opening = " ".join(filter(None, [lead, LEVEL.get(status)]))
        behind = [row["model"] for row in ranked[len(equal) :]]
        others = _unsafe_others(equal, behind, flips, "Their", identical)
        # Who may come before them changes the winner as surely as what sets them apart.
        status = verdicts.least_certain([status, *(name for name in LEVEL if name in others)])
        return status, [opening, *others.values()]
    places = column_decimals(row["expected"] for row in ranked)  # as in the table
    lead = (
        f"{names_text(first_group) or first} {have} the highest expected {measure}: "
        f"{number(value, places)}, ahead of {second} ({number(ranked[1]['expected'], places)})."
    )
    others = _unsafe_others(names[:1], after, flips, its, identical)
    accident = (CUT, DEPENDS)
    turned_by = [reason for reason in accident if reason in others]
    if pair["verdict"] == CUT and CUT in others:
        rivals = others.pop(CUT)
        every = f"{_safety(pair).rstrip('.')}, and {rivals.partition(' reverse ')[2]}"
        return CUT, [lead, every, *others.values()]
    if pair["verdict"] in accident or not turned_by:
        bounds = [*(row["highest"] for row in ranked[2:]), ranked[0]["lowest"]]
        # "The lead" would speak of all others, of whom some tie order may put one ahead.
        is_reached = None not in bounds and max(bounds) > bounds[-1]
        rival = [over_second] if is_reached and _holds(pair) else []
        return pair["verdict"], [lead, _safety(pair, *rival), *others.values()]
    # The second cannot turn the lead round, but another model can: both are one thought.
    safety = [_safety(pair, over_second), *map(others.pop, turned_by)]
    status = turned_by[0] if pair["verdict"] == SAFE else pair["verdict"]
    return status, [lead, " ".join(safety), *others.values()]


ON_BOTH = "On the queries that both have"
OWN_QUERIES = (
    "All other means are over the queries that each model has, and may rank the models differently."
)


def _on_paired(pair: Named, measure: str) -> str:
    """Say who leads on the queries that both models have: other means are of different queries."""
    high, low = pair["value_a"], pair["value_b"]
    first, second = model_text(pair["model_a"]), model_text(pair["model_b"])
    if high is None or low is None:
        return f"{first} and {second} have no {measure} for the same query."
    if equal_means(high, low):
        return f"{ON_BOTH}, {first} and {second} have the same expected {measure}: {number(high)}."
    return (
        f"{ON_BOTH}, {first} has the highest expected {measure}: {number(high)}, ahead of {second} "
        f"({number(low)})."
    )


def _holds(pair: Named) -> bool:
    """Return whether no tie order reverses a pair."""
    return (pair["p_tie"], pair["p_tie_method"]) == (0, "exact")


def _safety(pair: Named, lead: str = "The lead") -> str:
    """Say whether the order of a pair is safe, and if not, why."""
    if pair["verdict"] in LEVEL and equal_means(pair["value_a"], pair["value_b"]):
        return LEVEL[pair["verdict"]]
    return SAFETY[pair["verdict"]].format(
        lead=lead,
        models=" and ".join(model_text(pair[f"model_{side}"]) for side in "ab"),
        depends="depends" if verdicts.surely_depends(pair) else "may depend",
        holds="cannot be reversed by any tie order"
        if _holds(pair)
        else f"is rarely reversed by tie order (probability {_chance(pair)})"
        if (pair["p_tie_high"] or 0) >= RARE
        else "is safe from random tie order"
        if pair["disagree"]
        else "does not depend on tie order",
        p="" if pair["family_p"] is None else caveats.significance(pair),
        chance=_reversal(pair),
    )


def _unsafe_others(
    winners: Sequence[str],
    rivals: Sequence[str],
    flips: pl.DataFrame,
    its: str,
    identical: Groups,
) -> dict[str, str]:
    """Return, by the reason, the sentence that names the models below over which the winners have
    no safe lead (``its``: "Its" or, of several or identical models, "Their"). Of identical models
    one is named; all are counted.
    """
    found: dict[str, set[str]] = {name: set() for name in rivals}
    for pair in flips.to_dicts():
        for winner, rival in ("ab", "ba"):
            name = pair[f"model_{rival}"]
            if pair[f"model_{winner}"] in winners and name in found:
                found[name].add(_reason(pair))
    names = grouped(
        (next((reason for reason in UNSAFE_REASONS if reason in found[name]), None), name)
        for name in rivals
    )
    copies = {name: len(group) - 1 for group in identical for name in group}
    return {
        reason: sentence.format(
            models=names_text(names[reason], sum(copies.get(name, 0) for name in names[reason])),
            Its=its,
            its=its.lower(),
        )
        for reason, sentence in UNSAFE_REASONS.items()
        if reason in names
    }


def _reason(pair: Named) -> str:
    """Return the verdict on a pair, or that it may depend on tie order."""
    may_depend = pair["verdict"] == DEPENDS and not verdicts.surely_depends(pair)
    return MAY_DEPEND if may_depend else pair["verdict"]


def margin_sentences(no_worse: pl.DataFrame, measure: str, decision: str = "") -> list[str]:
    """Say which models lose less than the margin against the baseline, which more, and which may do
    either; not that a loss is open that no score allows, nor what the decision says already.
    """
    if not no_worse.height:
        return []
    baseline = model_text(no_worse["baseline"][0])
    margin = margin_text(no_worse["margin"][0])
    sentences = []
    # The decision says that nothing could fail a margin as large as the baseline's score.
    vain = (pl.col("margin") >= pl.col("baseline_value")) & (pl.col("baseline_value") >= 0)
    is_open = ~(vain & (pl.col("verdict") == verdicts.NOT_DECIDED)).fill_null(False)
    # By Student's t alone, whose interval is symmetric, such a model would be no worse.
    is_near = 2 * pl.col("difference") - pl.col("bound_high") > -pl.col("margin")
    rare = no_worse.filter(is_near, verdict=verdicts.NOT_DECIDED)["model"]
    rows = no_worse.filter(is_open)
    for verdict, sentence in MARGIN.items():
        names = rows.filter(verdict=verdict)["model"]
        said = {verdicts.NO_WORSE: names_text(names), verdicts.AT_RANDOM: verdicts.LIKE_CHANCE}
        if names.is_empty() or said.get(verdict, sentence) in decision:
            continue
        are, lose = ("are", "lose") if names.len() > 1 else ("is", "loses")
        # Of scores that cannot be tested, more queries would tell no more.
        is_untested = rows.filter(verdict=verdict)["no_worse_p"].count() == 0
        text = sentence.format(
            queries_leave_open="Nothing shows" if is_untested else "These queries leave open",
            names=names_text(names),
            margin=margin,
            measure=measure,
            baseline=baseline,
            are=are,
            lose=lose,
        )
        if verdict == verdicts.NOT_DECIDED and len(rare):
            whose = f" of {names_text(rare)}" if len(rare) < len(names) else ""
            text = f"{text[:-1]}: they could have missed rare large losses{whose}."
        sentences.append(text)
    return sentences


def _naive(ranked: list[Named], measure: str, ties: str, whose: str) -> list[str]:
    """Say how far naive scores are from the exact ones, or from estimates where lists may be cut,
    and whether they name another winner.
    """
    scored_rows = [row for row in ranked if row["naive"] is not None]
    if not scored_rows:
        return []
    row = max(scored_rows, key=_error)
    is_cut = row["truncated_share"] > 0
    origin = " from the mean over all orders of the items given" if is_cut else ""
    printed = _leaders(scored_rows, "naive")
    accidental = verdicts.accidental_winners(printed, _leaders(scored_rows, "expected"))
    sentences = []
    scored = f"Scored naively, with ties {ties},"
    if _error(row) >= 10**-DECIMALS / 2:
        places = agreeing_decimals((row["naive"], row["expected"]))
        naive, exact = number(row["naive"], places), number(row["expected"], places)
        where = f"{model_text(row['model'])}: {naive} instead of {exact}"
        off = f"are off by up to {number(_error(row), places)}{origin} ({where})"
        sentences = [f"Naive scores{whose}, with ties {ties}, {off}."]
        scored = "Scored naively,"
    if accidental:
        would = "share first place" if len(printed) > 1 else "win"
        sentences.append(
            f"{scored} {names_text(sorted(accidental))} would {would}, purely because of "
            "how ties are ordered."
        )
    return sentences


def _error(row: Named) -> float:
    return float(abs(row["naive"] - row["expected"]))


def _leaders(rows: list[Named], policy: str) -> list[str]:
    """Return the models that share the highest mean under a policy."""
    best = max(row[policy] for row in rows)
    return [row["model"] for row in rows if equal_means(row[policy], best)]


def leading_pair(flips: pl.DataFrame, first: str, second: str) -> Named:
    """Return the flips row of two models, with A leading or level."""
    pair = flips.filter(verdicts.both_among([first, second]))
    return turned(pair, pl.col("value_a") < pl.col("value_b")).row(0, named=True)


def _chance(pair: Named) -> str:
    return chance_text(pair["p_tie"], pair.get("p_tie_low"), pair.get("p_tie_high"))


def _reversal(pair: Named) -> str:
    """Say how probable a reversal is, as precisely as is known."""
    high, method = pair.get("p_tie_high"), pair["p_tie_method"]
    if pair["p_tie"] is None and high is None:
        return ""
    chance = _chance(pair)
    word = "below " if chance.startswith("<") else "from " if " to " in chance else ""
    return (
        f": a random one reverses it with probability {word}{chance.removeprefix('< ')}"
        f"{' (exact)' if method == 'exact' else ''}"
    )
