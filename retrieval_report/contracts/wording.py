"""Say in a message what to type, in the words of whoever reads it: a terminal's options, Python's
arguments, the dashboard's controls.

A message carries its cure as data: the name of an argument and a value. `setting` writes both as
the present `Reader` would type them, so that errors, warnings and notices need no rewriting later.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

PLACEHOLDER = "<your name for it>"


class Reader:
    """Whoever reads a message; this one writes Python, and the other faces override both methods.

    >>> reader = Reader()
    >>> reader.argument("truncated"), reader.setting("truncated", ("no",), "")
    ('truncated', "truncated='no'")
    """

    verb = "pass"  # what the reader does with a setting
    sees_columns = False  # beside the message, and how they are read

    def argument(self, name: str) -> str | None:
        """Return what the reader calls an argument; None if the reader has no such thing."""
        return name

    def setting(self, name: str, values: tuple[object, ...], function: str) -> str | None:
        """Return what the reader types to give an argument one of these values, or any value if
        there are none; None if the reader cannot. ``function`` takes the argument if it is another
        than the one that was called.
        """
        text = f"{name}={either([python_text(value) for value in values])}"
        return f"{function}({text})" if function else text

    def column(self, name: str, what: str) -> str:
        """Return what the reader calls a column of the rankings, judgements or queries."""
        return name

    def portable(self) -> Reader:
        """Return the same reader for another process, such as an executor of Spark."""
        return self


class Without(Reader):
    """Who writes Python and calls what lacks arguments that messages advise."""

    def __init__(self, *names: str) -> None:
        """Name the arguments that it lacks."""
        self.names = names

    def setting(self, name: str, values: tuple[object, ...], function: str) -> str | None:
        """Return how an argument is given if there is one."""
        return None if name in self.names else super().setting(name, values, function)


PYTHON = Reader()
_reader: ContextVar[Reader] = ContextVar("reader", default=PYTHON)


def portable_reader() -> Reader | None:
    """Return the present reader for another process;
    None for Python, where each process has its own.
    """
    reader = _reader.get()
    return None if reader is PYTHON else reader.portable()


@contextmanager
def speaking_to(reader: Reader | None) -> Iterator[None]:
    """Write all messages of this thread for a reader (None: for Python), until the block ends."""
    outside = _reader.set(reader or PYTHON)
    try:
        yield
    finally:
        _reader.reset(outside)


def kind_of_reader() -> type[Reader]:
    """Return the class of the present reader: readers of one class read the same texts.

    >>> kind_of_reader().__name__
    'Reader'
    """
    return type(_reader.get())


def argument(name: str) -> str:
    """Return what the reader calls an argument, or its name if the reader has no such thing.

    >>> argument("truncated")
    'truncated'
    """
    return _reader.get().argument(name) or name


def column_name(name: str, what: str) -> str:
    """Return what the reader calls a column of the rankings, judgements or queries.

    >>> column_name("score", "rankings")
    'score'
    """
    return _reader.get().column(name, what)


def setting(name: str, *values: object, function: str = "") -> str:
    """Return what the reader types to give an argument
    one of the values; empty if the reader cannot.

    >>> setting("no_relevant", "zero", "skip"), setting("columns", {"item": "doc"})
    ("no_relevant='zero' or 'skip'", "columns={'item': 'doc'}")
    """
    return _reader.get().setting(name, values, function) or ""


def advice(text: str, *settings: str) -> str:
    """Return advice with the settings in place of its braces; empty if the reader lacks one. Who
    sets controls does not pass a value, but chooses it.

    >>> advice("; {} rounds them", setting("decimals", 2)), advice("; {} rounds them", "")
    ('; decimals=2 rounds them', '')
    """
    if not all(settings):
        return ""
    return text.replace("pass {}", f"{_reader.get().verb} {{}}").format(*settings)


def in_python(text: str, otherwise: str = "") -> str:
    """Return a text for those who write Python, and another for everybody else.

    >>> in_python("; call .reset_index()")
    '; call .reset_index()'
    """
    return text if _reader.get() is PYTHON else otherwise


def unseen(text: str, otherwise: str = "") -> str:
    """Return a text on the columns of a file for those who do not see them beside the message, and
    another for the others.

    >>> unseen("; found ['qid']")
    "; found ['qid']"
    """
    return otherwise if _reader.get().sees_columns else text


def either(texts: Sequence[str], word: str = "or") -> str:
    """Join alternatives, or with another word whatever a sentence lists.

    >>> either([]), either(["a"]), either(["a", "b", "c"])
    ('', 'a', 'a, b or c')
    """
    return f" {word} ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def have(number: int) -> str:
    """Return the verb of so many things.

    >>> have(1), have(2)
    ('has', 'have')
    """
    return "has" if number == 1 else "have"


def python_text(value: object) -> str:
    """Return a value as Python code; an ellipsis stands for any value.

    >>> python_text("no"), python_text(2), python_text({"item": ...})
    ("'no'", '2', "{'item': …}")
    """
    if isinstance(value, dict):
        pairs = (f"{key!r}: {python_text(item)}" for key, item in value.items())
        return f"{{{', '.join(pairs)}}}"
    return "…" if value is ... else repr(value)


def with_number(number: int, thing: str) -> str:
    """Return a number with the word for what it counts.

    >>> with_number(1, "query"), with_number(2, "query"), with_number(0, "pair")
    ('1 query', '2 queries', '0 pairs')
    """
    if number == 1:
        return f"1 {thing}"
    return f"{number} {thing[:-1]}ies" if thing.endswith("y") else f"{number} {thing}s"


def whole_percent(part: float) -> str:
    """Return a share or a chance in whole percent, halves rounded up, and never as none or all if
    it is not.

    >>> whole_percent(0.271), whole_percent(0.0002), whole_percent(0.9998), whole_percent(1)
    ('27%', 'less than 1%', 'more than 99%', '100%')
    >>> whole_percent(0.625), whole_percent(0.875 - 1e-15)  # seven eighths of sums of floats
    ('63%', '88%')
    """
    if 0 < part < 0.01:
        return "less than 1%"
    return "more than 99%" if 0.99 < part < 1 else f"{math.floor(100 * part + 0.5 + 1e-9)}%"
