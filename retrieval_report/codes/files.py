"""Read files of codes (NumPy arrays, archives of them, and MATLAB files), whole or row by row,
without trusting their content.
"""

import zipfile
from collections.abc import Mapping, Sequence
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import FileError, RetrievalReportError, one_line
from retrieval_report.contracts.wording import PLACEHOLDER, advice, setting
from retrieval_report.reading.named_arrays import read_archive

MATLAB, MATLAB_7_3 = b"MATLAB 5.0", b"MATLAB 7.3"


class CodeFile(NamedTuple):
    """The contents of a file of codes; None for what it does not hold."""

    codes: Any
    labels: Any = None
    ids: Any = None
    bits: int | None = None


def load_codes(
    path: str | PathLike[str],
    arrays: Mapping[str, str] | None = None,
    max_bytes: int | None = None,
    argument: str = "arrays",
) -> CodeFile:
    """Load codes, with labels and ids if there are any.

    Parameters
    ----------
    path
        An ``.npz`` archive or a MATLAB file (``.mat``, of any version before 7.3) with ``codes``
        and optionally ``labels``, ``ids`` and ``bits`` (for packed codes). Or an ``.npy`` array of
        codes, whose rows are read as they are needed; labels and ids are then the arrays
        ``NAME.labels.npy`` and ``NAME.ids.npy`` beside ``NAME.npy``.
    arrays
        Our name → the name in the file, such as ``{"codes": "qB", "labels": "qL"}``; others are
        then left unread.
    max_bytes
        Most bytes that arrays may unpack to, where they are packed. By default 4 GiB.
    argument
        The argument that gives ``arrays``, for messages.

    Raises
    ------
    FileError
        The file cannot be read, is of no such kind, unpacks to too much, or holds Python objects;
        the message names its path.
    """
    path = Path(path)
    if not path.is_file():
        raise FileError(f"'{path}': no such file")
    if not path.stat().st_size:  # some files of the kernel block whoever reads them
        raise FileError(f"'{path}': neither .npz nor .npy: it is empty (0 bytes)")
    try:
        with path.open("rb") as file:
            if zipfile.is_zipfile(file):
                contents = read_archive(f"'{path}'", file, max_bytes)
                names = _names(path, [*contents], arrays, argument)
                return _code_file(path, {ours: contents[name] for ours, name in names.items()})
            file.seek(0)
            head = file.read(len(MATLAB))
            if head == MATLAB_7_3:
                raise FileError(f"'{path}': a MATLAB file of version 7.3; save it with -v7")
            if head == MATLAB or path.suffix.casefold() == ".mat":
                from retrieval_report.codes.matlab import read_matlab

                choose = partial(_names, path, arrays=arrays, argument=argument)
                return _code_file(path, read_matlab(path, file, choose, max_bytes))
        sibling_files = [path.with_name(f"{path.stem}.{name}.npy") for name in ("labels", "ids")]
        labels, ids = (
            np.load(sibling, allow_pickle=False) if sibling.exists() else None
            for sibling in sibling_files
        )
        return CodeFile(np.lib.format.open_memmap(path, mode="r"), labels, ids)
    except RetrievalReportError:
        raise
    except Exception as error:  # of foreign bytes; zlib and tokenize have their own
        raise FileError(f"'{path}': neither .npz nor .npy: {one_line(error)}") from error


def _names(
    path: Path, contents: Sequence[str], arrays: Mapping[str, str] | None, argument: str
) -> dict[str, str]:
    """Return which arrays of a file are codes, labels, ids and bits."""
    names = dict(arrays or zip(contents, contents, strict=True))
    missing = {*names.values()} - {*contents}
    if missing or names.keys() - set(CodeFile._fields) or "codes" not in names:
        raise FileError(
            f"'{path}': holds {', '.join(contents)}; expected codes, and optionally labels, ids, bits"
            + advice("; say which is which by {}", setting(argument, {"codes": PLACEHOLDER}))
        )
    return names


def _code_file(path: Path, contents: Named) -> CodeFile:
    bits = contents.pop("bits", None)
    if bits is not None and (bits.size != 1 or bits.dtype.kind not in "iu"):
        raise FileError(f"'{path}': bits is not a whole number")
    return CodeFile(**contents, bits=None if bits is None else int(bits.item()))
