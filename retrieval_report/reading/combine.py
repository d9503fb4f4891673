"""Combine several files into one frame, without a cast that could create or split ties or merge
ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from retrieval_report.contracts.arguments import repeated, some
from retrieval_report.contracts.errors import ColumnError, FileError
from retrieval_report.contracts.warning import warn
from retrieval_report.reading.ids import spelt_otherwise
from retrieval_report.reading.names import ID_COLUMNS
from retrieval_report.reading.sources import base_name

PLACEHOLDERS = {
    *(
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
    ),
    *("anserini", "beir", "capreolus", "galago", "indri", "pyserini", "pyterrier"),
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
    _refuse_shared_names(parts)
    parts = _one_order(parts)
    first = parts[0]
    for part in parts[1:]:
        if set(part.frame.columns) != set(first.frame.columns):
            raise ColumnError(
                f"{part.path} has the columns {some(part.frame.columns)}, "
                f"but {first.path} has {some(first.frame.columns)}"
            )
    filled = [part for part in parts if part.frame.height] or list(parts[:1])
    types = {name: _common_type(name, filled) for name in first.frame.columns}
    return pl.concat([_cast(part, types) for part in filled])


def _one_order(parts: Sequence[Part]) -> Sequence[Part]:
    """Give all parts a distance if some have one and others a score; 0 − score keeps every order
    and every tie.
    """
    orders = [{"distance", "score"} & set(part.frame.columns) for part in parts]
    if {"distance"} not in orders or {"score"} not in orders:
        return parts
    return [
        _as_distance(part) if order == {"score"} else part
        for part, order in zip(parts, orders, strict=True)
    ]


def _as_distance(part: Part) -> Part:
    score = part.frame["score"]
    if score.dtype.is_unsigned_integer():
        score = score.cast(pl.Int64, strict=False)
    least = pl.select(score.dtype.min()).item() if score.dtype.is_integer() else None  # type: ignore[attr-defined]
    if least is not None and (
        score.null_count() > part.frame["score"].null_count() or (score == least).any()
    ):
        raise ColumnError(
            f"{part.path}: a 'score' where other models have a 'distance', and it is too large to "
            "be turned into one"
        )
    frame = part.frame.with_columns((0 - score).alias("distance"))
    names = ["distance" if name == "score" else name for name in part.frame.columns]
    return replace(part, frame=frame.select(names))


def _refuse_shared_names(parts: Sequence[Part]) -> None:
    seen: dict[str, Path | str] = {}
    for part in parts:
        if part.name is None:
            continue
        if part.name in seen:
            raise FileError(
                f"{seen[part.name]} and {part.path} would both be model {part.name!r}; "
                "rename one, give each a model column, or pass model= if they are one model"
            )
        seen[part.name] = part.path


def name_runs(parts: Sequence[Part], name_by: str | None) -> list[Part]:
    """Name all TREC runs by their tags, or all by their files.

    Without ``name_by`` they are named by their files, as tables without a column ``model`` are.
    Tags are used if nothing else is named by its file, every file has its own, and none is one of
    `PLACEHOLDERS`; also of a single file of several runs.

    Raises
    ------
    FileError
        With ``name_by="tag"``, if files carry one tag and rank the same query.
    """
    tagged = [part for part in parts if part.tagged]
    if not tagged or name_by == "file":
        return [by_file(part) if part.tagged else part for part in parts]
    if name_by is None and _named_by_tags(parts, tagged):
        return list(parts)
    for tag, alone, query, files in _shared_tags(tagged).iter_rows():
        both = f"{tagged[files[0]].path} and {tagged[files[1]].path}"
        if name_by == "tag" and not alone:
            raise FileError(
                f"{both} both carry the tag {tag!r} and rank query {query!r}; give the runs "
                "different tags, or name "
                "them by file: name_by='file'"
            )
        if name_by is None and alone:
            warn(
                f"{both} carry the tag {tag!r} and share no query: each is a model of its own, "
                "named after its file; "
                "name_by='tag' makes them one"
            )
    return (
        list(parts)
        if name_by == "tag"
        else [_by_file_and_tag(part) if part.tagged else part for part in parts]
    )


def by_file(part: Part) -> Part:
    """Name the model of a file after it."""
    name = base_name(Path(part.path))
    return Part(part.path, part.frame.with_columns(pl.lit(name).alias("model")), name=name)


def _by_file_and_tag(part: Part) -> Part:
    """Name the runs of a file after it; the tags tell several of them apart."""
    if part.frame["model"].n_unique() == 1:
        return by_file(part)
    name = base_name(Path(part.path))
    return replace(
        part,
        frame=part.frame.with_columns(model=pl.format("{}:{}", pl.lit(name), "model")),
        name=name,
    )


def _named_by_tags(parts: Sequence[Part], tagged: Sequence[Part]) -> bool:
    """Return whether the tags are the names of all runs."""
    tags = [tag or "unknown" for part in tagged for tag in part.frame["model"].unique()]
    if len(parts) == 1 and len(tags) > 1:
        return True
    others = any(part.name is not None for part in parts)
    return not others and not repeated(tags) and PLACEHOLDERS.isdisjoint(map(str.casefold, tags))


def _shared_tags(parts: Sequence[Part]) -> pl.DataFrame:
    """Return tags of several files: whether they share no query, a query (shared if any is), its
    files first.
    """
    lists = pl.concat(
        _lists_of(part.frame).with_columns(file=pl.lit(index, pl.UInt32))
        for index, part in enumerate(parts)
    )
    lists = lists.with_columns(alone=pl.len().over("model", "query") == 1)
    shared = (
        lists.sort("model", "alone", "query", "file")
        .group_by("model", maintain_order=True)
        .agg(pl.col("alone", "query").first(), pl.col("file").unique(maintain_order=True))
    )
    return shared.filter(pl.col("file").list.len() > 1)


def _lists_of(frame: pl.DataFrame) -> pl.DataFrame:
    """Return models and queries of the rows, each pair once; most rows belong to the same list as
    the row before.
    """
    keys = ("model", "query")
    other = pl.any_horizontal(pl.col(key).ne_missing(pl.col(key).shift()) for key in keys)
    return frame.select(keys).filter(other | (pl.int_range(pl.len()) == 0)).unique()


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
    locations = "; ".join(f"{dtype} in {_first_with(dtype, name, parts).path}" for dtype in types)
    odd = _odd_text(name, parts) if name in ID_COLUMNS else None
    hint = f" ({odd!r} is not spelt as a number)" if odd else ""
    raise ColumnError(f"column {name!r} has types that do not go together: {locations}{hint}")


def _fits(values: pl.Series) -> bool:
    """Return whether whole numbers fit in 64 bits."""
    return values.dtype not in (pl.UInt64, pl.Int128, pl.UInt128) or bool(
        (
            values.cast(pl.Int128, strict=False).is_between(-(2**63), 2**63 - 1) | values.is_null()
        ).all()
    )


def _odd_text(name: str, parts: Sequence[Part]) -> str | None:
    """Return the first id that is not spelt as a whole number."""
    texts = [part.frame[name] for part in parts if part.frame.schema[name] == pl.String]
    return next((odd for odd in map(spelt_otherwise, texts) if odd is not None), None)


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
        try:
            cast = series.cast(dtype)
        except pl.exceptions.PolarsError as error:
            raise ColumnError(
                f"{part.path}: column {name!r}: {series.dtype} does not fit {dtype}"
            ) from error
        if dtype == pl.Float64 and _merges(series, cast):
            raise ColumnError(
                f"{part.path}: column {name!r} has {series.dtype} values that Float64, which "
                "another part needs, "
                "cannot tell apart; they would tie"
            )
        columns.append(cast)
    return pl.DataFrame(columns)


def _merges(series: pl.Series, cast: pl.Series) -> bool:
    """Return whether different numbers become equal; a cast to Float64 never changes their
    order.
    """
    if series.dtype.is_float() or series.dtype == pl.Boolean:
        return False
    if series.dtype.is_integer() and series.cast(pl.Int128).is_between(-(2**53), 2**53).all():
        return False
    return bool(series.n_unique() != cast.n_unique())
