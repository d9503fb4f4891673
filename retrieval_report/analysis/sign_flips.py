"""Permutation test of paired differences, whose signs are random under the null hypothesis."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from retrieval_report.analysis.grid import Bools, Floats, Indices
from retrieval_report.analysis.paired import DIGITS, largest

EXACT = 13  # with up to this many non-zero differences, all sign patterns are tried (2^13)
CHUNK = 512  # sign patterns drawn at a time; fixed, or else the draws would depend on the number of models
BLOCK = 1 << 22  # numbers held in memory at a time


def exact_sign_flips(difference: Floats, unit: Floats | None = None) -> Floats:
    """Return the two-sided p of the sign-flip test over all patterns; NaN for over 13 non-zero differences.

    It is the share of patterns whose mean difference is at least as far from 0 as the observed one. Zeros have no sign,
    so only non-zero differences count. ``unit`` is what the differences of each row were rounded to 12 digits of (by
    default 1), so that sums that are equal without rounding count as equal.

    >>> exact_sign_flips(np.array([[0.5, 0.25, 0.0, 0.5], [0.0, 0.0, np.nan, 0.0]])).tolist()
    [0.25, 1.0]
    """
    filled = np.nan_to_num(difference)
    count = np.count_nonzero(filled, axis=1)
    p = np.full(count.size, np.nan)
    p[(count == 0) & ~np.isnan(difference).all(axis=1)] = 1.0
    for size in np.unique(count[(count > 0) & (count <= EXACT)]):
        rows = np.flatnonzero(count == size)
        kept = filled[rows][filled[rows] != 0].reshape(-1, size)
        # The first sign is fixed, because a pattern and its opposite are equally far from 0.
        patterns = (np.arange(2 ** (size - 1))[:, None] >> np.arange(size)) & 1
        sums = np.abs(kept @ (1.0 - 2.0 * patterns).T)
        seen = np.abs(kept.sum(axis=1)) - 10.0**-DIGITS * size * (1.0 if unit is None else unit[rows])
        p[rows] = (sums >= seen[:, None]).mean(axis=1)
    return p


def sampled_sign_flips(
    values: Floats, wanted: Bools, first: Indices, second: Indices, resamples: int, seed: int
) -> Floats:
    """Return the two-sided p of the sign-flip test, (b + 1) / (B + 1) over B random patterns; NaN if not wanted.

    Every query has one sign per pattern, shared by all pairs. The flipped sum of a pair is then the difference of its
    models' flipped sums, so one matrix product serves all pairs.

    Parameters
    ----------
    values
        Scores (measures, models, queries), NaN if there is none.
    wanted
        Which tests are wanted (measures, pairs).
    first, second
        The models of each pair.
    resamples, seed
        B, and the seed of the patterns, which otherwise depend only on the number of queries.
    """
    p = np.full(wanted.shape, np.nan)
    for tasks in _batches(values, wanted, first, second):
        scores = np.concatenate([task.scores for task in tasks])
        ends = np.cumsum([0, *(len(task.scores) for task in tasks)])
        # Memory is reused, because allocating it would cost several times the arithmetic.
        room = np.empty((2, max(task.pairs.size for task in tasks), CHUNK))
        for signs in _signs(values.shape[2], resamples, seed):
            sums = scores @ signs
            for task, (start, end) in zip(tasks, pairwise(ends), strict=True):
                _count_beyond(task, sums[start:end], room[:, : task.pairs.size, : signs.shape[1]])
        for task in tasks:
            p[task.measure, task.pairs] = (task.beyond + 1) / (resamples + 1)
    return p


class _Task(NamedTuple):
    """Pairs by one measure that have the same queries in common."""

    measure: int
    pairs: Indices
    scores: Floats  # (models, queries), 0 if the pairs do not share the query
    first: Indices  # rows of the scores
    second: Indices
    seen: Floats  # |sum of the differences|, minus a margin for rounding
    beyond: NDArray[np.int64]  # patterns at least as far from 0


def _batches(values: Floats, wanted: Bools, first: Indices, second: Indices) -> Iterator[list[_Task]]:
    """Yield tasks whose scores fit in memory together; one matrix product per chunk of signs serves a batch."""
    batch: list[_Task] = []
    for index in range(len(values)):
        for task in _tasks(index, values[index], wanted[index], first, second):
            if batch and sum(other.scores.size for other in batch) + task.scores.size > BLOCK:
                yield batch
                batch = []
            batch.append(task)
    if batch:
        yield batch


def _tasks(index: int, values: Floats, wanted: Bools, first: Indices, second: Indices) -> Iterator[_Task]:
    """Return one task for each set of queries that pairs have in common, a single one if no score is missing."""
    patterns, pattern = np.unique(~np.isnan(values), axis=0, return_inverse=True)
    pattern = pattern.ravel()
    ends = np.sort(np.stack([pattern[first], pattern[second]]), axis=0)
    for one, other in np.unique(ends[:, wanted], axis=1).T:
        pairs = np.flatnonzero(wanted & (ends[0] == one) & (ends[1] == other))
        for part in np.array_split(pairs, -(-pairs.size * CHUNK // BLOCK)):
            models, rows = np.unique(np.stack([first[part], second[part]]), return_inverse=True)
            rows = rows.reshape(2, -1)
            scores = np.where(patterns[one] & patterns[other], values[models], 0.0)
            seen = np.abs((scores[rows[0]] - scores[rows[1]]).sum(axis=1))
            rounding = 10.0**-DIGITS * scores.shape[1] * largest(scores, rows[0], rows[1])
            yield _Task(index, part, scores, rows[0], rows[1], seen - rounding, np.zeros(part.size, np.int64))


def _signs(queries: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield random signs (queries, patterns), chunk by chunk, ``resamples`` patterns in all."""
    generator = np.random.default_rng(seed)
    for done in range(0, resamples, CHUNK):
        size = min(CHUNK, resamples - done)
        bits = np.unpackbits(np.frombuffer(generator.bytes((queries * size + 7) // 8), np.uint8))
        yield np.where(bits[: queries * size].reshape(size, queries).T, -1.0, 1.0)


def _count_beyond(task: _Task, sums: Floats, room: Floats) -> None:
    """Count for each pair the patterns whose flipped sum is at least as far from 0 as the observed one."""
    np.take(sums, task.first, axis=0, out=room[0], mode="clip")
    np.take(sums, task.second, axis=0, out=room[1], mode="clip")
    np.subtract(room[0], room[1], out=room[0])
    far = np.abs(room[0], out=room[0]) >= task.seen[:, None]
    np.add(task.beyond, np.count_nonzero(far, axis=1), out=task.beyond)
