"""Write the verdict in sentences: who wins, whether that is safe, and how far off naive scores
are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from retrieval_report.comparison import verdicts
from retrieval_report.comparison.pairs import turned
from retrieval_report.comparison.verdicts import (
    CUT,
    DEPENDS,
    EQUAL,
    NOT_SIGNIFICANT,
    SAFE,
    equal_means,
)
from retrieval_report.contracts.significance_tests import CORRECTIONS
from retrieval_report.engines.check_scores import SIDES, at_measure, side_by_side
from retrieval_report.metrics.parsing import divided_by_relevant, measure_text
from retrieval_report.study import caveats
from retrieval_report.study.caveats import model_text, names_text
from retrieval_report.writing.numbers import DECIMALS, chance_text, decimals, number, size, span

Row = dict[str, Any]  # of a pair, or of a model with its means side by side
UNSAFE = {  # wording of a verdict for one pair and for several
    CUT: ("depends on items that may be missing", "depend on items that may be missing"),
    DEPENDS: (DEPENDS, "depend on tie order"),
    NOT_SIGNIFICANT: ("is not significant", "are not significant"),
}
SAFETY = {  # how safe a lead is
    CUT: "Items that are missing from the lists could reverse this lead.",
    DEPENDS: "The lead {depends} on tie order{why}.{chance}",
    NOT_SIGNIFICANT: "The lead {holds}, but is not significant ({p}).{chance}",
    SAFE: "The lead {holds}, and is significant ({p}).{chance}",
    verdicts.UNTESTED: "The lead {holds}. Its significance was not tested, which requires plain "
    "means and queries that both models have.{chance}",
    EQUAL: "No tie order separates them.",
    verdicts.NOTHING: "The two have no query in common, so their means are not over the same "
    "queries.",
}
MARGIN = {  # what is known of a loss
    verdicts.NO_WORSE: "{} no",
    verdicts.WORSE: "{}",
    verdicts.NOT_DECIDED: "these queries do not decide whether {}",
    verdicts.CUT: "the lists are cut, so that they do not show whether {}",
    verdicts.UNKNOWN_R: "R is not known, so that nothing shows whether {}",
    verdicts.NOTHING: "without a relevant item nothing shows whether {}",
}
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
    identical: Sequence[Sequence[str]] = (),
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

    Returns
    -------
    tuple
        The status (a verdict of `flips`, "single model" or "no score") and the sentences. Names are
        shortened to 60 columns and made harmless to read; they are not escaped for HTML.
    """
    here = at_measure(metric, cutoff)
    pairs, measure = flips.filter(here), measure_text(metric, cutoff)
    others = pl.col("tie_std", "truncated_share").filter(policy="expected").first()
    means = side_by_side(summary.filter(here), ["model"], SIDES, others)
    ranked = (
        means.drop_nulls("expected").sort("expected", "model", descending=[True, False]).to_dicts()
    )
    if not ranked:
        return verdicts.NO_SCORE, (f"No model has a score for {measure}.",)
    status, sentences = _winner(ranked, pairs, measure)
    if no_worse is not None and no_worse.width:
        sentences += _margin(no_worse.filter(here), measure)
    sentences += caveats.identical_sentence(identical)
    sentences += [*_pairs(pairs, measure), *_naive(ranked, measure, ties), *_range(ranked[0])]
    sentences += _elsewhere(summary.filter(~here), ranked[0]["model"])
    return status, tuple(sentences)


