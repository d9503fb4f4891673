"""Results by key, each computed once by the first thread that asks."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from retrieval_report.contracts.forks import refuse_fork
from retrieval_report.contracts.steps import step

Result = TypeVar("Result")


@dataclass
class _Cell:
    """One result, and the lock under which it is computed."""

    lock: threading.RLock = field(default_factory=threading.RLock)
    result: tuple[Any, ...] = ()  # empty until it is known


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

    def __init__(self, most: int) -> None:
        """Start without results."""
        self._most = most
        self._cells: OrderedDict[Hashable, _Cell] = OrderedDict()
        self._lock = threading.Lock()

    def find(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """Return the result of this key; if computing it fails, the next caller tries again."""
        refuse_fork()
        with self._lock:
            cell = self._cells.setdefault(key, _Cell())
            self._cells.move_to_end(key)
            while len(self._cells) > self._most:
                self._cells.popitem(last=False)
        with cell.lock:
            if not cell.result:
                cell.result = (step(key, make),)
            result: Result = cell.result[0]
        return result

    def known(self, key: Hashable) -> bool:
        """Return whether a result is already known."""
        with self._lock:
            return key in self._cells and bool(self._cells[key].result)
