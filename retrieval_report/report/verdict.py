"""The first thing a reader wants to know, in sentences: who wins, is it safe, how far off naive scores are."""

from __future__ import annotations

from typing import Any

import polars as pl

from retrieval_report.terminal import visible

__all__ = ["pair_verdict", "verdict"]

NAME_WIDTH = 60
DIGITS = 4
Row = dict[str, Any]
Models = dict[str, dict[str, Row]]  # model → policy → row of the summary
UNSAFE = (
    ("depends on tie order", "depends on tie order", "depend on tie order"),
    ("undecided by sampling", "is undecided by sampling", "are undecided by sampling"),
)


def verdict(
    summary: pl.DataFrame, flips: pl.DataFrame, *, metric: str, cutoff: int | None
) -> tuple[str, tuple[str, ...]]:
    """Say what one metric at one cutoff tells about the models.

    Parameters
    ----------
    summary, flips
        What `summarise` and `flips` return.
    metric, cutoff
        The measure to speak of.

    Returns
    -------
    tuple
        The status (a verdict of `flips`, or "equal", "single model" or "no score") and
        the sentences. Names are cut to 60 columns and made harmless to read; they are not escaped for HTML.
    """
    place = (pl.col("metric") == metric) & pl.col("cutoff").eq_missing(pl.lit(cutoff, dtype=pl.Int64))
    models: Models = {}
    for row in summary.filter(place).iter_rows(named=True):
        models.setdefault(row["model"], {})[row["policy"]] = row
    ranked = sorted(
        (name for name in models if _value(models[name], "expected") is not None),
        key=lambda name: (-(_value(models[name], "expected") or 0.0), name),
    )
    measure = f"{metric}@{'all' if cutoff is None else cutoff}"
    if not ranked:
        return "no score", (f"No model has a score for {measure}.",)
    status, sentences = _winner(ranked, models, flips.filter(place), measure)
    sentences += [*_pairs(flips.filter(place), measure), *_naive(ranked, models, measure), *_range(ranked[0], models)]
    sentences += _elsewhere(summary.filter(~place), ranked[0])
    return status, tuple(sentences)


def pair_verdict(
    flips: pl.DataFrame, first: str, second: str, *, metric: str, cutoff: int | None
) -> tuple[str, tuple[str, ...]]:
    """Say what one metric at one cutoff tells about two models.

    Parameters
    ----------
    flips
        What `flips` returns, with policy expected.
    first, second
        Two of its models, in any order.
    metric, cutoff
        The measure to speak of.

    Returns
    -------
    tuple
        The status (a verdict of `flips`, or "no score") and the sentences, as of
        `verdict`.
    """
    place = (pl.col("metric") == metric) & pl.col("cutoff").eq_missing(pl.lit(cutoff, dtype=pl.Int64))
    pair = _pair(flips.filter(place), first, second)
    measure = f"{metric}@{'all' if cutoff is None else cutoff}"
    sides = [(pair[f"model_{side}"], {name: pair[f"{name}_{side}"] for name in ("expected", "naive")}) for side in "ab"]
    if any(values["expected"] is None for _, values in sides):
        return "no score", (f"{_name(first)} and {_name(second)} do not both have a score for {measure}.",)
    (leader, high), (other, low) = sorted(sides, key=lambda side: -side[1]["expected"])
    if _same(high["expected"], low["expected"]):
        lead = f"{_name(leader)} and {_name(other)} have the same expected {measure}: {_number(high['expected'])}."
        safety = "Tie order alone decides which is printed ahead." if pair["verdict"] == UNSAFE[0][0] else ""
    else:
        numbers = f"{_number(high['expected'])} against {_number(low['expected'])}"
        ahead = _number(high["expected"] - low["expected"])
        lead = f"{_name(leader)} is ahead of {_name(other)} by {ahead} in expected {measure}: {numbers}."
        safety = _safety(pair)
    printed = ""
    if high["naive"] is not None and low["naive"] is not None and low["naive"] > high["naive"]:
        numbers = f"{_number(low['naive'])} against {_number(high['naive'])}"
        printed = f"In the order received {_name(other)} is printed ahead, {numbers}: an accident of tie order."
    return pair["verdict"], tuple(sentence for sentence in (lead, printed, safety) if sentence)


