"""What a study looks at, and what it says of its judges, replicates, segments, data sets and
labels, if they are named.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

import polars as pl

from retrieval_report.comparison.datasets import dataset_scores, dataset_table
from retrieval_report.comparison.identical import Groups, identical_models
from retrieval_report.comparison.judges import (
    judge_agreement,
    judge_pairs,
    judge_table,
    own_labels,
)
from retrieval_report.comparison.replicates import (
    draws_over_runs,
    means_over_runs,
    replicate_pairs,
    replicate_table,
)
from retrieval_report.comparison.segments import segment_winners, segments_of
from retrieval_report.contracts.arguments import Named, check_text
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import ParameterError
from retrieval_report.contracts.frames import merge_repeats, with_model
from retrieval_report.contracts.options import BETWEEN_TIES, NO, Options, options_with
from retrieval_report.contracts.wording import advice, setting
from retrieval_report.engines.check_scores import Checked
from retrieval_report.engines.summary import weighed
from retrieval_report.metrics.parsing import Measure
from retrieval_report.scoring.health import AT_RANDOM, health_of
from retrieval_report.scoring.judged import Judged
from retrieval_report.scoring.layout import rounded
from retrieval_report.study.caveats import model_text
from retrieval_report.study.segments import with_doubts
from retrieval_report.study.study_data import (
    ROW_OPTIONS,
    Draws,
    StudyData,
    View,
    answer,
    answer_of_rows,
    at_measures,
    check_chosen,
    drawn_scores,
    of_models,
    scores_under,
)
from retrieval_report.study.summaries import summary_of
from retrieval_report.systems.emulation import Emulation
from retrieval_report.systems.evaluate_like import emulated, measures_like

if TYPE_CHECKING:
    from retrieval_report.study.study import Study
    from retrieval_report.ties.nearest_labels import NearestLabels
    from retrieval_report.ties.thresholds import Thresholds

NO_FRAME = pl.DataFrame()


class LevelledStudy:
    """The part of a study that holds its data and the selection of them, and what is above single
    runs and queries or about who judged.
    """

    _data: StudyData
    _view: View

    def _checked(self) -> Self:
        """Return this study, refusing immediately settings by which it could not answer later."""
        self._view.check(self._data, self._all_names)
        return self

    def _with(
        self, data: StudyData | None = None, view: View | None = None, **changed: Any
    ) -> Self:
        """Return the same data, unless others are given, looked at in another way; no setting that
        `_checked` has accepted is checked again.
        """
        study = object.__new__(type(self))
        study._data, study._view = data or self._data, replace(view or self._view, **changed)
        return study

    def under(self, *policies: str) -> Self:
        """Return the study under these policies; without "shuffled", no random order is drawn.

        >>> from retrieval_report import Study
        >>> study = Study(
        ...     {"query": ["q", "q"], "item": ["a", "b"], "distance": [1, 1], "relevance": [0, 1]}
        ... )
        >>> study.under("naive", "expected").policies
        ('expected', 'naive')
        """
        check_chosen("policies", policies, self.policies)
        return self._with(policies=tuple(policy for policy in self.policies if policy in policies))

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Metric and cutoff of every selected measure, as requested; the first is the headline."""
        return self._view.measures or tuple(dict.fromkeys(self._data.measures.values()))

    @property
    def model_names(self) -> list[str]:
        """The selected models, by name."""
        selected_models = self._view.models
        return [
            name for name in self._all_names if selected_models is None or name in selected_models
        ]

    @property
    def _all_names(self) -> list[str]:
        """All models, by name."""
        models = {} if self._view.runs else self._data.of_run
        return sorted({*models.values()}) if models else self._data.models

    @property
    def _run_names(self) -> list[str]:
        """The runs of the selected models: the names in the rankings."""
        return [*self.of_run] or self.model_names

    @property
    def runs(self) -> Self:
        """The study of single runs, each as a model of its own, where ``replicate`` makes models
        the means over them; without it, the study itself.

        >>> from retrieval_report import Study
        >>> rows = {"model": ["m-1", "m-2"], "query": ["q"] * 2, "item": ["a"] * 2}
        >>> rows |= {"distance": [1, 1], "relevance": [1, 1]}
        >>> study = Study(rows, "rr", replicate=r"-(?P<replicate>.+)", truncated="no")
        >>> study.model_names, study.runs.model_names
        (['m'], ['m-1', 'm-2'])
        """
        if not self.of_run:
            return self
        models = None if self._view.models is None else tuple(self._run_names)
        of_models = dict.fromkeys(("baseline", "margin", "largest_loss", "costs"))
        return self._with(**of_models, models=models, runs=True)

    @property
    def options(self) -> Options:
        """All options of :func:`evaluate`, with their defaults."""
        return Options(**self._options)

    @property
    def average(self) -> str:
        """How queries are averaged."""
        return self._view.average

    @property
    def policies(self) -> tuple[str, ...]:
        """The selected policies: all under which these rankings can be scored,
        unless `under` chose.
        """
        return self._view.policies or self._data.policies

    @property
    def judged(self) -> Judged:
        """The judged rankings of the selected queries; R and judgements are those of all models."""
        queries = self._view.queries
        if queries is None:
            return self._data.judged
        return self._data.memo.find(
            ("judged", queries), lambda: self._data.judged.of_queries(queries)
        )

    @property
    def health(self) -> pl.DataFrame:
        """What may be wrong with the data, one row per model and fault, serious
        ones first: judged queries without a list, items that match no judgement, reversed lists,
        printed ranks that contradict the order, lists that repeat, and judgements that repeat.
        Empty if nothing is wrong.
        """
        return self._of_models(self._with(view=View(Draws(), queries=self._view.queries))._health)

    @answer_of_rows
    def _health(self) -> pl.DataFrame:
        data, rules = self._data, {}
        if data.like is not None:
            emulation = self._emulated
            rule = emulation.rules(next(iter(emulation.records.values())))
            rules = {"missing_query": rule.missing_query, "no_relevant": rule.no_relevant}
        options = options_with({**data.options, **rules}, policies="expected")
        return health_of(self.judged, options, data.by_chance, data.columns, like=bool(rules))

    @property
    def _emulated(self) -> Emulation:
        """The rankings of the selected queries as the system of ``like`` receives them."""
        data = self._data
        assert data.like is not None
        measures = measures_like(data.like, **data.asked)
        return data.memo.find(
            ("emulated", self._view.queries),
            lambda: emulated(self.judged, None, None, measures, data.options),
        )

    @property
    def shuffled(self) -> pl.DataFrame:
        """The result of :func:`shuffled_means`: the mean of the queries under every single order,
        by the average of the study (a plain mean with ``like``).
        """
        data, queries = self._data, self._view.queries
        if queries is not None:  # the means of some are others, so they are drawn again
            data = data.other(("of queries", queries), frames=self._given())
        average, weights = "micro", None
        if self.average != average and self._data.like is None:
            whole = self._with(models=None, measures=None, policies=("expected",))
            average, weights = self.average, whole._weighed(whole._run_scores).frame
        drawn = drawn_scores(data, self._view.draws, average, weights)
        means = self._at_measures(self._of_models(drawn[1]))
        return draws_over_runs(means, self.of_run) if self.of_run else means

    @property
    def _drawn_means(self) -> pl.DataFrame:
        """The means under single orders; empty without the policy shuffled, or if queries are
        averaged in another way than they.
        """
        are_of_these_means = self.average == "micro" or self._data.like is None
        drawn = are_of_these_means and "shuffled" in self.policies
        return self.shuffled if drawn else NO_FRAME

    @property
    def suspects(self) -> list[str]:
        """The selected models with a serious fault in `health`: no verdict is given on them."""
        return sorted({self.of_run.get(run, run) for run in self.health.filter("serious")["model"]})

    @property
    def at_random(self) -> list[str]:
        """The selected models whose lists, as `health` notes, suit other queries as well or are
        ordered as if by chance: they are never safe, and never shipped.
        """
        rows = self.health.filter(~pl.col("serious"), pl.col("finding").is_in(AT_RANDOM))
        return sorted({self.of_run.get(run, run) for run in rows["model"]} - {*self.suspects})

    @property
    def _sound(self) -> Self:
        """The study of the models that can be compared: all but `suspects`; of nothing but suspects
        the first, which has nothing to be compared with.
        """
        suspects = self.suspects
        sound = [name for name in self.model_names if name not in suspects]
        return self._with(models=tuple(sound or self.model_names[:1])) if suspects else self

    @property
    def identical(self) -> Groups:
        """Groups of models whose lists are the same for every query."""
        if "expected" not in self.policies:
            return ()
        # Whatever the measures, so that they are compared once.
        all_measures = View(Draws(), queries=self._view.queries, runs=self._view.runs)
        models = {*self.model_names}
        groups = self._with(view=all_measures)._identical
        of_these = [tuple(name for name in group if name in models) for group in groups]
        return tuple(group for group in of_these if len(group) > 1)

    @answer_of_rows
    def _identical(self) -> Groups:
        first = self._with(measures=self.measures[:1])
        return identical_models(first.under("expected").scores, self._retrieved, self.of_run)

    @property
    def scores(self) -> pl.DataFrame:
        """The result of :func:`evaluate`, under all policies except those that `under` left out;
        with ``replicate``, the means over the runs of every model, query by query.
        """
        return self._means_over_runs if self.of_run else self._run_scores

    @answer
    def _means_over_runs(self) -> pl.DataFrame:
        return means_over_runs(self._run_scores, self.of_run)

    @property
    def _run_scores(self) -> pl.DataFrame:
        """The scores of single runs."""
        scores = scores_under(self._data, self.policies, self._view.draws)
        if self._view.queries is not None:
            scores = scores.filter(pl.col("query").is_in(self._view.queries))
        return self._at_measures(self._of_models(scores))

    def _weighed(self, scores: pl.DataFrame) -> Checked:
        """Return scores whose plain means are the means of the study; see :func:`weighed`."""
        if self.average == "micro":
            return Checked(scores)
        return Checked(weighed(scores, self._data.frames["queries"], self.average))

    @property
    def _alone(self) -> str:
        """Say which query stands alone in a mean, or in how many labels one does; intervals and
        tests are then not given.
        """
        scores = self._weighed(self._sound._undrawn.scores).frame
        name = scores["alone"].first() if "alone" in scores.columns else None
        if name is None:
            return ""
        name = model_text(str(name))
        what = f"Query '{name}' has all weight"
        if self.average == "macro":
            labels = scores.drop_nulls("value").group_by("label").agg(pl.n_unique("query"))
            count = labels.filter(query=1).height
            what = f"{count} of {labels.height} labels hold one query, such as '{name}'"
            if count == 1:
                what = f"Label '{name}' holds one query"
        return f"{what}, so nothing can be said of other queries."

    @answer
    def summary(self) -> pl.DataFrame:
        """The result of :func:`summarise`."""
        return summary_of(self)

    @property
    def _undrawn(self) -> Self:
        """The study under the policies that need no random orders, if there are any."""
        exact = [policy for policy in self.policies if policy != "shuffled"]
        return self.under(*exact) if exact else self

    @property
    def _options(self) -> Named:
        return {**self._data.options, **self._view.draws._asdict()}

    def _only(self, names: tuple[str, ...]) -> Named:
        return {name: value for name, value in self._data.options.items() if name in names}

    def _frames_alone(self) -> Named:
        """Return the frames of the selected queries and models."""
        frames = self._given()
        return frames if self._view.models is None else of_models(frames, self._run_names)

    @property
    def _cutoffs(self) -> list[int | None]:
        return list(dict.fromkeys(cutoff for _, cutoff in self.measures))

    def _given(self) -> Named:
        """Return the frames of the selected queries; R and judgements are those of all models."""
        return self._data.of_queries(self._view.queries)

    @property
    def _retrieved(self) -> pl.DataFrame:
        """The rows of all models as they are scored."""
        return rounded(with_model(self.judged.retrieved), self.options)

    def _of_models(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Return the rows of the selected models (of their runs, if these are named), and those
        about all models.
        """
        if self._view.models is None or not frame.width:
            return frame
        return frame.filter(pl.col("model").is_in(self._run_names) | pl.col("model").is_null())

    def _at_measures(self, frame: pl.DataFrame) -> pl.DataFrame:
        everything = self._view.measures is None or not frame.width
        return frame if everything else at_measures(self.measures, frame)

    @property
    def over(self) -> Named:
        """The ``cluster`` whose values tests and intervals count, with the ``queries``; empty if
        they count queries.
        """
        cluster = self._view.cluster
        queries = self._data.frames["queries"]
        return {} if cluster is None else {"cluster": cluster, "queries": queries}

    @property
    def _tests(self) -> Named:
        """How pairs are tested, in all answers."""
        view = self._view
        return {"correction": view.correction, "seed": view.draws.seed, **self.over}

    @property
    def judge(self) -> str | None:
        """The judge of the headline, if there are several."""
        return self._data.judge

    @property
    def judgements(self) -> dict[str, pl.DataFrame]:
        """The judgements of every judge by name, one of each item; empty if they have no names."""
        rule = options_with(self._data.options).repeated_judgements
        return {judge: merge_repeats(frame, rule) for judge, frame in self._data.judges.items()}

    def judged_by(self, judge: str) -> Self:
        """Return the study under another of its judges, whose judgements then decide everything.

        >>> from retrieval_report import Study
        >>> study = Study(
        ...     {"query": ["q", "q"], "item": ["a", "b"], "distance": [1, 2]},
        ...     "rr",
        ...     judgements={"human": {"q": {"a": 1}}, "gpt": {"q": {"b": 1}}},
        ... )
        >>> study.judge, study.table()["rr@all"][0], study.judged_by("gpt").table()["rr@all"][0]
        ('human', 1.0, 0.5)
        """
        return self._with(self._data.judged_by(judge))

    def thresholds(self, k: int | None = None) -> Thresholds:
        """The result of :func:`thresholds`: what is accepted up to every distance, of all items or
        of the k nearest.
        """
        from retrieval_report.ties.thresholds import thresholds

        all_thresholds = thresholds(self.judged, k=k, **self._only((*ROW_OPTIONS, "relevant_from")))
        return replace(all_thresholds, ties=self._of_models(all_thresholds.ties))

    def knn(
        self, labels: object, *, k: int = 1, vote: str = "majority", tied_votes: str = "first"
    ) -> NearestLabels:
        """The result of :func:`knn`: how the nearest items, whose labels are given, classify the
        queries; these need a column ``label``.
        """
        from retrieval_report.ties.nearest_labels import knn

        how: Named = {"k": k, "vote": vote, "tied_votes": tied_votes}
        rows = self._of_models(self._retrieved)
        if self._data.options.get("truncated") in (NO, BETWEEN_TIES):
            how["truncated"] = self._data.options["truncated"]
        return knn(rows, labels, queries=self._given()["queries"], **how)

    @answer
    def nearest(self) -> NearestLabels | None:
        """The result of `knn` for ``labels`` and ``k``; None without labels."""
        labels = self._data.labels
        return None if labels is None else self.knn(labels, k=self._view.k or 1)

    @answer
    def calibration(self) -> pl.DataFrame:
        """The threshold of every model by ``calibrate`` and ``at_least``; empty without them."""
        metric = self._view.calibrate
        return NO_FRAME if metric is None else self.matches.calibrate(metric, self._view.at_least)

    @answer
    def matches(self) -> Thresholds:
        """The result of `thresholds`."""
        return self.thresholds()

    @answer
    def judges(self) -> pl.DataFrame:
        """What every judge says: the mean and rank of every model, whether the model's scores are
        the judge's own labels, and its median rank under the others; empty for a single judge.
        """
        studies = self._by_judge()
        if len(studies) < 2:
            return NO_FRAME
        of_run, summaries = self.of_run, {}
        for name, study in studies.items():
            self_judging = {of_run.get(run, run) for run in own_labels(study.judged)}
            summaries[name] = study.summary.with_columns(own=pl.col("model").is_in(self_judging))
        return judge_table(summaries)

    @answer
    def judge_pairs(self) -> pl.DataFrame:
        """For every pair of models, the share of the other judges who order it as the headline's
        does, and which of them do not; empty for a single judge.
        """
        judges = self.judges
        return judge_pairs(judges, str(self.judge)) if judges.width else judges

    @answer
    def judge_agreement(self) -> pl.DataFrame:
        """How far every two judges agree on the order of the models (Kendall's τ-b) and on labels
        (Cohen's κ, Krippendorff's α), and all of them in the last row; empty for a single judge.
        """
        judges = self.judges
        labels = {name: study.judged.known for name, study in self._by_judge().items()}
        return judge_agreement(judges, labels) if judges.width else judges

    def estimate(self, human: str = "human", machine: str | None = None) -> pl.DataFrame:
        """The result of :func:`estimate`: the means that one judge would give on all queries, who
        judged some of them, with the help of another, who judged all: by default that of the
        headline, or the first other.

        >>> from retrieval_report import Study
        >>> lists = {f"q{n}": {"a": 1, "b": 2 + n % 2, "c": 2.5} for n in range(9)}
        >>> judgements = {query: {"a": 0, "b": 1, "c": 0} for query in lists}
        >>> few = {query: judgements[query] for query in ("q0", "q1", "q2", "q3")}
        >>> judges = {"gpt": judgements, "human": few}
        >>> study = Study(lists, "rr", judgements=judges, truncated="no")
        >>> study.estimate().select("human_only", "machine_only", "queries", "judged").row(0)
        (0.75, 0.7222222222222222, 9, 4)
        """
        from retrieval_report.comparison.estimate import estimate

        machine_judges = [name for name in self.judgements if name != check_text("human", human)]
        if human not in self.judgements or not machine_judges:
            raise ParameterError(
                f"estimate: needs judgements by {human!r} and by another judge"
                + advice(", as in {}", setting("judgements", {human: ..., "machine": ...}))
            )
        if machine is None:
            machine = machine_judges[0] if self.judge == human else self.judge
        check_choice("machine", machine, machine_judges)
        by_people = self._with(self._data.judged_by(human).of_judged_queries())
        studies = [self.judged_by(str(machine)), by_people]
        return estimate(*(study.under("expected").scores for study in studies))

    def _by_judge(self) -> Named:
        """Return the study under every judge, without
        random orders; nothing without expected scores.
        """
        studies = {name: self.judged_by(name) for name in self.judgements}
        return {
            name: study._undrawn for name, study in studies.items() if "expected" in study.policies
        }

    @property
    def of_run(self) -> dict[str, str]:
        """The model of every run of the selected models, if replicates are named."""
        of_run = {} if self._view.runs else self._data.of_run
        names = self._view.models
        return {run: model for run, model in of_run.items() if names is None or model in names}

    @answer
    def replicates(self) -> pl.DataFrame:
        """The result of :func:`replicate_table`: models as means over runs;
        empty without ``replicate``.
        """
        return self._of_runs(replicate_table)

    @answer
    def replicate_pairs(self) -> pl.DataFrame:
        """The result of :func:`replicate_pairs`: pairs of these models, and whether the replicate
        decides; empty without ``replicate``.
        """
        return self._of_runs(replicate_pairs)

    def _of_runs(self, of: Callable[..., pl.DataFrame]) -> pl.DataFrame:
        """Return what a function says of the expected scores of runs; empty if none are named."""
        sound = self._sound
        if not sound.of_run or sound.suspects:
            return NO_FRAME
        scores = sound.under("expected")._run_scores
        frame = of(self._weighed(scores), sound.of_run)
        over_queries = {"std_error", "ci_low", "ci_high", "p", "family_p"} & {*frame.columns}
        unknown = dict.fromkeys(over_queries, pl.lit(None, pl.Float64))
        return frame.with_columns(**unknown) if self._alone else frame

    @answer
    def segments(self) -> pl.DataFrame:
        """The result of :func:`segment_winners` for the column ``by`` of the
        queries; empty without it. All means are by the study's average, those of a segment over its
        queries. Where the lead of another winner is significant, but not safe, the verdict is that
        of the pair on these queries, such as "lists are cut".
        """

        def winners(scores: pl.DataFrame, queries: pl.DataFrame, by: str) -> pl.DataFrame:
            overall = self._weighed(scores)
            if self.average != "micro":
                parts = [self._weighed(part).frame for _, part in segments_of(scores, queries, by)]
                scores = pl.concat(parts).select(scores.columns)
            return segment_winners(scores, queries, by, overall=overall)

        segments = self._by_level(winners, self._view.by)
        return with_doubts(segments, cast("Study", self._undrawn), str(self._view.by))

    @answer
    def dataset_scores(self) -> pl.DataFrame:
        """The result of :func:`dataset_scores` for the column ``dataset`` of the queries: every
        model in every data set; empty without that column.
        """
        return self._by_level(dataset_scores, self._view.dataset)

    @answer
    def datasets(self) -> pl.DataFrame:
        """The result of :func:`dataset_table`: means over the data sets; empty without ``dataset``."""
        means = self.dataset_scores
        return dataset_table(means) if means.width else means

    def _by_level(self, of: Callable[..., pl.DataFrame], column: str | None) -> pl.DataFrame:
        """Return what a function says of expected scores by a column of the queries; nothing where
        none is named.
        """
        sound = self._sound
        if column is None or sound.suspects:
            return NO_FRAME
        return of(sound.under("expected").scores, self._data.frames["queries"], column)
