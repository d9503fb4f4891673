"""Find models that are the same: every query has the same items in the same ties."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from retrieval_report.comparison.verdicts import DEPENDS, EQUAL, both_among, reworded
from retrieval_report.contracts.arguments import grouped
from retrieval_report.contracts.frames import order_column
from retrieval_report.engines.score_grid import DIGITS, Grid

Groups = tuple[tuple[str, ...], ...]


def identical_models(
    scores: pl.DataFrame, rows: pl.DataFrame, of_run: Mapping[str, str] | None = None
) -> Groups:
    """Return groups of models whose lists are the same for every query.

    Parameters
    ----------
    scores
        A checked scores frame of one policy: only models whose scores are all equal are looked at.
    rows
        The items retrieved, with ``model``, or counts of them.
    of_run
        The model of every run, where the scores are means over runs and the rows are of runs;
        models are then the same where their runs are.

    Examples
    --------
    Whether distances are large or small does not matter, only which of them are equal.

    >>> rows = pl.DataFrame(
    ...     {
    ...         "model": ["a"] * 2 + ["b"] * 2 + ["c"] * 2,
    ...         "query": ["q"] * 6,
    ...         "item": list("xyyxxy"),
    ...         "distance": [1, 1, 7, 7, 1, 2],
    ...     }
    ... )
    >>> scores = pl.DataFrame(
    ...     {
    ...         "model": list("abc"),
    ...         "query": ["q"] * 3,
    ...         "metric": ["rr"] * 3,
    ...         "cutoff": [1] * 3,
    ...         "policy": ["expected"] * 3,
    ...         "value": [0.5] * 3,
    ...         "std": [0.5] * 3,
    ...         "truncated": [False] * 3,
    ...         "pooled": [False] * 3,
    ...     }
    ... )
    >>> identical_models(scores, rows)
    (('a', 'b'),)
    """
    grid = Grid.of(scores)
    values = np.round(grid.arrays["value"], DIGITS)
    of_models = {model: values[:, row].tobytes() for row, model in enumerate(grid.models)}
    runs = of_run or {name: name for name in grid.models}
    return tuple(
        group for names in _alike(of_models) for group in _alike(_lists_of_runs(rows, names, runs))
    )


def _alike(contents: Mapping[str, bytes]) -> list[tuple[str, ...]]:
    """Return groups of two or more names with the same content."""
    groups = grouped((content, name) for name, content in contents.items())
    return [tuple(names) for names in groups.values() if len(names) > 1]


def without_twins(flips: pl.DataFrame, groups: Groups) -> pl.DataFrame:
    """Return the result of `flips` where models with the same lists are equal: each is drawn in
    orders of its own, but what is drawn is one model.

    >>> pairs = pl.DataFrame(
    ...     {"model_a": ["a", "a"], "model_b": ["b", "c"], "verdict": [DEPENDS] * 2}
    ... )
    >>> without_twins(pairs, (("a", "b"),))["verdict"].to_list()
    ['equal', 'depends on tie order']
    """
    twins = pl.any_horizontal(pl.lit(False), *map(both_among, groups))
    return reworded(flips, twins & (pl.col("verdict") == DEPENDS), EQUAL)


def copies_among(groups: Groups, preferred: str | None = None) -> list[str]:
    """Return the names of copies: all of each group but the first by name, or
    the ``preferred`` one.

    >>> copies_among((("b", "a"), ("c", "d", "e")), "d")
    ['b', 'c', 'e']
    """
    in_order = (sorted(group, key=lambda name: (name != preferred, name)) for group in groups)
    return [name for _, *copies in in_order for name in copies]


def without_copies(pairs: pl.DataFrame, groups: Groups) -> pl.DataFrame:
    """Return pairs of models without those of a copy, which say what its first says; all pairs if
    there are no others.

    >>> pairs = pl.DataFrame({"model_a": ["a", "a", "b"], "model_b": ["b", "c", "c"]})
    >>> without_copies(pairs, (("b", "a"),)).rows()
    [('a', 'c')]
    """
    copies = copies_among(groups)
    firsts = pairs.remove(pl.any_horizontal(pl.col("model_a", "model_b").is_in(copies)))
    return pairs if firsts.is_empty() else firsts


def folded(rows: pl.DataFrame, groups: Groups) -> pl.DataFrame:
    """Return rows about models without those of copies; ``row_models`` names the model
    and its copies. A model whose naive scores are others, by the order of its file, is no copy.

    >>> rows = pl.DataFrame({"model": ["b", "a", "c"]})
    >>> folded(rows, (("b", "a"),)).rows()
    [('a', ['a', 'b']), ('c', ['c'])]
    >>> rows = pl.DataFrame({"model": ["b", "a"], "query": "q", "naive": [0.5, 1.0]})
    >>> folded(rows, (("b", "a"),))["row_models"].to_list()
    [['b'], ['a']]
    """
    if "naive" in rows.columns:
        parts = rows.sort("query").partition_by("model", as_dict=True)
        naive = {name: part["naive"].to_numpy().tobytes() for (name,), part in parts.items()}
        same = ({name: naive[name] for name in group if name in naive} for group in groups)
        groups = tuple(alike for contents in same for alike in _alike(contents))
    names = {first: [first, *copies] for first, *copies in map(sorted, groups)}
    row_models = [names.get(name, [name]) for name in rows["model"]]
    rows = rows.with_columns(row_models=pl.Series(row_models, dtype=pl.List(pl.String)))
    return rows.remove(pl.col("model").is_in(copies_among(groups)))


def _lists_of_runs(
    rows: pl.DataFrame, names: Sequence[str], of_run: Mapping[str, str]
) -> dict[str, bytes]:
    """Return the lists of all runs of some models, in whatever order the runs are."""
    lists = _lists(rows, [run for run, model in of_run.items() if model in names])
    parts = grouped((of_run[run], content) for run, content in lists.items())
    return {model: b"|".join(sorted(contents)) for model, contents in parts.items()}


def _lists(rows: pl.DataFrame, names: Sequence[str]) -> dict[str, bytes]:
    """Return the lists of some models, item by item as
    numbers of 64 bits that differ where anything does.
    """
    ties = pl.col(order_column(rows)).rank("dense").over("model", "query")
    column_names = [
        name for name in ("query", "item", "relevance", "count") if name in rows.columns
    ]
    lists = (
        rows.filter(pl.col("model").is_in(names))
        .select("model", *column_names, tie=ties)
        .sort("model", "query", "tie", *column_names[1:])
        .partition_by("model", as_dict=True, include_key=False)
    )
    return {str(name): part.hash_rows().to_numpy().tobytes() for (name,), part in lists.items()}
