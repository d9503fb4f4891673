"""Lay out judged rankings as lists for the kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from retrieval_report.contracts.errors import DataError
from retrieval_report.contracts.frames import MOST_ITEMS, order_column, with_model
from retrieval_report.contracts.options import BETWEEN_TIES, NO, WITHIN_TIE, Options, is_relevant
from retrieval_report.kernels import shuffling
from retrieval_report.kernels.lists import (
    Bools,
    Cells,
    Codes,
    Floats,
    Integers,
    Keys,
    Lists,
    running,
)
from retrieval_report.metrics.terms import Sum
from retrieval_report.scoring import arrays
from retrieval_report.scoring.judged import Judged
from retrieval_report.scoring.known_items import KEYS, stated_relevant
from retrieval_report.scoring.truncation import (
    Decision,
    as_counted,
    decide,
    ends_of,
    gather,
    gather_lacking,
)


@dataclass(frozen=True)
class Prepared:
    """Everything the kernels need, with one entry per
    list (model, query), sorted by model and query.
    """

    names: pl.DataFrame  # model, query
    ties: Lists  # the true ties
    naive: Codes | None  # the grade of every row, in the naive order
    keys: Integers  # of the distances of all ties
    judged: Lists  # all judged items, by falling grade
    retrieved: Lists  # the list's items, by falling grade
    grades: Floats  # the distinct relevances, ascending; lists hold indices into them
    relevant_grade: Bools
    relevant: Integers  # R of each list; −1 where the query has no judgements
    length: Integers  # items of each list
    missing: Bools  # the model has no rows for the query
    without: (
        Bools  # no relevant item is known, and the rows or something beside them would tell of one
    )
    known: Lists  # the judged items of which the grade is known, by falling grade
    # Of cut lists: items whose position no further item can change; of others MOST_ITEMS
    before: Integers
    within: Bools  # whether further items may belong to the last tie; else they all come after it
    # Whether R counts only what the models retrieved, so that more relevant items may follow
    pooled: Bools
    far: Bools  # whether all further items are beyond ``distance_threshold``: of relevance 0
    all_judged: bool  # judgements were given: what they do not name is not relevant
    decisions: dict[str, Decision] = field(
        default_factory=dict
    )  # of each model, whether its lists were cut

    @property
    def open(self) -> Bools:
        """Return which lists were truncated."""
        return self.before < MOST_ITEMS

    @property
    def most_others(self) -> Integers:
        """Return how many judged items that are not relevant may count against a relevant one."""
        return np.minimum(np.maximum(self.relevant, 0), self.judged.total(~self.relevant_grade))

    def gains(self, term: Sum) -> Floats:
        """Return what an item of each grade brings to a sum, whatever its rank; raise an error for
        grades that the sum does not accept.
        """
        return term.values.of(self.grades, self.relevant_grade)

    def open_end(self, grades: Bools) -> Integers:
        """Return how many items of some grades are in each last tie that further ones may join."""
        return np.where(self.within, self.ties.total(grades, of_last_tie=True), 0)

    def part(self, first: int, last: int) -> Prepared:
        """Select consecutive lists, with their naive order."""
        rows = running(self.length)
        naive = None if self.naive is None else self.naive[rows[first] : rows[last]]
        return replace(self.take(np.arange(first, last)), naive=naive)

    def take(self, which: Integers) -> Prepared:
        """Select lists, without naive order and keys; one that is named several times is repeated."""
        lists = {
            name: getattr(self, name).take(which)
            for name in ("ties", "judged", "retrieved", "known")
        }
        open_ends = ("before", "within", "pooled", "far")
        names = ("names", "relevant", "length", "missing", "without", *open_ends)
        return replace(
            self,
            naive=None,
            keys=self.keys[:0],
            **lists,
            **{name: getattr(self, name)[which] for name in names},
        )


def order_values(frame: pl.DataFrame, options: Options) -> pl.Expr:
    """Return the distances or scores of rows with these columns, rounded as the options say."""
    order = order_column(frame)
    if options.decimals is None or frame.schema[order].is_integer():
        return pl.col(order)
    return pl.col(order).round(options.decimals)


def rounded(frame: pl.DataFrame, options: Options) -> pl.DataFrame:
    """Return rows with distances rounded as the options say."""
    if options.decimals is None:
        return frame
    return frame.with_columns(order_values(frame, options))


def _far(judged: Judged, options: Options) -> Bools | None:
    """Return which rows are beyond the threshold, and so not relevant; None without one."""
    if options.distance_threshold is None:
        return None
    order = order_values(judged.retrieved, options)
    return judged.retrieved.select(order > options.distance_threshold).to_series().to_numpy()


def ties_of(
    judged: Judged, options: Options, *, falling: bool | None = None
) -> tuple[Lists, Codes | None, Integers]:
    """Return the lists of ties, the grades of rows in their order unless these are counts, and the
    key of every tie: equal where distances are equal, small where they are near (``falling``: where
    scores are high). Those of the last rules are kept: every analysis of these rows asks for them.
    """
    falling = judged.order == "score" if falling is None else falling
    rules = options.decimals, options.distance_threshold, falling
    stored = judged.laid_out.get(rules)
    if stored is None:
        judged.laid_out.clear()
        frame, far = rounded(judged.retrieved, options), _far(judged, options)
        stored = judged.laid_out[rules] = arrays.lists_from_rows(
            judged.rows,
            arrays.order_keys(frame[judged.order], falling=falling),
            # grade 0 is always the first
            judged.grade_index if far is None else np.where(far, np.int32(0), judged.grade_index),
            frame["count"].to_numpy() if "count" in frame.columns else np.empty(0, np.int64),
            judged.grades.size,
            workers=options.workers,
        )
    return stored


def lay_out(judged: Judged, options: Options) -> Prepared:
    """Lay out the retrieved items as lists, and decide which of them were truncated; once for all
    options that give the same, whatever the naive order.
    """
    naive, source, unpooled = None, judged, judged.unpooled(options)
    if "naive" in options.policies:
        if options.naive_order != "row":
            source = _by_item(judged, falling=options.naive_order == "item_descending")
        naive = ties_of(source, options)[1]
    rules = options.relevant_from, options.decimals, options.distance_threshold
    key = *rules, repr(options.truncated), _pools(judged, options), unpooled
    prepared = judged.laid_out.get(key)
    if prepared is None:
        whole, r_known = _whole_lists(source, options)
        if judged.part_of is None:
            decisions = decide(
                options.truncated,
                judged.whole.models,
                as_counted(source.retrieved),
                lambda: _proofs(source, whole, r_known, options),
            )
        else:
            decisions = lay_out(judged.part_of, options).decisions
        whole = replace(whole, decisions=decisions)
        prepared = judged.laid_out[key] = _open_lists(judged, whole, options, unpooled=unpooled)
    return replace(prepared, naive=naive)


def evidence_of(judged: Judged, options: Options) -> pl.DataFrame:
    """Return, list by list, what tells whether it was truncated, as `gather` takes it."""
    return _keyed(_found(*_whole_lists(judged, options)), judged, options)


def _whole_lists(judged: Judged, options: Options) -> tuple[Prepared, pl.Series]:
    """Return the lists as if none was truncated, and the relevant items of each list's query, null
    where neither judgements nor a number nor unretrieved rows tell them.
    """
    names = judged.lists[KEYS]
    grades = judged.grades
    far_rows = _far(judged, options)
    far = np.zeros(names.height, np.bool_)
    if far_rows is not None:
        far = judged.rows.sums(far_rows.astype(np.int64)) > 0
    relevant_grade = is_relevant(grades, options.relevant_from)
    ties, _, keys = ties_of(judged, options)
    retrieved = arrays.ideal_lists(ties, None, grades.size)
    pool = _pool(judged, far_rows, options)
    cells = _cells(judged, pool)
    is_pool = pool is not None or judged.whole.pooled
    judged_cells = arrays.ideal_lists(cells, None, grades.size)
    judged_lists = judged_cells
    if not judged.whole.judged:
        not_retrieved = difference(judged_cells, retrieved, grades.size) if is_pool else cells
        judged_lists = arrays.ideal_lists(retrieved, not_retrieved, grades.size)
    ideal, relevant, r_is_given = _relevant(judged, judged_lists, cells, relevant_grade, options)
    missing = judged.lists["missing"].to_numpy()
    # If a model has no rows for a query, its rows cannot show that nothing is relevant.
    without = (relevant == 0) & (~missing | r_is_given)
    nothing = np.full(names.height, MOST_ITEMS)
    prepared = Prepared(
        names, ties, None, keys, ideal, retrieved, grades, relevant_grade, relevant, ties.length, missing, without,
        judged_lists, nothing, nothing < 0, ~r_is_given, far, judged.whole.judged,
    )  # fmt: skip
    # A list that shows fewer because some are beyond the threshold lacks nothing.
    sure = r_is_given | (np.diff(cells.start) > 0 if not is_pool else False)
    return prepared, null_where(relevant, far | ~sure)


def null_where(numbers: Integers, which: Bools) -> pl.Series:
    """Return numbers, some of them null."""
    return pl.Series(numbers).set(pl.Series(which), None)


def _by_item(judged: Judged, *, falling: bool) -> Judged:
    """Return rows in the order of their item ids."""
    rows = judged.retrieved
    items = rows["item"]
    list_of = judged.rows.list_of()
    rising = (items[1:] > items[:-1]).to_numpy() | (list_of[1:] != list_of[:-1])
    if rising.all():  # as in an audit, which sorts once for all
        if not falling:
            return judged
        rows = rows.reverse()
    else:
        rows = rows.sort("item", descending=falling, maintain_order=True)
    return judged.with_rows(rows, judged.known, judged.lists)


def _proofs(
    judged: Judged, prepared: Prepared, r_known: pl.Series, options: Options
) -> Mapping[str, Decision]:
    """Return what the lists of every model prove, nothing of one that proves nothing; all their
    items are compared only where what was found of the relevant ones, or the first two lists of a
    single model, leaves it open.
    """
    lists = _found(prepared, r_known)
    lacking = gather_lacking(lists)
    remaining = [model for model in judged.whole.models if model not in lacking]
    first = np.flatnonzero(prepared.length > 0)[:2]
    is_alone = len(judged.whole.models) == 1
    if not remaining or (is_alone and first.size < 2):
        return lacking
    if judged.named and is_alone:
        begin, end = judged.rows.begin[first], judged.rows.end[first]
        items = pl.concat(
            judged.retrieved["item"][rows] for rows in map(slice, begin.tolist(), end.tolist())
        )
        if 2 * items.n_unique() - len(items) > 2:  # each may lack its query
            return {}
    return gather(_keyed(lists, judged, options))


def _found(prepared: Prepared, r_known: pl.Series) -> pl.DataFrame:
    """Return, list by list, what was found of the relevant items that are known."""
    columns = {
        "items": prepared.length,
        "found": prepared.retrieved.total(prepared.relevant_grade),
        "known": r_known,
        "ordered": np.diff(prepared.ties.start) > 1,
    }
    return prepared.names.hstack(pl.DataFrame(columns))


def _keyed(lists: pl.DataFrame, judged: Judged, options: Options) -> pl.DataFrame:
    """Return what tells whether the lists were truncated, with keys of their items."""
    retrieved, rows = judged.retrieved, judged.rows
    lists, ordered = lists.drop("ordered"), lists["ordered"]
    if "item" not in retrieved.columns:
        kinds = {"items_key": pl.UInt64, "key_with_query": pl.UInt64, "pooled": pl.Int64}
        return lists.with_columns(pl.lit(None, kind).alias(name) for name, kind in kinds.items())
    keys = arrays.id_keys(retrieved["item"])  # made anew to save memory
    of_items = rows.sums(_mixed(keys))
    of_query = _mixed(arrays.id_keys(lists["query"]))  # no item's if ids are of other types
    lists = lists.with_columns(items_key=of_items, key_with_query=of_items + of_query)
    if len(judged.whole.models) == 1:  # of several, equal lists prove nothing
        list_keys = _list_keys(judged, keys, options).set(~ordered, None)
        return lists.with_columns(list_key=list_keys, pooled="items")
    return lists.with_columns(pooled=_pooled_items(lists, judged, keys))


def _list_keys(judged: Judged, keys: Keys, options: Options) -> pl.Series:
    """Return a key of every list, equal where two hold the same items at the same distances; null
    of all where the first two do not.
    """
    retrieved, rows = judged.retrieved, judged.rows

    def mixed(part: slice) -> Keys:
        values = retrieved[part].select(order_values(retrieved, options)).to_series()
        of_values = _mixed(arrays.order_keys(values, falling=False).view(np.uint64))
        return _mixed(keys[part] ^ of_values)

    first = np.flatnonzero(rows.end > rows.begin)[:2]
    sums = [mixed(slice(rows.begin[one], rows.end[one])).sum() for one in first]
    if len(set(sums)) > 1:
        return pl.repeat(None, rows.begin.size, dtype=pl.UInt64, eager=True)
    return pl.Series(rows.sums(mixed(slice(None))))


def _pooled_items(lists: pl.DataFrame, judged: Judged, keys: Keys) -> pl.Series:
    """Return for each list how many items, at least, models retrieved for its query; more than the
    list holds if one of them is not in it.

    A list without a judged item, where others have some, lacks those; what it holds itself may be
    ids of another kind, and counts for no other list.
    """
    items, matched = pl.col("items"), pl.lit(True)
    if "judged" in judged.lists.columns:
        lists = lists.with_columns(matched=judged.lists["judged"] > 0)
        matched = pl.col("matched") | ~pl.col("matched").any().over("query")
    alike = lists.select((items == items.max().over("query")).all()).item()
    if alike:  # of lists of one length, the keys tell, in a tenth of the time
        pool = items + (pl.n_unique("items_key").over("query", matched) > 1)
    else:
        of_rows = judged.retrieved.select("query", item=keys)
        kept = lists.select(matched).to_series()
        if not kept.all():
            of_rows = of_rows.filter(judged.rows.spread(kept.to_numpy()))
        pooled = of_rows.group_by("query").agg(pool=pl.n_unique("item").cast(pl.Int64))
        lists = lists.join(pooled, on="query", how="left", maintain_order="left")
        pool = pl.col("pool")
    return lists.select(pooled=pl.when(matched).then(pool).otherwise(items + 1)).to_series()


def _mixed(keys: Keys) -> Keys:
    """Return the keys scrambled, so that sums of equal numbers of them hardly ever agree."""
    mixed = np.empty(keys.size, np.uint64)
    shuffling.integer_keys(keys, mixed)
    return mixed


def _open_lists(
    judged: Judged, prepared: Prepared, options: Options, *, unpooled: bool
) -> Prepared:
    """Return lists with what is open in each, given how its model's lists were truncated."""
    ties, words = prepared.ties, ends_of(prepared.decisions)
    if all(word == NO for word in words.values()):
        return replace(prepared, pooled=np.zeros_like(prepared.pooled))
    cut, within = (
        _of_models(prepared, [model for model in words if words[model] in ends])
        for ends in ((BETWEEN_TIES, WITHIN_TIE), (WITHIN_TIE,))
    )
    is_open = cut & ~prepared.missing
    within |= options.decimals is not None  # rounding may extend the last tie
    if judged.with_unjudged is not None and within.any():
        within &= ~_ends_later(judged, judged.with_unjudged, options)
    before = ties.length - np.where(within, ties.total(of_last_tie=True), 0)
    # A model that ranks all items retrieves every relevant one, and so tells R of the others if
    # they pool.
    pooled = prepared.pooled & (cut if unpooled else all(word != NO for word in words.values()))
    before = np.where(is_open, before, MOST_ITEMS)
    return replace(prepared, before=before, within=within & is_open, pooled=pooled)


