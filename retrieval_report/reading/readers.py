"""The three readers, which turn files or objects in memory into checked frames."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path  # noqa: F401 - the examples use it

import polars as pl

from retrieval_report.contracts.arguments import ColumnNames, as_list, check_text, is_name
from retrieval_report.contracts.checks import check_choice
from retrieval_report.contracts.errors import FileError, ParameterError
from retrieval_report.contracts.forks import refuse_fork
from retrieval_report.contracts.frames import check_table
from retrieval_report.reading.combine import combine, name_runs
from retrieval_report.reading.convert import is_column
from retrieval_report.reading.files import (
    as_kind,
    costs_from,
    frame_from,
    parts_from,
    sources_of,
)
from retrieval_report.reading.finding import find_files, is_path
from retrieval_report.reading.frames import frame_of_kind, to_polars
from retrieval_report.reading.names import JUDGEMENTS, QUERIES, RANKINGS, Kind, require
from retrieval_report.reading.sources import open_source


def read_rankings(
    source: object,
    *,
    columns: ColumnNames = None,
    model: str | None = None,
    name_by: str | None = None,
    keep: str | Collection[str] = (),
    max_bytes: int | None = None,
    max_rows: int | None = None,
) -> pl.DataFrame:
    r"""Read ranked lists (or counts) from files or objects in memory.

    Supported files are CSV, TSV, NDJSON and TREC runs (also gzipped), Parquet and Arrow IPC (file
    or stream); ``qid pid rank`` of MS MARCO, without a header; predictions saved by MTEB and
    sentence-transformers; JSON: ``{query: {item: score}}``, also by model, ``{query: [ids]}``, rows
    as objects, what pandas, RankLLM, DPR, Rankify, LlamaIndex, Elasticsearch, Solr, Qdrant and
    Pinecone write; and ``.npz`` archives of NumPy with the arrays of a search: ``distances`` or
    ``scores`` with a row per query, ``indices`` of the same shape, and optionally ``query_ids``,
    ``item_ids``, ``relevance`` and ``model``. The format is detected by the content; the name of a
    file only helps if the content is ambiguous. Columns without a header may be named by number:
    ``columns={"query": "1", "item": "2", "score": "3"}``.

    Parameters
    ----------
    source : path, frame, dictionary or iterable
        - A file, a glob, a folder (its files with known endings and gzipped TREC files of any name,
          sorted by name, and those in its folders ``model=<name>``) or a list of these.
        - A frame: Polars, pandas, PyArrow, DuckDB; or a dict of columns.
        - ``{query: {item: score}}``, as in pytrec_eval and BEIR; a ``Run`` of ranx, or a list of
          them.
        - An iterable of named tuples: ``ScoredDoc`` of ir_measures.
        - Search results: ``(distances, indices)`` of FAISS or scikit-learn, ``(labels, distances)``
          of hnswlib, matches of usearch, dictionaries of vector stores such as Chroma's
          ``{"ids": …, "distances": …}``, or a loaded ``.npz`` archive. Queries are 0, 1, …, items
          are the indices, and −1 means no result. For scores, labels and matrices, use `from_search`.
        - A dictionary model → any of these.
    columns : Mapping[str, str] | None
        Our column name → the name in the source, for example ``{"query": "q", "distance":
        "score"}``. The usual names of other tools (``qid``, ``docno``, ``sim``, …) are recognised
        automatically. The columns of a TREC run are called query, iteration, item, rank, score and
        tag, those of a dictionary query, item and score.
    model : str | None
        The model name of all rows, instead of the one in the source. By default it is the column
        ``model`` (or ``run``, ``system``, ``tag``); the folder ``model=<name>``; the file's name
        without its ending, or the tags of TREC runs (see ``name_by``); the name of a ``Run``; else
        ``model``.
    name_by : {"tag", "file"} | None
        What names TREC runs. None: their files; but their tags if all files are TREC runs, no two
        have the same, and none is what a tool writes unless it is told (``unknown``, ``run``,
        ``Anserini`` and the like). A single file of several runs has the names of its tags. With
        ``"tag"``, files of one tag are pieces of one run.
    keep : str or collection of str
        Other columns that are kept where a source has them, such as the ``seed`` of a run.
    max_bytes : int | None
        Largest unpacked size of a gzipped file or ``.npz`` archive. By default 4 GiB.
    max_rows : int | None
        Largest number of rows of a Parquet or Arrow file, checked before it is read. By default 2³²
        - 1.

    Returns
    -------
    pl.DataFrame
        ``model`` (String), ``query`` and ``item`` (String; integers stay integers in Parquet, Arrow
        and frames), ``distance`` (smaller is nearer) or ``score`` (larger is nearer), and if the
        files have them ``relevance``, ``mask``, ``weight``; then ``row`` (Int64), the position over
        all rows, unless the source has its own ``row``. Numbers of different types get a type that
        keeps their order. Files with a ``count`` column give counts: without ``row``, and
        ``item`` may be absent. Other columns are left out, but for those to ``keep``.

    Raises
    ------
    FileError
        A file cannot be read, or two files would be the same model.
    ColumnError
        A column is missing, ambiguous, or differs in type between files.
    DataError
        A value in a column of numbers is not a number.

    Warns
    -----
    RetrievalReportWarning
        A text file does not end with a newline, so it may have been truncated.

    Notes
    -----
    Values are not checked here: `evaluate` refuses NaN, null, duplicates and the like. In text
    files every id is text (``007`` is not ``7``); a column of numbers is Int64 if all its values
    are integers, else Float64; empty text and ``NA`` are null. An unquoted empty id is null, a
    quoted one is the empty text.

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
    >>> read_rankings({"bm25": {"q1": {"a": 7.5}}, "lsh": {"q1": {"a": 3}}}).rows()
    [('bm25', 'q1', 'a', 7.5, 0), ('lsh', 'q1', 'a', 3.0, 1)]
    """
    if model is not None and not is_name(model):
        raise ParameterError(f"model: expected a name that is not empty, got {model!r}")
    if name_by is not None:
        check_choice("name_by", name_by, ("tag", "file"))
    extra_columns = [check_text("keep", name) for name in as_list(keep)]
    more_columns = {name: (name,) for name in extra_columns if name not in RANKINGS.columns}
    kind = replace(RANKINGS, columns={**RANKINGS.columns, **more_columns})
    return _read(source, kind, columns, max_bytes, max_rows, model=model, name_by=name_by)


def read_each(
    paths: Sequence[str],
    *,
    columns: ColumnNames = None,
    name_by: str | None = None,
    max_bytes: int | None = None,
) -> list[pl.DataFrame]:
    """Read the rankings of every path apart, under the
    names that `read_rankings` gives them together.
    """
    groups = [
        parts_from(sources_of(path, RANKINGS, max_bytes), RANKINGS, columns=columns)
        for path in paths
    ]
    runs = iter(name_runs([part for group in groups for part in group], name_by))
    return [as_kind(combine([next(runs) for _ in group]), RANKINGS) for group in groups]


def read_judgements(
    source: object,
    *,
    columns: ColumnNames = None,
    negative: str = "keep",
    max_bytes: int | None = None,
    max_rows: int | None = None,
) -> pl.DataFrame:
    r"""Read relevance judgements: TREC qrels, a table in any format of `read_rankings`, or an
    object in memory.

    Parameters
    ----------
    source : path, frame, dictionary or iterable
        Files or frames as in `read_rankings`; ``{query: {item: relevance}}``; ``Qrels`` of ranx;
        ``Qrel`` tuples of ir_measures.
    columns, max_bytes, max_rows
        As in `read_rankings`. The columns of TREC qrels are called query, iteration, item and
        relevance.
    negative : {"keep", "unjudged"}
        How a negative relevance is treated: ``keep`` keeps it, so that the evaluation refuses it;
        ``unjudged`` drops the row, as trec_eval does.

    Returns
    -------
    pl.DataFrame
        ``query``, ``item``, ``relevance`` (Int64, or Float64 if a value of a text file has a
        fraction).

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
    >>> read_judgements({"q1": {"a": 1, "b": 0}}).rows()
    [('q1', 'a', 1), ('q1', 'b', 0)]
    """
    check_choice("negative", negative, ("keep", "unjudged"))
    return _read(source, JUDGEMENTS, columns, max_bytes, max_rows, negative=negative)


def read_queries(
    source: object,
    *,
    columns: ColumnNames = None,
    max_bytes: int | None = None,
    max_rows: int | None = None,
) -> pl.DataFrame:
    r"""Read queries and their properties.

    Parameters
    ----------
    source : path or frame
        Files or frames as in `read_rankings`; there is no TREC form.
    columns, max_bytes, max_rows
        As in `read_rankings`.

    Returns
    -------
    pl.DataFrame
        ``query``, and if the files have them ``label`` (text or whole numbers: the class of the
        query, for macro means), ``weight`` and ``n_relevant`` (number of relevant items); then all
        other columns unchanged, by which queries can be grouped.

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
    return _read(source, QUERIES, columns, max_bytes, max_rows)


