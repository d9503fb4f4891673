"""What continuous integration has of the gate: the action, the hook, the plugin of pytest."""

import json
import os
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from retrieval_report.comparison.gate import Gate
from retrieval_report.study.junit import WIDTH, interval_picture, markdown_summary

yaml = pytest.importorskip("yaml", reason="PyYAML, of the extra `docs`, is not installed")
ROOT = Path(__file__).resolve().parents[2]
NAME = "retrieval_report.pytest_plugin"


def write_runs(folder: Path, queries: int = 300):
    """A baseline, the same lists, one that loses much, and one that loses some by chance."""
    lost = {"baseline": 0, "same": 0, "worse": queries // 2, "near": 2}
    for name, queries_lost in lost.items():
        lines = [
            f"q{query} Q0 {item} {rank} {10 - rank} {name}"
            for query in range(queries)
            for rank, item in enumerate("ba" if query < queries_lost else "ab", 1)
        ]
        (folder / f"{name}.run").write_text("\n".join([*lines, ""]))
    qrels = [f"q{query} 0 a 1" for query in range(queries)]
    (folder / "qrels.txt").write_text("\n".join([*qrels, ""]))


def action() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    return loaded


def run_gate_step(folder: Path, candidate: str, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Run the script of the action's step as GitHub does, with its inputs in the environment."""
    known = action()
    given = {name: record.get("default", "") for name, record in known["inputs"].items()}
    given |= {
        "baseline": "baseline.run",
        "candidate": f"{candidate}.run",
        "judgements": "qrels.txt",
        "measures": "rr@2",
        "options": "--truncated no",
        **inputs,
    }
    [step] = [step for step in known["runs"]["steps"] if step.get("id") == "gate"]
    named = {
        name: given[value.removeprefix("${{ inputs.").removesuffix(" }}")]
        for name, value in step["env"].items()
    }
    path = os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]])
    files = {
        "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
        "GITHUB_OUTPUT": str(folder / "output.txt"),
    }
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=os.environ | named | files | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_action_writes_verdict_comment_and_report(tmp_path: Path):
    write_runs(tmp_path)
    done = run_gate_step(tmp_path, "worse")
    assert done.returncode == 1, done.stderr
    summary = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert summary.startswith("**failed**: rr@2 of worse against baseline")
    folder = tmp_path / "retrieval-gate"
    assert summary == (folder / "comment.md").read_text(encoding="utf-8")
    assert (tmp_path / "output.txt").read_text().splitlines() == [
        "status=failed",
        "comment=retrieval-gate/comment.md",
    ]
    assert (folder / "report" / "report.html").is_file()
    assert (folder / "gate.xml").is_file()


@pytest.mark.parametrize(
    ("code", "undecided", "returned", "told"),
    [
        (3, "pass", 0, "status=undecided\n"),
        (3, "fail", 3, "status=undecided\n"),
        (2, "pass", 2, ""),
    ],
)
def test_the_exit_of_the_gate_decides_that_of_the_step(
    tmp_path: Path, code: int, undecided: str, returned: int, told: str
):
    program = tmp_path / "retrieval-report"  # which stands for ours
    program.write_text(f"#!/bin/sh\necho said > retrieval-gate/comment.md; exit {code}\n")
    program.chmod(0o755)
    done = run_gate_step(tmp_path, "near", undecided=undecided)
    assert done.returncode == returned, done.stderr
    assert [path.read_text() for path in tmp_path.glob("summary.md")] == ["said\n"] * bool(told)
    assert all(path.read_text().startswith(told) for path in tmp_path.glob("output.txt"))


def test_workflows_call_targets_and_files_that_there_are():
    known = (ROOT / "Makefile").read_text(encoding="utf-8")
    for path in sorted((ROOT / ".github").rglob("*.yml")):
        loaded = yaml.safe_load(path.read_text(encoding="utf-8"))
        for job in loaded.get("jobs", {}).values():
            for step in job["steps"]:
                words = step.get("run", "").split()
                for target in words[1:] if words[:1] == ["make"] else ():
                    assert "=" in target or f"\n{target}:" in known, f"{path}: {target}"
                if words[:1] == ["bash"]:
                    assert (ROOT / words[1]).is_file()
    [hook] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert hook["entry"].split() == ["retrieval-report", "gate"]


TEST = """
    def test_{candidate}{named}(retrieval_gate):
        found = retrieval_gate(
            "{candidate}.run", {baseline} judgements="qrels.txt", measures="rr@2", margin=0.01,
            truncated="no",
        )
        assert found.status == "passed"
"""
NAMED = TEST.format(candidate="same", named="_named", baseline='baseline="baseline.run",')
SAME, *OTHERS = (
    TEST.format(candidate=name, named="", baseline="") for name in ("same", "worse", "near", "none")
)


PLUGIN = () if "retrieval_report" in entry_points(group="pytest11").names else ("-p", NAME)
CALLS = {  # how the baseline is named, and what passes and fails then
    "option": (["--retrieval-baseline", "baseline.run", "test_all.py"], 1, 3),
    "setting": (["-c", "setting.ini", "test_all.py"], 1, 3),
    "argument": (["test_named.py"], 1, 1),
}
PROGRAM = "import json, sys, pytest\nfor words in json.loads(sys.argv[1]): pytest.main(words)"


def test_the_fixture_passes_what_is_no_worse_and_fails_where_nothing_was_shown(
    tmp_path: Path,
):
    """In a process of its own, for an installation that does not know the plugin yet."""
    write_runs(tmp_path)
    (tmp_path / "test_all.py").write_text(dedent(SAME + "".join(OTHERS)))
    (tmp_path / "test_named.py").write_text(dedent(NAMED + SAME))
    (tmp_path / "setting.ini").write_text("[pytest]\nretrieval_baseline = baseline.run\n")
    calls = [
        [*PLUGIN, "-p", "no:cacheprovider", f"--junit-xml={name}.xml", *words]
        for name, (words, *_) in CALLS.items()
    ]
    command = [sys.executable, "-c", PROGRAM, json.dumps(calls)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    for name, (_, passed, failed) in CALLS.items():
        text = (tmp_path / f"{name}.xml").read_text()
        assert f'errors="0" failures="{failed}" skipped="0" tests="{passed + failed}"' in text
        assert 'name="retrieval_gate" value="passed' in text
        for said in ("failed: rr@2 of", "not decided: rr@2 of", "none.run: No such file"):
            assert (said in text) == (failed == 3)
    assert "there is no baseline; pass --retrieval-baseline RUN" in done.stdout


def test_the_picture_shows_interval_margin_and_zero_in_their_order():
    def gate(low: float | None, middle: float, high: float):
        bounds = (0.6, 0.6 + middle, middle, low, high, 0.01, 0.9)
        return Gate("passed", "a", "b", "rr@10", 0.02, "expected", 0.05, *bounds, None, None, 9)

    for low, middle, high in ((-0.012, -0.002, 0.008), (-0.3, -0.15, -0.06), (0.2, 0.3, 0.4)):
        words, line, numbers = interval_picture(gate(low, middle, high)).splitlines()
        assert [words.split(), numbers.split()] == [["-margin", "no", "loss"], ["-0.020", "0"]]
        places = [line.index(mark) for mark in "├●┤"]
        assert places == sorted(places)
        assert len(line) == WIDTH
        assert (line.index("├") > line.index("┆")) == (low > -0.02)
        assert line.index("┆") < line.index("┼")
        assert f"```text\n{interval_picture(gate(low, middle, high))}\n```" in markdown_summary(
            gate(low, middle, high)
        )
    assert interval_picture(gate(None, 0.0, 0.0)) == ""
