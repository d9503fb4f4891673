"""`compare`, `history`, `profile`, `audit`, `estimate`, `similarity`, `knn` and `thresholds`: what
tie order decides, and what it does not.
"""

from dataclasses import replace
from typing import Any

import click
import polars as pl

import retrieval_report as rr
from retrieval_report.cli.engines import study_of
from retrieval_report.cli.files import (
    EXIT_CODES,
    FILES,
    IF_WRONG,
    SOUND,
    InputFiles,
    Output,
    data_options,
    health_text,
    output_options,
)
from retrieval_report.cli.group import cli
from retrieval_report.cli.reporting import question_tables, telling_pairs
from retrieval_report.cli.settings import (
    POLICIES,
    at_least_option,
    check,
    cluster_option,
    correction_option,
    dataset_option,
    depths_option,
    explained,
    labels_option,
    options,
    replicate_option,
    setting,
    settled,
    study_options,
)
from retrieval_report.contracts.errors import DataError
from retrieval_report.contracts.options import ItemOptions
from retrieval_report.contracts.steps import step
from retrieval_report.contracts.wording import have
from retrieval_report.engines.check_scores import MEASURE, MEASURE_NAME, at_measure, join_left
from retrieval_report.scoring.health import NO_ITEM
from retrieval_report.study.caveats import (
    VISIBLE,
    configuration,
    joined_hints,
    same_winner,
    winner_text,
)
from retrieval_report.study.table_columns import joined_texts, with_audit_digits
from retrieval_report.study.terminal import frame_table, marks_note, visible, with_marked_values
from retrieval_report.systems.audit import furthest_off
from retrieval_report.ties.nearest_labels import METRICS, TIED_VOTES, VOTES
from retrieval_report.writing.names import EQUALS, OR, with_number
from retrieval_report.writing.numbers import size

# Rules of the commands that look at lists; how lists end is asked where it matters.
ROW_RULES = ["missing_query", *ItemOptions.__annotations__]
REPLICATED = "replicates", "replicate_pairs"
ESTIMATED = (
    "model_a model_b value ci_low ci_high human_only human_low human_high machine_only gain "
    "judged queries"
)
MAX_MODELS_WITH_PAIRS = 5  # models whose pairs of estimates are printed too
ALIKE = "none ties order items tau_b rbo_a rbo_low rbo_high"
COMPARED = "model_a model_b value_a value_b difference tie_std p_tie family_p verdict"
STEPS = (
    "series version value tie_std lowest highest difference step_p p_tie marked "
    "since_first first_p since_best best_p"
)
COUNTED = pl.col("finding") != NO_ITEM  # where no score of queries without a relevant item counts
AUDITED = "system definition winner same_winner model prints expected off z"
VOTED = "model value tie_std lowest highest queries"
TIED = "model queries cut_share mixed_share ends_in_cut_tie tie_median tie_max distances bits"
KNN_FRAMES = ("accuracy", "classes", "confusion", "chances")
ACCEPTED = {
    "threshold_areas": "model roc_auc roc_auc_low roc_auc_high average_precision ap tie_std "
    "relevant_pairs all_pairs",
    "calibration": "model metric threshold strictest loosest value ci_low ci_high precision "
    "recall f1",
    "abstention": "model risk threshold bound answered wrong queries",
}


@cli.command(epilog=EXIT_CODES, columns=explained("flips", COMPARED))
@data_options(*FILES)
@study_options
@click.option(
    "--baseline", metavar="MODEL", help="Compare all models with this one instead of all pairs."
)
@correction_option
@cluster_option
@replicate_option
@dataset_option
@click.option("--all", "everything", is_flag=True, help="Print all pairs of many models.")
@output_options(f"reversals.csv, comparison.csv, flips.csv {IF_WRONG}")
def compare(
    data: InputFiles,
    output: Output,
    baseline: str | None,
    everything: bool,
    **settings: object,
) -> None:
    """Compare the models of RANKINGS pair by pair, and show which pairs depend on tie order.

    With many models, only the pairs that matter most are printed; --all prints all of them, and
    --json and files hold all.
    """
    frame_names = "health", "reversals", "comparison", "flips", *REPLICATED
    output.check(data.paths, *(f"{name}.csv" for name in frame_names))
    study = study_of(data, settings)
    if len(study.model_names) == 1:
        only = study.model_names[0]
        raise DataError(f"compare: needs at least two models, but the rankings hold only '{only}'")
    if output.out is None and not output.as_json:  # only files and JSON hold random orders
        study = study.under(*POLICIES)
    comparison, verdicts = study.comparison, study.flips
    if baseline is not None:
        sound = study._sound.model_names  # the family are the pairs of these
        tested = study._sound if baseline in sound and len(sound) > 1 else study
        comparison = tested.compare(baseline=baseline)
        verdicts = study._flips_of(comparison)  # only these pairs are compared
        verdicts = verdicts.filter(pl.any_horizontal(pl.col("model_a", "model_b") == baseline))
    above = {name: getattr(study, name) for name in REPLICATED if study.of_run}
    frames = {**above, "reversals": study.reversals, "comparison": comparison, "flips": verdicts}
    texts = [] if output.as_json else _comparison_texts(study, verdicts, baseline, everything)
    output.show(frames, *texts, health=study.health, notices=lambda: study.notices)


