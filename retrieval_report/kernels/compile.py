"""How kernels are compiled; no other module deals with the compiler."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import event, types
from numba.extending import intrinsic
from tqdm import tqdm

from retrieval_report.kernels.cache import KernelCache, NoCache

# Start value of counts that are passed to other kernels. Numba gives a plain 0 a type of its own,
# and every kernel called with it would be compiled once more: five seconds of the first use.
ZERO = cast(int, np.int64(0))

Function = TypeVar("Function", bound=Callable[..., object])


def _drop_stale_caches() -> None:
    """Remove code compiled from other sources, which will never be used again."""
    folder = Path(__file__).parent
    newest = max(source.stat().st_mtime for source in folder.glob("*.py"))
    for code in (folder / "__pycache__").glob("*.nb[ci]"):
        with contextlib.suppress(OSError):
            if code.stat().st_mtime < newest:
                code.unlink()


def kernel(function: Function) -> Function:
    """Compile ``function`` serially, without the interpreter lock, cached on disk, with exact
    floating point.

    ``parallel=True`` is not used: Numba's default threading layer aborts the process when two
    threads enter it, as a dashboard does. Callers run ranges of lists on a thread pool instead.
    ``fastmath`` stays off, so the same input gives the same bytes on every processor. If no folder
    is writable, kernels are compiled in memory.

    A kernel neither makes nor returns arrays. Otherwise Numba would count references to its
    arguments, which costs several times as much as a walk over ties. A kernel may call an
    ``allocating`` function.

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
    """Inline a function that kernels call for every tie into each of them, whatever its size.

    Python cannot call it, for what that needs takes a tenth of the time of compiling.

    Examples
    --------
    >>> double = inlined(lambda x: 2 * x)
    >>> kernel(lambda x: double(x))(1)
    2
    """
    return _compile(function, _nrt=False, forceinline=True, no_cpython_wrapper=True)


class _Progress(event.Listener):
    """Shows on a terminal that kernels compile, and how many have; writes nothing where no terminal
    looks on.
    """

    def __init__(self) -> None:
        self.ready = self.nested = 0

    def on_start(self, event: Any) -> None:
        """A function begins to compile, perhaps as part of another."""
        if not _is_ours(event):
            return
        if self.nested == 0:
            what = "Compiling kernels, once after installation"
            self.line = tqdm(
                desc=what,
                bar_format="{desc} … {n_fmt}",
                initial=self.ready,
                disable=None,
                leave=False,
            )
        self.nested += 1

    def on_end(self, event: Any) -> None:
        """A function is compiled."""
        if not _is_ours(event):
            return
        self.nested -= 1
        self.ready += 1
        self.line.update()
        if self.nested == 0:
            self.line.close()


def _is_ours(event: Any) -> bool:
    return isinstance(event.data["dispatcher"]._cache, KernelCache | NoCache)


def _compile(function: Function, **options: Any) -> Function:
    compiler: Any = numba.njit
    compiled: Any = compiler(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)(
        function
    )
    if hasattr(compiled, "enable_caching"):  # absent if NUMBA_DISABLE_JIT is set
        try:
            compiled._cache = KernelCache(function)
        except RuntimeError:  # neither the package's folder nor the user's cache folder is writable
            compiled._cache = NoCache(function)
    return cast(Function, compiled)


def _split_rest(a: float, b: float, high: float) -> float:
    """Return the rounding error of a·b ≈ ``high``, from halves of 26 bits (Dekker 1971), for
    uncompiled kernels.
    """
    wide = 134217729.0  # 2**27 + 1 splits a float64 in two
    a_top = wide * a - (wide * a - a)
    b_top = wide * b - (wide * b - b)
    a_rest, b_rest = a - a_top, b - b_top
    return ((a_top * b_top - high) + a_top * b_rest + a_rest * b_top) + a_rest * b_rest


def _emit_rest(
    _context: object, _a: object, _b: object, _high: object
) -> tuple[object, Callable[..., object]]:
    """Emit the same as one fused multiply-add of the processor."""

    def generate(
        _context: object, builder: Any, _signature: object, arguments: list[Any]
    ) -> object:
        a, b, high = arguments
        return builder.fma(a, b, builder.fneg(high))

    return types.float64(types.float64, types.float64, types.float64), generate


def _count_ones(word: Any) -> int:
    """Count the bits that are set; this stands in for the instruction where kernels are not
    compiled.
    """
    return int(word).bit_count()


def _emit_popcount(_context: object, word: object) -> tuple[object, Callable[..., object]]:
    """Emit LLVM's population count: AVX-512 and AVX2 process eight and four words at a time, others
    one.
    """

    def generate(context: Any, builder: Any, _signature: object, arguments: list[object]) -> object:
        word_type = context.get_value_type(types.uint64)
        return builder.call(builder.module.declare_intrinsic("llvm.ctpop", [word_type]), arguments)

    return types.uint64(types.uint64), generate


config: Any = numba.config
popcount: Any = _count_ones if config.DISABLE_JIT else intrinsic(_emit_popcount)
product_rest: Any = _split_rest if config.DISABLE_JIT else intrinsic(_emit_rest)

_drop_stale_caches()
event.register("numba:compile", _Progress())  # type: ignore[no-untyped-call]
