"""Read codes from MATLAB files, by SciPy."""

from collections.abc import Callable, Sequence
from math import prod
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from scipy.io import loadmat, whosmat
from scipy.sparse import issparse

from retrieval_report.contracts.arguments import Named
from retrieval_report.contracts.errors import FileError, RetrievalReportError, one_line
from retrieval_report.reading.sources import MAX_BYTES, larger

BYTES = 8  # of a number, at most


def read_matlab(
    path: Path,
    file: BinaryIO,
    choose: Callable[[Sequence[str]], dict[str, str]],
    max_bytes: int | None,
) -> Named:
    """Return arrays of a MATLAB file (any version before 7.3) under our names.

    MATLAB knows matrices of float64 only: a matrix that has one number for each code becomes a
    vector, whole numbers become integers again, and texts lose the blanks that made them equally
    long.

    Parameters
    ----------
    path
        For messages.
    file
        The file, open for reading.
    choose
        Returns our name → the name in the file, of all names in the file.
    max_bytes
        Most bytes of the arrays that are read, if that is more than the file holds. By default
        4 GiB.

    Raises
    ------
    FileError
        The file is damaged, or unpacks to too much.
    """
    limit = MAX_BYTES if max_bytes is None else max_bytes
    try:
        file.seek(0)
        shapes = {name: shape for name, shape, _ in whosmat(file)}
        names = choose([*shapes])
        size = sum(BYTES * prod(map(int, shapes[name])) for name in names.values())
        if size > max(limit, BYTES * file.seek(0, 2)):
            raise FileError(f"'{path}': unpacks to {size} bytes, more than {limit}{larger()}")
        file.seek(0)
        arrays = loadmat(file, variable_names=[*names.values()])
        codes = len(arrays[names["codes"]])
        return {ours: _plain(arrays[name], ours, codes) for ours, name in names.items()}
    except RetrievalReportError:
        raise
    except Exception as error:  # of foreign bytes
        raise FileError(f"'{path}': damaged MATLAB file: {one_line(error)}") from error


def _plain(array: Any, ours: str, codes: int) -> object:
    """Return an array as NumPy would have saved it."""
    if issparse(array):
        array = array.toarray()
    if ours == "codes":
        return array
    if array.dtype == object:  # a cell for each text
        array = np.array([str(cell.item()) for cell in array.ravel()])
    if array.dtype.kind == "U":
        array = np.strings.rstrip(array)
    if array.dtype.kind == "f" and (array == np.floor(array)).all():
        array = array.astype(np.int64)
    return array.ravel() if array.size == codes else array
