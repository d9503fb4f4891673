"""Several files → one frame, without a cast that could create or split ties or merge ids."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from retrieval_report.errors import ColumnError, FileError
from retrieval_report.reading.names import ID_COLUMNS

__all__ = ["Part", "combine"]


@dataclass(frozen=True)
class Part:
    """What one file gave.

    Attributes
    ----------
    path : Path
        The file.
    frame : pl.DataFrame
        Its rows in file order, under our names.
    name : str | None
        The model name if it was taken from the file's name, else None.
    tagged : bool
        True where the model name is the tag of a TREC run.
    """

    path: Path
    frame: pl.DataFrame
    name: str | None = None
    tagged: bool = False


def combine(parts: Sequence[Part]) -> pl.DataFrame:
    """Put the rows of all files below each other, in the order of the files.

    Raises
    ------
    ColumnError
        The files have different columns, ids of different types, or numbers whose common type would change
        them.
    FileError
        Two files give the same model, where their names or tags cannot both mean it.
    """
    _refuse_shared_names(parts)
    _refuse_shared_tags([part for part in parts if part.tagged])
    first = parts[0]
    for part in parts[1:]:
        if set(part.frame.columns) != set(first.frame.columns):
            raise ColumnError(
                f"{part.path} has the columns {part.frame.columns}, but {first.path} has {first.frame.columns}"
            )
    filled = [part for part in parts if part.frame.height] or list(parts[:1])
    types = {name: _common_type(name, filled) for name in first.frame.columns}
    return pl.concat([_cast(part, types) for part in filled])


def _refuse_shared_names(parts: Sequence[Part]) -> None:
    seen: dict[str, Path] = {}
    for part in parts:
        if part.name is None:
            continue
        if part.name in seen:
            raise FileError(
                f"{seen[part.name]} and {part.path} would both be model {part.name!r}; "
                "rename one, give each a model column, or pass model= if they are one model"
            )
        seen[part.name] = part.path


def _refuse_shared_tags(parts: Sequence[Part]) -> None:
    """Runs may share a tag only where they share no query: then they are pieces of one run."""
    if len(parts) < 2:
        return
    keys = pl.concat(
        part.frame.select("model", "query").unique().with_columns(file=pl.lit(index, pl.UInt32))
        for index, part in enumerate(parts)
    )
    shared = keys.group_by("model", "query").agg(pl.col("file").sort()).filter(pl.col("file").list.len() > 1)
    if shared.height:
        model, query, files = shared.sort("model", "query").row(0)
        raise FileError(
            f"{parts[files[0]].path} and {parts[files[1]].path} both carry the tag {model!r} and rank "
            f"query {query!r}; give the runs different tags, or read each with its own model="
        )


def _common_type(name: str, parts: Sequence[Part]) -> pl.DataType:
    """Choose the type that holds the values of all files unchanged."""
    types = list(dict.fromkeys(part.frame.schema[name] for part in parts))
    if len(types) == 1:
        return types[0]
    if all(dtype.is_integer() for dtype in types):
        return pl.Int64()
    if name not in ID_COLUMNS and all(dtype.is_float() or dtype.is_integer() for dtype in types):
        if name in ("distance", "score"):
            _refuse_mixed_floats(name, parts)
        return pl.Float64()
    places = "; ".join(f"{dtype} in {_first_with(dtype, name, parts).path}" for dtype in types)
    raise ColumnError(f"column {name!r} has types that do not go together: {places}")


def _first_with(dtype: pl.DataType, name: str, parts: Sequence[Part]) -> Part:
    return next(part for part in parts if part.frame.schema[name] == dtype)


def _refuse_mixed_floats(name: str, parts: Sequence[Part]) -> None:
    """One list must not mix float32 and float64: 0.1 is a different number in each."""
    by_type: dict[pl.DataType, Part] = {}
    for part in parts:
        dtype = part.frame.schema[name]
        for other_type, other in by_type.items():
            if dtype == other_type or not (dtype.is_float() and other_type.is_float()):
                continue
            keys = ["model", "query"]
            lists, others = part.frame.select(keys).unique(), other.frame.select(keys).unique()
            if lists.join(others, on=keys, how="semi").height:
                raise ColumnError(
                    f"column {name!r} is {other_type} in {other.path} but {dtype} in {part.path}, "
                    "and both hold rows of the same query: equal values would differ"
                )
        by_type.setdefault(dtype, part)


def _cast(part: Part, types: dict[str, pl.DataType]) -> pl.DataFrame:
    columns = []
    for name, dtype in types.items():
        series = part.frame[name]
        exact = dtype != pl.Float64 or series.dtype.is_float() or series.is_between(-(2**53), 2**53).all()
        if not exact:
            raise ColumnError(
                f"{part.path}: column {name!r} has integers beyond 2^53, which the floats of another file cannot hold"
            )
        try:
            columns.append(series.cast(dtype))
        except pl.exceptions.PolarsError as error:
            raise ColumnError(f"{part.path}: column {name!r}: {series.dtype} does not fit {dtype}") from error
    return pl.DataFrame(columns)
