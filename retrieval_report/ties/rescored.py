"""Exact scores of two-stage search, in which a tie of the first stage decides what is rescored."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from typing import NamedTuple

import numpy as np
import polars as pl

from retrieval_report.codes.search import Inputs
from retrieval_report.contracts.arguments import Named, as_list, check_whole
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import DataError
from retrieval_report.contracts.forks import refuse_fork
from retrieval_report.contracts.frames import SCORES, order_column, with_model
from retrieval_report.contracts.options import BETWEEN_TIES, NO, is_relevant, options_with
from retrieval_report.contracts.registry import in_contract
from retrieval_report.contracts.warning import warn
from retrieval_report.contracts.wording import advice, have, setting
from retrieval_report.engines.check_scores import join_left
from retrieval_report.engines.evaluate import evaluate
from retrieval_report.kernels.lists import Bools, Floats, Integers
from retrieval_report.metrics.parsing import (
    Measure,
    Requests,
    measure_texts,
    parse_metrics,
)
from retrieval_report.reading import read_queries, read_rankings
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.known_items import stated_relevant
from retrieval_report.scoring.run import Run, runs_of
from retrieval_report.scoring.scorer import Scorer, quotient

POLICIES = ("naive", "expected", "worst", "best")
ENDS = (NO, BETWEEN_TIES)
NEGLIGIBLE = 1e-7  # relative, of a deviation: what rounding leaves of the difference of two squares


def rescored(
    first: object,
    scores: object,
    depth: object = (10, 20, 40),
    *,
    measures: object = "ndcg@10",
    judgements: object = None,
    queries: object = None,
    truncated: str = BETWEEN_TIES,
    relevant_from: float | None = None,
    shuffles: int = 100,
    seed: int = 0,
) -> pl.DataFrame:
    r"""Score a search whose ``depth`` nearest items are rescored, exactly over all choices of items
    that tie at this depth.

    A coarse first stage, such as binary codes, ties at the depth at which it hands items over.
    Which of them are rescored depends on their order, and the final scores no longer show it. Here
    each choice is equally likely, and so is each order of items whose final scores tie.

    Parameters
    ----------
    first
        Rankings of the first stage: the result of :func:`from_embeddings` or :func:`from_search`,
        or anything that :func:`read_rankings` accepts.
    scores
        Rankings of one model, in the same forms, with the final score (or distance) of every item
        that may be handed over.
    depth
        Numbers of items that are rescored, or "all" for whole lists.
    measures
        Text such as ``"ndcg@10, precision@10"``. Sums over ranks have a closed form: precision,
        recall, f1, num_rel_ret, acg, dcg, ndcg and rbp, at cutoffs. For others, choices are drawn.
    judgements, queries, relevant_from
        As for :func:`evaluate`; judgements and queries by default those of ``first``.
    truncated
        "between_ties" if lists of the first stage end after a whole tie, "no" if they hold all
        items.
    shuffles, seed
        How many choices are drawn at random for measures without a closed form, and from which
        seed.

    Returns
    -------
    polars.DataFrame
        Scores as from :func:`evaluate`, which :func:`summarise`, :func:`no_worse` and
        :func:`compare` take; the model is the first stage's with the depth, such as "binary/20".
        ``expected`` with ``std`` is over all choices, ``worst`` and ``best`` are their ends, and
        ``naive`` keeps the items in the order received. Measures without a closed form have
        ``naive`` and ``shuffled`` only: the mean over the random choices, and their deviation.

    Raises
    ------
    DataError
        An item has no final score, or a list is shorter than a depth and may have been cut.
    ParameterError
        A depth is not a whole number from 1 on.

    Warns
    -----
    RetrievalReportWarning
        A measure has no closed form.

    Notes
    -----
    Of n items that tie, c are kept. From the best final score down, the state is the number j of
    them kept so far among t. Of the next u tied items with one final score, v are kept with the
    hypergeometric probability :math:`\binom{u}{v} \binom{n-t-u}{c-j-v} / \binom{n-t}{c-j}`. With it
    go the first two moments of the sum so far, and its least and largest value.

    Examples
    --------
    Items b and c tie in the first stage, which hands over two items; only c is relevant.

    >>> first = {"query": ["q"] * 4, "item": list("abcd"), "distance": [0, 1, 1, 2]}
    >>> final = {"query": ["q"] * 4, "item": list("abcd"), "score": [0.2, 0.7, 0.9, 0.8]}
    >>> table = rescored(
    ...     first, final, depth=(2, 4), measures="precision@1", judgements={"q": {"c": 1}}
    ... )
    >>> for row in table.select("model", "policy", "value", "std").rows():
    ...     print(*row)
    model/2 naive 0.0 None
    model/2 expected 0.5 0.5
    model/2 worst 0.0 None
    model/2 best 1.0 None
    model/4 naive 1.0 None
    model/4 expected 1.0 0.0
    model/4 worst 1.0 None
    model/4 best 1.0 None
    """
    refuse_fork()
    check_choice("truncated", truncated, ENDS)
    depths = [
        None if stage == "all" else check_whole("depth", stage, 1) for stage in as_list(depth)
    ]
    requests = parse_metrics(measures, None)
    check_whole("shuffles", shuffles, 1)
    if isinstance(first, Inputs):
        first, judgements, queries = first.beside(judgements, queries)
    options = options_with({"relevant_from": relevant_from, "truncated": NO})
    judged = judge(read_rankings(first), judgements, queries, options)
    rows = _with_final_scores(judged.retrieved, scores)
    candidates = _lists(rows)
    whole = truncated == NO
    choices = {
        (stage, key): _choose_items(candidate, stage, key, whole=whole)
        for stage in depths
        for key, candidate in candidates.items()
    }
    closed, drawn_measures = _by_form(requests, relevant_from)
    parts = []
    if closed:
        runs = runs_of(judged, closed, options)
        parts += [_scores_at(stage, run, candidates, choices) for stage in depths for run in runs]
    if drawn_measures:
        rng = np.random.default_rng(seed)
        for level, drawn in drawn_measures.items():
            # R must not depend on which items are handed over
            known = _with_relevant(queries, rows, level) if judgements is None else queries
            arguments = {
                "judgements": judgements,
                "queries": known,
                "measures": measure_texts(drawn),
                "relevant_from": relevant_from,
                "truncated": NO,
            }
            parts += [_drawn_scores(rows, stage, shuffles, rng, arguments) for stage in depths]
    frame = pl.concat(parts)
    order = {str(metric): number for number, (metric, _) in enumerate(requests)}
    place = pl.col("metric").replace_strict(order, return_dtype=pl.Int64)
    by_stage = frame.sort("stage", "model", "query", place, nulls_last=True, maintain_order=True)
    return by_stage.drop("stage")


class CandidateList(NamedTuple):
    """One list of the first stage, nearest first, in the order received inside ties."""

    near: Floats  # distances
    final: Floats  # scores of the second stage, NaN where there is none
    relevance: Floats
    items: pl.Series


Chosen = tuple[Bools, int]  # whether each item ties at the depth; how many of these are kept


def _by_form(
    requests: Requests, relevant_from: float | None
) -> tuple[Requests, dict[float | None, list[Measure]]]:
    """Return the metrics that are sums over ranks with their cutoffs, and all other measures by
    their level of relevance, for which choices are drawn.
    """
    closed: Requests = []
    open_forms: dict[float | None, list[Measure]] = {}
    for metric, cutoffs in requests:
        is_sum = metric.term.position_weights(1) is not None
        is_sum &= not (metric.own_depth or metric.condensed or "length" in metric.reads)
        in_closed = tuple(k for k in cutoffs if k and is_sum)
        closed += [(metric, in_closed)] if in_closed else []
        if drawn := [(str(metric), cutoff) for cutoff in cutoffs if cutoff not in in_closed]:
            level = relevant_from if metric.level is None else metric.level
            open_forms.setdefault(level, []).extend(drawn)
    if open_forms:
        names = measure_texts([measure for drawn in open_forms.values() for measure in drawn])
        warn(
            f"measures: {', '.join(names)} {have(len(names))} no closed form for rescored lists; "
            "choices are drawn at random, as policy 'shuffled'"
        )
    return closed, open_forms


def _with_relevant(
    queries: object, rows: pl.DataFrame, relevant_from: float | None
) -> pl.DataFrame:
    """Return the queries with ``n_relevant``, by default that of all lists of the first stage."""
    relevant = is_relevant(pl.col("relevance"), relevant_from)
    items = rows.group_by("query", "item").agg(relevant=relevant.any())
    counts = items.group_by("query").agg(n_relevant=pl.sum("relevant").cast(pl.Int64))
    if queries is None:
        return counts
    rows = read_queries(queries)
    if "n_relevant" not in rows.columns:
        return rows.join(counts, on="query", how="left")
    stated = rows.select("query", stated=stated_relevant(rows, relevant_from))
    both = stated.join(counts, on="query", how="left")
    return both.select("query", n_relevant=pl.coalesce("stated", "n_relevant"))


def _drawn_scores(
    rows: pl.DataFrame, depth: int | None, shuffles: int, rng: np.random.Generator, arguments: Named
) -> pl.DataFrame:
    """Return scores of lists with the items handed over in
    the order received, and the mean over random choices.
    """
    grades = ["relevance"] if arguments["judgements"] is None else []
    orders = [np.arange(rows.height), *(rng.permutation(rows.height) for _ in range(shuffles))]
    received, *mixed = (
        rows[order]
        .sort("near", maintain_order=True)
        .group_by("model", "query", maintain_order=True)
        .head(depth or rows.height)
        .select("model", "query", "item", *grades, score="final_score")
        for order in orders
    )
    name = pl.format("{}/{}", "model", pl.lit(depth or "all"))
    naive = evaluate(received.with_columns(model=name), policies="naive", **arguments)
    scores = evaluate(
        pl.concat(
            part.with_columns(model=pl.format("{}/{}", pl.lit(draw), name))
            for draw, part in enumerate(mixed)
        ),
        policies="shuffled",
        shuffles=1,
        **arguments,
    )
    value = pl.col("value")
    means = (
        scores.with_columns(model=pl.col("model").str.replace(r"^\d+/", ""))
        .group_by("model", "query", "metric", "cutoff", "policy", maintain_order=True)
        .agg(value.mean(), value.std(ddof=0).alias("std"), pl.exclude("value", "std").first())
    )
    frame = pl.concat([naive, means.select(naive.columns)])
    return frame.with_columns(stage=pl.lit(depth, pl.Int64))


def _with_final_scores(rows: pl.DataFrame, scores: object) -> pl.DataFrame:
    """Return the items of the first stage, nearest first, with their final scores."""
    final = with_model(read_rankings(scores.rankings if isinstance(scores, Inputs) else scores))
    if final["model"].n_unique() > 1:
        raise DataError("scores: several models; pass the final scores of one")
    final = final.select("query", "item", final_score=_as_score(final))
    rows = join_left(with_model(rows), final, ["query", "item"]).with_columns(near=-_as_score(rows))
    return rows.sort("model", "query", "near", maintain_order=True)


def _as_score(frame: pl.DataFrame) -> pl.Expr:
    """Return scores, or distances negated."""
    name = order_column(frame)
    value = pl.col(name).cast(pl.Float64)
    return value if name == "score" else -value


def _lists(rows: pl.DataFrame) -> dict[tuple[object, ...], CandidateList]:
    """Return the lists by model and query."""
    return {
        key: CandidateList(
            part["near"].to_numpy(),
            part["final_score"].fill_null(np.nan).to_numpy(),
            part["relevance"].cast(pl.Float64).fill_null(0).to_numpy(),
            part["item"],
        )
        for key, part in rows.partition_by("model", "query", as_dict=True).items()
    }


def _scores_at(
    depth: int | None,
    run: Run,
    candidates: dict[tuple[object, ...], CandidateList],
    choices: dict[tuple[int | None, tuple[object, ...]], Chosen],
) -> pl.DataFrame:
    """Return the scores of all lists by some metrics, whose items are rescored to a depth."""
    prepared = run.prepared
    names = prepared.names.rows()
    values = np.zeros((len(names), len(run.measures), len(POLICIES)))
    spreads = np.zeros(values.shape[:2])
    items = np.zeros(len(names), np.int64)
    for number, key in enumerate(names):
        if key not in candidates:
            continue
        candidate, choice = candidates[key], choices[depth, key]
        size = len(candidate.near)
        items[number] = min(depth or size, size)
        grades = np.searchsorted(prepared.grades, candidate.relevance[: len(choice[0])])
        for column, (metric, cutoff) in enumerate(run.measures):
            gains = prepared.gains(metric.term)[grades]
            weights = np.zeros(len(grades) + 1)
            reached = min(cutoff or len(grades), len(grades))
            by_position = metric.term.position_weights(reached)
            assert by_position is not None  # others were refused
            weights[:reached] = by_position[1 : reached + 1]
            values[number, column], spreads[number, column] = _moments(
                gains, candidate.final[: len(grades)], choice, weights
            )
    divisor = run.where(Scorer.divisor)
    values, spreads = quotient(values, divisor[..., None]), quotient(spreads, divisor)
    return _frame(run, depth, values, spreads, items)


def _choose_items(
    candidate: CandidateList, depth: int | None, key: tuple[object, ...], *, whole: bool
) -> Chosen:
    """Return which items may be handed over; refuse lists
    that may lack some, and items without a final score.
    """
    size = len(candidate.near)
    if depth is not None and size < depth and not whole:
        raise DataError(
            f"first: model {key[0]!r} has {size} items for query {key[1]!r}, fewer than the depth "
            f"{depth}"
            + advice("; search deeper, or pass {} if there are no more", setting("truncated", NO))
        )
    slots = min(depth or size, size)
    last = candidate.near[slots - 1]
    at_depth = candidate.near[candidate.near <= last] == last
    lacking = np.flatnonzero(np.isnan(candidate.final[: len(at_depth)]))
    if lacking.size:
        raise DataError(
            f"scores: item {candidate.items[int(lacking[0])]!r} of query {key[1]!r} "
            f"has no final score, and model {key[0]!r} may hand it over at depth "
            f"{slots} ({lacking.size} such items)"
        )
    return at_depth, slots - int((~at_depth).sum())


def _moments(gains: Floats, final: Floats, choice: Chosen, weights: Floats) -> tuple[Floats, float]:
    """Return the sum under every policy, and its standard deviation."""
    at_depth, kept = choice
    certain = np.flatnonzero(~at_depth | (np.cumsum(at_depth) <= kept))
    received = certain[np.argsort(-final[certain], kind="stable")]
    naive = float(gains[received] @ weights[: received.size])
    state = State.start(kept)
    tied, sure = int(at_depth.sum()), 0
    for of_sure, of_tied in _by_final_score(gains, final, at_depth):
        if not weights[sure:].any():
            break
        state = state.after(of_sure, of_tied, tied, sure, weights)
        tied, sure = tied - of_tied.size, sure + of_sure.size
    mean, square = float(state.mean.sum()), float(state.square.sum())
    spread = np.sqrt(max(square - mean**2, 0.0))
    spread = spread if spread > NEGLIGIBLE * abs(mean) else 0.0
    possible = state.chance > 0
    ends = state.low[possible].min(), state.high[possible].max()
    return np.array([naive, mean, *ends]), float(spread)


def _by_final_score(gains: Floats, final: Floats, tied: Bools) -> Iterator[tuple[Floats, Floats]]:
    """Yield the gains of the items with one final score, best first: of those that are kept for
    sure, and of those that tie at the depth.
    """
    order = np.argsort(-final, kind="stable")
    starts = np.flatnonzero(np.diff(final[order], prepend=np.inf) != 0)
    for group in np.split(order, starts[1:]):
        yield gains[group[~tied[group]]], gains[group[tied[group]]]


class State(NamedTuple):
    """By the number of tied items kept so far: how likely it is, times the mean and the mean square
    of the sum so far; and the lowest and highest sum.
    """

    chance: Floats
    mean: Floats
    square: Floats
    low: Floats
    high: Floats

    @classmethod
    def start(cls, slots: int) -> State:
        """Return the state before the first item."""
        nothing, first = np.zeros((2, slots + 1))
        first[0] = 1
        ends = np.where(first > 0, 0.0, np.inf)
        return cls(first, nothing, nothing, ends, -ends)

    def after(
        self, sure: Floats, tied: Floats, remaining: int, rank: int, weights: Floats
    ) -> State:
        """Return the state after the items with one final score.

        Parameters
        ----------
        sure, tied
            Gains of those that are kept for sure, and of those that tie at the depth.
        remaining
            Tied items that were not yet met, including these.
        rank
            Items kept for sure that were met before.
        weights
            The weight of every position, from the first.
        """
        limit = self.chance.size - 1
        chance, mean, square = np.zeros((3, limit + 1))
        low, high = np.full(limit + 1, np.inf), np.full(limit + 1, -np.inf)
        for more in range(min(tied.size, limit) + 1):
            here, there = slice(0, limit + 1 - more), slice(more, limit + 1)
            share = _shares(tied.size, more, remaining, limit)[here]
            first_sums, two, least, most = _sums(
                sure, tied, more, rank + np.arange(share.size), weights
            )
            before = State(*(array[here] for array in self))
            chance[there] += share * before.chance
            mean[there] += share * (before.mean + before.chance * first_sums)
            square[there] += share * (
                before.square + 2 * before.mean * first_sums + before.chance * two
            )
            possible = share > 0
            low[there] = np.where(possible, np.minimum(low[there], before.low + least), low[there])
            high[there] = np.where(
                possible, np.maximum(high[there], before.high + most), high[there]
            )
        return State(chance, mean, square, low, high)


def _shares(tied: int, more: int, remaining: int, limit: int) -> Floats:
    """Return the probability that ``more`` of the next ``tied`` items are kept, by how many were
    kept before; ``remaining`` are not yet met, and ``limit`` are kept in the end.
    """
    shares = np.zeros(limit + 1)
    for taken in range(limit + 1):
        missing = limit - taken
        if more <= missing <= remaining:
            ways = comb(tied, more) * comb(remaining - tied, missing - more)
            shares[taken] = ways / comb(remaining, missing)
    return shares


def _sums(
    sure: Floats, tied: Floats, more: int, first: Integers, weights: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the mean, mean square, lowest and highest sum of weighted gains of items in random
    order from a position on: all that are sure, and ``more`` of those that tie.
    """
    size = sure.size + more
    padded = np.concatenate([weights, np.zeros(size)])
    window = padded[np.minimum(first[:, None] + np.arange(size), padded.size - 1)]
    if not size:
        return (np.zeros(first.size),) * 4
    share = more / max(tied.size, 1)
    total = sure.sum() + share * tied.sum()
    squares = (sure**2).sum() + share * (tied**2).sum()
    pairs = sure.sum() ** 2 - (sure**2).sum() + 2 * sure.sum() * share * tied.sum()
    if more > 1:
        pair_share = share * (more - 1) / (tied.size - 1)
        pairs += pair_share * (tied.sum() ** 2 - (tied**2).sum())
    weight, weight_square = window.sum(axis=1), (window**2).sum(axis=1)
    mean = total / size * weight
    square = squares / size * weight_square
    if size > 1:
        square = square + pairs / (size * (size - 1)) * (weight**2 - weight_square)
    ranked = np.sort(tied)
    worst = np.sort(np.concatenate([sure, ranked[:more]]))
    best = np.sort(np.concatenate([sure, ranked[ranked.size - more :]]))[::-1]
    return mean, square, window @ worst, window @ best


def _frame(
    run: Run, depth: int | None, values: Floats, spreads: Floats, items: Integers
) -> pl.DataFrame:
    """Return scores in their contract, and their depth as column ``stage``."""
    prepared = run.prepared
    lists = prepared.names.with_columns(
        items=pl.Series(items), n_relevant=pl.Series(prepared.relevant).replace(-1, None)
    )
    columns = run.columns.join(pl.DataFrame({"policy": POLICIES}), how="cross")
    spread = np.full(values.shape, np.nan)
    spread[:, :, POLICIES.index("expected")] = spreads
    frame = lists.join(columns, how="cross", maintain_order="left_right").with_columns(
        value=pl.Series(values.ravel()),
        std=pl.Series(spread.ravel(), nan_to_null=True),
        model=pl.format("{}/{}", "model", pl.lit(depth or "all")),
        truncated=pl.lit(False),
        pooled=pl.lit(False),
    )
    return in_contract(frame, SCORES).with_columns(stage=pl.lit(depth, pl.Int64))