def _winner(ranked: list[str], models: Models, flips: pl.DataFrame, measure: str) -> tuple[str, list[str]]:
    value = _value(models[ranked[0]], "expected") or 0.0
    if len(ranked) == 1:
        return "single model", [f"{_name(ranked[0])} has an expected {measure} of {_number(value)}."]
    second = _value(models[ranked[1]], "expected") or 0.0
    pair = _pair(flips, ranked[0], ranked[1])
    equal = [name for name in ranked if _same(value, _value(models[name], "expected"))]
    if len(equal) > 1:
        names = _list([_name(name) for name in equal])
        moved = " Tie order alone decides which of them is printed ahead." if _depends(flips, equal) else ""
        status = "depends on tie order" if moved else "equal"
        return status, [f"{names} share the highest expected {measure}: {_number(value)}.{moved}"]
    first = (
        f"{_name(ranked[0])} has the highest expected {measure}: {_number(value)}, "
        f"against {_number(second)} of {_name(ranked[1])}, the next."
    )
    return pair["verdict"], [first, _safety(pair) + _unsafe_others(ranked, flips)]


def _safety(pair: Row) -> str:
    """Whether the order of a pair stands, and why not."""
    chance = _reversal(pair)
    if pair["verdict"] == "safe":
        text = "This lead is safe: neither tie order nor the choice of queries is likely to turn it around." + chance
    elif pair["verdict"] == "safe from tie order":
        text = (
            "Tie order does not endanger this lead. Whether the choice of queries does was not tested: that takes "
            "plain means, and queries that both models have." + chance
        )
    elif pair["verdict"] == "undecided by sampling":
        text = (
            "Tie order does not endanger this lead, but the sample of queries does: the difference is not significant "
            f"(Holm p = {_number(pair['holm_p'])})." + chance
        )
    else:
        why = f" ({_disagreement(pair)})" if pair["disagree"] else ""
        text = f"This lead depends on tie order{why}." + chance
    return text


def _disagreement(pair: Row) -> str:
    """Which scores say what else: the other one, or that both are equal."""
    policies = pair["disagree"].split(", ")
    level = [policy for policy in policies if _same(pair.get(f"{policy}_a"), pair.get(f"{policy}_b"))]
    other = [policy for policy in policies if policy not in level]
    parts = [(other, "name the other one"), (level, "show them equal")]
    return "; ".join(f"{', '.join(names)} scores {what}" for names, what in parts if names)


def _unsafe_others(ranked: list[str], flips: pl.DataFrame) -> str:
    """The models behind the second that the first is not safely ahead of."""
    unsafe = [
        _name(row["model_b"] if row["model_a"] == ranked[0] else row["model_a"])
        for row in flips.filter(pl.col("verdict").is_in([verdict for verdict, *_ in UNSAFE])).iter_rows(named=True)
        if ranked[0] in (row["model_a"], row["model_b"]) and ranked[1] not in (row["model_a"], row["model_b"])
    ]
    return f" Its lead over {_list(sorted(unsafe))} is not safe either." if unsafe else ""


def _pairs(flips: pl.DataFrame, measure: str) -> list[str]:
    if flips.height < 2:
        return []
    counts = dict(flips["verdict"].value_counts().iter_rows())
    told = [
        f"{counts[verdict]} {singular if counts[verdict] == 1 else plural}"
        for verdict, singular, plural in UNSAFE
        if verdict in counts
    ]
    if not told and set(counts) != {"safe"}:
        return [f"Tie order decides none of the {flips.height} pairs of models by {measure}."]
    if not told:
        return [f"All {flips.height} pairs of models are in a safe order by {measure}."]
    return [f"Of the {flips.height} pairs of models, by {measure}, {' and '.join(told)}."]


