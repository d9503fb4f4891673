"""Read files of codes (NumPy arrays and archives of them), whole or row by row, without trusting
their content.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from retrieval_report.contracts.errors import FileError, RetrievalReportError, one_line


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
        if zipfile.is_zipfile(file):
            return _read_archive(path, file)
        beside = [path.with_name(f"{path.stem}.{name}.npy") for name in ("labels", "ids")]
        labels, ids = (
            np.load(other, allow_pickle=False) if other.exists() else None for other in beside
        )
        return CodeFile(np.lib.format.open_memmap(path, mode="r"), labels, ids)


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
    path, file = Path(name), io.BytesIO(content)
    with _foreign(path):
        if zipfile.is_zipfile(file):
            return _read_archive(path, file, max_bytes)
        return CodeFile(np.lib.format.read_array(file, allow_pickle=False))


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


def _read_archive(path: Path, file: BinaryIO, max_bytes: int | None = None) -> CodeFile:
    with zipfile.ZipFile(file) as archive:
        parts = archive.infolist()
    names = [part.filename.removesuffix(".npy") for part in parts]
    if set(names) - set(CodeFile._fields) or "codes" not in names:
        raise FileError(
            f"'{path}': holds {', '.join(names)}; expected codes, and optionally labels, ids, bits"
        )
    size = sum(part.file_size for part in parts)
    if max_bytes is not None and size > max_bytes:
        raise FileError(f"'{path}': unpacks to {size} bytes, more than max_bytes={max_bytes}")
    file.seek(0)
    # NumPy does not close a file that it opened itself if the archive is broken.
    with np.load(file, allow_pickle=False) as loaded:
        values = dict(loaded)
    bits = values.pop("bits", None)
    if bits is not None and (bits.size != 1 or bits.dtype.kind not in "iu"):
        raise FileError(f"'{path}': bits is not a whole number")
    return CodeFile(**values, bits=None if bits is None else int(bits.item()))
