"""Score every list of frames that fit in memory; all engines use this computation."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.contracts.arguments import number_text
from retrieval_report.contracts.checks import refuse
from retrieval_report.contracts.errors import DataError, ParameterError
from retrieval_report.contracts.frames import SCORES
from retrieval_report.contracts.options import Options
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.contracts.warning import warn
from retrieval_report.contracts.wording import advice, have, setting, with_number
from retrieval_report.kernels import shuffling
from retrieval_report.kernels.compile import expect
from retrieval_report.kernels.lists import Bools, Floats, Integers, Lists, Scalar, running, runs
from retrieval_report.metrics.parsing import Requests
from retrieval_report.metrics.record import Metric
from retrieval_report.metrics.terms import check_judged_only, warn_steep
from retrieval_report.scoring.arrays import (
    draw_work,
    drawn_lists,
    list_keys,
    over_ranges,
    singles,
    stretched,
)
from retrieval_report.scoring.cut_bounds import Completions
from retrieval_report.scoring.cut_lists import Following, depends_on_unknown, reaching, unsure
from retrieval_report.scoring.judged import Judged
from retrieval_report.scoring.known_items import stated_relevant
from retrieval_report.scoring.layout import Prepared, lay_out, null_where
from retrieval_report.scoring.scorer import ListScores, Scorer
from retrieval_report.scoring.truncation import ends_of

Column = tuple[int, tuple[Metric, int | None]]  # its number and its measure

MEASURE = schema("scores", "metric", "cutoff")
TURNS = {"expected": 0, "shuffled": 2}  # policies that others build on come first
MOST_SLOTS = (
    4_000_000  # of drawn lists at a time, some 50 bytes each; more are laid out in every draw
)


@dataclass
class Run:
    """The prepared lists, the scores requested of them, and the scorer that computes these."""

    prepared: Prepared
    requests: Requests
    options: Options

    def __post_init__(self) -> None:
        self.measures = [
            (metric, cutoff) for metric, cutoffs in self.requests for cutoff in cutoffs
        ]
        gains = [self.prepared.gains(metric.term) for metric, _ in self.requests]  # or an error
        self.shape = self.prepared.length.size, len(self.measures)  # lists, and columns of scores
        # Items of the lowest grade bring nothing, so that a stretch of them is one cell of a draw.
        self.stretches = not any(values[0] for values in gains)
        if self.options.no_relevant == "error":
            refuse_without(self.prepared)
        deep = self.requests[0][0].own_depth  # as all of these metrics have it, or none
        cutoffs = () if deep else tuple(dict.fromkeys(cutoff for _, cutoff in self.measures))
        self.scorer = Scorer(self.prepared, cutoffs, self.options.workers)

    @property
    def judged_only(self) -> bool:
        """Return whether its lists leave out items without judgement."""
        return self.requests[0][0].condensed or self.options.unjudged == "drop"

    @property
    def columns(self) -> pl.DataFrame:
        """Return metric and cutoff of every column."""
        columns_by_measure = [(str(metric), cutoff) for metric, cutoff in self.measures]
        return pl.DataFrame(columns_by_measure, MEASURE, orient="row")

    def score(
        self, policy: str, lists: Lists | None = None, into: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Return values and standard deviations of every requested metric and cutoff under a
        policy, each of shape (lists, columns), written into an array of both, if given.
        """
        return self.scorer.scores(self.requests, policy, lists, into)

    @cached_property
    def lists(self) -> pl.DataFrame:
        """Return the lists, with their items and the relevant items of their query."""
        prepared = self.prepared
        columns = {
            "items": prepared.length,
            "n_relevant": null_where(prepared.relevant, prepared.relevant < 0),
            "pooled": prepared.pooled,
        }
        return prepared.names.hstack(pl.DataFrame(columns))

    @cached_property
    def blocks(self) -> list[tuple[slice, Run]]:
        """Return these lists some at a time, for policies that lay them out anew."""
        return _split(self, self.prepared.ties.cells.start)

    @cached_property
    def limit(self) -> Integers:
        """Return the deepest rank that any metric considers, list by list."""
        if any(metric.term.judged_only for metric, _ in self.requests):
            return self.prepared.length
        return np.asarray(self.scorer.depths.max(axis=1))

    @cached_property
    def undefined(self) -> Bools:
        """Return where nothing is relevant and the metric is undefined, of shape (lists, columns)."""
        unknown = (self.prepared.relevant == 0) & ~self.prepared.without
        return np.asarray(
            self.where(lambda scorer, metric: metric.undefined(scorer)) & ~unknown[:, None]
        )

    @cached_property
    def truncated(self) -> Bools:
        """Return which scores (lists, columns) depend on what truncation of their list leaves open."""
        cut = self.prepared.open
        if not cut.any():
            return np.zeros(self.shape, np.bool_)
        reached = self.where(partial(reaching, follow=self.following))
        return reached & (cut & ~self.left_out())[:, None]

    @cached_property
    def following(self) -> Following:
        """Return what may follow each list."""
        return Following.of(self.prepared)

    def repeated(self, which: Integers) -> Run:
        """Return the run of some lists, each as often as it is named."""
        return Run(self.prepared.take(which), self.requests, self.options)

    def shorter(self, prepared: Prepared, *, last_stays: bool = False) -> Prepared:
        """Return the lists with stretches of items that bring nothing as one tie, if these metrics
        only count them.
        """
        if not self.stretches or any(metric.term.judged_only for metric, _ in self.requests):
            return prepared
        return replace(prepared, ties=stretched(prepared.ties, last_stays=last_stays))

    def where(self, rule: Callable[[Scorer, Metric], NDArray[Scalar]]) -> NDArray[Scalar]:
        """Return where a rule holds, or another fact of every score, of shape (lists, columns)."""
        scorer = self.scorer
        return np.concatenate(
            [
                np.broadcast_to(rule(scorer, metric), scorer.asked.shape)[
                    :, scorer.columns(cutoffs)
                ]
                for metric, cutoffs in self.requests
            ],
            axis=1,
        )

    @cached_property
    def open(self) -> Bools:
        """Return which scores (lists, columns) completions of truncated lists may change."""
        everywhere = self.where(partial(unsure, follow=self.following))
        return self.truncated | (everywhere & self.prepared.open[:, None])

    @cached_property
    def completions(self) -> list[tuple[Integers, list[Column], Completions]]:
        """Return which lists are completed, the columns of scores that this bounds, and the
        completions; apart for columns that few lists leave open, and for every largest grade if no
        relevant one was seen.
        """
        count = self.open.sum(axis=0)
        few = 2 * count < np.count_nonzero(self.open.any(axis=1))
        seen = self.prepared.relevant_grade.any()
        columns: dict[tuple[bool, float | None], list[Column]] = {}
        for number in np.flatnonzero(count).tolist():
            measure = self.measures[number]
            grade = None if seen else measure[0].term.largest_grade
            columns.setdefault((few[number], grade), []).append((number, measure))
        return [self._completed(bounded, grade) for (_, grade), bounded in columns.items()]

    def _completed(
        self, columns: list[Column], largest_grade: float | None
    ) -> tuple[Integers, list[Column], Completions]:
        """Complete the lists that leave a score in these columns open."""
        which = np.flatnonzero(self.open[:, [number for number, _ in columns]].any(axis=1))
        prepared = self.shorter(self.prepared.take(which), last_stays=True)
        completions = Completions(
            prepared,
            [measure for _, measure in columns],
            self.options,
            largest_grade=largest_grade,
            judged_only=prepared.all_judged and self.judged_only,
        )
        return which, columns, completions

    def complete(self, values: Floats, *, best: bool) -> None:
        """Fill in the extremes over all completions of
        truncated lists where scores depend on what is open.
        """
        if not self.prepared.open.any():
            return
        for which, columns, completions in self.completions:
            extremes = completions.extremes(best=best)
            for column, measure in columns:
                marked = self.open[which, column]
                values[which[marked], column] = extremes[measure][marked]

    def left_out(self) -> Bools:
        """Return which lists are skipped because their
        query lacks judgements, relevant items or rows.
        """
        nobody = self.prepared.relevant < 0
        if self.options.no_relevant == "skip":
            nobody |= self.prepared.without
        if self.options.missing_query == "skip":
            nobody |= self.prepared.missing
        return nobody