def _comparison_texts(
    study: rr.Study,
    verdicts: pl.DataFrame,
    baseline: str | None,
    everything: bool,
) -> list[str]:
    """Return the verdict, what could turn it around, and the pairs as text.

    The model that is ahead is A, but a baseline is B; the least certain pairs come first, and those
    of models with the same lists last.
    """
    from retrieval_report.comparison.pairs import ahead_first, turned
    from retrieval_report.comparison.verdicts import both_among, doubt, with_chances
    from retrieval_report.study.by_cutoff import sentence_by_cutoff
    from retrieval_report.study.caveats import named_tests, uneven_lengths
    from retrieval_report.study.reversals import reversals_text

    rows = verdicts.with_columns(measure=pl.struct("metric", "cutoff").rle_id())
    rows = ahead_first(rows, pl.col("value_b") > pl.col("value_a"))
    rest = ""
    if baseline is not None:
        rows = turned(rows, pl.col("model_a") == baseline)
    elif not everything:
        rows, rest = telling_pairs(study, rows)
    rows = rows.with_columns(difference=pl.col("value_a") - pl.col("value_b"))
    copies = [both_among(group) for group in study.identical]
    last = pl.any_horizontal(pl.col("model_a").is_null(), *copies)  # never, and copies
    rows = with_chances(rows.sort("measure", last, doubt, maintain_order=True))
    rows = with_marked_values(rows, study.summary)
    if len(study.model_names) == 2:  # one table, not one for every measure
        rows = rows.with_columns(measure=MEASURE_NAME)
        pairs = frame_table(rows, f"measure {COMPARED}")
    else:
        pairs = frame_table(rows, COMPARED, by="metric cutoff")
    lines = () if baseline else (*study.sentences, sentence_by_cutoff(study))
    tests = named_tests(verdicts)
    return [
        health_text(study.health, *lines),
        "" if baseline else reversals_text(study.reversals),
        *question_tables(study, REPLICATED if study.of_run else ()),
        "\n".join(filter(None, [pairs, marks_note(rows)])),
        rest,
        f"family_p: {tests}." if tests else "",
        # the notices speak of the first
        *uneven_lengths(study.under("expected").scores, study.measures[1:]),
    ]


@cli.command(epilog=EXIT_CODES, columns=explained("history", STEPS))
@data_options(*FILES)
@study_options
@click.option(
    "--pattern",
    required=True,
    metavar="REGEX",
    help="Regular expression. Its group (?P<version>…) or (?P<date>…) finds the version in the "
    "name of a run, and (?P<model>…) the model.",
)
@output_options(f"history.csv {IF_WRONG}")
def history(data: InputFiles, output: Output, pattern: str, **settings: object) -> None:
    """Follow a model over its versions, the runs of RANKINGS, and mark what is more than noise."""
    from retrieval_report.study.versions import history_of, steps_sentences, with_step_chances

    output.check(data.paths, "history.csv", "health.csv")
    study = study_of(data, settings)
    table = history_of(study, pattern)
    column_names = STEPS if any(table["series"]) else STEPS.removeprefix("series ")
    output.show(
        {"history": table},
        health_text(study.health, *steps_sentences(table.filter(at_measure(*study.measures[0])))),
        frame_table(with_step_chances(table), column_names, by="metric cutoff"),
        health=study.health,
        notices=lambda: study.notices,
    )


