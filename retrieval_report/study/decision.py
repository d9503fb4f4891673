"""The decision that a baseline and a margin ask for, in one sentence."""

from __future__ import annotations

import polars as pl

from retrieval_report.comparison import verdicts
from retrieval_report.engines.check_scores import at_measure
from retrieval_report.metrics.parsing import Measure, measure_text
from retrieval_report.study.caveats import model_text, names_text

FRACTIONS = {2: "half", 3: "a third", 4: "a quarter", 5: "a fifth", 8: "an eighth", 10: "a tenth"}
NEAR = 0.02  # relative, of a fraction that has a name


def decision(no_worse: pl.DataFrame, costs: pl.DataFrame, measure: Measure) -> str:
    """Return what to do: which model may replace the
    baseline, or that none may, or what keeps it open.

    Parameters
    ----------
    no_worse, costs
        The results of `no_worse` and `cost_table`; without columns where they were not asked for.
    measure
        The headline measure.
    """
    if not no_worse.width:
        return ""
    rows = no_worse.filter(at_measure(*measure))
    if rows.is_empty():
        return ""
    baseline = rows["baseline"][0]
    margin = f"margin {rows['margin'][0]:.3g} in {measure_text(*measure)}"
    passed = rows.filter(verdict=verdicts.NO_WORSE)["model"].to_list()
    if not passed:
        return _nothing_passed(rows, baseline, margin)
    amounts = _amounts(costs, measure)
    if baseline not in amounts:
        return _any_of(passed, baseline, margin)
    cheaper = [name for name in passed if amounts.get(name, amounts[baseline]) < amounts[baseline]]
    if not cheaper:
        one = len(passed) == 1
        return (
            f"Keep {model_text(baseline)}: {names_text(passed)} "
            f"{'is' if one else 'are'} no worse ({margin}), but cost{'s' * one} no less."
        )
    best = min(cheaper, key=lambda name: amounts[name])
    share = _share(amounts[best], amounts[baseline])
    return (
        f"Ship {model_text(best)}: no worse than {model_text(baseline)} ({margin}) at {share} of "
        "the cost."
    )


def _any_of(passed: list[str], baseline: str, margin: str) -> str:
    if len(passed) == 1:
        return f"Ship {model_text(passed[0])}: no worse than {model_text(baseline)} ({margin})."
    return (
        f"No worse than {model_text(baseline)} ({margin}): {names_text(passed)}. Costs would "
        "decide which of them to ship."
    )


def _nothing_passed(rows: pl.DataFrame, baseline: str, margin: str) -> str:
    worse = rows.filter(verdict=verdicts.WORSE)["model"].to_list()
    open_models = rows.filter(pl.col("verdict") != verdicts.WORSE)
    if open_models.is_empty():
        verb = "is" if len(worse) == 1 else "are"
        return f"Keep {model_text(baseline)}: {names_text(worse)} {verb} worse ({margin})."
    why = open_models["verdict"].unique().to_list()
    reason = f": {why[0]}" if len(why) == 1 and why[0] != verdicts.NOT_DECIDED else ""
    needed = max(open_models["queries_needed"].drop_nulls(), default=0) if not reason else 0
    hint = f"; about {needed} queries would decide it if nothing is lost" if needed else ""
    names = names_text(open_models["model"])
    return (
        f"Keep {model_text(baseline)} for now: it is not decided whether {names} "
        f"{'is' if open_models.height == 1 else 'are'} no worse ({margin}){reason}{hint}."
    )


def _amounts(costs: pl.DataFrame, measure: Measure) -> dict[str, float]:
    """Return what every model costs, by the first kind of cost."""
    if not costs.width:
        return {}
    rows = costs.filter(at_measure(*measure), policy="expected")
    first = rows.filter(pl.col("cost") == pl.col("cost").first())
    return dict(first.select("model", "amount").iter_rows())


def _share(amount: float, whole: float) -> str:
    """Return a share of a cost in words.

    >>> _share(768, 3072), _share(8, 3072), _share(40, 100)
    ('a quarter', '0.26 %', '40 %')
    """
    ratio = whole / amount if amount else 0.0
    for number, word in FRACTIONS.items():
        if abs(ratio - number) <= NEAR * number:
            return word
    return f"{100 * amount / whole:.2g} %"
