"""Numba behind ``compile.py``, imported when the first kernel compiles."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numba
from numba.core import event
from tqdm import tqdm

from retrieval_report.contracts.arguments import Named
from retrieval_report.kernels.cache import KernelCache, warn_unkept


def compiled(function: Callable[..., object], options: Named) -> Callable[..., object]:
    """Return a function that compiles itself for the types it is called with."""
    compiler: Any = numba.njit
    made = compiler(nogil=True, error_model="numpy", no_cfunc_wrapper=True, **options)(function)
    made.is_ours = True
    try:
        made._cache = KernelCache(function)
    except RuntimeError:  # neither the package's folder nor the user's cache folder is writable
        warn_unkept("beside the package or in the user's cache, because neither folder is writable")
    return cast(Callable[..., object], made)


def _drop_stale_caches() -> None:
    """Remove code compiled from other sources, which will never be used again."""
    folder = Path(__file__).parent
    newest = max(source.stat().st_mtime for source in folder.glob("*.py"))
    for code in (folder / "__pycache__").glob("*.nb[ci]"):
        with contextlib.suppress(OSError):
            if code.stat().st_mtime < newest:
                code.unlink()


class _Progress(event.Listener):
    """Shows on a terminal that kernels compile, and how
    many have; writes nothing where no terminal looks on.
    """

    def __init__(self) -> None:
        self.ready = self.nested = 0

    def on_start(self, event: object) -> None:
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

    def on_end(self, event: object) -> None:
        """A function is compiled."""
        if not _is_ours(event):
            return
        self.nested -= 1
        self.ready += 1
        self.line.update()
        if self.nested == 0:
            self.line.close()


def _is_ours(event: Any) -> bool:
    return hasattr(event.data["dispatcher"], "is_ours")


_drop_stale_caches()
event.register("numba:compile", _Progress())  # type: ignore[no-untyped-call]
