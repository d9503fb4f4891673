"""Open a file so that it is safe to parse.

Only regular files are opened: a FIFO or a device is refused before it can block or never end.
Compressed text is unpacked here, up to a limit, so that a small file cannot fill the memory, and a
checksum next to a file is verified.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO
from urllib.parse import unquote

from retrieval_report.contracts.errors import FileError
from retrieval_report.contracts.forks import refuse_fork

MAX_BYTES = 64 * 2**30
"""Most bytes that one compressed file may unpack to, unless the caller passes ``max_bytes``."""
MAX_RATIO = 250
"""Without ``max_bytes``, more than RATIO_FROM bytes must not be this many times the compressed
ones.
"""
RATIO_FROM = 256 * 2**20
CHUNK = 2**22
SMALL_CHUNK = 2**17

_ENDINGS_OF = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".arrows", ".ipc", ".feather"),
    "ndjson": (".jsonl", ".ndjson"),
    "run": (".run", ".res"),
    "trec": (".trec",),
    "qrels": (".qrels", ".qrel"),
}
ENDINGS = {ending: form for form, endings in _ENDINGS_OF.items() for ending in endings}
"""File endings that are taken from a folder, with or without ``.gz``; other endings are read when
named.
"""
_NAMED_ONLY = (
    ".txt",
    ".json",
)  # too common to be taken from a folder, but no part of a model's name
SIDE_FILE = ".sha256"
GZIP = b"\x1f\x8b"
_MODEL_FOLDER = "model="
_COMPRESSED = {
    b"PK\x03\x04": "a zip archive",
    b"(\xb5/\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
}


@dataclass(frozen=True)
class Source:
    """One file whose bytes can be parsed.

    Attributes
    ----------
    path : Path
        The file as the caller named it, for messages and the model name.
    content : Path | bytes
        The path where the file can be parsed in place; its unpacked bytes where it was compressed.
    """

    path: Path
    content: Path | bytes

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

    def chunks(self) -> Iterator[bytes]:
        """Yield all bytes in pieces that stay in the processor's cache."""
        with self.open() as file:
            while chunk := file.read(SMALL_CHUNK):
                yield chunk

    def read(self) -> bytes:
        """Return all bytes."""
        return self.content if isinstance(self.content, bytes) else self.content.read_bytes()


def ending(path: Path) -> str:
    """Return the known ending of a file name in lower case, without ``.gz``, or ''.

    >>> ending(Path("runs/BM25.csv.GZ")), ending(Path("results.test"))
    ('.csv', '')
    """
    suffix = Path(_without(path.name, ".gz")).suffix.lower()
    return suffix if suffix in ENDINGS or suffix in _NAMED_ONLY else ""


def base_name(path: Path) -> str:
    """Return the file name without its known endings: the model name of a file that gives none.

    >>> base_name(Path("runs/bm25.v2.csv.gz")), base_name(Path("results.test"))
    ('bm25.v2', 'results.test')
    """
    name = _without(path.name, ".gz")
    return _without(name, ending(path)) or path.name


def folder_model(path: Path) -> str | None:
    """Return the model that a folder ``model=…`` above the file names, as Spark writes and reads
    them, or None.

    >>> (
    ...     folder_model(Path("runs/model=lsh%3A16/part-0.parquet")),
    ...     folder_model(Path("runs/lsh.parquet")),
    ... )
    ('lsh:16', None)
    """
    named = [folder for folder in path.parts[:-1] if is_model_folder(folder)]
    return unquote(named[-1].removeprefix(_MODEL_FOLDER)) if named else None


def is_model_folder(name: str) -> bool:
    """Return whether a folder of this name names the model of its files."""
    return name.startswith(_MODEL_FOLDER) and len(name) > len(_MODEL_FOLDER)


def _without(name: str, suffix: str) -> str:
    return name[: len(name) - len(suffix)] if suffix and name.lower().endswith(suffix) else name


