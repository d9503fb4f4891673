"""Compare the pages of a Parquet file with what the file says of them, as Polars does not: their
checksums, and how many values they hold.

Headers are structures of Thrift's compact protocol (parquet.thrift of the Parquet format), read
here by the numbers of their fields. What cannot be read is left for the reader to refuse.
"""

import zlib
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

from retrieval_report.contracts.errors import FileError

MOST_METADATA = 2**24  # bytes; whoever has more at the end of a file is not checked
HEADER = 2**13  # bytes that nearly every header of a page fits into
DATA_PAGES = {0: 5, 3: 8}  # kind of a page → the field of its header that counts its values
DICTIONARIES = {2, 8}  # encodings that need a page before the data
Fields = dict[int, Any]


class _Thrift(BytesIO):
    """A reader of structures in bytes."""

    def byte(self) -> int:
        return self.read(1)[0]

    def varint(self) -> int:
        result = shift = 0
        while (byte := self.byte()) >= 128:
            result |= (byte & 127) << shift
            shift += 7
        return result | byte << shift

    def integer(self) -> int:
        number = self.varint()
        return number >> 1 ^ -(number & 1)

    def taken(self, size: int) -> bytes:
        taken = self.read(min(size, MOST_METADATA))
        if len(taken) < size:
            raise IndexError
        return taken

    def listed(self) -> list[Any]:
        head = self.byte()
        size = head >> 4 if head >> 4 < 15 else self.varint()
        kind = head & 15
        return [self.byte() if kind in (1, 2) else self.value(kind) for _ in range(size)]

    def value(self, kind: int) -> Any:
        if kind in (1, 2):
            return kind == 1
        if kind in (4, 5, 6):
            return self.integer()
        if kind == 8:
            return self.taken(self.varint())
        if kind in (9, 10):
            return self.listed()
        if kind == 12:
            return self.fields()
        return self.taken({3: 1, 7: 8}[kind])

    def fields(self) -> Fields:
        values = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.integer()
            values[number] = self.value(head & 15)
        return values


def check_pages(path: Path, file: BinaryIO) -> None:
    """Refuse a file of which a page fails its checksum,
    or holds other numbers of values than the file says.

    Raises
    ------
    FileError
        Such a page.
    """
    try:
        end = file.seek(-8, 2)
        size = int.from_bytes(file.read(4), "little")
        if size > min(MOST_METADATA, end):
            return
        file.seek(end - size)
        for group in _Thrift(file.read(size)).fields()[4]:
            for chunk in group[1]:
                if 1 not in chunk:  # its pages are in another file
                    _check_chunk(path, file, chunk[3], end)
    except FileError:
        raise
    except (OSError, IndexError, KeyError, TypeError, ValueError, RecursionError):
        return


def _check_chunk(path: Path, file: BinaryIO, column: Fields, end: int) -> None:
    values, first = column[5], column[9]
    at = start = min(column.get(11) or first, first)
    where = f"{path}: damaged file: column {b'.'.join(column[3]).decode()!r}"
    values_read = 0
    while values_read < values:
        header, at = _header(file, at)
        size = header[3]
        if not 0 <= size <= end - at:
            raise ValueError
        if 4 in header:
            file.seek(at)
            if zlib.crc32(file.read(size)) != header[4] & 0xFFFFFFFF:
                raise FileError(f"{where} has a page whose checksum is wrong")
        if header[1] in DATA_PAGES:
            values_read += header[DATA_PAGES[header[1]]][1]
        at += size
    # Some writers do not say where the dictionary is, so that the end is not known.
    ended = start < first or DICTIONARIES.isdisjoint(column[2])
    more = bool(values) and ended and at < start + column[7]
    if values_read > values or more:
        raise FileError(f"{where} holds more values than the {values} that the file says it has")


def _header(file: BinaryIO, at: int) -> tuple[Fields, int]:
    """Return the header of a page, and where the page begins."""
    for size in (HEADER, MOST_METADATA):
        file.seek(at)
        reader = _Thrift(file.read(size))
        try:
            return reader.fields(), at + reader.tell()
        except IndexError:  # it is longer, or the file is
            if size == MOST_METADATA:
                raise
    raise AssertionError  # pragma: no cover
