"""Combine several files into one frame, without a cast that could create or split ties or merge
ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import polars as pl

from retrieval_report.contracts.arguments import repeated, some
from retrieval_report.contracts.errors import ColumnError, FileError
from retrieval_report.reading.ids import spelt_otherwise
from retrieval_report.reading.names import ID_COLUMNS
from retrieval_report.reading.sources import base_name

PLACEHOLDERS = {
    *[
        "unknown",
        "default",
        "none",
        "null",
        "run",
        "run_id",
        "run_name",
        "runid",
        "tag",
        "test",
        "r0",
    ],
    *["anserini", "beir", "capreolus", "galago", "indri", "pyserini", "pyterrier"],
}
"""Tags in lower case that name no run: what tools and scripts write unless they are told."""


@dataclass(frozen=True)
class Part:
    """The content of one file.

    Attributes
    ----------
    path : Path | str
        The file, or the model, for messages.
    frame : pl.DataFrame
        Its rows in file order, under our names.
    name : str | None
        The model name if it comes from the file's name, else None.
    tagged : bool
        Whether the model name is the tag of a TREC run.
    """

    path: Path | str
    frame: pl.DataFrame
    name: str | None = None
    tagged: bool = False


def combine(parts: Sequence[Part]) -> pl.DataFrame:
    """Concatenate the rows of all files, in the order of the files.

    Raises
    ------
    ColumnError
        The files have different columns (if some have distances and some scores, these become
        distances), ids of different types, or numbers whose common type would change them.
    FileError
        Two files give the same model by their names.
    """
    refuse_shared_names(parts)
    # 0 − score keeps every order and every tie.
    if any("distance" in part.frame.columns for part in parts):
        parts = [_as_distance(part) if "score" in part.frame.columns else part for part in parts]
    first = parts[0]
    for part in parts:
        if set(part.frame.columns) != set(first.frame.columns):
            raise ColumnError(
                f"{part.path} has the columns {some(part.frame.columns)}, "
                f"but {first.path} has {some(first.frame.columns)}"
            )
    filled = [part for part in parts if part.frame.height] or list(parts[:1])
    types = {name: _common_type(name, filled) for name in first.frame.columns}
    frames = [_cast(part, types) for part in filled]
    del parts, filled, first, part  # so that each column of theirs goes once it is in the whole
    columns = (pl.concat([frame.pop(name) for frame in frames]) for name in types)
    return pl.DataFrame([column.rechunk() for column in columns])


def _as_distance(part: Part) -> Part:
    distance = 0 - pl.col("score")
    if part.frame.schema["score"].is_integer():
        distance = (0 - pl.col("score").cast(pl.Int128)).cast(pl.Int64, strict=False)
    frame = part.frame.with_columns(score=distance).rename({"score": "distance"})
    if frame["distance"].null_count() > part.frame["score"].null_count():
        raise ColumnError(
            f"{part.path}: a 'score' where other models have a 'distance', and it is too large to "
            "be turned into one"
        )
    return replace(part, frame=frame)


def refuse_shared_names(parts: Sequence[Part]) -> None:
    """Refuse two files that give the same model by their names."""
    seen: dict[str, Path | str] = {}
    for part in parts:
        if part.name is not None and part.name in seen:
            raise FileError(
                f"{seen[part.name]} and {part.path} would both be model {part.name!r}; "
                "rename one, give each a model column, or pass model= if they are one model"
            )
        seen[part.name or ""] = part.path


def name_runs(parts: Sequence[Part], name_by: str | None) -> list[Part]:
    """Name all TREC runs by their tags, or all by their files.

    Without ``name_by`` they are named by their files, as tables without a column ``model`` are.
    Tags are used if nothing else is named by its file, every file has its own, and none is one of
    `PLACEHOLDERS`; also of a single file of several runs.
    """
    tagged = [part for part in parts if part.tagged]
    if name_by == "tag" or (name_by is None and _named_by_tags(parts, tagged)):
        return list(parts)
    name = by_file if name_by == "file" else _by_file_and_tag
    return [name(part) if part.tagged else part for part in parts]


def by_file(part: Part) -> Part:
    """Name the model of a file after it."""
    name = base_name(Path(part.path))
    return Part(part.path, part.frame.with_columns(model=pl.lit(name)), name=name)


def _by_file_and_tag(part: Part) -> Part:
    """Name the runs of a file after it; the tags tell several of them apart."""
    tags = part.frame["model"]
    named = by_file(part)
    if tags.n_unique() == 1:
        return named
    return replace(named, frame=named.frame.with_columns(model=pl.format("{}:{}", "model", tags)))


def _named_by_tags(parts: Sequence[Part], tagged: Sequence[Part]) -> bool:
    """Return whether the tags are the names of all runs."""
    tags = [tag or "unknown" for part in tagged for tag in part.frame["model"].unique()]
    if len(parts) == 1 and len(tags) > 1:
        return True
    others = any(part.name is not None for part in parts)
    return not others and not repeated(tags) and PLACEHOLDERS.isdisjoint(map(str.casefold, tags))


def _common_type(name: str, parts: Sequence[Part]) -> pl.DataType:
    """Return the type that holds the values of all parts unchanged, or at least their order."""
    types = list(dict.fromkeys(part.frame.schema[name] for part in parts))
    if len(types) == 1:
        return types[0]
    if all(dtype.is_integer() for dtype in types):
        return pl.Int64() if all(_fits(part.frame[name]) for part in parts) else pl.Int128()
    if name in ID_COLUMNS:
        if all(dtype.is_integer() or dtype == pl.String for dtype in types) and not _odd_text(
            name, parts
        ):
            return pl.String()
    elif all(
        dtype.is_numeric() or (dtype == pl.Boolean and name == "relevance") for dtype in types
    ):
        if name in ("distance", "score"):
            _refuse_mixed_floats(name, parts)
        return pl.Float64()
    first = {part.frame.schema[name]: part.path for part in reversed(parts)}
    locations = "; ".join(f"{dtype} in {first[dtype]}" for dtype in types)
    odd = _odd_text(name, parts) if name in ID_COLUMNS else None
    hint = f" ({odd!r} is not spelt as a number)" if odd else ""
    raise ColumnError(f"column {name!r} has types that do not go together: {locations}{hint}")


def _fits(values: pl.Series) -> bool:
    """Return whether whole numbers fit in 64 bits."""
    return values.cast(pl.Int64, strict=False).null_count() == values.null_count()


def _odd_text(name: str, parts: Sequence[Part]) -> str | None:
    """Return the first id that is not spelt as a whole number."""
    texts = [part.frame[name] for part in parts if part.frame.schema[name] == pl.String]
    return next((odd for odd in map(spelt_otherwise, texts) if odd is not None), None)


def _refuse_mixed_floats(name: str, parts: Sequence[Part]) -> None:
    """One list must not mix float32 and float64: 0.1 is a different number in each."""
    floats = [part for part in parts if part.frame.schema[name].is_float()]
    for part, other in combinations(floats, 2):
        dtype = part.frame.schema[name]
        other_type = other.frame.schema[name]
        if dtype == other_type:
            continue
        if part.frame.join(other.frame, on=["model", "query"], how="semi").height:
            raise ColumnError(
                f"column {name!r} is {dtype} in {part.path} but {other_type} in {other.path}, "
                "and both hold rows of the same query: equal values would differ"
            )


def _cast(part: Part, types: dict[str, pl.DataType]) -> dict[str, pl.Series]:
    columns = {}
    for name, dtype in types.items():
        series = part.frame[name]
        try:
            columns[name] = series.cast(dtype)
        except pl.exceptions.PolarsError as error:
            raise ColumnError(
                f"{part.path}: column {name!r}: {series.dtype} does not fit {dtype}"
            ) from error
        if dtype == pl.Float64 and _merges(series, columns[name]):
            raise ColumnError(
                f"{part.path}: column {name!r} has {series.dtype} values that Float64, which "
                "another part needs, cannot tell apart; they would tie"
            )
    return columns


def _merges(series: pl.Series, cast: pl.Series) -> bool:
    """Return whether different numbers become equal; a cast to Float64 never changes their
    order.
    """
    if series.dtype.is_float() or series.dtype == pl.Boolean:
        return False
    if series.dtype.is_integer() and series.cast(pl.Int128).is_between(-(2**53), 2**53).all():
        return False
    return bool(series.n_unique() != cast.n_unique())
