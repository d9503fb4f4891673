"""Identify the data of a report by sizes and a hash of
the content that does not depend on the file format.
"""

import hashlib

import polars as pl

from retrieval_report.contracts.columns import Frames
from retrieval_report.contracts.registry import schema

SLICE = 500_000  # rows that are turned into text at a time
COUNTED = {
    "models": "model",
    "queries": "query",
    "items": "item",
    "distances": "distance score",
}


def content_hash(frame: pl.DataFrame) -> str:
    r"""Return the SHA-256 of a frame as UTF-8 CSV text:
    header, rows in the order received, every digit, ``\n``.

    The same rows from CSV, Parquet or a data frame have the same hash if their columns have the
    same order and types.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"query": ["q"], "distance": [0.5]})
    >>> content_hash(frame) == hashlib.sha256(b"query,distance\nq,0.5\n").hexdigest()
    True
    """
    digest = hashlib.sha256(frame.clear().write_csv().encode())
    for part in frame.iter_slices(SLICE):
        digest.update(part.write_csv(include_header=False).encode())
    return digest.hexdigest()


def fingerprint(frames: Frames) -> pl.DataFrame:
    """Return sizes and hash of every frame: ``frame``,
    ``rows``, ``models``, … (null: no such column), ``sha256``.

    Examples
    --------
    >>> import polars as pl
    >>> rankings = pl.DataFrame({"query": ["p", "q"], "item": ["a", "a"], "distance": [1, 1]})
    >>> fingerprint({"rankings": rankings}).drop("sha256").row(0)
    ('rankings', 2, None, 2, 1, 1)
    """
    rows = []
    for name, frame in frames.items():
        sizes = {"frame": name, "rows": frame.height}
        for count, columns in COUNTED.items():
            present = [column for column in columns.split() if column in frame]
            sizes[count] = frame[present[0]].n_unique() if present else None
        rows.append({**sizes, "sha256": content_hash(frame)})
    return pl.DataFrame(rows, schema=schema("fingerprint"))
