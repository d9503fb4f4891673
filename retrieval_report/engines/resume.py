"""Keep the scores of finished parts on disk, so that
an interrupted run continues after the last of them.
"""

import hashlib
import io
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

import numpy as np
import polars as pl

from retrieval_report.contracts.errors import OutputError
from retrieval_report.contracts.options import Options
from retrieval_report.engines.disk_tables import Table
from retrieval_report.engines.score_parts import Keep, Work
from retrieval_report.metrics.parsing import Requests
from retrieval_report.reading.binary import naming
from retrieval_report.reading.frames import to_polars
from retrieval_report.scoring.scorer import ARRAYS, ListScores
from retrieval_report.writing.files import write_files

RUN = "run.sha256"  # of everything that decides the scores of a part
FRAMES = ("lists", "columns")  # of `ListScores`, whose other fields are arrays
NO_EFFECT = ("threads", "progress")  # options that do not affect scores


def keeping(
    folder: Path,
    table: Table,
    judgements: object,
    queries: object,
    requests: Requests,
    options: Options,
) -> Keep:
    """Return a wrapper for work on parts that stores
    finished scores in a folder and reads them from there.

    Raises
    ------
    OutputError
        The folder holds something else, or parts of a run whose inputs or settings were different.
    """
    request_texts = [(str(metric), cutoffs) for metric, cutoffs in requests]
    settings = {name: value for name, value in asdict(options).items() if name not in NO_EFFECT}
    # Polars' hashes divide the rows.
    inputs = hashlib.sha256(repr((pl.__version__, request_texts, settings)).encode())
    for name, frame in {"judgements": judgements, "queries": queries}.items():
        inputs.update(b"none" if frame is None else _ipc(to_polars(frame, name)))
    for file in table.files:
        inputs.update(file.frame.explain(optimized=False).encode())
        with naming(file.path), file.path.open("rb") as content:
            inputs.update(hashlib.file_digest(content, "sha256").digest())

    def keep(work: Work, rows: Sequence[int]) -> Work:
        inputs.update(repr(tuple(rows)).encode())
        if not folder.exists() or not any(folder.iterdir()):
            write_files({folder / RUN: inputs.hexdigest().encode()})
        run = folder / RUN
        if not run.is_file() or run.read_bytes() != inputs.hexdigest().encode():
            raise OutputError(
                f"cannot resume from '{folder}': it has no finished parts of this run, or "
                "rankings, frames, arguments or versions changed since; remove it to start again"
            )
        return lambda number: _scored(folder / f"part-{number:06}.npz", lambda: work(number))

    return keep


def _scored(path: Path, work: Callable[[], ListScores]) -> ListScores:
    """Return the scores stored in a file, or compute and store them."""
    # It may be missing, or the disk may have damaged it.
    with (
        suppress(OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile),
        np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored,
    ):
        lists, columns = (pl.read_ipc_stream(stored[name].tobytes()) for name in FRAMES)
        return ListScores(lists, columns, *(stored[name] for name in ARRAYS))
    scores = work()
    buffer = io.BytesIO()
    arrays = {name: getattr(scores, name) for name in ARRAYS}
    arrays |= {name: np.frombuffer(_ipc(getattr(scores, name)), np.uint8) for name in FRAMES}
    np.savez(buffer, **arrays)
    write_files({path: buffer.getvalue()})
    return scores


def _ipc(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.rechunk().write_ipc_stream(buffer)
    return buffer.getvalue()
