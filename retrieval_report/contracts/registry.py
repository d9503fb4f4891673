"""Every frame by name: its columns in order, their types, titles and meanings."""

from collections.abc import Sequence

import polars as pl

from retrieval_report.contracts.arguments import Named, Row
from retrieval_report.contracts.columns import Column, Frames, frames
from retrieval_report.contracts.model_columns import COMPARED
from retrieval_report.contracts.score_columns import SCORED

FRAMES = frames(SCORED + COMPARED)
_OF_FRAME = {name: {part.name: part for part in frame.columns} for name, frame in FRAMES.items()}


def schema(frame: str, *names: str) -> Named:
    """Return names and types of a frame's columns, or of
    those named; the type is None if the input decides it.

    >>> list(schema("shuffled")), schema("shuffled", "draw")
    (['model', 'metric', 'cutoff', 'draw', 'value'], {'draw': Int64})
    """
    frame_schema = _OF_FRAME[frame]
    return {name: frame_schema[name].dtype for name in names or frame_schema}


def in_contract(frame: pl.DataFrame, contract: Named) -> pl.DataFrame:
    """Return the columns of a contract in their types; the type None keeps what there is.

    >>> in_contract(
    ...     pl.DataFrame({"other": [0], "draw": [1], "query": [7]}),
    ...     {"query": None, "draw": pl.Float64},
    ... ).row(0)
    (7, 1.0)
    """
    return frame.select(
        pl.col(name).cast(dtype) if dtype else pl.col(name) for name, dtype in contract.items()
    )


def frame_of(rows: Sequence[Row], contract: Named) -> pl.DataFrame:
    """Return rows as a frame with all columns of a contract; NaN becomes null.

    >>> frame_of([{"draw": 1, "value": float("nan")}], schema("shuffled", "draw", "value")).row(0)
    (1, None)
    """
    return pl.DataFrame(rows, schema=contract).fill_nan(None)


def column(frame: str, name: str) -> Column:
    """Return one column of a frame, or of the first frame that declares it: tables show columns
    that other frames have computed.

    >>> column("comparison", "p_tie").title, column("leaderboard", "cost_amount").title
    ('Reversed by ties', 'Cost')
    """
    return next(
        columns[name] for columns in (_OF_FRAME[frame], *_OF_FRAME.values()) if name in columns
    )


def title_of(name: str) -> str:
    """Return the title of a column; a name that no frame has is turned into words.

    >>> title_of("p_tie"), title_of("from_score")
    ('Reversed by ties', 'from score')
    """
    return next(
        (part[name].title for part in _OF_FRAME.values() if name in part), name.replace("_", " ")
    )


def describe(frames: Frames) -> pl.DataFrame:
    """Return one row per column of the frames: ``frame``, ``column``, ``type``, ``meaning``.

    >>> describe({"summary": pl.DataFrame({"value": [0.5]})}).row(0)
    ('summary', 'value', 'Float64', 'mean score')
    """
    rows = [
        (frame, name, str(dtype), column(frame, name).meaning)
        for frame, part in frames.items()
        for name, dtype in part.schema.items()
    ]
    return pl.DataFrame(
        rows, schema=dict.fromkeys(("frame", "column", "type", "meaning"), pl.String), orient="row"
    )
