"""Open a file so that it is safe to parse.

Only regular files are opened: a pipe or a device is refused before it can block or never end.
Compressed text is unpacked here, up to a limit that is met before it fills the memory.
"""

import io
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

from retrieval_report.contracts.errors import FileError
from retrieval_report.contracts.forks import refuse_fork
from retrieval_report.contracts.wording import advice, in_python, setting

# Most bytes that one compressed file may unpack to, unless the caller passes ``max_bytes``.
MAX_BYTES = 4 * 2**30
# Bytes that are unpacked at once; what unpacks to more is first counted to its end.
COUNT_FIRST = 2**28
PACKED_CHUNK, CHUNK = 2**16, 2**22
SMALL_CHUNK = 2**17

# File endings that are taken from a folder, with or without ``.gz``; other endings are read when
# named.
ENDINGS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".ipc": "arrow",
    ".feather": "arrow",
    ".jsonl": "ndjson",
    ".ndjson": "ndjson",
    ".run": "run",
    ".res": "run",
    ".trec": "trec",
    ".qrels": "qrels",
    ".qrel": "qrels",
}
NAMED_ONLY = (
    ".txt",
    ".json",
    ".npz",
)  # too common to be taken from a folder, but no part of a model's name
# How files begin that are not text.
BINARY = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow stream"}
BOM = b"\xef\xbb\xbf"
GZIP = b"\x1f\x8b"
_MODEL_FOLDER = "model="


@dataclass(frozen=True)
class Source:
    """One file whose bytes can be parsed.

    Attributes
    ----------
    path : Path
        The file as the caller named it, for messages and the model name.
    content : Path | bytes
        The path where the file can be parsed in place; its unpacked bytes where it was compressed.
    max_bytes : int | None
        Most bytes that its arrays may unpack to, where they are packed. None: `MAX_BYTES`.
    """

    path: Path
    content: Path | bytes
    max_bytes: int | None = None

    def open(self) -> BinaryIO:
        """Return the bytes as a file."""
        return (
            io.BytesIO(self.content) if isinstance(self.content, bytes) else self.content.open("rb")
        )

    def head(self, size: int = 2**16) -> bytes:
        """Return the first bytes."""
        with self.open() as file:
            return file.read(size)

    def last_byte(self) -> bytes:
        """Return the last byte; the file is not empty."""
        with self.open() as file:
            file.seek(-1, io.SEEK_END)
            return file.read(1)

    def blocks(self) -> Iterator[bytes]:
        """Yield all bytes in pieces of whole lines."""
        with self.open() as file:
            while block := file.read(CHUNK) + file.readline():
                yield block

    def refuse_nul(self) -> None:
        """Refuse text with NUL bytes."""
        with self.open() as file:
            chunks = iter(partial(file.read, SMALL_CHUNK), b"")  # stay in the processor's cache
            for number, chunk in enumerate(chunks):
                refuse_nul(self.path, chunk, number * SMALL_CHUNK)

    def read(self) -> bytes:
        """Return all bytes."""
        return self.content if isinstance(self.content, bytes) else self.content.read_bytes()


def ending(path: Path) -> str:
    """Return the known ending of a file name in lower case, without ``.gz``, or ''.

    >>> ending(Path("runs/BM25.csv.GZ")), ending(Path("results.test"))
    ('.csv', '')
    """
    suffix = Path(_without(path.name, ".gz")).suffix.lower()
    return suffix if suffix in ENDINGS or suffix in NAMED_ONLY else ""


def base_name(path: Path) -> str:
    """Return the file name without its known endings: the model name of a file that gives none.

    >>> base_name(Path("runs/bm25.v2.csv.gz")), base_name(Path("results.test"))
    ('bm25.v2', 'results.test')
    """
    return _without(_without(path.name, ".gz"), ending(path)) or path.name


def folder_model(path: Path) -> str | None:
    """Return the model that a folder ``model=…`` above the file names, as Spark writes and reads
    them, or None.

    >>> (
    ...     folder_model(Path("runs/model=lsh%3A16/part-0.parquet")),
    ...     folder_model(Path("runs/lsh.parquet")),
    ... )
    ('lsh:16', None)
    """
    model_folders = [folder for folder in path.parts[:-1] if is_model_folder(folder)]
    return unquote(model_folders[-1].removeprefix(_MODEL_FOLDER)) if model_folders else None


def is_model_folder(name: str) -> bool:
    """Return whether a folder of this name names the model of its files."""
    return name.startswith(_MODEL_FOLDER) and len(name) > len(_MODEL_FOLDER)


def _without(name: str, suffix: str) -> str:
    return name[: len(name) - len(suffix)] if suffix and name.lower().endswith(suffix) else name


def unreadable(path: Path, error: OSError) -> FileError:
    """Return the error for a file or folder that the system does not let be read."""
    return FileError(f"{path}: {error.strerror or error}")


