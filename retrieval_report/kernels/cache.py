"""Compiled kernels on disk, each in its own file, used
only if the file is whole and made from this very source.

Numba's own cache keeps an index beside the files. When two processes write it at once, an entry may
point at code for other types, and a truncated file makes every later call fail.
"""

import hashlib
import pickle
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.runtime.nrt import rtsys

from retrieval_report.contracts.warning import warn

FOLDER = Path(__file__).parent


class KernelCache(FunctionCache):
    """Numba's source of compiled code; no fault of the cache folder stops a computation.

    Raises
    ------
    RuntimeError
        No folder is writable.
    """

    def __init__(self, function: object) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]
        self._cache_file: Any = _Entries(Path(self.cache_path), self._impl.filename_base)

    def load_overload(self, signature: object, context: object) -> object:
        """Return the code for these types, or None if it has to be compiled.

        Numba would first load all that it can compile (0.3 s, of it half SciPy's linear algebra),
        but stored code needs its memory management alone.
        """
        try:
            rtsys.initialize(context)
            return self._load_overload(signature, context)  # type: ignore[no-untyped-call]
        except Exception as error:
            _warn_once(
                f"compiled code in '{self.cache_path}' cannot be used ({error}); it is compiled "
                "again"
            )
            return None

    def _index_key(self, signature: Any, codegen: Any) -> tuple[object, ...]:
        """Return what the code was made for and from; Numba would add what a closure holds, which
        for kernels differs in every process, and is known by their names and sources.
        """
        return signature, codegen.magic_tuple(), self._py_func.__code__.co_code

    def save_overload(self, signature: object, code: object) -> None:
        """Store the code; if that fails, the next process compiles it again."""
        try:
            super().save_overload(signature, code)  # type: ignore[no-untyped-call]
        except OSError as error:
            warn_unkept(f"in '{self.cache_path}': {error.strerror or error}")


class _Entries(IndexDataCacheFile):
    """Files of one function in one folder; they replace Numba's own index and data."""

    def __init__(self, folder: Path, base: str) -> None:
        self.folder = folder
        self.base = base

    def _path(self, key: object) -> Path:
        name = hashlib.sha256(f"{_sources()} {key!r}".encode()).hexdigest()[:24]
        return self.folder / f"{self.base}.{name}.nbc"

    def load(self, key: object) -> object:
        """Return the code stored under a key, if any."""
        path = self._path(key)
        if not path.exists():
            return None
        signature, code = pickle.loads(path.read_bytes())  # noqa: S301 - as Numba does, from the user's own cache
        return code if signature == key else None

    def save(self, key: object, code: object) -> None:
        """Store code under a key, in a file that is either whole or absent."""
        with self._open_for_write(self._path(key)) as file:
            pickle.dump((key, code), file)


@cache
def _sources() -> str:
    """Return a digest of all kernel sources and the compiler,
    since a kernel contains helpers from other files.
    """
    texts = [path.read_bytes() for path in sorted(FOLDER.glob("*.py"))]
    return f"{numba.__version__} {hashlib.sha256(b''.join(texts)).hexdigest()}"


def warn_unkept(where: str) -> None:
    """Warn, once, that no compiled code is kept."""
    _warn_once(
        f"compiled code cannot be stored {where}; every process compiles it anew, which takes "
        "seconds to a minute. Set NUMBA_CACHE_DIR to a writable folder"
    )


@cache
def _warn_once(message: str) -> None:
    warn(message)
