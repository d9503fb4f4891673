"""Score by the definitions and tie order of another system, so that users first see familiar
numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import polars as pl

from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.frames import SCORES
from retrieval_report.contracts.options import LikeOptions, Options, options_with
from retrieval_report.contracts.registry import in_contract
from retrieval_report.metrics.parsing import (
    Cutoffs,
    Metrics,
    measure_text,
    parse_metric,
    parse_metrics,
)
from retrieval_report.metrics.terms import check_judged_only
from retrieval_report.scoring.judged import Judged
from retrieval_report.scoring.run import start
from retrieval_report.systems.conventions import CONVENTIONS, Convention, system_of
from retrieval_report.systems.emulation import Data, Quantity, judge_items

Measure = tuple[str, int | None]
Asked = dict[Measure, tuple[Convention, int | None]]


def measures_like(like: str | Convention, metrics: object, cutoffs: object) -> Asked:
    """Return, for each requested measure in order, the conventions by which a system prints it.

    A metric with parameters is refused unless it is what the system computes.

    >>> asked = measures_like("trec_eval", "map, ndcg@10", None)
    >>> {measure: record.definition for measure, (record, _) in asked.items()}
    {('ap', None): 'ap', ('ndcg', 10): 'ndcg'}
    >>> measures_like("ranx", "rbp@10", None)
    Traceback (most recent call last):
    retrieval_report.ParameterError: like: ranx prints no rbp@10; see conventions()
    """
    records = [like] if isinstance(like, Convention) else _records(*system_of(like))
    name = records[0].system
    found: Asked = {}
    for metric, own in parse_metrics(metrics, cutoffs):
        for cutoff in own:
            text = measure_text(metric, cutoff)
            fitting = [
                record
                for record in records
                if record.metric == metric.name and record.prints(cutoff)
            ]
            fitting = (
                fitting
                if metric == type(metric)()
                else [one for one in fitting if one.definition == str(metric)]
            )
            if not fitting:
                raise ParameterError(f"like: {name} prints no {text}; see conventions()")
            found[str(metric), cutoff] = fitting[0], cutoff
    return found


def _records(system: str, version: str | None) -> list[Convention]:
    """Return the conventions of one version of a system, by default of the last in the table."""
    own = [record for record in CONVENTIONS if record.system == system]
    return [record for record in own if record.version == (version or own[-1].version)]


def evaluate_like(
    rankings: object,
    like: str | Convention,
    *,
    judgements: object = None,
    queries: object = None,
    metrics: Metrics = None,
    cutoffs: Cutoffs = None,
    policies: str | Sequence[str] = ("expected", "naive"),
    seed: int = 0,
    **options: Unpack[LikeOptions],
) -> pl.DataFrame:
    """Score rankings by the definitions and the tie order of another system.

    Parameters
    ----------
    rankings, judgements, queries, metrics, cutoffs
        As for :func:`evaluate`; a metric is taken as the system defines it (NDCG of KerasRS has the
        gain 2^grade − 1).
    like
        A system of :func:`conventions`, by name: ``"trec_eval"``, ``"trec_eval 9"``, ``"sklearn"``,
        ``"ranx"``, …; or your own record (:class:`Convention`).
    policies
        As for :func:`evaluate`. ``naive`` is what the system prints: ties in its own order, after
        its rounding to float32. If that order is random or left to an unstable sort, it is one
        random draw; if the system takes the mean over all orders, it is that mean.
    seed
        Seed of the random orders.
    **options
        Of :func:`evaluate`: ``relevant_from``, ``unjudged``, ``unjudged_query``, ``null_distance``,
        ``truncated``, ``shuffles`` and ``threads``. Queries without relevant items or without rows
        are treated by the system's own rule, and ``naive`` takes the rows for the whole list,
        whatever ``truncated`` says.

    Returns
    -------
    polars.DataFrame
        Columns of :func:`evaluate`; ``metric`` is the system's definition in this package's
        notation.

    Raises
    ------
    ParameterError
        The system is unknown, or does not print a measure.

    Examples
    --------
    trec_eval puts the later id first in a tie, and its gains are linear.

    >>> rankings = {
    ...     "query": ["q"] * 3,
    ...     "item": list("abc"),
    ...     "score": [2, 2, 1],
    ...     "relevance": [2, 1, 0],
    ... }
    >>> scores = evaluate_like(rankings, "trec_eval", metrics="ndcg@1, p@1")
    >>> scores.select("metric", "policy", "value").rows()
    [('ndcg', 'expected', 0.75), ('ndcg', 'naive', 0.5), ('precision', 'expected', 1.0),
    ('precision', 'naive', 1.0)]
    """
    given: dict[str, Any] = {
        "judgements": judgements,
        "queries": queries,
        "metrics": metrics,
        "cutoffs": cutoffs,
    }
    return score_like(rankings, like, **given, policies=policies, seed=seed, **options)[0]


def score_like(
    rankings: object, like: str | Convention, *, judgements: object, queries: object, **asked: Any
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What `evaluate_like` returns, and every model's mean under each random order, if there are
    any.
    """
    measures = measures_like(like, asked.pop("metrics"), asked.pop("cutoffs"))
    check_like(asked)
    wanted = options_with(asked)
    emulated = Emulated.of(rankings, judgements, queries, measures, asked)
    parts = [
        emulated.score(number, measure, wanted) for number, measure in enumerate(emulated.records)
    ]
    found = pl.concat(scores for scores, _ in parts).sort(
        "model", "query", "measure", maintain_order=True
    )
    drawn = pl.concat(means for _, means in parts)
    scores = in_contract(found, SCORES)
    return scores, drawn.sort("model", maintain_order=True) if drawn.width else drawn


