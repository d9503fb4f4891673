"""The one place that decides how kernels are compiled."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar, cast

import numba
import numpy as np

__all__ = ["ZERO", "inlined", "kernel"]

# Where a count starts that is passed on. To Numba a plain 0 is a type of its own, for which every kernel that is
# called with it compiles once more: five seconds of the first use.
ZERO = cast(int, np.int64(0))

Function = TypeVar("Function", bound=Callable[..., object])


def _drop_stale_caches() -> None:
    # Numba stamps a cached kernel with its own file only, so an edit in a helper's file would go unnoticed.
    folder = Path(__file__).parent
    newest = max(source.stat().st_mtime for source in folder.glob("*.py"))
    for index in (folder / "__pycache__").glob("*.nbi"):
        with contextlib.suppress(OSError):
            if index.stat().st_mtime < newest:
                index.unlink()


def kernel(function: Function) -> Function:
    """Compile ``function`` serially, without the interpreter lock, cached on disk, with exact floating point.

    ``parallel=True`` is not used: Numba's default threading layer aborts the process when two threads enter it,
    as a dashboard does. Callers run ranges of lists on a thread pool instead. ``fastmath`` stays off, so the same
    input gives the same bytes on every processor. Where no folder can be written, kernels compile in memory.

    Examples
    --------
    >>> kernel(lambda x: x + 1)(1)
    2
    """
    return _compile(function)


def inlined(function: Function) -> Function:
    """Compile a function that kernels call for every tie into each of them.

    A call of its own counts references to every array that is passed on, which costs more than what it computes:
    inlined, AP, NDCG and the other sums take half the time.

    Examples
    --------
    >>> inlined(lambda x: x + 1)(1)
    2
    """
    return _compile(function, inline=True)


def _compile(function: Function, *, inline: bool = False) -> Function:
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy", forceinline=inline)(function)  # type: ignore[return-value]
    except RuntimeError:  # no locator: neither the package nor the user's cache folder is writable
        return numba.njit(nogil=True, error_model="numpy", forceinline=inline)(function)  # type: ignore[return-value]


_drop_stale_caches()
