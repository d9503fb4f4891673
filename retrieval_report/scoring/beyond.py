"""What truncation leaves open in a list: from which position on, and which items may follow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from retrieval_report.contracts.frames import MOST_ITEMS
from retrieval_report.contracts.options import Options
from retrieval_report.contracts.truncated import NO, WITHIN_TIE
from retrieval_report.kernels import completions
from retrieval_report.kernels.lists import Bools, Cells, Integers, Keys, Lists, Rows
from retrieval_report.scoring import arrays
from retrieval_report.scoring.truncation import SAMPLE_QUERIES, Decision, Evidence, decide, gather


@dataclass(frozen=True)
class Beyond:
    """What truncation leaves open in each list."""

    before: Integers  # items whose position no further item can change; MOST_ITEMS if nothing is open
    within: Bools  # whether further items may belong to the last tie; otherwise they all come after it
    pooled: Bools  # whether R counts only what the models retrieved, so that more relevant items may follow
    far: Bools  # whether all further items are beyond ``distance_threshold`` and so have relevance 0

    @classmethod
    def nothing(cls, lists: int) -> Beyond:
        """Return the record for lists that hold all items."""
        no = np.zeros(lists, np.bool_)
        return cls(np.full(lists, MOST_ITEMS), no, no, no)

    def __getitem__(self, which: Integers) -> Beyond:
        """Select some of the lists."""
        return Beyond(self.before[which], self.within[which], self.pooled[which], self.far[which])

    @property
    def open(self) -> Bools:
        """Return which lists were truncated."""
        return self.before < MOST_ITEMS


def open_lists(
    beyond: Beyond, ties: Lists, names: pl.DataFrame, missing: Bools, words: Mapping[str, str], options: Options
) -> Beyond:
    """Return what is open in each list, given how its model's lists were truncated (``words``)."""
    if all(word == NO for word in words.values()):
        return replace(beyond, pooled=np.zeros_like(beyond.pooled))
    models = names["model"]
    found = models.unique().to_list()
    cut, within = (
        models.is_in([model for model in found if words.get(model, NO) in kinds]).to_numpy()
        for kinds in ((WITHIN_TIE, "between_ties"), (WITHIN_TIE,))
    )
    within = within | (cut & (options.decimals is not None))  # rounding may put following items into the last tie
    is_open = cut & ~missing
    before = ties.length - np.where(within, ties.total_of_last(), 0)
    # A model that ranks all items retrieves every relevant one.
    pooled = beyond.pooled & all(word != NO for word in words.values())
    return Beyond(np.where(is_open, before, MOST_ITEMS), within & is_open, pooled, beyond.far)


def difference(lists: Lists, shown: Lists) -> Cells:
    """Count, by list and grade, items of relevance above 0 that are in ``lists`` but not in ``shown``.

    >>> one = Lists(np.array([0, 1]), np.array([0, 2]), np.array([2, 1], np.int32), np.array([3, 4]))
    >>> two = Lists(np.array([0, 1]), np.array([0, 1]), np.array([2], np.int32), np.array([1]))
    >>> difference(one, two)
    Cells(start=array([0, 2]), grade=array([1, 2], dtype=int32), items=array([4, 2]))
    """
    number = lists.start.size - 1
    keys, items = [], []
    for part, sign in ((lists, 1), (shown, -1)):
        owner = np.repeat(np.arange(number), np.diff(part.tie[part.start]))
        keys.append(owner << 32 | part.grade)
        items.append(part.items * sign)
    key, index = np.unique(np.concatenate(keys), return_inverse=True)
    left = np.zeros(key.size, np.int64)
    np.add.at(left, index, np.concatenate(items))
    kept = (left > 0) & (key & 0xFFFFFFFF > 0)
    owner = key[kept] >> 32
    return Cells(arrays.starts(owner, number), (key[kept] & 0xFFFFFFFF).astype(np.int32), left[kept])


def decide_lists(
    names: pl.DataFrame,
    ties: Lists,
    rows: Rows,
    keys: Keys | None,
    found: Integers,
    known: Integers,
    models: Sequence[str],
    options: Options,
) -> dict[str, Decision]:
    """Decide for each model whether its lists, already laid out, were truncated.

    ``keys`` are the keys of the rows' items (None for counts), ``found`` the number of relevant items of each list,
    ``known`` the number according to judgements or ``n_relevant`` (−1 if unknown), and ``models`` all models.
    """

    def look() -> dict[str, Evidence]:
        print_of = np.empty(names.height, np.uint64)
        if keys is not None:
            arrays.over_ranges(
                lambda first, last: completions.fingerprints(first, last, rows, keys, print_of),
                rows.work,
                options.workers,
            )
        facts = names.with_columns(
            items=pl.Series(ties.length),
            before=pl.Series(ties.length - ties.total_of_last()),
            found=pl.Series(found),
            known=pl.Series(known),
            fingerprint=pl.Series(print_of, dtype=pl.UInt64) if keys is not None else pl.lit(None, pl.UInt64),
        ).with_columns(known=pl.when(pl.col("known") >= 0).then("known"))
        return gather(facts)

    return decide(options.truncated, models, look, _recurring(names, rows, keys))


def _recurring(names: pl.DataFrame, rows: Rows, keys: Keys | None) -> Callable[[str], bool]:
    """Return a function that says whether any two of a model's first queries share an item."""

    def recurring(model: str) -> bool:
        assert keys is not None
        lists = names.with_row_index("list").filter(model=model).sort("query")["list"].head(SAMPLE_QUERIES)
        found = np.concatenate([keys[rows.of(number)] for number in lists])
        return bool(np.unique(found).size < found.size)

    return recurring
