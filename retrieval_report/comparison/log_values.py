"""Scores as a flat dictionary of numbers, which is what experiment trackers log."""

from collections.abc import Mapping

import polars as pl

from retrieval_report.engines.check_scores import MEASURE, in_both_directions
from retrieval_report.metrics.parsing import measure_text

KEYS = ("model", *MEASURE)


def log_values(
    means: pl.DataFrame, columns: Mapping[str, str], models: Mapping[str, str]
) -> dict[str, float]:
    """Return means as numbers by name, such as ``ndcg@10`` and ``ndcg@10/tie_std``; what is null is
    left out, since trackers log numbers alone.

    Parameters
    ----------
    means
        One row per model and measure.
    columns
        The columns to log → what follows the name of the measure.
    models
        The models to log → what precedes the name of the measure.

    Examples
    --------
    >>> means = pl.DataFrame({"model": ["m"], "metric": ["ap"], "cutoff": [None], "value": [0.5]})
    >>> log_values(means, {"value": ""}, {"m": "bm25/"})
    {'bm25/ap@all': 0.5}
    """
    rows = [row for row in means.iter_rows(named=True) if row["model"] in models]
    return {
        f"{models[row['model']]}{measure_text(row['metric'], row['cutoff'])}{ending}": row[name]
        for row in rows
        for name, ending in columns.items()
        if row[name] is not None
    }


def chances_against(flips: pl.DataFrame, means: pl.DataFrame, baseline: str | None) -> pl.DataFrame:
    """Return for every model and measure ``p_tie``, the chance that tie order reverses it and the
    baseline: without one, the model with the highest mean, and for that model the second.

    Parameters
    ----------
    flips
        The result of `flips`: pairs that were not tested have no row here.
    means
        ``model``, ``metric``, ``cutoff`` and ``value``.
    baseline
        A model, or none.
    """
    in_order = means.sort("value", descending=True, nulls_last=True, maintain_order=True)
    best = in_order.group_by(MEASURE, maintain_order=True).agg(best=pl.col("model").head(2))
    if baseline is not None:
        best = best.with_columns(best=pl.concat_list(pl.lit(baseline)))
    references = means.select(KEYS).join(best, on=MEASURE, nulls_equal=True)
    place = (pl.col("model") == pl.col("best").list.first()).cast(pl.Int8)
    references = references.with_columns(reference=pl.col("best").list.get(place, null_on_oob=True))
    pairs = in_both_directions(flips.select("model_a", "model_b", *MEASURE, "p_tie"))
    directed = pairs.rename({"model_a": "model", "model_b": "reference"})
    matches = references.join(directed, on=[*KEYS, "reference"], nulls_equal=True)
    return matches.select(*KEYS, "p_tie")
