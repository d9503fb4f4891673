"""Files of codes in, counts, scores and their means out: what ``retrieval-report codes`` runs."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

import numpy as np
import polars as pl

from retrieval_report.analysis.summary import summarise
from retrieval_report.codes import count_codes, count_relevant
from retrieval_report.errors import FileError, ParameterError, RetrievalReportError
from retrieval_report.evaluation import DEFAULT_CUTOFFS, DEFAULT_METRICS, evaluate
from retrieval_report.output import check_writable_folder, csv_bytes, write_files
from retrieval_report.radius import evaluate_radius

__all__ = ["CodeFile", "CodesResult", "codes_command", "codes_from", "load_codes"]

KEYS = ("codes", "labels", "ids", "bits")
DEFLATE_RATIO = 1032
"""A compressed byte stands for no more bytes than this."""


class CodeFile(NamedTuple):
    """What a file of codes holds; None for what it does not."""

    codes: Any
    labels: Any = None
    ids: Any = None
    bits: int | None = None


class CodesResult(NamedTuple):
    """Frames of a run, and the files written."""

    counts: pl.DataFrame
    summary: pl.DataFrame
    radius: pl.DataFrame | None
    files: list[Path]


def load_codes(path: str | PathLike[str]) -> CodeFile:
    """Load codes, and labels and ids where there are any.

    Parameters
    ----------
    path
        An ``.npz`` archive with ``codes`` and, where known, ``labels``, ``ids`` and ``bits`` (of packed codes). Or an
        ``.npy`` array of codes, which is memory-mapped; labels and ids are the arrays ``NAME.labels.npy`` and
        ``NAME.ids.npy`` beside ``NAME.npy``.

    Raises
    ------
    FileError
        The file cannot be read, is neither, or holds Python objects; the message holds its path.
    """
    path = Path(path)
    if not path.is_file():
        raise FileError(f"'{path}': no such file")
    with _foreign(path), path.open("rb") as file:
        begin = file.read(6)
        _check_kind(path, begin)
        file.seek(0)
        if begin[:2] == b"PK":
            return _archive(path, file)
        beside = [path.with_name(f"{path.stem}.{name}.npy") for name in ("labels", "ids")]
        return CodeFile(_array(path), *(_array(other) if other.exists() else None for other in beside))


@contextmanager
def _foreign(path: Path) -> Iterator[None]:
    """Whatever goes wrong while bytes of others are read is an error of the file: zlib and tokenize have their own."""
    try:
        yield
    except RetrievalReportError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise FileError(f"'{path}': neither .npz nor .npy: {reason}") from error


def _check_kind(path: Path, begin: bytes) -> None:
    """Refuse what NumPy would take for pickled objects, and call so."""
    if begin[:2] != b"PK" and begin != b"\x93NUMPY":
        raise FileError(f"'{path}': neither .npz nor .npy: it begins with {begin!r}")


def _array(path: Path) -> Any:
    return np.load(path, mmap_mode="r", allow_pickle=False)


def codes_from(name: str, content: bytes, max_bytes: int | None = None) -> CodeFile:
    """Load codes from bytes that are no file here, such as an upload; nothing is opened.

    Parameters
    ----------
    name
        For messages.
    content
        An ``.npz`` archive or an ``.npy`` array, as for :func:`load_codes`.
    max_bytes
        Most bytes the arrays may take, as the archive declares them.

    Raises
    ------
    FileError
        As :func:`load_codes` does.
    """
    path = Path(name)
    with _foreign(path):
        _check_kind(path, content[:6])
        if content[:2] == b"PK":
            return _archive(path, io.BytesIO(content), max_bytes)
        _check_array(path, io.BytesIO(content), len(content))
        return CodeFile(np.load(io.BytesIO(content), allow_pickle=False))


def _archive(path: Path, file: BinaryIO, max_bytes: int | None = None) -> CodeFile:
    with zipfile.ZipFile(file) as archive:
        names = [part.filename.removesuffix(".npy") for part in archive.infolist()]
        if set(names) - set(KEYS) or "codes" not in names:
            raise FileError(f"'{path}': holds {', '.join(names)}; expected codes, and maybe labels, ids, bits")
        _check_sizes(path, archive, max_bytes)
    file.seek(0)
    # NumPy leaves a file that it opened itself open where the archive is broken.
    with np.load(file, allow_pickle=False) as loaded:
        values = {name: loaded[name] for name in loaded.files}
    bits = values.pop("bits", None)
    if bits is not None and (bits.size != 1 or bits.dtype.kind not in "iu"):
        raise FileError(f"'{path}': bits is no whole number")
    return CodeFile(**values, bits=None if bits is None else int(bits.item()))


def _check_sizes(path: Path, archive: zipfile.ZipFile, max_bytes: int | None) -> None:
    """Refuse what cannot be so, or is too much, by what the archive declares: nothing is allocated for it."""
    size = sum(part.file_size for part in archive.infolist())
    if max_bytes is not None and size > max_bytes:
        raise FileError(f"'{path}': unpacks to {size} bytes, more than max_bytes={max_bytes}")
    for part in archive.infolist():
        if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileError(f"'{path}': {part.filename} is compressed by a method that NumPy does not write")
        if part.file_size > DEFLATE_RATIO * part.compress_size:
            raise FileError(f"'{path}': {part.compress_size} bytes cannot be the {part.file_size} of {part.filename}")
        with archive.open(part) as array:
            _check_array(path, array, part.file_size)


def _check_array(path: Path, file: IO[bytes], size: int) -> None:
    """Refuse an array that declares more bytes than there are, for NumPy allocates what is declared."""
    version = np.lib.format.read_magic(file)
    read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}.get(version)
    if read is None:
        raise FileError(f"'{path}': an array in the format {version[0]}.{version[1]}, which holds no codes")
    shape, _, dtype = read(file)
    declared = math.prod(shape) * dtype.itemsize
    if declared > size and not dtype.hasobject:
        raise FileError(f"'{path}': declares an array of {declared} bytes, and holds {size}")


def codes_command(
    query_path: str | PathLike[str],
    item_paths: Sequence[str | PathLike[str]],
    out: str | PathLike[str] | None = None,
    *,
    metrics: Any = DEFAULT_METRICS,
    cutoffs: Any = DEFAULT_CUTOFFS,
    policies: Sequence[str] = ("expected", "worst", "best"),
    radii: Sequence[float] | None = None,
    empty: str = "zero",
    raw: bool = False,
    **options: Any,
) -> CodesResult:
    """Count, score and average the codes of files, each item file a shard.

    Parameters
    ----------
    query_path, item_paths
        Files that :func:`load_codes` reads; one item file at a time is open.
    out
        Folder for ``counts.parquet``, ``scores.csv``, ``summary.csv`` and ``radius.csv``.
    metrics, cutoffs, policies
        As in :func:`evaluate`.
    radii, empty
        As in :func:`evaluate_radius`; by default 0, 1 and 2 for Hamming distances, else none.
    raw
        As in ``csv_bytes``.
    **options
        Of :func:`count_codes`: ``relevance``, ``model``, ``bits``, ``distance``, ``exclude_self``, ``depth``,
        ``threads``, ``progress``, ``judgements``.
    """
    folder = None if out is None else check_writable_folder(out)
    depth = options.get("depth")
    if depth is not None and radii is not None:
        raise ParameterError("radii: counts cut at a depth may end inside a radius; leave depth or radii out")
    if radii is None and depth is None and options.get("distance", "hamming") == "hamming":
        radii = (0, 1, 2)
    _check_once(item_paths)
    queries = load_codes(query_path)
    shards = _Shards(item_paths, queries.bits)
    known = {"query_labels": queries.labels, "query_ids": queries.ids}
    if options.get("judgements") is not None:
        known["query_labels"] = None
        shards.labels = False
    options["bits"] = options.get("bits") or queries.bits
    try:
        counts = count_codes(queries.codes, iter(shards), **known, **options)
    except FileError:
        raise
    except RetrievalReportError as error:
        named = f"'{query_path}'" + (f" and '{shards.current}'" if shards.current else "")
        raise type(error)(f"{error} (of {named})") from error
    relevant = _relevant(shards, known, options) if depth is not None and known["query_labels"] is not None else None
    ends = "no" if depth is None else "between_ties"  # counts of the nearest hold all that tie with the last
    scores = evaluate(counts, queries=relevant, metrics=metrics, cutoffs=cutoffs, policies=policies, truncated=ends)
    summary = summarise(scores)
    radius = None if radii is None else evaluate_radius(counts, radii=radii, empty=empty)
    files = {} if folder is None else _files(folder, counts, scores, summary, radius, raw)
    write_files(files)
    return CodesResult(counts, summary, radius, list(files))


def _check_once(paths: Sequence[str | PathLike[str]]) -> None:
    """A shard that is there twice would count every item twice."""
    seen = set()
    for path in paths:
        file = Path(path).resolve()
        if file in seen:
            raise FileError(f"'{path}': listed more than once")
        seen.add(file)


class _Shards:
    """Reads one item file after the other, and knows which one is open."""

    def __init__(self, paths: Sequence[str | PathLike[str]], bits: int | None) -> None:
        self.paths, self.bits, self.labels = paths, bits, True
        self.current: str | PathLike[str] = ""

    def __iter__(self) -> Iterator[tuple[Any, Any, Any]]:
        for path in self.paths:
            self.current = path
            shard = load_codes(path)
            if shard.bits is not None and shard.bits != self.bits:
                raise FileError(f"'{path}': codes of {shard.bits} bits where the queries have {self.bits}")
            yield shard.codes, shard.labels if self.labels else None, shard.ids


def _relevant(shards: _Shards, known: dict[str, Any], options: dict[str, Any]) -> pl.DataFrame:
    """R of every query, which counts of the nearest items do not hold."""
    labels, ids = zip(*((labels, ids) for _, labels, ids in shards), strict=True)
    exclude = options.get("exclude_self", False)
    return count_relevant(
        known["query_labels"],
        np.concatenate(labels),
        query_ids=known["query_ids"],
        item_ids=np.concatenate(ids) if exclude and ids[0] is not None else None,
        relevance=options.get("relevance", "any"),
        exclude_self=exclude,
    )


def _files(
    folder: Path,
    counts: pl.DataFrame,
    scores: pl.DataFrame,
    summary: pl.DataFrame,
    radius: pl.DataFrame | None,
    raw: bool,
) -> dict[Path, bytes]:
    buffer = io.BytesIO()
    counts.write_parquet(buffer)
    tables = {"scores": scores, "summary": summary, "radius": radius}
    files = {folder / "counts.parquet": buffer.getvalue()}
    return files | {
        folder / f"{name}.csv": csv_bytes(frame, raw=raw) for name, frame in tables.items() if frame is not None
    }