@cli.command(
    epilog=EXIT_CODES,
    columns=[
        *explained("profile", TIED),
        ("judged@k", "share of judged items among the first k"),
        ("rbp_residual(…)@k", "weight of the ranks that judgements leave open"),
    ],
)
@data_options()
@depths_option
@options("relevant_from", *ROW_RULES, "decimals", "truncated")
@output_options(f"profile.csv, with relevance hints.csv, with judgements coverage.csv {IF_WRONG}")
def profile(data: InputFiles, output: Output, cutoffs: list[int | str], **settings: Any) -> None:
    """Show how many distances of RANKINGS tie, where a cutoff splits a tie, and how much of the
    lists is judged.
    """
    output.check(data.paths, "profile.csv", "hints.csv", "health.csv", "coverage.csv")
    settings = settled(settings, data.labels_as_rankings)
    check(metrics=["ap"], cutoffs=cutoffs, **settings)
    inputs = data.read()
    table = step("profile", lambda: rr.tie_profile(**inputs, cutoffs=cutoffs, **settings))
    frames = {"profile": table}
    study = rr.Study(**inputs, measures="ap", cutoffs=cutoffs, **settings)
    texts, health = [frame_table(table, TIED, by="cutoff")], SOUND
    if inputs["judgements"] is not None or "relevance" in inputs["rankings"].columns:
        hints = frames["hints"] = step("hints", lambda: rr.tie_hints(**inputs, **settings))
        lines = [
            visible(f"{models or 'all models'}: {message}")
            for _, models, message in joined_hints(hints)
        ]
        texts += ["\n".join(lines)] if lines else []
        health = study.health.filter(COUNTED)
        texts.insert(0, health_text(health))
    coverage = study.coverage
    if coverage.width:
        frames["coverage"] = coverage
        texts.append(frame_table(coverage, "model value tie_std queries", by="metric cutoff"))
    output.show(frames, *texts, health=health)


@cli.command(
    epilog=EXIT_CODES, columns=explained("audit", f"{AUDITED} version call lowest highest")
)
@data_options()
@options("metrics", "cutoffs", "no_relevant", "relevant_from", *ROW_RULES)
@setting(
    "truncated",
    help="How lists end, as other commands take it; it changes nothing here, because evaluators take "
    "lists as complete.",
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Print a row for every model, not only for every evaluator.",
)
@output_options(f"audit.csv {IF_WRONG}")
def audit(
    data: InputFiles,
    output: Output,
    everything: bool,
    **settings: Any,
) -> None:
    """Show what other evaluators would print for RANKINGS, beside the exact value.

    With several models, every evaluator has one row: the model it names as best, and the model
    whose score its tie order moves most. --all and files show all models. If an evaluator shuffles
    ties or sorts unstably, prints is the range of values it could print, and same_winner is "open"
    if several models could win.
    """
    output.check(data.paths, "audit.csv", "health.csv")
    check(**settings)
    inputs = data.read()
    table = step("audit", lambda: rr.audit(**inputs, **settings))
    health = rr.Study(**inputs, **settings).health
    texts = health_text(health), _audit_text(table, everything, health)
    note = _on_expected(table, inputs["rankings"])
    output.show({"audit": table}, *texts, note, health=health)


@cli.command(epilog=EXIT_CODES, columns=explained("estimates", ESTIMATED))
@data_options(*FILES)
@study_options
@click.option("--human", metavar="JUDGE", default="human", help="Name of the human judge.")
@output_options(f"estimates.csv {IF_WRONG}")
def estimate(data: InputFiles, output: Output, human: str, **settings: object) -> None:
    """Estimate the scores of RANKINGS if people had judged all queries.

    People judged some of the queries and a machine all. Name both: --judgements
    human=few.txt,gpt=many.txt. With several machines, choose one by --judge. The intervals do
    not need the machine to be right, if the queries that people judged were drawn at random; those
    of a few strongly skewed scores miss the true mean more often than one in 20 times.
    """
    output.check(data.paths, "estimates.csv", "health.csv")
    study = study_of(data, settings)
    table = study.estimate(human)
    machine = next(name for name in (study.judge, *study.judgements) if name not in (human, None))
    study = study.judged_by(str(machine))  # people judged but some of the queries
    health = study.health
    single_models = table.filter(pl.col("model_b").is_null())
    few = single_models["model_a"].n_unique() <= MAX_MODELS_WITH_PAIRS
    text = _estimates_text(table if few else single_models)
    more = (
        "" if few else f"The {table.height - single_models.height} pairs are in --json and --out."
    )
    several = len(study.judgements) > 2
    taken = f"The machine is {visible(str(machine))}." if several else ""
    texts = health_text(health), text, more, taken
    output.show({"estimates": table}, *texts, health=health, notices=lambda: study.notices)


