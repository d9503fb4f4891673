"""Data from standard input, and numbers as JSON on standard output."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from retrieval_report.writing.temporary import scratch

if TYPE_CHECKING:
    from retrieval_report.contracts.columns import Frames

DASH = "-"
NAME = "standard-input"  # what a model is called whose file does not name it
TAKEN = f"{__name__}.taken"

json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print the numbers as JSON, not as a table."
)


latex_option = click.option(
    "--latex", is_flag=True, help="Print the scores as a LaTeX table, with marks of significance."
)


def form_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --json and --latex to a command."""
    return json_option(latex_option(command))


def standard_input(context: click.Context, _option: click.Parameter, given: Any) -> Any:
    """Put a file in the place of ``-``, which stands for standard input; its content says what it
    is.
    """
    paths = [given] if isinstance(given, str) else list(given or ())
    if DASH not in paths:
        return given
    folder: Any = context.with_resource(scratch())
    file = folder() / NAME
    context.meta[TAKEN] = str(file)
    with file.open("wb") as target:
        shutil.copyfileobj(sys.stdin.buffer, target)
    read = [str(file) if path == DASH else path for path in paths]
    return read[0] if isinstance(given, str) else tuple(read)


def without_scratch(message: str, context: click.Context) -> str:
    """Call standard input by its name in a message, instead of by the file that holds what it
    said.
    """
    file = context.meta.get(TAKEN)
    return message.replace(file, "standard input") if file else message


def print_json(frames: Frames, notices: Sequence[str]) -> None:
    """Print frames as arrays of rows, and what has to be known before any number; NaN is null."""
    rows = {name: json.loads(frame.write_json()) for name, frame in frames.items()}
    click.echo(
        json.dumps(
            {**rows, "notices": list(notices)}, ensure_ascii=False, allow_nan=False, indent=1
        )
    )