def open_source(path: Path, max_bytes: int | None = None) -> Source:
    """Check one file and unpack it when it is compressed.

    Parameters
    ----------
    path : Path
        A regular file. Gzip is recognised by its first bytes, not by its name.
    max_bytes : int | None
        Most bytes a compressed file may unpack to. None: `MAX_BYTES`.

    Raises
    ------
    FileError
        Not there, not a regular file, not permitted, empty, damaged or too large; or compressed
        text with NUL bytes.
    """
    refuse_fork()
    try:
        str(path).encode()  # Polars takes no other names
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            is_folder = stat.S_ISDIR(status.st_mode)
            kind = "a folder" if is_folder else "a pipe, a device or the like"
            cure = "" if is_folder else in_python("", ", and standard input as -")
            raise FileError(f"{path}: is {kind}; only regular files are read{cure}")
        if not status.st_size:  # as of files of the kernel, of which some block whoever reads them
            raise FileError(f"{path}: the file is empty (0 bytes)")
        with path.open("rb") as file:
            if file.read(len(GZIP)) == GZIP:
                return _unpacked(path, file, max_bytes)
    except OSError as error:
        raise unreadable(path, error) from error
    except FileError:
        raise
    except ValueError:
        raise FileError(
            f"{str(path)!a}: the name of the file is not UTF-8 or holds a null byte; rename it"
        ) from None
    return Source(path, path, max_bytes)


def source_of(name: str | Path, content: bytes, max_bytes: int | None = None) -> Source:
    """Return a source for bytes, such as an upload; no file is opened.

    Parameters
    ----------
    name : str | Path
        For messages, for the model's name and for what the ending tells.
    content : bytes
        The bytes, gzipped or not.
    max_bytes : int | None
        Most bytes there may be, unpacked. None: as in `open_source`.

    Raises
    ------
    FileError
        Empty, damaged or too large.

    Examples
    --------
    >>> import gzip
    >>> source_of("a.csv.gz", gzip.compress(b"query,item,score"), max_bytes=20).read()
    b'query,item,score'
    >>> source_of("a.csv.gz", gzip.compress(bytes(10_000)), max_bytes=20)
    Traceback (most recent call last):
    retrieval_report.FileError: a.csv.gz: unpacks to more than 20 bytes; if that is right, raise
    max_bytes=
    """
    label = Path(name)
    if content.startswith(GZIP):
        return _unpacked(label, io.BytesIO(content), max_bytes)
    if max_bytes is not None and len(content) > max_bytes:
        raise FileError(
            f"{label}: {len(content)} bytes are more than {setting('max_bytes', max_bytes) or max_bytes}{larger()}"
        )
    if not content:
        raise FileError(f"{label}: the file is empty (0 bytes)")
    return Source(label, content, max_bytes)


def larger() -> str:
    """Return how to raise the bound of bytes, where there is a setting for it."""
    return advice("; if that is right, raise {}", setting("max_bytes"))


def _unpacked(path: Path, packed: BinaryIO, max_bytes: int | None) -> Source:
    """Return what a compressed file holds, if it is not too large and no text with NUL bytes."""
    limit = MAX_BYTES if max_bytes is None else max_bytes
    unpacked = io.BytesIO()
    size, head = 0, b""
    for piece in unpack(path, packed):
        size += len(piece)
        if size > limit:
            raise FileError(f"{path}: unpacks to more than {limit} bytes{larger()}")
        if size <= COUNT_FIRST:
            unpacked.write(piece)
        head = head or piece[:8]
        # UTF-16 is recognised by the first piece, and has a message of its own.
        if size > len(piece) and not head.startswith(tuple(BINARY)):
            refuse_nul(path, piece, size - len(piece))
    if not size:
        raise FileError(f"{path}: the file is empty (0 bytes)")
    if size > COUNT_FIRST:
        unpacked = io.BytesIO()
        for piece in unpack(path, packed):
            unpacked.write(piece)
    return Source(path, unpacked.getvalue())


def unpack(path: Path, packed: BinaryIO) -> Iterator[bytes]:
    """Yield the content of a gzip file from its start, in pieces of at most `CHUNK` bytes.

    Unlike Python's ``gzip``, it skips the name in a header at once, however long it is.

    Raises
    ------
    FileError
        The file is damaged or truncated.
    """
    packed.seek(0)
    rest = packed.read(PACKED_CHUNK)
    try:
        while rest:  # a file may be several, one after the other, and may end in zeros
            member = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
            while not member.eof:
                piece = member.decompress(rest, CHUNK)
                if piece:
                    yield piece
                rest = member.unconsumed_tail or member.unused_data or packed.read(PACKED_CHUNK)
                if not (rest or member.eof or piece):
                    raise EOFError("it ends before its end marker")
            while rest and not (rest := rest.lstrip(b"\0")):
                rest = packed.read(PACKED_CHUNK)
    except (EOFError, zlib.error, OSError) as error:
        raise FileError(f"{path}: damaged gzip file: {error}") from error


def refuse_nul(path: Path, piece: bytes, start: int) -> None:
    """Refuse a piece of text with NUL bytes, as a crash leaves them in a file that was written."""
    nul_place = piece.find(b"\0")
    if nul_place >= 0:
        raise FileError(
            f"{path}: byte {start + nul_place} is NUL, which no text holds: the file was damaged, "
            "or it is UTF-16 or not text at all"
        )