def score_judged(judged: Judged, requests: Requests, options: Options) -> ListScores:
    """Return the scores of all lists under every requested policy, without the warnings of
    `start`, for analyses of data that it has already looked at.
    """
    return score_runs(runs_of(judged, requests, options), requests)


def runs_of(judged: Judged, requests: Requests, options: Options) -> list[Run]:
    """Lay out the lists, and again for metrics with a level of relevance of their own, and for
    those of judged items alone without the others; metrics that look down to R have a run of their
    own, too.
    """
    requests_by_layout: dict[tuple[float | None, bool, bool], Requests] = {}
    condensed = judged
    if any(metric.condensed for metric, _ in requests):
        condensed = judged.condensed(options)
    for metric, cutoffs in requests:
        level = options.relevant_from if metric.level is None else metric.level
        judged_only = metric.condensed and condensed is not judged
        requests_by_layout.setdefault((level, judged_only, metric.own_depth), []).append(
            (metric, cutoffs)
        )
    levels = [level for level, *_ in requests_by_layout]
    first = options.relevant_from if options.relevant_from in levels else levels[0]
    if "n_relevant" in judged.lists.columns and not judged.whole.judged:
        _refuse_levels(judged.lists, levels, options)
    prepared = lay_out(judged, replace(options, relevant_from=first))
    words = ends_of(prepared.decisions)
    runs = []
    for (level, judged_only, _), layout_requests in sorted(
        requests_by_layout.items(), key=lambda one: (one[0][1], one[0][0] != first)
    ):
        see = replace(options, relevant_from=level)
        laid_out = prepared
        if judged_only or level != first:
            cut = replace(see, truncated=words or options.truncated)
            lists = lay_out(condensed if judged_only else judged, cut)
            laid_out = replace(lists, decisions=prepared.decisions)
        runs.append(Run(laid_out, layout_requests, see))
    return runs