def read_labels(value: object) -> pl.DataFrame:
    """Read the labels of items: a file or frame of ``item`` and ``label``, or a dictionary.

    >>> read_labels({"a": "cat", "b": "dog"}).rows()
    [('a', 'cat'), ('b', 'dog')]
    """
    return check_table(to_polars(columns_of(value, "item"), "labels"), "labels")


def columns_of(content: object, key: str, value: str = "label") -> object:
    """Return a dictionary, such as of item → label, as columns, and anything else as it is."""
    if isinstance(content, Mapping) and not any(map(is_column, content.values())):
        return {key: list(content), value: list(content.values())}
    return content


def read_costs(path: str) -> pl.DataFrame:
    """Read a file of costs, with ``model`` and a column of numbers for every kind of cost."""
    file, *more = find_files(path)
    if more:
        raise FileError(f"{path}: costs are read from one file, but there are {len(more) + 1}")
    return costs_from(open_source(file))


def _read(
    source: object,
    kind: Kind,
    columns: ColumnNames,
    max_bytes: int | None,
    max_rows: int | None,
    *,
    model: str | None = None,
    name_by: str | None = None,
    negative: str = "keep",
) -> pl.DataFrame:
    """Read files, also of an empty list, which is a separate error, or else an object in memory."""
    if is_path(source) or (isinstance(source, list | tuple) and not source):
        return frame_from(
            sources_of(source, kind, max_bytes),
            kind,
            columns=columns,
            max_rows=max_rows,
            model=model,
            name_by=name_by,
            negative=negative,
        )
    refuse_fork()
    frame = frame_of_kind(source, kind, kind.name, columns, checked=model is None)
    names = getattr(getattr(source, "index", None), "names", ())
    index = [name for name in names if name is not None]
    unread = f"; the index {index} of the pandas frame is not read: call .reset_index()"
    require(kind, frame.columns, frame.columns, hint=unread if index else "")
    if kind.ranked and (model is not None or "model" not in frame.columns):
        frame = frame.with_columns(model=pl.lit(model or "model"))
    return as_kind(frame, kind, negative)
