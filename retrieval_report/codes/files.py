"""Read files of codes (NumPy arrays and archives of them), whole or row by row, without trusting
their content.
"""

from __future__ import annotations

import zipfile
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
    if not path.stat().st_size:  # some files of the kernel block whoever reads them
        raise FileError(f"'{path}': neither .npz nor .npy: it is empty (0 bytes)")
    try:
        with path.open("rb") as file:
            if zipfile.is_zipfile(file):
                return _read_archive(path, file)
        beside = [path.with_name(f"{path.stem}.{name}.npy") for name in ("labels", "ids")]
        labels, ids = (
            np.load(other, allow_pickle=False) if other.exists() else None for other in beside
        )
        return CodeFile(np.lib.format.open_memmap(path, mode="r"), labels, ids)
    except RetrievalReportError:
        raise
    except Exception as error:  # of foreign bytes; zlib and tokenize have their own
        raise FileError(f"'{path}': neither .npz nor .npy: {one_line(error)}") from error


def _read_archive(path: Path, file: BinaryIO) -> CodeFile:
    with zipfile.ZipFile(file) as archive:
        names = [name.removesuffix(".npy") for name in archive.namelist()]
    if set(names) - set(CodeFile._fields) or "codes" not in names:
        raise FileError(
            f"'{path}': holds {', '.join(names)}; expected codes, and optionally labels, ids, bits"
        )
    file.seek(0)
    # NumPy does not close a file that it opened itself if the archive is broken.
    with np.load(file, allow_pickle=False) as loaded:
        values = dict(loaded)
    bits = values.pop("bits", None)
    if bits is not None and (bits.size != 1 or bits.dtype.kind not in "iu"):
        raise FileError(f"'{path}': bits is not a whole number")
    return CodeFile(**values, bits=None if bits is None else int(bits.item()))
