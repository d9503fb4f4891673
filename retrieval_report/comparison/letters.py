"""Show tiers of a ranking as compact letters: models that share a letter do not differ
significantly.
"""

from __future__ import annotations

import string

import numpy as np
import polars as pl

from retrieval_report.contracts.arguments import check_text
from retrieval_report.contracts.errors import ColumnError, DataError
from retrieval_report.contracts.registry import schema
from retrieval_report.engines.check_scores import SCORE, check_fraction, hold
from retrieval_report.engines.score_grid import best_first, measured
from retrieval_report.kernels.lists import Bools, Floats
from retrieval_report.reading.frames import to_polars

LETTERS = schema("letters")
PAIRS = schema(
    "comparison", "metric", "cutoff", "policy", "model_a", "model_b", "value_a", "value_b"
)
ALPHABET = string.ascii_lowercase + string.ascii_uppercase


def compact_letters(pairs: object, *, p: str = "family_p", alpha: float = 0.05) -> pl.DataFrame:
    """Give every model letters, so that two models share one exactly if their difference is not
    significant.

    Parameters
    ----------
    pairs
        The result of :func:`compare`, with all pairs of its models (no baseline).
    p
        The column of p-values.
    alpha
        Pairs with a smaller p differ. A null p never counts as a difference.

    Returns
    -------
    polars.DataFrame
        One row per ``metric``, ``cutoff``, ``policy`` and ``model``, best model first: its
        ``value`` and its ``letters``. The best model has an "a"; after "Z" follow "a2", "b2" and so
        on.

    Raises
    ------
    RetrievalReportError
        A frame lacks these columns, or a pair is missing.

    Notes
    -----
    Insert and absorb, after Piepho, *An Algorithm for a Letter-Based Representation of All-Pairwise
    Comparisons*, Journal of Computational and Graphical Statistics 13(2), 2004, without the sweep
    that takes single letters away
    again: a tier of neighbours stays in one piece.

    Examples
    --------
    The second model does not differ from either neighbour, but these differ from each other.

    >>> import polars as pl
    >>> pairs = pl.DataFrame(
    ...     {
    ...         "model_a": ["x", "y", "x"],
    ...         "model_b": ["y", "z", "z"],
    ...         "metric": ["ap"] * 3,
    ...         "cutoff": [10] * 3,
    ...         "policy": ["expected"] * 3,
    ...         "value_a": [0.6, 0.5, 0.6],
    ...         "value_b": [0.5, 0.4, 0.4],
    ...         "family_p": [0.4, 0.2, 0.01],
    ...     }
    ... )
    >>> compact_letters(pairs).select("model", "letters").rows()
    [('x', 'a'), ('y', 'ab'), ('z', 'b')]
    """
    alpha = check_fraction("alpha", alpha)
    frame = to_polars(pairs, "pairs")
    if check_text("p", p) not in frame.columns:
        raise ColumnError(f"pairs: no column {p!r}; p names the column of p-values")
    frame = hold(frame, {**PAIRS, p: pl.Float64}, "pairs", "compare")
    parts = [pl.DataFrame(schema=LETTERS)]
    for measure, rows in frame.group_by(SCORE, maintain_order=True):
        models, values, different = _matrix(rows, p, alpha)
        texts = letter_texts(letter_columns(different), len(models))
        parts.append(
            measured({"model": models, "value": values, "letters": texts}, measure, LETTERS)
        )
    return pl.concat(parts)


def _matrix(rows: pl.DataFrame, p: str, alpha: float) -> tuple[list[str], Floats, Bools]:
    """Return the models, best first, their means, and which of them differ."""
    sides = [rows.select(model=f"model_{side}", value=f"value_{side}") for side in "ab"]
    means = pl.concat(sides).group_by("model").agg(pl.col("value").mean()).sort("model")
    means = means[best_first(means["value"].cast(pl.Float64).fill_null(np.nan).to_numpy())]
    models = means["model"].to_list()
    ranks = dict(zip(models, range(len(models)), strict=True))
    first, second = (
        rows[f"model_{side}"].replace_strict(ranks, return_dtype=pl.Int64).to_numpy()
        for side in "ab"
    )
    given = np.eye(len(models), dtype=np.bool_)
    given[first, second] = given[second, first] = True
    if not given.all():
        one, other = (models[row] for row in np.argwhere(~given)[0])
        raise DataError(
            f"pairs: {one!r} and {other!r} are not compared; letters need all pairs of the models"
        )
    different = np.zeros_like(given)
    different[first, second] = different[second, first] = (
        (rows[p] < alpha).fill_null(False).to_numpy()
    )
    return models, means["value"].to_numpy(), different


def letter_columns(different: Bools) -> list[list[int]]:
    """Return the sets of models that share a letter, as rows of the matrix, those with the best
    member first.

    Parameters
    ----------
    different
        Which models differ (models, models), symmetric, best model first.

    Examples
    --------
    >>> apart = np.zeros((4, 4), bool)
    >>> apart[0, 2:] = apart[2:, 0] = apart[1, 3] = apart[3, 1] = True
    >>> letter_columns(apart)
    [[0, 1], [1, 2], [2, 3]]
    """
    columns = [(1 << len(different)) - 1]
    for row, apart in enumerate(different):
        columns = _without(columns, 1 << row, sum(1 << int(other) for other in apart.nonzero()[0]))
    return sorted([row for row in range(len(different)) if column >> row & 1] for column in columns)


def _without(columns: list[int], model: int, others: int) -> list[int]:
    """Split every set that holds a model and any from which it differs, and drop sets that lie
    within another.
    """
    split = [column for column in columns if column & model and column & others]
    kept = [column for column in columns if not (column & model and column & others)]
    for column in (part for whole in split for part in (whole & ~model, whole & ~others)):
        if not any(column & ~larger == 0 for larger in kept):
            kept = [smaller for smaller in kept if smaller & ~column] + [column]
    return kept


def letter(number: int) -> str:
    """Return the name of a tier.

    >>> [letter(number) for number in (0, 25, 26, 52, 104)]
    ['a', 'z', 'A', 'a2', 'a3']
    """
    again, measure = divmod(number, len(ALPHABET))
    return ALPHABET[measure] + (str(again + 1) if again else "")


def letter_texts(columns: list[list[int]], models: int) -> list[str]:
    """Return the letters of each model.

    >>> letter_texts([[0, 1], [1, 2]], 3)
    ['a', 'ab', 'b']
    """
    texts = [""] * models
    for number, rows in enumerate(columns):
        for row in rows:
            texts[row] += letter(number)
    return texts