def _naive(ranked: list[str], models: Models, measure: str) -> list[str]:
    """How far the scores in the order of the rows are from the exact ones, and whether they name another winner."""
    errors = {
        name: (_value(models[name], "naive") or 0.0) - (_value(models[name], "expected") or 0.0)
        for name in ranked
        if _value(models[name], "naive") is not None
    }
    if not errors:
        return []
    worst = max(errors, key=lambda name: (abs(errors[name]), name))
    if abs(errors[worst]) < 10**-DIGITS / 2:
        return [
            f"Naive scores, with ties in the order received, agree with the exact {measure} to {DIGITS} digits here."
        ]
    policies = models[worst]
    std = policies["expected"]["tie_std"]
    size = f", {abs(errors[worst]) / std:.1f} standard deviations of random tie order" if std else ""
    text = (
        f"Naive scores, with ties in the order received, are off by up to {_number(abs(errors[worst]))}: "
        f"{_name(worst)} shows {_number(_value(policies, 'naive'))} where {_number(_value(policies, 'expected'))} "
        f"is exact{size}."
    )
    winner = min(errors, key=lambda name: (-(_value(models[name], "naive") or 0.0), name))
    if not _same(_value(models[winner], "naive"), _value(models[ranked[0]], "naive")):
        text += f" They name another winner: {_name(winner)}."
    return [text]


def _range(winner: str, models: Models) -> list[str]:
    lowest, highest = (_value(models[winner], policy) for policy in ("worst", "best"))
    if lowest is None or highest is None or highest - lowest < 10**-DIGITS / 2:
        return []
    text = (
        f"Depending on the order inside ties, an evaluator could print anything from {_number(lowest)} to "
        f"{_number(highest)} for {_name(winner)}."
    )
    return [text]


def _elsewhere(others: pl.DataFrame, winner: str) -> list[str]:
    """Whether the other measures name the same winner."""
    told, measures = [], 0
    for (metric, cutoff), part in others.filter(policy="expected").group_by("metric", "cutoff", maintain_order=True):
        best = part.sort("value", "model", descending=[True, False], nulls_last=True).row(0, named=True)
        own = part.filter(model=winner)["value"].to_list()
        if best["value"] is None:
            continue
        measures += 1
        if not own or not _same(own[0], best["value"]):
            told.append(f"{_name(best['model'])} by {metric}@{'all' if cutoff is None else cutoff}")
    if measures == 0 or part["model"].n_unique() < 2:
        return []
    if not told:
        return [f"The other {measures} measures put {_name(winner)} first too."] if measures > 1 else []
    return [f"Other measures put another model first: {_list(told)}."]


def _pair(flips: pl.DataFrame, first: str, second: str) -> Row:
    names = sorted((first, second))
    rows = flips.filter((pl.col("model_a") == names[0]) & (pl.col("model_b") == names[1]))
    return rows.row(0, named=True)


def _depends(flips: pl.DataFrame, names: list[str]) -> bool:
    among = flips.filter(pl.col("model_a").is_in(names) & pl.col("model_b").is_in(names))
    return "depends on tie order" in among["verdict"]


def _value(policies: dict[str, Row], policy: str) -> float | None:
    value: float | None = policies.get(policy, {}).get("value")
    return value


def _same(first: float | None, second: float | None) -> bool:
    """Whether means are equal to 12 digits, as `flips` has it."""
    return first is not None and second is not None and abs(first - second) <= 1e-12 * max(abs(first), abs(second))


def _name(model: str) -> str:
    return visible(model, NAME_WIDTH, middle=True)


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.{DIGITS}f}"


def _reversal(pair: Row) -> str:
    if pair["p_tie"] is None:
        return ""
    if pair["p_tie"] == 0 and pair["p_tie_method"] == "exact":
        return " No order inside ties can reverse it."
    if pair["p_tie_method"] == "shuffles":  # they tell a half to ± 0.01
        if pair["p_tie"] == 0:
            return " None of the random orders drawn reverses it."
        chance = "below 0.01" if pair["p_tie"] < 0.01 else f"about {pair['p_tie']:.2f}"
        counted = "counted in random orders of the lists that have too many to try all"
        return f" Random tie order reverses it with probability {chance}, {counted}."
    chance = "below 0.0001" if pair["p_tie"] < 1e-4 else f"{pair['p_tie']:.4f}"
    return f" Random tie order reverses it with probability {chance}."


def _list(names: list[str]) -> str:
    if len(names) > 5:
        names = [*names[:4], f"{len(names) - 4} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
