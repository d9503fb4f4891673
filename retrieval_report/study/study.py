"""One comparison of models as an object: what was ranked and how it is scored, and every answer, found once."""

from __future__ import annotations

import html
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import polars as pl

from retrieval_report.analysis.audit import audit
from retrieval_report.analysis.comparison import compare
from retrieval_report.analysis.deciding import deciding_queries
from retrieval_report.analysis.flips import flips
from retrieval_report.analysis.hints import tie_hints
from retrieval_report.analysis.leaderboard import leaderboard
from retrieval_report.analysis.likeness import evaluate_like
from retrieval_report.analysis.profile import tie_profile
from retrieval_report.analysis.queries import query_table
from retrieval_report.analysis.summary import summarise
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.options import Options
from retrieval_report.evaluation import evaluate_with_draws
from retrieval_report.metrics.parsing import DEFAULT_CUTOFFS, DEFAULT_METRICS, parse_measure, parse_metrics
from retrieval_report.reading import read_judgements, read_queries, read_rankings
from retrieval_report.report import Report, report_contents, write_report
from retrieval_report.report.contents import ALL_POLICIES, AUDIT_OPTIONS, COUNTED_POLICIES, ROW_OPTIONS
from retrieval_report.report.notices import notices
from retrieval_report.report.paper import latex_table, markdown_table
from retrieval_report.report.terminal import frame_table, visible
from retrieval_report.report.verdict import verdict
from retrieval_report.search import Inputs
from retrieval_report.study.plots import Plots

__all__ = ["Study"]

Measure = tuple[str, int | None]
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class _Data:
    """What a study and all narrower ones share."""

    frames: Mapping[str, Any]  # rankings, judgements, queries
    measures: tuple[Measure, ...]
    asked: Mapping[str, Any]  # metrics and cutoffs, as evaluate takes them
    options: Mapping[str, Any]
    average: str
    like: str | None
    found: dict[Any, Any] = field(default_factory=dict)
    lock: threading.RLock = field(default_factory=threading.RLock)


@dataclass(frozen=True)
class _View:
    """What a study looks at: None is everything."""

    measures: tuple[Measure, ...] | None = None
    models: tuple[str, ...] | None = None
    queries: tuple[object, ...] | None = None


