"""Read files of codes (NumPy arrays and archives of them), whole or row by row, without trusting
their content.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import IO, Any, BinaryIO, NamedTuple

import numpy as np

from retrieval_report.codes.inputs import FileRows
from retrieval_report.contracts.errors import FileError, RetrievalReportError, one_line

KEYS = ("codes", "labels", "ids", "bits")
DEFLATE_RATIO = 1032
"""Largest number of bytes that one compressed byte can stand for."""


class CodeFile(NamedTuple):
    """The contents of a file of codes; None for what it does not hold."""

    codes: Any
    labels: Any = None
    ids: Any = None
    bits: int | None = None


def load_codes(path: str | PathLike[str]) -> CodeFile:
    """Load codes, with labels and ids if there are any.

    Parameters
    ----------
    path
        An ``.npz`` archive with ``codes`` and optionally ``labels``, ``ids`` and ``bits`` (for
        packed codes). Or an ``.npy`` array of codes, whose rows are read as they are needed; labels
        and ids are then the arrays ``NAME.labels.npy`` and ``NAME.ids.npy`` beside ``NAME.npy``.

    Raises
    ------
    FileError
        The file cannot be read, is of neither kind, or holds Python objects; the message names its
        path.
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
        labels, ids = (FileRows(other)[:] if other.exists() else None for other in beside)
        return CodeFile(FileRows(path), labels, ids)


@contextmanager
def _foreign(path: Path) -> Iterator[None]:
    """Turn any exception raised while reading foreign bytes (zlib and tokenize have their own) into
    a FileError.
    """
    try:
        yield
    except RetrievalReportError:
        raise
    except Exception as error:
        raise FileError(f"'{path}': neither .npz nor .npy: {one_line(error)}") from error


def _check_kind(path: Path, begin: bytes) -> None:
    """Refuse bytes that NumPy would take for pickled objects and report as such."""
    if begin[:2] != b"PK" and begin != b"\x93NUMPY":
        raise FileError(f"'{path}': neither .npz nor .npy: it begins with {begin!r}")


def codes_from(name: str, content: bytes, max_bytes: int | None = None) -> CodeFile:
    """Load codes from bytes, such as an upload; no file is opened.

    Parameters
    ----------
    name
        Name of the data, for messages.
    content
        An ``.npz`` archive or an ``.npy`` array, as for :func:`load_codes`.
    max_bytes
        Largest total size of the arrays, as declared by the archive.

    Raises
    ------
    FileError
        The same as for :func:`load_codes`.
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
            raise FileError(
                f"'{path}': holds {', '.join(names)}; expected codes, and optionally labels, ids, "
                "bits"
            )
        _check_sizes(path, archive, max_bytes)
    file.seek(0)
    # NumPy does not close a file that it opened itself if the archive is broken.
    with np.load(file, allow_pickle=False) as loaded:
        values = {name: loaded[name] for name in loaded.files}
    bits = values.pop("bits", None)
    if bits is not None and (bits.size != 1 or bits.dtype.kind not in "iu"):
        raise FileError(f"'{path}': bits is not a whole number")
    return CodeFile(**values, bits=None if bits is None else int(bits.item()))


def _check_sizes(path: Path, archive: zipfile.ZipFile, max_bytes: int | None) -> None:
    """Refuse an archive whose declared sizes are impossible or too large, before anything is
    allocated.
    """
    size = sum(part.file_size for part in archive.infolist())
    if max_bytes is not None and size > max_bytes:
        raise FileError(f"'{path}': unpacks to {size} bytes, more than max_bytes={max_bytes}")
    for part in archive.infolist():
        if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileError(
                f"'{path}': {part.filename} is compressed by a method that NumPy does not write"
            )
        if part.file_size > DEFLATE_RATIO * part.compress_size:
            raise FileError(
                f"'{path}': {part.compress_size} bytes cannot be the {part.file_size} of "
                f"{part.filename}"
            )
        with archive.open(part) as array:
            _check_array(path, array, part.file_size)


def _check_array(path: Path, file: IO[bytes], size: int) -> None:
    """Refuse an array that declares more bytes than there are, because NumPy allocates what is
    declared.
    """
    version = np.lib.format.read_magic(file)
    read = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise FileError(
            f"'{path}': an array in the format {version[0]}.{version[1]}, which codes do not use"
        )
    shape, _, dtype = read(file)
    declared = math.prod(shape) * max(
        dtype.itemsize, 1
    )  # also empty texts take memory once they are compared
    if declared > size and not dtype.hasobject:
        raise FileError(f"'{path}': declares an array of {declared} bytes, but holds {size}")
