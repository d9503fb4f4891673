"""Find what other systems would print for this data, how far that is from the exact score, and why.

Two reasons are kept apart. A system may compute another quantity (divide AP by min(k, R), use
linear gains, see only the relevant items of the list): that is *definition*, a choice one can
state. And it may put tied items in one of many possible orders: that is *tie order*, an accident.
With ``exact`` the exact value of the requested metric and ``expected`` the exact value of the
system's own definition,

    prints = exact + definition_shift + off,    definition_shift = expected − exact,    off = prints
    − expected,

and only ``off`` is measured in tie standard deviations. A system that shuffles ties or sorts them
unstably prints one of many numbers: it has no ``prints`` and no ``off``, but ``prints_low`` and
``prints_high``, the smallest and largest number it could print.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple, Unpack

import polars as pl

from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import (
    AuditOptions,
    ItemOptions,
    answering_other_words,
    options_with,
)
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.contracts.wording import in_python
from retrieval_report.engines.check_scores import MEAN, join_left
from retrieval_report.engines.score_grid import tie_means
from retrieval_report.metrics.parsing import (
    Cutoffs,
    Measure,
    Metrics,
    Requests,
    measure_text,
    parse_metrics,
)
from retrieval_report.scoring.run import score_runs, start
from retrieval_report.systems.conventions import Convention, choose
from retrieval_report.systems.emulation import Emulation, Rules, Way, judge_items
from retrieval_report.writing.names import EQUALS, OR

AUDIT = schema("audit")
SAME = (
    1e-12  # scores this close are equal, because sums of a few hundred terms depend on their order
)
KNOWN_LIMITS = {  # of what is printed: columns of what tie order can give
    Way("exact", 0, False): {"prints_low": "expected", "prints_high": "expected"},
    Way("random", 0, False): {"prints_low": "lowest", "prints_high": "highest"},
}

# How far what is printed may be from the exact value of the system's own definition, by tie order.
furthest_off = pl.max_horizontal(
    (pl.col(name) - pl.col("expected")).abs() for name in ("prints_low", "prints_high")
)
as_defined = pl.col("definition_shift").abs() <= SAME  # else its definition is another


def nameless(rows: pl.DataFrame) -> pl.DataFrame:
    """Return an audit of models without a verdict, of which none is best."""
    return rows.with_columns(pl.when(False).then(pl.col("winner", "exact_winner", "same_winner")))


@answering_other_words
def audit(
    rankings: object,
    *,
    judgements: object = None,
    queries: object = None,
    measures: Metrics = None,
    cutoffs: Cutoffs = None,
    systems: str | Iterable[str] | None = None,
    metrics: Metrics = None,
    **options: Unpack[AuditOptions],
) -> pl.DataFrame:
    """Compute what other systems would print for these data, beside the exact value.

    They need not be installed. Part of a difference is due to definition (denominator, gain, which
    relevances are seen, which queries are left out), part to tie order: ``definition_shift`` and
    ``off`` separate them, and ``exact + definition_shift + off = prints``. A system whose order is
    random, or left to an unstable sort, could print many numbers; it is shown with the smallest and
    largest of them, ``prints_low`` and ``prints_high``.

    Parameters
    ----------
    rankings, judgements, queries, measures, cutoffs, metrics
        As for :func:`evaluate`; counts frames have no order and are refused, but for systems that
        rank one true answer by its counts (PyKEEN, OGB, TGB). A metric is compared with every
        metric of the same name, whatever its parameters.
    systems
        Names; by default all of :func:`conventions`.
    **options
        Of :func:`evaluate`. ``relevant_from``, ``unjudged``, ``unjudged_query``,
        ``repeated_judgements``, ``null_distance``, ``exclude_self`` and ``threads`` hold for all
        systems (except those with their own rule for ``relevant_from``), ``no_relevant`` and
        ``missing_query`` for ``exact`` alone; systems follow their own rules. ``truncated`` changes
        nothing: systems take lists as whole, and so do all these numbers.

    Returns
    -------
    polars.DataFrame
        One row per requested metric, cutoff, system and call that supports them, and model, with

        - ``system``, ``version``, ``call``, ``model``, ``metric`` (as asked), ``cutoff``;
        - ``definition``: what the system computes, in this package's text form;
        - ``prints``: the mean over queries that it prints; null if its order is open and decides
          the number, or if it would raise an error;
        - ``prints_low``, ``prints_high``: the smallest and largest number it could print: both
          equal to ``prints`` if that is known, else the means under the worst and the best order
          (null: an error);
        - ``exact``: the exact value of the requested metric;
        - ``expected``, ``lowest``, ``highest``, ``tie_std``: exact mean over all tie orders, bounds
          and standard deviation for the system's definition. Bounds hold for the distances
          received: rounding to float32 first, or a threshold at the end of ties (scikit-learn's
          ``average_precision_score``), may print beyond them;
        - ``off`` = prints − expected: effect of tie order (and float32); ``z`` = off / tie_std,
          null if tie order decides nothing;
        - ``definition_shift`` = expected − exact;
        - ``winner``: the model with the highest printed value, ``exact_winner``: with the highest
          ``expected`` (several, joined by " = ", if they are equal), ``same_winner``: whether these
          are the same models, all of them. Both use the system's definition, so a difference is due
          to tie order alone. If an open order lets several models win, ``winner`` names all of
          them, joined by " or ", and ``same_winner`` is null;
        - ``order``: its order inside ties, and ``note``: what else decides its numbers.

        Means are plain means over queries. If the rankings have a ``distance``, systems that treat
        scores of 0 or less specially are given positive scores.

    Examples
    --------
    One item of relevance 1 is tied with another for the first rank, one more comes later. trec_eval
    puts b before a; Recommenders keeps the order of the rows, and its AP divides by min(k, R) while
    ours divides by R.

    >>> import polars as pl
    >>> rankings = pl.DataFrame(
    ...     {"query": ["q"] * 3, "item": list("abc"), "distance": [1, 1, 2], "relevance": [1, 0, 1]}
    ... )
    >>> frame = audit(rankings, measures="ap@1", systems=["pytrec_eval", "Recommenders"])
    >>> frame.select("system", "call", "exact", "definition_shift", "off", "prints", "z")
    shape: (3, 7)
    ┌──────────────┬──────────────┬───────┬──────────────────┬───────┬────────┬──────┐
    │ system       ┆ call         ┆ exact ┆ definition_shift ┆ off   ┆ prints ┆ z    │
    │ ---          ┆ ---          ┆ ---   ┆ ---              ┆ ---   ┆ ---    ┆ ---  │
    │ str          ┆ str          ┆ f64   ┆ f64              ┆ f64   ┆ f64    ┆ f64  │
    ╞══════════════╪══════════════╪═══════╪══════════════════╪═══════╪════════╪══════╡
    │ pytrec_eval  ┆ map, map_cut ┆ 0.25  ┆ 0.0              ┆ -0.25 ┆ 0.0    ┆ -1.0 │
    │ Recommenders ┆ map_at_k     ┆ 0.25  ┆ 0.25             ┆ 0.5   ┆ 1.0    ┆ 1.0  │
    │ Recommenders ┆ map          ┆ 0.25  ┆ 0.0              ┆ 0.25  ┆ 0.5    ┆ 1.0  │
    └──────────────┴──────────────┴───────┴──────────────────┴───────┴────────┴──────┘
    """
    requests = parse_metrics(measures, cutoffs, metrics)
    entries = _entries(requests, choose(systems))
    checked = options_with(options, AuditOptions.__annotations__, policies="expected")
    checked = replace(checked, truncated="no")  # the systems treat the rows as the whole list
    rules = checked.of([*ItemOptions.__annotations__, "relevant_from", "truncated", "threads"])
    records = [entry.record for entry in entries]
    judged = judge_items(rankings, judgements, queries, checked, "audit", records)
    scores = score_runs(start(judged, requests, checked), requests).frame()
    exact = tie_means(scores).select(*MEAN, exact="value")
    frame = join_left(_printed(Emulation(judged, rules, {}), entries), exact, MEAN)
    return in_contract(_with_winners(_with_reasons(frame)).sort("measure", "model"), AUDIT)


class _Entry(NamedTuple):
    """One metric of one system at one cutoff."""

    measure: int
    record: Convention
    metric: str
    cutoff: int | None

    @property
    def text(self) -> str:
        """Return the system's own metric and cutoff, as accepted by ``evaluate``."""
        return measure_text(self.record.definition, self.cutoff)

    @property
    def row(self) -> Named:
        """Return its columns that do not depend on the data."""
        record = self.record
        names = ("system", "version", "call", "definition", "short_lists", "no_relevant")
        return {
            "measure": self.measure,
            **{name: getattr(record, name) for name in names},
            "metric": self.metric,
            "cutoff": self.cutoff,
            "order": record.words,
            "note": record.differs,
        }


