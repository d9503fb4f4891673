from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spark_sessions import KINDS

SKIPS = {
    "reason": "def test_it() -> None:\n    pytest.skip('no browser here')",
    "no reason": "def test_it() -> None:\n    pytest.skip()",
    "bare mark": "@pytest.mark.skip\ndef test_it() -> None: pass",
    "module": "pytest.importorskip('no_such_module_anywhere', reason='no browser here')",
    "expected failure": "@pytest.mark.xfail(reason='known')\ndef test_it() -> None:\n    raise "
    "ValueError",
}


def run_pytest(
    folder: Path, body: str, *options: str, file: str = "test_sample.py", forbid: bool = False
) -> subprocess.CompletedProcess[str]:
    for name in ("conftest.py", "helpers/spark_sessions.py", "helpers/visits.py"):
        shutil.copy(Path(__file__).parents[1] / name, folder)
    (folder / file).write_text(f"import pytest\n{body}\n")
    (folder / "test_other.py").write_text("def test_other() -> None: pass\n")
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COV_", "PYTEST_"))
    }
    environment["RETRIEVAL_REPORT_FORBID_SKIPS"] = "1" if forbid else ""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
        *options,
        str(folder),
    ]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("skip", "forbid", "message"),
    [
        ("reason", False, "1 passed, 1 skipped"),
        ("reason", True, "skips are forbidden here: no browser here"),
        ("no reason", False, "a skip has to carry a reason"),
        ("bare mark", False, "a skip has to carry a reason"),
        ("module", False, "1 passed, 1 skipped"),
        ("module", True, "skips are forbidden here: no browser here"),
        ("expected failure", True, "1 passed, 1 xfailed"),
    ],
)
def test_skips_need_a_reason_and_can_be_forbidden(
    tmp_path: Path, skip: str, forbid: bool, message: str
) -> None:
    outcome = run_pytest(tmp_path, SKIPS[skip], forbid=forbid)
    assert message in outcome.stdout
    assert (outcome.returncode == 0) == ("passed" in message)


@pytest.mark.slow
def test_two_processes_hold_all_tests_of_spark(tmp_path: Path) -> None:
    body = """import os, pathlib
@pytest.mark.parametrize("kind", ["local", "cluster", "connect"])
@pytest.mark.parametrize("number", range(8))
def test_it(number: int, kind: str) -> None: pathlib.Path(f"{kind}-{os.environ['PYTEST_XDIST_WORKER']}").touch()"""
    outcome = run_pytest(tmp_path, body, "-n3", file="test_spark_sample.py")
    assert outcome.returncode == 0, outcome.stdout
    local, cluster, connect = (
        [path.name.split("-")[1] for path in tmp_path.glob(f"{kind}-gw*")] for kind in KINDS
    )
    assert [len(processes) for processes in (local, cluster, connect)] == [1, 1, 1]
    assert cluster == connect != local


@pytest.mark.slow
def test_a_test_of_spark_belongs_in_a_file_of_them(tmp_path: Path) -> None:
    outcome = run_pytest(tmp_path, "@pytest.mark.spark\ndef test_it() -> None: pass")
    assert outcome.returncode != 0
    assert "tests of Spark belong in test_spark" in outcome.stdout + outcome.stderr


@pytest.mark.parametrize(("mark", "measured"), [("usefixtures('tmp_path')", True), ("slow", False)])
def test_slow_tests_and_their_processes_are_not_measured(
    tmp_path: Path, mark: str, measured: bool
) -> None:
    (tmp_path / "own.py").write_text("def own() -> int:\n    return 1\n")
    (tmp_path / ".coveragerc").write_text(
        "[run]\npatch = subprocess\nsource = .\n[report]\ninclude = own.py\n"
    )
    body = f"""import os, own, subprocess, sys
@pytest.mark.{mark}
def test_it() -> None:
    assert own.own() == 1
    assert ("COVERAGE_PROCESS_CONFIG" in os.environ) == {measured}"""
    outcome = run_pytest(tmp_path, body, "--cov", "-o", "markers=slow")
    assert outcome.returncode == 0, outcome.stdout
    assert f"own.py       2      {'0   100%' if measured else '1    50%'}" in outcome.stdout, (
        outcome.stdout
    )
