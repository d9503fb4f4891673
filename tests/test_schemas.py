"""The JSON of commands, held to the schemas of the documentation."""

import json
import runpy
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner

from commands import run
from retrieval_report.cli import cli

ROOT = Path(__file__).resolve().parent.parent
SCHEMAS: Any = runpy.run_path(str(ROOT / "docs" / "make_schemas.py"))["schemas"]()
DOCS = ROOT / "sample_data" / "docs"
RUNS = str(DOCS / "runs" / "*float*.run.gz")  # three models
MEASURES = ("--judgements", str(DOCS / "qrels.txt"), "--measures", "ndcg@10,ap")


def printed(*words: str, codes: tuple[int, ...] = (0,)):
    done = CliRunner().invoke(cli, words)
    assert done.exit_code in codes, done.output
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_files_are_those_that_the_script_writes(name: str):
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    stored = (ROOT / "docs" / "schemas" / f"{name}.json").read_text(encoding="utf-8")
    assert json.loads(stored) == SCHEMAS[name], "run python docs/make_schemas.py"


@pytest.mark.parametrize("command", ["evaluate", "leaderboard", "compare"])
def test_what_commands_print_keeps_to_their_schemas(command: str):
    found = printed(command, RUNS, *MEASURES, "--json")
    jsonschema.validate(found, SCHEMAS[command])
    known = SCHEMAS[command]["properties"]
    assert found.keys() <= known.keys()
    for frame, rows in found.items():
        if frame != "notices":
            assert rows
            assert rows[0].keys() <= known[frame]["items"]["properties"].keys()


def test_data_that_are_wrong_keep_to_the_schema_too(tmp_path: Path):
    lines = [f"q{query} Q0 d{item} {item} {-item}" for query in range(9) for item in range(1, 20)]
    for name, sign in (("sound", ""), ("reversed", "-")):
        text = "\n".join(line.replace(" -", f" {sign}") + f" {name}" for line in lines)
        (tmp_path / f"{name}.run").write_text(f"{text}\n")
    qrels = [f"q{query} 0 d{item} 1" for query in range(9) for item in (18, 19)]
    (tmp_path / "qrels.txt").write_text("\n".join([*qrels, ""]))
    words = ["--judgements", str(tmp_path / "qrels.txt"), "--measures", "ndcg@10", "--json"]
    found = printed("leaderboard", str(tmp_path / "*.run"), *words, codes=(2,))
    assert found["health"]
    jsonschema.validate(found, SCHEMAS["leaderboard"])


@pytest.mark.parametrize(("margin", "code"), [("0.4", 0), ("0.0001", 3)])
def test_a_gate_keeps_to_its_schema(margin: str, code: int):
    runs = sorted((DOCS / "runs").iterdir())[:2]
    judgements = MEASURES[:2]
    found = printed(
        *("gate", *map(str, runs), *judgements, "--measures", "ndcg@10"),
        *("--margin", margin, "--truncated", "no", "--json"),
        codes=(0, 1, 3),
    )
    jsonschema.validate(found, SCHEMAS["gate"])
    assert found.keys() == SCHEMAS["gate"]["properties"].keys()
    if code == 0:
        assert (found["status"], found["exit_code"]) == ("passed", 0)


def test_a_report_keeps_to_its_schema(tmp_path: Path):
    out = tmp_path / "out"
    run("report --formats json", RUNS, *MEASURES, "--out", out)
    schema = SCHEMAS["report"]
    jsonschema.validate(json.loads((out / "about.json").read_text()), schema)
    for frame, rows in schema["$defs"].items():
        found = json.loads((out / f"{frame}.json").read_text())
        jsonschema.validate(found, rows)
        assert found[0].keys() <= rows["items"]["properties"].keys()


@pytest.mark.parametrize("name", ["evaluate"])
def test_a_schema_refuses_what_is_not_in_it(name: str):
    frame = next(iter(SCHEMAS[name]["properties"]))
    wrongs: Any = [{}, {"notices": [], frame: {}}, {"notices": "", frame: []}]
    for wrong in wrongs:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, SCHEMAS[name])