def _ends_later(judged: Judged, with_unjudged: pl.DataFrame, options: Options) -> Bools:
    """Return which lists had unjudged items behind the last tie, which closes it."""
    last = (pl.max if judged.order == "distance" else pl.min)(judged.order)
    ends = judged.lists.select(KEYS)
    for name, rows in (("kept", judged.retrieved), ("whole", with_unjudged)):
        of_lists = with_model(rounded(rows, options)).group_by(KEYS).agg(last.alias(name))
        ends = ends.join(of_lists, on=KEYS, how="left", maintain_order="left")
    return ends.select((pl.col("kept") != pl.col("whole")).fill_null(False)).to_series().to_numpy()


def _of_models(prepared: Prepared, models: Sequence[str]) -> Bools:
    """Return which lists are those of some models."""
    of_model = prepared.names["model"]
    if len(models) in (0, len(prepared.decisions)):
        return np.full(len(of_model), bool(models))
    return of_model.is_in(models).to_numpy()


def _pools(judged: Judged, options: Options) -> bool:
    """Return whether R is what all models retrieved together."""
    several = judged.named and len(judged.whole.models) > 1
    return several and not judged.whole.judged and options.relevant_items != "own"


def _pool(judged: Judged, far: Bools | None, options: Options) -> pl.DataFrame | None:
    """Return the relevant items of any model, each once; None if R is not pooled."""
    if not _pools(judged, options):
        return None
    columns = "query", "item", pl.col("relevance").cast(pl.Float64)
    rows = judged.retrieved if far is None else judged.retrieved.filter(~far)
    pooled = pl.concat(
        part.filter(pl.col("relevance") > 0).select(columns) for part in (rows, judged.known)
    )
    return pooled.unique(["query", "item"])


