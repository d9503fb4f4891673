"""Detect the format of a file by its content; its ending only helps if the content is ambiguous."""

from __future__ import annotations

import codecs
import re

from retrieval_report.contracts.errors import FileError
from retrieval_report.reading.sources import ENDINGS, Source, ending

Format = str
"""One of 'parquet', 'arrow', 'arrow stream', 'ndjson', 'run', 'qrels', 'csv', 'tsv'."""

BOM = b"\xef\xbb\xbf"
_NUMBER = re.compile(
    r"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|nan|inf|infinity)$", re.IGNORECASE
)
_INTEGER = re.compile(r"[+-]?\d+$")
_READ = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow stream"}
BINARY = tuple(_READ.values())
_NOT_READ = {
    b"\x89PNG\r\n": "a picture (PNG), not a table",
    b"\xff\xd8\xff": "a picture (JPEG), not a table",
    b"GIF8": "a picture (GIF), not a table",
    b"%PDF-": "a PDF document, not a table",
    b"PK\x03\x04": "a zip archive; unpack it, or use gzip",
    b"(\xb5/\xfd": "compressed by zstd; unpack it, or use gzip",
    b"BZh": "compressed by bzip2; unpack it, or use gzip",
    b"\xfd7zXZ": "compressed by xz; unpack it, or use gzip",
    b"\x1f\x8b": "gzip inside gzip; unpack it once",
    b"PARE": "encrypted Parquet, which is not read",
    b"FEA1": "Feather 1, which is not read; write Feather 2 (Arrow)",
    b"Obj\x01": "Avro, which is not read",
    b"ORC": "ORC, which is not read",
    b"\xff\xfe": "not UTF-8 but UTF-16 or UTF-32; save it as UTF-8",
    b"\xfe\xff": "not UTF-8 but UTF-16; save it as UTF-8",
    b"\x00\x00\xfe\xff": "not UTF-8 but UTF-32; save it as UTF-8",
}


def detect_format(source: Source) -> Format:
    """Return the format in which a file is to be parsed.

    Parquet and Arrow are recognised by their magic bytes, NDJSON by its opening brace, TREC files
    by a first line of 4 (qrels) or at least 6 (run) fields with numbers in the right columns. The
    rest is delimited text, for which the ending, or else the header, decides between comma and tab.

    Raises
    ------
    FileError
        The bytes are UTF-16, an unsupported container, or not what a binary ending promises.
    """
    head = source.head()
    if binary := _binary_format(source, head):
        return binary
    _refuse_other_encodings(source, head)
    promised = ENDINGS.get(ending(source.path), "")
    line = _first_line(head)
    if line.startswith("{"):
        return "ndjson"
    if promised == "ndjson" or line.startswith("[{"):
        raise FileError(
            f"{source.path}: is not NDJSON (one JSON object per line); it begins {line[:40]!r}"
        )
    return _trec_format(line, promised) or _delimited_format(source, line, promised)


def _binary_format(source: Source, head: bytes) -> Format | None:
    for start, form in _READ.items():
        if head.startswith(start):
            return form
    for start, what in _NOT_READ.items():
        if head.startswith(start):
            raise FileError(f"{source.path}: is {what}")
    promised = ENDINGS.get(ending(source.path))
    if promised in BINARY and (b"\x00" in head or not _is_text(head)):
        raise FileError(
            f"{source.path}: is not in {promised} format (it begins {head[:8]!r}); damaged or "
            "misnamed"
        )
    return None


def _is_text(head: bytes) -> bool:
    """Return whether the bytes are UTF-8, apart from an incomplete character at the end."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _refuse_other_encodings(source: Source, head: bytes) -> None:
    newline = head.find(b"\n")
    if b"\x00" in head[: newline if newline >= 0 else None]:
        raise FileError(
            f"{source.path}: NUL bytes in the first line; UTF-16 without a mark, or not text at all"
        )
    if newline < 0 and b"\r" in head:
        raise FileError(
            f"{source.path}: lines end in CR only (old Macintosh); end them in LF or CRLF"
        )


def _first_line(head: bytes) -> str:
    """Return the first line that is neither blank nor a comment, or ''."""
    for line in head.removeprefix(BOM).decode("utf-8", "replace").split("\n"):
        if line.strip() and not line.lstrip().startswith("#"):
            return line.strip()
    return ""


def _trec_format(line: str, promised: str) -> Format | None:
    fields = line.split()
    if len(fields) >= 6 and _NUMBER.match(fields[4]):
        return "run"
    if len(fields) == 4 and _INTEGER.match(fields[3]):
        return "qrels"
    if promised not in ("run", "qrels", "trec") or "," in line:
        return None
    return ("run" if len(fields) >= 5 else "qrels") if promised == "trec" else promised


def _delimited_format(source: Source, line: str, promised: str) -> Format:
    if promised in ("csv", "tsv"):
        return promised
    if "," in line:
        return "csv"
    if "\t" in line:
        return "tsv"
    if len(line.split()) > 1 and ";" not in line and "|" not in line:
        raise FileError(
            f"{source.path}: neither a table with a header nor a TREC file; the first line is "
            f"{line[:80]!r}. "
            "A run has 'query Q0 item rank score tag' per line, qrels have 'query 0 item relevance'"
        )
    return "csv"
