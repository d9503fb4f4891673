"""Records of the dashboard's data and choices, with their defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl

from retrieval_report.comparison.corrections import MAX_T
from retrieval_report.contracts.options import OPTIONS, RULES, Options
from retrieval_report.metrics.parsing import (
    DEFAULT_MEASURES,
    measure_text,
    parameter_text,
    parse_measure,
    parse_metric,
)

POLICIES = ("expected", "naive", "shuffled", "worst", "best")
MEASURES = tuple(parse_measure(text) for text in DEFAULT_MEASURES)
# Computed together, so that switching between them costs nothing.
METRICS = tuple(metric for metric, _ in MEASURES)
CUTOFFS: tuple[int | None, ...] = (1, 3, 5, 10, 20, 50, 100, None)
# The parameters of metrics that can be chosen; the first option is the default.
PARAMETERS: dict[str, tuple[str, ...]] = {  # parameters of metrics that the sidebar offers
    "precision": ("denominator",),
    "ap": ("denominator",),
    "wap": ("denominator",),
    "dcg": ("gain",),
    "ndcg": ("ideal", "gain"),
}
SIDEBAR = tuple(name for name in RULES if OPTIONS[name].control)  # the rules it shows
NAMED = 3  # files in the name of data
LABEL = 120  # characters of an upload's name
LARGE = 2_000_000  # with more rows, random orders are drawn only on request


class Draws(NamedTuple):
    """The settings that decide random orders."""

    shuffles: int = 100
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Data:
    """The data of the dashboard: frames, and where they come from.

    Attributes
    ----------
    name
        The name shown on the page, as text, not Markdown.
    digest
        Identifies the content: equal digests mean equal frames.
    rankings, judgements, queries
        Checked frames; the last two may be None.
    notes
        What was read, and warnings while reading, as text.
    metric, cutoff
        The initial measure.
    items
        Columns ``item`` and ``text``, to show what a list holds; may be None.
    rules, draws, average, correction
        The initial settings, from what is known of the data, or from a study.
    """

    name: str
    digest: str
    rankings: pl.DataFrame
    judgements: pl.DataFrame | None = None
    queries: pl.DataFrame | None = None
    notes: tuple[str, ...] = field(default=())
    metric: str = MEASURES[0][0]
    cutoff: int | None = MEASURES[0][1]
    rules: Options = field(default_factory=Options)
    draws: Draws = field(default_factory=Draws)
    average: str = "micro"
    items: pl.DataFrame | None = None
    correction: str = MAX_T

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Return all models, by name."""
        if "model" not in self.rankings.columns:
            return ("model",)
        return tuple(sorted(self.rankings["model"].cast(pl.String).unique().drop_nulls()))

    @cached_property
    def size(self) -> str:
        """Return how many models and queries there are, and how many queries were never judged, as
        text.
        """
        queries = self.rankings["query"].unique().cast(pl.String)
        text = f"{len(self.models)} {'model' if len(self.models) == 1 else 'models'}"
        text += f" · {len(queries)} {'query' if len(queries) == 1 else 'queries'}"
        if self.judgements is None:
            return text
        judged = queries.is_in(self.judgements["query"].unique().cast(pl.String).implode())
        return text if judged.all() else f"{text}, {(~judged).sum()} without judgements"

    @property
    def counted(self) -> bool:
        """Return whether rows are counts, which have no order and so neither naive scores nor an
        audit.
        """
        return "count" in self.rankings.columns

    @property
    def large(self) -> bool:
        """Return whether drawing random orders takes long."""
        return self.rankings.height > LARGE

    @property
    def policies(self) -> tuple[str, ...]:
        """Return the policies that can be shown."""
        return tuple(policy for policy in POLICIES if not (self.counted and policy == "naive"))

    @property
    def averages(self) -> tuple[str, ...]:
        """Return the averages that the queries allow."""
        columns = () if self.queries is None else self.queries.columns
        wanted = {"macro": "label", "weighted": "weight"}
        return ("micro", *(average for average, column in wanted.items() if column in columns))

    @property
    def others(self) -> dict[str, Any]:
        """Return judgements and queries, named as in `evaluate`."""
        return {"judgements": self.judgements, "queries": self.queries}

    @property
    def frames(self) -> dict[str, Any]:
        """Return the frames, named as in `evaluate`."""
        return {"rankings": self.rankings, **self.others}


