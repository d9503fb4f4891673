"""`compare`, `history`, `profile`, `audit`, `estimate` and `similarity`: what tie order
decides, and what it does not.
"""

from __future__ import annotations

from typing import Any

import click
import polars as pl

import retrieval_report as rr
from retrieval_report.cli.engines import study_of
from retrieval_report.cli.files import (
    FILES,
    Data,
    Output,
    data_options,
    file_options,
    output_options,
)
from retrieval_report.cli.group import cli
from retrieval_report.cli.reporting import question_tables, telling_pairs
from retrieval_report.cli.settings import (
    POLICIES,
    check,
    cluster_option,
    correction_option,
    dataset_option,
    depths_option,
    explains,
    options,
    replicate_option,
    study_options,
)
from retrieval_report.cli.streams import form_options, json_option
from retrieval_report.cli.wording import in_options
from retrieval_report.contracts.errors import DataError
from retrieval_report.contracts.options import JudgedOptions
from retrieval_report.contracts.steps import step
from retrieval_report.study.caveats import joined_hints, same_winner
from retrieval_report.study.terminal import frame_table, visible
from retrieval_report.writing.numbers import span

# Rules of the commands that look at lists; how lists end is asked where it matters.
JUDGED_RULES = [name for name in JudgedOptions.__annotations__ if name != "truncated"]
ROW_RULES = ["missing_query", *JUDGED_RULES]
REPLICATED = "replicates", "replicate_pairs"
EXACT = "expected", "best", "worst"
ESTIMATED = "model_a model_b value ci_low ci_high human_only human_low human_high machine_only gain"
FEW = 5  # models whose pairs of estimates are printed too
ALIKE = "none ties order items tau_b rbo_a rbo_low rbo_high"


@cli.command()
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
@output_options("comparison.csv and flips.csv")
@form_options
@explains("comparison", "difference", "tie_std", "p_tie", "family_p")
def compare(
    data: Data,
    output: Output,
    baseline: str | None,
    everything: bool,
    **settings: Any,
) -> None:
    """Compare the models of RANKINGS pair by pair, and say whose order depends on tie order.

    Of many models, the pairs are printed that matter most; --all, --json and files hold the others.
    """
    from retrieval_report.comparison.identical import without_twins
    from retrieval_report.comparison.pairs import ahead_first, turned
    from retrieval_report.comparison.verdicts import doubt, with_chances
    from retrieval_report.study.caveats import named_tests, uneven_lengths
    from retrieval_report.study.latex_markdown import Means, latex_table
    from retrieval_report.study.reversals import reversals_text

    if output.latex and baseline is not None:
        raise click.UsageError(
            "--latex marks what is below the highest, not below --baseline: choose one of them"
        )
    output.check(data.paths, *(f"{name}.csv" for name in ("comparison", "flips", *REPLICATED)))
    study = study_of(data, settings)
    if len(study.model_names) == 1:
        only = study.model_names[0]
        raise DataError(f"compare: needs at least two models, but the rankings hold only '{only}'")
    if output.out is None and not output.as_json:  # only files and JSON hold random orders
        study = study.under(*POLICIES)
    comparison, verdicts = study.comparison, study.flips
    if baseline is not None:
        comparison = study.compare(baseline=baseline)
        verdicts = rr.flips(study.summary, comparison=comparison)  # only these pairs are compared
        verdicts = without_twins(verdicts, study.identical)
        verdicts = verdicts.filter(pl.any_horizontal(pl.col("model_a", "model_b") == baseline))
    # The model that is ahead is A, but a baseline is B; the least certain pairs come first.
    rows = verdicts.with_columns(measure=pl.struct("metric", "cutoff").rle_id())
    rows = ahead_first(rows, pl.col("value_b") > pl.col("value_a"))
    rest = ""
    if baseline is not None:
        rows = turned(rows, pl.col("model_a") == baseline)
    elif not everything:
        rows, rest = telling_pairs(study, rows)
    rows = rows.with_columns(difference=pl.col("value_a") - pl.col("value_b"))
    rows = with_chances(rows.sort("measure", doubt, maintain_order=True))
    shown = "model_a model_b value_a value_b difference tie_std p_tie family_p verdict"
    tests = named_tests(comparison)
    known = [str(option.name) for option in click.get_current_context().command.params]
    turning = in_options(reversals_text(study.reversals), known)
    above = {name: getattr(study, name) for name in REPLICATED if study.of_run}
    texts = [
        turning if baseline is None else "",
        *question_tables(study, list(above)),
        frame_table(rows, shown, by="metric cutoff"),
        rest,
        f"family_p: {tests}." if tests else "",
    ]
    texts += uneven_lengths(
        study.under("expected").scores, study.measures[1:]
    )  # the notices speak of the first
    output.show(
        {**above, "comparison": comparison, "flips": verdicts},
        "\n\n".join(filter(None, texts)),
        latex=lambda: latex_table(Means(*study.measures[0], study.summary, verdicts, comparison)),
        notices=lambda: study.notices,
    )


@cli.command()
@data_options(*FILES)
@study_options
@click.option(
    "--pattern",
    required=True,
    metavar="REGEX",
    help="Its group (?P<version>…) or (?P<date>…) finds the version in the name of a run; "
    "(?P<model>…), the model.",
)
@output_options("history.csv")
@explains("history", "difference", "step_p", "p_tie", "marked")
def history(data: Data, output: Output, pattern: str, **settings: Any) -> None:
    """Follow a model over its versions, the runs of RANKINGS, and mark what is more than noise."""
    output.check(data.paths, "history.csv")
    table = rr.stats.history(study_of(data, settings).under(*EXACT).scores, pattern)
    shown = "series version value tie_std lowest highest difference step_p p_tie marked"
    shown = shown if any(table["series"]) else shown.removeprefix("series ")
    output.show({"history": table}, frame_table(table, shown, by="metric cutoff"))


