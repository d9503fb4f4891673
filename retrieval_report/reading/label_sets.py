"""Label sets as rankings: who grades items also ranks
them, with as many ties as there are items of a grade.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from retrieval_report.contracts.arguments import is_number
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.reading.finding import find_files, is_path
from retrieval_report.reading.readers import read_judgements, read_rankings


def from_labels(labels: object, *, negative: str = "keep") -> pl.DataFrame:
    """Make rankings of label sets, such as grades of language models: the grade is the score.

    Parameters
    ----------
    labels : mapping, path or list of paths
        Name of the ranker → what `read_judgements` reads (TREC qrels, a table, a dictionary, a
        frame); or files, a glob or a folder of them, named after their files.
    negative : {"keep", "unjudged"}
        ``unjudged`` leaves items with a negative grade out; by default they rank last.

    Returns
    -------
    pl.DataFrame
        ``model``, ``query``, ``item``, ``score`` (the grade) and ``row`` (the order received), for
        `evaluate` and `Study`.

    Raises
    ------
    ParameterError
        There are no label sets, or a name is not text.
    FileError, ColumnError, DataError
        As in `read_judgements`.

    Notes
    -----
    All items of one grade tie, so that an ordinary evaluator prints an accident: by trec_eval's
    order three rankers of the LLMJudge challenge have nDCG@10 .6807, .6724 and .6628, and averaged
    over all orders .6636, .6661 and .6701.

    Examples
    --------
    >>> labels = {
    ...     "gpt": {"q1": {"a": 3, "b": 3, "c": 0}},
    ...     "llama": {"q1": {"a": 2, "b": 3, "c": 3}},
    ... }
    >>> rankings = from_labels(labels)
    >>> rankings.rows()[:2]
    [('gpt', 'q1', 'a', 3, 0), ('gpt', 'q1', 'b', 3, 1)]
    >>> from retrieval_report import evaluate
    >>> human = {"q1": {"a": 1, "b": 0, "c": 0}}
    >>> scores = evaluate(rankings, judgements=human, metrics="rr", policies="expected")
    >>> scores.select("model", "value").rows()
    [('gpt', 0.75), ('llama', 0.3333333333333333)]
    """
    if is_path(labels):
        # A folder's labels may be called anything.
        folder = isinstance(labels, str | Path) and Path(labels).expanduser().is_dir()
        files = find_files(Path(labels) / "*" if folder else labels)  # type: ignore[arg-type]
        labels = {Path(file.name.removesuffix(".gz")).stem: file for file in files}
    if not isinstance(labels, Mapping) or not labels:
        raise ParameterError("labels: expected a mapping of names to label sets, or their files")
    if any(
        isinstance(row, Mapping) and all(map(is_number, row.values())) for row in labels.values()
    ):
        raise ParameterError("labels: a label set needs a name: {name: {query: {item: grade}}}")
    return read_rankings(
        {
            name: read_judgements(model_labels, negative=negative).rename({"relevance": "score"})
            for name, model_labels in labels.items()
        }
    )
