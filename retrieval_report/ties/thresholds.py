"""Accept items up to a distance: what every threshold decides, which one to choose, and when to
give no answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Unpack

import numpy as np
import polars as pl
import polars.selectors as cs

from retrieval_report.contracts.arguments import Array, Named, check_number, check_whole
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ColumnError
from retrieval_report.contracts.options import ScoringOptions, options_with
from retrieval_report.contracts.registry import frame_of, in_contract, schema
from retrieval_report.engines.evaluate import evaluate
from retrieval_report.kernels.lists import Floats
from retrieval_report.ties.profile import TieTable
from retrieval_report.ties.threshold_curves import RATES, Curve, rate
from retrieval_report.ties.threshold_intervals import (
    ENDS,
    ROOM,
    area_interval,
    as_good,
    precision_influence,
    rate_influence,
    rate_interval,
    roc_influence,
)
from retrieval_report.writing.names import clean
from retrieval_report.writing.numbers import amount, number

METRICS = tuple(name for name in RATES if name != "fpr")  # of which large values are good
RISING = ("recall", "npv")  # a looser threshold raises them, npv as a rule
MOST_RESAMPLES = 100_000
MOST_PAIRS = 20_000_000


@dataclass(frozen=True)
class Thresholds:
    """The result of :func:`retrieval_report.thresholds`.

    Attributes
    ----------
    ties
        One row per ``model``, ``query`` and distance (or score): the ``size`` of the tie, its
        ``relevant`` items, and how many items lie ``before`` it.
    order
        "distance" or "score".
    k
        How many items of every query count; None: all.
    """

    ties: pl.DataFrame
    order: str
    k: int | None = None

    def __repr__(self) -> str:
        """Return the areas of every model in words, and where the rest is."""
        rows = [
            f"{clean(row['model'])}: ROC AUC {number(row['roc_auc'])}, average precision "
            f"{number(row['average_precision'])}, {amount(row['relevant_pairs'])} of "
            f"{amount(row['all_pairs'])} pairs relevant"
            for row in self.areas.iter_rows(named=True)
        ]
        rest = (
            f"More: .table (right and wrong at every {self.order}) and .areas; .calibrate(metric) "
            "and .abstain(risk) choose a threshold"
        )
        return "\n".join([f"Matches by {self.order}", *rows, rest])

    @cached_property
    def table(self) -> pl.DataFrame:
        """What is accepted at every threshold, one row per model and distinct distance."""
        parts = [self._frame([], "thresholds")]
        for model, curve in self._curves(self.k):
            counts = curve.outcomes()
            std = np.sqrt(curve.up_to(curve.variance)) / (counts["tp"] + counts["fp"])
            rates = {name: rate(name, counts) for name in RATES}
            columns = {"model": model, "threshold": curve.values, "tie_std": std, **counts, **rates}
            parts.append(in_contract(pl.DataFrame(columns), schema("thresholds")))
        return pl.concat(parts).with_columns(cs.float().exclude("threshold").fill_nan(None))

    @cached_property
    def areas(self) -> pl.DataFrame:
        """Areas under the curves of the table, one row per model."""
        rows, exact = [], {} if self.k else _exact_ap(self.ties, self.order)
        for model, curve in self._curves(self.k):
            counts = curve.outcomes()
            recall, fpr = (np.append(0.0, rate(name, counts)) for name in ("recall", "fpr"))
            tp, fp = counts["tp"][-1], counts["fp"][-1]
            roc_auc = np.trapezoid(recall, fpr)
            average_precision = np.sum(np.diff(recall) * rate("precision", counts))
            auc_low, auc_high = area_interval(roc_auc, roc_influence(curve, roc_auc))
            ap_low, ap_high = area_interval(
                average_precision, precision_influence(curve, average_precision)
            )
            rows.append(
                {
                    "model": model,
                    "relevant_pairs": tp,
                    "all_pairs": round(tp + fp),
                    "roc_auc": roc_auc,
                    "roc_auc_low": auc_low,
                    "roc_auc_high": auc_high,
                    "average_precision": average_precision,
                    "average_precision_low": ap_low,
                    "average_precision_high": ap_high,
                    **exact.get(model, {}),
                }
            )
        return self._frame(rows, "threshold_areas")

    def calibrate(
        self,
        metric: str = "f1",
        at_least: float | None = None,
        *,
        resamples: int = 1000,
        seed: int = 0,
    ) -> pl.DataFrame:
        """Choose one threshold for every model.

        Parameters
        ----------
        metric
            One of {"precision", "recall", "f1", "npv", "accuracy"}.
        at_least
            None takes the threshold at which the metric is highest. A number takes the loosest
            threshold at which the metric reaches it, which has the largest recall; for "recall" and
            "npv", which looser thresholds reach more easily, the strictest.
        resamples, seed
            How often the queries are drawn again for the intervals.

        Returns
        -------
        polars.DataFrame
            One row per ``model``: ``metric``, ``at_least``; ``threshold`` (null: none reaches the
            number, or no pair is relevant); ``strictest`` and ``loosest``, the 95% interval of this
            choice (null: nothing is accepted, or no threshold); ``value`` of the metric, with ``ci_low`` and
            ``ci_high``, its 95% interval at this very threshold; ``precision``, ``recall`` and
            ``f1`` there; ``queries``.

        Raises
        ------
        RetrievalReportError
            A ValueError, for arguments.

        Notes
        -----
        Of equally good thresholds the loosest is taken. Pairs of one query depend on each other, so
        queries are drawn again, not pairs. The value at a threshold flatters those who chose it on
        the same queries: confirm it on others. Its interval allows for that: from the value, or
        from the value less the mean by which the choice flattered in the resamples (Efron,
        *Estimating the Error Rate of a Prediction Rule*, Journal of the American Statistical
        Association 78, 1983), it reaches as far as Student's t says, by the standard error of a
        ratio of sums over queries. The interval of the threshold is that of the choices in 95% of
        the resamples; for the highest value, it also holds all thresholds that do not differ from
        the chosen one by such an interval. With 50 queries or more, both hold the true value in at
        least 90% of cases (``benchmarks/calibration_thresholds.py``).

        Examples
        --------
        >>> rankings = {"query": ["q"] * 3, "item": list("abc"), "distance": [1, 2, 3]}
        >>> found = thresholds(rankings, judgements={"q": {"a": 1, "c": 1}})
        >>> found.calibrate("precision", at_least=0.6).select("threshold", "value", "recall").row(0)
        (3, 0.6666666666666666, 1.0)
        """
        check_goal("metric", metric, at_least)
        check_whole("resamples", resamples, 1, MOST_RESAMPLES)
        check_whole("seed", seed, 0)
        rows = []
        for model, curve in self._curves(self.k):
            counts = curve.outcomes()
            index, interval = -1, {}
            if counts["tp"][-1] > 0:  # else all thresholds are as bad
                index = _choose_threshold(rate(metric, counts), metric, at_least)
                interval = _interval(curve, metric, at_least, index, resamples, seed)
            column_names = {
                "value": metric,
                "precision": "precision",
                "recall": "recall",
                "f1": "f1",
            }
            rows.append(
                {
                    "model": model,
                    "metric": metric,
                    "at_least": at_least,
                    "threshold": _at(curve.values, index),
                    "queries": curve.queries,
                    **{
                        name: _at(rate(rated, counts), index)
                        for name, rated in column_names.items()
                    },
                    **interval,
                }
            )
        return self._frame(rows, "calibration")

    def abstain(self, risk: float = 0.1) -> pl.DataFrame:
        """Find how near the nearest item has to be to be given as an answer.

        The answer to a query is its nearest item, one of them at random if several tie. It is given
        if it is as near as the threshold; else the query has no answer.

        Parameters
        ----------
        risk
            The share of all queries, between 0 and 1, that may be answered wrongly.

        Returns
        -------
        polars.DataFrame
            One row per ``model``: ``risk``; ``threshold`` (null: there are too few queries, or too
            many wrong answers at any); ``bound``, the risk that is guaranteed there; the shares of
            the ``queries`` that are ``answered``, and answered ``wrong``, in the mean over tie
            orders.

        Raises
        ------
        RetrievalReportError
            A ValueError, for arguments.

        Notes
        -----
        Conformal risk control (Angelopoulos, Bates, Fisch, Lei and Schuster 2022, theorem 1). The
        loss of a query is the chance that it is answered wrongly: at most 1, and no smaller at a
        looser threshold. So the loosest threshold with (n · wrong + 1) / (n + 1) ≤ ``risk``, of n
        queries, answers a new query of their kind wrongly with probability at most ``risk``,
        whatever the model and the distances; in the mean over all choices of the n. It needs n ≥ 1
        / risk − 1, and queries without a relevant item among them, if there will be such. Of the
        answers that are given here, ``wrong`` / ``answered`` are wrong.

        Examples
        --------
        >>> rankings = {
        ...     "query": list("pqrs"),
        ...     "item": list("abcd"),
        ...     "distance": [1, 1, 2, 3],
        ...     "relevance": [1, 1, 1, 0],
        ... }
        >>> thresholds(rankings).abstain(risk=0.2).select("threshold", "bound", "answered").row(0)
        (2, 0.2, 0.75)
        """
        _check_share("risk", risk)
        rows = []
        for model, curve in self._curves(1):
            counts, queries = curve.outcomes(), curve.queries
            wrong, answered = counts["fp"], counts["tp"] + counts["fp"]
            bound = (wrong + 1) / (queries + 1)
            index = int(np.sum(bound <= risk + ROOM)) - 1
            columns = {"bound": bound, "answered": answered / queries, "wrong": wrong / queries}
            rows.append(
                {
                    "model": model,
                    "risk": float(risk),
                    "queries": queries,
                    "threshold": _at(curve.values, index),
                    **{name: _at(values, index) for name, values in columns.items()},
                }
            )
        return self._frame(rows, "abstention")

    def _curves(self, k: int | None) -> Iterator[tuple[str, Curve]]:
        """Yield the models, and what each accepts."""
        for model, ties in self.ties.group_by("model", maintain_order=True):
            yield str(model[0]), Curve.of(ties, self.order, k)

    def _frame(self, rows: list[Named], name: str) -> pl.DataFrame:
        """Return rows as a frame; NaN, the rate of nothing, is null."""
        threshold = self.ties.schema[self.order]
        return frame_of(rows, {name: dtype or threshold for name, dtype in schema(name).items()})


def thresholds(
    rankings: object,
    *,
    k: int | None = None,
    judgements: object = None,
    queries: object = None,
    **options: Unpack[ScoringOptions],
) -> Thresholds:
    """Show what is right and what is wrong if all items up to a distance are accepted.

    A pair is a query and an item of its list. At a threshold, all pairs at that distance or nearer
    (or of that score or higher) are accepted: the relevant ones rightly (TP), the others wrongly
    (FP). Of those that are not accepted, TN are not relevant and FN are. Pairs at one distance are
    accepted together, so tie order plays no part; only ``k`` can divide a tie.

    Parameters
    ----------
    rankings, judgements, queries
        As for :func:`evaluate`; or a counts frame.
    k
        Count only the k nearest items of every query; by default all. If several items tie for the
        last of k ranks, all choices are equally probable, and counts are their exact means.
    **options
        Options of :func:`evaluate` that decide which rows count and which are relevant.

    Returns
    -------
    Thresholds
        A record of two frames, computed when asked for. ``table`` has a row for every model and
        every distance that occurs, nearest first:

        - ``model``, ``threshold``; ``tp``, ``fp``, ``tn``, ``fn``, over the pairs of all queries;
        - ``precision`` TP / (TP + FP), ``recall`` TP / (TP + FN), ``f1`` 2 TP / (2 TP + FP + FN),
          ``fpr`` FP / (FP + TN), ``npv`` TN / (TN + FN), ``accuracy`` (TP + TN) / all; null where
          the divisor is 0;
        - ``tie_std``: the standard deviation of the precision over tie orders, 0 without ``k``.

        ``areas`` has a row for every model:

        - ``roc_auc``: the area below recall along FPR: the chance that a relevant pair is nearer
          than one that is not relevant, equal distances counting one half; ``roc_auc_low``,
          ``roc_auc_high``: its 95% interval under sampling of queries, null below two;
        - ``average_precision``: the sum of precision times gain of recall over the thresholds, as
          scikit-learn defines it; ``average_precision_low``, ``average_precision_high``: its
          interval;
        - ``ap``, ``tie_std``: the average precision of the pairs in one list, mean and standard
          deviation over all orders of those that tie (null with ``k``, and for more than 20 million
          pairs);
        - ``relevant_pairs`` and ``all_pairs``.

        Its methods choose: :meth:`~retrieval_report.stats.Thresholds.calibrate` a threshold for a
        metric, :meth:`~retrieval_report.stats.Thresholds.abstain` one up to which an answer is
        given.

    Raises
    ------
    RetrievalReportError
        As for :func:`evaluate`.

    Notes
    -----
    The pairs are those of the lists: a relevant item that was not retrieved is in none, and recall
    is a share of the relevant items retrieved. With ``k``, precision and accuracy are exact means;
    the other rates are those of the mean counts. Intervals of areas take the queries as drawn, with
    all their pairs: Student's t, on the scale of log odds, of the sums over queries by which each
    moves the area (Obuchowski, *Nonparametric Analysis of Clustered ROC Curve Data*, Biometrics 53,
    1997). With ``k=1`` these are the counts of TF Similarity's ``evaluate_classification`` and
    ``calibrate`` with ``match_nearest``.

    Examples
    --------
    >>> rankings = {"query": ["q"] * 4, "item": list("abcd"), "distance": [1, 2, 2, 9]}
    >>> found = thresholds(rankings, judgements={"q": {"a": 1, "b": 1}})
    >>> found.table.select("threshold", "tp", "fp", "tn", "fn").rows()
    [(1, 1.0, 0.0, 2.0, 1.0), (2, 2.0, 1.0, 1.0, 0.0), (9, 2.0, 2.0, 0.0, 0.0)]
    >>> found.table["precision"].round(4).to_list()
    [1.0, 0.6667, 0.5]
    >>> found.areas.select(pl.col("roc_auc", "average_precision", "ap").round(4)).row(0)
    (0.875, 0.8333, 0.9167)
    """
    if k is not None:
        check_whole("k", k, 1)
    table = TieTable(rankings, judgements, queries, options_with(options, policies="expected"))
    if not table.judged.whole.graded:
        raise ColumnError("rankings: no column 'relevance', and no judgements were given")
    return Thresholds(table.named(table.ties), table.order, k)


def _at(values: Array | pl.Series, index: int) -> object:
    """Return one of some values; none of number -1, the threshold that accepts nothing."""
    return values[index] if index >= 0 else None


def check_goal(name: str, metric: str, at_least: float | None) -> None:
    """Refuse a metric that chooses no threshold, given as ``name``, or a number it cannot reach."""
    check_choice(name, metric, METRICS)
    _check_share("at_least", 1 if at_least is None else at_least)


def _check_share(name: str, value: object) -> None:
    check_number(name, value, lambda share: 0 < share <= 1, "number above 0 and up to 1")


def _choose_threshold(values: Floats, metric: str, at_least: float | None) -> int:
    """Return the number of the threshold to choose, or -1 if none will do."""
    most = np.max(values, initial=0.0, where=~np.isnan(values))
    good = np.flatnonzero(values >= (most if at_least is None else at_least) - ROOM)
    if not good.size:
        return -1
    return int(good[0] if at_least is not None and metric in RISING else good[-1])


def _interval(
    curve: Curve, metric: str, at_least: float | None, index: int, resamples: int, seed: int
) -> Named:
    """Return the ends of the choices, and of the metric at one
    threshold, over drawn queries; see `Thresholds.calibrate`.
    """
    generator, queries = np.random.default_rng(seed), curve.queries
    values = rate(metric, curve.outcomes())
    choices, flattered = [], []
    for _ in range(resamples):
        sample = generator.integers(queries, size=queries)
        rates = rate(metric, curve.outcomes(np.bincount(sample, minlength=queries)))
        choice = _choose_threshold(rates, metric, at_least)
        choices.append(choice)
        if choice >= 0 and not np.isnan(values[choice]):
            flattered.append(rates[choice] - values[choice])
    first, last = (int(end) for end in np.quantile(choices, ENDS, method="inverted_cdf"))
    low = high = None
    if index < 0:  # where no threshold will do, that of some drawn queries is none to name
        first = last = -1
    elif queries > 1:
        influence, parts = rate_influence(curve, metric)
        low, high = rate_interval(
            values[index], influence[:, index], int(parts[index]), np.array(flattered)
        )
        if at_least is None:
            alike = np.flatnonzero(as_good(values, influence, index))
            first, last = min(first, int(alike[0])), max(last, int(alike[-1]))
    strictest, loosest = (_at(curve.values, end) for end in (first, last))
    return {"strictest": strictest, "loosest": loosest, "ci_low": low, "ci_high": high}


def _exact_ap(ties: pl.DataFrame, order: str) -> Named:
    """Return the average precision of all pairs of a model in one list, and its deviation, by
    model; not where none is relevant, or the list is so long that it would take gigabytes.
    """
    size, relevant = (pl.sum(name).over("model") for name in ("size", "relevant"))
    ties = ties.filter(relevant > 0, size <= MOST_PAIRS)
    irrelevant = pl.col("size") - pl.col("relevant")
    counts = pl.concat(
        ties.select("model", order, query=pl.lit("all"), relevance=grade, count=count)
        for grade, count in ((1, pl.col("relevant")), (0, irrelevant))
    ).filter(pl.col("count") > 0)
    ap_rows = evaluate(
        counts, metrics="ap", policies="expected", truncated="no", relevant_items="own"
    ).select("model", ap="value", tie_std="std")
    return ap_rows.rows_by_key("model", named=True, unique=True)
