"""Damaged files and odd texts of metrics, each made from a number: they are read, or refused by an
error of ours.
"""

import gzip
import io
import pickle
import random
import tempfile
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
from scipy.io import savemat

import retrieval_report as rr
from catalogue_texts import TEXTS
from retrieval_report.codes.files import load_codes
from retrieval_report.metrics.parsing import parse_metrics
from retrieval_report.reading.crash_guard import try_first
from retrieval_report.reading.formats import detect_format
from retrieval_report.reading.sources import BINARY, open_source

Random = random.Random

FRAME = pl.DataFrame(
    {"model": list("mmnn"), "query": list("qrqr"), "item": list("abab"), "distance": [0.5, 1, 1, 2]}
).with_columns(relevance=pl.Series([1, 0, 0, 1]))
PIECES = (
    *(
        b"",
        b"\0",
        b"\r",
        b"\n",
        b'"',
        b",",
        b"\t",
        b" ",
        b"{",
        b"[",
        b"}",
        b"nan",
        b"-inf",
        b"1e400",
        b"1e-400",
        b"-0",
    ),
    *(
        b"9" * 30,
        b"0x1",
        b"\xff\xfe",
        b"\xef\xbb\xbf",
        b"\x1f\x8b",
        b"PAR1",
        b"ARROW1",
        b"\xed\xa0\x80",
        b"null",
    ),
    *(b"\xe2\x80\xa8", b"query,item", b"'='", b"\xff" * 4, b"\x7f" * 8),
)
MARKS = (
    *"(),@=. -_+*/#%\0é\u202e'\"",
    "all",
    "1e400",
    "-1",
    "99999999999999999999",
    "nan",
    "k",
    "total",
    "exp2",
)


def _bytes(write: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def _run() -> bytes:
    rows = enumerate(FRAME.iter_rows(named=True))
    return "".join(
        f"{row['query']} Q0 {row['item']} {rank} {row['distance']} m\n" for rank, row in rows
    ).encode()


def _zipped(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()


def _gzipped(content: bytes) -> bytes:
    return gzip.compress(content, 1, mtime=0)


_OBJECTS = np.array([{"codes": 1}, None], dtype=object)

FORMATS: dict[str, bytes] = {
    "csv": FRAME.write_csv().encode(),
    "tsv": FRAME.write_csv(separator="\t").encode(),
    "jsonl": FRAME.write_ndjson().encode(),
    "json": b'{"q": {"a": 1.5, "b": 2}, "r": {"a": 1, "b": 0.5}}',
    "run": _run(),
    "qrels": b"q 0 a 1\nq 0 b 0\nr 0 a 2\n",
    "csv.gz": gzip.compress(FRAME.write_csv().encode(), mtime=0),
    "parquet": _bytes(FRAME.write_parquet),
    "arrow": _bytes(FRAME.write_ipc),
    "stream.arrow": _bytes(FRAME.write_ipc_stream),
    "npz": _bytes(lambda file: np.savez(file, codes=np.eye(4, dtype=np.int8), labels=np.arange(4))),
    "search.npz": _bytes(lambda file: np.savez(file, D=np.eye(4), I=np.tile(np.arange(4), (4, 1)))),
    "mat": _bytes(lambda file: savemat(file, {"codes": np.eye(4), "labels": np.arange(4)})),
    "npy": _bytes(lambda file: np.save(file, np.eye(4, dtype=np.int8))),
    "objects.npy": _bytes(lambda file: np.save(file, _OBJECTS, allow_pickle=True)),
    "objects.npz": _bytes(lambda file: np.savez(file, codes=_OBJECTS)),
    "pkl": pickle.dumps(FRAME.to_dict(as_series=False)),
    "zip": _zipped("a.csv", FRAME.write_csv().encode()),
}
INSIDE: dict[str, Callable[[bytes], bytes]] = {
    "npy in npz": lambda content: _zipped("codes.npy", content),
    **{
        f"{name} in gz": _gzipped
        for name in (
            "csv",
            "tsv",
            "jsonl",
            "json",
            "run",
            "qrels",
            "parquet",
            "arrow",
            "stream.arrow",
        )
    },
}
"""What is damaged before it is packed, so that the damage is unpacked too; after "in", the
ending.
"""
ALL = (*FORMATS, *INSIDE)


def damaged(data: bytes, draw: Random) -> bytes:
    """A few bytes changed, cut, repeated or put in."""
    for _ in range(draw.choice((1, 1, 1, 2, 4))):
        at, upto = sorted(draw.randrange(len(data) + 1) for _ in range(2))
        way = draw.randrange(6)
        if way == 0 and data:
            at = min(at, len(data) - 1)
            data = data[:at] + bytes([data[at] ^ 1 << draw.randrange(8)]) + data[at + 1 :]
        elif way == 1:
            data = data[:at] + data[upto:]
        elif way == 2:
            data = data[:upto] + data[at:]
        elif way == 3:
            data = data[:at]
        else:
            data = data[:at] + draw.choice(PIECES) + data[at + (way == 5) * draw.randrange(4) :]
    return data


def fuzz_file(name: str, number: int, folder: Path) -> str:
    """Read one damaged file of a format: "read" or "refused"; whatever else is raised is a
    fault.
    """
    inner = name.partition(" in ")[0]
    data = damaged(FORMATS[inner], Random(f"{name} {number}"))
    if name in INSIDE:
        data = INSIDE[name](data)
    path = folder / f"fuzz.{name.replace(' in ', '.')}"
    path.write_bytes(data)
    read = rr.read_judgements if inner == "qrels" else rr.read_rankings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rr.RetrievalReportWarning)
        try:
            if name.endswith(("npy", "npz", "mat")) and name != "search.npz":
                load_codes(path)
            else:
                source = open_source(path, 2**24)
                if (form := detect_format(source)) in BINARY.values():
                    try_first(source, form, 10**6, 2**30)
                read(path, max_bytes=2**24, max_rows=10**6)
        except rr.RetrievalReportError:
            return "refused"
    return "read"


def fuzz_metric(number: int) -> str:
    """Parse one odd text; what is read prints as a text that reads as the same metric."""
    draw = Random(number)
    text = draw.choice(TEXTS) + draw.choice(("", "@5", "@all", ",rr@2"))
    for _ in range(draw.choice((0, 1, 1, 2, 5))):
        at, upto = sorted(draw.randrange(len(text) + 1) for _ in range(2))
        text = (
            text[:at]
            + draw.choice((*MARKS, text[at:upto], *TEXTS[:5]))
            + text[draw.choice((at, at, upto)) :]
        )
    try:
        found = parse_metrics(text, [3])
    except rr.RetrievalReportError:
        return "refused"
    for metric, cutoffs in found:
        assert parse_metrics(str(metric), list(cutoffs)) == [(metric, cutoffs)], text
    return "read"


def fuzz_folder() -> tempfile.TemporaryDirectory[str]:
    """Where damaged files are written."""
    return tempfile.TemporaryDirectory(prefix="fuzz-")