def is_printed(measures: Iterable[Measure]) -> bool:
    """Whether any system prints one of the measures; an audit of others is refused.

    >>> is_printed([("rbp(p=0.8)", 10), ("ap", 10)]), is_printed([("rbp(p=0.8)", 10)])
    (True, False)
    """
    return any(
        record.metric == metric.partition("(")[0] and record.prints(cutoff)
        for record in choose(None)
        for metric, cutoff in measures
    )


def _entries(requests: Requests, conventions: Iterable[Convention]) -> list[_Entry]:
    entries = [
        (record, str(metric), cutoff)
        for metric, cutoffs in requests
        for cutoff in cutoffs
        for record in conventions
        if record.metric == metric.name and record.prints(cutoff)
    ]
    if not entries:
        names = ", ".join(str(metric) for metric, _ in requests)
        where = in_python("; see conventions()")
        raise ParameterError(f"audit: none of the systems prints {names} at these cutoffs{where}")
    return [_Entry(index, *entry) for index, entry in enumerate(entries)]


def _printed(data: Emulation, entries: Iterable[_Entry]) -> pl.DataFrame:
    """Return every entry and model with its printed, expected and possible values."""
    alike: dict[Rules, dict[Way, list[_Entry]]] = {}
    for entry in entries:
        ways = alike.setdefault(data.rules(entry.record), {})
        ways.setdefault(data.way(entry.record), []).append(entry)
    keys, parts = ["model", "definition", "cutoff"], []
    for rules, ways in alike.items():
        texts = dict.fromkeys(entry.text for same in ways.values() for entry in same)
        possible = data.possible(rules, texts).rename({"metric": "definition"})
        for way, same in ways.items():
            if way in KNOWN_LIMITS:
                limits = possible.select(*keys, **KNOWN_LIMITS[way])
            else:
                means = data.limits(rules, dict.fromkeys(entry.text for entry in same), way)
                limits = means.rename({"metric": "definition"})
            printed_rows = pl.DataFrame(
                [entry.row for entry in same],
                schema_overrides={"cutoff": pl.Int64},
                infer_schema_length=None,
            )
            parts.append(join_left(join_left(printed_rows, limits, keys[1:]), possible, keys))
    return pl.concat(parts)


