"""The three readers: files in, contract frames out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from retrieval_report.errors import FileError, ParameterError, RetrievalReportWarning
from retrieval_report.reading.binary import read_binary
from retrieval_report.reading.combine import Part, combine
from retrieval_report.reading.formats import detect_format
from retrieval_report.reading.lines import read_ndjson
from retrieval_report.reading.names import ID_COLUMNS, JUDGEMENTS, QUERIES, RANKINGS, Kind, match_columns
from retrieval_report.reading.sources import Source, base_name, find_files, open_source
from retrieval_report.reading.text import read_delimited
from retrieval_report.reading.trec import QRELS_FIELDS, RUN_FIELDS, read_trec
from retrieval_report.reading.values import TextTable, parse_values

__all__ = [
    "column_names",
    "judgements_from",
    "queries_from",
    "rankings_from",
    "read_judgements",
    "read_queries",
    "read_rankings",
]

Paths = str | Path | Sequence[str | Path]


def read_rankings(
    path: Paths,
    *,
    columns: Mapping[str, str] | None = None,
    model: str | None = None,
    max_bytes: int | None = None,
    max_rows: int | None = None,
) -> pl.DataFrame:
    r"""Read ranked lists (or counts) from files.

    CSV, TSV, NDJSON and TREC runs, each also gzipped, Parquet and Arrow IPC (file or stream) are read. The
    content decides which of these a file is; its name only helps where the content leaves a choice.

    Parameters
    ----------
    path : str | Path | Sequence
        A file, a glob, a folder (its files with known endings, sorted by name) or a list of these.
    columns : Mapping[str, str] | None
        Our column name → the name in the file, for example ``{"query": "q", "distance": "score"}``. The
        usual names of other tools (``qid``, ``docno``, ``sim``, …) are recognised without it. The columns
        of a TREC run are called query, iteration, item, rank, score and tag.
    model : str | None
        The model name of all rows, instead of the one in the files. Without it the name is the column
        ``model`` (or ``run``, ``system``, ``tag``); the tag of a TREC run; else the file's name without its
        ending.
    max_bytes : int | None
        Most bytes a gzipped file may unpack to. Default: 64 GiB, and past 256 MiB at most 250 times its size.
    max_rows : int | None
        Most rows of a Parquet or Arrow file, looked up before it is read. Default: 2³² - 1.

    Returns
    -------
    pl.DataFrame
        ``model`` (String), ``query`` and ``item`` (String; integers stay integers in Parquet and Arrow),
        ``distance`` (smaller is nearer) or ``score`` (larger is nearer), and where the files have them
        ``relevance``, ``mask``, ``weight``; then ``row`` (Int64), the position over all files, unless the
        files bring their own ``row``. Files with a ``count`` column give counts: without ``row``, and
        ``item`` may be absent. Other columns are left out.

    Raises
    ------
    FileError
        A file cannot be read as what it is; or two files would be the same model; or a file differs from the
        ``<file>.sha256`` next to it (made by ``sha256sum file > file.sha256``).
    ColumnError
        A column is missing, can be meant by two names, or differs in type between files.
    DataError
        A value of a number column is no number.

    Warns
    -----
    RetrievalReportWarning
        A text file does not end with a newline, as a file does that was cut off while being written.

    Notes
    -----
    Values are not judged here: NaN, null, duplicates and the like are refused by `evaluate`. In text files
    every id is text (``007`` is not ``7``); a column of numbers is Int64 when all its values are integers,
    else Float64; empty text and ``NA`` are null. An unquoted empty id is null, a quoted one is the empty
    text.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table, run = Path(folder) / "lsh-16.csv", Path(folder) / "bm25.run"
    ...     _ = table.write_text("qid,docno,dist,rel\n007,a,3,1\n007,b,3,0\n")
    ...     _ = run.write_text("q1 Q0 d1 1 7.5 BM25\nq1 Q0 d2 2 7.5 BM25\n")
    ...     read_rankings(table).rows()
    ...     read_rankings(f"{folder}/*.run").columns
    [('lsh-16', '007', 'a', 3, 1, 0), ('lsh-16', '007', 'b', 3, 0, 1)]
    ['model', 'query', 'item', 'score', 'row']
    """
    if model is not None and (not isinstance(model, str) or not model):
        raise ParameterError(f"model: expected a name that is not empty, got {model!r}")
    sources = (open_source(file, max_bytes) for file in find_files(path, skip=("qrels",)))
    return rankings_from(sources, columns=columns, model=model, max_rows=max_rows)


def rankings_from(
    sources: Iterable[Source],
    *,
    columns: Mapping[str, str] | None = None,
    model: str | None = None,
    max_rows: int | None = None,
) -> pl.DataFrame:
    """What `read_rankings` makes of the files, once they are open; each is done with before the next."""
    parts = []
    for source in sources:
        form, frame = _read_source(source, RANKINGS, columns, max_rows)
        parts.append(_with_model(source.path, frame, model, tagged=form == "run"))
    rankings = combine(parts)
    if "count" not in rankings.columns and "row" not in rankings.columns:
        rankings = rankings.with_columns(pl.int_range(pl.len(), dtype=pl.Int64).alias("row"))
    return rankings.select(name for name in RANKINGS.columns if name in rankings.columns)


def read_judgements(
    path: Paths,
    *,
    columns: Mapping[str, str] | None = None,
    negative: str = "keep",
    max_bytes: int | None = None,
    max_rows: int | None = None,
) -> pl.DataFrame:
    r"""Read relevance judgements: TREC qrels, or a table in any format `read_rankings` reads.

    Parameters
    ----------
    path, columns, max_bytes, max_rows
        As in `read_rankings`. The columns of TREC qrels are called query, iteration, item and relevance.
    negative : {"keep", "unjudged"}
        What a negative relevance means.  ``keep`` keeps it, and the evaluation refuses it; ``unjudged``
        drops the row, as trec_eval ignores such a judgement.

    Returns
    -------
    pl.DataFrame
        ``query``, ``item``, ``relevance`` (Int64, or Float64 where a value of a text file has a fraction).

    Raises
    ------
    FileError, ColumnError, DataError
        As in `read_rankings`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "qrels.txt"
    ...     _ = file.write_text("# a comment\n301 0 FBIS3-1 1\n301 0 FBIS3-2 -1\n")
    ...     read_judgements(file, negative="unjudged").rows()
    [('301', 'FBIS3-1', 1)]
    """
    if negative not in ("keep", "unjudged"):
        raise ParameterError(f"negative: expected 'keep' or 'unjudged', got {negative!r}")
    sources = (open_source(file, max_bytes) for file in find_files(path, skip=("run",)))
    return judgements_from(sources, columns=columns, negative=negative, max_rows=max_rows)


def judgements_from(
    sources: Iterable[Source],
    *,
    columns: Mapping[str, str] | None = None,
    negative: str = "keep",
    max_rows: int | None = None,
) -> pl.DataFrame:
    """What `read_judgements` makes of the files, once they are open."""
    judgements = combine([Part(one.path, _read_source(one, JUDGEMENTS, columns, max_rows)[1]) for one in sources])
    if negative == "unjudged" and judgements.schema["relevance"].is_numeric():
        # NaN and null stay, so that the evaluation can refuse them.
        judgements = judgements.filter((pl.col("relevance") < 0).fill_null(value=False).not_())
    return judgements.select(list(JUDGEMENTS.columns))


def read_queries(
    path: Paths,
    *,
    columns: Mapping[str, str] | None = None,
    max_bytes: int | None = None,
    max_rows: int | None = None,
) -> pl.DataFrame:
    r"""Read the queries with what is known about each.

    Parameters
    ----------
    path, columns, max_bytes, max_rows
        As in `read_rankings`; there is no TREC form.

    Returns
    -------
    pl.DataFrame
        ``query``, and where the files have them ``label`` (String: the class of the query, for macro
        means), ``weight`` and ``n_relevant`` (number of relevant items).

    Raises
    ------
    FileError, ColumnError, DataError
        As in `read_rankings`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "queries.tsv"
    ...     _ = file.write_text("query_id\tlabel\n01\tseven\n02\tone\n")
    ...     read_queries(file).rows()
    [('01', 'seven'), ('02', 'one')]
    """
    sources = (open_source(file, max_bytes) for file in find_files(path, skip=("run", "qrels")))
    return queries_from(sources, columns=columns, max_rows=max_rows)


def queries_from(
    sources: Iterable[Source], *, columns: Mapping[str, str] | None = None, max_rows: int | None = None
) -> pl.DataFrame:
    """What `read_queries` makes of the files, once they are open."""
    queries = combine([Part(one.path, _read_source(one, QUERIES, columns, max_rows)[1]) for one in sources])
    return queries.select(name for name in QUERIES.columns if name in queries.columns)


class _Named(Exception):
    """Ends the reading of a file once its columns are known."""


def column_names(source: Source) -> list[str]:
    r"""The columns of a file under its own names, for a reader to say which is which.

    >>> column_names(Source(Path("a.csv"), b"q,doc,sim\n1,a,0.5\n"))
    ['q', 'doc', 'sim']
    """

    def choose(names: Sequence[str]) -> dict[str, str]:
        raise _Named(*names)

    try:
        _read_form(source, detect_format(source), choose, None)
    except _Named as found:
        return list(found.args)
    return []  # pragma: no cover - every reader asks which columns to take


def _read_source(
    source: Source, kind: Kind, columns: Mapping[str, str] | None, max_rows: int | None
) -> tuple[str, pl.DataFrame]:
    """Read one file; return its format and its columns under our names."""
    form = detect_format(source)
    _refuse_other_kind(source, form, kind)

    def choose(found: Sequence[str]) -> dict[str, str]:
        return match_columns(found, kind, columns, str(source.path))

    return form, _read_form(source, form, choose, max_rows)


def _read_form(
    source: Source, form: str, choose: Callable[[Sequence[str]], dict[str, str]], max_rows: int | None
) -> pl.DataFrame:
    if form in ("parquet", "arrow", "arrow stream"):
        return _text_ids(read_binary(source, form, choose, max_rows))
    frame = read_ndjson(source, choose) if form == "ndjson" else parse_values(_read_text(source, form, choose))
    if source.last_byte() != b"\n":
        warnings.warn(
            f"{source.path}: no newline at the end; the file may have been cut off while it was written",
            RetrievalReportWarning,
            stacklevel=5,
        )
    return frame


def _read_text(source: Source, form: str, choose: Callable[[Sequence[str]], dict[str, str]]) -> TextTable:
    if form == "run":
        return read_trec(source, RUN_FIELDS, choose)
    if form == "qrels":
        return read_trec(source, QRELS_FIELDS, choose)
    return read_delimited(source, "," if form == "csv" else "\t", choose)


def _refuse_other_kind(source: Source, form: str, kind: Kind) -> None:
    forms = {"run": "rankings", "qrels": "judgements"}
    if forms.get(form, kind.name) != kind.name:
        name = {"run": "a TREC run", "qrels": "TREC qrels"}[form]
        raise FileError(f"{source.path}: is {name}, not {kind.name}; read it with read_{forms[form]}")


def _text_ids(frame: pl.DataFrame) -> pl.DataFrame:
    """Make categories plain text: codes of two files are not comparable, their texts are."""
    categories = [
        name for name in ID_COLUMNS if name in frame.columns and frame.schema[name] in (pl.Categorical, pl.Enum)
    ]
    return frame.with_columns(pl.col(categories).cast(pl.String))


def _with_model(path: Path, frame: pl.DataFrame, model: str | None, *, tagged: bool) -> Part:
    if model is not None:
        return Part(path, frame.with_columns(pl.lit(model).alias("model")))
    if "model" in frame.columns:
        return Part(path, frame, tagged=tagged)
    name = base_name(path)
    return Part(path, frame.with_columns(pl.lit(name).alias("model")), name=name)
