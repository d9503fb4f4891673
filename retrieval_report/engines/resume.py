"""Keep the scores of finished parts on disk, so that an interrupted run continues after the last of
them.
"""

from __future__ import annotations

import hashlib
import io
import json
import warnings
import zipfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from retrieval_report.contracts.errors import OutputError, ParameterError
from retrieval_report.contracts.options import Options
from retrieval_report.contracts.warning import warn
from retrieval_report.engines.disk_tables import Table
from retrieval_report.engines.score_parts import Keep, Work
from retrieval_report.metrics.parsing import Requests
from retrieval_report.reading.binary import naming
from retrieval_report.reading.frames import to_polars
from retrieval_report.scoring.scores import ARRAYS, ListScores
from retrieval_report.writing.files import write_files

Facts = dict[
    str, Any
]  # everything that decides the scores of a part; kept parts are valid while it is the same

RUN = "run.json"
FRAMES = ("lists", "columns")  # of `ListScores`, whose other fields are arrays
NO_EFFECT = ("threads", "progress")  # options that do not affect scores


def facts_of(
    table: Table, judgements: object, queries: object, requests: Requests, options: Options
) -> Facts:
    """Return hashes of all inputs, the settings, and the version of Polars, whose hashes divide the
    rows.

    Raises
    ------
    ParameterError
        The rankings are not files, and only files can be checked later.
    """
    facts: Facts = {"version of polars": pl.__version__}
    facts["metrics"] = [[str(metric), list(cutoffs)] for metric, cutoffs in requests]
    for number, file in enumerate(table.files, 1):
        if file.path is None:
            raise ParameterError("resume: is for rankings in files")
        columns = [f"{name}: {column}" for name, column in file.columns.items()]
        facts[f"'{file.path.name}' (file {number})"] = [_hash_of(file.path), file.model, *columns]
    for name, frame in {"judgements": judgements, "queries": queries}.items():
        facts[name] = (
            None if frame is None else hashlib.sha256(_ipc(to_polars(frame, name))).hexdigest()
        )
    return facts | {
        name: repr(value) for name, value in asdict(options).items() if name not in NO_EFFECT
    }


def keeping(folder: Path, facts: Facts) -> Keep:
    """Return a wrapper for work on parts that stores finished scores in a folder and reads them
    from there.

    Raises
    ------
    OutputError
        The folder holds something else, or parts of a run whose inputs or settings were different.
    """

    def keep(work: Work, rows: Sequence[int]) -> Work:
        _check(folder, {**facts, "rows of the parts": list(rows)})
        return lambda number: _scored(folder / f"part-{number:06}.npz", lambda: work(number))

    return keep


def _check(folder: Path, facts: Facts) -> None:
    """Refuse a folder whose parts are not those of this run; create it if there is none."""
    if not folder.exists() or not any(folder.iterdir()):
        write_files({folder / RUN: json.dumps(facts, indent=1).encode()})
        return
    try:
        kept = json.loads((folder / RUN).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise OutputError(
            f"cannot resume from '{folder}': it is not a folder of finished parts"
        ) from error
    differ = [
        name for name in {**facts, **kept} if name not in kept or facts.get(name) != kept[name]
    ]
    if differ:
        raise OutputError(
            f"cannot resume from '{folder}': {', '.join(differ[:5])} changed since; remove the "
            "folder to start again"
        )


def _scored(path: Path, work: Callable[[], ListScores]) -> ListScores:
    """Return the scores stored in a file, or compute and store them. Warnings are raised again."""
    with suppress(
        OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile
    ):  # missing, or the disk damaged it
        return _load(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = work()
    _save(path, scores, [str(warning.message) for warning in caught])
    return _load(path)


def _save(path: Path, scores: ListScores, messages: Sequence[str]) -> None:
    buffer = io.BytesIO()
    arrays: dict[str, Any] = {name: getattr(scores, name) for name in ARRAYS}
    arrays |= {name: np.frombuffer(_ipc(getattr(scores, name)), np.uint8) for name in FRAMES}
    np.savez(buffer, warnings=np.array(messages, np.str_), **arrays)
    write_files({path: buffer.getvalue()})


def _load(path: Path) -> ListScores:
    with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as kept:
        frames = [pl.read_ipc_stream(kept[name].tobytes()) for name in FRAMES]
        scores = ListScores(frames[0], frames[1], *(kept[name] for name in ARRAYS))
        messages = kept["warnings"].tolist()
    for message in messages:
        warn(message)
    return scores


def _ipc(frame: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    frame.rechunk().write_ipc_stream(buffer)
    return buffer.getvalue()


def _hash_of(path: Path) -> str:
    with naming(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
