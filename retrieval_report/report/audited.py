"""Sentences on what an audit says about winners, shared with the dashboard."""

from __future__ import annotations

import polars as pl

from retrieval_report.report.terminal import visible
from retrieval_report.writing.names import first_names

NAMED = 5  # systems that a sentence names


def winner_sentences(audit: pl.DataFrame) -> tuple[str, ...]:
    """Say how many evaluator configurations name another winner because of tie order.

    Parameters
    ----------
    audit
        Rows of one measure from the result of `audit`.

    Returns
    -------
    tuple of str
        Empty if there is only one model, or if no evaluator prints the measure. A configuration is a system with one
        way to call it.

    Examples
    --------
    >>> import retrieval_report as rr
    >>> rankings = {"model": ["a", "a", "b", "b"], "query": ["q"] * 4, "item": ["x", "y"] * 2,
    ...             "distance": [1, 1, 2, 1], "relevance": [0, 1] * 2}
    >>> winner_sentences(rr.audit(rankings, metrics="precision@1", systems=["ranx", "pytrec_eval"]))
    ('1 of 2 evaluator configurations names a different winner, an accident of tie order: pytrec_eval.',)
    """
    if audit.is_empty():
        return ()
    columns = ["system", "version", "call", "winner", "same_winner"]
    known = audit.select(columns).unique(maintain_order=True).filter(pl.col("winner").is_not_null())
    if audit["model"].n_unique() < 2 or known.is_empty():
        return ()
    wrong, unknown = known.filter(~pl.col("same_winner")), known.filter(pl.col("same_winner").is_null())
    sentences = []
    if wrong.height:
        verb = "names" if wrong.height == 1 else "name"
        start = f"{wrong.height} of {known.height} evaluator configurations {verb} a different winner"
        sentences.append(f"{start}, an accident of tie order: {_systems(wrong)}.")
    if unknown.height:
        start = f"{unknown.height} of {known.height} evaluator configurations could name one winner or another"
        sentences.append(f"{start}, because their order inside ties is not defined: {_systems(unknown)}.")
    if not sentences:
        sentences.append(f"No evaluator configuration (of {known.height}) names a different winner.")
    return tuple(sentences)


def same_winner() -> pl.Expr:
    """Return an expression: yes, no, or "open" if several models could win; null if an evaluator names no winner.

    >>> rows = pl.DataFrame({"winner": ["a", "b", "a or b", None], "same_winner": [True, False, None, None]})
    >>> rows.select(same_winner())["same_winner"].to_list()
    ['yes', 'no', 'open', None]
    """
    known = pl.col("same_winner").replace_strict([True, False], ["yes", "no"], default="open", return_dtype=pl.String)
    return pl.when(pl.col("winner").is_not_null()).then(known).alias("same_winner")


def _systems(rows: pl.DataFrame) -> str:
    return first_names([visible(name, 60) for name in rows["system"].unique(maintain_order=True)], NAMED)