def _estimates_text(table: pl.DataFrame) -> str:
    """Return estimates as text: the means, and then the differences, of which the model with the
    higher mean is A; only these have a sign.
    """
    swapped = {"model_a": pl.col("model_b"), "model_b": pl.col("model_a")}
    names = "value ci_low ci_high human_only human_low human_high machine_only"
    others = "value ci_high ci_low human_only human_high human_low machine_only"
    swapped |= {
        name: -pl.col(other) for name, other in zip(names.split(), others.split(), strict=True)
    }
    is_behind = pl.col("model_b").is_not_null() & (pl.col("value") < 0)
    rows = table.with_columns(
        pl.when(is_behind).then(swap).otherwise(name).alias(name) for name, swap in swapped.items()
    ).with_row_index("row")
    rows = rows.sort(
        pl.first("row").over(MEASURE),
        pl.col("model_b").is_not_null(),
        -pl.col("value"),
        maintain_order=True,
    )
    return frame_table(rows, ESTIMATED, by="metric cutoff")


@cli.command(columns=explained("similarity_means", ALIKE))
@click.argument("first")
@click.argument("second")
@data_options("columns", "labels_as_rankings", "max_bytes")
@click.option("--p", type=float, default=0.9, help="Persistence of rank-biased overlap.")
@output_options("similarity_means.csv and similarity.csv, with a row for every query")
def similarity(first: str, second: str, data: InputFiles, p: float, output: Output) -> None:
    """Compare the lists of FIRST and SECOND query by query:
    the same, other ties, another order, or other items.

    Both hold one model. Relevance does not matter here.
    """
    output.check([first, second], "similarity_means.csv", "similarity.csv")
    files = [replace(data, rankings=[path]) for path in (first, second)]
    first_rows, second_rows = step("read", lambda: [file.read_rankings() for file in files])
    alike = step("similarity", lambda: rr.lists.ranking_similarity(first_rows, second_rows, p=p))
    table = frame_table(alike.mean, f"queries {ALIKE}", of="similarity_means")
    alone = alike.queries.filter(pl.min_horizontal("items_a", "items_b") == 0).height
    queries = with_number(alike.queries.height, "query")
    lone = f"{alone} of {queries} {have(alone)} a list in only one of the two (change: items)."
    frames = {"similarity_means": alike.mean, "similarity": alike.queries}
    output.show(frames, table, notices=lambda: [lone] if alone else [])


@cli.command(columns=explained("knn_accuracy", VOTED))
@data_options("rankings", "queries", "columns", "name_by", "query_columns", "max_bytes")
@labels_option
@click.option("--k", type=int, default=1, help="How many of the nearest items vote.")
@click.option(
    "--vote",
    type=click.Choice(VOTES),
    default="majority",
    help="Who decides: the majority of the k items, or the nearest alone.",
)
@click.option(
    "--tied-votes",
    type=click.Choice(TIED_VOTES),
    default="first",
    help="Which of the labels with the most votes wins: the first in sorted order, that of the "
    "nearest item, or one at random.",
)
@output_options("knn_accuracy.csv, knn_classes.csv, knn_confusion.csv and knn_chances.csv")
def knn(data: InputFiles, output: Output, labels: str | None, **how: Any) -> None:
    """Classify the queries of RANKINGS by the labels of their nearest items.

    Results are means over all orders of items at the same distance. The file --queries has the true
    label of every query.
    """
    if data.queries is None:
        raise click.UsageError("--queries is missing: a file of query and label")
    output.check([*data.paths, labels], *(f"knn_{name}.csv" for name in KNN_FRAMES))
    inputs = data.read()
    rankings, queries = inputs["rankings"], inputs["queries"]
    votes = step("neighbours", lambda: rr.knn(rankings, labels, queries=queries, **how))
    by_class = votes.classes.pivot("metric", index=["model", "label"], values="value")
    output.show(
        {f"knn_{name}": getattr(votes, name) for name in KNN_FRAMES},
        frame_table(votes.accuracy, VOTED),
        frame_table(by_class, f"model label {' '.join(METRICS)}"),
        "The deviation and the ends of every class's values are in --json and the files of --out.",
    )