class Files(NamedTuple):
    """Files to open, as accepted by `read_rankings`, `read_judgements` and `read_queries`."""

    name: str
    rankings: Sequence[str]
    judgements: str | None = None
    queries: str | None = None
    columns: Mapping[str, str] | None = None
    name_by: str | None = None
    measure: Sequence[Any] = MEASURES[0]  # metric and cutoff
    rules: Options = Options()
    draws: Draws = Draws()
    average: str = "micro"
    items: str | None = None
    correction: str = MAX_T


class Upload(NamedTuple):
    """One uploaded file."""

    name: str
    content: bytes

    @property
    def label(self) -> str:
        """Return the name without folders and control characters, shortened, for messages and as
        model name.
        """
        name = "".join(
            letter
            for letter in self.name.replace("\\", "/").rpartition("/")[2]
            if letter.isprintable()
        )
        return name[-LABEL:].strip(" .") or "upload"


class Questions(NamedTuple):
    """What a page was asked about some data beside the sidebar, for the exported report."""

    digest: str = ""  # of the data asked about
    baseline: str | None = None
    margin: float | None = None
    costs: str | None = None  # a table as JSON


class Winners(NamedTuple):
    """Models that come first; several if they are equal."""

    best: tuple[str, ...]  # in expectation
    printed: tuple[str, ...]  # in the order received, if they are not first in expectation


@dataclass(frozen=True)
class Choice:
    """The choices in the sidebar: everything besides the data that decides the numbers on a page.

    Attributes
    ----------
    metric
        Text form with its parameters, such as ``ap(denominator=retrieved)``.
    cutoff
        None means the whole list.
    cutoffs
        Cutoffs of the curve; ``cutoff`` is among them.
    models, policies
        The chosen ones, in the order of the data and of `POLICIES`.
    average
        As for `summarise`.
    rules, draws
        As for `evaluate`.
    correction
        As for `compare`.
    """

    metric: str
    cutoff: int | None
    cutoffs: tuple[int | None, ...]
    models: tuple[str, ...]
    policies: tuple[str, ...]
    average: str = "micro"
    rules: Options = field(default_factory=Options)
    draws: Draws = field(default_factory=Draws)
    correction: str = MAX_T

    @property
    def measure(self) -> str:
        """Return metric and cutoff as text, such as ``ndcg@10``."""
        return measure_text(self.metric, self.cutoff)

    @property
    def at(self) -> dict[str, Any]:
        """Return metric and cutoff, named as in the functions that draw charts."""
        return {"metric": self.metric, "cutoff": self.cutoff}

    @property
    def of_list(self) -> Choice:
        """Return the choice without what does not change the score of a list, by which single lists
        are cached.
        """
        return replace(self, cutoffs=(), models=(), policies=(), average="micro", correction=MAX_T)


def first_choice(data: Data) -> Choice:
    """Return the initial choices of the sidebar."""
    usual = {
        name: parameter_text(data.metric, name)[0][0] for name in PARAMETERS.get(data.metric, ())
    }
    metric, own_depth = parsed(data.metric, usual)
    cutoff = None if own_depth else data.cutoff
    asked = (data.average, data.rules, data.draws, data.correction)
    return Choice(
        metric,
        cutoff,
        curve(cutoff, own_depth=own_depth),
        data.models,
        shown_at_first(data),
        *asked,
    )


def shown_at_first(data: Data) -> tuple[str, ...]:
    """Return the initial policies, without shuffled, whose scores only repeat the expected ones
    with noise.
    """
    return tuple(policy for policy in data.policies if policy != "shuffled")


def curve(cutoff: int | None, *, own_depth: bool) -> tuple[int | None, ...]:
    """Return the cutoffs of the curve in order, with the whole list last."""
    if own_depth:
        return (None,)
    known = {number for number in (*CUTOFFS, cutoff) if number is not None}
    return (*sorted(known), None)


def parsed(name: str, parameters: Mapping[str, str]) -> tuple[str, bool]:
    """Return the text form of a metric, and whether it has a depth of its own.

    >>> parsed("ap", {"denominator": "min"}), parsed("r_precision", {})
    (('ap(denominator=min)', False), ('r_precision', True))
    """
    given = ",".join(f"{parameter}={value}" for parameter, value in parameters.items())
    metric, _ = parse_metric(f"{name}({given})" if given else name)
    return str(metric), metric.own_depth
