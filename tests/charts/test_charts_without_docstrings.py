"""Python without docstrings, from which Altair is made."""

import subprocess
import sys


def test_charts_say_why_they_need_docstrings():
    words = [sys.executable, "-OO", "-c", "from retrieval_report import charts"]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 1
    assert ended.stderr.splitlines()[-1].startswith(
        "retrieval_report.RetrievalReportError: charts are drawn by Altair, which needs the "
        "docstrings that python -OO leaves out; run python"
    )
