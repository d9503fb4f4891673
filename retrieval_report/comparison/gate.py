"""A gate for continuous integration, which decides whether a candidate may replace a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Unpack

import polars as pl

from retrieval_report.comparison.identical import identical_models
from retrieval_report.comparison.margins import margin_text, nothing_could_fail, parse_margin
from retrieval_report.comparison.noninferiority import TIE_ORDERS, no_worse
from retrieval_report.comparison.verdicts import (
    CUT,
    NO_WORSE,
    NOT_DECIDED,
    NOTHING_TO_COMPARE,
    UNKNOWN_R,
    WORSE,
)
from retrieval_report.contracts.arguments import Named, some
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import DataError, KeyMismatchError, ParameterError
from retrieval_report.contracts.frames import COUNTS, RANKINGS, with_model
from retrieval_report.contracts.options import ScoringOptions, answering_other_words, options_with
from retrieval_report.contracts.warning import warn
from retrieval_report.contracts.wording import advice as advised
from retrieval_report.contracts.wording import argument, setting
from retrieval_report.engines.evaluate import evaluate
from retrieval_report.engines.score_grid import DIGITS
from retrieval_report.metrics.parsing import measure_text, one_of_two, parse_metrics
from retrieval_report.metrics.record import Metric
from retrieval_report.reading.combine import Part, combine
from retrieval_report.reading.frames import frame_of_kind
from retrieval_report.reading.names import KINDS
from retrieval_report.reading.printed_ranks import RANK
from retrieval_report.scoring.health import AT_RANDOM, NO_LIST, health_of, sentence_of
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.known_items import queries_as_items
from retrieval_report.writing.names import with_number
from retrieval_report.writing.numbers import DECIMALS, about, decimals, interval, number, size

STATUS = {NO_WORSE: "passed", WORSE: "failed"}  # the other verdicts are their own words
EXIT_CODES = {"passed": 0, "failed": 1}
UNDECIDED = 3
ADVICE = {
    UNKNOWN_R: "relevant items that neither run retrieved could change it; pass judgements, or "
    "queries with n_relevant",
    NOTHING_TO_COMPARE: "no query has a score for both runs",
}
ROLES = ("baseline", "candidate")
COLUMNS = {RANK, *(column.name for column in (*RANKINGS, *COUNTS))}


@dataclass(frozen=True)
class Gate:
    """The result of a gate.

    Attributes
    ----------
    status
        "passed", "failed", or why it is neither: "lists are cut", "R is not known", "nothing to
        compare" or "not decided"; see :func:`no_worse`.
    baseline, candidate
        Names of the two runs.
    measure
        The metric and its cutoff, such as "ndcg@10".
    margin
        The loss that does not matter, in points.
    tie_order
        "expected" or "worst".
    alpha
        How often a test may give its verdict although it is false.
    baseline_value, candidate_value, difference
        Means over the queries, and candidate − baseline.
    bound_low, bound_high
        The interval of the difference that leaves out ``alpha`` on each side, whatever cut lists
        and an unknown R leave open; None where nothing bounds it.
    no_worse_p, worse_p
        P-values of the two one-sided tests.
    detectable, queries_needed, queries_if_observed, largest_loss
        See :func:`no_worse`.
    queries
        Number of queries compared.
    same_lists
        Whether both runs have the same lists, so that nothing was tested.
    items_missing
        Whether scores depend on items that the lists leave out; the interval allows for them.
    """

    status: str
    baseline: str
    candidate: str
    measure: str
    margin: float
    tie_order: str
    alpha: float
    baseline_value: float | None
    candidate_value: float | None
    difference: float | None
    bound_low: float | None
    bound_high: float | None
    no_worse_p: float | None
    worse_p: float | None
    detectable: float | None
    queries_needed: int | None
    queries: int
    queries_if_observed: int | None = None
    largest_loss: float | None = None
    same_lists: bool = False
    items_missing: bool = False

    @property
    def exit_code(self) -> int:
        """Return the exit code for a program: 0 passed, 1 failed, 3 neither (2 is bad input)."""
        return EXIT_CODES.get(self.status, UNDECIDED)

    def __repr__(self) -> str:
        """Return the result in one line, as the command prints it."""
        return self.line()

    def line(self) -> str:
        """Return the result in one line.

        >>> numbers = {
        ...     name: None
        ...     for name in ("bound_low", "bound_high", "no_worse_p", "worse_p", "detectable")
        ... }
        >>> Gate(
        ...     "passed",
        ...     "old",
        ...     "new",
        ...     "rr@10",
        ...     0.01,
        ...     "expected",
        ...     0.05,
        ...     0.5,
        ...     0.5,
        ...     0.0,
        ...     **numbers,
        ...     queries_needed=None,
        ...     queries=1,
        ... ).line()
        'passed: rr@10 of new is 0.5000, of old 0.5000 (0.0000; 1 query, margin 0.01)'
        """
        worst = self.tie_order == "worst"
        name = self.measure + " in the worst tie order" * worst
        if self.difference is None:
            return (
                f"{self.status}: no query has {name} of both {self.candidate} and {self.baseline}"
            )
        queries = f"{with_number(self.queries, 'query')}, margin {margin_text(self.margin)}"
        sure, cut, says = "", self.status == CUT, advice(self)
        if self.bound_low is not None and self.bound_high is not None:
            ends = interval(self.bound_low, self.bound_high, DECIMALS, minus="-")
            sure = f", {interval_name(self.alpha)} {ends}"
            sure += " whatever the lists leave out" if self.items_missing else ""
        same = "; the lists of both runs are the same" if self.same_lists else ""
        places = decimals(self.difference)
        values = [number(value, places) for value in (self.candidate_value, self.baseline_value)]
        difference = size(self.difference, sign="+", minus="-")
        notes = [says * cut, f"{difference}{sure}", queries, says * (not cut)]
        return (
            f"{self.status}: {name} of {self.candidate} is {values[0]}, {'in the best ' * worst}of "
            f"{self.baseline} {values[1]} ({'; '.join(filter(None, notes))}{same})"
        )

    def as_dict(self) -> Named:
        """Return all fields and the exit code as values for JSON."""
        return {**asdict(self), "exit_code": self.exit_code}


def interval_name(alpha: float) -> str:
    """Return what to call the interval whose ends two one-sided tests leave open.

    >>> interval_name(0.05)
    '90% interval'
    """
    return f"{100 - 200 * alpha:g}% interval"


def advice(gate: Gate) -> str:
    """Say what would decide a gate that is not decided; empty for others."""
    if gate.status == CUT:
        cure = advised(": if there are none, pass {}", setting("truncated", "no"))
        return f"items below the ends of the lists could change it{cure}"
    if gate.status in ADVICE:
        return ADVICE[gate.status]
    vain = nothing_could_fail(gate.margin, gate.baseline_value, gate.baseline)
    if gate.status == NOT_DECIDED and vain:  # the line names the margin just before
        return f"it is {vain.partition(' is ')[2]}"
    if gate.status != NOT_DECIDED or gate.queries < 2 or gate.difference is None:
        return ""
    difference = round(gate.difference, DIGITS)
    says = []
    if (gate.queries_needed or 0) > gate.queries:
        says.append(f"{about(gate.queries_needed)} queries would decide it if nothing is lost")
    would = "would" if says else "queries would decide it"
    if difference <= -gate.margin:
        says.append("with enough queries it would fail if the loss is the one observed")
    elif difference < 0:
        says.append(f"{about(gate.queries_if_observed)} {would} if the loss is the one observed")
    elif difference > 0 and (gate.queries_if_observed or 0) > gate.queries:
        says.append(f"{about(gate.queries_if_observed)} {would} if the gain is the one observed")
    return ", and ".join(says)


@answering_other_words
def gate(
    baseline: object,
    candidate: object,
    *,
    measures: str | Metric | None = None,
    margin: float | str | Mapping[str, float | str],
    judgements: object = None,
    queries: object = None,
    tie_order: str = "expected",
    alpha: float = 0.05,
    largest_loss: float | None = None,
    names: tuple[str, str] | None = None,
    cluster: str | None = None,
    measure: str | Metric | None = None,
    metrics: str | Metric | None = None,
    **options: Unpack[ScoringOptions],
) -> Gate:
    """Decide whether a candidate may replace a baseline, that is, loses less than a margin.

    Parameters
    ----------
    baseline, candidate
        Rankings of one model each, with the same queries: files, frames, dictionaries and all else
        that :func:`read_rankings` and :func:`evaluate` take.
    measures
        One metric with its cutoff, such as "ndcg@10"; without a cutoff the whole list.
    margin
        The largest loss that does not matter: a number above 0, or a share of the baseline's mean
        such as "1 %"; or either by measure, so that several gates share one dictionary.
    judgements, queries
        As for :func:`evaluate`. Without them, R is not known unless the lists are known to be
        complete; a gate on recall, AP or NDCG then passes only if no further relevant item could
        change it.
    tie_order
        "expected" or "worst"; see :func:`no_worse`.
    alpha
        How often each verdict may be given although it is false. It holds for one run of the gate:
        a model whose true loss is the margin passes once in 30 nights with a probability of 79 % if
        each night has other queries, and of 15 % if the queries stay and scores vary a little.
        Decide before a release, on queries that were not used to develop it.
    largest_loss
        The largest loss that a single query can have; see :func:`no_worse`.
    names
        Names of the two runs; by default those of their models, where they differ.
    cluster
        A column of ``queries`` that says which belong together, such as their topic: the test then
        counts its values, not single queries; see :func:`no_worse`.
    measure, metrics
        Other names for ``measures``.
    **options
        Options of :func:`evaluate`. A judged query that a run does not answer is refused unless
        ``missing_query`` says what it counts as; a run that lacks more than 5 % is refused anyway.

    Returns
    -------
    Gate
        Its ``status``, ``exit_code``, ``line()`` and ``as_dict()``.

    Raises
    ------
    RetrievalReportError
        A run has no rows, several models or other queries than the other; the baseline finds
        nothing relevant at all; or queries lack the requested score.

    Examples
    --------
    >>> import polars as pl
    >>> lists = pl.DataFrame(
    ...     {
    ...         "query": list("ppqqrrssttuuvvww"),
    ...         "item": list("xy") * 8,
    ...         "distance": [1, 2] * 8,
    ...         "relevance": [1, 0] * 8,
    ...     }
    ... )
    >>> print(gate(lists, lists, measures="rr@10", margin=0.01).line())
    passed: rr@10 of candidate is 1.0000, of baseline 1.0000 (0.0000; 8 queries, margin 0.01; the
    lists of both runs are the same)
    >>> worse = lists.with_columns(distance=pl.Series([2, 1] * 8))
    >>> gate(lists, worse, measures="rr@10", margin=0.01).exit_code
    1
    """
    check_choice("tie_order", tie_order, TIE_ORDERS)
    margins = parse_margin(margin)
    measures = one_of_two(measures, one_of_two(measure, metrics))
    metric, cutoff = _one_measure(measures)
    accepted = margins.among([(str(metric), cutoff)])
    if accepted is None:
        measure_name = measure_text(metric, cutoff)
        raise ParameterError(f"margin: {measure_name} has none; the margins are {margins}")
    if names is not None and (
        not isinstance(names, tuple | list)
        or [type(name) for name in names] != [str, str]
        or names[0] == names[1]
    ):
        raise ParameterError(f"names: {names!r} is not a pair of different names")
    policies = "expected", "best", "worst"
    settings: Named = {"missing_query": "error", **options, "policies": policies}
    missing_query = settings["missing_query"]
    runs, names = _check_runs((baseline, candidate), names, refuse=missing_query == "error")
    rules = options_with(settings)
    judged = judge(runs, judgements, queries, rules)
    scores = evaluate(judged, metrics=metric, cutoffs=[cutoff], **settings)
    expected = scores.filter(policy="expected").drop_nulls("value")
    row = no_worse(
        scores,
        baseline="baseline",
        margin=accepted,
        tie_order=tie_order,
        alpha=alpha,
        largest_loss=largest_loss,
        queries=queries,
        cluster=cluster,
        same_lists=["candidate"] if identical_models(expected, runs) else [],
    ).row(0, named=True)
    _check_health(health_of(judged, rules), names, passed=row["verdict"] == NO_WORSE)
    _warn_of_losses(row["largest_loss"], largest_loss)
    if (
        row["verdict"] != NOTHING_TO_COMPARE
        and not expected.filter(pl.col("value") > 0, model="baseline").height
    ):
        raise DataError(
            f"{names[0]}: no query scores above 0, so there is nothing to compare {names[1]} with; "
            "do the ids of the rankings and of the judgements agree?"
        )
    lacking = expected["query"].n_unique() - row["queries"]
    if lacking and row["verdict"] != CUT and missing_query != "skip":
        raise DataError(
            f"{row['metric']}: {lacking} of {row['queries'] + lacking} queries have no {tie_order} "
            "score for both runs; a gate does not pass on a part of the queries"
        )
    result = {
        **row,
        "status": STATUS.get(row["verdict"], row["verdict"]),
        "baseline": names[0],
        "candidate": names[1],
        "measure": measure_text(row["metric"], row["cutoff"]),
        "tie_order": tie_order,
        "alpha": float(alpha),
        "candidate_value": row["value"],
        "items_missing": not expected.filter(pl.col("truncated") | pl.col("pooled")).is_empty(),
    }
    return Gate(**{field.name: result[field.name] for field in fields(Gate)})


def _one_measure(measures: object) -> tuple[Metric, int | None]:
    """Return the metric and the cutoff that a gate decides on."""
    requests = parse_metrics([] if measures is None else measures, [None])
    number = sum(len(cutoffs) for _, cutoffs in requests)
    if number != 1:
        raise ParameterError(
            f"measures: {measures!r} is {with_number(number, 'measure')}; a gate decides on one, "
            "so call it for each: if all must pass, no correction is needed"
        )
    metric, cutoffs = requests[0]
    return metric, cutoffs[0]


def _check_health(health: pl.DataFrame, names: tuple[str, str], *, passed: bool) -> None:
    """Refuse runs on whose data no verdict can rest, and warn of what else may be wrong with them;
    what a few missing lists count as was settled.
    """
    finding, is_serious = pl.col("finding"), pl.col("serious")
    health = health.filter(is_serious | (finding != NO_LIST))
    faults = {"nothing is tested": health.filter(is_serious)}
    if passed:  # nothing does that is at random, or is compared with that
        faults["not passed, whatever the margin"] = health.filter(finding.is_in(AT_RANDOM))
    of_role = dict(zip(ROLES, names, strict=True))
    for consequence, rows in faults.items():
        for row in rows.iter_rows():
            raise DataError(f"{consequence}: {sentence_of(row, of_role.get(row[0], ''))}")
    for row in health.iter_rows():
        warn(sentence_of(row, of_role.get(row[0], "")))


def _warn_of_losses(seen: float, stated: float | None) -> None:
    """Warn of a loss that is larger than the largest, by which it is replaced."""
    if stated is not None and seen > stated:
        text = f"a query lost, or may have lost, {number(seen)}, which counts instead of {stated}"
        warn(f"{argument('largest_loss')}: {text}")


def _check_runs(
    both_runs: tuple[object, object], names: tuple[str, str] | None, *, refuse: bool
) -> tuple[pl.DataFrame, tuple[str, str]]:
    """Return both runs in one frame, as models "baseline" and "candidate", and what to call them,
    after checking that they can be compared; ``refuse`` those with different queries.
    """
    parts = []
    own_names: list[str] = []
    for run, role, name in zip(both_runs, ROLES, names or ROLES, strict=True):
        frame = frame_of_kind(run, KINDS["rankings"], name, None)
        models = with_model(frame)["model"].unique().sort().to_list()
        if len(models) != 1:
            raise DataError(
                f"{name}: {len(models)} models, {some(models, 3)}; a gate compares one with one"
            )
        own_names += models if "model" in frame.columns else [role]
        our_columns = frame.select(column for column in frame.columns if column in COLUMNS)
        parts.append(Part(name, our_columns.with_columns(model=pl.lit(role))))
    first, second = own_names
    names = names or ((first, second) if first != second else ROLES)
    runs = combine(parts)
    if refuse and "query" in runs.columns:
        answered = runs.select("model", "query").drop_nulls().unique().sort("query")
        for role, name, other_name in zip(ROLES, names, names[::-1], strict=True):
            one_sided = answered.filter(pl.col("query").is_unique() & (pl.col("model") == role))[
                "query"
            ]
            if len(one_sided):
                cure = "search the missing ones, or leave them out of both runs and the judgements"
                if not answered["query"].is_duplicated().any():
                    cure = "make the ids of their queries agree"
                if _is_swapped(runs):
                    cure = "those of one are ids of items in the other: are its columns of queries and items swapped?"
                total = with_number(answered.filter(model=role).height, "query")
                are = "is" if len(one_sided) == 1 else "are"
                raise KeyMismatchError(
                    f"{name}: {len(one_sided)} of {total} {are} not in {other_name}, "
                    f"{some(one_sided.to_list(), 3)}; different queries are not compared: {cure}"
                )
    return runs, names


def _is_swapped(runs: pl.DataFrame) -> bool:
    """Return whether two runs share no query, and most of the queries of one are items
    of the other.
    """
    queries = runs.group_by("model").agg(pl.col("query").unique())["query"]
    if "item" not in runs.columns or queries.explode().is_duplicated().any():
        return False
    return any(
        len(
            queries_as_items(
                runs.filter(model=role)["query"].unique(), runs.filter(pl.col("model") != role)
            )
        )
        for role in ROLES
    )
