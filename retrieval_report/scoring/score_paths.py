"""The score of a list under random tie order as a walk, for metrics that are sums over ranks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from retrieval_report.kernels.lists import Floats, Integers
from retrieval_report.kernels.walks import (
    CASCADE,
    PAIRS,
    WEIGHTED,
    Steps,
    Terms,
    list_steps,
    walk_moments,
)
from retrieval_report.metrics.record import Metric
from retrieval_report.metrics.terms import Pairs, Stops, Sum, Term
from retrieval_report.scoring.run import Run

MOST_STEPS = 20_000  # steps of one list; each term of a Fourier series takes one pass over them


@dataclass(frozen=True)
class Walk:
    """Steps whose amounts add up to the score, and what follows from them.

    The steps of many lists are too many to keep, so they are written anew on each use.
    """

    write: Callable[[], Steps]
    size: int  # number of steps
    last: int  # last node
    mean: float
    variance: float
    least: float
    most: float

    @property
    def steps(self) -> Steps:
        """Return the steps, which those of another list of the same metric may later overwrite."""
        return self.write()


def walk_of_values(value: Floats, chance: Floats) -> Walk:
    """Return a walk of one step, for a list whose scores are known one by one.

    >>> walk = walk_of_values(np.array([0.0, 1.0]), np.array([0.5, 0.5]))
    >>> walk.mean, walk.variance, walk.least, walk.most
    (0.5, 0.25, 0.0, 1.0)
    """
    nodes = np.zeros(value.size, np.int64)
    steps = Steps(nodes, nodes + 1, np.array(chance), np.array(value))
    return Walk(lambda: steps, value.size, 1, *walk_moments(steps, 1))


class Walks:
    """Maker of the walks of one metric at one cutoff."""

    def __init__(self, run: Run, metric: Metric, cutoff: int | None) -> None:
        scorer = run.deep_scorer if metric.own_depth else run.scorer
        column = 0 if metric.own_depth else scorer.column(cutoff)
        self.lists = run.prepared.ties
        self.depth: Integers = scorer.depths[:, column]
        divisor = np.broadcast_to(metric.divisor(scorer), scorer.depths.shape)[:, column]
        # Steps have the term's own unit: only an ideal in the divisor is in another one.
        self.scale = np.divide(
            1.0,
            divisor * scorer.unit(metric.term) / scorer.unit_of(metric),
            out=np.zeros(divisor.size),
            where=divisor != 0,
        )
        self.terms = _terms(run, metric, int(self.depth.max(initial=0)))
        nodes, numbers = np.empty((2, MOST_STEPS), np.int64), np.empty((2, MOST_STEPS))
        self._room = Steps(nodes[0], nodes[1], numbers[0], numbers[1])

    def of(self, number: int) -> Walk | None:
        """Return the walk of one list; None if it would be too long, or if the metric is not a sum
        over ranks.
        """
        if self.terms is None:
            return None
        steps, last = self._write(number)
        if not steps.source.size:
            return None
        return Walk(
            lambda: self._write(number)[0], steps.source.size, last, *walk_moments(steps, last)
        )

    def _write(self, number: int) -> tuple[Steps, int]:
        assert self.terms is not None
        depth, scale = int(self.depth[number]), float(self.scale[number])
        count, last = list_steps(number, self.lists, depth, self.terms, scale, self._room)
        source, target, chance, amount = self._room
        own = slice(0, max(count, 0))
        return Steps(source[own], target[own], chance[own], amount[own]), int(last)


def _terms(run: Run, metric: Metric, longest: int) -> Terms | None:
    """Return what an item adds at each rank."""
    term, grades, relevant = metric.term, run.prepared.grades, run.prepared.relevant_grade
    if type(term) not in KINDS:
        return None
    kind, weight = KINDS[type(term)]
    return Terms(kind, term.gains(grades, relevant), relevant, weight(term, longest), term.ratio)


def _weights(term: Sum, longest: int) -> Floats:
    return np.array(term.weights.table(longest).weight)


def _reciprocals(term: Term, longest: int) -> Floats:
    return 1.0 / np.maximum(np.arange(longest + 1, dtype=np.float64), 1.0)


KINDS: dict[type[Term], tuple[int, Callable[..., Floats]]] = {
    Sum: (WEIGHTED, _weights),
    Pairs: (PAIRS, _reciprocals),
    Stops: (CASCADE, _reciprocals),
}
