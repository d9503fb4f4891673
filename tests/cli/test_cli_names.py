"""One file has one name, whichever command or page reads it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import retrieval_report as rr
import uploads
from records import Upload
from retrieval_report.cli import cli

QRELS = "".join(f"{query} 0 {item} {int(item == 'a')}\n" for query in range(6) for item in "ab")


def json_of(command: str, *more: str):
    result = CliRunner().invoke(cli, [command, *more])
    assert result.exit_code in (0, 1, 3), result.output
    return json.loads(result.stdout)


@pytest.fixture(params=["bm25", "Anserini"])
def runs(request: pytest.FixtureRequest, tmp_path: Path):
    """Two runs, of which one may have a tag that names nothing; the models that they are."""
    for name, tag, scores in (("one", "dense", "21"), ("two", request.param, "12")):
        lines = [
            f"{query} Q0 {item} 1 {score} {tag}\n"
            for query in range(6)
            for item, score in zip("ab", scores, strict=True)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    (tmp_path / "qrels.txt").write_text(QRELS)
    files = [
        str(tmp_path / "one.run"),
        str(tmp_path / "two.run"),
        "--judgements",
        str(tmp_path / "qrels.txt"),
    ]
    return files, {"dense", "bm25"} if request.param == "bm25" else {"one", "two"}


def test_every_face_gives_the_same_names(runs: tuple[list[str], set[str]]):
    (one, two, flag, qrels), names = runs
    found: dict[str, set[str]] = {}
    for command in ("evaluate", "audit"):
        rows = json_of(command, one, two, flag, qrels, "--metrics", "rr", "--json")
        found[command] = {
            row["model"] for frame in rows.values() for row in frame if "model" in row
        }
    pairs = json_of("compare", one, two, flag, qrels, "--metrics", "rr", "--json")["flips"]
    found["compare"] = {row[side] for row in pairs for side in ("model_a", "model_b")}
    gate = json_of("gate", one, two, flag, qrels, "--measure", "rr", "--margin", "0.1", "--json")
    found["gate"] = {gate["baseline"], gate["candidate"]}
    found["Study"] = set(rr.Study([one, two], "rr", judgements=qrels).summary["model"])
    given = [Upload(Path(path).name, Path(path).read_bytes()) for path in (one, two)]
    opened = uploads.read_tables(given, Upload("qrels.txt", Path(qrels).read_bytes()))
    found["dashboard"] = set(opened.models)
    assert found == dict.fromkeys(found, names)
