"""Results by key, each computed once by the first thread that asks."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Self, TypeVar

from retrieval_report.contracts.forks import refuse_fork
from retrieval_report.contracts.steps import step

Result = TypeVar("Result")
MOST_KEPT = 200  # answers of one study and all narrower ones


class Once:
    """Results by key; a thread that asks for one that
    is being computed waits for it, and for no other.

    Parameters
    ----------
    most
        Number of results that are kept; the least recently used are dropped first.

    Examples
    --------
    >>> once = Once(most=2)
    >>> once.find("a", lambda: 1), once.find("a", lambda: 2), once.known("b")
    (1, 1, False)
    """

    def __init__(self, most: int = MOST_KEPT) -> None:
        """Start without results."""
        self._most = most
        # by key: the lock under which it is computed, and the result once it is known
        self._cells: OrderedDict[Hashable, tuple[threading.RLock, list[Any]]] = OrderedDict()
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple[type[Self], tuple[int]]:
        """Start anew where it is copied or sent to another process: locks are of one process."""
        return type(self), (self._most,)

    def find(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """Return the result of this key; if computing it fails, the next caller tries again."""
        refuse_fork()
        with self._lock:
            lock, results = self._cells.setdefault(key, (threading.RLock(), []))
            self._cells.move_to_end(key)
            while len(self._cells) > self._most:
                self._cells.popitem(last=False)
        with lock:
            if not results:
                results.append(step(key, make))
            result: Result = results[0]
        return result

    def known(self, key: Hashable) -> bool:
        """Return whether a result is already known."""
        with self._lock:
            return key in self._cells and bool(self._cells[key][1])