def pair_verdict(
    flips: pl.DataFrame,
    first: str,
    second: str,
    *,
    metric: str,
    cutoff: int | None,
    ties: str = caveats.NAIVE_ORDERS["row"],
) -> tuple[str, tuple[str, ...]]:
    """Return status and sentences on what one metric at one cutoff says about two models.

    Parameters
    ----------
    flips
        The result of `flips`, with policy expected.
    first, second
        Two of its models, in any order.
    metric, cutoff, ties
        The measure to describe, and the order inside ties of the naive scores.

    Returns
    -------
    tuple
        The status (a verdict of `flips`, or "no score") and the sentences, as for `verdict`.
    """
    here = at_measure(metric, cutoff)
    pair = _pair(flips.filter(here), first, second)
    measure = measure_text(metric, cutoff)
    if pair["value_a"] is None or pair["value_b"] is None:
        return verdicts.NO_SCORE, (
            f"{model_text(first)} and {model_text(second)} do not both have a score for {measure}.",
        )
    high, low = pair["value_a"], pair["value_b"]
    leader, other = model_text(pair["model_a"]), model_text(pair["model_b"])
    where = " on the queries that both have" if pair["unpaired"] else ""
    if equal_means(high, low):
        lead = f"{leader} and {other} have the same expected {measure}{where}: {number(high)}."
        safety = LEVEL.get(pair["verdict"], "")
    else:
        numbers = f"{size(high - low)} in expected {measure}{where}: {span(high, low, ' against ')}"
        lead, safety = f"{leader} is ahead of {other} by {numbers}.", _safety(pair)
    doubt = caveats.POOLED if pair.get("pooled") and divided_by_relevant(metric) else ""
    parts = (lead, _all_queries(pair), _printed(pair, ties), safety, doubt)
    return pair["verdict"], tuple(sentence for sentence in parts if sentence)


def _all_queries(pair: Row) -> str:
    """Say that the means over all queries, which differ between the models, favour the other
    model.
    """
    high, low = pair["expected_a"], pair["expected_b"]
    if high is None or low is None or low <= high or equal_means(high, low):
        return ""
    places = decimals(low - high)
    return (
        f"The means over all queries of each model say otherwise, {number(low, places)} for "
        f"{model_text(pair['model_b'])} "
        f"and {number(high, places)} for {model_text(pair['model_a'])}, but they are not over the same "
        "queries."
    )


def _printed(pair: Row, ties: str) -> str:
    """Say that the naive scores put the other model ahead."""
    if (
        "naive" not in pair["disagree"].split(", ")
        or pair["naive_a"] is None
        or pair["naive_b"] is None
    ):
        return ""
    numbers = "" if pair["unpaired"] else f", {span(pair['naive_b'], pair['naive_a'], ' against ')}"
    return (
        f"With ties {ties}, {model_text(pair['model_b'])} is printed ahead{numbers}: an accident of "
        "tie order."
    )


def _winner(ranked: list[Row], flips: pl.DataFrame, measure: str) -> tuple[str, list[str]]:
    name, value = ranked[0]["model"], ranked[0]["expected"]
    if len(ranked) == 1:
        return verdicts.SINGLE_MODEL, [
            f"{model_text(name)} has an expected {measure} of {number(value)}."
        ]
    second = ranked[1]
    pair = _pair(flips, name, second["model"])
    equal = _leaders(ranked, "expected")
    if len(equal) > 1:
        share = (
            f"{names_text(map(model_text, equal))} share the highest expected {measure}: "
            f"{number(value)}."
        )
        if len(equal) == 2 and pair["unpaired"]:
            return pair["verdict"], [share, _on_paired(pair, "") + _safety(pair)]
        among = flips.filter(pl.col("model_a").is_in(equal) & pl.col("model_b").is_in(equal))[
            "verdict"
        ].to_list()
        status = verdicts.least_certain(verdict for verdict in among if verdict in (CUT, DEPENDS))
        return status, [" ".join(part for part in (share, LEVEL.get(status, "")) if part)]
    places = decimals(value - second["expected"])
    first = (
        f"{model_text(name)} has the highest expected {measure}: {number(value, places)}, "
        f"ahead of {model_text(second['model'])} ({number(second['expected'], places)})."
    )
    others = _unsafe_others(name, second["model"], flips, pair["verdict"])
    return pair["verdict"], [first, _on_paired(pair, name) + _safety(pair) + others]


