"""The questions that a report answers, each declared once: name, frame, table, chart, place."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import polars as pl

from retrieval_report.contracts.registry import schema
from retrieval_report.study.fingerprint import fingerprint
from retrieval_report.systems.audit import is_printed

if TYPE_CHECKING:
    from retrieval_report.study.study import Study

MOST_AUDITED = 2_000_000  # rows; every system sorts them anew, half of the time of a report
Ask = Callable[["Study"], pl.DataFrame]
PER_MEASURE = 25  # queries that are listed for each metric and cutoff; the scores hold all
CUT_VOTES = (
    "If a list ends in or before the tie of the k-th item and others belong there, votes are "
    "missing."
)
OWN_LISTS = (
    "Recall, F1 and the areas count only the relevant items in a model's own lists, so they compare "
    "thresholds, not models."
)


class Question(NamedTuple):
    """One question, and how a page shows its answer as a table; study/tables.py chooses the rows of
    some.

    Attributes
    ----------
    name
        Of the frame, of its files and, unless ``of`` says otherwise, of the property of a study.
    caption
        Of the table. It may name ``{measure}`` and parameters, such as ``{by}``.
    columns
        Their names in one text; "measure" stands for metric and cutoff. Those that the frame does
        not have are left out. Without columns there is no table.
    section
        The part of the page, such as "summary" or "ties"; empty if the template places the table.
    folded
        The line that opens the table, if it is folded at first.
    choice
        Whether readers choose the measure, if there are several; that of the headline is shown at
        first.
    id
        Of the table in the page; by default the name of the frame, with hyphens.
    note
        The line below the table.
    of
        What a report shows of a study.
    """

    name: str
    caption: str = ""
    columns: str = ""
    section: str = ""
    folded: str = ""
    choice: bool = True
    id: str = ""
    note: str = ""
    of: Ask | None = None

    def ask(self, study: Study) -> pl.DataFrame:
        """Return the frame of a study."""
        return self.of(study) if self.of else getattr(study, self.name)


def _audit(study: Study) -> pl.DataFrame:
    few = study.frames["rankings"].height <= MOST_AUDITED
    return study.audit if few and is_printed(study.measures) else pl.DataFrame()


def _reversals(study: Study) -> pl.DataFrame:
    return study.reversals if study.reversals.height else pl.DataFrame()


def _most_affected(study: Study) -> pl.DataFrame:
    return study.queries.group_by("metric", "cutoff", maintain_order=True).head(PER_MEASURE)


def _received(study: Study) -> pl.DataFrame:
    other_judges = {
        f"judgements of {judge}": frame
        for judge, frame in study.judgements.items()
        if judge != study.judge
    }
    return fingerprint({**study.frames, **other_judges})


def _nearest(frame: str) -> Ask:
    return lambda study: getattr(study.nearest, frame, pl.DataFrame())


def _matches(frame: str) -> Ask:
    """Return what asks for a frame of the thresholds, if they were asked for."""
    return lambda study: getattr(
        study.matches if study.calibration.width else None, frame, pl.DataFrame()
    )


QUESTIONS = (
    Question("scores"),
    Question(
        "three_scores",
        "The three scores by {measure}",
        "model measure expected shuffled_range naive off_by expected_rank shuffled_rank "
        "naive_rank rank_can_change",
        "cutoffs",
        id="three-scores-all",
    ),
    Question("winners"),
    Question("by_cutoff"),
    Question(
        "summary",
        "Models by {measure}, best first",
        "rank model measure expected tie_std tie_ranks query_ranks interval naive "
        "naive_error lowest highest truncated_share queries no_relevant missing unjudged",
        "summary",
        folded="Every measure: what is printed, how far it is off, and the bounds by tie order",
        id="summary-all",
    ),
    Question(
        "comparison",
        "Every pair of models",
        "model_a model_b verdict measure difference interval family_p p_tie disagree counts",
    ),
    Question("flips"),
    Question(
        "reversals",
        "What could turn the lead around",
        "source varied reversal family_p verdict",
        choice=False,
        of=_reversals,
    ),
    Question(
        "profile",
        "How much the distances tie",
        "model cutoff cut_share mixed_share ends_in_cut_tie tied_items mixed_items "
        "tie_median tie_max items distances bits",
        choice=False,
    ),
    Question("health"),
    Question("hints"),
    Question(
        "truncation",
        "How the lists are treated, for {measure}",
        "model truncated reason lists shortest longest open_share sufficient_depth",
        choice=False,
    ),
    Question(
        "audit",
        "What other systems would print for {measure}",
        "system call model prints exact definition_shift off z same_winner order",
        choice=False,
        of=_audit,
    ),
    Question(
        "queries",
        "Queries whose score is most affected by tie order",
        "query model measure naive expected std lowest highest spread",
        of=_most_affected,
    ),
    Question("leaderboard"),
    Question(
        "deciding",
        "Which queries decide {measure} between the first two models",
        "query value_a value_b difference lowest highest decides order_unsure",
        choice=False,
        note="Decides: one of the fewest queries without whose differences the first model would not be "
        "ahead, those with the largest.",
    ),
    Question(
        "similarity_means",
        "How alike the lists of the first two models are",
        " ".join(schema("similarity_means")),
        "comparison",
        folded="How alike the lists of the first two models are",
        choice=False,
        id="similarity",
    ),
    Question("recall_curve"),
    Question(
        "coverage",
        "How much of the lists is judged, and what rank-biased precision leaves open",
        "model measure value tie_std queries",
        "ties",
        folded="How much of the lists is judged",
        choice=False,
    ),
    Question(
        "segments",
        "Winners by {by}",
        "segment measure queries winner value overall_winner overall_value segments_p verdict",
        "summary",
    ),
    Question(
        "no_worse",
        "No worse than {baseline} by more than {margin}?",
        "model measure value difference bound_low verdict queries_needed queries_if_observed",
        "summary",
        note="The lower bound allows for rare large losses, so it can lie below the interval of the "
        "same pair in “Every pair”. Numbers of queries stand only where these do not decide.",
        of=attrgetter("margin_rows"),
    ),
    Question(
        "costs",
        "Scores against costs",
        "model cost amount measure value tie_std front beaten_by",
        "summary",
    ),
    Question(
        "replicates",
        "Models as means over {replicate}",
        "rank model measure value ci_low ci_high std_error tie_std replicate_low replicate_high "
        "replicates queries unpaired tie_var replicate_var query_var residual_var note",
        "summary",
    ),
    Question(
        "replicate_pairs",
        "Every pair of these models, with other replicates",
        "model_a model_b measure difference ci_low ci_high family_p seed_reversal reversal "
        "replicates_a replicates_b verdict",
        "comparison",
        folded="What other replicates say of every pair of models",
    ),
    Question(
        "datasets",
        "Means over the data sets",
        "rank model measure value tie_std ci_low ci_high rank_low rank_high datasets lacks",
        "summary",
    ),
    Question(
        "dataset_scores",
        "Every data set",
        "dataset rank model measure value tie_std ci_low ci_high queries",
        "comparison",
        folded="How the models do in every data set",
    ),
    Question(
        "judges",
        "Ranks by judge",
        "judge rank model measure value tie_std own abstains others_rank",
        "comparison",
        folded="How every judge ranks the models",
    ),
    Question(
        "judge_pairs",
        "What other judges say of every pair of models",
        "model_a model_b measure difference agree judges against level",
        "comparison",
        folded="What other judges say of every pair of models",
    ),
    Question(
        "judge_agreement",
        "How far the judges agree",
        "judge_a judge_b measure tau models same kappa weighted_kappa alpha label_tau pairs note",
        "comparison",
        folded="How far the judges agree",
    ),
    Question(
        "knn_accuracy",
        "Share of the queries whose label the nearest items give",
        "model value tie_std lowest highest queries",
        "neighbours",
        note=f"Of labels with as many votes, the first in sorted order wins. {CUT_VOTES}",
        of=_nearest("accuracy"),
    ),
    Question(
        "knn_classes",
        "Precision, recall and F1 of every label",
        "model label metric value tie_std lowest highest",
        "neighbours",
        folded="Precision, recall and F1 of every label",
        of=_nearest("classes"),
    ),
    Question(
        "knn_confusion",
        "Labels that are confused, in numbers of queries",
        "model label predicted value tie_std lowest highest",
        "neighbours",
        folded="Which labels are confused",
        of=_nearest("confusion"),
    ),
    Question(
        "calibration",
        "The threshold by {calibrate}",
        "model threshold strictest loosest value interval precision recall f1 queries",
        "thresholds",
        note=OWN_LISTS,
    ),
    Question(
        "thresholds",
        of=_matches("table"),
    ),
    Question(
        "threshold_areas",
        "How well distance tells relevant pairs from others",
        "model roc_auc roc_auc_low roc_auc_high average_precision ap tie_std relevant_pairs all_pairs",
        "thresholds",
        note=OWN_LISTS,
        of=_matches("areas"),
    ),
    Question("shuffled"),
    Question("distribution"),
    Question(
        "fingerprint",
        "The data this report was made from",
        " ".join(schema("fingerprint")),
        choice=False,
        of=_received,
    ),
)
FRAMES = tuple(question.name for question in QUESTIONS)