class Study:
    """Compare models: say what they retrieved and how to score it, and ask; every answer is found once.

    A study does not change, and may be asked from several threads. `at`, `models`, `where` and `compare` give narrower
    studies, which share what is found: scores of a list do not depend on which lists are looked at.

    Parameters
    ----------
    rankings
        What :func:`from_search` returns, or what :func:`read_rankings` takes: a dictionary of model → anything that a
        search returns, one long frame, paths.
    measures
        Text such as ``"ndcg@10, ap"``, or a sequence of texts and records; the first is the headline. Measures
        without a cutoff of their own take ``cutoffs``, by default 1, 5, 10 and the whole list; in a text with an
        ``@`` they look at the whole list.
    judgements, queries
        What :func:`read_judgements` and :func:`read_queries` take.
    like
        A system whose definitions and tie order to take, such as "trec_eval": see :func:`evaluate_like`.
    average
        One of {"micro", "macro", "weighted"}, as for :func:`summarise`.
    **options
        All other options of :func:`evaluate`, but ``policies``: a study looks at all of them.

    Raises
    ------
    RetrievalReportError
        At once for arguments and columns; for values in the data when they are first scored.

    Examples
    --------
    >>> study = Study({
    ...     "coarse": {"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"a": 2, "b": 2, "c": 1}},
    ...     "fine": {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"a": 1, "b": 3, "c": 2}}},
    ...     "rr@3, ap@3", judgements={"q1": {"a": 1}, "q2": {"b": 1}})
    >>> study.table().rows()
    [('fine', 1.0, 1.0), ('coarse', 0.6805555555555556, 0.6805555555555556)]
    >>> pair = study.at("rr@3").compare("fine", "coarse").comparison.filter(policy="expected")
    >>> pair.select("model_a", "model_b", pl.col("difference").round(4)).row(0)
    ('coarse', 'fine', -0.3194)
    """

    def __init__(
        self,
        rankings: object,
        measures: object = DEFAULT_METRICS,
        *,
        judgements: object = None,
        queries: object = None,
        like: str | None = None,
        average: str = "micro",
        **options: Any,
    ) -> None:
        """Read the data and check the options; nothing is scored yet."""
        if "policies" in options:
            raise ParameterError("policies: a study looks at all of them; evaluate takes a choice")
        usual = None if isinstance(measures, str) and "@" in measures else DEFAULT_CUTOFFS
        asked: dict[str, Any] = {"metrics": measures, "cutoffs": options.pop("cutoffs", usual)}
        Options(**options)
        requests = parse_metrics(**asked)
        if isinstance(rankings, Inputs):
            judgements = rankings.judgements if judgements is None else judgements
            queries = rankings.queries if queries is None else queries
            rankings = rankings.rankings
        frames = {
            "rankings": read_rankings(rankings),
            "judgements": None if judgements is None else read_judgements(judgements),
            "queries": None if queries is None else read_queries(queries),
        }
        named = tuple((str(metric), cutoff) for metric, own in requests for cutoff in own)
        self._data = _Data(frames, named, asked, options, average, like)
        self._view = _View()

    def at(self, *measures: str) -> Study:
        """The same study with some of its measures, such as ``"ndcg@10"``; the first is the headline."""
        wanted = tuple(parse_measure(measure) for measure in measures)
        missing = [text for text, measure in zip(measures, wanted, strict=True) if measure not in self._measures]
        if missing or not wanted:
            raise ParameterError(
                f"measure: {missing[0]!r} is none of {self._told(self._measures)}" if missing else "measure: none given"
            )
        return self._narrower(_View(wanted, self._view.models, self._view.queries))

    def models(self, *names: str) -> Study:
        """The same study with some of its models. R stays what it was: it is the query's, not these models'."""
        missing = [name for name in names if name not in self.model_names]
        if missing or not names:
            what = f"no model {missing[0]!r}" if missing else "none given"
            raise ParameterError(f"models: {what}; there are {', '.join(map(repr, self.model_names))}")
        return self._narrower(_View(self._view.measures, tuple(dict.fromkeys(names)), self._view.queries))

    def where(self, **columns: object) -> Study:
        """The same study on the queries for which columns of the queries frame have these values.

        >>> labels = {"query": ["p", "q"], "label": ["cat", "dog"]}
        >>> study = Study({"query": ["p", "q"], "item": ["a", "a"], "distance": [1, 1], "relevance": [1, 0]}, "rr@1",
        ...     queries=labels)
        >>> study.where(label="cat").table().rows()
        [('model', 1.0)]
        """
        frame = self._data.frames["queries"]
        unknown = [name for name in columns if frame is None or name not in frame.columns]
        if unknown or not columns:
            raise ParameterError(f"where: no column {unknown[0]!r} in the queries" if unknown else "where: none given")
        kept = frame.filter(**columns)["query"].to_list()
        if self._view.queries is not None:
            kept = [query for query in kept if query in set(self._view.queries)]
        return self._narrower(_View(self._view.measures, self._view.models, tuple(kept)))

    def compare(self, first: str, second: str) -> Study:
        """The same study with two models: its verdict, comparison and queries are those of this pair."""
        return self.models(first, second)

    @property
    def measure(self) -> str:
        """The headline measure, such as ``ndcg@10``."""
        return _text(self._measures[0])

    @property
    def model_names(self) -> list[str]:
        """The models looked at, by name."""
        names: list[str] = self._data.frames["rankings"]["model"].unique().sort().to_list()
        return names if self._view.models is None else [name for name in names if name in self._view.models]

    @property
    def scores(self) -> pl.DataFrame:
        """What :func:`evaluate` returns, under all policies."""
        return self._once("scores", lambda: self._kept(self._everything()[0]))

    @property
    def draws(self) -> pl.DataFrame:
        """What :func:`shuffled_means` returns: the mean under every single random order, over all queries."""
        if self._view.queries is not None:
            raise ParameterError("draws: random orders are averaged over all queries of a study; ask before where")
        return self._once("draws", lambda: self._kept(self._everything()[1]))

    @property
    def summary(self) -> pl.DataFrame:
        """What :func:`summarise` returns."""
        queries = None if self._data.average == "micro" else self._data.frames["queries"]
        return self._once("summary", lambda: summarise(self.scores, queries=queries, average=self._data.average))

    @property
    def comparison(self) -> pl.DataFrame:
        """What :func:`compare` returns, with the chance that tie order reverses each pair."""
        own: dict[str, Any] = {} if self._data.like else {**self._given(), "seed": 0, **self._data.options}
        return self._once("comparison", lambda: compare(self.scores, **own))

    @property
    def flips(self) -> pl.DataFrame:
        """What :func:`flips` returns: the verdict of every pair."""
        # Comparisons are of micro means; the flips of another average must not borrow their p-values.
        paired = self._data.average == "micro" and len(self.model_names) > 1
        return self._once("flips", lambda: flips(self.summary, comparison=self.comparison if paired else None))

    @property
    def verdict(self) -> tuple[str, ...]:
        """What the headline measure tells about the models, in sentences; first what cut lists leave open."""
        metric, cutoff = self._measures[0]
        first = notices(self.summary, measure=(metric, cutoff))
        said = self._once("verdict", lambda: verdict(self.summary, self.flips, metric=metric, cutoff=cutoff)[1])
        return (*first, *said)

    @property
    def ties(self) -> pl.DataFrame:
        """What :func:`tie_profile` returns, at the cutoffs of the measures."""
        cutoffs = list(dict.fromkeys(cutoff for _, cutoff in self._measures))
        return self._once("ties", lambda: tie_profile(**self._given(), cutoffs=cutoffs, **self._only(ROW_OPTIONS)))

    @property
    def hints(self) -> pl.DataFrame:
        """What :func:`tie_hints` returns."""
        return self._once("hints", lambda: tie_hints(**self._given(), **self._only(ROW_OPTIONS)))

    @property
    def audit(self) -> pl.DataFrame:
        """What :func:`audit` returns: what other evaluators print on these data."""
        rules = self._only(AUDIT_OPTIONS)
        return self._once("audit", lambda: audit(**self._given(), **self._data.asked, **rules))

    @property
    def queries(self) -> pl.DataFrame:
        """Query by query: of two models what :func:`deciding_queries` returns, else what :func:`query_table` does."""
        names = self.model_names
        if len(names) == 2:
            return self._once("queries", lambda: deciding_queries(self.scores, *names))
        return self._once("queries", lambda: query_table(self.scores))

    def leaderboard(self, **options: Any) -> pl.DataFrame:
        """What :func:`leaderboard` returns: tiers as letters, and the ranks that each model may have."""
        return leaderboard(self.scores, **options)

    def table(self) -> pl.DataFrame:
        """Expected scores: a row for every model, best first by the headline measure, a column for every measure."""
        expected = self.summary.filter(policy="expected")
        labels = expected.select("metric", "cutoff").rows()
        wide = expected.with_columns(measure=pl.Series([_text(label) for label in labels], dtype=pl.String)).pivot(
            "measure", index="model", values="value", maintain_order=True
        )
        names = [_text(measure) for measure in self._measures]
        return wide.select("model", *names).sort(names[0], descending=True, nulls_last=True, maintain_order=True)

    @property
    def plot(self) -> Plots:
        """The charts of the headline measure: ``study.plot.policies()``; ``dir(study.plot)`` lists them."""
        return Plots(self)

    def contents(self, **about: Any) -> Report:
        """What :func:`report_contents` returns for the whole study; ``about``: its title, headline and command."""
        self._refuse_parts("a report")
        data = self._data
        return report_contents(**self._given(), **data.asked, average=data.average, **data.options, **about)

    def report(self, folder: str | Path, **about: Any) -> Path:
        """Write the report of the whole study into a folder, as :func:`write_report` does; return the folder."""
        self._refuse_parts("a report")
        data = self._data
        write_report(folder, **self._given(), **data.asked, average=data.average, **data.options, **about)
        return Path(folder)

    def to_markdown(self) -> str:
        """The leaderboard of all measures as a Markdown table."""
        return markdown_table(self.contents())

    def to_latex(self) -> str:
        """The leaderboard of all measures as a LaTeX table."""
        return latex_table(self.contents())

    def __repr__(self) -> str:
        """The verdict and the leaderboard of the headline measure."""
        return "\n".join(
            [*(visible(line) for line in self.verdict), "", frame_table(self._board(), self._board().columns)]
        )

    def _repr_html_(self) -> str:
        """The same as a piece of a page, without scripts and without network."""
        board = self._board()
        head = "".join(f"<th>{html.escape(visible(name))}</th>" for name in board.columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{html.escape(_cell(value))}</td>" for value in row) + "</tr>"
            for row in board.head(50).iter_rows()
        )
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in self.verdict)
        return f"<div>{lines}<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"

    @property
    def _measures(self) -> tuple[Measure, ...]:
        return self._data.measures if self._view.measures is None else self._view.measures

    @staticmethod
    def _told(measures: tuple[Measure, ...]) -> str:
        return ", ".join(map(_text, measures))

    def _narrower(self, view: _View) -> Study:
        study = object.__new__(type(self))
        study._data, study._view = self._data, view
        return study

    def _once(self, name: str, make: Callable[[], Answer]) -> Answer:
        """The answer of this name for what is looked at; found by whoever asks first, while the others wait."""
        key = (name, self._view)
        with self._data.lock:
            if key not in self._data.found:
                self._data.found[key] = make()
            found: Answer = self._data.found[key]
        return found

    def _everything(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Scores and random orders of all models, queries and measures."""
        data = self._data
        policies = COUNTED_POLICIES if "count" in data.frames["rankings"].columns else ALL_POLICIES

        def make() -> tuple[pl.DataFrame, pl.DataFrame]:
            if data.like is None:
                return evaluate_with_draws(**data.frames, **data.asked, policies=policies, **data.options)
            found = evaluate_like(like=data.like, **data.frames, **data.asked, policies=policies, **data.options)
            return found, pl.DataFrame()

        with data.lock:
            if "everything" not in data.found:
                data.found["everything"] = make()
            scores, draws = data.found["everything"]
        return scores, draws

    def _kept(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows that this study looks at."""
        view = self._view
        if view.models is not None:
            frame = frame.filter(pl.col("model").is_in(list(view.models)))
        if view.queries is not None:
            frame = frame.filter(pl.col("query").is_in(list(view.queries)))
        if view.measures is not None:
            wanted = pl.DataFrame(list(view.measures), schema={"metric": pl.String, "cutoff": pl.Int64}, orient="row")
            frame = frame.join(wanted, on=["metric", "cutoff"], how="semi", nulls_equal=True, maintain_order="left")
        return frame

    def _given(self) -> dict[str, Any]:
        """The frames, of the models and queries looked at; R and judgements are those of all."""
        frames, view = dict(self._data.frames), self._view
        for name in ("rankings", "judgements", "queries"):
            if view.queries is not None and frames[name] is not None:
                frames[name] = frames[name].filter(pl.col("query").is_in(list(view.queries)))
        return frames

    def _only(self, names: tuple[str, ...]) -> dict[str, Any]:
        return {name: value for name, value in self._data.options.items() if name in names}

    def _refuse_parts(self, what: str) -> None:
        if self._view != _View() or self._data.like is not None:
            raise ParameterError(
                f"{what} is of a whole study; make one of the rows, queries and measures it is to have"
            )

    def _board(self) -> pl.DataFrame:
        """The leaderboard of the headline measure, best first."""
        metric, cutoff = self._measures[0]
        at_measure = (pl.col("metric") == metric) & pl.col("cutoff").eq_missing(pl.lit(cutoff, pl.Int64))
        here = self.summary.filter(at_measure)
        naive = here.filter(policy="naive").select("model", naive="value")
        expected = here.filter(policy="expected").select("model", expected="value", tie_std="tie_std")
        bounds = here.filter(policy="expected").select("model", "lowest", "highest")
        board = expected.join(naive, on="model", how="left").join(bounds, on="model")
        return board.sort("expected", descending=True, nulls_last=True)


def _text(measure: Measure) -> str:
    metric, cutoff = measure
    return f"{metric}@{'all' if cutoff is None else cutoff}"


def _cell(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.4f}" if isinstance(value, float) else visible(str(value), 60)
