"""What a table was measured on and of: processor, load, commit, versions."""

import os
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path


def machine() -> str:
    """Say it in a line.

    The commit is that of the files, whether they were changed or not.
    """
    model = platform.processor() or platform.machine()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        names = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
        model = next(names, model)
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    asked = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=8", "HEAD"]
    commit = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    versions = ", ".join(f"{name} {version(name)}" for name in ("numba", "numpy", "polars"))
    return (
        f"{model}, {os.cpu_count()} processors{load}, commit {commit}; "
        f"Python {platform.python_version()}, {versions}"
    )
