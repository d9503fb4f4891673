"""What a study shares with all narrower ones (data,
scores, answers), and the selection of one of them.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar

import polars as pl

from retrieval_report.codes.search import Inputs
from retrieval_report.comparison.corrections import check_correction
from retrieval_report.comparison.margins import parse_margin
from retrieval_report.comparison.replicates import replicate_groups
from retrieval_report.contracts.arguments import (
    ColumnNames,
    Named,
    check_whole,
    is_name,
    is_number,
    quoted,
)
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.columns import Frames
from retrieval_report.contracts.errors import (
    ColumnError,
    DataError,
    FileError,
    KeyMismatchError,
    ParameterError,
    RetrievalReportError,
)
from retrieval_report.contracts.options import (
    POLICIES,
    RULES,
    AuditOptions,
    Options,
    RowOptions,
    ScoringOptions,
    affordable_shuffles,
    options_with,
)
from retrieval_report.contracts.significance_tests import MAX_T
from retrieval_report.contracts.wording import advice, in_python, kind_of_reader, setting
from retrieval_report.engines.check_scores import at_measure
from retrieval_report.engines.evaluate import evaluate, score_with_draws
from retrieval_report.engines.memo import Once
from retrieval_report.engines.summary import check_average, check_cluster
from retrieval_report.metrics.parsing import Cutoffs, Measure, parse_metrics
from retrieval_report.reading import read_judgements, read_queries, read_rankings
from retrieval_report.reading.combine import columns_named, datasets_of, runs_of
from retrieval_report.reading.convert import in_kind_of
from retrieval_report.reading.finding import is_path
from retrieval_report.reading.frames import is_named
from retrieval_report.reading.names import JUDGEMENTS
from retrieval_report.reading.readers import read_labels
from retrieval_report.scoring.judged import Judged, judge
from retrieval_report.scoring.scorer import Scored
from retrieval_report.systems.conventions import OF_ONE_ANSWER, system_of
from retrieval_report.systems.evaluate_like import (
    check_like,
    in_words_of,
    measures_like,
    score_like,
)
from retrieval_report.ties.coverage import ABOUT_RELEVANCE

COUNTED_POLICIES = ("expected", "shuffled", "best", "worst")  # a counts frame has no order of rows
# Settings, and what each is asked with.
NEEDED = {
    "baseline": "margin",
    "margin": "baseline",
    "largest_loss": "margin",
    "k": "labels",
    "at_least": "calibrate",
}
AVERAGES = ("micro", "macro", "weighted")
# The options that also decide in the tie profile and the hints, in the coverage by judgements,
# which knows all relevant items and is not asked how lists end, and in the audit.
ROW_OPTIONS = tuple(RowOptions.__annotations__)
COVERAGE_OPTIONS = tuple(
    name
    for name in (*RULES, "threads")
    if name not in (*ABOUT_RELEVANCE, "relevant_items", "truncated")
)

AUDIT_OPTIONS = tuple(AuditOptions.__annotations__)
# In errors about judgements, which are those of one judge.
ABOUT_JUDGEMENTS = ("judge", "relevan")
Answer = TypeVar("Answer")


class answer(cached_property[Answer]):  # used like `property`
    """A property of a study that is computed once for all studies with the same data and view; the
    first thread computes it, others wait.
    """

    in_words = False
    of_rows = False
    of_any_draw = False

    if not TYPE_CHECKING:

        def __get__(self, study, owner=None):
            """Return the answer for the current selection."""
            if study is None:
                return self
            view = replace(study._view, draws=Draws()) if self.of_any_draw else study._view
            key = self.attrname, view, self.in_words and kind_of_reader()
            memo = study._data.of_rows if self.of_rows else study._data.memo
            return memo.find(key, lambda: self.func(study))


class answer_in_words(answer[Answer]):
    """An answer whose texts say what to type, in the words of whoever reads them."""

    in_words = True


class answer_of_rows(answer_in_words[Answer]):
    """An answer in words that is the same by whatever measures the rows are scored."""

    of_rows = True


class answer_of_any_draw(answer[Answer]):
    """An answer that is the same whatever random orders are drawn."""

    of_any_draw = True


class Draws(NamedTuple):
    """The settings that decide the random orders."""

    shuffles: int = 10
    seed: int = 0


@dataclass(frozen=True)
class StudyData:
    """The data that a study shares with all narrower ones."""

    frames: Named  # rankings, judgements, queries
    measures: Mapping[
        Measure, Measure
    ]  # as asked, and as the scores name them: `like` may define them otherwise
    asked: Named  # measures and cutoffs, as for evaluate
    options: Named
    like: str | None
    judges: Frames  # none if there is one at most
    judge: str | None  # whose judgements those of the frames are
    replicate: object  # as asked: a column, a pattern or run → model
    of_run: Mapping[str, str]  # run → model; none unless asked
    labels: pl.DataFrame | None  # of the items
    by_chance: Mapping[str, tuple[int, int]]  # models that `from_search` warned of
    columns: ColumnNames  # the names that the caller gave, for advice
    files: bool  # whether the rankings are files, after which models may be named
    memo: Once = field(init=False, default_factory=Once)  # `replace` begins another
    # answers that depend on no measure, which the same data scored by others share
    of_rows: Once = field(default_factory=Once)

    @classmethod
    def read(
        cls,
        inputs: Named,
        measures: object,
        like: str | None,
        options: Named,
        judge: str | None,
        replicate: object,
        dataset: str | None,
        labels: object,
    ) -> StudyData:
        """Read the input and check the options; nothing is scored yet."""
        names = "columns", "name_by"
        reading = {name: value for name, value in options.items() if name in names}
        scoring = {name: value for name, value in options.items() if name not in names}
        request = _request(measures, like, scoring)
        try:
            judges = read_judges(inputs["judgements"])
        except FileError:
            if is_path(inputs["rankings"]):  # where both are in the other's place, blame these
                read_rankings(inputs["rankings"], **reading)
            raise
        judge = headline_judge(judges, judge)
        if judge is not None:
            inputs = {**inputs, "judgements": judges[judge]}
        frames, of_run = read_frames(**inputs, replicate=replicate, dataset=dataset, **reading)
        if frames["rankings"].is_empty():
            raise DataError(f"{_place(inputs['rankings'])}: no rows")
        if replicate is not None and not of_run:
            runs = frames["rankings"]["model"].unique().sort().to_list()
            of_run = replicate_groups(runs, replicate)
        # What chance would find was counted in the order that other columns now turn round.
        is_turned = not {"distance", "score"}.isdisjoint(options.get("columns") or ())
        return cls(
            frames=frames,
            like=like,
            judges=judges,
            judge=judge,
            replicate=replicate,
            of_run=of_run,
            labels=None if labels is None else read_labels(labels),
            by_chance={} if is_turned else getattr(inputs["rankings"], "by_chance", {}),
            columns=options.get("columns"),
            files=is_path(inputs["rankings"]),
            **request,
        )

    def requesting(self, measures: object, options: Named, **changed: Any) -> StudyData:
        """Return the same data, which are not read again, under other measures and options."""
        if changed.get("frames", self.frames)["rankings"].is_empty():
            raise DataError("rankings: no rows")
        return replace(self, **_request(measures, self.like, options), **changed, of_rows=Once())

    def judged_by(self, judge: str) -> StudyData:
        """Return the same data with the judgements of another judge, which share nothing else."""
        if headline_judge(self.judges, judge) is None:  # of judgements without a name
            return self
        frames = with_query_ids_alike({**self.frames, "judgements": self.judges[judge]})
        return self.other(("judged by", judge), frames=frames, judge=judge)

    def of_judged_queries(self) -> StudyData:
        """Return the same data, of which queries without judgements are left out."""
        if self.like is not None:
            return self  # the system decides
        return self.other("judged queries", options={**self.options, "unjudged_query": "skip"})

    def by_measures(self, measures: object, cutoffs: Cutoffs) -> StudyData:
        """Return the same data by other measures, which share the answers that depend on none."""
        return replace(self, **_request(measures, self.like, {**self.options, "cutoffs": cutoffs}))

    def other(self, key: Hashable, **changed: Any) -> StudyData:
        """Return the data with something else, which share no answer, once."""
        return self.memo.find(key, lambda: replace(self, **changed, of_rows=Once()))

    def of_queries(self, queries: Sequence[object] | None) -> Named:
        """Return the frames of some queries (None: of all)."""
        if queries is None:
            return dict(self.frames)
        is_selected = pl.col("query").is_in(queries)
        return {
            name: None if frame is None else frame.filter(is_selected)
            for name, frame in self.frames.items()
        }

    @cached_property
    def models(self) -> list[str]:
        """All models, by name."""
        names: list[str] = self.frames["rankings"]["model"].unique().sort().to_list()
        return names

    @property
    def judged(self) -> Judged:
        """The rankings joined with judgements and queries, once."""
        policies = COUNTED_POLICIES if self.counted else POLICIES
        options = options_with(self.options, policies=policies)

        with judge_in_errors(self.judge):
            return self.of_rows.find("judged", lambda: judge(**self.frames, options=options))

    @cached_property
    def items(self) -> int:
        """Return how many items all lists have together."""
        rankings = self.frames["rankings"]
        return int(rankings["count"].sum()) if self.counted else rankings.height

    @property
    def counted(self) -> bool:
        """Whether the rankings are counts of items, which have no order."""
        return "count" in self.frames["rankings"].columns

    def draws(self, options: Named) -> Draws:
        """Return the settings of random orders among some options, fewer orders if their default
        number would take long.
        """
        checked = Options(**options)
        return Draws(affordable_shuffles(checked.shuffles, self.items), checked.seed)

    @property
    def policies(self) -> tuple[str, ...]:
        """Return all policies under which these rankings can be scored."""
        counts_are_enough = self.like is not None and system_of(self.like)[0] in OF_ONE_ANSWER
        return COUNTED_POLICIES if self.counted and not counts_are_enough else POLICIES


def _request(measures: object, like: str | None, options: Named) -> Named:
    """Return what is asked of data and how: ``measures``, ``asked`` and ``options``, checked."""
    if isinstance(measures, Mapping) or hasattr(measures, "columns"):
        raise ParameterError(
            "measures: these are rows, not measures such as 'ndcg@10'; rankings come first"
            + advice("; pass {} by name", setting("judgements"))
        )
    if "policies" in options:
        raise ParameterError("policies: a study uses all of them; evaluate accepts a choice")
    scoring = dict(options)
    words = measures if like is None else in_words_of(like, measures)
    asked = {"measures": words, "cutoffs": scoring.pop("cutoffs", None)}
    options_with(scoring)  # refuses what is wrong
    measure_names = {
        (str(metric), cutoff): (str(metric), cutoff)
        for metric, depths in parse_metrics(**asked)
        for cutoff in depths
    }
    if like is not None:
        scoring.pop("progress", None)  # it has none to show
        check_like(scoring)
        like_measures = measures_like(like, **asked)
        measure_names = {
            measure: (record.definition, measure[1]) for measure, record in like_measures.items()
        }
    return {"measures": measure_names, "asked": asked, "options": scoring}


def read_frames(
    rankings: object,
    judgements: object,
    queries: object,
    replicate: object,
    dataset: str | None,
    **how: Any,
) -> tuple[Named, dict[str, str]]:
    """Return rankings, judgements and queries as frames, where columns of the rankings that name a
    replicate or a data set have become names of models or a frame of queries; and the model of
    every run. Search results hold all three frames.
    """
    if isinstance(rankings, Inputs):
        rankings, judgements, queries = rankings.beside(judgements, queries)
    columns = columns_named(replicate, dataset if queries is None else None)
    try:
        frame = read_rankings(rankings, keep=columns, **how)
    except ColumnError as error:
        _refuse_both(error, judgements)
        raise
    of_run: dict[str, str] = {}
    queries = None if queries is None else read_queries(queries)
    if dataset in columns and dataset in frame.columns:
        queries = datasets_of(frame, dataset)
    if replicate in columns and replicate in frame.columns:
        frame, of_run = runs_of(frame, str(replicate))
    frames = {
        "rankings": frame.drop(columns, strict=False),
        "judgements": None if judgements is None else read_judgements(judgements),
        "queries": queries,
    }
    return with_query_ids_alike(frames), of_run


def _refuse_both(error: ColumnError, judgements: object) -> None:
    """Raise the error of rankings together with that of judgements, if their columns are refused as
    well: often both have the same names, which two functions take.
    """
    try:
        if judgements is not None:
            read_judgements(judgements)
    except ColumnError as other:
        raise ColumnError(f"{error}; and {other}") from other


def with_query_ids_alike(frames: Named) -> Named:
    """Return the frames with the ids of queries in the kind of the rankings, text or numbers, so
    that an id finds its rows in each of them. Where they do not fit, they stay: scoring says why.
    """
    found, reference = dict(frames), frames["rankings"]["query"]
    for name, frame in frames.items():
        if frame is not None:
            with suppress(KeyMismatchError):
                ids = in_kind_of(reference, frame["query"], "rankings", name)
                found[name] = frame.with_columns(ids)
    return found


def _place(rankings: object) -> str:
    """Return where rankings come from, for messages: the paths of files, else the argument."""
    if not is_path(rankings):
        return "rankings"
    return ", ".join(map(str, rankings if isinstance(rankings, list | tuple) else [rankings]))


def read_judges(judgements: Any) -> dict[str, pl.DataFrame]:
    """Return the judgements of every judge, by name; none if these are the judgements of one."""
    if not is_named(judgements, JUDGEMENTS):
        return {}
    for name in judgements:
        if not is_name(name):
            raise ParameterError(f"judgements: {name!r} is not the name of a judge")
    judges = {}
    for name, labels in judgements.items():
        with judge_in_errors(name):
            judges[name] = read_judgements(labels)
    return judges


@contextmanager
def judge_in_errors(judge: str | None) -> Iterator[None]:
    """Name the judge, if there are several, in errors about judgements.

    >>> with judge_in_errors("gpt"):
    ...     raise RetrievalReportError("2 queries have no judgements")
    Traceback (most recent call last):
    retrieval_report.RetrievalReportError: judge 'gpt': 2 queries have no judgements
    """
    try:
        yield
    except RetrievalReportError as error:
        if judge is None or not any(word in str(error) for word in ABOUT_JUDGEMENTS):
            raise
        raise type(error)(f"judge {judge!r}: {error}") from error


def headline_judge(judges: Frames, judge: str | None) -> str | None:
    """Return the judge of the headline: the first unless another is named."""
    if judge is None:
        return next(iter(judges), None)
    if not judges:
        raise ParameterError(
            f"judge: {judge!r} is named, but the judgements are of one judge"
            + advice("; pass {}", setting("judgements", {"human": ...}))
        )
    check_choice("judge", judge, [*judges])
    return judge


def of_models(frames: Named, models: Sequence[str]) -> Named:
    """Return the frames of some models as if there were no others."""
    rankings, queries = frames["rankings"], frames["queries"]
    if frames["judgements"] is None and queries is None:
        # Queries that only other models have are missing here too.
        queries = rankings.select("query").unique(maintain_order=True)
    rankings = rankings.filter(pl.col("model").is_in(models))
    return {**frames, "rankings": rankings, "queries": queries}


@dataclass(frozen=True)
class View:
    """The selection of a study (None: everything), and the settings of further questions."""

    draws: Draws
    average: str = "micro"
    by: str | None = None
    dataset: str | None = None
    baseline: str | None = None
    margin: float | str | Mapping[str, float | str] | None = (
        None  # points or text; margins by measure become text
    )
    largest_loss: float | None = None
    # May be a frame, which has no hash: nothing is remembered by it.
    costs: object = field(default=None, compare=False)
    correction: str = MAX_T
    cluster: str | None = None
    k: int | None = None
    calibrate: str | None = None
    at_least: float | None = None
    measures: tuple[Measure, ...] | None = None
    models: tuple[str, ...] | None = None
    queries: tuple[object, ...] | None = None
    policies: tuple[str, ...] | None = None
    runs: bool = False  # whether each run is a model, although replicates are named
    where: tuple[tuple[str, object], ...] = field(
        default=(), compare=False
    )  # how the queries were chosen, in words

    def __post_init__(self) -> None:
        """Keep margins by measure as text, which has a
        hash and stands in the call that repeats a report.
        """
        if self.margin is not None:
            margins = parse_margin(self.margin)
            if not is_number(self.margin):
                object.__setattr__(self, "margin", str(margins))

    def check(self, data: StudyData, models: Sequence[str]) -> None:
        """Refuse immediately what could not be answered later of these data and models."""
        queries, labelled = data.frames["queries"], data.labels is not None
        check_choice("average", self.average, AVERAGES)
        check_correction(self.correction)
        check_cluster(self.cluster, self.average)
        column = None if self.average == "micro" else check_average(self.average, queries)
        if queries is not None and column == "weight" and queries["weight"].max() == 0:
            raise ParameterError("average: the weight of every query is 0, so none counts")
        for name in ("by", "dataset", "cluster"):
            column = getattr(self, name)
            if column is not None and (queries is None or column not in queries.columns):
                raise ParameterError(f"{name}: no column {column!r} in the queries")
        choices = {"labels": labelled or None, **vars(self)}
        for name, needed in NEEDED.items():
            if choices[name] is not None and choices[needed] is None:
                raise ParameterError(f"{name}: it is given without {needed}")
        if self.baseline is not None:
            hint = advice("; {} names TREC runs after their files", setting("name_by", "file"))
            check_choice(
                "baseline", self.baseline, models, hint if data.files else in_python("", hint)
            )
        if self.k is not None:
            check_whole("k", self.k, 1)
        if labelled and (queries is None or "label" not in queries.columns):
            raise ParameterError(
                "labels: the queries have no column 'label', which is to be predicted"
            )
        if self.costs is not None:
            from retrieval_report.comparison.costs import amounts

            amounts(self.costs, set(models))
        if self.calibrate is not None:
            from retrieval_report.ties.thresholds import check_goal

            check_goal("calibrate", self.calibrate, self.at_least)


class Questions(TypedDict, total=False):
    """The settings of a study besides those of scoring: how it averages, and further questions."""

    average: str
    by: str | None
    dataset: str | None
    baseline: str | None
    margin: float | str | Mapping[str, float | str] | None
    largest_loss: float | None
    costs: object
    correction: str
    cluster: str | None
    k: int | None
    calibrate: str | None
    at_least: float | None


class StudyOptions(Questions, ScoringOptions, total=False):
    """The options of a study: those of ``evaluate``
    except policies, cutoffs, and how rankings are read.
    """

    cutoffs: Cutoffs
    columns: ColumnNames
    name_by: str | None


def scores_under(data: StudyData, policies: Sequence[str], draws: Draws) -> pl.DataFrame:
    """Return scores of all models, queries and measures as from `evaluate`, drawing random orders
    only if needed.
    """
    if "shuffled" not in policies:
        scores = _exact(data, policies, draws)
    elif set(policies) == {"shuffled"}:
        scores = drawn_scores(data, draws)[0]
    else:
        parts = _exact(data, data.policies, draws), drawn_scores(data, draws)[0]
        scores = data.memo.find(("scores", draws), lambda: _in_order(data, parts))
    return scores.filter(pl.col("policy").is_in(policies))


def _exact(data: StudyData, policies: Sequence[str], draws: Draws) -> pl.DataFrame:
    """Return scores under all policies that need no random orders, or under expected if that is all
    that is asked and known so far: a table needs no more, which takes a quarter of the time.
    """
    # A system may draw the order that it prints.
    draw_options = Draws() if data.like is None else draws
    exact = tuple(policy for policy in data.policies if policy != "shuffled")
    if tuple(policies) == ("expected",) and not data.memo.known((exact, draw_options)):
        exact = ("expected",)
    return data.memo.find((exact, draw_options), lambda: _scored(data, exact, draw_options)[0])


def drawn_scores(
    data: StudyData, draws: Draws, average: str = "micro", weights: pl.DataFrame | None = None
) -> Scored:
    """Return scores under random orders, and the means under every single one, with the weights of
    an average.
    """
    drawn = ("drawn", draws, average)
    return data.memo.find(drawn, lambda: _scored(data, ("shuffled",), draws, weights))


def _scored(
    data: StudyData,
    policies: tuple[str, ...],
    draws: Draws,
    weights: pl.DataFrame | None = None,
) -> Scored:
    arguments = {**data.asked, **data.options, **draws._asdict(), "policies": policies}
    judged = data.judged
    with judge_in_errors(data.judge):
        if data.like is not None:
            return score_like(judged, data.like, judgements=None, queries=None, **arguments)
        if "shuffled" in policies:
            return score_with_draws(judged, weights=weights, **arguments)
        return evaluate(judged, **arguments), pl.DataFrame()


def _in_order(data: StudyData, parts: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Combine scores as if they had been computed together."""
    place = pl.struct("model", "query", "metric", "cutoff").rle_id()  # the same in each
    placed = pl.concat(part.with_columns(place=place) for part in parts)
    return placed.sort("place", pl.col("policy").cast(pl.Enum(data.policies))).drop("place")