def open_source(path: Path, max_bytes: int | None = None) -> Source:
    """Check one file and unpack it when it is compressed.

    Parameters
    ----------
    path : Path
        A regular file. Gzip is recognised by its first bytes, not by its name.
    max_bytes : int | None
        Most bytes a compressed file may unpack to. None: `MAX_BYTES`, and at most `MAX_RATIO` bytes
        per compressed byte once there are more than `RATIO_FROM`.

    Raises
    ------
    FileError
        Not there, not a regular file, not permitted, empty, damaged, too large, or different from
        its checksum.
    """
    refuse_fork()
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise FileError(f"{str(path)!a}: the name of the file is not UTF-8; rename it") from None
    if "\0" in str(path):
        raise FileError(f"{str(path)!r}: a null byte is in the name of the file")
    try:
        _check_regular(path)
        _check_side_file(path)
        with path.open("rb") as file:
            start = file.read(8)
            if start[:2] == GZIP:
                file.seek(0)
                return Source(
                    path, _checked(path, _unpack(path, file, path.stat().st_size, max_bytes))
                )
    except OSError as error:
        raise FileError(f"{path}: {error.strerror or error}") from error
    except FileError:
        raise
    except ValueError as error:
        raise FileError(f"{str(path)!r}: {error}") from error
    _checked(path, start)
    return Source(path, path)


def source_of(name: str, content: bytes, max_bytes: int | None = None) -> Source:
    """Return a source for bytes, such as an upload; no file is opened.

    Parameters
    ----------
    name : str
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
    >>> source_of("a.csv.gz", gzip.compress(b"query,item,score"), max_bytes=20).read()
    b'query,item,score'
    >>> source_of("a.csv.gz", gzip.compress(bytes(10_000)), max_bytes=20)
    Traceback (most recent call last):
    retrieval_report.FileError: a.csv.gz: unpacks to more than 20 bytes; if that is right, raise
    max_bytes=
    """
    label = Path(name)
    if content[:2] == GZIP:
        content = _unpack(label, io.BytesIO(content), len(content), max_bytes)
    elif max_bytes is not None and len(content) > max_bytes:
        raise FileError(f"{label}: {len(content)} bytes are more than max_bytes={max_bytes}")
    return Source(label, _checked(label, content))


def _check_regular(path: Path) -> None:
    status = path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise FileError(f"{path}: is a folder, not a file")
    if not stat.S_ISREG(status.st_mode):
        kinds = {
            stat.S_ISFIFO: "a FIFO",
            stat.S_ISCHR: "a device",
            stat.S_ISBLK: "a device",
            stat.S_ISSOCK: "a socket",
        }
        kind = next(
            (name for test, name in kinds.items() if test(status.st_mode)), "of an unknown kind"
        )
        raise FileError(f"{path}: is {kind}; only regular files are read")


def _checked(path: Path, content: bytes) -> bytes:
    if not content:
        raise FileError(f"{path}: the file is empty (0 bytes)")
    if content[:2] == GZIP:
        raise FileError(f"{path}: gzip inside gzip; unpack it once")
    for magic, name in _COMPRESSED.items():
        if content.startswith(magic):
            raise FileError(
                f"{path}: is {name}, which is not unpacked here; unpack it, or use gzip"
            )
    return content


def _check_side_file(path: Path) -> None:
    """Compare the file with ``<name>.sha256`` next to it, as ``sha256sum`` writes it, where there
    is one.
    """
    side = path.with_name(path.name + SIDE_FILE)
    if not side.is_file():
        return
    expected = _listed_sum(side.read_text("utf-8", "replace"), path.name)
    if len(expected) != 64:
        raise FileError(f"{side}: holds no SHA-256 sum for {path.name}")
    with path.open("rb") as file:
        actual = hashlib.file_digest(file, "sha256").hexdigest()
    if actual != expected:
        raise FileError(
            f"{path}: SHA-256 is {actual}, but {side.name} says {expected}; the file is damaged or "
            "was replaced"
        )


def _listed_sum(text: str, name: str) -> str:
    """Find the sum of a file in lines of ``sum  name``, ``sum *name`` or just ``sum``, or return
    ''.
    """
    for line in text.splitlines():
        entry = line.split(maxsplit=1)
        if entry and (len(entry) == 1 or Path(entry[1].strip().removeprefix("*")).name == name):
            return entry[0].lower()
    return ""


def _unpack(path: Path, packed: BinaryIO, size: int, max_bytes: int | None) -> bytes:
    limit = max_bytes
    if limit is None:
        limit = min(MAX_BYTES, max(RATIO_FROM, MAX_RATIO * size))
    unpacked = io.BytesIO()
    try:
        with gzip.open(packed, "rb") as file:
            while chunk := file.read(CHUNK):
                unpacked.write(chunk)
                if unpacked.tell() > limit:
                    raise FileError(
                        f"{path}: unpacks to more than {limit} bytes; if that is right, raise "
                        "max_bytes="
                    )
    except (EOFError, zlib.error, OSError) as error:
        raise FileError(f"{path}: damaged gzip file: {error}") from error
    return unpacked.getvalue()
