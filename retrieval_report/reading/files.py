"""Turn open files into checked frames."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import polars as pl

from retrieval_report.contracts.arguments import ColumnNames
from retrieval_report.contracts.checks import check_costs
from retrieval_report.contracts.errors import ColumnError, FileError
from retrieval_report.contracts.frames import with_row
from retrieval_report.contracts.wording import advice, in_python, setting
from retrieval_report.reading.combine import Part, by_file, combine, name_runs
from retrieval_report.reading.convert import as_text
from retrieval_report.reading.finding import find_files
from retrieval_report.reading.formats import ARRAYS, detect_format, read_form
from retrieval_report.reading.merged_lists import check_merged
from retrieval_report.reading.names import (
    COSTS,
    ID_COLUMNS,
    RANKINGS,
    Kind,
    in_order,
    match_columns,
    unknown,
)
from retrieval_report.reading.numbers import TextTable, as_number
from retrieval_report.reading.printed_ranks import warn_of_late_ranks, without_agreeing_ranks
from retrieval_report.reading.sources import Source, folder_model, open_source, unreadable

KIND_OF_FORM = {  # what a file in this form is called, and the kind of its frame
    "run": ("a TREC run", "rankings"),
    "qrels": ("TREC qrels", "judgements"),
    **dict.fromkeys(("ranks", "ranks and scores"), ("a run without a header", "rankings")),
}


def frame_from(
    sources: Iterable[Source],
    kind: Kind,
    *,
    columns: ColumnNames = None,
    max_rows: int | None = None,
    model: str | None = None,
    name_by: str | None = None,
    negative: str = "keep",
) -> pl.DataFrame:
    """Return the result of the reader of a kind for open files, reading one after the other."""
    return as_kind(
        combine(
            name_runs(
                parts_from(sources, kind, columns=columns, max_rows=max_rows, model=model), name_by
            )
        ),
        kind,
        negative,
    )


def parts_from(
    sources: Iterable[Source],
    kind: Kind,
    *,
    columns: ColumnNames,
    max_rows: int | None = None,
    model: str | None = None,
) -> list[Part]:
    """Return what every file holds, one after the other;
    `name_runs` names TREC runs once all are known.
    """
    parts = []
    for source in sources:
        form, frame = _read_source(source, kind, columns, max_rows, checked=model is None)
        if kind.ranked:
            if form == "run":
                warn_of_late_ranks(frame, str(source.path))
            frame = without_agreeing_ranks(frame)
            parts.append(_with_model(source.path, frame, model, form == "run"))
        else:
            parts.append(Part(source.path, frame))
    if not kind.others:
        return parts
    # Columns that are not ours, and that only some of the files have, are left out.
    shared = {*kind.columns}.union(set.intersection(*(set(part.frame.columns) for part in parts)))
    return [
        Part(part.path, part.frame.select(name for name in part.frame.columns if name in shared))
        for part in parts
    ]


def as_kind(frame: pl.DataFrame, kind: Kind, negative: str = "keep") -> pl.DataFrame:
    """Return columns in the order of the contract, and
    rankings with the order of their rows in ``row``.

    ``negative`` is that of `read_judgements`.
    """
    if kind.ranked and "count" not in frame.columns:
        frame = with_row(frame)
    if negative == "unjudged" and frame.schema["relevance"].is_numeric():
        # NaN and null stay, so that the evaluation can refuse them.
        frame = frame.remove(pl.col("relevance") < 0)
    return frame.select(in_order(kind, frame.columns))


def costs_from(source: Source) -> pl.DataFrame:
    """Return costs of models: ``model``, and every other column as numbers, null if missing."""
    table = _read_source(source, COSTS, None, None)[1]
    text = pl.exclude("model").cast(pl.String)
    texts = TextTable(str(source.path), table.select(text), lambda row: row + 2)
    costs = table.with_columns(as_number(column, texts) for column in texts.frame)
    check_costs(costs, str(source.path))
    return costs


def sources_of(path: object, kind: Kind, max_bytes: int | None = None) -> Iterator[Source]:
    """Open the files that a path stands for, one after the other; a folder's files of another kind
    are left out.
    """
    return (open_source(file, max_bytes) for file in find_files(path, skip=kind.skip))


def column_names(source: Source) -> list[str]:
    r"""Return the columns of a file under its own names, so that a user can say which is which.

    >>> column_names(Source(Path("a.csv"), b"q,doc,sim\n1,a,0.5\n"))
    ['q', 'doc', 'sim']
    """
    offered = list[list[str]]()

    def choose(names: Sequence[str]) -> dict[str, str]:
        offered.append([*names])
        raise ColumnError

    with suppress(ColumnError):
        read_form(source, detect_format(source), choose)
    # Numbers come last where the first row looks like data.
    return offered[0 if any(map(RANKINGS.knows, offered[0])) else -1]


def _read_source(
    source: Source,
    kind: Kind,
    columns: ColumnNames,
    max_rows: int | None,
    *,
    checked: bool = False,
) -> tuple[str, pl.DataFrame]:
    """Read one file; return its format and its columns under our names. If it is to be ``checked``,
    rankings without a model are not those of several.
    """
    unused: dict[str, str] = {}

    def choose(column_names: Sequence[str]) -> dict[str, str]:
        matched = match_columns(column_names, kind, columns, str(source.path))
        if checked and kind.ranked and not {"model", "count"} & matched.keys():
            unused.update((name, name) for name in unknown(column_names, matched, kind))
        return matched

    try:
        form = form_of(source, kind)
        if form == "no header" and kind.name == "judgements" and not columns:
            form = "grades"
        frame = as_text(read_form(source, form, choose, max_rows, kind), ID_COLUMNS)
        if unused and form != ARRAYS and folder_model(source.path) is None:
            check_merged(
                frame,
                lambda: read_form(
                    source, form, lambda names: choose(names) and unused, max_rows, kind
                ),
                str(source.path),
            )
        return form, frame
    except OSError as error:  # deleted, or truncated to nothing, after it was opened
        raise unreadable(source.path, error) from error


def form_of(source: Source, kind: Kind) -> str:
    """Return the format of a file, as it begins; refuse one that is of another kind by its format."""
    form = detect_format(source)
    name, kind_name = KIND_OF_FORM.get(form, ("", kind.name))
    if kind_name != kind.name:
        raise FileError(f"{source.path}: is {name}, not {kind.name}; {elsewhere(kind_name)}")
    return form


def elsewhere(kind: str) -> str:
    """Say where the reader passes a file of another kind."""
    # Arguments have other names than RANKINGS in gate and similarity.
    place = "it belongs to the rankings" if kind == "rankings" else f"this command takes no {kind}"
    place = advice("pass it as {}", setting(kind)) or place
    reader = f"read it with read_{kind}"
    if kind == "judgements":
        place += advice("; to rank by its grades, pass {}", setting("labels_as_rankings", True))
        reader += in_python("; to rank by its grades, with from_labels")
    return in_python(reader, place)


def _with_model(path: Path, frame: pl.DataFrame, model: str | None, tagged: bool) -> Part:
    if model is None and (tagged or "model" not in frame.columns):
        model = folder_model(path)
    if model is not None:
        return Part(path, frame.with_columns(model=pl.lit(model)))
    return (
        Part(path, frame, tagged=tagged) if "model" in frame.columns else by_file(Part(path, frame))
    )