def _refuse_levels(lists: pl.DataFrame, levels: Sequence[float | None], options: Options) -> None:
    """Refuse levels of relevance that n_relevant does not count: a second one where nothing says
    which it counts, and, where R must be stated, any other.
    """
    if "n_relevant_from" not in lists.columns:
        if len(set(levels)) > 1 and lists["n_relevant"].count():
            raise ParameterError(
                "rel: n_relevant of the queries frame counts the items of one level, and the "
                "metrics have several; score them in one call per level, or give judgements"
            )
        return
    for level in levels if options.relevant_items == "error" else ():
        refuse(
            lists,
            stated_relevant(lists, level).is_null(),
            "n_relevant_from",
            f"other levels than {number_text(level or 1)}, which is asked for",
            "; count n_relevant from there on, or give judgements",
        )


def score_runs(runs: Sequence[Run], requests: Requests) -> ListScores:
    """Return the scores of all lists of the runs for some requests, in the order of these."""
    return ListScores.beside([_score_run(run) for run in runs], requests)


def _score_run(run: Run, means: _OrderMeans | None = None) -> ListScores:
    """Return the scores of all lists; ``means`` takes the drawn ones."""
    policies = run.options.policies
    lists, columns = run.shape
    scores = np.full((2, lists, columns, len(policies)), np.nan)
    values, spreads = scores
    exact = values[:, :, policies.index("expected")] if "expected" in policies else None
    for number, policy in sorted(enumerate(policies), key=lambda part: TURNS.get(part[1], 1)):
        into = scores[..., number]
        if policy == "shuffled":
            into[0], into[1] = _shuffled_scores(run, exact, means)
        elif policy == "expected":
            run.score(policy, into=into)
        else:
            for rows, part in run.blocks:
                into[0, rows] = _ordered_scores(
                    part, policy, None if exact is None else exact[rows]
                )
                if policy in ("best", "worst"):
                    part.complete(into[0, rows], best=policy == "best")
    spreads[run.truncated] = np.nan
    return list_scores(run, values, spreads)


