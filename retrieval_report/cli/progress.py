"""What a command says on standard error about steps that take more than a second."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import click

from retrieval_report.writing.names import counted

DONE = {
    "read": "read the files",
    "parts": "scored the files part by part",
    "codes": "counted and scored the codes",
    "gate": "compared the runs",
    "judged": "joined rankings and judgements",
    "drawn": "drew random orders of ties",
    "comparison": "compared the pairs",
    "leaderboard": "ranked the models",
    "flips": "found the pairs that tie order decides",
    "written": "wrote the report",
}
SCORED = ("expected", "exact", "scored")


def say(name: Hashable, result: Any, seconds: float) -> None:
    """Write one line on a step that is done."""
    kind = str(name[0] if isinstance(name, tuple) else name)
    if kind in SCORED:
        scores = result[0] if isinstance(result, tuple) else result
        what = f"scored {counted(scores['model'].n_unique(), 'model')}"
    elif kind == "comparison" and "model_a" in result.columns:
        pairs = result.select("model_a", "model_b").n_unique()
        what = f"compared {counted(pairs, 'pair')}"
    else:
        what = DONE.get(kind, f"computed {kind.strip('_').replace('_', ' ')}")
    click.echo(f"{what} in {seconds:.1f} s", err=True)
