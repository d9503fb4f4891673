"""Write JSON Schemas of what commands print as JSON, into ``docs/schemas``: ``python
docs/make_schemas.py``. Columns, types and meanings are those that the package declares.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import polars as pl

from retrieval_report.comparison.gate import STATUS, Gate
from retrieval_report.comparison.verdicts import CUT, NOT_DECIDED, NOTHING_TO_COMPARE, UNKNOWN_R
from retrieval_report.contracts.registry import FRAMES

FOLDER = Path(__file__).resolve().parent / "schemas"
VERSION = 1  # rises when a name goes or changes its meaning; new names may come without notice
DRAFT = "https://json-schema.org/draft/2020-12/schema"
NUMBERS = {pl.Float64: "number", pl.Int64: "integer", pl.Boolean: "boolean", pl.String: "string"}
COMMANDS = {  # frames that are always printed, and those that depend on options and data
    "evaluate": (("summary",), ("health",)),
    "leaderboard": (("leaderboard", "three_scores", "winners"), ("health",)),
    "compare": (
        ("reversals", "comparison", "flips"),
        ("health", "replicates", "replicate_pairs", "judges", "judge_pairs", "segments"),
    ),
}


def rows_of(frame: str) -> dict[str, Any]:
    """Return the schema of a frame: an array of rows; columns that the input decides have no type."""
    columns: dict[str, Any] = {}
    for column in FRAMES[frame].columns:
        kind = NUMBERS.get(column.dtype)
        columns[column.name] = {"description": column.help}
        if kind is not None:
            columns[column.name]["type"] = [kind, "null"]
    return {"type": "array", "items": {"type": "object", "properties": columns}}


def schema_of(name: str, properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    """Return the schema of an object."""
    return {
        "$schema": DRAFT,
        "title": f"retrieval-report {name}",
        "version": VERSION,
        "type": "object",
        "properties": properties,
        "required": required,
    }


def schema_of_gate() -> dict[str, Any]:
    """Return the schema of what ``gate --json`` prints: one flat object."""
    kinds = {"str": "string", "float": "number", "int": "integer", "bool": "boolean"}
    properties: dict[str, Any] = {}
    for field in fields(Gate):
        kind, *others = str(field.type).split(" | ")
        properties[field.name] = {"type": [kinds[kind], "null"] if others else kinds[kind]}
    properties["exit_code"] = {"enum": [0, 1, 3]}
    words = [*STATUS.values(), CUT, UNKNOWN_R, NOTHING_TO_COMPARE, NOT_DECIDED]
    properties["status"] = {"enum": list(dict.fromkeys(words))}
    return schema_of("gate", properties, ["status", "baseline", "candidate", "measure", "margin"])


def schemas() -> dict[str, dict[str, Any]]:
    """Return every schema by its name."""
    texts = {"type": "array", "items": {"type": "string"}}
    found = {"gate": schema_of_gate()}
    for name, (always, sometimes) in COMMANDS.items():
        frames = {frame: rows_of(frame) for frame in (*always, *sometimes)}
        notices = {**texts, "description": "What to know before any number."}
        found[name] = schema_of(name, {**frames, "notices": notices}, [*always, "notices"])
    about = {
        "title": {"type": "string"},
        "metric": {"type": "string"},
        "cutoff": {"type": ["integer", "null"]},
        "status": {"type": "string", "description": "The verdict in a word."},
        "verdict": {**texts, "description": "The verdict in sentences."},
        "files": texts,
        "sha256": {"type": "object", "additionalProperties": {"type": "string"}},
        "command": {"type": "string", "description": "What repeats the report."},
    }
    found["report"] = schema_of("report: about.json", about, list(about))
    found["report"]["$defs"] = {
        frame: rows_of(frame)
        for frame in ("summary", "scores", "three_scores", "winners", "leaderboard", "reversals")
    }
    return found


def main() -> None:
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    for name, schema in schemas().items():
        text = json.dumps(schema, indent=1, ensure_ascii=False)
        (FOLDER / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