def check_chosen(what: str, choice: Collection[str], available: Sequence[str]) -> None:
    """Refuse a choice of nothing, or of what there is not."""
    if not choice:
        raise ParameterError(
            f"{what}: name at least one{' of ' * bool(available)}{quoted(available)}"
        )
    for name in choice:
        hint = "" if isinstance(name, str) else "; give their names one by one"
        check_choice(what, name, available, hint)


def holds(column: pl.Series, value: object) -> pl.Series:
    """Return where a column holds a value, or one of a list: as text, unless both are of a kind,
    so that labels read from a file of text are found by a number.

    >>> holds(pl.Series([3, 10]), "3").to_list(), holds(pl.Series(["3", "10"]), [10]).to_list()
    ([True, False], [False, True])
    """
    values = pl.Series([*value] if isinstance(value, list | tuple | set) else [value], strict=False)
    if values.dtype == pl.Object:
        kind = type(values[0]).__name__
        raise ParameterError(f"where: a {kind} is not a value of the column, or a list of them")
    if column.dtype != values.dtype:
        are_numbers = column.dtype.is_numeric() and values.dtype.is_numeric()
        column, values = (
            series.cast(pl.Float64 if are_numbers else pl.String) for series in (column, values)
        )
    return column.is_in(values.implode())


def at_measures(measures: Sequence[Measure], frame: pl.DataFrame) -> pl.DataFrame:
    """The rows of some measures."""
    return frame.filter(pl.any_horizontal(at_measure(*measure) for measure in measures))
