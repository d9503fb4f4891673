"""`python -m retrieval_report` is the command `retrieval-report`."""

from __future__ import annotations

from retrieval_report.cli import main

if __name__ == "__main__":
    main()
