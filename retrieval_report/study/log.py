"""What an experiment tracker logs of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from retrieval_report.comparison.log_values import KEYS, chances_against, log_values
from retrieval_report.contracts.checks import check_choice
from retrieval_report.engines.check_scores import join_left

if TYPE_CHECKING:
    from retrieval_report.study.study import Study

COLUMNS = {
    "expected": "",
    "tie_std": "/tie_std",
    "order_low": "/shuffled_low",
    "order_high": "/shuffled_high",
    "naive": "/naive",
    "p_tie": "/p_tie",
}


def log_of(study: Study, model: str | None, baseline: str | None) -> dict[str, float]:
    """Return the numbers of one model of a study, or of all, by name."""
    if model is not None:
        check_choice("model", model, study.model_names)
    names = study.model_names if model is None else [model]
    three = study.three_scores
    chances = chances_against(study.flips, three.select(*KEYS, value="expected"), baseline)
    rows = join_left(three, chances, KEYS)
    prefix = "{}/" if len(names) > 1 else ""
    return log_values(rows, COLUMNS, {name: prefix.format(name) for name in names})