def _on_paired(pair: Row, winner: str) -> str:
    """Say who leads on the queries that both models have, if those are not all."""
    high, low, name = pair["value_a"], pair["value_b"], pair["model_a"]
    if not pair["unpaired"] or high is None or low is None:
        return ""
    if equal_means(high, low):
        return f"On the queries that both have they are level: {number(high)}. "
    lead = f"leads by {size(high - low)}: {span(high, low, ' against ')}"
    if name == winner:
        return f"On the queries that both have it {lead}. "
    return f"But on the queries that both have {model_text(name)} {lead}; the following is about that. "


def _safety(pair: Row) -> str:
    """Say whether the order of a pair is safe, and if not, why."""
    if pair["verdict"] in LEVEL and equal_means(pair["value_a"], pair["value_b"]):
        return LEVEL[pair["verdict"]]
    return SAFETY[pair["verdict"]].format(
        depends="depends" if verdicts.surely_depends(pair) else "may depend",
        holds="is safe from random tie order"
        if pair["disagree"]
        else "does not depend on tie order",
        why=f" ({_disagreement(pair)})"
        if pair["disagree"] and pair.get("p_tie_high") is None
        else "",
        p="" if pair["family_p"] is None else caveats.significance(pair),
        chance=_reversal(pair),
    )


def _disagreement(pair: Row) -> str:
    """Say which scores favour the other model, or show both as equal."""
    policies = pair["disagree"].split(", ")
    level = [
        policy
        for policy in policies
        if equal_means(pair.get(f"{policy}_a"), pair.get(f"{policy}_b"))
    ]
    other = [policy for policy in policies if policy not in level]
    parts = [(other, "favour the other model"), (level, "show them as equal")]
    return "; ".join(f"{', '.join(names)} scores {what}" for names, what in parts if names)


def _unsafe_others(winner: str, second: str, flips: pl.DataFrame, verdict: str) -> str:
    """Name models ranked below second over which the first has no safe lead; ``verdict`` is that of
    the first two.
    """
    other = pl.when(model_a=winner).then("model_b").when(model_b=winner).then("model_a")
    unsafe = flips.filter(pl.col("verdict").is_in(list(UNSAFE)), other != second).select(
        other.alias("model")
    )
    if unsafe.is_empty():
        return ""
    names = names_text(sorted(map(model_text, unsafe["model"])))
    return f" Its lead over {names} is not safe{' either' if verdict in UNSAFE else ', however'}."


def _margin(no_worse: pl.DataFrame, measure: str) -> list[str]:
    """Say which models lose less than the margin against the baseline, which more, and which may do
    either.
    """
    parts = []
    for verdict, sentence in MARGIN.items():
        rows = no_worse.filter(verdict=verdict)
        if rows.height:
            names = names_text(map(model_text, rows["model"]))
            lead = sentence.format(f"{names} {'is' if rows.height == 1 else 'are'}")
            parts.append(f"{lead} worse than {model_text(rows['baseline'][0])}")
    if not parts:
        return []
    return [
        (
            f"If a loss of up to {no_worse['margin'][0]:g} in {measure} does not matter, "
            f"{'; '.join(parts)}."
        )
    ]


def _pairs(flips: pl.DataFrame, measure: str) -> list[str]:
    if flips.height < 2:
        return []
    counts = dict(flips["verdict"].value_counts().iter_rows())
    phrases = [
        f"{counts[verdict]} {singular if counts[verdict] == 1 else plural}"
        for verdict, (singular, plural) in UNSAFE.items()
        if verdict in counts
    ]
    if NOT_SIGNIFICANT in counts:
        methods = flips["family_method"].drop_nulls().unique()
        phrases[-1] += f" ({names_text(CORRECTIONS[method].title for method in methods)})"
    if not phrases and set(counts) != {SAFE}:
        return [f"Tie order decides none of the {flips.height} pairs of models by {measure}."]
    if not phrases:
        return [f"All {flips.height} pairs of models are in a safe order by {measure}."]
    return [f"Of the {flips.height} pairs of models, by {measure}, {names_text(phrases)}."]


