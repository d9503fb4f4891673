from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SKIPS = {
    "reason": "def test_it() -> None:\n    pytest.skip('no browser here')",
    "no reason": "def test_it() -> None:\n    pytest.skip()",
    "bare mark": "@pytest.mark.skip\ndef test_it() -> None: pass",
    "module": "pytest.importorskip('no_such_module_anywhere', reason='no browser here')",
    "expected failure": "@pytest.mark.xfail(reason='known')\ndef test_it() -> None:\n    raise ValueError",
}


def run_pytest(folder: Path, body: str, *, forbid: bool) -> subprocess.CompletedProcess[str]:
    for name in ("conftest.py", "spark_sessions.py"):
        shutil.copy(Path(__file__).with_name(name), folder)
    (folder / "test_sample.py").write_text(f"import pytest\n{body}\n")
    (folder / "test_other.py").write_text("def test_other() -> None: pass\n")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("COV_", "PYTEST_"))}
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
        str(folder),
    ]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment, check=False)


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
def test_skips_need_a_reason_and_can_be_forbidden(tmp_path: Path, skip: str, forbid: bool, message: str) -> None:
    outcome = run_pytest(tmp_path, SKIPS[skip], forbid=forbid)
    assert message in outcome.stdout
    assert (outcome.returncode == 0) == ("passed" in message)
