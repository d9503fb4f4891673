"""Open Parquet and Arrow files as lazy frames; run as a program, this file is a reader that may
crash safely.

A damaged file can crash the process that reads it: a nonsensical length makes the parser request
2^61 bytes, which no handler can catch. `trial.py` runs this file, which imports nothing from the
package, to try reading first.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl


def scan_binary(content: Path | bytes, form: str, limit: int) -> pl.LazyFrame:
    """Open a Parquet file, an Arrow file or an Arrow stream, the latter up to one row above the
    limit.
    """
    if form == "parquet":
        return pl.scan_parquet(content, glob=False, hive_partitioning=False)
    if form == "arrow":
        # Not in place, because that maps the file, and truncating it would then kill this process.
        whole = content if isinstance(content, bytes) else content.read_bytes()
        return pl.scan_ipc(whole, glob=False, hive_partitioning=False)
    # A stream does not say how long it is; one row too many is enough to refuse it.
    if isinstance(content, bytes):
        return pl.read_ipc_stream(content, n_rows=limit + 1).lazy()
    with content.open("rb") as file:
        return pl.read_ipc_stream(file, n_rows=limit + 1).lazy()


def _answer(request: dict[str, Any], frame: pl.LazyFrame) -> dict[str, Any]:
    """Decode the columns asked for, batch by batch, so that it takes little memory."""
    rows = frame.select(pl.len()).collect().item()
    size = 0
    if rows <= request["limit"]:
        for batch in frame.select(request["columns"]).collect_batches():
            size += int(batch.estimated_size())
    return {"rows": rows, "bytes": size}


def _serve(requests: BinaryIO) -> None:
    """Answer requests, a line of JSON each: first one for the names of the columns, then one to
    read some of them.
    """
    frame = pl.LazyFrame()
    while line := requests.readline():
        request = json.loads(line)
        try:
            if "form" in request:
                content = (
                    requests.read(request["size"])
                    if request["path"] is None
                    else Path(request["path"])
                )
                frame = scan_binary(content, request["form"], request["limit"])
                answer: dict[str, Any] = {"names": frame.collect_schema().names()}
            else:
                answer = _answer(request, frame)
        except (
            Exception,
            pl.exceptions.PanicException,
        ) as error:  # whatever it is, the caller is told
            answer = {"error": next(iter(str(error).strip().splitlines()), type(error).__name__)}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":  # pragma: no cover - in another process
    if sys.platform != "win32":
        import resource

        resource.setrlimit(
            resource.RLIMIT_CORE, (0, 0)
        )  # a death that is expected leaves no core file
    _serve(sys.stdin.buffer)
