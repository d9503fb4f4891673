"""Everything that decides a score besides the data, checked once."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

from retrieval_report.errors import ParameterError
from retrieval_report.schema import check_choice

__all__ = ["NAIVE_ORDERS", "NO_RELEVANT", "POLICIES", "Options"]

POLICIES = ("expected", "naive", "shuffled", "best", "worst")
NO_RELEVANT = ("zero", "skip", "one", "error")
NAIVE_ORDERS = ("row", "item", "item_descending")


@dataclass(frozen=True)
class Options:
    """The keyword arguments of ``evaluate`` but the frames, metrics and cutoffs."""

    policies: tuple[str, ...] = ("expected", "naive", "shuffled")
    shuffles: int = 100
    seed: int = 0
    no_relevant: str = "zero"
    relevant_from: float | None = None
    distance_threshold: float | None = None
    naive_order: str = "row"
    decimals: int | None = None
    missing_query: str = "zero"
    unjudged: str | None = None
    unjudged_query: str = "error"
    null_distance: str = "error"
    threads: int | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "policies", tuple(dict.fromkeys(self.policies)))
        if not self.policies:
            raise ParameterError("policies: none given")
        for policy in self.policies:
            check_choice("policies", policy, POLICIES)
        check_choice("no_relevant", self.no_relevant, NO_RELEVANT)
        check_choice("naive_order", self.naive_order, NAIVE_ORDERS)
        check_choice("missing_query", self.missing_query, ("zero", "skip", "error"))
        if self.unjudged is not None:
            check_choice("unjudged", self.unjudged, ("non_relevant", "drop", "error"))
        check_choice("unjudged_query", self.unjudged_query, ("error", "skip"))
        check_choice("null_distance", self.null_distance, ("error", "not_retrieved"))
        _whole("shuffles", self.shuffles, 1)
        _whole("seed", self.seed, 0)
        if self.decimals is not None:
            _whole("decimals", self.decimals, 0)
        if self.threads is not None:
            _whole("threads", self.threads, 1)
        if self.relevant_from is not None and not (_is_number(self.relevant_from) and self.relevant_from > 0):
            raise ParameterError(f"relevant_from: {self.relevant_from!r} is not a number above 0")
        if self.distance_threshold is not None and not _is_number(self.distance_threshold):
            raise ParameterError(f"distance_threshold: {self.distance_threshold!r} is not a finite number")

    @property
    def workers(self) -> int:
        """How many threads to use."""
        return self.threads or os.cpu_count() or 1


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _whole(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not hasattr(value, "__index__") or value.__index__() < least:
        raise ParameterError(f"{name}: {value!r} is not a whole number from {least} on")
