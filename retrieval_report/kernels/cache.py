"""Compiled kernels on disk: each in a file of its own, which is whole and of this very source or is not used.

Numba keeps a list of files beside the files. Where two processes write it at once, a name in it may point at code for
other types; a file cut short ends every later call in an error, a flipped bit in wrong numbers.
"""

from __future__ import annotations

import hashlib
import pickle
import secrets
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, NullCache

from retrieval_report.contracts.errors import RetrievalReportWarning

__all__ = ["KernelCache", "NoCache"]

FOLDER = Path(__file__).parent
DIGEST = hashlib.sha256().digest_size


class KernelCache(FunctionCache):
    """What Numba asks for compiled code; nothing that is wrong with the folder stops a computation.

    Raises
    ------
    RuntimeError
        No folder can be written.
    """

    def __init__(self, function: Any) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file: Any = _Entries(Path(self.cache_path), self._impl.filename_base)

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The code for these types, or None where it is to be compiled."""
        try:
            return super().load_overload(signature, context)  # type: ignore[no-untyped-call]
        except Exception as error:
            _warn_once(f"compiled code in '{self.cache_path}' cannot be used ({error}); it is compiled again")
            return None

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep the code; where that fails, the next process compiles it again."""
        try:
            super().save_overload(signature, code)  # type: ignore[no-untyped-call]
        except OSError as error:
            _warn_once(_unkept(f"in '{self.cache_path}': {error.strerror or error}"))


class NoCache(NullCache):
    """Where no folder can be written; the first kernel that is compiled says so."""

    def __init__(self, function: Any) -> None:
        self.in_file = Path(function.__code__.co_filename).is_file()  # else it was typed in

    def save_overload(self, signature: Any, code: Any) -> None:
        """Keep nothing."""
        if self.in_file:
            _warn_once(_unkept("beside the package, nor in the user's cache: neither folder can be written"))


class _Entries:
    """The files of one function in one folder, where Numba looks for its own index and data."""

    def __init__(self, folder: Path, base: str) -> None:
        self.folder, self.base = folder, base

    def _path(self, key: object) -> Path:
        name = hashlib.sha256(f"{_sources()} {key!r}".encode()).hexdigest()[:24]
        return self.folder / f"{self.base}.{name}.nbc"

    def load(self, key: object) -> Any:
        """The code under a key, if there is any; a damaged file is removed."""
        path = self._path(key)
        try:
            data = path.read_bytes()
        except OSError:
            return None
        if hashlib.sha256(data[DIGEST:]).digest() != data[:DIGEST]:
            with suppress(OSError):
                path.unlink()
            _warn_once(f"compiled code in '{self.folder}' was damaged; such files are removed and compiled again")
            return None
        kept, code = pickle.loads(data[DIGEST:])  # noqa: S301 - as Numba does, from the user's own cache
        return code if kept == key else None

    def save(self, key: object, code: object) -> None:
        """Keep code under a key, in a file that is whole or not there."""
        data = pickle.dumps((key, code))
        path = self._path(key)
        new = path.with_name(f"{path.name}.tmp.{secrets.token_hex(8)}")  # Numba's ending for such files
        try:
            new.write_bytes(hashlib.sha256(data).digest() + data)
            new.replace(path)
        except BaseException:
            with suppress(OSError):
                new.unlink()
            raise

    def flush(self) -> None:
        """Forget all code of the function."""
        for path in self.folder.glob(f"{self.base}.*.nbc"):
            path.unlink()


@cache
def _sources() -> str:
    """What all kernels and the compiler are: a kernel holds the code of helpers in other files."""
    texts = [path.read_bytes() for path in sorted(FOLDER.glob("*.py"))]
    return f"{numba.__version__} {hashlib.sha256(b''.join(texts)).hexdigest()}"


def _unkept(where: str) -> str:
    return (
        f"compiled code cannot be kept {where}; every process compiles it anew, which takes seconds to a minute. "
        "Let NUMBA_CACHE_DIR name a folder that can be written"
    )


@cache
def _warn_once(message: str) -> None:
    warnings.warn(message, RetrievalReportWarning, stacklevel=2)
