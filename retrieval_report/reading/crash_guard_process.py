"""Open Parquet and Arrow files as lazy frames; run as
a program, this file is a reader that may crash safely.

A damaged file can crash the process that reads it: a nonsensical length makes the parser request
2^61 bytes, which no handler can catch. `crash_guard.py` runs this file, which imports nothing from
the package, to try reading first.
"""

import sys
from pathlib import Path

import polars as pl


def scan_binary(content: Path | bytes, form: str, limit: int) -> pl.LazyFrame:
    """Open a Parquet file, an Arrow file or an Arrow
    stream, the latter up to one row above the limit.
    """
    if form == "parquet":
        return pl.scan_parquet(content, glob=False, hive_partitioning=False)
    # Not in place, because that maps the file, and truncating it would then kill this process.
    whole = content if isinstance(content, bytes) else content.read_bytes()
    if form == "arrow":
        return pl.scan_ipc(whole, glob=False, hive_partitioning=False)
    # A stream does not say how long it is; one row too many is enough to refuse it.
    return pl.read_ipc_stream(whole, n_rows=limit + 1).lazy()


def size_in_memory(content: bytes, form: str, limit: int) -> int:
    """Decode all columns, batch by batch; return the
    bytes they take, or 0 if there are too many rows.
    """
    frame = scan_binary(content, form, limit)
    if frame.select(pl.len()).collect().item() > limit:
        return 0
    return sum(int(batch.estimated_size()) for batch in frame.collect_batches())


if __name__ == "__main__":  # pragma: no cover - in another process
    size = size_in_memory(sys.stdin.buffer.read(), sys.argv[1], int(sys.argv[2]))
    sys.stdout.write(str(size))
