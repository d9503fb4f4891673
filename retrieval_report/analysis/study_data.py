"""What a study and all narrower ones share, and what one of them looks at."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from retrieval_report.contracts.options import ScoringOptions

__all__ = ["Data", "Measure", "StudyOptions", "View"]

Measure = tuple[str, int | None]


@dataclass(frozen=True)
class Data:
    """What a study and all narrower ones share."""

    frames: Mapping[str, Any]  # rankings, judgements, queries
    measures: tuple[Measure, ...]
    asked: Mapping[str, Any]  # metrics and cutoffs, as evaluate takes them
    options: Mapping[str, Any]
    average: str
    like: str | None
    also: Mapping[str, Any]  # by, baseline, margin and costs: what is asked beside the scores
    found: dict[Any, Any] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)


@dataclass(frozen=True)
class View:
    """What a study looks at: None is everything."""

    measures: tuple[Measure, ...] | None = None
    models: tuple[str, ...] | None = None
    queries: tuple[object, ...] | None = None


class StudyOptions(ScoringOptions, total=False):
    """The options of a study: those of ``evaluate`` but the policies, and cutoffs."""

    cutoffs: int | str | Sequence[int | str | None] | None
