"""Find the files that a caller's path stands for: one file, a glob, a folder or a list of these."""

import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import polars as pl

from retrieval_report.contracts.arguments import repeated
from retrieval_report.contracts.errors import FileError, ParameterError
from retrieval_report.contracts.wording import in_python
from retrieval_report.reading.formats import detect_format
from retrieval_report.reading.sources import (
    ENDINGS,
    NAMED_ONLY,
    Source,
    ending,
    is_model_folder,
    unpack,
    unreadable,
)

HEAD_BYTES = 2**16


def is_path(value: object) -> bool:
    """Return whether this names files, as a path or several.

    >>> (
    ...     is_path("rankings.parquet"),
    ...     is_path(["a.parquet", Path("b.parquet")]),
    ...     is_path([{"query": "q"}]),
    ...     is_path([]),
    ... )
    (True, True, False, False)
    """
    paths = value if isinstance(value, list | tuple) and value else [value]
    return all(isinstance(path, str | Path) for path in paths)


def is_streamed(rankings: object) -> bool:
    """Return whether rankings are read part by part, as Parquet and Arrow files and
    lazy frames are.
    """
    if not is_path(rankings):
        return isinstance(rankings, pl.LazyFrame)
    return all(map(_is_streamed_file, find_files(rankings, skip=("qrels",))))


def _is_streamed_file(path: Path) -> bool:
    with suppress(OSError, ValueError), path.open("rb") as file:  # its reader says what is wrong
        return file.read(8).startswith(STREAMED)
    return False


STREAMED = (b"PAR1", b"ARROW1")  # how Parquet and Arrow files begin
READERS = {"run": ("TREC runs", "read_rankings"), "qrels": ("TREC qrels", "read_judgements")}


def find_files(path: object, skip: Iterable[str] = ()) -> list[Path]:
    """List the files that `path` stands for.

    Parameters
    ----------
    path : str | Path | Sequence of these
        A file; a glob (``*``, ``?``, ``[…]``, ``**``); a folder, whose files with known endings,
        and gzipped TREC files of any name, are taken in the order of their names, with those of its
        subfolders ``model=…`` but of no others, and without hidden files; or a list, taken in its
        own order.
    skip : Iterable[str]
        Formats (values of `ENDINGS`) that are left out of a folder.

    Raises
    ------
    FileError
        Nothing is found, or a file is listed twice.
    """
    if (
        isinstance(path, str) and not path
    ):  # Path("") is the current folder, but whoever passes it had another in mind
        raise FileError("path: the name is empty; is a variable not set?")
    if isinstance(path, (str, Path)):
        home = os.path.expanduser(path)  # noqa: PTH111 (Path.expanduser refuses the home of nobody)
        files = _expand(Path(home), set(skip))
    elif isinstance(path, Sequence) and not isinstance(path, bytes):
        files = [file for entry in path for file in find_files(entry, skip)]
    else:
        raise ParameterError(
            f"path: expected a file name, a Path or a list of them, got {type(path).__name__}"
        )
    if not files:
        raise FileError("no files: the list of paths is empty")
    twice = repeated(files)
    if twice:
        raise FileError(f"{min(map(str, twice))}: listed more than once")
    return files


def _expand(path: Path, skip: set[str]) -> list[Path]:
    # Path.is_dir and Path.exists would raise errors for names that are too long.
    if glob.has_magic(str(path)) and not os.path.exists(path):  # noqa: PTH110
        files = [Path(name) for name in sorted({*_matches(path)}) if not Path(name).is_dir()]
        if not files:
            raise FileError(f"{path}: no file matches")
        return files
    if not os.path.isdir(path):  # noqa: PTH112
        return [path]
    try:
        entries = sorted(path.iterdir(), key=lambda entry: entry.name)
    except OSError as error:
        raise unreadable(path, error) from error
    files, skipped = [], set()
    for entry in entries:
        if is_model_folder(entry.name) and entry.is_dir():
            files += _expand(entry, skip)
        elif not entry.name.startswith((".", "_")) and entry.is_file():
            form = ENDINGS.get(ending(entry)) or _packed_trec_format(entry)
            if form in skip:
                skipped.add(form)
            elif form is not None:
                files.append(entry)
    if skipped and not files:
        what, reader = READERS[max(skipped)]
        which = in_python(f"which {reader} reads", "which are not read here")
        raise FileError(f"{path}: the folder has only {what}, {which}")
    if not files:
        named = next((entry for entry in entries if ending(entry) in NAMED_ONLY), None)
        raise FileError(
            f"{path}: "
            + (
                f"name its files by a pattern, such as {path / f'*{named.suffix}'}; "
                if named
                else ""
            )
            + f"the folder has no file ending in {', '.join(ENDINGS)} (or one of these + .gz), and no "
            "TREC file ending in .gz"
        )
    return files


def _matches(pattern: Path) -> Iterator[str]:
    """Yield what matches a pattern, of which ``**`` is any number of folders."""
    if "**" not in pattern.parts:
        # Path.glob would take no absolute pattern, and hidden files too.
        yield from glob.glob(str(pattern))  # noqa: PTH207
        return
    index = pattern.parts.index("**")
    rest = pattern.parts[index + 1 :] or ("*",)
    for top in glob.glob(str(Path(*pattern.parts[:index]))):  # noqa: PTH207
        for folder in _folders(top):
            yield from _matches(Path(glob.escape(folder), *rest))


def _folders(top: str) -> Iterator[str]:
    """Yield a folder and those below it, each once: links may lead in circles."""
    visited = {os.path.realpath(top)}
    for folder, names, _ in os.walk(top, followlinks=True):
        yield folder
        paths = {name: os.path.realpath(f"{folder}/{name}") for name in sorted(names)}
        names[:] = [
            name for name, real in paths.items() if not (name.startswith(".") or real in visited)
        ]
        visited |= {paths[name] for name in names}


def _packed_trec_format(file: Path) -> str | None:
    """Return "run" or "qrels" if TREC's text is inside, as
    in TREC's own ``input.NAME.gz``, and None otherwise.
    """
    if file.suffix.lower() != ".gz" or ending(file) == ".json":
        return None
    try:
        with file.open("rb") as packed:
            head = b""
            for piece in unpack(file, packed):
                head += piece
                if len(head) >= HEAD_BYTES:
                    break
    except OSError as error:
        raise unreadable(file, error) from error
    try:
        form = detect_format(Source(file, head))
    except FileError:
        return None
    # Four words on a line may be prose; six of which two are numbers are a run.
    return form if form == "run" or (form == "qrels" and not ending(file)) else None
