"""The one place that decides how kernels are compiled."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np

from retrieval_report.kernels.cache import KernelCache, NoCache

__all__ = ["ZERO", "allocating", "inlined", "kernel"]

# Where a count starts that is passed on. To Numba a plain 0 is a type of its own, for which every kernel that is
# called with it compiles once more: five seconds of the first use.
ZERO = cast(int, np.int64(0))

Function = TypeVar("Function", bound=Callable[..., object])


def _drop_stale_caches() -> None:
    """Remove code of other sources, which nobody would ask for again."""
    folder = Path(__file__).parent
    newest = max(source.stat().st_mtime for source in folder.glob("*.py"))
    for code in (folder / "__pycache__").glob("*.nb[ci]"):
        with contextlib.suppress(OSError):
            if code.stat().st_mtime < newest:
                code.unlink()


def kernel(function: Function) -> Function:
    """Compile ``function`` serially, without the interpreter lock, cached on disk, with exact floating point.

    ``parallel=True`` is not used: Numba's default threading layer aborts the process when two threads enter it,
    as a dashboard does. Callers run ranges of lists on a thread pool instead. ``fastmath`` stays off, so the same
    input gives the same bytes on every processor. Where no folder can be written, kernels compile in memory.

    A kernel makes no array and returns none: then nobody has to count references to those it is given, which costs
    several times what a walk over ties computes. It may call a function that is ``allocating``.

    Examples
    --------
    >>> kernel(lambda x: x + 1)(1)
    2
    """
    return _compile(function, _nrt=False)


def allocating(function: Function) -> Function:
    """Compile a function that makes arrays, otherwise as ``kernel`` does.

    Examples
    --------
    >>> allocating(lambda size: np.zeros(size))(2)
    array([0., 0.])
    """
    return _compile(function, _nrt=True)


def inlined(function: Function) -> Function:
    """Compile a function that kernels call for every tie into each of them, whatever its size.

    Examples
    --------
    >>> inlined(lambda x: x + 1)(1)
    2
    """
    return _compile(function, _nrt=False, forceinline=True)


def _compile(function: Function, **options: Any) -> Function:
    compiler: Any = numba.njit
    compiled: Any = compiler(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)
    if hasattr(compiled, "enable_caching"):  # else NUMBA_DISABLE_JIT is set
        try:
            compiled._cache = KernelCache(function)
        except RuntimeError:  # no locator: neither the package nor the user's cache folder is writable
            compiled._cache = NoCache(function)
    return cast(Function, compiled)


_drop_stale_caches()
