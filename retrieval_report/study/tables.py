"""Turn frames into tables for reading, with chosen
columns, few digits, short names, and values to sort by.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping

import polars as pl

from retrieval_report.comparison.pairs import ahead_first
from retrieval_report.comparison.verdicts import DEPENDS, NOT_DECIDED, PAIR
from retrieval_report.contracts.options import BETWEEN_TIES, NO, WITHIN_TIE
from retrieval_report.engines.check_scores import MEASURE, NAIVE_ERROR, at_cutoff, join_left
from retrieval_report.metrics.parsing import measure_text
from retrieval_report.scoring.truncation import NOT_KNOWN
from retrieval_report.study.by_cutoff import depth_sentence
from retrieval_report.study.caveats import same_winner, uneven_lengths
from retrieval_report.study.contents import Report
from retrieval_report.study.leaderboard_rows import (
    COLUMNS,
    estimates_line,
    in_order_of,
    leaderboard_rows,
    with_costs,
    with_ranks,
)
from retrieval_report.study.questions import QUESTIONS, Question
from retrieval_report.study.reversals import reversals_note, title, varied
from retrieval_report.study.table_columns import (
    DASH,
    JOINED,
    PageColumn,
    PageTable,
    column_of,
    measure_column,
    with_audit_digits,
)
from retrieval_report.study.terminal import marks_note, summary_rows, with_marked_values
from retrieval_report.study.three_tables import (
    accidents_sentence,
    is_moved,
    three_rows,
    winner_sentence,
    with_shown_ranks,
)
from retrieval_report.systems.audit import SAME, as_defined, furthest_off
from retrieval_report.writing.numbers import column_decimals

ROWS = 1000  # more would make the page slow; the files hold all rows
MOST_ROWS = {"deciding": 100}  # of the queries, the largest differences first
LISTS = {
    NO: "hold all items",
    BETWEEN_TIES: "are cut after a whole tie",
    WITHIN_TIE: "are cut, maybe inside their last tie",
}
DECLARED = {"summary": "board", "comparison": "judged_pairs"}  # frames with all columns of a table
Parts = Iterable[tuple[Question, pl.DataFrame]]  # tables and their rows


def report_tables(report: Report) -> dict[str, PageTable]:
    """Return all tables of the page by id, except those
    without rows, as of questions that were not asked.
    """
    tables = {}
    for question in QUESTIONS:
        frame = report.frames[question.name]
        if question.columns and frame.width:
            question = question._replace(
                id=question.id or question.name.replace("_", "-"),
                caption=question.caption.format_map(
                    defaultdict(str, report.parameters, measure=report.measure)
                ),
            )
            for part in PARTS.get(question.name, _of_expected)(report, question, frame):
                tables[part[0].id] = _table(report, *part)
    return {id: table for id, table in tables.items() if table.rows or table.question.note}


def _table(report: Report, question: Question, frame: pl.DataFrame) -> PageTable:
    """Return a table of rows, of columns that say something; readers can filter it by measure if
    the question says so.
    """
    rows = list(frame.iter_rows(named=True))
    if {*frame.columns}.issuperset(MEASURE):
        rows = [{**row, "measure": measure_text(row["metric"], row["cutoff"])} for row in rows]
        order = {measure: rank for rank, measure in enumerate(report.parameters["metrics"])}
        rows.sort(key=lambda row: order.get(row["measure"], len(order)))
    most = MOST_ROWS.get(question.name, ROWS)
    first_rows = rows[:most]
    if len(first_rows) < len(rows):
        some = f"The first {most} of {len(rows)} rows are shown; the CSV files hold all. "
        question = question._replace(note=f"{some}{question.note}".strip())
    columns = _columns(question, frame)
    filled = [(column, [column.fill(row) for row in first_rows]) for column in columns]
    parts_with_text = [part for part in filled if any(cell.text != DASH for cell in part[1])]
    cells = list(zip(*(cells for _, cells in parts_with_text), strict=True))
    measures = [row["measure"] for row in first_rows if "measure" in row] if question.choice else []
    return PageTable(question, [column for column, _ in parts_with_text], cells, measures)


def _columns(question: Question, frame: pl.DataFrame) -> list[PageColumn]:
    """Return the columns of a question that the frame has;
    a model's name may stand above its values.
    """
    titles, models = {}, ("model A", "model B")
    if question.name == "deciding" and frame.height:
        models = frame.select("model_a", "model_b").row(0)
        titles = {"value_a": models[0], "value_b": models[1]}
    declared = DECLARED.get(question.name, question.name)
    # A column that says the same in every row says nothing; readers of one measure know it.
    several = {*frame.columns}.issuperset(MEASURE) and frame.n_unique(MEASURE) > 1
    column_names = {*frame.columns, *JOINED, *(["measure"] if several else [])}
    return [
        column_of(declared, part, title=titles.get(part, ""), models=models)
        for part in question.columns.split()
        if part in column_names
    ] + [measure_column(values) for values in frame if "@" in values.name]


def _of_expected(report: Report, question: Question, frame: pl.DataFrame) -> Parts:
    """Return the table of a frame as it is, of expected scores where there are others."""
    yield question, frame.filter(policy="expected") if "policy" in frame.columns else frame


def _deciding(report: Report, question: Question, frame: pl.DataFrame) -> Parts:
    able = pl.col("difference", "lowest", "highest").abs().fill_null(0) > SAME
    yield question, frame.filter(report.at_headline, pl.any_horizontal(able))


def _summary(report: Report, question: Question, frame: pl.DataFrame) -> Parts:
    parts = summary_rows(frame).partition_by(MEASURE, maintain_order=True)
    wide = pl.concat(_with_digits(part, "value") for part in parts)
    if {"naive", "expected"} <= {*wide.columns}:
        wide = wide.with_columns(naive_error=NAIVE_ERROR)
    if frame["model"].n_unique() > 1:
        wide = with_ranks(wide, report.leaderboard)
    measures = frame.select(MEASURE).unique(maintain_order=True).rows()
    headline = (report.metric, report.cutoff)
    more_measures = [measure for measure in measures if measure != headline]
    three, health = report.three_scores, report.health
    board = leaderboard_rows(frame, report.leaderboard, [headline, *more_measures], three, health)
    board = _with_digits(with_costs(board, report.costs))
    # The verdict names the headline.
    marks = estimates_line(board)
    note = " ".join(filter(None, [marks, *uneven_lengths(report.scores, more_measures)]))
    first = question._replace(columns=" ".join(COLUMNS), folded="", note=note)
    yield first._replace(section="", choice=False, id="summary"), board
    yield question._replace(caption="Every measure", note=marks_note(wide)), wide


def _three_scores(report: Report, question: Question, frame: pl.DataFrame) -> Parts:
    """Return the table of the headline measure, and that of all measures and cutoffs."""
    rows = three_rows(frame, (report.metric, report.cutoff))
    if is_moved(rows):
        first = question._replace(section="", choice=False, id="three-scores")
        if frame["model"].n_unique() > 1:
            winners = report.winners.filter(report.at_headline)
            unranked = rows.filter(pl.col("expected_rank").is_null())["model"].to_list()
            first = first._replace(
                caption=winner_sentence(winners.row(0, named=True), unranked),
                note=accidents_sentence(report.winners, (report.metric, report.cutoff)),
            )
        yield first, _with_digits(with_shown_ranks(rows))
    measures = frame.select(MEASURE).unique(maintain_order=True).rows()
    if len(measures) > 1:
        parts = [_with_digits(with_shown_ranks(three_rows(frame, measure))) for measure in measures]
        every = pl.concat(parts, how="diagonal")
        caption = "The three scores by every measure"
        yield question._replace(caption=caption, note=marks_note(every)), every


def _with_digits(rows: pl.DataFrame, name: str = "expected") -> pl.DataFrame:
    """Return rows with the decimals that tell the numbers of one column apart, and naive scores,
    which have ranks of their own.
    """
    digits = column_decimals(rows[name])
    naive = rows["naive"] if "naive" in rows.columns else ()
    return rows.with_columns(digits=digits, naive_digits=max(digits, column_decimals(naive)))


def _comparisons(report: Report, question: Question, frame: pl.DataFrame) -> Parts:
    """Every pair, those whose order depends on tie order first."""
    verdicts = report.flips.select(*PAIR, "verdict", "disagree")
    rows = join_left(frame.filter(policy="expected"), verdicts, PAIR)
    rows = ahead_first(rows, pl.col("difference") < 0)
    if frame["model_a"].n_unique() > 1 and frame["ci_low"].count():
        question = question._replace(
            note="Each interval is for one pair: unlike p-values, intervals are not adjusted for "
            "the number of pairs."
        )
    yield question, rows.sort(pl.col("verdict") != DEPENDS, maintain_order=True)


def _audits(report: Report, question: Question, frame: pl.DataFrame) -> Parts:
    """Return the table of numbers that tie order changes or may change, those of the same
    definition first, and that of the others.
    """
    misled = pl.col("same_winner").eq(False).fill_null(False)
    order = (misled, as_defined, "exact", furthest_off)
    rows = frame.filter(report.at_headline).sort(
        *order, descending=True, nulls_last=True, maintain_order=True
    )
    settled = (pl.col("off") == 0).fill_null(False) & ~misled
    system_name = pl.concat_str("system", "version", separator=" ", ignore_nulls=True)
    exact = question._replace(
        id="audit-exact", caption=f"{question.caption}: the exact score of its definition"
    )
    rows = with_audit_digits(rows).with_columns(same_winner(), settled=settled, system=system_name)
    yield question, rows.remove("settled")
    yield exact, rows.filter("settled")


def queries_to_decide() -> pl.Expr:
    """Return expressions: how many queries would decide, only where these do not.

    >>> rows = {"verdict": ["worse", "not decided"], "queries_needed": [9, 8]}
    >>> pl.DataFrame({**rows, "queries_if_observed": [7, 6]}).select(queries_to_decide()).rows()
    [(None, None), (8, 6)]
    """
    is_open = pl.col("verdict") == NOT_DECIDED
    return pl.when(is_open).then(pl.col("queries_needed", "queries_if_observed"))


def _no_worse(report: Report, question: Question, frame: pl.DataFrame) -> Parts:
    if not frame["bound_low"].count():
        question = question._replace(note="")
    return _marked(report, question, frame.with_columns(queries_to_decide()))


def _marked(report: Report, question: Question, frame: pl.DataFrame) -> Parts:
    """Return a table of means, of which estimates are marked."""
    rows = with_marked_values(frame, report.summary)
    question = question._replace(note=f"{question.note} {marks_note(rows)}".strip())
    return _of_expected(report, question, rows)


def _queries(report: Report, question: Question, frame: pl.DataFrame) -> Parts:
    if report.cut:
        question = question._replace(caption=f"{question.caption} or by the cut of their list")
    yield question, frame.filter(pl.col("spread") > 0)


def _truncation(report: Report, question: Question, frame: pl.DataFrame) -> Parts:
    """Return the table of how the lists of every model are treated, at the cutoff of the verdict."""
    answer = pl.col("truncated").replace_strict(LISTS, return_dtype=pl.String)
    words = pl.when(pl.col("reason") != NOT_KNOWN).then(answer).otherwise(pl.lit("may be cut"))
    rows = _best_first(report, frame.filter(at_cutoff(report.cutoff)))
    question = question._replace(note=depth_sentence(rows, report.measure))
    yield question, rows.with_columns(truncated=words)


def _best_first(report: Report, frame: pl.DataFrame) -> pl.DataFrame:
    """Rows of the models in the order of the verdict's leaderboard."""
    return in_order_of(report.leaderboard.filter(report.at_headline)["model"].to_list(), frame)


def confused(confusion: pl.DataFrame) -> pl.DataFrame:
    """Return the cells of a confusion matrix that are predicted wrongly, the largest first."""
    wrong = confusion.filter(pl.col("label").ne_missing(pl.col("predicted")))
    return wrong.sort("value", descending=True, maintain_order=True)


PARTS: Mapping[str, Callable[[Report, Question, pl.DataFrame], Parts]] = {
    "three_scores": _three_scores,
    "summary": _summary,
    "comparison": _comparisons,
    **dict.fromkeys(
        ("profile", "calibration", "threshold_areas"),
        lambda report, question, frame: [(question, _best_first(report, frame))],
    ),
    "knn_accuracy": lambda _, question, frame: [
        (question, frame.sort("value", descending=True, nulls_last=True, maintain_order=True))
    ],
    "truncation": _truncation,
    "audit": _audits,
    "queries": _queries,
    "no_worse": _no_worse,
    "costs": _marked,
    "deciding": _deciding,
    "reversals": lambda _, question, frame: [
        (question._replace(caption=title(frame), note=reversals_note(frame)), varied(frame))
    ],
    "knn_confusion": lambda _, question, frame: [(question, confused(frame))],
}
