"""Turn the score of the one true answer and those of its candidates into counts, as link prediction
and knowledge graphs have them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np
import polars as pl

from retrieval_report.codes.counts import query_names
from retrieval_report.codes.search import Inputs, by_model, scored_models
from retrieval_report.contracts.arguments import Array, check_flag
from retrieval_report.contracts.errors import DataError, ParameterError
from retrieval_report.contracts.forks import refuse_fork
from retrieval_report.contracts.options import NO
from retrieval_report.kernels.lists import Integers
from retrieval_report.reading.combine import Part, combine
from retrieval_report.reading.search_results import as_array

NEARER, AS_NEAR, FARTHER = range(3)
BLOCK = 1 << 22  # scores that are compared at a time
OGB_KEYS = ("y_pred_pos", "y_pred_neg")

# Candidates of every query: nearer than the true answer, as near, farther.


def from_scores(
    results: object,
    *,
    true_included: bool = False,
    mask: object = None,
    scores: bool | Collection[str] = True,
    query_ids: object = None,
) -> Inputs:
    """Turn the scores of true answers and of their candidates into the input of an evaluation, as
    PyKEEN, OGB and TGB have them.

    Of each query, only three numbers matter: how many candidates are nearer than the true answer,
    as near, and farther. So the result is small, and the candidates need not be in memory together.

    Parameters
    ----------
    results : dict or one result
        Model → its result, or a single result. A result is

        - ``(true, candidates)``: the score of the true answer of every query, of shape (n,) or
          (n, 1), and a matrix with a row per query, or rows of unequal length;
        - ``{"y_pred_pos": true, "y_pred_neg": candidates}``, the input of OGB's evaluators;
        - an iterator of such pairs, the queries of one batch after the other.

        Arrays may be NumPy arrays, tensors of torch, JAX or TensorFlow, or nested lists.
    true_included : bool
        Whether the candidates hold the true answer too, as in a matrix of all entities (PyKEEN's
        ``Ranks.from_scores``); otherwise they are the others alone (OGB, TGB).
    mask : matrix
        False for candidates that do not take part: the other true answers, in the filtered setting.
        NaN says the same. Not for iterators, whose batches hold NaN.
    scores : bool or collection of model names
        Whether larger values are nearer; or the models for which they are. False for distances.
    query_ids : list or array
        Text or whole numbers; by default the positions 0, 1, …

    Returns
    -------
    Inputs
        ``rankings`` are counts: ``model``, ``query``, ``distance`` (0: nearer than the true answer;
        1: as near; 2: farther), ``relevance`` (1: the true answer), ``count``, and ``truncated``,
        "no". ``rr`` and ``hit_rate`` of it are the exact mean reciprocal rank and Hits@k: means
        over all orders of the candidates that tie with the true one.

    Raises
    ------
    DataError, ParameterError
        Shapes do not match; a true score is NaN or masked; the two scores have floating-point types
        of different precision, in which equal scores would differ; ``true_included``, and no
        candidate of a query has the score of its true answer.

    Notes
    -----
    Of t candidates that tie with the true answer and b nearer ones, the rank is uniform on b +
    1, …, b + t + 1, so the expected reciprocal rank is :math:`(H_{b+t+1} - H_b)/(t + 1)`, where
    H are harmonic numbers. The realistic rank of PyKEEN, OGB and TGB is b + 1 + t/2, and they
    print the reciprocal of that, which is never larger: compare by
    ``systems.evaluate_like(counts, "pykeen", …)``.

    Examples
    --------
    The true answer ties with one of three candidates; in the second query all four are equal.

    >>> import numpy as np
    >>> inputs = from_scores(([0.5, 0.5], [[0.9, 0.5, 0.1], [0.5, 0.5, 0.5]]))
    >>> for row in inputs.rankings.rows():
    ...     print(row)
    ('model', 0, 0, 0, 1, 'no')
    ('model', 0, 1, 0, 1, 'no')
    ('model', 0, 1, 1, 1, 'no')
    ('model', 0, 2, 0, 1, 'no')
    ('model', 1, 1, 0, 3, 'no')
    ('model', 1, 1, 1, 1, 'no')
    >>> import retrieval_report as rr
    >>> rr.evaluate(inputs.rankings, measures="rr, hit_rate@1", policies="expected")["value"].round(
    ...     4
    ... )
    shape: (4,)
    Series: 'value' [f64]
    [
        0.4167
        0.0
        0.5208
        0.25
    ]
    """
    refuse_fork()
    check_flag("true_included", true_included)
    models = by_model(results, isinstance(results, Mapping) and {*results} != {*OGB_KEYS})
    nearer_is_larger = scored_models(scores, list(models))
    parts = []
    for model, result in models.items():
        what, sign = f"model {model!r}", 1 if model in nearer_is_larger else -1
        pairs = _pairs(result, mask, what)
        counts = np.concatenate(
            [_counts(true, others, sign, part) for part, true, others in pairs] or [_NONE]
        )
        counts[:, AS_NEAR] -= true_included
        _check_included(counts, what)
        parts.append(Part(what, _frame(counts, query_names(query_ids, len(counts)), model)))
    return Inputs(combine(parts), truncated=NO)


_NONE = np.empty((0, 3), np.int64)


def _pairs(result: object, mask: object, what: str) -> Iterator[tuple[str, Array, Array]]:
    """Yield the true scores and the candidates of every batch, masked ones as NaN, and its name."""
    if not isinstance(result, Iterator):
        true, candidates = _pair(result, what)
        if mask is not None:
            candidates = _masked(candidates, mask, what)
        yield what, true, candidates
        return
    if mask is not None:
        raise ParameterError("mask: not for an iterator; set the scores of a batch to NaN")
    for number, batch in enumerate(result):
        name = f"{what}, batch {number}"
        yield name, *_pair(batch, name)


def _pair(result: object, what: str) -> tuple[Array, Array]:
    """Return the true scores and the candidates of a result."""
    if isinstance(result, Mapping) and {*result} == {*OGB_KEYS}:
        result = tuple(result[name] for name in OGB_KEYS)
    if not isinstance(result, tuple) or len(result) != 2:
        raise DataError(
            f"{what}: expected a pair, (scores of the true answers, scores of the candidates), or "
            "an iterator of pairs"
        )
    true, candidates = (as_array(part, what) for part in result)
    true = true[:, 0] if true.ndim == 2 and true.shape[1] == 1 else true
    if true.ndim != 1 or true.dtype.kind not in "iuf":
        raise DataError(
            f"{what}: true scores of shape {true.shape} and type {true.dtype}; expected one number "
            "per query"
        )
    if candidates.ndim != 2 and candidates.dtype != object:
        raise DataError(f"{what}: candidates of shape {candidates.shape}; expected a row per query")
    if len(candidates) != len(true):
        raise DataError(
            f"{what}: {len(true)} true scores, but {len(candidates)} rows of candidates"
        )
    if true.dtype.kind == "f" and np.isnan(true).any():
        raise DataError(f"{what}: the true score of query {int(np.isnan(true).argmax())} is NaN")
    return true, candidates


def _masked(candidates: Array, mask: object, what: str) -> Array:
    """Return candidates of which those that do not take part are NaN."""
    unmasked = as_array(mask, "mask")
    if unmasked.shape != candidates.shape or candidates.dtype == object:
        raise DataError(
            f"mask: shape {unmasked.shape}, and {what} has candidates of shape {candidates.shape}"
        )
    floating = candidates.dtype.kind == "f"
    return np.where(
        unmasked.astype(bool), candidates if floating else candidates.astype(float), np.nan
    )


def _counts(true: Array, candidates: Array, sign: int, what: str) -> Integers:
    """Return how many candidates of every query are nearer than its answer, as near, and farther."""
    if candidates.dtype == object:  # rows of unequal length
        blocks = [as_array(row, what)[None] for row in candidates]
        kinds = {block.dtype for block in blocks if block.size}
    else:
        step = max(1, BLOCK // max(1, candidates.shape[1]))
        blocks = [candidates[at : at + step] for at in range(0, len(candidates), step)]
        kinds = {candidates.dtype}
    for kind in kinds:
        if kind.kind not in "iuf":
            raise DataError(f"{what}: candidates of type {kind}; expected numbers")
        if kind.kind == true.dtype.kind == "f" and kind != true.dtype:
            raise DataError(
                f"{what}: the true scores are {true.dtype} and the candidates {kind}, so that "
                "equal scores may differ by rounding; give both in the type they were computed in"
            )
    starts = np.cumsum([0, *map(len, blocks)])[1:-1]
    sides = map(_sides, np.split(true[:, None], starts), blocks)
    return np.concatenate([_NONE, *sides])[:, ::sign].copy()


def _sides(own: Array, candidates: Array) -> Integers:
    """Return how many scores of every row are larger than its own, equal, and smaller."""
    sides = candidates > own, candidates == own, candidates < own
    return np.stack([np.count_nonzero(side, axis=1) for side in sides], axis=1)


def _check_included(counts: Integers, what: str) -> None:
    """Refuse a query whose true answer is not among its candidates, as was said."""
    lacking = np.flatnonzero(counts[:, AS_NEAR] < 0)
    if lacking.size:
        raise DataError(
            f"{what}: true_included, but no candidate of query {lacking[0]} has the score of its "
            f"true answer ({lacking.size} such queries)"
        )


def _frame(counts: Integers, names: pl.Series, model: str) -> pl.DataFrame:
    """Return the counts as a counts frame, with the true answer."""
    sides = ((NEARER, 0), (AS_NEAR, 0), (AS_NEAR, 1), (FARTHER, 0))
    columns = [
        counts[:, side] if relevance == 0 else np.ones(len(counts)) for side, relevance in sides
    ]
    return pl.DataFrame(
        {
            "model": model,
            "query": names.gather(np.repeat(np.arange(len(counts)), len(sides))),
            "distance": np.tile([side for side, _ in sides], len(counts)),
            "relevance": np.tile([relevance for _, relevance in sides], len(counts)),
            "count": np.stack(columns, axis=1).ravel().astype(np.int64),
            "truncated": NO,
        }
    ).filter(pl.col("count") > 0)
