"""Steps of long computations, told to who listens when they are done, such as the command line."""

import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Result = TypeVar("Result")
Listener = Callable[[Hashable, float], object]

SLOW = 1.0  # seconds; nobody wonders what happens in less
_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)
_inner = ContextVar("inner", default=0.0)  # seconds of steps inside this one


def step(name: Hashable, make: Callable[[], Result]) -> Result:
    """Return the result of a step, whose own time excludes the steps that it took itself.

    Examples
    --------
    >>> step("added", lambda: 1 + 1)
    2
    """
    listener = _listener.get()
    if listener is None:
        return make()
    before = _inner.get()
    _inner.set(0.0)
    start = time.perf_counter()
    try:
        result = make()
        took = time.perf_counter() - start
        own_seconds = took - _inner.get()
    finally:
        _inner.set(before)
    _inner.set(before + took)
    if own_seconds >= SLOW:
        listener(name, own_seconds)
    return result


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Tell a listener the name and seconds of every slow step of this thread."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