@dataclass(frozen=True)
class Emulated:
    """Judged rankings, and the convention by which a system computes each measure of the scores."""

    data: Data
    records: Mapping[Measure, Convention]  # by definition and cutoff

    @classmethod
    def of(
        cls,
        rankings: object,
        judgements: object,
        queries: object,
        measures: Asked,
        options: Mapping[str, Any],
    ) -> Emulated:
        """Join the frames, and decide which lists are cut once for all measures; this warns as
        `evaluate` does.
        """
        rules = {
            name: options[name] for name in options if name not in ("policies", "seed", "shuffles")
        }
        checked = options_with(rules, policies="expected")
        judged = judge_items(rankings, judgements, queries, checked, "like")
        records = {(record.definition, cutoff): record for record, cutoff in measures.values()}
        if not judged.whole.judged:
            asked = [parse_metric(name)[0] for name, _ in records]
            check_judged_only(asked, by_judgements=False, unjudged=checked.unjudged)
        requests = parse_metrics(
            "rr", [cutoff for _, cutoff in records]
        )  # warns of what no metric changes
        decisions = start(judged, requests, checked).prepared.decisions
        words = {model: decision.truncated for model, decision in decisions.items()}
        return cls(Data.of(judged, {"relevant_from": None, **rules, "truncated": words}), records)

    def sources(self, **asked: Any) -> Iterator[tuple[Judged, Options, list[Measure]]]:
        """Yield the rankings as the system receives them and its rules, with the measures that it
        computes so.
        """
        groups: dict[Quantity, list[Measure]] = {}
        for measure, record in self.records.items():
            groups.setdefault(self.data.simple(Quantity.of(record)), []).append(measure)
        for quantity, measures in groups.items():
            for judged, options in self.data.seen(quantity, **asked):
                yield judged, options, measures

    def score(
        self, number: int, measure: Measure, wanted: Options
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The scores of one measure under every policy asked for, in the order asked; and its
        random orders.
        """
        data, record = self.data, self.records[measure]
        quantity, text = data.simple(Quantity.of(record)), measure_text(*measure)
        rows, means = [], pl.DataFrame()
        for column, policy in enumerate(wanted.policies):
            if policy == "naive":
                scores = data.printed(quantity, text, data.way(record), wanted.seed)
                scores = scores.with_columns(policy=pl.lit("naive"), std=pl.lit(None, pl.Float64))
            elif policy == "shuffled":
                scores, means = data.drawn(
                    quantity, text, shuffles=wanted.shuffles, seed=wanted.seed
                )
            else:
                scores = data.scores(quantity, text, policies=policy)
            rows.append(
                scores.select(list(SCORES)).with_columns(measure=pl.lit(number * 10 + column))
            )
        return pl.concat(rows), means


def check_like(options: Iterable[str]) -> None:
    """Refuse options that the system decides."""
    free = list(LikeOptions.__annotations__)
    for name in options:
        if name not in (*free, "policies", "seed"):
            raise ParameterError(
                f"{name}: not with like=, which decides it; options that remain are "
                f"{', '.join(free)}"
            )
