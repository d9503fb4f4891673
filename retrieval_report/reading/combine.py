"""Combine several files into one frame, without a cast that could create or split ties or merge
ids; and read the columns above the query: replicates of a model, and data sets of queries.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from retrieval_report.contracts.arguments import repeated
from retrieval_report.contracts.checks import refuse
from retrieval_report.contracts.errors import ColumnError, DataError, FileError
from retrieval_report.contracts.wording import advice, setting
from retrieval_report.reading.convert import spelt_otherwise
from retrieval_report.reading.names import ID_COLUMNS
from retrieval_report.reading.printed_ranks import RANK
from retrieval_report.reading.sources import base_name

# Tags in lower case that name no run: what tools and scripts write unless they are told.
PLACEHOLDERS = {
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
    "anserini",
    "beir",
    "capreolus",
    "galago",
    "indri",
    "pyserini",
    "pyterrier",
}


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
    if any(RANK in part.frame.columns for part in parts):  # null where others were left out
        no_rank = pl.lit(None, pl.Float64).alias(RANK)
        parts = [
            part
            if RANK in part.frame.columns
            else replace(part, frame=part.frame.with_columns(no_rank))
            for part in parts
        ]
    # 0 − score keeps every order and every tie.
    if any("distance" in part.frame.columns for part in parts):
        parts = [_as_distance(part) if "score" in part.frame.columns else part for part in parts]
    first = parts[0]
    names, literals = first.frame.columns, {}
    texts = len(parts) == 1 and first.frame.schema.get("model") == pl.String
    if texts and len(models := _models(first)) == 1:
        literals = {"model": pl.lit(models[0], pl.String)}
        parts = [first := replace(first, frame=first.frame.drop("model"))]
    for part in parts:
        for one, other in ((part, first), (first, part)):
            if only := [name for name in one.frame.columns if name not in other.frame.columns]:
                raise ColumnError(
                    f"{one.path} has a column {only[0]!r}, and {other.path} has none; files that "
                    "are read together have the same columns"
                )
    filled = [part for part in parts if part.frame.height] or list(parts[:1])
    types = {name: _common_type(name, filled) for name in first.frame.columns}
    frames = [_cast(part, types) for part in filled]
    del parts, filled, first, part  # so that each column of theirs goes once it is in the whole
    columns = (pl.concat([frame.pop(name) for frame in frames]) for name in types)
    whole = pl.DataFrame([column.rechunk() for column in columns])
    return whole.with_columns(**literals).select(names)


def _as_distance(part: Part) -> Part:
    score = pl.col("score")
    if part.frame.schema["score"].is_integer():  # unsigned numbers have no negatives
        score = score.cast(pl.Int64, strict=False)
    frame = part.frame.with_columns(score=0 - score).rename({"score": "distance"})
    if frame["distance"].null_count() > part.frame["score"].null_count():
        raise ColumnError(
            f"{part.path}: a 'score' where other models have a 'distance', and it is too large to "
            "be turned into one"
        )
    return replace(part, frame=frame)


def refuse_shared_names(parts: Sequence[Part]) -> None:
    """Refuse two files that give the same model by their names."""
    source_by_name: dict[str, Path | str] = {}
    for part in parts:
        if part.name is not None and part.name in source_by_name:
            raise FileError(
                f"{source_by_name[part.name]} and {part.path} would both be model {part.name!r}; "
                "rename one, or give each a model column"
                + advice("; if they are one model, pass {}", setting("model", ...))
            )
        source_by_name[part.name or ""] = part.path


def name_runs(parts: Sequence[Part], name_by: str | None) -> list[Part]:
    """Name all TREC runs by their tags, or all by their files.

    Without ``name_by`` they are named by their files, as tables without a column ``model`` are.
    Tags are used if nothing else is named by its file, every file has its own, and none is one of
    `PLACEHOLDERS`; also of a single file of several runs.
    """
    refuse_empty([part for part in parts if part.name is not None or part.tagged])
    tagged = [part for part in parts if part.tagged]
    if name_by == "tag":
        _refuse_shared_tags(tagged)
    if name_by == "tag" or (name_by is None and _named_by_tags(parts, tagged)):
        return by_folder(parts)
    name = by_file if name_by == "file" else _by_file_and_tag
    return by_folder([name(part) if part.tagged else part for part in parts])


def _refuse_shared_tags(tagged: Sequence[Part]) -> None:
    """Refuse files of one tag that have an item for the same query: they are no parts of one run."""
    first: dict[str, Part] = {}
    for part in tagged:
        for tag in _models(part):
            earlier = first.setdefault(tag, part)
            if earlier is part:
                continue
            own, others = (each.frame.filter(model=tag) for each in (part, earlier))
            if not own.join(others, on=["query", "item"], how="semi").is_empty():
                raise DataError(
                    f"{earlier.path} and {part.path}: both have the tag {tag!r}, and items for the "
                    "same queries" + advice("; {} tells them apart", setting("name_by", "file"))
                )


def refuse_empty(models: Sequence[Part]) -> None:
    """Refuse a model without rows among others: it would vanish from every table."""
    empty = [model.path for model in models if model.frame.is_empty()]
    if 0 < len(empty) < len(models):
        raise DataError(
            f"{empty[0]}: no rows; leave it out, or see why its search returned nothing"
        )


def by_folder(parts: Sequence[Part]) -> list[Part]:
    """Name files of one name in several folders by their folders too, such as ``dev1/run.txt`` and
    ``dev2/run.txt``: by these alone if nothing else has such a name.
    """
    names = [part.name for part in parts]
    twice = {name for name in repeated(names) if name is not None}
    folders: dict[Path | str, str] = {
        part.path: Path(part.path).parent.name
        for part in parts
        if part.name in twice and isinstance(part.path, Path)
    }
    names_are_free = len({*folders.values()}) == len(folders) and not {*names} & {*folders.values()}
    parts_named = []
    for part in parts:
        folder = folders.get(part.path)
        if folder:
            name = folder if names_are_free else f"{folder}/{part.name}"
            part = replace(part, name=name, frame=_renamed(part.frame, str(part.name), name))
        parts_named.append(part)
    return parts_named


def _renamed(frame: pl.DataFrame, name: str, new_name: str) -> pl.DataFrame:
    """Return the frame of a file with another name, also before the tags of its runs."""
    if "model" not in frame.columns:
        return frame
    rest = pl.col("model").cast(pl.String).str.strip_prefix(name)
    return frame.with_columns(model=pl.lit(new_name) + rest)


def by_file(part: Part) -> Part:
    """Name the model of a file after it."""
    name = base_name(Path(part.path))
    return Part(part.path, part.frame.with_columns(model=pl.lit(name)), name=name)


def _by_file_and_tag(part: Part) -> Part:
    """Name the runs of a file after it; the tags tell several of them apart."""
    named = by_file(part)
    if len(_models(part)) == 1:
        return named
    tags = part.frame["model"]
    return replace(named, frame=named.frame.with_columns(model=pl.format("{}:{}", "model", tags)))


def _models(part: Part) -> pl.Series:
    """Return the models of a file; a literal stays one text, which a column would hold
    for every row.
    """
    return part.frame.select(pl.col("model").unique()).to_series()


def _named_by_tags(parts: Sequence[Part], tagged: Sequence[Part]) -> bool:
    """Return whether the tags are the names of all runs."""
    tags = [tag or "unknown" for part in tagged for tag in _models(part)]
    if len(parts) == 1 and len(tags) > 1:
        return True
    has_names = any(part.name is not None for part in parts)
    return not has_names and not repeated(tags) and PLACEHOLDERS.isdisjoint(map(str.casefold, tags))


def _common_type(name: str, parts: Sequence[Part]) -> pl.DataType:
    """Return the type that holds the values of all parts, as `_cast` then checks."""
    columns = [part.frame[name] for part in parts]
    types = list(dict.fromkeys(column.dtype for column in columns))
    hint = ""
    if len(types) == 1:
        return types[0]
    if all(dtype.is_integer() for dtype in types):
        return pl.Int128() if pl.Int128 in types else pl.Int64()
    if name in ID_COLUMNS:
        texts = (column for column in columns if column.dtype == pl.String)
        odd = next(filter(None, map(spelt_otherwise, texts)), None)
        if odd is None and all(dtype.is_integer() or dtype == pl.String for dtype in types):
            return pl.String()
        hint = f" ({odd!r} is not spelt as a number)" if odd else ""
    elif all(
        dtype.is_numeric() or (dtype == pl.Boolean and name == "relevance") for dtype in types
    ):
        if name in ("distance", "score"):
            _refuse_mixed_floats(name, parts)
        return pl.Float64()
    first = {part.frame.schema[name]: part.path for part in reversed(parts)}
    locations = "; ".join(f"{dtype} in {first[dtype]}" for dtype in types)
    raise ColumnError(f"column {name!r} has types that do not go together: {locations}{hint}")


def _refuse_mixed_floats(name: str, parts: Sequence[Part]) -> None:
    """One list must not mix float32 and float64: 0.1 is a different number in each."""
    float_parts: dict[str, Part] = {}
    for part in parts:
        dtype = part.frame.schema[name]
        for model in part.frame["model"].unique() if dtype.is_float() else ():
            earlier = float_parts.setdefault(model, part)
            if earlier.frame.schema[name] != dtype:
                raise ColumnError(
                    f"column {name!r} is {earlier.frame.schema[name]} in {earlier.path} "
                    f"but {dtype} in {part.path}, and both hold rows of model {model!r}: "
                    "equal values would differ"
                )


def _cast(part: Part, types: dict[str, pl.DataType]) -> dict[str, pl.Series]:
    """Return the columns in other types, in which the same values are different."""
    columns = {}
    for name, dtype in types.items():
        series = part.frame[name]
        columns[name] = series.cast(dtype, strict=False)
        if series.dtype != dtype and (
            columns[name].null_count() > series.null_count()
            or columns[name].n_unique() < series.n_unique()
        ):
            raise ColumnError(
                f"{part.path}: column {name!r} has {series.dtype} values that {dtype}, which "
                "another part needs, cannot tell apart; they would tie"
            )
    return columns


def columns_named(*names: object) -> list[str]:
    """Return which of these are names of columns, rather than patterns, dictionaries or nothing.

    >>> columns_named("seed", r"-s(?P<replicate>.+)", None)
    ['seed']
    """
    return [name for name in names if isinstance(name, str) and "(?P<" not in name]


def runs_of(frame: pl.DataFrame, column: str) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return rankings with a model for every replicate,
    such as "bge seed=1", and the model of each.

    >>> rows = {"model": ["bge"] * 2, "query": ["q"] * 2, "item": ["a"] * 2, "seed": [1, 2]}
    >>> runs_of(pl.DataFrame(rows), "seed")[1]
    {'bge seed=1': 'bge', 'bge seed=2': 'bge'}
    """
    _refuse_nulls(frame, column)
    model = pl.col("model").cast(pl.String)
    run = pl.format("{} {}={}", model, pl.lit(column), pl.col(column))
    run_models = frame.select(run=run, model=model).unique(maintain_order=True)
    return frame.with_columns(model=run).drop(column), dict(run_models.iter_rows())


def datasets_of(frame: pl.DataFrame, column: str) -> pl.DataFrame:
    """Return the data set of every query.

    >>> rows = {"query": ["q", "q"], "item": ["a", "b"], "score": [2, 1], "from": ["x", "y"]}
    >>> datasets_of(pl.DataFrame(rows), "from")
    Traceback (most recent call last):
    retrieval_report.DataError: dataset: query 'q' is in two of the 'from'; ids have to be distinct
    """
    _refuse_nulls(frame, column)
    queries = frame.select("query", column).unique(maintain_order=True)
    twice = queries.filter(pl.col("query").is_duplicated())["query"]
    if twice.len():
        raise DataError(
            f"dataset: query {twice[0]!r} is in two of the {column!r}; ids have to be distinct"
        )
    return queries


def _refuse_nulls(frame: pl.DataFrame, column: str) -> None:
    refuse(frame, pl.col(column).is_null(), column, "null in the rankings")
