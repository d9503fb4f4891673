"""What the dashboard looks at, as records."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl

from retrieval_report.analysis.answers import AUDIT_OPTIONS, ROW_OPTIONS
from retrieval_report.contracts.truncated import AUTO

__all__ = ["Data", "Draws", "Files", "Rules", "Verdict"]

LARGE = 2_000_000  # rows from which on random orders are drawn only where asked for


@dataclass(frozen=True, eq=False)
class Data:
    """What is looked at: frames, and where they come from.

    Attributes
    ----------
    name
        For the page; text, not Markdown.
    digest
        Stands for the content: equal digests mean equal frames.
    rankings, judgements, queries
        Contract frames; the last two may be None.
    notes
        What was read, and what was noticed while reading; text.
    metric, cutoff
        The measure to begin with.
    truncated
        What is known of the end of its lists, as `evaluate` says it.
    """

    name: str
    digest: str
    rankings: pl.DataFrame
    judgements: pl.DataFrame | None = None
    queries: pl.DataFrame | None = None
    notes: tuple[str, ...] = field(default=())
    metric: str = "ndcg"
    cutoff: int | None = 10
    truncated: str = AUTO

    @cached_property
    def models(self) -> tuple[str, ...]:
        """All models, by name."""
        if "model" not in self.rankings.columns:
            return ("model",)
        return tuple(sorted(self.rankings["model"].cast(pl.String).unique().drop_nulls()))

    @property
    def counted(self) -> bool:
        """Whether rows are counts, which have no order: no naive scores, no audit."""
        return "count" in self.rankings.columns

    @property
    def large(self) -> bool:
        """Whether drawing random orders takes long."""
        return self.rankings.height > LARGE

    @property
    def averages(self) -> tuple[str, ...]:
        """The averages that the queries allow."""
        columns = () if self.queries is None else self.queries.columns
        wanted = {"macro": "label", "weighted": "weight"}
        return ("micro", *(average for average, column in wanted.items() if column in columns))

    @property
    def frames(self) -> dict[str, Any]:
        """The frames by the names that `evaluate` gives them."""
        return {"rankings": self.rankings, "judgements": self.judgements, "queries": self.queries}


class Files(NamedTuple):
    """Files to open: as `read_rankings`, `read_judgements` and `read_queries` take them."""

    name: str
    rankings: tuple[str, ...]
    judgements: str | None = None
    queries: str | None = None
    columns: tuple[tuple[str, str], ...] = ()
    measure: tuple[str, int | None] = ("ndcg", 10)
    truncated: str = AUTO


class Verdict(NamedTuple):
    """What `retrieval_report.report.verdict` says, and who only seems to have won."""

    status: str
    sentences: tuple[str, ...]
    printed: tuple[str, ...]  # first in the order received, though not in expectation
    best: tuple[str, ...]  # first in expectation


class Rules(NamedTuple):
    """The settings that decide the scores of all policies, by the names that `evaluate` gives them."""

    no_relevant: str = "zero"
    relevant_from: float | None = None
    missing_query: str = "zero"
    unjudged: str | None = None
    unjudged_query: str = "error"
    null_distance: str = "error"
    distance_threshold: float | None = None
    truncated: str = AUTO
    relevant_items: str = "pooled"

    @property
    def of_rows(self) -> dict[str, Any]:
        """Those that decide which rows count, and with which relevance."""
        return {name: value for name, value in self._asdict().items() if name in ROW_OPTIONS}

    @property
    def of_audit(self) -> dict[str, Any]:
        """Those that `audit` takes."""
        return {name: value for name, value in self._asdict().items() if name in AUDIT_OPTIONS}


class Draws(NamedTuple):
    """The settings that decide random orders."""

    shuffles: int = 100
    seed: int = 0