def _ordered_scores(run: Run, policy: str, exact: Floats | None) -> Floats:
    """Return the scores of the order received, or of the best or worst; lists without ties have no
    other, and so the expected scores, which are ``exact``.
    """
    tied = np.flatnonzero(np.diff(run.prepared.ties.start) < run.prepared.length)
    # whose extremes add up in another order
    ratio = policy != "naive" and any(metric.term.ratio for metric, _ in run.requests)
    if exact is None or ratio or 2 * tied.size > exact.shape[0]:
        return run.score(policy)[0]
    values = exact.copy()
    if tied.size:
        naive = None
        if policy == "naive":
            assert run.prepared.naive is not None
            rows, start = runs(running(run.prepared.length), tied)
            naive = singles(start, run.prepared.naive[rows])
        values[tied] = run.repeated(tied).score(policy, naive)[0]
    return values


def _split(run: Run, work: Integers) -> list[tuple[slice, Run]]:
    """Return a run in parts, since what each lays out anew takes memory; ``work`` holds running
    totals of that.
    """
    if work[-1] <= MOST_SLOTS:
        return [(slice(None), run)]
    ends = np.flatnonzero(np.diff(work[:-1] // MOST_SLOTS, prepend=-1, append=-1)).tolist()
    return [
        (slice(*pair), Run(run.prepared.part(*pair), run.requests, run.options))
        for pair in itertools.pairwise(ends)
    ]


def score_with_means(
    runs: Sequence[Run], requests: Requests, weights: pl.DataFrame | None = None
) -> tuple[ListScores, pl.DataFrame]:
    """Return the scores of runs, and each model's mean over its queries under every drawn order,
    weighted by the ``weight`` of every model, query, metric and cutoff if there are any; needs
    policy "shuffled".
    """
    means = [_OrderMeans(run, weights) for run in runs]
    scores = [_score_run(run, of_run) for run, of_run in zip(runs, means, strict=True)]
    measure = pl.col("metric").cast(pl.Enum([str(metric) for metric, _ in requests]))
    frame = pl.concat(part.frame() for part in means).sort("model", measure, maintain_order=True)
    return ListScores.beside(scores, requests), frame


class _OrderMeans:
    """Each model's mean over its queries under every drawn order."""

    def __init__(self, run: Run, weights: pl.DataFrame | None) -> None:
        self.run = run
        names = run.prepared.names
        self.models, code = np.unique(names["model"].to_numpy(), return_inverse=True)
        included = ~run.left_out()
        self.mine = [included & (code == model) for model in range(self.models.size)]
        self.weights = np.ones((names.height, 1))
        if weights is not None:
            cells = names.join(run.columns, how="cross", maintain_order="left_right")
            keys = ["model", "query", "metric", "cutoff"]
            cells = cells.join(
                weights, on=keys, how="left", nulls_equal=True, maintain_order="left"
            )
            self.weights = cells["weight"].fill_null(0.0).to_numpy().reshape(names.height, -1)
        self.drawn: list[Floats] = []  # of each order: (models, columns)

    def add(self, values: Floats, draws: int = 1) -> None:
        """Add the scores (lists, columns) under one drawn order, or under several that agree."""
        if self.run.options.no_relevant == "one":
            values = np.where(self.run.undefined, 1.0, values)
        values = values * self.weights
        with np.errstate(invalid="ignore"):  # a model may have no query
            means = [
                values[mine].sum(axis=0) / self.weights[mine].sum(axis=0) for mine in self.mine
            ]
        self.drawn += [np.array(means)] * draws

    def frame(self) -> pl.DataFrame:
        """Return one row per model, metric, cutoff and draw."""
        frame = pl.DataFrame({"model": self.models.tolist()}, {"model": pl.String})
        for keys in (self.run.columns, pl.DataFrame({"draw": range(len(self.drawn))})):
            frame = frame.join(keys, how="cross", maintain_order="left_right")
        value = pl.Series(np.moveaxis(np.array(self.drawn), 0, -1).ravel()).fill_nan(None)
        return in_contract(frame.with_columns(value=value), schema("shuffled"))


def start(judged: Judged, requests: Requests, options: Options) -> list[Run]:
    """Lay out the lists, and warn about oddities before anything is computed."""
    check_judged_only([metric for metric, _ in requests], judged.whole.judged, options.unjudged)
    runs = runs_of(judged, requests, options)
    prepared = runs[0].prepared
    if prepared.without.any() and not (judged.whole.relevant or (prepared.relevant > 0).any()):
        judged.warn("no query has a relevant item")
    elif not judged.whole.part:
        for run in runs:
            level_differs = run.options.relevant_from != runs[0].options.relevant_from
            if level_differs and not (run.prepared.relevant > 0).any():
                grade = number_text(run.options.relevant_from or 0.0)
                judged.warn(f"no query has an item of grade {grade} or above (rel={grade})")
    warn_steep([metric for metric, _ in requests], prepared.grades, judged.warn)
    if not judged.whole.part:
        warn_of_lists(doubtful_lists(runs[0], requests, judged), requests, judged.warn)
    return runs


def refuse_without(prepared: Prepared) -> None:
    """Raise an error if a list has no relevant item."""
    without = prepared.names.filter(prepared.without)
    if without.height:
        model, query = without.row(0)
        raise DataError(
            with_number(without.height, "(model, query) pair")
            + f" {have(without.height)} no relevant item, first query {query!r} of model {model!r}"
            + advice("; {} says what they score", setting("no_relevant", "zero", "skip", "one"))
        )


def _mixed_lists(run: Run) -> Integers:
    """Return the lists that a random order can change: a tie of several grades begins above the
    deepest rank that any metric considers.
    """
    ties = run.prepared.ties
    mixed = np.flatnonzero(np.diff(ties.tie) > 1)
    which = np.searchsorted(ties.start, mixed, side="right") - 1
    before = running(ties.items)  # items before every cell, over all lists
    above = before[ties.tie[mixed]] - before[ties.tie[ties.start[which]]] < run.limit[which]
    return np.unique(which[above])


def _draws(run: Run, mixed: Integers) -> Iterator[Floats]:
    """Yield the scores (lists, columns) of some lists under every drawn order; long lists are laid
    out some at a time, because every cell takes memory.
    """
    options = run.options
    steps = range(options.shuffles)
    if options.progress:
        from tqdm import tqdm

        steps = tqdm(steps, desc="shuffles", leave=False)
    if mixed.size < run.shape[0]:  # then few ties are mixed
        run = Run(run.shorter(run.prepared.take(mixed)), run.requests, options)
    work = draw_work(run.prepared.ties, run.limit, stretches=run.stretches)
    expect(4.0 * options.shuffles * float(work[-1]))  # by some four kernels
    parts = [part for _, part in _split(run, work)]
    scorers = [draw_together(part) for part in parts] if len(parts) == 1 else None
    for draw in steps:
        number = np.array([draw])
        # Of several parts, each is laid out anew for every draw.
        yield np.concatenate([score(number) for score in scorers or map(draw_together, parts)])


def draw_together(run: Run) -> Callable[[Integers], Floats]:
    """Return a function that draws an order of every list, from its number (or one for all), and
    scores the lists under them.
    """
    ties, limit, stretches = run.prepared.ties, run.limit, run.stretches
    keys = list_keys(run.prepared.names, run.options.seed)
    drawn_orders = drawn_lists(ties, limit, stretches=stretches)
    work = running(limit)

    def score(numbers: Integers) -> Floats:
        orders = limit, shuffling.draw_keys(keys, numbers), stretches
        over_ranges(
            lambda begin, end: shuffling.draw_orders(begin, end, ties, orders, drawn_orders),
            work,
            run.options.workers,
        )
        return run.score("shuffled", drawn_orders)[0]

    return score


def _shuffled_scores(
    run: Run, exact: Floats | None, means: _OrderMeans | None
) -> tuple[Floats, Floats]:
    """Return mean and sample standard deviation of the
    drawn scores, summed as differences from the first draw.

    Lists that no order changes are not drawn: their scores are the expected ones, ``exact`` if
    these are known.
    """
    mixed, draws = _mixed_lists(run), run.options.shuffles
    if exact is None:
        exact = run.score("shuffled", run.prepared.ties)[0]
    value, std = exact.copy(), np.full_like(exact, 0.0 if draws > 1 else np.nan)
    if not mixed.size:
        if means is not None:
            means.add(value, draws)
        return value, std
    total, square = np.zeros((2, mixed.size, exact.shape[1]))
    first = None
    for orders in _draws(run, mixed):
        first = orders if first is None else first
        if means is not None:
            value[mixed] = orders
            means.add(value)
        total += orders - first
        square += (orders - first) ** 2
    assert first is not None
    value[mixed] = first + total / draws
    if draws > 1:
        std[mixed] = np.sqrt(np.maximum(square - total**2 / draws, 0.0) / (draws - 1))
    return value, std


def list_scores(run: Run, values: Floats, spreads: Floats) -> ListScores:
    """Name the scores (lists, metrics and cutoffs,
    policies), and treat undefined ones as requested.
    """
    prepared = run.prepared
    policies = run.options.policies
    if run.options.no_relevant == "one":
        # in the worst case, there are relevant items if R is not known
        open_worst = (np.array(policies) == "worst") & (run.truncated & prepared.pooled[:, None])[
            :, :, None
        ]
        values[run.undefined[:, :, None] & ~open_worst] = 1.0
        spreads[run.undefined] *= 0.0
    left_out = run.left_out()
    values[left_out] = np.nan
    spreads[left_out] = np.nan
    columns = pl.DataFrame(
        [(str(metric), cutoff, policy) for metric, cutoff in run.measures for policy in policies],
        MEASURE | {"policy": SCORES["policy"]},
        orient="row",
    )
    shape = prepared.names.height, columns.height
    flags = run.truncated, run.where(depends_on_unknown)
    truncated, pooled = (np.repeat(flag, len(policies), axis=1) for flag in flags)
    values, spreads = values.reshape(shape), spreads.reshape(shape)
    return ListScores(run.lists, columns, values, spreads, truncated, pooled)


def doubtful_lists(run: Run, requests: Requests, judged: Judged) -> pl.DataFrame:
    """Return the lists, whether each has a graded ideal that is a guess (``unseen``: some of its
    relevant items are not in the data), and whether counts do not tell R (``unpooled``).
    """
    prepared = run.prepared
    ideal = any(ideal.over == "judged" for metric, _ in requests for ideal in metric.ideals)
    guessed = ideal and not judged.whole.judged and "n_relevant" in judged.lists.columns
    guessed = guessed and prepared.relevant_grade.sum() > 1
    unseen = prepared.relevant > prepared.retrieved.total(prepared.relevant_grade)
    if guessed:  # what models retrieved has the grades that it has
        stated = stated_relevant(judged.lists, run.options.relevant_from)
        unseen &= judged.lists.select(stated.is_not_null()).to_series().to_numpy()
    unpooled = np.full(unseen.size, judged.unpooled(run.options))
    return run.lists.hstack(pl.DataFrame({"unseen": unseen & guessed, "unpooled": unpooled}))


def warn_of_lists(
    lists: pl.DataFrame, requests: Requests, warn: Callable[[str], None] = warn
) -> None:
    """Warn if R of queries is not known and divides scores, because counts of several models have
    no items to pool; and that the ideal of graded lists is a guess.
    """
    if not (lists["unpooled"].any() or lists["unseen"].any()):
        return
    number = pl.col("n_relevant")
    unpooled = lists.filter("unpooled", pl.col("items") > 0).group_by("query")
    queries = unpooled.agg(least=number.min(), most=number.max(), pooled=pl.col("pooled").any())
    queries = queries.filter(pl.col("pooled") | (pl.col("least") < pl.col("most"))).sort("query")
    if queries.height and any(metric.needs_all_relevant for metric, _ in requests):
        query, least, most, _ = queries.row(0)
        warn(
            f"counts: R of {queries.height} queries is not known, first {query!r} (a model has "
            f"{least} to {most} relevant items): counts have no items to pool, so recall, ap and "
            "ndcg of a model are divided by its own number; count the rankings of all models "
            "together, or give n_relevant in the queries frame"
        )
    unseen = lists.filter("unseen").sort("model", "query")
    if unseen.height:
        warn(
            f"ndcg: for {unseen.height} lists only some relevant items are in the data, first "
            f"query {unseen['query'][0]!r}; in the ideal the others have the lowest relevant grade "
            "of their list, so ndcg may be too high; judgements would give their grades"
        )
