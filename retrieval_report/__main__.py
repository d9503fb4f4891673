"""Run the command `retrieval-report` by `python -m retrieval_report`."""

from __future__ import annotations

from retrieval_report.cli import main

main()
