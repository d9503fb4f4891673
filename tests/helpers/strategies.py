"""Hypothesis strategies: small lists with ties, and long Polars frames built from such lists.

Sizes are bounded so that all orderings of a list can be enumerated in an instant
(`oracles.moments`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import polars as pl
from hypothesis import strategies as st

from oracles import Grade

FRACTIONAL_GRADES = (0, 0.5, 1, 1.5, 2, 3)
DISTANCES: dict[pl.DataType, st.SearchStrategy[Any]] = {
    pl.Int8(): st.integers(-128, 127),
    pl.UInt8(): st.integers(0, 255),
    pl.UInt32(): st.integers(0, 2**32 - 1),
    pl.Int64(): st.integers(-(2**63), 2**63 - 1),
    pl.Float32(): st.floats(allow_nan=False, allow_infinity=False, width=32),
    pl.Float64(): st.floats(allow_nan=False, allow_infinity=False),
}


class ListCase(NamedTuple):
    """One ranked list: grades tie by tie (nearest first), a cutoff, and judged grades that were not
    retrieved.
    """

    ties: list[list[Grade]]
    cutoff: int | None
    unretrieved: list[Grade]

    @property
    def judged(self) -> list[Grade]:
        """Grades of all judged items, retrieved or not."""
        return [grade for tie in self.ties for grade in tie] + self.unretrieved


class FrameCase(NamedTuple):
    """A long frame of several models and queries, and the lists it was made from.

    rankings: model, query, item, distance, relevance, rows in random order.
    judgements: query, item, relevance, of every item of every query, retrieved by a model or not.
    ties: for each (model, query) its grades tie by tie, nearest first.
    judged: for each query the grades in `judgements`.
    """

    rankings: pl.DataFrame
    judgements: pl.DataFrame
    ties: dict[tuple[str, str], list[list[Grade]]]
    judged: dict[str, list[Grade]]


def grades(max_grade: int = 3, *, fractional: bool = False) -> st.SearchStrategy[Grade]:
    if fractional:
        return st.sampled_from([grade for grade in FRACTIONAL_GRADES if grade <= max_grade])
    return st.integers(0, max_grade)


@st.composite
def ties(
    draw: st.DrawFn, max_items: int = 7, max_grade: int = 3, *, fractional: bool = False
) -> list[list[Grade]]:
    """At least one item; a tie ends after every item whose flag says so."""
    item = st.tuples(grades(max_grade, fractional=fractional), st.booleans())
    groups: list[list[Grade]] = [[]]
    for grade, last in draw(st.lists(item, min_size=1, max_size=max_items)):
        groups[-1].append(grade)
        if last:
            groups.append([])
    return [group for group in groups if group]


def cutoffs(items: int) -> st.SearchStrategy[int | None]:
    """None, and every cutoff up to three past the end of a list of so many items."""
    return st.none() | st.integers(1, items + 3)


def unretrieved(
    max_items: int = 3, max_grade: int = 3, *, fractional: bool = False
) -> st.SearchStrategy[list[Grade]]:
    return st.lists(grades(max_grade, fractional=fractional), max_size=max_items)


def relevant_from(max_grade: int = 3) -> st.SearchStrategy[int | None]:
    return st.none() | st.integers(1, max_grade)


@st.composite
def list_cases(
    draw: st.DrawFn, max_items: int = 7, max_grade: int = 3, *, fractional: bool = False
) -> ListCase:
    drawn = draw(ties(max_items, max_grade, fractional=fractional))
    cutoff = draw(cutoffs(sum(map(len, drawn))))
    return ListCase(drawn, cutoff, draw(unretrieved(3, max_grade, fractional=fractional)))


@st.composite
def distance_levels(draw: st.DrawFn, count: int) -> tuple[pl.DataType, list[Any]]:
    """So many different distances of one type in rising order, over the whole range of the type."""
    dtype = draw(st.sampled_from(list(DISTANCES)))
    values = DISTANCES[dtype]
    return dtype, sorted(draw(st.lists(values, min_size=count, max_size=count, unique=True)))


@st.composite
def frame_cases(
    draw: st.DrawFn,
    max_models: int = 3,
    max_queries: int = 3,
    max_items: int = 6,
    max_grade: int = 3,
    *,
    fractional: bool = False,
) -> FrameCase:
    """Every model answers every query with at least one item; models agree on the relevance of an
    item.
    """
    relevance = grades(max_grade, fractional=fractional)
    queries = draw(
        st.lists(
            st.lists(relevance, min_size=1, max_size=max_items), min_size=1, max_size=max_queries
        )
    )
    models = [f"m{number}" for number in range(draw(st.integers(1, max_models)))]
    dtype, levels = draw(distance_levels(3))
    rows: list[tuple[str, str, str, Any, Grade]] = []
    groups: dict[tuple[str, str], list[list[Grade]]] = {}
    for model in models:
        for number, items in enumerate(queries):
            query, measures = f"q{number}", draw(tie_of_each_item(len(items), len(levels)))
            ranked = [
                (measure, f"i{item}", items[item])
                for item, measure in enumerate(measures)
                if measure is not None
            ]
            rows += [
                (model, query, item, draw(equal_to(levels[measure])), grade)
                for measure, item, grade in ranked
            ]
            groups[model, query] = grouped([(measure, grade) for measure, _, grade in ranked])
    grade_dtype = pl.Float64() if fractional else pl.Int64()
    schema = {"model": pl.String(), "query": pl.String(), "item": pl.String(), "distance": dtype}
    frame = pl.DataFrame(rows, schema={**schema, "relevance": grade_dtype}, orient="row")
    return FrameCase(
        rankings=frame.sample(fraction=1, shuffle=True, seed=draw(st.integers(0, 2**32 - 1))),
        judgements=judgements_of(queries, grade_dtype),
        ties=groups,
        judged={f"q{number}": items for number, items in enumerate(queries)},
    )


def tie_of_each_item(items: int, levels: int) -> st.SearchStrategy[list[int | None]]:
    """The tie each item falls into, None when it is not retrieved; at least one is."""
    measure = st.integers(0, levels - 1) | st.none()
    return st.lists(measure, min_size=items, max_size=items).map(
        lambda measures: [0, *measures[1:]] if set(measures) == {None} else measures
    )


def equal_to(distance: Any) -> st.SearchStrategy[Any]:
    """The distance itself; zero with either sign."""
    return (
        st.sampled_from([0.0, -0.0])
        if distance == 0 and isinstance(distance, float)
        else st.just(distance)
    )


def grouped(placed: Sequence[tuple[int, Grade]]) -> list[list[Grade]]:
    measures = sorted({measure for measure, _ in placed})
    return [[grade for at, grade in placed if at == measure] for measure in measures]


def judgements_of(queries: Sequence[Sequence[Grade]], dtype: pl.DataType) -> pl.DataFrame:
    rows = [
        (f"q{number}", f"i{item}", grade)
        for number, items in enumerate(queries)
        for item, grade in enumerate(items)
    ]
    return pl.DataFrame(
        rows, schema={"query": pl.String(), "item": pl.String(), "relevance": dtype}, orient="row"
    )
