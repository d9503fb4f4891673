"""The decision that a baseline and a margin ask for, in one sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from retrieval_report.comparison import verdicts
from retrieval_report.comparison.margins import margin_text, nothing_could_fail, parse_margin
from retrieval_report.contracts.wording import have, whole_percent
from retrieval_report.engines.check_scores import at_measure
from retrieval_report.metrics.parsing import Measure, measure_text
from retrieval_report.study.caveats import model_text, names_text
from retrieval_report.study.terminal import visible
from retrieval_report.writing.names import with_number
from retrieval_report.writing.numbers import about, size

if TYPE_CHECKING:
    from retrieval_report.study.study import Study

FRACTIONS = {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth", 8: "an eighth", 10: "a tenth"}
SHIP, KEEP = "ship", "keep"
Decision = tuple[str, str]  # in a word, and in a sentence
LARGE_SHARE = 0.5  # of the baseline's score: a margin that lets much pass
NAMED_WITHIN = 0.02  # relative, of a fraction that has a name
FAR_MORE = 2  # times as many queries, which the decision names, too


def decided_by(study: Study) -> Decision:
    """Return the same of a study, of which the baseline may be a model without a verdict."""
    baseline, margin = study._view.baseline, study._view.margin
    for word, models, fault in (
        ("", study.suspects, "has no verdict"),
        (verdicts.AT_RANDOM, study.at_random, f"has lists that {verdicts.LIKE_CHANCE}"),
    ):
        if margin is not None and baseline in models:
            name = model_text(str(baseline))
            return word, f"{name}, the baseline, {fault}, so no model is tested against it."
    headline = study.headline
    if margin is not None and not parse_margin(margin).among(headline.measures):
        name = measure_text(*headline.measures[0])
        return "", f"{name} has no margin, so nothing is decided: the margins are {margin}."
    if headline.margin_rows.width and headline.margin_rows.is_empty() and study.suspects:
        return "", (
            f"{names_text(study.suspects)} {have(len(study.suspects))} no verdict, so nothing is "
            f"tested against {model_text(str(baseline))}."
        )
    return decided(headline.margin_rows, headline.costs, study.measures[0])


def decided(no_worse: pl.DataFrame, costs: pl.DataFrame, measure: Measure) -> Decision:
    """Return a decision in a word ("ship", "no worse", "keep" or "not decided") and what to do in a
    sentence: which model may replace the baseline, or that none may, or what keeps it open.

    Parameters
    ----------
    no_worse, costs
        The results of `no_worse`, best first, and of `cost_table`; without columns where they were
        not asked for.
    measure
        The headline measure.
    """
    rows = no_worse.filter(at_measure(*measure)) if no_worse.width else no_worse
    if rows.is_empty():
        return "", ""
    baseline, limit, value = rows.select("baseline", "margin", "baseline_value").row(0)
    margin = f"margin {margin_text(limit)} in {measure_text(*measure)}"
    share = limit / value if value else 0.0
    if LARGE_SHARE < share < 1:
        score = f"the score of {model_text(baseline)}"
        margin += f", which allows a loss of {whole_percent(share)} of {score}"
    amounts = _amounts(costs, measure)
    if baseline not in amounts:  # only a lower cost could speak for a copy of the baseline
        copies = rows.filter("same_lists")["model"]
        rows = rows.remove("same_lists")
        if rows.is_empty():
            text = f"{names_text(copies)} {have(len(copies))} the same lists."
            return KEEP, f"Keep {model_text(baseline)}: {text}"
    # Of those that cost the same, the one that scores most comes first, as in the rows.
    passed = rows.filter(verdict=verdicts.NO_WORSE)
    if passed.is_empty():
        return _nothing_passed(rows, baseline, margin, amounts)
    if baseline not in amounts:
        return _any_of(passed, baseline, margin, amounts)
    kinds = costs["cost"].unique(maintain_order=True)  # the first of which decides
    kind = visible(kinds[0]) if kinds.len() > 1 else ""
    cost = amounts[baseline]
    cheaper = [name for name in passed["model"] if amounts.get(name, cost) < cost]
    if not cheaper:
        unknown = _without_cost(passed, amounts, f" than {model_text(baseline)} ({margin})")
        if unknown:
            return verdicts.NO_WORSE, unknown
        return _none_cheaper(passed, baseline, margin, amounts, f" by {kind}" * bool(kind))
    best = min(cheaper, key=lambda name: amounts[name])
    ship = (
        f"Ship {model_text(best)}: no worse than {model_text(baseline)} ({margin}) at "
        f"{_share(amounts[best], cost)} of the cost{f', {kind}' * bool(kind)}."
    )
    return SHIP, " ".join(filter(None, [ship, _without_cost(passed, amounts)]))


def _without_cost(rows: pl.DataFrame, amounts: Mapping[str, float], than: str = "") -> str:
    """Name the models that are no worse and have no cost; empty if all have one."""
    names = [name for name in rows["model"] if name not in amounts]
    are, them = ("is", "it") if len(names) == 1 else ("are", "them")
    sentence = f"{names_text(names)} {are} no worse{than}, but no cost is given for {them}."
    return sentence if names else ""


def _none_cheaper(
    rows: pl.DataFrame, baseline: str, margin: str, amounts: Mapping[str, float], by: str
) -> Decision:
    """Weigh models that are no worse, best first, of which none costs less than the baseline,
    ``by`` a kind of cost if there are several.
    """
    name, passed = model_text(baseline), rows["model"].to_list()
    is_better = (rows["bound_low"] > 0).fill_null(False)
    best, gain = passed[0], size(rows["difference"][0], sign="+")
    if is_better[0] and amounts[best] == amounts[baseline]:
        return SHIP, f"Ship {model_text(best)}: better than {name} ({gain}) at the same cost{by}."
    sentence = ""
    if is_better[0]:
        passed = passed[1:]
        times = amounts[best] / amounts[baseline] if amounts[baseline] else 0
        costs = f"{times:.3g} times as much" if times else "more"
        sentence = f"{model_text(best)} is better ({gain}), but costs {costs}"
    one = len(passed) == 1
    better = is_better.tail(len(passed))
    how = "better" if better.all() else f"{'better or ' * better.any()}no worse ({margin})"
    others = f"{names_text(passed)} {'is' if one else 'are'} {how}, but cost{'s' * one} no less"
    return KEEP, f"Keep {name}: {'; '.join(filter(None, [sentence, others * bool(passed)]))}{by}."


def _any_of(
    rows: pl.DataFrame, baseline: str, margin: str, amounts: Mapping[str, float]
) -> Decision:
    passed, name = rows["model"].to_list(), model_text(baseline)
    if len(passed) == 1:
        if not (rows["bound_high"] < 0).any():
            return SHIP, f"Ship {model_text(passed[0])}: no worse than {name} ({margin})."
        return verdicts.NO_WORSE, (
            f"{model_text(passed[0])} is no worse than {name} ({margin}), though it scores "
            f"{size(-rows['difference'][0])} lower. Costs would decide whether to ship it."
        )
    wish = "Costs would decide which of them to ship."
    if amounts.keys() >= {*passed}:
        least = min(amounts[model] for model in passed)
        cheapest = [model for model in passed if amounts[model] == least]
        costs = "costs" if len(cheapest) == 1 else "cost"
        wish = f"{names_text(cheapest)} {costs} least; no cost is given for {name}."
    return verdicts.NO_WORSE, f"No worse than {name} ({margin}): {names_text(passed)}. {wish}"


def _nothing_passed(
    rows: pl.DataFrame, baseline: str, margin: str, amounts: Mapping[str, float]
) -> Decision:
    name = model_text(baseline)
    open_models = rows.filter(pl.col("verdict") != verdicts.WORSE)
    if open_models.is_empty():
        verb = "is" if rows.height == 1 else "are"
        return KEEP, f"Keep {name}: {names_text(rows['model'])} {verb} worse ({margin})."
    random = rows.filter(verdict=verdicts.AT_RANDOM)["model"].to_list()
    if random and len(random) == open_models.height:
        return KEEP, (
            f"Keep {name}: the lists of {names_text(random)} {verdicts.LIKE_CHANCE}, so staying "
            f"within the margin says little ({margin})."
        )
    limits = rows.filter(verdict=verdicts.NOT_DECIDED).select("margin", "baseline_value").rows()
    for vain in filter(None, (nothing_could_fail(limit, value, name) for limit, value in limits)):
        return verdicts.NOT_DECIDED, f"Keep {name} for now: {vain}."
    why = open_models["verdict"].unique().to_list()
    reason = f": {why[0]}" if len(why) == 1 and why[0] != verdicts.NOT_DECIDED else ""
    hint = "" if reason else _queries_hint(open_models, baseline, amounts)
    names = names_text(open_models["model"])
    doubt = f"{names} may lose too much"
    difference = open_models["difference"]
    not_lower = (difference >= -verdicts.ROUNDING).fill_null(False)
    if not reason and open_models["no_worse_p"].count() == 0:
        lose = "loses" if open_models.height == 1 else "lose"
        doubt = f"nothing shows whether {names} {lose} too much"
    elif not reason and not_lower.any():
        level = "the same" if (difference.abs() <= verdicts.ROUNDING).all() else "no lower"
        queries = with_number(open_models["queries"][0], "query")
        doubt = f"{queries} cannot rule out that {names} lose too much"
        if not_lower.all():
            score = f"score{'s' * (len(difference) == 1)} {level}"
            doubt = f"{names} {score}, but {queries} cannot rule out a loss"
    return verdicts.NOT_DECIDED, f"Keep {name} for now: {doubt} ({margin}){reason}{hint}."


def _queries_hint(rows: pl.DataFrame, baseline: str, amounts: Mapping[str, float]) -> str:
    """Say how many queries would decide it for the best of the models, if it is more than there
    are: if nothing is lost, unless it surely loses, or if it loses what was observed; both where the
    latter is far more. Models that cost no less than the baseline count only where no other is open.
    """
    several = rows.height > 1
    rows = rows.filter(verdict=verdicts.NOT_DECIDED)
    cheaper = [name for name, cost in amounts.items() if cost < amounts.get(baseline, 0)]
    worth = rows.filter(pl.col("model").is_in(cheaper))
    are_cheaper = 0 < worth.height < rows.height
    rows = rows if worth.is_empty() else worth
    if rows.is_empty():
        return ""
    level = rows.filter(pl.col("difference") > pl.max("difference") - verdicts.ROUNDING)["model"]
    name = min(level, key=lambda model: amounts.get(model, math.inf), default=rows["model"][0])
    rows = rows.sort(pl.col("model") != name, maintain_order=True)
    best = rows.row(0, named=True)
    hint = f"; {{}} queries would decide it{_whose(rows, several, are_cheaper)} if {{}}"
    may_be_level = best["bound_high"] is None or best["bound_high"] >= 0
    needed, as_observed = best["queries_needed"] or 0, best["queries_if_observed"] or math.inf
    loss = f"{model_text(best['model'])} really loses {-best['difference']:.2g}"
    if may_be_level and needed > best["queries"]:
        within_margin = -best["margin"] < best["difference"] < 0
        more = f", and {about(best['queries_if_observed'])} if {loss}"
        says_more = within_margin and as_observed > FAR_MORE * needed
        return hint.format(about(needed), f"nothing is lost{more * says_more}")
    if best["difference"] < 0 and best["queries"] < as_observed < math.inf:
        return hint.format(about(best["queries_if_observed"]), loss)
    return ""


def _whose(rows: pl.DataFrame, several: bool, are_cheaper: bool) -> str:
    """Say of several open models which of them is the best, or why only it counts."""
    if not several:
        return ""
    why = "which costs less" if are_cheaper else ""
    if rows.height > 1:
        gap = rows["difference"][0] - rows["difference"][1]
        rank = "the best" if gap > verdicts.ROUNDING else "one of the best"
        why = f"{rank} of {'those that cost less' if are_cheaper else 'them'}"
    return f" for {model_text(rows['model'][0])}{f', {why},' * bool(why)}"


def _amounts(costs: pl.DataFrame, measure: Measure) -> dict[str, float]:
    """Return what every model costs, by the first kind of cost."""
    if not costs.width:
        return {}
    rows = costs.filter(at_measure(*measure), policy="expected").filter(cost=pl.first("cost"))
    return dict(rows.select("model", "amount").iter_rows())


def _share(amount: float, whole: float) -> str:
    """Return a share of a cost in words.

    >>> _share(768, 3072), _share(8, 3072), _share(40, 100), _share(399, 400)
    ('a quarter', '0.26%', '40%', 'more than 99%')
    """
    ratio = whole / amount if amount else 0.0
    for number, word in FRACTIONS.items():
        if abs(ratio - number) <= NAMED_WITHIN * number:
            return word
    part = amount / whole
    return f"{100 * part:.2g}%" if part < 0.1 else whole_percent(part)
