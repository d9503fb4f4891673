"""Write the verdict in sentences: who wins, whether that is safe, and how far off naive scores are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import polars as pl

from retrieval_report.analysis.inputs import at_measure
from retrieval_report.analysis.verdicts import (
    CUT,
    DEPENDS,
    EQUAL,
    NO_SCORE,
    NO_WORSE,
    NOT_DECIDED,
    NOT_SIGNIFICANT,
    SAFE,
    SINGLE_MODEL,
    UNTESTED,
    WORSE,
    accidental_winners,
    equal_means,
    least_certain,
    surely_depends,
)
from retrieval_report.metrics.parsing import measure_text
from retrieval_report.report.notices import (
    METHODS,
    NAIVE_ORDERS,
    POOLED,
    RETRIEVE_DEEPER,
    divided_by_relevant,
    names_text,
)
from retrieval_report.report.terminal import visible
from retrieval_report.writing.numbers import DECIMALS, chance_text, decimals, number, p_value, size, span

NAME_WIDTH = 60
Row = dict[str, Any]
Models = dict[str, dict[str, Row]]  # model → policy → row of the summary
UNSAFE = (  # verdict, and its wording for one pair and for several
    (CUT, "depends on what the cut lists leave out", "depend on what the cut lists leave out"),
    (DEPENDS, DEPENDS, "depend on tie order"),
    (NOT_SIGNIFICANT, "is not significant", "are not significant"),
)
DEEPER = f"{RETRIEVE_DEEPER}; for binary codes, count_codes needs no lists at all."
CUT_LEAD = f"The lists are cut, and what they leave out could reverse this lead. {DEEPER}"
LEVEL = {  # what may set apart models with equal means
    CUT: f"The lists are cut, and what they leave out could put one ahead. {DEEPER}",
    DEPENDS: "Tie order alone decides which of them is printed ahead.",
}


def verdict(
    summary: pl.DataFrame,
    flips: pl.DataFrame,
    no_worse: pl.DataFrame | None = None,
    *,
    metric: str,
    cutoff: int | None,
    ties: str = NAIVE_ORDERS["row"],
) -> tuple[str, tuple[str, ...]]:
    """Return status and sentences on what one metric at one cutoff says about the models.

    Parameters
    ----------
    summary, flips, no_worse
        The results of `summarise`, `flips` and, if a margin was given, `no_worse`.
    metric, cutoff, ties
        The measure to describe, and the order inside ties of the naive scores (see `naive_ties`).

    Returns
    -------
    tuple
        The status (a verdict of `flips`, "single model" or "no score") and the sentences. Names are shortened to 60
        columns and made harmless to read; they are not escaped for HTML.
    """
    here = at_measure(metric, cutoff)
    models: Models = {}
    for row in summary.filter(here).iter_rows(named=True):
        models.setdefault(row["model"], {})[row["policy"]] = row
    known = summary.filter(here, policy="expected").drop_nulls("value")
    ranked = known.sort("value", "model", descending=[True, False])["model"].to_list()
    measure = measure_text(metric, cutoff)
    if not ranked:
        return NO_SCORE, (f"No model has a score for {measure}.",)
    status, sentences = _winner(ranked, models, flips.filter(here), measure)
    if no_worse is not None and no_worse.width:
        sentences += _margin(no_worse.filter(here), measure)
    sentences += [
        *_pairs(flips.filter(here), measure),
        *_naive(ranked, models, measure, ties),
        *_range(ranked[0], models),
    ]
    sentences += _elsewhere(summary.filter(~here), ranked[0])
    return status, tuple(sentences)


def pair_verdict(
    flips: pl.DataFrame, first: str, second: str, *, metric: str, cutoff: int | None, ties: str = NAIVE_ORDERS["row"]
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
        return NO_SCORE, (f"{_name(first)} and {_name(second)} do not both have a score for {measure}.",)
    sides = [_Side.of(pair, side) for side in "ab"]
    leader, other = sorted(sides, key=lambda side: -side.value)
    where = " on the queries that both have" if pair["unpaired"] else ""
    if equal_means(leader.value, other.value):
        names = f"{_name(leader.model)} and {_name(other.model)}"
        lead = f"{names} have the same expected {measure}{where}: {number(leader.value)}."
        safety = LEVEL.get(pair["verdict"], "")
    else:
        numbers = span(leader.value, other.value, " against ")
        ahead = size(leader.value - other.value)
        names = f"{_name(leader.model)} is ahead of {_name(other.model)}"
        lead = f"{names} by {ahead} in expected {measure}{where}: {numbers}."
        safety = _safety(pair)
    doubt = POOLED if pair.get("pooled") and divided_by_relevant(metric) else ""
    parts = (lead, _all_queries(leader, other), _printed(pair, leader, other, ties), safety, doubt)
    return pair["verdict"], tuple(sentence for sentence in parts if sentence)


class _Side(NamedTuple):
    """One model of a pair: its mean over the paired queries, and its means over all of its own."""

    model: str
    value: float
    expected: float | None
    naive: float | None

    @classmethod
    def of(cls, pair: Row, side: str) -> _Side:
        return cls(*(pair[f"{name}_{side}"] for name in ("model", "value", "expected", "naive")))


def _all_queries(leader: _Side, other: _Side) -> str:
    """Say that the means over all queries, which differ between the models, favour the other model."""
    high, low = leader.expected, other.expected
    if high is None or low is None or low <= high or equal_means(high, low):
        return ""
    places = decimals(low - high)
    return (
        f"The means over all queries of each model say otherwise, {number(low, places)} for {_name(other.model)} and "
        f"{number(high, places)} for {_name(leader.model)}, but they are not over the same queries."
    )


def _printed(pair: Row, leader: _Side, other: _Side, ties: str) -> str:
    """Say that the naive scores put the other model ahead."""
    if "naive" not in pair["disagree"].split(", ") or leader.naive is None or other.naive is None:
        return ""
    if pair["unpaired"]:
        return f"With ties {ties}, {_name(other.model)} is printed ahead: an accident of tie order."
    numbers = span(other.naive, leader.naive, " against ")
    return f"With ties {ties}, {_name(other.model)} is printed ahead, {numbers}: an accident of tie order."


def _winner(ranked: list[str], models: Models, flips: pl.DataFrame, measure: str) -> tuple[str, list[str]]:
    value = _value(models[ranked[0]], "expected") or 0.0
    if len(ranked) == 1:
        return SINGLE_MODEL, [f"{_name(ranked[0])} has an expected {measure} of {number(value)}."]
    second = _value(models[ranked[1]], "expected") or 0.0
    pair = _pair(flips, ranked[0], ranked[1])
    equal = _leaders(ranked, models, "expected")
    if len(equal) > 1:
        share = f"{names_text(map(_name, equal))} share the highest expected {measure}: {number(value)}."
        if len(equal) == 2 and pair["unpaired"]:
            return pair["verdict"], [share, _on_paired(pair, "") + _safety(pair)]
        among = flips.filter(pl.col("model_a").is_in(equal) & pl.col("model_b").is_in(equal))["verdict"].to_list()
        status = least_certain(verdict for verdict in among if verdict in (CUT, DEPENDS))
        return status, [" ".join(part for part in (share, LEVEL.get(status, "")) if part)]
    places = decimals(value - second)
    first = (
        f"{_name(ranked[0])} has the highest expected {measure}: {number(value, places)}, "
        f"ahead of {_name(ranked[1])} ({number(second, places)})."
    )
    return pair["verdict"], [first, _on_paired(pair, ranked[0]) + _safety(pair) + _unsafe_others(ranked, flips, pair)]


def _on_paired(pair: Row, winner: str) -> str:
    """Say who leads on the queries that both models have, if those are not all."""
    if not pair["unpaired"] or pair["value_a"] is None or pair["value_b"] is None:
        return ""
    sides = [_Side.of(pair, side) for side in "ab"]
    high, low = sorted(sides, key=lambda side: -side.value)
    numbers = span(high.value, low.value, " against ")
    if equal_means(high.value, low.value):
        return f"On the queries that both have they are level: {number(high.value)}. "
    if high.model == winner:
        return f"On the queries that both have it leads by {size(high.value - low.value)}: {numbers}. "
    return (
        f"But on the queries that both have {_name(high.model)} leads by {size(high.value - low.value)}: {numbers}; "
        "the following is about that. "
    )


def _safety(pair: Row) -> str:
    """Say whether the order of a pair is safe, and if not, why."""
    chance, p = _reversal(pair), f"corrected {p_value(pair['family_p'])}"
    if pair["verdict"] in LEVEL and equal_means(pair["value_a"], pair["value_b"]):
        text = LEVEL[pair["verdict"]]
    elif pair["verdict"] == CUT:
        text = CUT_LEAD
    elif pair["verdict"] == DEPENDS:
        why = f" ({_disagreement(pair)})" if pair["disagree"] else ""
        text = f"The lead {'depends' if surely_depends(pair) else 'may depend'} on tie order{why}.{chance}"
    elif pair["verdict"] == NOT_SIGNIFICANT:
        text = f"The lead does not depend on tie order, but is not significant ({p}).{chance}"
    elif pair["verdict"] == SAFE:
        text = f"The lead does not depend on tie order, and is significant ({p}).{chance}"
    elif pair["verdict"] == UNTESTED:
        text = (
            "The lead does not depend on tie order. Its significance was not tested, which requires plain means "
            f"and queries that both models have.{chance}"
        )
    else:
        nothing = "The two have no query in common, so their means are not over the same queries."
        text = "No tie order separates them." if pair["verdict"] == EQUAL else nothing
    return text


def _disagreement(pair: Row) -> str:
    """Say which scores favour the other model, or show both as equal."""
    policies = pair["disagree"].split(", ")
    level = [policy for policy in policies if equal_means(pair.get(f"{policy}_a"), pair.get(f"{policy}_b"))]
    other = [policy for policy in policies if policy not in level]
    parts = [(other, "favour the other model"), (level, "show them as equal")]
    return "; ".join(f"{', '.join(names)} scores {what}" for names, what in parts if names)


def _unsafe_others(ranked: list[str], flips: pl.DataFrame, pair: Row) -> str:
    """Name models ranked below second over which the first has no safe lead; ``pair`` is that of the first two."""
    verdicts = [verdict for verdict, *_ in UNSAFE]
    unsafe = [
        _name(row["model_b"] if row["model_a"] == ranked[0] else row["model_a"])
        for row in flips.filter(pl.col("verdict").is_in(verdicts)).iter_rows(named=True)
        if ranked[0] in (row["model_a"], row["model_b"]) and ranked[1] not in (row["model_a"], row["model_b"])
    ]
    if not unsafe:
        return ""
    names = names_text(sorted(unsafe))
    return f" Its lead over {names} is not safe{' either' if pair['verdict'] in verdicts else ', however'}."


def _margin(no_worse: pl.DataFrame, measure: str) -> list[str]:
    """Say which models lose less than the margin against the baseline, which more, and which may do either."""
    parts = []
    starts = {NO_WORSE: ("", " no"), WORSE: ("", ""), NOT_DECIDED: ("these queries do not decide whether ", "")}
    for verdict, (start, no) in starts.items():
        rows = no_worse.filter(verdict=verdict)
        if rows.height:
            names = names_text([_name(model) for model in rows["model"]])
            are = "is" if rows.height == 1 else "are"
            parts.append(f"{start}{names} {are}{no} worse than {_name(rows['baseline'][0])}")
    if not parts:
        return []
    return [f"If a loss of up to {no_worse['margin'][0]:g} in {measure} does not matter, {'; '.join(parts)}."]


def _pairs(flips: pl.DataFrame, measure: str) -> list[str]:
    if flips.height < 2:
        return []
    counts = dict(flips["verdict"].value_counts().iter_rows())
    phrases = [
        f"{counts[verdict]} {singular if counts[verdict] == 1 else plural}"
        for verdict, singular, plural in UNSAFE
        if verdict in counts
    ]
    if not phrases and set(counts) != {SAFE}:
        return [f"Tie order decides none of the {flips.height} pairs of models by {measure}."]
    if not phrases:
        return [f"All {flips.height} pairs of models are in a safe order by {measure}."]
    return [f"Of the {flips.height} pairs of models, by {measure}, {names_text(phrases)}."]


def _naive(ranked: list[str], models: Models, measure: str, ties: str) -> list[str]:
    """Say how far naive scores are from the exact ones, and whether they name another winner.

    For cut lists no score is exact, so there is nothing to compare with.
    """
    if any(_is_cut(models[name]) for name in ranked):
        return []
    errors = {
        name: (_value(models[name], "naive") or 0.0) - (_value(models[name], "expected") or 0.0)
        for name in ranked
        if _value(models[name], "naive") is not None
    }
    if not errors:
        return []
    worst = max(errors, key=lambda name: (abs(errors[name]), name))
    if abs(errors[worst]) < 10**-DECIMALS / 2:
        return [f"Naive scores, with ties {ties}, agree with the exact {measure} to {DECIMALS} digits here."]
    policies = models[worst]
    std = policies["expected"]["tie_std"]
    deviations = f", {abs(errors[worst]) / std:.1f} standard deviations of random tie order" if std else ""
    text = (
        f"Naive scores, with ties {ties}, are off by up to {size(abs(errors[worst]))}: "
        f"{_name(worst)} shows {number(_value(policies, 'naive'))} where {number(_value(policies, 'expected'))} "
        f"is exact{deviations}."
    )
    printed, best = (_leaders(errors, models, policy) for policy in ("naive", "expected"))
    if accidental := accidental_winners(printed, best):
        text += f" They name another winner: {_name(min(accidental))}."
    return [text]


def _leaders(names: Iterable[str], models: Models, policy: str) -> list[str]:
    """Return the models that share the highest mean under a policy."""
    values = {name: _value(models[name], policy) or 0.0 for name in names}
    return [name for name, value in values.items() if equal_means(value, max(values.values()))]


def _range(winner: str, models: Models) -> list[str]:
    lowest, highest = (_value(models[winner], policy) for policy in ("worst", "best"))
    if lowest is None or highest is None or highest - lowest < 10**-DECIMALS / 2:
        return []
    if _is_cut(models[winner]):  # for a single model the notice has already said this
        could = f"A deeper retrieval could show anything from {span(lowest, highest)} for {_name(winner)}."
        return [could] * (len(models) > 1)
    text = (
        f"Depending on the order inside ties, an evaluator could print anything from {span(lowest, highest)} "
        f"for {_name(winner)}."
    )
    return [text]


def _elsewhere(others: pl.DataFrame, winner: str) -> list[str]:
    """Say which other measures name another winner."""
    elsewhere: dict[str, list[str]] = {}
    measures = 0
    for (metric, cutoff), part in others.filter(policy="expected").group_by("metric", "cutoff", maintain_order=True):
        best = part.sort("value", "model", descending=[True, False], nulls_last=True).row(0, named=True)
        own = part.filter(model=winner)["value"].to_list()
        if best["value"] is None:
            continue
        measures += 1
        if not own or not equal_means(own[0], best["value"]):
            elsewhere.setdefault(best["model"], []).append(measure_text(metric, cutoff))
    if measures == 0 or part["model"].n_unique() < 2:
        return []
    if not elsewhere:
        return [f"The other {measures} measures put {_name(winner)} first too."] if measures > 1 else []
    phrases = [f"{_name(model)} by {names_text(names)}" for model, names in elsewhere.items()]
    return [f"Other measures put another model first: {'; '.join(phrases)}."]


def _pair(flips: pl.DataFrame, first: str, second: str) -> Row:
    names = sorted((first, second))
    rows = flips.filter((pl.col("model_a") == names[0]) & (pl.col("model_b") == names[1]))
    return rows.row(0, named=True)


def _is_cut(policies: dict[str, Row]) -> bool:
    """Return whether the scores of a model depend on items that were not retrieved."""
    return bool(policies.get("expected", {}).get("truncated_share"))


def _value(policies: dict[str, Row], policy: str) -> float | None:
    value: float | None = policies.get(policy, {}).get("value")
    return value


def _name(model: str) -> str:
    return visible(model, NAME_WIDTH, middle=True)


def _reversal(pair: Row) -> str:
    """Say how probable a reversal is, as precisely as is known."""
    low, high, method = pair.get("p_tie_low"), pair.get("p_tie_high"), pair["p_tie_method"]
    if pair["p_tie"] is None and high is None:
        return ""
    if pair["p_tie"] == 0 and method == "exact":
        return " No order inside ties can reverse it."
    chance = chance_text(pair["p_tie"], low, high)
    word = "below " if chance.startswith("<") else "from " if " to " in chance else ""
    return f" Random tie order reverses it with probability {word}{chance.removeprefix('< ')} ({METHODS[method]})."
