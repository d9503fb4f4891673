"""The formats of files: how each is recognised by its content, and what reads it.

The ending of a name only helps if the content is ambiguous.
"""

import re
from collections.abc import Callable
from functools import partial

import polars as pl

from retrieval_report.contracts.errors import FileError
from retrieval_report.contracts.warning import warn
from retrieval_report.reading.binary import read_binary
from retrieval_report.reading.csv_files import read_delimited
from retrieval_report.reading.headerless import UNNAMED_FORMS, unnamed_form
from retrieval_report.reading.mteb import read_json
from retrieval_report.reading.named_arrays import read_arrays
from retrieval_report.reading.names import RANKINGS, Choose, Kind
from retrieval_report.reading.ndjson import read_ndjson
from retrieval_report.reading.sources import BINARY, BOM, ENDINGS, Source, ending
from retrieval_report.reading.trec import QRELS_FIELDS, RUN_FIELDS, read_trec

# What reads a text of objects under our names.
OBJECTS: dict[str, Callable[[Source, Choose, Kind], pl.DataFrame]] = {
    "json": read_json,
    "ndjson": read_ndjson,
}
# What reads a text of lines under our names.
READERS: dict[str, Callable[[Source, Choose], pl.DataFrame]] = {
    "run": partial(read_trec, fields=RUN_FIELDS),
    "qrels": partial(read_trec, fields=QRELS_FIELDS),
    **{form: partial(read_trec, fields=fields) for form, fields in UNNAMED_FORMS.items()},
    "csv": partial(read_delimited, separator=","),
    "tsv": partial(read_delimited, separator="\t"),
}
ARRAYS = "a NumPy archive"
HEAD = 2**16  # bytes by which a format is recognised
_NUMBER = r"[+-]?(?i:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|nan|inf|infinity)"
# How texts begin, apart from blank lines and comments; the first that fits is the format.
_BEGIN = {
    "json": re.compile(
        r'\[\s*[\]{]|\[\s*\[\s*[{[]|\{\s*"(?:[^"\\]|\\.)*"\s*:\s*(?:\{|\[(?![^\n]*\}\s*(?:\n|$)))|\{[ \t\r]*\n'
    ),
    "ndjson": re.compile(r"\{"),
    "run": re.compile(
        rf"(?:\S+[^\S\n]+){{4}}(?:{_NUMBER}|[+-]?\d[\d.,]*)[^\S\n]+\S"
        # with a score that is no number, or without a tag, which its reader refuses
        rf"|\S+[^\S\n]+[Qq]0[^\S\n]+\S+[^\S\n]+\d+[^\S\n]+\S+[^\S\n]+\S"
        rf"|\S+[^\S\n]+[Qq]0[^\S\n]+\S+[^\S\n]+\d+[^\S\n]+{_NUMBER}[^\S\n]*(?:\n|$)"
    ),
}
# How qrels begin; grades may have a fraction where the second field is 0.
_QRELS = re.compile(
    rf"(?:\S+[^\S\n]+){{3}}[+-]?\d+[^\S\n]*(?:\n|$)|\S+[^\S\n]+[Qq]?0[^\S\n]+\S+[^\S\n]+{_NUMBER}\s"
)
_NOT_READ = {
    b"\x89HDF\r\n\x1a\n": "an HDF5 file; save its table as Parquet or CSV",
    b"\xd0\xcf\x11\xe0": "an old Office file, such as .xls; save the sheet as CSV",
    b"\x93NUMPY": "one NumPy array (.npy); save distances and indices in one archive (.npz), by "
    "these names, and pass vectors to from_embeddings in Python",
    b"MATLAB": "a MATLAB file; the command codes reads codes, and other tables are read as CSV",
    b"FEA1": "in the first version of Feather; save it as Parquet",
    b"$FL2": "an SPSS file; save its table as CSV",
    b"RDX": "a workspace of R; save its table as CSV",
    b"\x89PNG": "a PNG picture, which holds no rows to read",
    b"\xff\xd8\xff": "a JPEG picture, which holds no rows to read",
    b"SQLite format 3": "an SQLite database; save the table as Parquet or CSV",
    b"ORC": "in ORC format; save it as Parquet",
    b"Obj\x01": "in Avro format; save it as Parquet",
    b"%PDF": "a PDF document",
    b"version https://git-lfs": "a pointer of Git LFS, not the data; fetch them by git lfs pull",
    b"PK\x03\x04": "a zip archive, or an .xlsx; unpack it, or save the sheet as CSV",
    b"PK\x05\x06": "an empty zip archive",
    b"\x04\x22\x4d\x18": "compressed by lz4; unpack it, or use gzip",
    b"7z\xbc\xaf": "a 7z archive; unpack it, or use gzip",
    b"Rar!": "a RAR archive; unpack it, or use gzip",
    b"(\xb5/\xfd": "compressed by zstd; unpack it, or use gzip",
    b"BZh": "compressed by bzip2; unpack it, or use gzip",
    b"\xfd7zXZ": "compressed by xz; unpack it, or use gzip",
    b"\x1f\x8b": "gzip inside gzip; unpack it once",
    b"\xff\xfe": "not UTF-8 but UTF-16 or UTF-32; save it as UTF-8",
    b"\xfe\xff": "not UTF-8 but UTF-16; save it as UTF-8",
    b"\x00\x00\xfe\xff": "not UTF-8 but UTF-32; save it as UTF-8",
}


