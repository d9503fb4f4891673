"""`python -m retrieval_report` is the command `retrieval-report`."""

from __future__ import annotations

from retrieval_report.cli import main

main()
