"""Records of the dashboard's data and choices, with their defaults."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import NamedTuple
from uuid import uuid4

import polars as pl

import retrieval_report as rr
from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.options import PARAMETERS, RULES, RowOptions
from retrieval_report.metrics.parsing import (
    DEFAULT_MEASURES,
    Measure,
    measure_text,
    parse_measure,
    parse_metric,
)
from retrieval_report.study.by_cutoff import USUAL_CUTOFFS
from retrieval_report.study.server import CONTROLLED
from retrieval_report.writing.names import with_number

MEASURES = tuple(parse_measure(text) for text in DEFAULT_MEASURES)
# Computed together, so that switching between them costs nothing.
METRICS = tuple(metric for metric, _ in MEASURES)
CUTOFFS = (*USUAL_CUTOFFS, None)
NAMED = 2  # files in the name of data
LABEL = 120  # characters of an upload's name
FRAMES = ("rankings", "judgements", "queries")
SETTINGS = (
    "average",
    "correction",
    "shuffles",
    "seed",
)  # studies share exact scores whatever these
SCORING = tuple(name for name in CONTROLLED if name in RULES)
OF_ROWS = tuple(name for name in SCORING if name in RowOptions.__annotations__)
# The options of the sidebar, in its order, with their defaults.
USUAL: Named = {name: PARAMETERS[name].default for name in ("average", "correction", *CONTROLLED)}


@dataclass(frozen=True)
class Choice:
    """The choices in the sidebar: everything besides the data that decides the numbers on a page.

    Attributes
    ----------
    metric
        Text form with its parameters, such as ``ap(denominator=retrieved)``.
    cutoff
        None means the whole list.
    models
        The chosen ones, in the order of the data.
    options
        Those of `evaluate`, ``average`` of `summarise` and ``correction`` of `compare`.
    longest
        The number of items in the longest list: the curve has no usual cutoff beyond it.
    """

    metric: str = MEASURES[0][0]
    cutoff: int | None = MEASURES[0][1]
    models: tuple[str, ...] = ()
    options: Named = field(default_factory=lambda: USUAL, hash=False)
    longest: float = inf

    @property
    def measure(self) -> str:
        """Return metric and cutoff as text, such as ``ndcg@10``."""
        return measure_text(self.metric, self.cutoff)

    @property
    def at(self) -> Named:
        """Return metric and cutoff, named as in the functions that draw charts."""
        return {"metric": self.metric, "cutoff": self.cutoff}

    @property
    def cutoffs(self) -> tuple[int | None, ...]:
        """Return the cutoffs of the curve; the chosen one is among them."""
        return (None,) if own_depth(self.metric) else curve(self.cutoff, self.longest)

    @property
    def along_cutoffs(self) -> tuple[str, ...]:
        """Return the chosen metric at the cutoffs of the curve, as text."""
        return tuple(measure_text(self.metric, cutoff) for cutoff in self.cutoffs)

    def leading(self, more_measures: Iterable[Measure]) -> Iterable[str]:
        """Return the chosen measure and then others, each once, as text."""
        return dict.fromkeys((self.measure, *(measure_text(*measure) for measure in more_measures)))

    def only(self, names: Iterable[str]) -> Named:
        """Return some of the options, such as `SCORING`."""
        return {name: self.options[name] for name in names}


def own_depth(metric: str) -> bool:
    """Return whether a metric is computed as deep as there are relevant items.

    >>> own_depth("ap(denominator=k)"), own_depth("r_precision")
    (False, True)
    """
    return parse_metric(metric)[0].own_depth


def curve(cutoff: int | None, longest: float) -> tuple[int | None, ...]:
    """Return the usual cutoffs that the longest list reaches, and this one, in order, with the
    whole list last.

    >>> curve(4, longest=9)
    (1, 3, 4, 5, None)
    """
    usual = {number for number in USUAL_CUTOFFS if number <= longest}
    return (*sorted(usual if cutoff is None else {*usual, cutoff}), None)


@dataclass(frozen=True, eq=False)
class OpenedData:
    """The data of the dashboard: frames, and where they come from.

    Attributes
    ----------
    name
        The name shown on the page, as text, not Markdown.
    source
        The study as it was read: its frames, and what it was asked beside the choices.
    items
        Columns ``item`` and ``text``, to show what a list holds; may be None.
    notes
        What was read, and warnings while reading, as text.
    start
        The initial measure and options, from what is known of the data, or from a study.
    history
        The regular expression that finds versions in the names of models.
    costs
        What models are known to cost: ``model``, and numbers for every kind of cost.
    digest
        Identifies the content: equal digests mean equal frames.
    """

    name: str
    source: rr.Study
    items: pl.DataFrame | None = None
    notes: tuple[str, ...] = ()
    start: Choice = field(default_factory=Choice)
    history: str | None = None
    costs: pl.DataFrame | None = None
    digest: str = field(default_factory=lambda: uuid4().hex)

    @property
    def frames(self) -> Named:
        """Return rankings and, if there are any, judgements and queries, named as in `evaluate`."""
        frames = self.source.frames
        return {name: frames[name] for name in FRAMES if name in frames}

    @property
    def models(self) -> tuple[str, ...]:
        """Return all models, by name."""
        return tuple(self.source.model_names)

    @cached_property
    def longest(self) -> int:
        """Return how many items the longest list has."""
        items = pl.sum("count") if self.source.counted else pl.len()
        lists = self.frames["rankings"].lazy().group_by("model", "query").agg(items=items)
        return lists.select(pl.max("items")).collect().item() or 0

    @cached_property
    def size(self) -> str:
        """Return how many models and queries there are, and how many queries
        were never judged or have no list of any model, as text.
        """
        frames = self.frames
        listed, judged = (
            set(frames[name]["query"].unique().cast(pl.String))
            for name in ("rankings", "judgements" if "judgements" in frames else "rankings")
        )
        text = f"{with_number(len(self.models), 'model')} · {with_number(len(listed | judged), 'query')}"
        of_which = {"judgements": listed - judged, "lists": judged - listed}
        return text + "".join(
            f", {len(some)} without {what}" for what, some in of_which.items() if some
        )

    @property
    def averages(self) -> tuple[str, ...]:
        """Return the averages that the queries allow."""
        columns = self.frames.get("queries", pl.DataFrame()).columns
        options = ("macro", "label"), ("weighted", "weight")
        return ("micro", *(average for average, column in options if column in columns))


class Files(NamedTuple):
    """Files to open: the arguments of a study, in which files stand for the data, and others."""

    name: str
    study: Named
    items: str | None = None
    labels_as_rankings: bool = False
    negative: str = "keep"
    start: Choice = Choice()
    history: str | None = None
    costs: str | None = None


class Upload(NamedTuple):
    """One uploaded file."""

    name: str
    content: bytes

    @property
    def label(self) -> str:
        """Return the name without folders and control
        characters, shortened, for messages and as model name.
        """
        name = self.name.replace("\\", "/").rpartition("/")[2]
        return "".join(filter(str.isprintable, name))[-LABEL:].strip(" .") or "upload"