_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_PAGE = re.compile(rb"(?i)\s*(?:<!doctype html|<html)")
_ZIPPED = {
    b"xl/": "an Excel workbook; save the sheet as CSV",
    b"content.xml": "an OpenDocument file; save the sheet as CSV",
    b"data.pkl": "a file of PyTorch, which is not read because it can run any code; save its tensors "
    "as .npz",
}


def read_form(
    source: Source, form: str, choose: Choose, max_rows: int | None = None, kind: Kind = RANKINGS
) -> pl.DataFrame:
    """Read columns of a file of a known format under our names; objects hold those of a kind."""
    if form in BINARY.values():
        return read_binary(source, form, choose, kind, max_rows)
    if form == ARRAYS:
        return read_arrays(source, choose, kind)
    source.refuse_nul()
    objects = OBJECTS.get(form)
    frame = READERS[form](source, choose) if objects is None else objects(source, choose, kind)
    whole = form == "json" or (form == "ndjson" and b"\n" not in source.head())
    if not whole and source.last_byte() != b"\n":
        warn(
            f"{source.path}: no newline at the end; the file may have been truncated while it was "
            "written"
        )
    return frame


def detect_format(source: Source) -> str:
    r"""Return the format in which a file is to be parsed, a key of `READERS` or `OBJECTS`, a value
    of `BINARY`, or `ARRAYS`.

    Parquet, Arrow and archives of NumPy are recognised by their magic bytes, JSON by how it begins,
    TREC files by a first line of 4 (qrels) or at least 6 (run) fields with numbers in the right
    columns. The rest is delimited text, for which the ending, or else the header, decides between
    comma and tab.

    Raises
    ------
    FileError
        The bytes are UTF-16, an unsupported container, or not what a binary ending promises.

    Examples
    --------
    >>> from pathlib import Path
    >>> detect_format(Source(Path("a"), b'{"q1": {"d1": 0.5}}'))
    'json'
    >>> detect_format(Source(Path("a"), b'{"query": "q1", "item": "d1", "score": 1}'))
    'ndjson'
    """
    head = source.head()
    path = source.path
    promised = ENDINGS.get(ending(path), "")
    for start, form in BINARY.items():
        if head.startswith(start):
            return form
    first_name = head[30 : 30 + int.from_bytes(head[26:28], "little")]
    if head.startswith(b"PK\x03\x04") and first_name.endswith(b".npy"):  # as numpy.savez writes
        return ARRAYS
    _refuse_other_contents(source, head, promised)
    # from the first line on that is neither blank nor a comment
    text = head.removeprefix(BOM).decode("utf-8", "replace")
    text = re.sub(r"\A(?:\s*#[^\n]*(?:\n|\Z))*\s*", "", text)
    recognised = next((form for form, begin in _BEGIN.items() if begin.match(text)), None)
    recognised = recognised or unnamed_form(text, whole=len(head) < HEAD)
    if recognised is None and _QRELS.match(f"{text}\n" if len(head) < HEAD else text):
        recognised = "qrels"
    if recognised is not None:
        return recognised
    line = text.split("\n", 1)[0].strip()
    if promised == "ndjson" or line.startswith("[{"):
        raise FileError(
            f"{path}: is not NDJSON (one JSON object per line); it begins {line[:40]!r}"
        )
    fields = len(line.split())
    if promised == "trec":
        promised = "run" if fields >= 5 else "qrels"
    if promised in ("csv", "tsv") or (promised in (*READERS, *OBJECTS) and "," not in line):
        return promised
    if fields > 1 and not {",", "\t", ";", "|"} & {*line}:
        raise FileError(
            f"{path}: neither a table with a header nor a TREC file; the first line is "
            f"{line[:80]!r}. A run has 'query Q0 item rank score tag' per line, qrels have "
            "'query 0 item relevance'"
        )
    return "tsv" if "\t" in line and "," not in line else "csv"


def _refuse_other_contents(source: Source, head: bytes, promised: str) -> None:
    """Refuse what is no text that is read here."""
    for start, what in _NOT_READ.items():
        if head.startswith(start):
            inside = (text for name, text in _ZIPPED.items() if start[:2] == b"PK" and name in head)
            raise FileError(f"{source.path}: is {next(inside, what)}")
    first, newline, _ = head.partition(b"\n")
    faults = {
        "is a pickle, which is not read because it can run any code; save the data as Parquet, CSV "
        "or JSON": _PICKLE.match(head),
        "is a web page, not the data; download the raw file": _PAGE.match(head),
        "is a DuckDB database; save the table as Parquet or CSV": head[8:12] == b"DUCK",
        "is a tar archive; unpack it, and name the files inside": head[257:262] == b"ustar",
        f"is not in {promised} format (it begins {head[:8]!r}); damaged or misnamed": (
            promised in BINARY.values() and b"\x00" in head
        ),
        "NUL bytes in the first line; UTF-16 without a mark, or not text at all": b"\x00" in first,
        "lines end in CR only (old Macintosh); end them in LF or CRLF": (
            b"\r" in first and not newline
        ),
    }
    for fault, is_there in faults.items():
        if is_there:
            raise FileError(f"{source.path}: {fault}")