def _cells(judged: Judged, pool: pl.DataFrame | None) -> Cells:
    """Return items known for every list besides its rows:
    all judged, those of any model, or those not retrieved.
    """
    items = judged.known if pool is None else pool
    if items.is_empty():
        none = np.zeros(judged.lists.height + 1, np.int64)
        return Cells(none, judged.grade_index[:0], none[:0])
    lists = judged.lists.select(KEYS).with_row_index("list")
    keys = [key for key in KEYS if key in items.columns]
    number = pl.sum("count") if "count" in items.columns else pl.len()
    cells = items.group_by(*keys, "relevance").agg(count=number.cast(pl.Int64))
    cells = (
        lists.join(cells, on=keys).select("list", "relevance", "count").sort("list", "relevance")
    )
    grade = np.searchsorted(judged.grades, cells["relevance"].cast(pl.Float64).to_numpy()).astype(
        np.int32
    )
    return Cells(
        arrays.starts(cells["list"].to_numpy(), lists.height), grade, cells["count"].to_numpy()
    )


def difference(lists: Lists, retrieved: Lists, kinds: int) -> Cells:
    """Count, by list and grade, items of relevance above 0 that are in ``lists`` but not in
    ``retrieved``; either has a cell for each of its grades.

    >>> one = Lists(
    ...     np.array([0, 1]), np.array([0, 2]), np.array([2, 1], np.int32), np.array([3, 4])
    ... )
    >>> two = Lists(np.array([0, 1]), np.array([0, 1]), np.array([2], np.int32), np.array([1]))
    >>> difference(one, two, 3)
    Cells(start=array([0, 2]), grade=array([2, 1], dtype=int32), items=array([2, 4]))
    """
    cells = retrieved.cells
    remaining = arrays.ideal_lists(lists, cells._replace(items=-cells.items), kinds)
    is_relevant = (remaining.items > 0) & (remaining.grade > 0)
    return Cells(
        running(is_relevant.astype(np.int64))[remaining.start],
        remaining.grade[is_relevant],
        remaining.items[is_relevant],
    )