def _naive(ranked: list[Row], measure: str, ties: str) -> list[str]:
    """Say how far naive scores are from the exact ones, and whether they name another winner.

    For cut lists no score is exact, so there is nothing to compare with.
    """
    shown = [row for row in ranked if row["naive"] is not None]
    if not shown or any(row["truncated_share"] for row in ranked):
        return []
    error, name, worst = max(
        (abs(row["naive"] - row["expected"]), row["model"], row) for row in shown
    )
    std = worst["tie_std"]
    deviations = f", {error / std:.1f} standard deviations of random tie order" if std else ""
    text = (
        f"Naive scores, with ties {ties}, are off by up to {size(error)}: {model_text(name)} "
        "shows "
        f"{number(worst['naive'])} where {number(worst['expected'])} is exact{deviations}."
    )
    if error < 10**-DECIMALS / 2:
        text = (
            f"Naive scores, with ties {ties}, agree with the exact {measure} to {DECIMALS} "
            "digits here."
        )
    if accidental := verdicts.accidental_winners(
        _leaders(shown, "naive"), _leaders(shown, "expected")
    ):
        text += f" They name another winner: {model_text(min(accidental))}."
    return [text]


def _leaders(rows: list[Row], policy: str) -> list[str]:
    """Return the models that share the highest mean under a policy."""
    best = max(row[policy] for row in rows)
    return [row["model"] for row in rows if equal_means(row[policy], best)]


def _range(winner: Row) -> list[str]:
    lowest, highest, name = winner["lowest"], winner["highest"], model_text(winner["model"])
    if lowest is None or highest is None or highest - lowest < 10**-DECIMALS / 2:
        return []
    if winner["truncated_share"]:
        return [
            (
                f"With items that may be missing, it is anything from {span(lowest, highest)} for "
                f"{name}."
            )
        ]
    order = "Depending on the order inside ties, an evaluator could print anything from"
    return [f"{order} {span(lowest, highest)} for {name}."]


def _elsewhere(others: pl.DataFrame, winner: str) -> list[str]:
    """Say how many other measures put another model first, and which models."""
    means = others.filter(policy="expected").drop_nulls("value")
    parts = means.partition_by("metric", "cutoff", maintain_order=True)
    ranked = [part.sort("value", "model", descending=[True, False]) for part in parts]
    best = [verdicts.winners(part, "expected") for part in ranked]
    elsewhere = [models[0] for models in best if winner not in models]
    if not best or others["model"].n_unique() < 2:
        return []
    if not elsewhere:
        first = f"The other {len(best)} measures put {model_text(winner)} first too."
        return [first] if len(best) > 1 else []
    models = names_text(map(model_text, dict.fromkeys(elsewhere)))
    put = "puts" if len(elsewhere) == 1 else "put"
    return [f"{len(elsewhere)} of {len(best)} other measures {put} another model first: {models}."]


def _pair(flips: pl.DataFrame, first: str, second: str) -> Row:
    """Return the row of two models, of which A is not behind."""
    own = flips.filter(
        pl.col("model_a").is_in([first, second]) & pl.col("model_b").is_in([first, second])
    )
    return turned(own, pl.col("value_a") < pl.col("value_b")).row(0, named=True)


def _reversal(pair: Row) -> str:
    """Say how probable a reversal is, as precisely as is known."""
    low, high, method = pair.get("p_tie_low"), pair.get("p_tie_high"), pair["p_tie_method"]
    if pair["p_tie"] is None and high is None:
        return ""
    if pair["p_tie"] == 0 and method == "exact":
        return " No order inside ties can reverse it."
    chance = chance_text(pair["p_tie"], low, high)
    word = "below " if chance.startswith("<") else "from " if " to " in chance else ""
    return (
        f" Random tie order reverses it with probability {word}{chance.removeprefix('< ')} "
        f"({caveats.METHODS[method]})."
    )
