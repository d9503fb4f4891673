"""Scores batch by batch, as a training loop has them; together they are those of one evaluation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import starmap
from typing import NamedTuple, Self, TypedDict, Unpack

import numpy as np
import polars as pl

from retrieval_report.comparison.flips import pair_verdicts
from retrieval_report.comparison.log_values import log_values
from retrieval_report.comparison.pairs import compare
from retrieval_report.contracts.arguments import repeated
from retrieval_report.contracts.errors import DataError, ParameterError
from retrieval_report.contracts.frames import SCORES
from retrieval_report.contracts.options import ELSEWHERE, NO, options_with
from retrieval_report.contracts.wording import Without, speaking_to, with_number
from retrieval_report.engines.summary import summarise
from retrieval_report.metrics.parsing import Cutoffs, Metrics, Requests, measure_text, parse_metrics
from retrieval_report.metrics.weights import list_weights, weigh
from retrieval_report.reading.search_results import as_array
from retrieval_report.scoring.batches import MODEL, Batch, checked_weights, flat_batch, judged_batch
from retrieval_report.scoring.judged import judge
from retrieval_report.scoring.run import score_judged
from retrieval_report.scoring.scorer import ListScores
from retrieval_report.writing.names import listed

POLICIES = ("expected", "best", "worst")
OF_MEANS = {"value": "", "tie_std": "/tie_std", "lowest": "/lowest", "highest": "/highest"}
OF_CHANGES = {"difference": "/difference", "p_tie": "/p_tie"}


class MeterOptions(TypedDict, total=False):
    """The options of ``Meter``."""

    relevant_from: float | None
    no_relevant: str
    distance_threshold: float | None
    decimals: int | None
    threads: int | None


class _Part(NamedTuple):
    """A batch."""

    scores: ListScores
    ids: pl.Series | None  # of its queries; None: they are numbered
    sums: pl.DataFrame | None  # what the weights of its lists are made of, if it has any


OF_BATCHES = Without("null_distance", "unjudged")


class Meter:
    """Exact scores of a model, batch by batch.

    Whatever the batches are, the result is that of one call of :func:`evaluate` with
    ``truncated="no"``, to the last bit. A meter keeps scores but not rows, so its memory grows only
    with the number of queries. A meter can be pickled.

    Parameters
    ----------
    measures, cutoffs, metrics
        As in :func:`evaluate`.
    **options
        ``relevant_from``, ``no_relevant``, ``distance_threshold``, ``decimals`` and ``threads`` of
        :func:`evaluate`.

    Examples
    --------
    >>> meter = Meter("ndcg@2, ap")
    >>> meter.update(scores=[[3, 2, 2], [5, 5, 1]], relevance=[[0, 1, 0], [1, 0, 0]])
    >>> meter.update(scores=[[1, 2, 3]], relevance=[[1, 0, 1]], masks=[[True, True, False]])
    >>> numbers = pl.col("value", "tie_std", "lowest", "highest").round(4)
    >>> meter.compute().select("metric", "cutoff", numbers, "queries").rows()
    [('ndcg', 2, 0.5873, 0.1218, 0.4206, 0.754, 3), ('ap', None, 0.5556, 0.0878, 0.4444, 0.6667, 3)]
    """

    def __init__(
        self,
        measures: Metrics = None,
        cutoffs: Cutoffs = None,
        *,
        metrics: Metrics = None,
        **options: Unpack[MeterOptions],
    ) -> None:
        for name in options:
            if name not in MeterOptions.__annotations__:
                option_names = ", ".join(MeterOptions.__annotations__)
                hint = ELSEWHERE.get(name, "")
                raise TypeError(
                    f"unexpected keyword argument {name!r}{hint}; a Meter takes {option_names}"
                )
        self._requests = parse_metrics(measures, cutoffs, metrics)
        self._options = options_with(options, policies=POLICIES, truncated=NO)
        self.reset()

    def __repr__(self) -> str:
        """Return in words what is measured, and on how much."""
        measures = listed(
            [measure_text(metric, depth) for metric, depths in self._requests for depth in depths]
        )
        queries = with_number(sum(part.scores.lists.height for part in self._batches), "query")
        return f"Meter of {measures}: {queries} so far; .compute() and .log() return the means"

    def reset(self) -> None:
        """Forget all batches."""
        self._batches: list[_Part] = []
        self._seen: set[object] = set()  # ids of queries

    def update(
        self,
        scores: object = None,
        relevance: object = None,
        *,
        distances: object = None,
        rankings: object = None,
        masks: object = None,
        sample_weight: object = None,
        query_ids: object = None,
    ) -> None:
        """Add the lists of a batch.

        Parameters
        ----------
        scores, distances
            One of them: a matrix (queries × items), or rows of different lengths. Arrays, lists and
            tensors of any library that NumPy can convert.
        relevance
            The grades of the same items, in the same shape; all others of a query have none. Items
            with a grade below 0 are left out, and KerasRS's ``{"labels": …, "mask": …}`` is
            accepted.
        rankings
            Instead of these: a frame with ``query``, ``item``, ``distance`` or ``score``, and
            ``relevance``, as for :func:`evaluate`; of one model.
        masks
            False where there is no item, such as padding.
        sample_weight
            Weights by which :meth:`compute` averages; 1 in batches without. One for all queries,
            one per query, or one per item, in the shape of the scores: these give their lists the
            weights of ``rr.lists.query_weights``, and in AP, DCG and NDCG each item's term is
            multiplied by its weight, as in ``rr.lists.weigh_gains`` (the rule of KerasRS, where an
            item of weight 0 is masked). Where relevant items of a list differ in weight, AP has no
            ``lowest`` and ``highest``.
        query_ids
            Names of the queries (text or whole numbers), each once; by default they are numbered.

        Raises
        ------
        RetrievalReportError
            A ValueError; for example for a query that another batch had, or for WAP where relevant
            items of a list differ in weight, which KerasRS does not define. The batch is then left
            out.
        """
        if sum(part is not None for part in (scores, distances, rankings)) != 1:
            raise ParameterError("update: takes one of scores=, distances= and rankings=")
        batch = None
        if rankings is not None:
            if any(part is not None for part in (relevance, masks, query_ids)):
                raise ParameterError("rankings: a frame has relevance, mask and query as columns")
            judged = judge(rankings, None, None, self._options)
            if len(judged.whole.models) > 1:
                raise ParameterError("rankings: a meter scores one model, and they hold several")
        elif relevance is None:
            raise ParameterError("relevance: none given for the scores or distances")
        else:
            order, values = ("score", scores) if scores is not None else ("distance", distances)
            self._options.check_order(order)
            with speaking_to(OF_BATCHES):
                batch = flat_batch(order, values, relevance, masks, sample_weight)
                judged = judged_batch(batch, self._options, self._requests)
        part = score_judged(judged, self._requests, self._options)
        ids = None
        if rankings is not None:
            ids = part.lists["query"]
            ids = ids.cast(pl.Int64) if ids.dtype.is_integer() else ids
        elif query_ids is not None:
            ids = _ids(query_ids, part.lists.height)
            part = replace(part, lists=part.lists.with_columns(ids))
        sums = None if sample_weight is None else self._sums(part, batch, sample_weight)
        self._keep([_Part(part, ids, sums)])

    def compute(self, confidence: float = 0.95) -> pl.DataFrame:
        """Return the exact means over all queries so far, one row per measure.

        The columns are those of :func:`summarise`; among them ``value``, ``tie_std`` (its standard
        deviation under random tie order), ``lowest`` and ``highest`` (over all tie orders),
        ``query_se`` and ``queries``. No rows before the first batch.
        """
        queries, average = None, "micro"
        if any(part.sums is not None for part in self._batches):
            sums = pl.concat(starmap(self._named_sums, self._named()))
            queries = list_weights(sums.sort("metric", "query"))
            average = "weighted"
        means = summarise(self.scores, queries=queries, average=average, confidence=confidence)
        return means.filter(policy="expected")

    def log(self, previous: Meter | pl.DataFrame | None = None) -> dict[str, float]:
        """Return the means so far as an experiment tracker logs them: for
        every measure, such as ``ndcg@10``, the exact mean and, beside it,
        ``ndcg@10/tie_std``, ``ndcg@10/lowest`` and ``ndcg@10/highest``.

        With the meter of an earlier epoch, or its ``scores``, also ``ndcg@10/difference`` and
        ``ndcg@10/p_tie``, the chance that tie order reverses it, as from :meth:`changed`. Numbers
        that are not known are left out.

        >>> meter = Meter("rr@2")
        >>> meter.update(scores=[[2, 2]], relevance=[[1, 0]])
        >>> meter.log()
        {'rr@2': 0.75, 'rr@2/tie_std': 0.25, 'rr@2/lowest': 0.5, 'rr@2/highest': 1.0}
        """
        logged = log_values(self.compute(), OF_MEANS, {MODEL: ""})
        if previous is not None:
            rows = self.changed(previous).with_columns(model=pl.lit(MODEL))
            logged |= log_values(rows, OF_CHANGES, {MODEL: ""})
        return logged

    @property
    def scores(self) -> pl.DataFrame:
        """The scores of all queries so far, as from :func:`evaluate` under the policies expected,
        best and worst.
        """
        if not self._batches:
            return pl.DataFrame(schema=SCORES)
        return ListScores.of(
            [
                replace(part.scores, lists=part.scores.lists.with_columns(ids, model=pl.lit(MODEL)))
                for part, ids in self._named()
            ]
        ).frame()

    def merge(self, other: Meter) -> Self:
        """Add what another meter of the same measures and options holds, such as that of another
        process, and return this meter; numbered queries of the other are numbered on.
        """
        if not isinstance(other, Meter):
            raise ParameterError(f"merge: a {type(other).__name__} is not a Meter")
        if str(other._requests) != str(self._requests) or other._options != self._options:
            raise ParameterError("merge: the other meter has other measures or options")
        self._keep(other._batches)
        return self

    def changed(self, previous: Meter | pl.DataFrame) -> pl.DataFrame:
        """Compare this meter with that of an earlier epoch, or with its ``scores``: query by query,
        numbered ones by their number.

        Returns the columns of ``rr.stats.pair_verdicts``, one row per measure, with this meter as
        ``model_a`` ("after"): ``difference``, its ``tie_std``, ``p_tie`` (the chance that tie order
        reverses it), ``family_p`` (whether the choice of queries explains it) and ``verdict``, such
        as "safe", "not significant" or "depends on tie order"; that on a measure of one meter alone
        is "nothing to compare". Weights of queries are left out.

        Each call tests one step alone: in 30 epochs in which nothing changes, some step is "safe"
        with a probability of about 80 %. Compare the last epoch with the first, or correct for the
        number of steps, as :func:`history <retrieval_report.stats.history>` does.

        >>> earlier, later = Meter("rr"), Meter("rr")
        >>> earlier.update(scores=[[2, 2]] * 9, relevance=[[1, 0]] * 9)
        >>> later.update(scores=[[3, 2]] * 9, relevance=[[1, 0]] * 9)
        >>> later.changed(earlier).select("difference", "p_tie_high", "family_p", "verdict").rows()
        [(0.25, 0.0, 0.00390625, 'safe')]
        """
        before = previous.scores if isinstance(previous, Meter) else previous
        frames = (self.scores, "after"), (before, "before")
        parts = [frame.with_columns(model=pl.lit(name)) for frame, name in frames]
        # of a meter without batches, queries have no type
        scores = pl.concat(parts, how="vertical_relaxed")
        return pair_verdicts(compare(scores))

    def _keep(self, parts: Sequence[_Part]) -> None:
        """Keep batches, whose queries have ids of one kind, each once."""
        if len({part.ids is None or part.ids.dtype for part in [*self._batches[-1:], *parts]}) > 1:
            raise ParameterError(
                "query_ids: given for some batches, and not for others, or text in some, and whole "
                "numbers in others"
            )
        ids = [name for part in parts if part.ids is not None for name in part.ids]
        again = repeated([*ids, *self._seen.intersection(ids)])
        if again:
            raise DataError(f"query_ids: query {again[0]!r} is given twice")
        self._batches += parts
        self._seen.update(ids)

    def _named(self) -> Iterator[tuple[_Part, pl.Series]]:
        """Yield all batches with the ids or numbers of their queries."""
        first = 0
        for part in self._batches:
            last = first + part.scores.lists.height
            yield part, pl.Series("query", range(first, last)) if part.ids is None else part.ids
            first = last

    def _sums(self, part: ListScores, batch: Batch | None, list_weights: object) -> pl.DataFrame:
        """Return what the weights of a batch's lists are made of, for every metric; weights of
        items also change its scores by DCG and NDCG.
        """
        weights = as_array(list_weights, "sample_weight")
        lists = part.lists.select("query", model=pl.lit(MODEL))
        metrics = pl.DataFrame({"metric": [str(metric) for metric, _ in self._requests]})
        if batch is None or batch.weight is None:
            if weights.ndim == 0:
                weights = np.full(lists.height, weights)
            if weights.size != lists.height:
                raise ParameterError(
                    f"sample_weight: shape {weights.shape} for {lists.height} lists; takes a "
                    "weight per query or, for matrices and rows, one per item"
                )
            weight_column = pl.Series(checked_weights(weights.reshape(-1)))
            lists = lists.with_columns(product=weight_column, gain=1.0, weight=weight_column)
            return metrics.join(lists, how="cross", maintain_order="left_right")
        frame = batch.named().with_columns(
            model=pl.lit(MODEL), query=lists["query"][batch.query], weight=batch.weight
        )
        sums = []
        for metric, cutoffs in self._requests:
            of_lists, weighed, gain = weigh(frame, lists, metric)
            sums.append(of_lists)
            if weighed is not metric:
                requests = [(weighed, cutoffs)]
                self._weigh(part, batch._replace(grade=gain.to_numpy()), str(metric), requests)
        return pl.concat(sums).select("metric", *lists.columns, "product", "gain", "weight")

    def _weigh(self, part: ListScores, batch: Batch, name: str, requests: Requests) -> None:
        """Put the scores of weighed gains in the place of those without weights."""
        policies = POLICIES if requests[0][0].term.has_extremes else POLICIES[:1]
        options = replace(self._options, relevant_from=None, policies=policies)
        weighed = score_judged(judged_batch(batch, options, requests), requests, options)
        columns = part.columns["metric"] == name
        scored = np.flatnonzero(columns & part.columns["policy"].is_in(policies))
        left_out = np.isnan(part.values[:, scored])
        part.values[:, scored] = np.where(left_out, np.nan, weighed.values)
        part.spreads[:, scored] = np.where(left_out, np.nan, weighed.spreads)
        rest = np.flatnonzero(columns & ~part.columns["policy"].is_in(policies))
        part.values[:, rest] = np.nan

    def _named_sums(self, part: _Part, ids: pl.Series) -> pl.DataFrame:
        """Return the sums of a batch's lists by query; in a batch without weights they are 1."""
        sums = part.sums
        if sums is None:
            sums = self._sums(part.scores, None, np.ones(len(ids)))
        return sums.with_columns(pl.concat([ids] * len(self._requests)))


def _ids(query_ids: object, queries: int) -> pl.Series:
    """Return the ids of the queries of a batch."""
    ids = as_array(query_ids, "query_ids")
    if ids.shape != (queries,) or ids.dtype.kind not in "iuUO":
        raise DataError(
            f"query_ids: {ids.dtype} of shape {ids.shape} for {queries} lists; they are texts or "
            "whole numbers, one per list"
        )
    return pl.Series("query", ids.tolist())