def _relevant(
    judged: Judged, judged_lists: Lists, cells: Cells, relevant_grade: Bools, options: Options
) -> tuple[Lists, Integers, Bools]:
    """Return the ideal's items, R of every list (−1: no judgements), and whether R was given;
    unseen relevant items enter an ideal with the lowest grade of those it has.
    """
    relevant_judged = judged_lists.total(relevant_grade)
    if judged.whole.judged:
        relevant = np.where(np.diff(cells.start) > 0, relevant_judged, -1)
        return judged_lists, relevant, np.ones(relevant_judged.size, np.bool_)
    if "n_relevant" not in judged.lists.columns:
        return judged_lists, relevant_judged, np.zeros(relevant_judged.size, np.bool_)
    lists = judged.lists
    stated = lists.select(stated_relevant(lists, options.relevant_from)).to_series()
    number = stated.fill_null(-1).to_numpy()
    relevant = np.where(number < 0, relevant_judged, number)
    less = np.flatnonzero(relevant < relevant_judged)
    if less.size:
        model, query = lists.select(KEYS).row(int(less[0]))
        raise DataError(
            f"column 'n_relevant': {less.size} lists hold more relevant items than the queries "
            f"frame states, first query {query!r} of model {model!r}: "
            f"{relevant_judged[less[0]]} found, {number[less[0]]} stated"
        )
    if relevant_grade.any():
        lowest = np.full(
            lists.height, np.argmax(relevant_grade), np.int32
        )  # if none is seen, any grade will do
        owner = np.repeat(np.arange(lists.height), np.diff(judged_lists.tie[judged_lists.start]))
        # grades fall: the last written is the lowest
        cell = np.flatnonzero(relevant_grade[judged_lists.grade])
        lowest[owner[cell]] = judged_lists.grade[cell]
        extra = Cells(
            np.arange(lists.height + 1), lowest, np.minimum(relevant - relevant_judged, MOST_ITEMS)
        )
        judged_lists = arrays.ideal_lists(judged_lists, extra, relevant_grade.size)
    return judged_lists, relevant, number >= 0
