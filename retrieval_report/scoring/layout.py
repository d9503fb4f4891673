"""Checked rows and what is known beside them → lists ready for the kernels."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from retrieval_report.contracts.errors import DataError
from retrieval_report.contracts.frames import MOST_ITEMS, order_column
from retrieval_report.contracts.options import Options
from retrieval_report.scoring import arrays
from retrieval_report.scoring.arrays import Cells, Codes, Integers, Lists, Rows
from retrieval_report.scoring.beyond import Beyond, difference, open_lists
from retrieval_report.scoring.truncation import Decision

__all__ = ["Known", "Prepared", "lay_out", "with_decisions"]

NO_CELLS = (np.empty(0, np.int32), np.empty(0, np.int64))


@dataclass(frozen=True)
class Prepared:
    """Everything the kernels need, one entry a list (model, query), sorted by model and query."""

    names: pl.DataFrame  # model, query
    ties: Lists  # the true ties
    naive: Lists | None  # every row a tie of its own, in the naive order
    judged: Lists  # all judged items, by falling grade
    listed: Lists  # the list's items, by falling grade
    grades: NDArray[np.float64]  # the distinct relevances, ascending; codes index into them
    relevant_grade: NDArray[np.bool_]
    relevant: Integers  # R of each list; −1 where the query has no judgements
    length: Integers  # items of each list
    missing: NDArray[np.bool_]  # the model has no rows for the query
    without: NDArray[np.bool_]  # no relevant item is known, and the rows or something beside them would tell of one
    known: Lists  # the judged items of which the grade is known, by falling grade
    free: Integers  # relevant items of the query whose grade is not known
    beyond: Beyond
    all_judged: bool  # judgements were given: what they do not name is not relevant
    decisions: dict[str, Decision] = field(default_factory=dict)  # of each model, whether its lists were cut

    def take(self, which: Integers) -> Prepared:
        """Some of the lists, any as often as it is named, without their naive order."""
        lists = {name: getattr(self, name).take(which) for name in ("ties", "judged", "listed", "known")}
        names = ("names", "relevant", "length", "missing", "without", "free", "beyond")
        return replace(self, naive=None, **lists, **{name: getattr(self, name)[which] for name in names})


class Known(NamedTuple):
    """What is known of each list beside its rows."""

    cells: Cells  # all its judged items; without judgements, items that were not retrieved
    judged: NDArray[np.bool_] | None = None  # with judgements: whether its query has any
    pooled: bool = False  # without judgements: the cells are all relevant items that any model shows
    n_relevant: Integers | None = None  # R as the queries frame says, −1 where it does not


def with_decisions(prepared: Prepared, decisions: dict[str, Decision], options: Options) -> Prepared:
    """The lists, open where they were cut."""
    words = {model: decision.truncated for model, decision in decisions.items()}
    beyond = open_lists(prepared.beyond, prepared.ties, prepared.names, prepared.missing, words, options)
    return replace(prepared, beyond=beyond, decisions=decisions)


def lay_out(
    names: pl.DataFrame,
    missing: NDArray[np.bool_],
    rows: Rows,
    frame: pl.DataFrame,
    grades: NDArray[np.float64],
    grade: Codes,
    known: Known,
    options: Options,
) -> Prepared:
    """Lists from checked rows: ``rows`` says which of ``frame`` are whose, ``grade`` which of ``grades`` each has."""
    relevant_grade = grades > 0 if options.relevant_from is None else grades >= options.relevant_from
    order = order_column(frame)
    if options.distance_threshold is not None:
        grade[(frame[order] > options.distance_threshold).to_numpy()] = 0  # grade 0 is always the first
    key = arrays.order_keys(frame[order], falling=order == "score")
    count = frame["count"].to_numpy() if "count" in frame.columns else np.empty(0, np.int64)
    naive = "naive" in options.policies
    ties, each = arrays.lists_from_rows(rows, key, grade, count, grades.size, naive=naive, workers=options.workers)
    listed = _by_grade(names.height, grades.size, ties)
    told = judged = _known_items(ties, listed, known, grades.size)
    seen = relevant = judged.total(relevant_grade)
    if known.judged is not None:
        relevant[~known.judged] = -1
    elif known.n_relevant is not None:
        judged, relevant = _told_relevant(names, judged, relevant, known.n_relevant, relevant_grade)
    # Of a query that a model has no rows for, its rows cannot say that nothing is relevant.
    said = known.judged is not None if known.n_relevant is None else known.n_relevant >= 0
    without = (relevant == 0) & (~missing | said)
    beyond = replace(Beyond.nothing(names.height), pooled=np.broadcast_to(~np.asarray(said), names.height))
    if options.distance_threshold is not None:
        beyond = replace(beyond, far=rows.any((frame[order] > options.distance_threshold).to_numpy()))
    return Prepared(
        names, ties, each, judged, listed, grades, relevant_grade, relevant, ties.length, missing, without, told,
        relevant - seen, beyond, known.judged is not None,
    )  # fmt: skip


def _by_grade(lists: int, kinds: int, own: Lists | None, cells: Cells | None = None) -> Lists:
    """Items of lists and extra cells, by falling grade."""
    none = np.zeros(lists + 1, np.int64)
    first = Lists(none, np.zeros(1, np.int64), *NO_CELLS) if own is None else own
    return arrays.ideal_lists(first, *(Cells(none, *NO_CELLS) if cells is None else cells), kinds)


def _known_items(ties: Lists, listed: Lists, known: Known, kinds: int) -> Lists:
    """All items known of each list's query: those judged, or its own and what is known beside them."""
    lists = ties.start.size - 1
    if known.judged is not None:
        return _by_grade(lists, kinds, None, known.cells)
    if known.pooled:
        return _by_grade(lists, kinds, ties, difference(_by_grade(lists, kinds, None, known.cells), listed))
    return _by_grade(lists, kinds, ties, known.cells)


def _told_relevant(
    names: pl.DataFrame, judged: Lists, relevant: Integers, told: Integers, relevant_grade: NDArray[np.bool_]
) -> tuple[Lists, Integers]:
    """R as told; relevant items that a list has not seen are in its ideal, with the lowest grade of those it has."""
    told = np.where(told < 0, relevant, told)
    less = np.flatnonzero(told < relevant)
    if less.size:
        model, query = names.row(int(less[0]))
        raise DataError(
            f"column 'n_relevant': {less.size} lists hold more relevant items than the queries frame says, first "
            f"query {query!r} of model {model!r}: {relevant[less[0]]} found, {told[less[0]]} told"
        )
    if relevant_grade.any():
        lowest = np.full(names.height, np.argmax(relevant_grade), np.int32)  # where none is seen, any will do
        owner = np.repeat(np.arange(names.height), np.diff(judged.tie[judged.start]))
        known = np.flatnonzero(relevant_grade[judged.grade])  # grades fall: the last written is the lowest
        lowest[owner[known]] = judged.grade[known]
        extra = (np.arange(names.height + 1), lowest, np.minimum(told - relevant, MOST_ITEMS))
        judged = arrays.ideal_lists(judged, *extra, relevant_grade.size)
    return judged, told
