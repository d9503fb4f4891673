import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SKIPS = {
    "reason": "def test_it() -> None:\n    pytest.skip('no browser here')",
    "no_reason": "def test_it() -> None:\n    pytest.skip()",
    "bare_mark": "@pytest.mark.skip\ndef test_it() -> None: pass",
    "module": "pytest.importorskip('no_such_module_anywhere', reason='no browser here')",
    "expected": "@pytest.mark.xfail(reason='known')\ndef test_it() -> None:\n    raise ValueError",
    "other": "def test_it() -> None: pass",
}


def run_pytest(
    folder: Path, files: dict[str, str], *options: str, forbid: bool = False
) -> subprocess.CompletedProcess[str]:
    """Run files, by the rest of their names, below the tests' own conftest.py."""
    for name in ("conftest.py", "helpers/spark_sessions.py", "helpers/visits.py"):
        shutil.copy(Path(__file__).parents[1] / name, folder)
    for name, body in files.items():
        (folder / f"test_{name}.py").write_text(f"import pytest\n{body}\n")
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("COV_", "PYTEST_"))
    }
    environment["RETRIEVAL_REPORT_FORBID_SKIPS"] = "1" if forbid else ""
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    own = ("-q", "-p", "no:cacheprovider", "--rootdir", str(folder))
    command = [sys.executable, "-m", "pytest", *own, *options, str(folder)]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env=environment, check=False
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("forbid", "told"),
    [
        (False, "1 failed, 1 passed, 2 skipped, 1 xfailed, 1 error"),
        (True, "2 failed, 1 passed, 1 xfailed, 2 errors"),
    ],
)
def test_skips_need_a_reason_and_can_be_forbidden(tmp_path: Path, forbid: bool, told: str):
    outcome = run_pytest(tmp_path, SKIPS, "--continue-on-collection-errors", forbid=forbid)
    assert told in outcome.stdout
    assert outcome.stdout.count("skips are forbidden here: no browser here") >= 2 * forbid
    for name in ("no_reason", "bare_mark"):
        assert f"test_{name}.py::test_it - a skip has to carry a reason" in outcome.stdout


@pytest.mark.slow
def test_a_test_of_spark_belongs_in_a_file_of_them(tmp_path: Path):
    outcome = run_pytest(tmp_path, {"it": "@pytest.mark.spark\ndef test_it() -> None: pass"})
    assert outcome.returncode != 0
    assert "tests of Spark belong in test_spark" in outcome.stdout + outcome.stderr
