"""The words that say whether and where lists were truncated."""

from __future__ import annotations

from collections.abc import Mapping

from retrieval_report.contracts.checks import check_choice

AUTO, NO, BETWEEN_TIES, WITHIN_TIE = "auto", "no", "between_ties", "within_tie"
ENDS = (NO, BETWEEN_TIES, WITHIN_TIE)
TRUNCATED = (AUTO, *ENDS)


def check_truncated(truncated: object) -> str | dict[str, str]:
    """Check the argument ``truncated``: one of the words, or a mapping of models to them.

    >>> check_truncated("yes")
    Traceback (most recent call last):
    retrieval_report.ParameterError: truncated: 'yes' is not one of 'auto', 'no', 'between_ties',
    'within_tie'
    """
    if not isinstance(truncated, Mapping):
        check_choice("truncated", truncated, TRUNCATED)
        return str(truncated)
    for model, word in truncated.items():
        check_choice(f"truncated of model {model!r}", word, TRUNCATED)
    return {str(model): str(word) for model, word in truncated.items()}
