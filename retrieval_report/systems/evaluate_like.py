"""Score by the definitions and tie order of another
system, so that users first see familiar numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Unpack

import polars as pl

from retrieval_report.contracts.arguments import Names, as_list
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.frames import SCORES, with_model
from retrieval_report.contracts.options import LikeOptions, options_with
from retrieval_report.contracts.registry import in_contract
from retrieval_report.contracts.warning import warn
from retrieval_report.contracts.wording import argument, in_python, setting
from retrieval_report.metrics.parsing import (
    Cutoffs,
    Measure,
    Metrics,
    measure_text,
    one_of_two,
    parse_metric,
    parse_metrics,
)
from retrieval_report.metrics.record import Metric
from retrieval_report.metrics.terms import check_judged_only
from retrieval_report.scoring.run import start
from retrieval_report.scoring.scorer import Scored
from retrieval_report.scoring.truncation import ends_of
from retrieval_report.systems.conventions import CONVENTIONS, OF_ONE_ANSWER, Convention, system_of
from retrieval_report.systems.emulation import Emulation, judge_items

Asked = dict[Measure, Convention]


def measures_like(like: str, measures: object, cutoffs: object) -> Asked:
    """Return, for each requested measure in order, the conventions by which a system prints it;
    without measures, for those of the default ones that it prints.

    A metric with parameters is refused unless it is what the system computes.

    >>> asked = measures_like("trec_eval", "map, ndcg@10", None)
    >>> {measure: record.definition for measure, record in asked.items()}
    {('ap', None): 'ap', ('ndcg', 10): 'ndcg'}
    >>> [measure_text(*measure) for measure in measures_like("mteb", None, None)]
    ['ndcg@10', 'precision@10', 'recall@10']
    >>> measures_like("ranx", "rbp@10", None)
    Traceback (most recent call last):
    retrieval_report.ParameterError: like: no rbp@10 is known of ranx; see conventions()
    """
    result, unknown = {}, list[str]()
    system = system_of(like)
    records = [record for record in CONVENTIONS if (record.system, record.version) == system]
    for metric, cutoffs_of_metric in parse_metrics(in_words_of(like, measures), cutoffs):
        name, plain = str(metric), metric == type(metric)()
        of_metric = [
            record
            for record in records
            if record.metric == metric.name and (plain or record.definition == name)
        ]
        for cutoff in cutoffs_of_metric:
            record = next((record for record in of_metric if record.prints(cutoff)), None)
            if record is None:
                same_metric = [record for record in records if record.metric == metric.name]
                unknown.append(
                    f"no {measure_text(metric, cutoff)} is known of {system[0]}"
                    f"{_what_it_prints(same_metric)}"
                )
            else:
                result[name, cutoff] = record
    if unknown and (measures is not None or not result):
        see = in_python("conventions()", "retrieval-report audit")
        raise ParameterError(f"like: {unknown[0]}; see {see}")
    return result


def in_words_of(like: str, measures: object) -> object:
    """Return measures under names that mean here what they mean in a system.

    >>> in_words_of("PyKEEN", "rr, hits@10"), in_words_of("ranx", "hits@10")
    (['rr, hit_rate@10'], 'hits@10')
    """
    if measures is None or system_of(like)[0] not in OF_ONE_ANSWER:
        return measures
    return [
        re.sub(r"\bhits(?=_?@|_at_)", "hit_rate", text) if isinstance(text, str) else text
        for text in as_list(measures, (str, bytes, Metric))
    ]


def _what_it_prints(records: Iterable[Convention]) -> str:
    """Say what a system prints of a metric, where it is something else than requested.

    >>> _what_it_prints([next(record for record in CONVENTIONS if record.call == "hit_rate_at_k")])
    ' (its hit_rate_at_k is hit_rate at a cutoff)'
    """
    cutoffs = {"any": "", "given": " at a cutoff", "whole": " of whole lists"}
    descriptions = [
        f"its {record.call} is {record.definition}{cutoffs[record.cutoffs]}" for record in records
    ]
    return f" ({', '.join(descriptions)})" if descriptions else ""


def evaluate_like(
    rankings: object,
    like: str,
    *,
    judgements: object = None,
    queries: object = None,
    measures: Metrics = None,
    cutoffs: Cutoffs = None,
    policies: Names = ("expected", "naive"),
    seed: int = 0,
    metrics: Metrics = None,
    **options: Unpack[LikeOptions],
) -> pl.DataFrame:
    """Score rankings by the definitions and the tie order of another system.

    Parameters
    ----------
    rankings, judgements, queries, measures, cutoffs, metrics
        As for :func:`evaluate`, by default those of its default measures that the system prints; a
        metric is taken as the system defines it (NDCG of KerasRS has the gain 2^grade − 1). Counts
        have no order and are refused, but for PyKEEN, OGB and TGB, which rank one true answer by
        its counts.
    like
        A system of :func:`conventions`, by name: ``"trec_eval"``, ``"trec_eval 9"``, ``"mteb"``,
        ``"beir"``, ``"sentence-transformers"`` or the name of its evaluator, ``"sklearn"``, ….
    policies
        As for :func:`evaluate`. ``naive`` is what the system prints: ties in its own order, after
        its rounding to float32. If that order is random or left to an unstable sort, it is one
        random draw; if the system takes the mean over all orders, it is that mean.
    seed
        Seed of the random orders.
    **options
        Of :func:`evaluate`: ``relevant_from``, ``unjudged``, ``unjudged_query``, ``null_distance``,
        ``exclude_self``, ``truncated``, ``shuffles`` and ``threads``. Queries without relevant
        items or without rows are treated by the system's own rule, and ``naive`` takes the rows for
        the whole list, whatever ``truncated`` says.

    Returns
    -------
    polars.DataFrame
        Columns of :func:`evaluate`; ``metric`` is the system's definition in this package's
        notation.

    Raises
    ------
    ParameterError
        The system is unknown, does not print a measure, or ranks one relevant item among others
        where a list has several.

    Examples
    --------
    trec_eval puts the later id first in a tie, and its gains are linear.

    >>> rankings = {
    ...     "query": ["q"] * 3,
    ...     "item": list("abc"),
    ...     "score": [2, 2, 1],
    ...     "relevance": [2, 1, 0],
    ... }
    >>> scores = evaluate_like(rankings, "trec_eval", measures="ndcg@1, p@1")
    >>> scores.select("metric", "policy", "value").rows()
    [('ndcg', 'expected', 0.75), ('ndcg', 'naive', 0.5), ('precision', 'expected', 1.0),
    ('precision', 'naive', 1.0)]
    """
    arguments = {
        "measures": one_of_two(measures, metrics),
        "cutoffs": cutoffs,
        "policies": policies,
        "seed": seed,
        **options,
    }
    return score_like(rankings, like, judgements=judgements, queries=queries, **arguments)[0]


def score_like(
    rankings: object, like: str, *, judgements: object, queries: object, **arguments: object
) -> Scored:
    """What `evaluate_like` returns, and every model's
    mean under each random order, if there are any.
    """
    measures = measures_like(like, arguments.pop("measures"), arguments.pop("cutoffs"))
    check_like(arguments)
    settings = options_with(arguments)
    emulation = emulated(rankings, judgements, queries, measures, arguments)
    parts = []
    means = []
    for measure, record in emulation.records.items():
        text, rules = measure_text(*measure), emulation.rules(record)
        for policy in settings.policies:
            if policy == "naive":
                scores = emulation.printed(rules, text, emulation.way(record), settings.seed)
                _refuse_several_relevant(scores, record)
                scores = scores.with_columns(policy=pl.lit("naive"), std=None)
            elif policy == "shuffled":
                scores, means_drawn = emulation.drawn(
                    rules, text, shuffles=settings.shuffles, seed=settings.seed
                )
                means.append(means_drawn)
            else:
                scores = emulation.scores(rules, text, policies=policy)
            parts.append(in_contract(scores, SCORES))
    whole = pl.concat(parts).sort("model", "query", maintain_order=True)
    if not means:
        return whole, pl.DataFrame()
    return whole, pl.concat(means).sort("model", maintain_order=True)


def _refuse_several_relevant(scores: pl.DataFrame, record: Convention) -> None:
    """Refuse lists of several relevant items where a system ranks one among the others."""
    several = scores.filter(pl.col("n_relevant") > 1, pl.lit(record.order == "middle"))
    if several.height:
        raise ParameterError(
            f"like: {record.system} ranks one relevant item among the others, and "
            f"{several.height} of {scores.height} lists have several, the first of query "
            f"{several['query'][0]!r}; make a list for each of them, without the others"
        )


def emulated(
    rankings: object,
    judgements: object,
    queries: object,
    measures: Asked,
    options: Mapping[str, object],
) -> Emulation:
    """Join the frames, and decide which lists are cut
    once for all measures; this warns as `evaluate` does.
    """
    rules = {
        name: options[name] for name in options if name not in ("policies", "seed", "shuffles")
    }
    checked = options_with(rules, policies="expected")
    judged = judge_items(rankings, judgements, queries, checked, "like", measures.values())
    records = {(record.definition, cutoff): record for (_, cutoff), record in measures.items()}
    if not judged.whole.judged:
        metrics = [parse_metric(name)[0] for name, _ in records]
        check_judged_only(metrics, by_judgements=False, unjudged=checked.unjudged)
    _warn_of_low_scores(judged.retrieved, measures.values())
    # warns of what no metric changes
    requests = parse_metrics("rr", [cutoff for _, cutoff in records])
    words = ends_of(start(judged, requests, checked)[0].prepared.decisions)
    return Emulation(judged, {"relevant_from": None, **rules, "truncated": words}, records)


def _warn_of_low_scores(rows: pl.DataFrame, records: Iterable[Convention]) -> None:
    """Name the models of which a system leaves relevant items out because of their scores."""
    systems = [record.system for record in records if record.positive]
    if not systems or "score" not in rows.columns:
        return
    relevant = with_model(rows).filter(pl.col("relevance") > 0).group_by("model")
    low = relevant.agg((pl.col("score") <= 0).sum(), pl.len()).filter(pl.col("score") > 0)
    for model, number, total in low.sort("model").iter_rows():
        warn(
            f"{systems[0]} takes items with a score of 0 or less as not relevant: "
            f"{number} of {total} relevant items of {model!r}; add a number to all scores"
        )


def check_like(options: Iterable[str]) -> None:
    """Refuse options that the system decides."""
    free = [name for name in LikeOptions.__annotations__ if name != "threads"]
    for name in options:
        if name not in (*free, "threads", "policies", "seed"):
            raise ParameterError(
                f"{name}: not with {setting('like') or 'another system'}, which decides it; "
                f"options that remain are {', '.join(map(argument, free))}"
            )
