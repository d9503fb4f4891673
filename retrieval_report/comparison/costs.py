"""Put costs, such as bytes per vector, milliseconds
or dollars, beside scores, and find the Pareto front.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from retrieval_report.comparison.verdicts import NO_WORSE
from retrieval_report.contracts.arguments import Named, quoted
from retrieval_report.contracts.checks import check_costs, refuse
from retrieval_report.contracts.errors import ColumnError
from retrieval_report.contracts.frames import SUMMARY
from retrieval_report.contracts.registry import in_contract, schema
from retrieval_report.engines.check_scores import BOUNDS, SCORE, check_result_frame
from retrieval_report.engines.score_grid import settled_means
from retrieval_report.kernels.lists import Bools, Floats
from retrieval_report.reading.frames import to_polars
from retrieval_report.reading.readers import columns_of

COSTS, TESTS = schema("costs"), schema("no_worse", "model", "baseline", *SCORE, "verdict")


def cost_table(summary: object, costs: object, *, no_worse: object = None) -> pl.DataFrame:
    """Put each model's score beside its cost, and mark those that no other beats at both.

    Parameters
    ----------
    summary
        The result of :func:`summarise`.
    costs
        A mapping from model to amount, or a frame with ``model`` and a column of numbers for each
        kind of cost, such as ``bytes`` and ``milliseconds``: finite, at least 0, less is better.
        Models without a cost are left out; a cost of an unknown model is an error.
    no_worse
        The result of :func:`no_worse`. Its baseline is then not on the front either if a cheaper
        model is decided to be no worse. What is "not decided" takes nothing off the front.

    Returns
    -------
    polars.DataFrame
        One row per kind of ``cost`` ("cost" for a mapping), ``metric``, ``cutoff``, ``policy`` but
        best and worst (in the order of the summary) and ``model``, cheapest first: ``amount``;
        ``value``, ``tie_std``, ``lowest``, ``highest``, ``ci_low``, ``ci_high`` (as
        :func:`summarise` has them); ``front`` (whether no other model costs as little and scores as
        much, and is better in one of them; scores equal to 12 digits are equal);
        ``front_in_every_order`` (the same with this model in its worst tie order and all others in
        their best; null unless the summary has both bounds); ``beaten_by`` (the best-scoring of the
        models that beat it; null on the front).

    Raises
    ------
    RetrievalReportError
        Costs are not such numbers, or belong to unknown models.

    Examples
    --------
    >>> import polars as pl
    >>> from retrieval_report import summarise
    >>> scores = pl.DataFrame(
    ...     [
    ...         {
    ...             "model": model,
    ...             "query": query,
    ...             "metric": "ndcg",
    ...             "cutoff": 10,
    ...             "policy": "expected",
    ...             "value": value,
    ...             "std": 0.0,
    ...             "items": 9,
    ...             "n_relevant": 2,
    ...         }
    ...         for query in "pq"
    ...         for model, value in (
    ...             ("float32", 0.62),
    ...             ("int8", 0.61),
    ...             ("pq-32", 0.5),
    ...             ("binary", 0.52),
    ...         )
    ...     ]
    ... )
    >>> table = cost_table(
    ...     summarise(scores), {"float32": 3072, "int8": 768, "pq-32": 128, "binary": 96}
    ... )
    >>> table.select("model", "amount", "value", "front", "beaten_by").rows()
    [('binary', 96.0, 0.52, True, None), ('pq-32', 128.0, 0.5, False, 'binary'),
    ('int8', 768.0, 0.61, True, None), ('float32', 3072.0, 0.62, True, None)]
    """
    frame = check_result_frame(summary, SUMMARY, "summary", "summarise")
    known = amounts(costs, set(frame["model"]))
    tests = (
        None if no_worse is None else check_result_frame(no_worse, TESTS, "no_worse", "no_worse")
    )
    scored_rows = frame.remove(pl.col("policy").is_in(BOUNDS)).drop_nulls("value")
    parts = [pl.DataFrame(schema=COSTS)]
    for part in known.partition_by("cost", maintain_order=True):
        joined = scored_rows.join(part, on="model", maintain_order="left")
        for rows in joined.partition_by(SCORE, maintain_order=True):
            sorted_ = rows.sort("amount", "value", "model", descending=[False, True, False])
            parts.append(_fronts(sorted_, _replaced(sorted_, tests)))
    return pl.concat(parts)


def costs_frame(costs: object) -> pl.DataFrame:
    """Return costs, which may be a dictionary of numbers by model, as a frame."""
    return to_polars(columns_of(costs, "model", "cost"), "costs")


def amounts(costs: object, models: set[str]) -> pl.DataFrame:
    """Return kind of cost, model and amount, without unknown amounts."""
    rows = costs_frame(costs)
    if "model" not in rows.columns:
        raise ColumnError(f"costs: no column 'model'; found {quoted(rows.columns)}")
    kinds = check_costs(rows)
    rows = rows.select(pl.col("model").cast(pl.String), pl.col(kinds).cast(pl.Float64))
    refuse(
        rows, ~pl.col("model").is_in(models), "model", "not among the models compared", what="costs"
    )
    parts = (rows.select("model", cost=pl.lit(kind), amount=kind) for kind in kinds)
    return pl.concat(parts).drop_nulls("amount")


def _replaced(rows: pl.DataFrame, tests: pl.DataFrame | None) -> Bools:
    """Return whether a column's model is decided to be no worse than a row's, and costs less."""
    replaced = np.zeros((rows.height, rows.height), dtype=np.bool_)
    if tests is None:
        return replaced
    passed = tests.filter(verdict=NO_WORSE).join(rows, on=SCORE, how="semi", nulls_equal=True)
    models = rows.select("model", "amount").with_row_index("row")
    of_both = passed.join(models, on="model").join(
        models, left_on="baseline", right_on="model", suffix="_of_baseline"
    )
    cheaper = of_both.filter(pl.col("amount") < pl.col("amount_of_baseline"))
    replaced[cheaper["row_of_baseline"], cheaper["row"]] = True
    return replaced


def _fronts(rows: pl.DataFrame, replaced: Bools) -> pl.DataFrame:
    """Mark the fronts of one kind of cost, metric, cutoff and policy; rows by amount."""
    amount, value, low, high = (
        rows[name].to_numpy() for name in ("amount", "value", "lowest", "highest")
    )
    beaten = _beaten(amount, value, value) | replaced
    best = np.where(beaten, value, -np.inf).argmax(axis=1)
    bounded = not sum(rows.select("lowest", "highest").null_count().row(0))
    unbeaten = ~_beaten(amount, low, high).any(axis=1) if bounded else None
    marks: Named = {"front": ~beaten.any(axis=1), "front_in_every_order": unbeaten}
    by = pl.when(~pl.col("front")).then(rows["model"][best])
    return in_contract(rows.with_columns(**marks).with_columns(beaten_by=by), COSTS)


def _beaten(amount: Floats, values: Floats, theirs: Floats) -> Bools:
    """Return whether a column's model beats a row's in costs or scores, and neither is worse."""
    values, theirs = settled_means(np.stack([values, theirs]))
    lead = theirs[None] - values[:, None]
    cheaper = amount[None] < amount[:, None]
    beaten: Bools = (amount[None] <= amount[:, None]) & ((lead > 0) | ((lead == 0) & cheaper))
    np.fill_diagonal(beaten, False)
    return beaten