@cli.command(
    epilog=EXIT_CODES,
    columns=[
        row for name, column_names in ACCEPTED.items() for row in explained(name, column_names)
    ],
)
@data_options()
@click.option("--k", type=int, help="Count only the k nearest items of every query.")
@click.option(
    "--metric", default="f1", help="Choose a threshold by precision, recall, f1, npv or accuracy."
)
@at_least_option
@click.option(
    "--risk",
    type=float,
    help="Find the threshold up to which the nearest item may be given as an answer, so that at "
    "most this share of the queries is answered wrongly.",
)
@options("relevant_from", *ItemOptions.__annotations__, "decimals")
@output_options(
    f"thresholds.csv, threshold_areas.csv, calibration.csv, with --risk abstention.csv {IF_WRONG}"
)
def thresholds(
    data: InputFiles,
    output: Output,
    k: int | None,
    metric: str,
    at_least: float | None,
    risk: float | None,
    **settings: Any,
) -> None:
    """Choose the distance up to which, or the score from which, the items of RANKINGS are accepted
    as matches.

    Thresholds are scores where the rankings have scores. All items at a threshold are accepted
    together, whatever their order. Only --k can divide a tie: counts of pairs are then means over
    all orders, and may have a fraction. The files count the right and wrong decisions at every
    threshold.
    """
    output.check(data.paths, "thresholds.csv", "health.csv", *(f"{name}.csv" for name in ACCEPTED))
    inputs = data.read()
    result = step("thresholds", lambda: rr.thresholds(**inputs, k=k, **settings))
    health = rr.Study(**inputs, **settings).health.filter(COUNTED)
    frames = {"threshold_areas": result.areas, "calibration": result.calibrate(metric, at_least)}
    if risk is not None:
        frames["abstention"] = result.abstain(risk)
    shown = {**frames, "threshold_areas": result.areas.drop("ap", "tie_std")} if k else frames
    texts = [frame_table(frame, ACCEPTED[name]) for name, frame in shown.items()]
    output.show({"thresholds": result.table, **frames}, health_text(health), *texts, health=health)


def _audit_text(table: pl.DataFrame, everything: bool, health: pl.DataFrame) -> str:
    """Return an audit as text: all rows, or one for every evaluator, those first whose winner tie
    order changes, and which winners have faults in their data.
    """
    from retrieval_report.comparison.verdicts import CHECK
    from retrieval_report.study.verdict import no_verdict_on

    rows = table.with_columns(same_winner(), winner_text())
    alone = table["model"].n_unique() < 2
    if everything or alone:
        columns = "system version call definition model prints expected lowest highest off z"
        columns += " same_winner" * (not alone)
        return _audit_table(rows, columns)
    evaluator = ["metric", "cutoff", "system", "version", "call", "definition"]
    in_order = {"nulls_last": True, "maintain_order": True}
    rows = rows.sort(furthest_off, "expected", descending=True, **in_order)
    rows = rows.group_by(evaluator, maintain_order=True).first()
    measures = table.select(MEASURE).unique(maintain_order=True).with_row_index("measure")
    is_sound = (pl.col("same_winner") != "no").fill_null(True)
    rows = join_left(measures, rows, MEASURE).sort("measure", is_sound, -furthest_off, **in_order)
    rows = rows.with_columns(configuration("measure"))
    winners = rows["winner"].str.replace_all(EQUALS, OR, literal=True).str.split(OR).explode()
    suspects = sorted({*winners}.intersection(health.filter("serious")["model"]))
    doubt_text = (
        f"\n{no_verdict_on(suspects)[:-1]}, named as winner above: see “{CHECK.capitalize()}”."
        if suspects
        else ""
    )
    return (
        f"{_audit_table(rows, AUDITED)}{doubt_text}\n\n"
        "winner: whom the evaluator names as best; same_winner: whether it alone is also best by the mean "
        "over all orders, by the evaluator's own definition; model: the one whose score the evaluator's "
        "order inside ties moves most, or the best where it moves none. Lists are taken as complete, as "
        "evaluators take them. --all prints all models, versions and calls."
    )


def _audit_table(rows: pl.DataFrame, columns: str) -> str:
    """Return rows of an audit as text, with the digits at which their numbers agree."""
    rows = with_audit_digits(rows)
    texts = joined_texts(rows, "prints")
    for name, sign in (("expected", ""), ("off", "+")):
        values = rows.select(name, "digits").iter_rows()
        written = [size(value, digits, sign, minus="-") for value, digits in values]
        texts.append(pl.Series(name, written, dtype=pl.String))
    return frame_table(rows.with_columns(texts), columns, by="metric cutoff")


def _on_expected(table: pl.DataFrame, rankings: pl.DataFrame) -> str:
    """Say why one definition has several expected values of these rankings, if one does."""
    same = table.group_by("model", *MEASURE, "definition").agg(
        apart=pl.max("expected") - pl.min("expected")
    )
    if not (same["apart"] > VISIBLE).any():
        return ""
    low = "score" in rankings.columns and bool((rankings["score"] <= 0).any())
    other_reading = " or take items with a score of 0 or less as not relevant" * low
    return (
        "expected differs within a definition where evaluators see other data: those that are "
        "given lists alone count no relevant item outside of them, and some leave queries out or "
        f"read grades as 0 and 1{other_reading}."
    )