@cli.command()
@data_options()
@depths_option
@options("relevant_from", *ROW_RULES, "decimals", "truncated")
@output_options("profile.csv, hints.csv and, with judgements, coverage.csv")
@explains("profile", "cut_share", "mixed_share", "ends_in_cut_tie", "bits")
def profile(data: Data, output: Output, cutoffs: list[int | str], **settings: Any) -> None:
    """Show how many distances of RANKINGS tie, where a cutoff splits a tie, and how much of the
    lists is judged.
    """
    output.check(data.paths, "profile.csv", "hints.csv", "coverage.csv")
    check(metrics=["ap"], cutoffs=cutoffs, **settings)
    given = data.read()
    table = step("profile", lambda: rr.tie_profile(**given, cutoffs=cutoffs, **settings))
    frames = {"profile": table}
    shown = "model queries cut_share mixed_share ends_in_cut_tie tie_median tie_max distances bits"
    texts = [frame_table(table, shown, by="cutoff")]
    if given["judgements"] is not None or "relevance" in given["rankings"].columns:
        hints = frames["hints"] = step("hints", lambda: rr.tie_hints(**given, **settings))
        lines = [
            visible(f"{models or 'all models'}: {message}")
            for _, models, message in joined_hints(hints)
        ]
        texts += ["\n".join(lines)] if lines else []
    coverage = rr.Study(**given, measures="ap", cutoffs=cutoffs, **settings).coverage
    if coverage.width:
        frames["coverage"] = coverage
        texts.append(frame_table(coverage, "model value tie_std queries", by="metric cutoff"))
    output.show(frames, "\n\n".join(texts))


@cli.command()
@data_options()
@options("metrics", "cutoffs", "no_relevant", "relevant_from", *ROW_RULES)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Print all rows, not only those whose rank tie order changes.",
)
@output_options("audit.csv")
@json_option
@explains("audit", "prints", "off", "z", "same_winner")
def audit(
    data: Data,
    output: Output,
    everything: bool,
    **settings: Any,
) -> None:
    """Show what other evaluators would print for RANKINGS, beside the exact value.

    Of several models, those are shown whose rank the order inside ties changes; --all and files
    hold the others. If a system shuffles ties or sorts unstably, prints is the range of values it
    could print, and same_winner is "open" if several models could win.
    """
    output.check(data.paths, "audit.csv")
    check(**settings)
    given = data.read()
    table = step("audit", lambda: rr.audit(**given, **settings))
    output.show({"audit": table}, _audit_text(table, everything))


@cli.command()
@data_options(*FILES)
@study_options
@click.option("--human", metavar="JUDGE", default="human", help="Who judged some of the queries.")
@output_options("estimates.csv")
@json_option
@explains("estimates", "value", "gain")
def estimate(data: Data, output: Output, human: str, **settings: Any) -> None:
    """Estimate what people would say of RANKINGS, of whose queries they judged some and a machine
    all.

    --judgements names both: --judgements human=few.txt,gpt=many.txt; of several machines, --judge
    one. The intervals hold however wrong it is, if the queries that people judged were drawn at
    random.
    """
    output.check(data.paths, "estimates.csv")
    table = study_of(data, settings).estimate(human)
    shown = table.sort("model_b", "value", descending=[False, True], nulls_last=False)
    alone = shown.filter(shown["model_b"].is_null())
    few = alone["model_a"].n_unique() <= FEW
    text = frame_table(shown if few else alone, ESTIMATED, by="metric cutoff")
    more = "" if few else f"\n\nThe {table.height - alone.height} pairs are in --json and --out."
    output.show({"estimates": table}, text + more)


@cli.command()
@click.argument("first")
@click.argument("second")
@file_options("columns")
@click.option("--p", type=float, default=0.9, help="Persistence of rank-biased overlap.")
@output_options("similarity.csv, a row for every query")
@explains("similarity_means", *ALIKE.split())
def similarity(
    first: str, second: str, columns: dict[str, str] | None, p: float, output: Output
) -> None:
    """Compare the lists of FIRST and SECOND query by query: the same, other ties, another order, or
    other items.

    Both hold one model. Relevance does not matter here.
    """
    output.check([first, second], "similarity.csv")
    one, other = step(
        "read", lambda: [rr.read_rankings(path, columns=columns) for path in (first, second)]
    )
    alike = step("similarity", lambda: rr.lists.ranking_similarity(one, other, p=p))
    output.show({"similarity": alike.queries}, frame_table(alike.mean, f"queries {ALIKE}"))


def _audit_text(table: pl.DataFrame, everything: bool) -> str:
    """Return an audit as text: all rows, or those whose rank tie order changes, and how many lines
    the others take.
    """
    from retrieval_report.systems.audit import changes_rank

    ends = table.select("prints_low", "prints_high").iter_rows()
    prints = [None if low is None else span(low, high, " – ") for low, high in ends]
    rows = table.with_columns(same_winner(), prints=pl.Series(prints, dtype=pl.String))
    rest = not everything and table["model"].n_unique() > 1
    changed = rows.filter(changes_rank(table)) if rest else rows
    columns = "system version definition model prints expected lowest highest off z same_winner"
    text = frame_table(changed, columns, by="metric cutoff")
    if changed.is_empty():
        text = "No evaluator whose order inside ties is known gives a model another rank."
    return f"{text}\n\n--all adds all others, also those whose order is open." if rest else text