def _with_reasons(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the printed number if there is only one, null if the system
    fails at lists that are too short or without relevant items; and the
    effects of tie order and of definition, ignoring rounding errors.
    """
    short = ~pl.col("short_lists") & (pl.col("shortest") < pl.col("cutoff")).fill_null(False)
    fails = short | ((pl.col("no_relevant") == "raise") & (pl.col("undefined") > 0))
    frame = frame.with_columns(pl.when(~fails).then(pl.col("prints_low", "prints_high")))
    is_exact = pl.col("prints_high") - pl.col("prints_low") <= SAME
    frame = frame.with_columns(prints=pl.when(is_exact).then("prints_low"))
    off, shift = pl.col("prints") - pl.col("expected"), pl.col("expected") - pl.col("exact")
    frame = frame.with_columns(
        pl.when(difference.abs() < SAME).then(0.0).otherwise(difference).alias(name)
        for name, difference in (("off", off), ("definition_shift", shift))
    )
    return frame.with_columns(
        z=pl.when(pl.col("tie_std") > SAME).then(pl.col("off") / pl.col("tie_std"))
    )


def _with_winners(frame: pl.DataFrame) -> pl.DataFrame:
    """Add the winners as printed and as expected, by the
    system's definition; several if its order is open.
    """
    frame = _with_best(frame, "exact_best", "expected", "expected")
    frame = _with_best(frame, "printed_best", "prints_low", "prints_high")
    settled = pl.col("prints").is_not_null() | pl.col("prints_low").is_null()
    behind = ~pl.col("model").is_in(pl.col("printed_best")).fill_null(True)
    all_decided = (settled | behind).all().over("measure")
    best = pl.col("printed_best").list
    frame = frame.with_columns(
        exact_winner=pl.col("exact_best").list.join(EQUALS),
        winner=pl.when(all_decided).then(best.join(EQUALS)).otherwise(best.join(OR)),
    )
    same = pl.col("winner") == pl.col("exact_winner")
    return frame.with_columns(same_winner=pl.when(all_decided | (best.len() == 1)).then(same))


def _with_best(frame: pl.DataFrame, name: str, low: str, high: str) -> pl.DataFrame:
    """Add the models whose upper bound is not below another's lower bound, as a list."""
    best = pl.max(low).over("measure")
    reached = frame.filter(pl.col(high) >= best - SAME * best.abs().clip(lower_bound=1.0))
    winners = reached.sort("model").group_by("measure").agg(pl.col("model").alias(name))
    return join_left(frame, winners, "measure")
